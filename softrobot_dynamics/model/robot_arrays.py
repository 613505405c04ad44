# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The flat arrays of a robot, for the recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.actuators.contract import (
    CoordinateSegment,
    FibreSegment,
    PointSegment,
    RobotParts,
    Segment,
)
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.joints.follower import Follower
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.model.length_quadrature import choose_points, Sampling
from softrobot_dynamics.model.named_parts import NamedParts
from softrobot_dynamics.recursion.passes import (
    BODY_COLUMN,
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_IDENTITY,
    JOINT_SLAB,
    PARENT,
    Robot,
    ROW,
    STATE,
    TIP_IDENTITY,
)
from softrobot_dynamics.recursion.transmission import COORDINATE, FIBRE, LINE, POINT

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

# arguments of the kernels of joints, bodies and lengths
JOINT, BODY, LENGTH = 'P, q, qd, W', 'P, q, qd, w, W, S', 'P, q, qd, out, S'


def _slab_size(n: int) -> int:
    return layout.slab(n).size


class SegmentSource(Protocol):
    """Source of segments along a robot: an actuator, or lengths of several."""

    def segments(self, parts: RobotParts) -> Iterable[Segment]:
        """Return the segments, by the bodies and joints of a robot."""


class RobotArrays:
    """
    The arrays of a robot while they are being filled, at last by :meth:`place`.

    Segments are those of ``sources``, by default of its actuators.
    """

    def __init__(
        self, description: RobotDescription, n: int, sources: Sequence[SegmentSource] | None = None
    ) -> None:
        if sources is None:
            sources = [entry.actuator for entry in description.actuators]
        self.stiffness, self.damping = np.zeros((2, n, n))
        self.rest, self.joint_friction = np.zeros((2, n))
        N, columns = len(description.modules), _columns(description)
        self.armature = np.zeros(columns)
        self.size, self.scratch = (N + 1) * STATE + 6 * columns, [12 + 12 * columns]
        if columns > n:
            self.size += columns**2
        self._n, self._count = n, 0
        self._numbers: list[Vector] = []
        self._codes: list[tuple[str, str, str]] = []
        rows, kernels, firsts, column = [], [], description.first_coordinates(), 0
        for module, first in zip(description.modules, firsts.values()):
            body, coordinates = module.body, module.joint.coordinates()
            count, leads = len(module.joint.freedoms()), first
            if isinstance(module.joint, Follower):
                leads = firsts[module.joint.leader]
            part = module.joint.kernel(), count, layout.frame_size
            joint, *own = self._part(JOINT, part, leads)
            part = body.kernel(), len(body.coordinates()), _slab_size
            own_body, *others = self._part(BODY, part, first + len(coordinates))
            row = [module.parent if module.parent >= 0 else N, *own, *others, 0, 0]
            rows.append([*row, column, column + count])
            kernels.append([joint, own_body])
            self.armature[column : column + count] = module.joint.armature
            self._springs(module.joint, first)
            self._matrices(body, first + len(coordinates))
            column += count + others[2]
        self._follow(description, firsts)
        self._modules = np.array(rows, dtype=np.uint32).reshape(-1, ROW)
        self._kernels = np.array(kernels, dtype=np.uint64)
        parts = NamedParts(description, self._modules)
        each = [
            (i, segment) for i, source in enumerate(sources) for segment in source.segments(parts)
        ]
        rows = [self._segment(i, segment, parts) for i, segment in each]
        self.segments = [segment for _, segment in each]
        self._segments = np.array(rows, dtype=np.int64).reshape(-1, 6)
        self._description = description
        self.samplings: list[Sampling] = []

    def arrays(self) -> dict[str, Any]:
        """Return the fields of :class:`Robot` that all threads share, by name."""
        return {
            'modules': self._modules,
            'kernels': self._kernels,
            'coordinates': _coordinates(self._modules, len(self.armature)),
            'below': _columns_below(self._modules),
            'segments': self._segments,
            'armature': self.armature,
            'P': np.concatenate([np.zeros(1), *self._numbers]),
        }

    def addresses(self) -> Integers:
        """Return the addresses of all kernels (.,), compiled."""
        return np.array([address(*code) for code in self._codes], dtype=np.uint64)

    def place(self, addresses: Integers) -> None:
        """
        Put the addresses of all kernels where their numbers have been until now.

        Then the kernels are there to say at how many points lengths are to be measured, so that
        :meth:`arrays` are others afterwards. DescriptionError: see :mod:`.length_quadrature`.
        """
        self._kernels[:] = addresses[self._kernels]
        fibres = self._segments[:, 1] == FIBRE
        self._segments[fibres, 5] = addresses[self._segments[fibres, 5]]
        self._measure_curves()

    def _measure_curves(self) -> None:
        """Give each length within a body the points that its curve needs; note how many."""
        start = self._description.initial
        names = self._description.coordinate_names
        q0 = np.array([start.get(name, 0.0) for name in names])
        for i, (row, segment) in enumerate(zip(self._segments, self.segments)):
            if not isinstance(segment, FibreSegment) or segment.curve is None:
                continue
            curve, own = segment.curve, q0[row[3] : row[3] + row[4]]
            numbers = segment.kernel.parameters
            doublings, error = choose_points(curve, numbers, int(row[5]), own)
            if doublings:
                self.segments[i] = finer = segment.refined(doublings)
                row[2] = self._append([finer.factor, *finer.kernel.parameters])
            points = curve.count(doublings)
            self.samplings.append(Sampling(int(row[0]), curve.name, points, error))

    def _part(
        self, arguments: str, part: tuple[Kernel, int, Callable[[int], int]], first: int
    ) -> list[int]:
        """Kernel, numbers, first coordinate, coordinates and slab of a joint or a body."""
        kernel, count, size = part
        slab = self.size
        self.size += size(count)
        return [*self._enter(kernel, arguments), first, count, slab]

    def _enter(self, kernel: Kernel, arguments: str) -> tuple[int, int]:
        """Return the number of a kernel among all, and the offset of its numbers."""
        code = kernel.module, kernel.function, arguments
        if code not in self._codes:
            self._codes.append(code)
        self.scratch.append(kernel.scratch + self._n + 64)
        return self._codes.index(code), self._append(kernel.parameters)

    def _append(self, values: Sequence[float] | Vector) -> int:
        offset = 1 + self._count
        self._numbers.append(np.asarray(values, dtype=float))
        self._count += len(values)
        return offset

    def _springs(self, joint: Joint, first: int) -> None:
        if isinstance(joint, Follower):
            return  # see _follow
        stiffness, damping, rest = joint.springs()
        part = slice(first, first + len(rest))
        self.stiffness[part, part], self.damping[part, part] = np.diag(stiffness), np.diag(damping)
        self.rest[part] = rest
        self.joint_friction[part] = joint.coulomb_friction

    def _follow(self, description: RobotDescription, firsts: Mapping[str, int]) -> None:
        """Add the springs, dampers and friction of joints that follow others to their leaders'."""
        for joint in (m.joint for m in description.modules if isinstance(m.joint, Follower)):
            (stiffness,), (damping,), (rest,) = joint.springs()
            j = firsts[joint.leader]
            total = self.stiffness[j, j] + stiffness
            if total > 0.0:
                self.rest[j] = (self.stiffness[j, j] * self.rest[j] + stiffness * rest) / total
            self.stiffness[j, j] = total
            self.damping[j, j] += damping
            self.joint_friction[j] += joint.coulomb_friction

    def _matrices(self, body: Body, first: int) -> None:
        part = slice(first, first + len(body.coordinates()))
        self.stiffness[part, part] = body.stiffness()
        self.damping[part, part] = body.damping_matrix()

    def _segment(self, actuator: int, segment: Segment, parts: NamedParts) -> list[int]:
        """Row of a segment, see :mod:`softrobot_dynamics.recursion.transmission`."""
        if isinstance(segment, CoordinateSegment):
            numbers, joint = 0, parts.joint(segment.joint)
            if isinstance(joint, Follower):
                numbers = self._append([joint.multiplier, joint.offset])
            return [actuator, COORDINATE, numbers, parts.joint_coordinate(*segment), 1, 0]
        if isinstance(segment, FibreSegment):
            numbers = self._append([segment.factor])  # the kernel's own follow
            kernel, _ = self._enter(segment.kernel, LENGTH)
            return [actuator, FIBRE, numbers, *parts.body_coordinates(segment.body), kernel]
        if isinstance(segment, PointSegment):
            numbers = self._append([*segment.point, *segment.direction])
            return [actuator, POINT, numbers, parts.index(segment.body), 0, 0]
        numbers = self._append([*segment.start, *segment.end, segment.factor])
        return [
            actuator,
            LINE,
            numbers,
            parts.index(segment.start_body),
            parts.index(segment.end_body),
            2 * segment.start_at_tip + segment.end_at_tip,
        ]


