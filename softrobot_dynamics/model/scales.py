# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Characteristic sizes of a robot, by which tolerances become relative.

Coordinates differ in their units (rad, m, 1/m), and robots in their size. In units of
:class:`Scales` a change of a coordinate is a number, and a force along it an energy, so that both
can be compared: with each other, and with the rounding of what they are sums of.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.kernels.layout import JACOBIAN, ORIGIN, slab
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_SLAB,
    PARENT,
    Robot,
    STATE,
    TIP_POSE,
)
from softrobot_dynamics.recursion.transmission import LINE, POINT

_MIN_BODY_RATIO = 0.01  # of the robot's length; a shorter body does not scale its coordinates
_GROWTH_RATIO = 0.01  # of the robot's own rate; what rings undamped, or turns freely, is below
_PACE_RATIO = 0.1  # of the robot's own rate
_DEFAULT_RATE = 10.0  # [1/s] of a robot that no elasticity and no weight holds
_MIN_TIP_MOTION = 1e-3  # of the way of all its matter; less does not move a part's end


class Scales(NamedTuple):
    """Sizes of a robot in the posture q = 0."""

    length: float  # [m] of the longest way from the base to a tip, or of the matter on it
    units: Vector  # (n,) of each coordinate: what turns its part by 1 rad, or moves it its length
    reach: Vector  # (n,) [m] how far what it moves extends
    carried: Vector  # (n,) [kg] mass of what it moves
    outputs: Matrix  # (m, n) how far y goes by one unit of each coordinate
    inertia: Vector  # (n,) [kg m^2] the diagonal of the mass matrix, in these units
    weight: Vector  # (n,) [J] that gravity may have along coordinates
    stiff: Vector  # (n,) [J] of elasticity: the diagonal of the stiffness, in these units
    moves: Matrix  # (N, n) 1 where a coordinate moves a body, otherwise 0
    moves_line: Matrix  # (m, n) 1 where it moves a straight part of a line of an actuator, else 0

    def solve(self, K: Matrix, forces: Matrix) -> Matrix:
        """Return K^-1 forces (n, p), where K (n, n) is singular the least there is, in units."""
        units = self.units[:, None]
        found: Any = np.linalg.lstsq(units * K * units.T, units * forces, rcond=None)[0]
        change: Matrix = units * found
        return change

    def stiffened(self, stiffness: Matrix) -> 'Scales':
        """Return the same with the ``stiffness`` (n, n) at q = 0."""
        return self._replace(stiff=np.abs(np.diag(stiffness)) * self.units**2)

    @property
    def efforts(self) -> Vector:
        """
        Return the efforts u (m,) that move the robot by about one unit of its softest coordinate.

        Against elasticity, or weight where there is none; 1 where an actuator has nothing of both
        against it.
        """
        energy = np.where(self.stiff > 0.0, self.stiff, self.weight)
        against = np.where(energy > 0.0, energy, np.inf)
        with np.errstate(divide='ignore'):
            easiest = (against / self.outputs).min(axis=1, initial=np.inf)
        return np.where(np.isfinite(easiest), easiest, 1.0)

    @property
    def rate(self) -> float:
        """Return the rate [1/s] of the robot's slowest motion by elasticity and weight."""
        energy = self.weight + self.stiff
        squares = self.inertia[energy > 0.0] / energy[energy > 0.0]
        return float(1.0 / np.sqrt(squares.max())) if squares.any() else _DEFAULT_RATE

    @property
    def pace(self) -> float:
        """Return the rate [1/s] at which a robot may well go by its unit of a coordinate."""
        return _PACE_RATIO * self.rate

    @property
    def growth(self) -> float:
        """Return the rate [1/s] from which a motion counts as growing: it is slower by far."""
        return _GROWTH_RATIO * self.rate


class _ScaledElement(NamedTuple):
    """A joint or a body."""

    module: int
    length: float  # [m] by which its motion is measured
    first: int
    coordinates: int
    slab: int

    @property
    def indices(self) -> slice:
        """Indices of its coordinates."""
        return slice(self.first, self.first + self.coordinates)

    def columns(self, robot: Robot) -> Array:
        """Return (2, coordinates, 3): how its end turns and moves by each."""
        found = robot.W[self.slab + JACOBIAN :][: 6 * self.coordinates]
        return found.reshape(2, self.coordinates, 3)


