# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The picture of a demo: the robot and its tip in space, errors, outputs and commands in time."""

from os import PathLike
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.demo.curves import draw_curves, FAINT, INK, step_of, STYLE, TIP
from softrobot_dynamics.demo.shapes import surfaces
from softrobot_dynamics.nodes.command_timing import TIMINGS

SIZE, DPI, FINENESS = (13.0, 7.3), 110, 2  # [inch], [1/inch], pixels drawn for one shown
VIEW = 14.0, -58.0  # elevation, azimuth [deg]
SHAPES = 8  # postures drawn
BODY, LIGHT = np.array([0.16, 0.44, 0.58]), np.array([0.15, -0.75, 0.6])


def draw_report(report: Any, path: str | PathLike[str]) -> None:
    """Draw the Report of a demo into a PNG file."""
    figure = Figure(figsize=SIZE, dpi=FINENESS * DPI, facecolor='white')
    canvas = FigureCanvasAgg(figure)
    _draw_space(figure.add_axes((-0.02, 0.03, 0.5, 0.84), projection='3d'), report)
    draw_curves(figure, report)
    _draw_title(figure, report)
    canvas.draw()
    imsave(path, _averaged(np.asarray(canvas.buffer_rgba())[..., :3]))


def _averaged(pixels: Any) -> Any:
    """Return an image of FINENESS times fewer rows and columns, smooth at every edge."""
    k = FINENESS
    rows, columns = pixels.shape[0] // k, pixels.shape[1] // k
    blocks = pixels[: rows * k, : columns * k].reshape(rows, k, columns, k, 3)
    return np.round(blocks.mean(axis=(1, 3))).astype(np.uint8)


# Space


def _draw_space(axes: Any, report: Any) -> None:
    """Draw the robot at several times, the path of its tip, and the path wanted."""
    to_world = report.model.description.base.matrix()
    run = report.run
    shapes = [
        [_moved(to_world, surface) for surface in surfaces(report.model, run.q[row])]
        for row in shape_rows(run.t, _span(report))
    ]
    _draw_shapes(axes, shapes)
    points = [surface.reshape(-1, 3) for shape in shapes for surface in shape]
    if report.tips is not None:
        points += _draw_paths(axes, report, to_world)
    _frame_space(axes, np.concatenate(points))


def shape_rows(t: Vector, span: float, count: int = SHAPES) -> Any:
    """Return the rows of at most `count` moments in the last `span` [s] of t (T,), in order."""
    times = t[-1] - span * np.arange(count)[::-1] / count
    return np.unique(np.searchsorted(t, times).clip(0, len(t) - 1))


def _span(report: Any) -> float:
    """Return the time [s] over which to show shapes: a turn, or all after the blending in."""
    t = report.run.t
    free = max(t[-1] - report.ramp, 0.0) or t[-1]
    return min(free, report.targets.duration) if report.targets else free


def _draw_shapes(axes: Any, shapes: Any) -> Any:
    """Draw the surfaces of several postures: the last one on top, earlier ones ever paler."""
    *earlier, last = shapes
    ghosts = []
    for i, shape in enumerate(earlier):
        paleness = 0.5 + 0.25 * (1.0 - (i + 1) / len(shapes))
        ghosts += [
            (_faces(surface), body, paleness)
            for body, surface in enumerate(shape)
            if not np.allclose(surface, last[body], atol=1e-3)
        ]
    _add_surfaces(axes, ghosts, 1)
    _add_surfaces(axes, [(_faces(surface), body, 0.0) for body, surface in enumerate(last)], 3)


def _add_surfaces(axes: Any, parts: Any, order: Any) -> None:
    """Add ((faces, normals), number of the body, paleness) as one collection."""
    if not parts:
        return
    colors = np.concatenate([_lit(normals, *rest) for (_, normals), *rest in parts])
    faces = np.concatenate([faces for (faces, _), *_ in parts])
    axes.add_collection3d(
        Poly3DCollection(
            faces,
            facecolors=colors,
            edgecolors=colors,
            linewidths=0.4,
            zsort='average',
            zorder=order,
        )  # fmt: skip
    )


