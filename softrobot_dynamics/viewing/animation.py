# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write a motion as an animated GIF: the robot, the paths of its tips and their targets."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, NamedTuple, TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import numpy as np
from PIL import Image
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.viewing.arrows import ForceArrows
from softrobot_dynamics.viewing.colours import size_of
from softrobot_dynamics.viewing.matplotlib_surfaces import (
    add_environment,
    add_forces,
    add_surfaces,
    FORCE_COLOUR,
    frame_space,
    INK,
    OBJECT_COLOUR,
    parts_of,
    TIP,
)
from softrobot_dynamics.viewing.shapes import Appearance, leaves, RobotShape

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SIZE, DPI, COLOURS = (4.4, 4.4), 90, 64  # [inch], [1/inch], of the GIF
FRAME_RATE = 12.5  # [1/s]; players round to hundredths of a second
_SWATCH_ROWS = 8  # of a colour that a palette must have
_Color = str | tuple[int, ...]
_SHADES = tuple(
    tuple(np.minimum(255.0 * share * OBJECT_COLOUR, 255.0).astype(int).tolist())
    for share in (0.65, 0.9, 1.15)
)  # of objects, dark to lit
PATH_POINTS_PER_FRAME = 8  # of a tip's path, if the motion has them


@former_names(wanted='tip_paths')
class Film(NamedTuple):
    """A motion to animate: times, coordinates, and the paths that tips are to follow."""

    model: CompiledModel
    t: Vector  # (T,) [s], increasing
    q: Matrix  # (T, n)
    tip_paths: tuple[Matrix, ...] = ()  # (K, 3) [m] each, base frame: desired paths of tips
    window: Matrix | None = None  # (2, 3) [m] world, corners of what is seen; None: all
    simulated: Vector | None = None  # (T,) [s] time by which obstacles move; None: that of ``t``


def animate(
    film: Film, path: str | PathLike[str], *, title: str = '', pace: float = FRAME_RATE
) -> int:
    """
    Write a motion into a GIF file, in real time; return the number of frames.

    ``pace`` is the number of frames per second. The last frame stays for a second. ``title``
    stands above the picture.
    """
    shape, frames = RobotShape(film.model, film.window), []
    fine = np.linspace(
        film.t[0], film.t[-1], 1 + round((film.t[-1] - film.t[0]) * pace * PATH_POINTS_PER_FRAME)
    )
    paths = _tips(film, np.unique(np.searchsorted(film.t, fine).clip(0, len(film.t) - 1)))
    times = np.arange(film.t[0], film.t[-1] + 0.5 / pace, 1.0 / pace)
    rows = np.searchsorted(film.t, times).clip(0, len(film.t) - 1)
    looks = [shape.at(film.q[row]) for row in rows]
    simulated = (film.t if film.simulated is None else film.simulated)[rows]
    stage = _Stage(film, shape, looks, simulated, title)
    arrows = ForceArrows(film.model, size_of(looks[0]))
    for t, row, look, moment in zip(times, rows, looks, simulated):
        gone = paths.t <= t
        forces = arrows.at(film.q[row], moment)
        frames.append(stage.frame(t - times[0], look, paths.points[gone], forces, moment))
    has_objects = any(module.is_object for module in film.model.description.modules)
    _write(frames, path, pace, (TIP, FORCE_COLOUR, *(_SHADES if has_objects else ())))
    return len(frames)


class _Paths(NamedTuple):
    """Paths of the tips at the ends of a robot."""

    t: Vector  # (K,) [s]
    points: Array  # (K, tips, 3) [m], world frame


def _tips(film: Film, rows: slice | Integers) -> _Paths:
    """Return the paths of tips through some rows of a motion."""
    base, modules = film.model.description.base.matrix(), film.model.description.modules
    ends = [i for i in leaves(film.model) if not modules[i].is_object]
    tips = np.array([forward_kinematics(film.model, q=q)[ends, :, 3] for q in film.q[rows]])
    return _Paths(film.t[rows], (tips @ base.T)[..., :3])


class _Stage:
    """Axes around a whole motion, in which one frame after the other is drawn."""

    def __init__(
        self, film: Film, shape: RobotShape, looks: list[Appearance], simulated: Vector, title: str
    ) -> None:
        self._shape = shape
        self._figure = Figure(figsize=SIZE, dpi=DPI, facecolor='white')
        self._canvas = FigureCanvasAgg(self._figure)
        self._axes = self._figure.add_axes((-0.1, 0.07, 1.08, 0.86), projection='3d')
        to_world = film.model.description.base.matrix()
        wanted = [p @ to_world[:3, :3].T + to_world[:3, 3] for p in film.tip_paths]
        for points in wanted:
            self._axes.plot(*points.T, color=INK, lw=3.0, alpha=0.3, zorder=4)
        surfaces = [surface for look in looks for surface in look.surfaces]
        if not shape.moving:
            add_environment(self._axes, shape, 0.0)
        moments = simulated if shape.moving else simulated[:1]
        around = [points for moment in moments for points in shape.obstacles(moment)]
        seen = np.concatenate([*surfaces, *wanted, *around])
        frame_space(self._axes, seen if film.window is None else film.window)
        self._figure.text(0.04, 0.94, title, color=INK, fontsize=11)
        self._clock = self._figure.text(0.96, 0.94, '', color=INK, fontsize=11, ha='right')

    def frame(self, t: float, now: Appearance, paths: Array, forces: Array, moment: float) -> Any:
        """
        Return the picture at t [s], with where tips have been, (K, tips, 3) [m].

        ``forces``: arrows (C, 2, 3) [m], world. ``moment``: the time by which obstacles move [s].
        """
        axes = self._axes
        drawn = [add_surfaces(axes, parts_of(self._shape, now.surfaces), 3)]
        if self._shape.moving:
            drawn.append(add_environment(axes, self._shape, moment))
        if len(forces):
            drawn.append(add_forces(axes, forces))
        for path in paths.swapaxes(0, 1):
            drawn += axes.plot(*path.T, color=TIP, lw=1.5, zorder=5)
            drawn += axes.plot(*path[-1:].T, color=TIP, marker='o', ms=5, mec='white', zorder=6)
        self._clock.set_text(f't = {t:.1f} s')
        self._canvas.draw()
        picture = Image.fromarray(np.asarray(self._canvas.buffer_rgba())[..., :3].copy())
        for artist in drawn:
            artist.remove()
        return picture


def _write(
    frames: list[Any], path: str | PathLike[str], pace: float, small: Sequence[_Color]
) -> None:
    """
    Write pictures in one palette, so that only what changes is stored.

    ``small``: colours of what is small and to be seen, which are in the palette for certain.
    """
    middle = frames[len(frames) // 2].copy()
    for k, color in enumerate(small):
        middle.paste(color, (0, k * _SWATCH_ROWS, middle.width, (k + 1) * _SWATCH_ROWS))
    palette = middle.quantize(COLOURS, dither=Image.Dither.NONE)
    reduced = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in frames]
    period = round(100.0 / pace) * 10  # [ms]
    durations = [period] * (len(frames) - 1) + [1000]
    reduced[0].save(path, format='GIF', save_all=True, append_images=reduced[1:], loop=0,
                    duration=durations, optimize=False, disposal=1)  # fmt: skip