def scales_of(robot: Robot, terms: Terms) -> Scales:
    """
    Return the :class:`Scales` of a robot whose ``terms`` and poses are those at q = 0.

    Its stiffness is still to be added, see `Scales.stiffened`: units of coordinates come first.
    """
    M = terms.M
    modules = robot.modules.astype(int)
    steps, spans, masses = _bodies(robot, modules)
    reaches, carried, moves = _beyond(modules, spans, masses, len(M))
    length = float(reaches.max(initial=0.0)) or 1.0
    parts = [part for i, m in enumerate(modules) for part in _parts(i, m, steps[i], length)]
    reach, mass, far = np.zeros((3, len(M)))
    for part in parts:
        reach[part.indices] = np.maximum(reach[part.indices], reaches[part.module])
        mass[part.indices] = np.maximum(mass[part.indices], carried[part.module])
        far[part.indices] = np.maximum(far[part.indices], part.length)
    root = np.sqrt(np.diag(M))
    spread = np.divide(root, np.sqrt(mass) * far, out=np.zeros(len(M)), where=mass > 0.0)
    units = 1.0 / _shape_units(robot, parts, spread, root)
    outputs = np.abs(terms.J * units)
    return Scales(
        length=length,
        units=units,
        reach=reach,
        carried=mass,
        outputs=outputs,
        inertia=np.diag(M) * units**2,
        weight=np.linalg.norm(robot.gravity) * mass * reach,
        stiff=np.zeros(len(M)),
        moves=moves,
        moves_line=_line_motion(robot, moves, len(terms.J)),
    )


def _parts(module: int, m: Integers, step: float, size: float) -> list[_ScaledElement]:
    """Return the joint and the body of a module, by its row ``m``."""
    joint, body = m[[JOINT_FIRST, JOINT_COUNT, JOINT_SLAB]], m[[BODY_FIRST, BODY_COUNT, BODY_SLAB]]
    return [
        _ScaledElement(module, size, *joint),
        _ScaledElement(module, step if step > _MIN_BODY_RATIO * size else size, *body),
    ]


def _bodies(robot: Robot, modules: Integers) -> tuple[Vector, Vector, Vector]:
    """Return of each body (N,) the way from its parent's tip to its own, its span, its mass."""
    frames = robot.W[: len(modules) * STATE].reshape(-1, STATE)
    tips = np.vstack([frames[:, TIP_POSE + ORIGIN :][:, :3], np.zeros(3)])  # the ground's last
    steps = np.linalg.norm(tips[:-1] - tips[modules[:, PARENT]], axis=1)
    spans, masses = steps.copy(), np.zeros(len(modules))
    for i, m in enumerate(modules):
        mass, _, _, _, xx, yy, zz = robot.W[m[BODY_SLAB] + slab(m[BODY_COUNT]).inertia :][:7]
        if mass > 0.0:
            masses[i] = mass
            spans[i] = max(steps[i], np.sqrt(max(xx + yy + zz, 0.0) / (2.0 * mass)))
    return steps, spans, masses


def _beyond(
    modules: Integers, spans: Vector, masses: Vector, n: int
) -> tuple[Vector, Vector, Matrix]:
    """Return how far each body and all beyond extend, their mass (N,), and ``Scales.moves``."""
    reaches, carried = spans.copy(), masses.copy()
    moves = np.zeros((len(modules) + 1, n))
    for i, m in reversed(list(enumerate(modules))):
        if m[PARENT] < len(modules):
            reaches[m[PARENT]] = max(reaches[m[PARENT]], spans[m[PARENT]] + reaches[i])
            carried[m[PARENT]] += carried[i]
    for i, m in enumerate(modules):
        moves[i] = moves[m[PARENT]]
        for first, count in m[[JOINT_FIRST, JOINT_COUNT]], m[[BODY_FIRST, BODY_COUNT]]:
            moves[i, first : first + count] = 1.0
    return reaches, carried, moves[:-1]


def _shape_units(
    robot: Robot, parts: list[_ScaledElement], spread: Vector, root: Vector
) -> Vector:
    """
    Return the change of the robot's shape by a unit of each coordinate, (n,).

    That is how far its part's end turns [rad] or moves [lengths of the body, for a joint of the
    whole robot], whichever is more. A coordinate that hardly moves it, beside the ``spread`` (n,)
    by which all its matter moves [the same lengths], counts at least by its inertia, whose
    ``root`` (n,) is compared with that of the others of its body, or of the robot.
    """
    units = np.zeros(len(root))
    for part in parts:
        turn, way = np.linalg.norm(part.columns(robot), axis=2)
        units[part.indices] = np.maximum(units[part.indices], np.maximum(turn, way / part.length))
    moves = units > _MIN_TIP_MOTION * spread
    least = _share(units, root, moves)
    for module in {part.module for part in parts}:
        own = np.concatenate(
            [np.arange(len(root))[p.indices] for p in parts if p.module == module]
        )
        share = _share(units[own], root[own], moves[own], least)
        units[own] = np.maximum(units[own], root[own] * share)
    return np.where(units > 0.0, units, 1.0)  # moves nothing


def _share(units: Vector, root: Vector, moves: NDArray[np.bool_], otherwise: float = 0.0) -> float:
    """Return the least change of shape per root of inertia of what ``moves`` its end."""
    bears = moves & (root > 0.0)
    return float((units[bears] / root[bears]).min()) if bears.any() else otherwise


def _line_motion(robot: Robot, moves: Matrix, m: int) -> Matrix:
    """Return ``Scales.moves_line``."""
    found = np.zeros((m, moves.shape[1]))
    for actuator, kind, _, A, B, _ in robot.segments.astype(int):
        for module in {LINE: (A, B), POINT: (A,)}.get(kind, ()):
            if module < len(moves):
                found[actuator] = np.maximum(found[actuator], moves[module])
    return found
