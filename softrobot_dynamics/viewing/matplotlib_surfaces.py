# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot's surfaces in space, drawn by matplotlib: lit, seen from one side, at equal scales."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D
import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.viewing.arrows import lines_of
from softrobot_dynamics.viewing.axis_texts import separate_texts
from softrobot_dynamics.viewing.shapes import RobotShape

INK, FAINT, TIP = '#22303c', '#9aa7b1', '#d1495b'
STYLE: dict[str, Any] = {'color': INK, 'fontsize': 9}
LABEL_PAD = 2.0  # [pt] between numbers and names of axes, at least
MIN_LABELLED_RATIO = 0.3  # of the longest axis: the numbers of a shorter one would overlap
VIEW, ZOOM = (14.0, -58.0), 0.86  # elevation, azimuth [deg]; of the box in its axes
BODY, LIGHT = np.array([0.16, 0.44, 0.58]), np.array([0.15, -0.75, 0.6])
OBJECT_COLOUR, SURROUNDINGS_COLOUR, FORCE_COLOUR = (
    np.array([0.93, 0.62, 0.16]),
    np.array([0.74, 0.77, 0.80]),
    '#8e1f86',
)


class BodySurface(NamedTuple):
    """The surface of a body that is to be drawn."""

    points: Matrix  # (K, 3) [m], world
    triangles: Integers  # (T, 3) of these
    body: int  # its number: every second one is darker
    paleness: float = 0.0  # 1 is white
    color: Vector = BODY  # (3,) up to 1


def add_surfaces(axes: Axes3D, parts: list[BodySurface], order: int) -> Any:
    """Add parts as one collection, which is returned; None if there are none."""
    if not parts:
        return None
    seen = [_faces(part.points, part.triangles) for part in parts]
    colors = np.concatenate([_lit(normals, part) for (_, normals), part in zip(seen, parts)])
    return axes.add_collection3d(
        Poly3DCollection(
            np.concatenate([faces for faces, _ in seen]),
            facecolors=colors,
            edgecolors=colors,
            linewidths=0.4,
            zsort='average',
            zorder=order,
        )  # fmt: skip
    )


def parts_of(shape: RobotShape, surfaces: Sequence[Matrix]) -> list[BodySurface]:
    """Return the parts of a robot and of objects whose surfaces (K, 3) these are."""
    modules = shape.model.description.modules
    return [
        BodySurface(
            points,
            shape.triangles[i],
            1 if modules[i].is_object else i,
            color=OBJECT_COLOUR if modules[i].is_object else BODY,
        )
        for i, points in enumerate(surfaces)
    ]


def add_environment(axes: Axes3D, shape: RobotShape, t: float) -> Any:
    """Add the obstacles at a time t [s], behind all else; the rest as :func:`add_surfaces`."""
    parts = [
        BodySurface(points, surface.triangles, 1, 0.25, SURROUNDINGS_COLOUR)
        for points, surface in zip(shape.obstacles(t), shape.environment)
    ]
    return add_surfaces(axes, parts, 1)


def add_forces(axes: Axes3D, ends: Array) -> Any:
    """Draw arrows (C, 2, 3) [m], world, over all else; return the collection, None for none."""
    if not len(ends):
        return None
    lines = lines_of(ends, _viewer())
    return axes.add_collection3d(
        Line3DCollection(lines, colors=FORCE_COLOUR, linewidths=1.6, zorder=8)
    )


def _viewer() -> Vector:
    """Return the direction (3,) to the one who looks."""
    elevation, azimuth = np.radians(VIEW)
    return np.array([np.cos(elevation) * np.cos(azimuth),
                     np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])  # fmt: skip


def _faces(points: Matrix, triangles: Integers) -> tuple[Array, Matrix]:
    """Return the triangles (K, 3, 3) that face the viewer and their normals (K, 3)."""
    faces = points[triangles]
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    facing = normals @ _viewer() > 0.0
    return faces[facing], normals[facing]


def _lit(normals: Matrix, part: BodySurface) -> Matrix:
    """Return the colours (K, 3) of faces: lit from one side, every second body darker."""
    light = np.clip(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)[:, None]
    color = part.color * (1.0 if part.body % 2 else 0.8) * (0.6 + 0.6 * light) + 0.15 * light**6
    color = np.clip(color, 0.0, 1.0)
    return color + (1.0 - color) * part.paleness


def frame_space(axes: Axes3D, points: Matrix) -> None:
    """Set equal scales on all axes, around points (K, 3) [m]."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    half = np.maximum(half * 1.04, 0.2 * half.max())
    for name, m, h in zip('xyz', middle, half):
        getattr(axes, f'set_{name}lim')(m - h, m + h)
        getattr(axes, f'set_{name}label')(f'{name} [m]', labelpad=LABEL_PAD, **STYLE)
        axis = getattr(axes, f'{name}axis')
        axis.set_pane_color((0.968, 0.975, 0.982, 1.0))
        axis.line.set_color(FAINT)
        axes.tick_params(axis=name, labelsize=8, labelcolor=INK, color=FAINT, pad=1)
        share = h / half.max()
        if share > MIN_LABELLED_RATIO:
            axes.locator_params(axis=name, nbins=5 if share > 0.6 else 3)
        else:  # scales are equal, and numbers would overlap
            axis.set_ticks([])
        axis._axinfo['grid'].update(color='#e1e7ec', linewidth=0.6)  # there is no public way
    axes.set_box_aspect(half, zoom=ZOOM)
    axes.view_init(*VIEW)
    axes.set_proj_type('persp', focal_length=0.7)
    axes.computed_zorder = False
    separate_texts(axes, half, ZOOM)
