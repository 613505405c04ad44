# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The surfaces of a robot's bodies, and the curves of its tendons, in a posture."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.bodies.skins import joined, Surface
from softrobot_dynamics.dynamics.calls import forward_kinematics, placement
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.viewing.collision_surfaces import merged, of_body, of_environment, rounded

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

RIGID_RADIUS_RATIO = 0.026  # of the robot's length, for a rigid link
FREE_JOINT_COORDINATES = 6  # of a joint that holds nothing: there is no link to what it moves by
_TENDON_POINTS = 16  # through a body


class Appearance(NamedTuple):
    """A robot in a posture, in the world frame, lengths in m."""

    surfaces: tuple[Matrix, ...]  # (K, 3) corners of each body's triangles
    curves: tuple[Matrix, ...]  # (K, 3) points along each routed actuator
    frames: Array  # (N, 4, 4) of the bodies' tips


class RobotShape:
    """
    The surfaces and curves of a model, by its bodies' own formulas.

    ``triangles`` has those of each body, rows of three of its corners in an :class:`Appearance`,
    which run right-handed about the way out. A body with sections is drawn as it is; a rigid one
    is a pipe from the tip before it to its joint and on to its own tip, with round ends: a ball if
    these are one. To a joint that holds nothing there is none. Shapes that collide are drawn as
    well, and objects are nothing but these.
    ``environment`` has the surface of each obstacle at time 0, in the world frame; of a plane a
    square about the places ``seen`` (K, 3) [m], world, None: about the robot. ``moving`` are the
    indices of those that are given a motion, see :meth:`obstacles`.
    ``routed`` are the indices of the actuators that run along a curve, ``passed`` those of the
    bodies that one of them passes.
    """

    def __init__(self, model: CompiledModel, seen: Matrix | None = None) -> None:
        self.model, modules = model, model.description.modules
        self._to_world = model.description.base.matrix()
        self._radius = RIGID_RADIUS_RATIO * reach_of(model)
        skins = [merged([module.body.skin(), of_body(module)]) for module in modules]
        self._piped = {
            i for i, m in enumerate(modules) if not (m.is_object or len(m.body.skin().points))
        }
        curves = _curves(model)
        self.routed = tuple(curves)
        self.passed = {body for passages in curves.values() for body, _ in passages}
        self._points = [skin.points for skin in skins]
        self._parts: list[list[tuple[int, slice]]] = []  # of each curve: (body, its rows there)
        for passages in curves.values():
            self._parts.append([])
            for body, points in passages:
                rows = slice(len(self._points[body]), len(self._points[body]) + len(points))
                self._points[body] = np.vstack([self._points[body], points])
                self._parts[-1].append((body, rows))
        self._skinned = [len(skin.points) for skin in skins]
        pipes = self._pipes(placement(model, model.q0))
        self.triangles: tuple[Integers, ...] = tuple(
            merged([skin, pipe]).triangles if i in self._piped else skin.triangles
            for i, (skin, pipe) in enumerate(zip(skins, pipes))
        )
        to_base = np.linalg.inv(self._to_world)
        if seen is None:
            seen = np.vstack(self.at(model.q0).surfaces)
        seen = seen @ to_base[:3, :3].T + to_base[:3, 3]
        self.environment = tuple(
            Surface(self._moved(surface.points), surface.triangles)
            for surface in of_environment(model.description, seen)
        )
        self._motions = [obstacle.motion for obstacle in model.description.environment]
        self.moving = tuple(i for i, each in enumerate(self._motions) if each is not None)

    def at(self, q: Vector) -> Appearance:
        """Return the :class:`Appearance` at q (n,)."""
        placed = placement(self.model, q)
        points = [
            placed.points(i, x).positions if len(x) else x for i, x in enumerate(self._points)
        ]
        surfaces = [x[:count] for x, count in zip(points, self._skinned)]
        if self._piped:
            pipes = self._pipes(placed)
            surfaces = [
                np.vstack([x, pipes[i].points]) if i in self._piped else x
                for i, x in enumerate(surfaces)
            ]
        curves = [np.vstack([points[body][rows] for body, rows in parts]) for parts in self._parts]
        tips = np.array([placed.pose(i) for i in range(len(points))])
        return Appearance(
            tuple(map(self._moved, surfaces)),
            tuple(map(self._moved, curves)),
            self._to_world @ tips,
        )

    def obstacles(self, t: float) -> list[Matrix]:
        """Return the corners (K, 3) [m] of each obstacle's triangles at a time t [s], world."""
        found, to_base = [], np.linalg.inv(self._to_world)
        for surface, motion in zip(self.environment, self._motions):
            moved = surface.points
            if motion is not None:
                T = self._to_world @ motion.pose(t) @ to_base
                moved = moved @ T[:3, :3].T + T[:3, 3]
            found.append(moved)
        return found

    def _moved(self, points: Matrix) -> Matrix:
        """Return points (K, 3) [m] of the base frame in the world."""
        return points @ self._to_world[:3, :3].T + self._to_world[:3, 3]

    def _pipes(self, placed: Placement) -> list[Surface]:
        """Return the pipe that stands for each body."""
        found = []
        for i, module in enumerate(self.model.description.modules):
            before = placed.pose(module.parent)[:3, 3] if module.parent >= 0 else np.zeros(3)
            pieces = [before, placed.joint(i)[1], placed.pose(i)[:3, 3]]
            if len(module.joint.coordinates()) == FREE_JOINT_COORDINATES:
                del pieces[0]
            found.append(_pipe(pieces, self._radius))
        return found


def leaves(model: CompiledModel) -> list[int]:
    """Return the bodies that bear none."""
    parents = {module.parent for module in model.description.modules}
    return [i for i in range(len(model.body_names)) if i not in parents]


def reach_of(model: CompiledModel) -> float:
    """Return the length of the robot [m]: the longest way from the base, tip by tip, at q0."""
    tips = forward_kinematics(model, q=model.q0)[:, :3, 3]
    ways: list[float] = []
    for tip, module in zip(tips, model.description.modules):
        if module.is_object:
            continue  # they follow the robot's own
        parent = module.parent
        start, way = (tips[parent], ways[parent]) if parent >= 0 else (np.zeros(3), 0.0)
        ways.append(way + float(np.linalg.norm(tip - start)))
    return max(ways)


def _curves(model: CompiledModel) -> dict[int, list[tuple[int, Matrix]]]:
    """Return what routed actuators run along, by index: (body, material points (K, 3)) each."""
    bodies = {module.name: module.body for module in model.description.modules}
    found = {}
    for k, entry in enumerate(model.description.actuators):
        if curve := entry.actuator.curve(bodies, _TENDON_POINTS):
            found[k] = [(model.body_names.index(body), points) for body, points in curve]
    return found


def _pipe(points: list[Vector], radius: float) -> Surface:
    """Return a pipe along a line through points (3,) [m], each piece with round ends."""
    pairs = zip(points, points[1:])
    return merged([joined(rounded(start, end, radius)) for start, end in pairs])