def _faces(surface: Array) -> tuple[Array, Matrix]:
    """Return the quadrilaterals (K, 4, 3) that face the viewer and their normals (K, 3)."""
    corners = surface[:-1, :-1], surface[1:, :-1], surface[1:, 1:], surface[:-1, 1:]
    quads = np.stack(corners, axis=2).reshape(-1, 4, 3)
    normals = np.cross(quads[:, 3] - quads[:, 1], quads[:, 2] - quads[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    elevation, azimuth = np.radians(VIEW)
    viewer = np.array([np.cos(elevation) * np.cos(azimuth),
                       np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])  # fmt: skip
    facing = normals @ viewer > 0.0
    return quads[facing], normals[facing]


def _lit(normals: Matrix, body: int, paleness: float) -> Matrix:
    """Return the colours (K, 3) of faces: lit from one side, every second body darker."""
    light = np.clip(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)[:, None]
    color = BODY * (1.0 if body % 2 else 0.8) * (0.6 + 0.6 * light) + 0.15 * light**6
    color = np.clip(color, 0.0, 1.0)
    return color + (1.0 - color) * paleness


def _draw_paths(axes: Any, report: Any, to_world: Matrix) -> list[Any]:
    """Draw where tips were and should have been; return the points, (T, 3) each."""
    run, tips = report.run, report.tips
    step, late, drawn = step_of(run.t), run.t >= report.ramp, []
    for k in range(tips.points.shape[1]):
        wanted, points = (_moved(to_world, p[:, k]) for p in (tips.wanted, tips.points))
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


def _frame_space(axes: Any, points: Any) -> None:
    """Set equal scales on all axes, around everything drawn."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    half = np.maximum(half * 1.04, 0.2 * half.max())
    for name, m, h in zip('xyz', middle, half):
        getattr(axes, f'set_{name}lim')(m - h, m + h)
        getattr(axes, f'set_{name}label')(f'{name} [m]', **STYLE)
        axis = getattr(axes, f'{name}axis')
        axis.set_pane_color((0.968, 0.975, 0.982, 1.0))
        axis.line.set_color(FAINT)
        axes.tick_params(axis=name, labelsize=8, labelcolor=INK, color=FAINT, pad=1)
        axes.locator_params(axis=name, nbins=5 if h > 0.6 * half.max() else 3)
        axis._axinfo['grid'].update(color='#e1e7ec', linewidth=0.6)  # there is no public way
    axes.set_box_aspect(half, zoom=0.86)
    axes.view_init(*VIEW)
    axes.set_proj_type('persp', focal_length=0.7)
    axes.computed_zorder = False


def _moved(transform: Matrix, points: Any) -> Any:
    return points @ transform[:3, :3].T + transform[:3, 3]


# Title


def _draw_title(figure: Any, report: Any) -> None:
    model = report.model
    name = figure.text(0.03, 0.945, model.description.name, fontsize=17, color=INK, weight='bold')
    figure.axes[-1].annotate(
        f'{model.n} coordinates, {model.m} actuators', (1.0, 0.0), xycoords=name, xytext=(9, 0),
        textcoords='offset points', va='bottom', color=FAINT, fontsize=12,
    )  # fmt: skip
    figure.text(0.03, 0.908, subtitle(report.figures, 1.0 / report.run.period), fontsize=10.5,
                color='#55646f')  # fmt: skip


def subtitle(figures: Any, rate: float | None) -> str:
    """Return the figures in one line."""
    parts = [f'simulation and controller, two processes over ROS 2 at {rate:g} Hz']
    if figures.tip_rms_m is not None:
        parts.append(f'tip error {figures.tip_rms_m * 1e3:.2g} mm RMS')
    if figures.round_trip_us['p50'] is not None:
        trip = figures.round_trip_us
        parts.append(f'round trip {trip["p50"]:.0f} µs, p99 {trip["p99"]:.0f} µs')
    if figures.command_timing is not None:
        parts.append(f'commands {TIMINGS[figures.command_timing]}')
    return '  ·  '.join([*parts, f'{figures.missed_ticks} of {figures.ticks} ticks missed'])
