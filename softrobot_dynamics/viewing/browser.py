# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A robot in a browser window: its surfaces, tendons and chambers, frames and the tips' paths."""

from __future__ import annotations

from collections import deque
import contextlib
import io
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.schema.quaternions import quaternions_of
from softrobot_dynamics.viewing.arrows import ForceArrows, lines_of
from softrobot_dynamics.viewing.colours import (
    FORCE,
    FORCE_SHARE,
    FRAME_SHARE,
    OBSTACLE,
    OBSTACLE_OPACITY,
    Palette,
    PATH,
    PATH_SHARE,
    TENDON_BODY_OPACITY,
    UNKNOWN,
)
from softrobot_dynamics.viewing.ports import free_port
from softrobot_dynamics.viewing.shapes import Appearance, leaves, RobotShape

INSTALL_VISER = "the view needs viser: pip install 'softrobot_dynamics[view]'"
_PATH_LENGTH = 400  # points of a tip's path
_STYLE = """<style>
div:has(> p > label) { width: auto !important; min-width: 10em; }
div > p > label { white-space: nowrap; }
</style>"""  # names of sliders on one line: the column of labels is too narrow for most
_ROBOT_LAYERS = 'bodies', 'tendons and chambers', 'frames', 'paths of the tips'
_SCENE_LAYERS = 'environment', 'contact forces'  # if there are any


