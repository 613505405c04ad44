# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The picture of a demo: the robot and its tip in space, errors, outputs and commands in time."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave
from mpl_toolkits.mplot3d.axes3d import Axes3D
import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.evaluation.curves import draw_curves, step_of
from softrobot_dynamics.evaluation.report_contents import Report
from softrobot_dynamics.evaluation.tracking import Figures, Tips
from softrobot_dynamics.evaluation.units import in_words
from softrobot_dynamics.loops.command_timing import timing_in_words
from softrobot_dynamics.viewing.arrows import ForceArrows
from softrobot_dynamics.viewing.colours import size_of
from softrobot_dynamics.viewing.matplotlib_surfaces import (
    add_environment,
    add_forces,
    add_surfaces,
    FAINT,
    frame_space,
    INK,
    parts_of,
    TIP,
)
from softrobot_dynamics.viewing.shapes import RobotShape

SIZE, DPI, OVERSAMPLING = (13.0, 7.3), 110, 2  # [inch], [1/inch], pixels drawn for one shown
DRAWN_POSTURES = 8
_LEFT_MARGIN, _SEPARATOR = 0.03, '  ·  '
# characters in a line of the subtitle, and beside the name
_SUBTITLE_WIDTH, _SUBTITLE_WIDTH_BESIDE = 150, 95


def draw_report(report: Report, path: str | PathLike[str]) -> None:
    """Draw the Report of a demo into a PNG file."""
    figure = Figure(figsize=SIZE, dpi=OVERSAMPLING * DPI, facecolor='white')
    canvas = FigureCanvasAgg(figure)
    _draw_space(figure.add_axes((-0.02, 0.03, 0.5, 0.84), projection='3d'), report)
    draw_curves(figure, report)
    _draw_title(figure, report)
    canvas.draw()
    imsave(path, _averaged(np.asarray(canvas.buffer_rgba())[..., :3]))


def _averaged(pixels: NDArray[np.uint8]) -> Any:
    """Return an image of OVERSAMPLING times fewer rows and columns, smooth at every edge."""
    k = OVERSAMPLING
    rows, columns = pixels.shape[0] // k, pixels.shape[1] // k
    blocks = pixels[: rows * k, : columns * k].reshape(rows, k, columns, k, 3)
    return np.round(blocks.mean(axis=(1, 3))).astype(np.uint8)


# Space


def _draw_space(axes: Axes3D, report: Report) -> None:
    """Draw the robot at several times, the path of its tip, and the path wanted."""
    to_world = report.model.description.base.matrix()
    run, shape = report.run, RobotShape(report.model)
    looks = [shape.at(run.q[row]) for row in shape_rows(run.t, report.span)]
    postures = [look.surfaces for look in looks]
    moment = float(run.simulated[-1])
    add_environment(axes, shape, moment)
    _draw_shapes(axes, postures, shape)
    add_forces(axes, ForceArrows(report.model, size_of(looks[-1])).at(run.q[-1], moment))
    points = shape.obstacles(moment)
    points += [surface for posture in postures for surface in posture]
    if report.tips is not None:
        points += _draw_paths(axes, report, report.tips, to_world)
    frame_space(axes, np.concatenate(points))


def shape_rows(t: Vector, span: float, count: int = DRAWN_POSTURES) -> Any:
    """Return the rows of at most `count` moments in the last `span` [s] of t (T,), in order."""
    times = t[-1] - span * np.arange(count)[::-1] / count
    return np.unique(np.searchsorted(t, times).clip(0, len(t) - 1))


def _draw_shapes(axes: Axes3D, postures: Sequence[Sequence[Matrix]], shape: RobotShape) -> None:
    """Draw the surfaces of several postures: the last one on top, earlier ones ever paler."""
    *earlier, last = postures
    ghosts = []
    for i, posture in enumerate(earlier):
        paleness = 0.5 + 0.25 * (1.0 - (i + 1) / len(postures))
        ghosts += [
            part._replace(paleness=paleness)
            for part, final in zip(parts_of(shape, posture), last)
            if not np.allclose(part.points, final, atol=1e-3)
        ]
    add_surfaces(axes, ghosts, 1)
    add_surfaces(axes, parts_of(shape, last), 3)