def note_identities(robot: Robot) -> None:
    """Note in a robot's table which joints' and tips' frames never move, as their kernels say."""
    identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    for m in robot.modules:
        m[JOINT_IDENTITY] = not m[JOINT_COUNT] and np.array_equal(
            robot.W[m[JOINT_SLAB] :][:12], identity
        )
        m[TIP_IDENTITY] = not m[BODY_COUNT] and np.array_equal(
            robot.W[m[BODY_SLAB] :][:12], identity
        )


def _columns(description: RobotDescription) -> int:
    """Return the number of columns, see :mod:`softrobot_dynamics.recursion.passes`."""
    modules = description.modules
    return sum(len(m.joint.freedoms()) + len(m.body.coordinates()) for m in modules)


def _coordinates(modules: Integers, columns: int) -> Integers:
    """Return the coordinate of each column, (n_x,)."""
    found = np.zeros(columns, dtype=np.uint32)
    for m in modules.astype(int):
        for column, first, count in (
            m[[JOINT_COLUMN, JOINT_FIRST, JOINT_COUNT]],
            m[[BODY_COLUMN, BODY_FIRST, BODY_COUNT]],
        ):
            found[column : column + count] = range(first, first + count)
    return found


def _columns_below(modules: Integers) -> Integers:
    """Compressed rows: for each module, (first, last + 1) of the columns it moves or has."""
    # the last are those beyond the ground
    below: list[list[int]] = [[] for _ in range(len(modules) + 1)]
    for i in range(len(modules) - 1, -1, -1):
        m = modules[i]
        for first, count in ((JOINT_COLUMN, JOINT_COUNT), (BODY_COLUMN, BODY_COUNT)):
            below[i] += range(m[first], m[first] + m[count])
        below[m[PARENT]] += below[i]
    rows = [_ranges(sorted(row)) for row in below[:-1]]
    starts = len(modules) + 1 + np.cumsum([0] + [len(row) for row in rows])
    return np.array([*starts, *(c for row in rows for c in row)], dtype=np.uint32)


def _ranges(numbers: Sequence[int]) -> list[int]:
    """First and last + 1 of each run in sorted numbers, one after the other."""
    return sorted(set(numbers) ^ {x + 1 for x in numbers})