class Browser:
    """
    Serves a page that shows a :class:`RobotShape`, to browsers at `host` and `port`.

    ``server`` is viser's. SoftRobotError without viser, ArgumentError as :func:`free_port`.
    """

    def __init__(self, shape: RobotShape, host: str, port: int) -> None:
        try:
            import viser
        except ImportError as error:
            raise SoftRobotError(INSTALL_VISER) from error
        self.shape, self._model = shape, shape.model
        free = free_port(host, port)
        with _silent():
            self.server = viser.ViserServer(host, free, self._model.description.name)
        self.server.gui.configure_theme(control_width='large')
        self.server.gui.add_html(_STYLE)
        self._palette = Palette(shape)
        self._paths: list[deque[Vector]] = [
            deque(maxlen=_PATH_LENGTH) for _ in leaves(self._model)
        ]
        look = shape.at(self._model.q0)
        self._wanted = True  # contact forces
        self._touches = self._model.contact_plan is not None
        points = np.vstack([*look.surfaces, *(each.points for each in shape.environment)])
        low, high = points.min(axis=0), points.max(axis=0)
        self._size = float((high - low).max())
        self._arrows = ForceArrows(self._model, self._size)
        self._prepare(low, high)
        self._add(look)
        self._offer()

    @property
    def address(self) -> str:
        """The URL of the view."""
        return f'http://{self.server.get_host()}:{self.server.get_port()}'

    def show(self, q: Vector, u: Vector | None = None, time: float = 0.0) -> None:
        """
        Show the robot at q (n,), if they are numbers, under the commands u (m,) if known.

        ``time`` [s]: that of the motions of obstacles.
        """
        if not np.isfinite(q).all():
            return
        look = self.shape.at(q)
        if not all(np.isfinite(points).all() for points in look.surfaces):
            return
        for path, body in zip(self._paths, leaves(self._model)):
            path.append(look.frames[body, :3, 3])
        with self.server.atomic():
            for handle, points in zip(self._bodies, look.surfaces):
                handle.vertices = points.astype(np.float32)
            for handle, points in zip(self._curves, look.curves):
                handle.points = _segments(points)
            self._frames.batched_positions = look.frames[:, :3, 3].astype(np.float32)
            self._frames.batched_wxyzs = _wxyz(look.frames)
            for handle, path in zip(self._ways, self._paths):
                handle.points = _segments(np.array(path))
            obstacles = self.shape.obstacles(time) if self.shape.moving else []
            for i in self.shape.moving:
                self._obstacles[i].vertices = obstacles[i].astype(np.float32)
            if self._touches:
                self._show_forces(lines_of(self._arrows.at(q, time)))
            self._colour(u)

    def forget(self) -> None:
        """Begin the paths of the tips anew."""
        for path in self._paths:
            path.clear()

    def close(self) -> None:
        """End the page."""
        with _silent():
            self.server.stop()

    def _prepare(self, low: Vector, high: Vector) -> None:
        """Set up the floor, and where one looks from, for what is between two corners (3,) [m]."""
        scene, size = self.server.scene, self._size
        scene.set_up_direction('+z')
        floor = min(low[2], 0.0) - 0.02 * size
        scene.add_grid(
            '/floor', 4 * size, 4 * size, cell_size=size / 4, section_size=size,
            position=(0.0, 0.0, floor), shadow_opacity=0.3,
        )  # fmt: skip
        middle, far = (low + high) / 2.0, 1.25 * size
        camera = self.server.initial_camera
        camera.position = tuple(middle + far * np.array([0.62, -0.72, 0.28]))
        camera.look_at, camera.up = tuple(middle), (0.0, 0.0, 1.0)

    def _add(self, look: Appearance) -> None:
        """Put everything there, as it is at the start."""
        scene, modules, size = self.server.scene, self._model.description.modules, self._size
        bodies = self._palette.bodies(None)
        self._bodies = [
            scene.add_mesh_simple(
                f'/bodies/{module.name}',
                points,
                triangles,
                color=tuple(int(c) for c in bodies[i]),
                opacity=TENDON_BODY_OPACITY if i in self.shape.passed else None,
                receive_shadow=False,
                side='double',
            )  # fmt: skip
            for i, (module, points, triangles) in enumerate(
                zip(modules, look.surfaces, self.shape.triangles)
            )
        ]
        names = self._model.actuator_names
        self._curves = [
            scene.add_line_segments(
                f'/actuators/{names[k]}',
                _segments(points),
                UNKNOWN.astype(np.uint8),
                thickness=self._palette.thickness(k, size),
            )  # fmt: skip
            for k, points in zip(self.shape.routed, look.curves)
        ]
        self._frames = scene.add_batched_axes(
            '/frames', _wxyz(look.frames), look.frames[:, :3, 3],
            axes_length=FRAME_SHARE * size, axes_radius=0.05 * FRAME_SHARE * size,
        )  # fmt: skip
        self._ways = [
            scene.add_line_segments(
                f'/paths/{modules[i].name}',
                _segments(look.frames[i, None, :3, 3]),
                PATH.astype(np.uint8),
                thickness=PATH_SHARE * size,
            )  # fmt: skip
            for i in leaves(self._model)
        ]

        self._obstacles = [
            scene.add_mesh_simple(
                f'/environment/{obstacle.name}',
                surface.points,
                surface.triangles,
                color=tuple(int(c) for c in OBSTACLE),
                opacity=OBSTACLE_OPACITY,
                side='double',
            )  # fmt: skip
            for obstacle, surface in zip(
                self._model.description.environment, self.shape.environment
            )
        ]
        self._forces = scene.add_line_segments(
            '/contact forces',
            np.zeros((1, 2, 3), dtype=np.float32),
            FORCE.astype(np.uint8),
            thickness=FORCE_SHARE * size,
            visible=False,
        )  # fmt: skip

    def _show_forces(self, lines: Array) -> None:
        """Show the lines (L, 2, 3) [m] of arrows."""
        self._forces.visible = len(lines) > 0 and self._wanted
        if len(lines):
            self._forces.points = lines.astype(np.float32)

    def _offer(self) -> None:
        """Offer what can be hidden."""
        groups = self._bodies, self._curves, [self._frames], self._ways
        with self.server.gui.add_folder('Show', expand_by_default=False):
            for name, handles in zip(_ROBOT_LAYERS, groups):
                box = self.server.gui.add_checkbox(name, True)
                box.on_update(lambda event, handles=handles: _hide(handles, event.target.value))
            if self._obstacles:
                box = self.server.gui.add_checkbox(_SCENE_LAYERS[0], True)
                box.on_update(lambda event: _hide(self._obstacles, event.target.value))
            if self._touches:
                box = self.server.gui.add_checkbox(_SCENE_LAYERS[1], True)
                box.on_update(self._want_forces)

    def _want_forces(self, event: Any) -> None:
        self._wanted = event.target.value
        self._forces.visible = self._forces.visible and self._wanted

    def _colour(self, u: Vector | None) -> None:
        """Colour what pulls and presses by how much it does, of what it may."""
        for handle, colour in zip(self._curves, self._palette.curves(u)):
            handle.colors = colour.astype(np.uint8)
        for handle, colour in zip(self._bodies, self._palette.bodies(u)):
            handle.color = tuple(int(c) for c in colour)


def _wxyz(frames: Array) -> Array:
    """Return the quaternions (N, 4) of frames (N, 4, 4), w first, as viser takes them."""
    return np.roll(quaternions_of(frames[:, :3, :3]), 1, axis=1)


def _segments(points: Matrix) -> Any:
    """Return the pieces (K - 1, 2, 3) of a line through points (K, 3); one at least."""
    if len(points) < 2:
        points = np.repeat(np.reshape(points, (-1, 3))[:1], 2, axis=0)
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


def _silent() -> Any:
    """Within this context viser prints nothing: it would say its address in a box."""
    return contextlib.redirect_stdout(io.StringIO())


def _hide(handles: Any, visible: bool) -> None:
    for handle in handles:
        handle.visible = visible