def _draw_paths(axes: Axes3D, report: Report, tips: Tips, to_world: Matrix) -> list[Matrix]:
    """Draw where tips were and should have been; return the points, (T, 3) each."""
    run, drawn = report.run, list[Matrix]()
    step, late = step_of(run.t), run.t >= report.ramp
    R, origin = to_world[:3, :3], to_world[:3, 3]
    for k in range(tips.points.shape[1]):
        wanted, points = (p[:, k] @ R.T + origin for p in (tips.desired, tips.points))
        axes.plot(*wanted[::step].T, color=INK, lw=3.4, alpha=0.3, zorder=4, label='reference')
        axes.plot(*points[~late][::step].T, color=TIP, lw=1.0, ls=(0, (2, 1.5)), zorder=5,
                  label=f'tip, first {report.ramp:g} s')  # fmt: skip
        axes.plot(*points[late][::step].T, color=TIP, lw=1.5, zorder=5, label='tip')
        axes.plot(*points[-1:].T, color=TIP, marker='o', ms=5, mec='white', mew=0.8, zorder=6)
        drawn += [wanted, points]
    axes.figure.legend(*(part[:3] for part in axes.get_legend_handles_labels()), frameon=False,
                       loc='upper left', bbox_to_anchor=(0.021, 0.885), ncol=3, fontsize=9,
                       labelcolor=INK)  # fmt: skip
    return drawn


# Title


def _draw_title(figure: Figure, report: Report) -> None:
    model = report.model
    name = figure.text(
        _LEFT_MARGIN, 0.95, model.description.name, fontsize=17, color=INK, weight='bold'
    )
    words = [f'{model.n} coordinates, {model.m} actuators']
    if report.plant:
        words.append(f'the simulated robot differs: {report.plant}')
    figure.axes[-1].annotate(
        _cut(_SEPARATOR.join(words), _SUBTITLE_WIDTH_BESIDE),
        (1.0, 0.0), xycoords=name, xytext=(9, 0),
        textcoords='offset points', va='bottom', color=FAINT, fontsize=12,
    )  # fmt: skip
    parts = subtitle(report.figures, 1.0 / report.run.period, report.estimated)
    figure.text(_LEFT_MARGIN, 0.939, '\n'.join(_wrapped(parts)),
                fontsize=10.5, va='top', linespacing=1.3,
                color='#55646f')  # fmt: skip


def subtitle(figures: Figures, rate: float, estimated: bool = False) -> list[str]:
    """Return the figures, in words."""
    nodes = 'simulation, estimator and controller, three' if estimated else (
        'simulation and controller, two'
    )  # fmt: skip
    parts = [f'{nodes} processes over ROS 2 at {rate:.3g} Hz']
    if figures.tip_rms_m is not None:
        parts.append(f'tip error {in_words(figures.tip_rms_m, "m", 2)} RMS')
    if figures.round_trip_us['p50'] is not None:
        half, most = (_time(figures.round_trip_us[name]) for name in ('p50', 'p99'))
        parts.append(f'round trip {half}, p99 {most}')
    if figures.command_timing is not None:
        parts.append(f'commands {timing_in_words(figures.command_timing, figures.bus_rate_hz)}')
    return [*parts, f'{figures.missed_ticks} of {figures.ticks} ticks missed']


def _time(microseconds: float) -> str:
    """Return a time in words, two digits of it."""
    if microseconds >= 1e3:
        return f'{float(f"{microseconds:.2g}") / 1e3:g} ms'
    return f'{float(f"{microseconds:.2g}"):g} µs'


def _wrapped(parts: Sequence[str]) -> list[str]:
    """Return parts as lines that are no wider than the figure."""
    lines = ['']
    for part in parts:
        longer = _SEPARATOR.join(filter(None, [lines[-1], part]))
        if len(longer) > _SUBTITLE_WIDTH and lines[-1]:
            lines.append(part)
        else:
            lines[-1] = longer
    return lines


def _cut(words: str, letters: int) -> str:
    return words if len(words) <= letters else f'{words[: letters - 1]}…'
