# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The flat arrays of a robot, for the recursion."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from softrobot_dynamics.actuators.contract import (
    CoordinateSegment,
    FibreSegment,
    PointSegment,
    Segment,
)
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.model.lengths import Lengths, Sampling
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_IDENTITY,
    JOINT_SLAB,
    PARENT,
    Robot,
    STATE,
    TIP_IDENTITY,
)
from softrobot_dynamics.recursion.transmission import COORDINATE, FIBRE, LINE, POINT

# arguments of the kernels of joints, bodies and lengths
JOINT, BODY, LENGTH = 'P, q, qd, W', 'P, q, qd, w, W, S', 'P, q, qd, out, S'


def _slab_size(n: int) -> int:
    return layout.slab(n).size


class RobotArrays:
    """The arrays of a robot while they are being filled, at last by :meth:`place`."""

    def __init__(self, description: RobotDescription, n: int) -> None:
        self.stiffness, self.damping = np.zeros((2, n, n))
        self.rest, self.armature, self.joint_friction = np.zeros((3, n))
        N = len(description.modules)
        self.size, self.scratch = (N + 1) * STATE + 6 * n, [12 + 12 * n]
        self._n, self._count = n, 0
        self._numbers: list[Vector] = []
        self._codes: list[tuple[str, str, str]] = []
        rows, kernels, first = [], [], 0
        for module in description.modules:
            joint, *own = self._part(JOINT, module.joint, layout.frame_size, first)
            body, *others = self._part(BODY, module.body, _slab_size, first + own[2])
            rows.append([module.parent if module.parent >= 0 else N, *own, *others, 0, 0])
            kernels.append([joint, body])
            self._springs(module.joint, first)
            self._matrices(module.body, first + own[2])
            first += own[2] + others[2]
        self._modules = np.array(rows, dtype=np.uint32)
        self._kernels = np.array(kernels, dtype=np.uint64)
        parts = _Parts(description, self._modules)
        each = [
            (i, segment)
            for i, entry in enumerate(description.actuators)
            for segment in entry.actuator.segments(parts)
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
            'below': _coordinates_below(self._modules),
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
        :meth:`arrays` are others afterwards. Raises DescriptionError, see :class:`.Lengths`.
        """
        self._kernels[:] = addresses[self._kernels]
        fibres = self._segments[:, 1] == FIBRE
        self._segments[fibres, 5] = addresses[self._segments[fibres, 5]]
        self._measure_curves()

    def _measure_curves(self) -> None:
        """Give each length within a body the points that its curve needs; note how many."""
        lengths, start = Lengths(), self._description.initial
        names = self._description.coordinate_names
        q0 = np.array([start.get(name, 0.0) for name in names])
        for i, (row, segment) in enumerate(zip(self._segments, self.segments)):
            if not isinstance(segment, FibreSegment) or segment.curve is None:
                continue
            curve, own = segment.curve, q0[row[3] : row[3] + row[4]]
            doublings, error = lengths.choose(segment, int(row[5]), own)
            if doublings:
                self.segments[i] = finer = segment.refined(doublings)
                row[2] = self._append([finer.factor, *finer.kernel.parameters])
            points = curve.count(doublings)
            self.samplings.append(Sampling(int(row[0]), curve.name, points, error))

    def _part(
        self, arguments: str, part: Joint | Body, size: Callable[[int], int], first: int
    ) -> list[int]:
        """Kernel, numbers, first coordinate, coordinates and slab of a joint or a body."""
        count = len(part.coordinates())
        slab = self.size
        self.size += size(count)
        return [*self._enter(part.kernel(), arguments), first, count, slab]

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
        stiffness, damping, rest = joint.springs()
        part = slice(first, first + len(rest))
        self.stiffness[part, part], self.damping[part, part] = np.diag(stiffness), np.diag(damping)
        self.rest[part] = rest
        self.armature[part] = joint.armature
        self.joint_friction[part] = joint.coulomb_friction

    def _matrices(self, body: Body, first: int) -> None:
        part = slice(first, first + len(body.coordinates()))
        self.stiffness[part, part] = body.stiffness()
        self.damping[part, part] = body.damping_matrix()

    def _segment(self, actuator: int, segment: Segment, parts: '_Parts') -> list[int]:
        """Row of a segment, see :mod:`softrobot_dynamics.recursion.transmission`."""
        if isinstance(segment, CoordinateSegment):
            return [actuator, COORDINATE, 0, parts.joint_coordinate(*segment), 1, 0]
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


class _Parts:
    """What actuators may ask about a robot's bodies and joints, by name."""

    def __init__(self, description: RobotDescription, modules: Integers) -> None:
        self._modules, self._rows = description.modules, modules
        self._bodies = {m.name: i for i, m in enumerate(description.modules)}
        self._joints = {m.joint_name: i for i, m in enumerate(description.modules)}

    def index(self, body: str) -> int:
        """Row of a body's module."""
        return self._bodies[body]

    def body(self, name: str) -> Body:
        """Return a body by name."""
        return self._modules[self._bodies[name]].body

    def joint_coordinate(self, joint: str, coordinate: str) -> int:
        """Index of a coordinate of a joint."""
        i = self._joints[joint]
        return self._rows[i][JOINT_FIRST] + self._modules[i].joint.coordinates().index(coordinate)

    def body_coordinates(self, body: str) -> tuple[int, int]:
        """First coordinate and number of coordinates of a body."""
        return tuple(self._rows[self._bodies[body]][[BODY_FIRST, BODY_COUNT]])

    def rigidly_joined(self, first: str, second: str) -> bool:
        """Tell whether ``second`` stands on the tip of ``first`` by a joint that does not move."""
        i = self._bodies[second]
        return self._modules[i].parent == self._bodies[first] and self._rows[i][JOINT_COUNT] == 0


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


def _coordinates_below(modules: Integers) -> Integers:
    """Compressed rows: for each module, (first, last + 1) of the coordinates it moves or has."""
    # the last are those beyond the ground
    below: list[list[int]] = [[] for _ in range(len(modules) + 1)]
    for i in range(len(modules) - 1, -1, -1):
        m = modules[i]
        for first, count in ((JOINT_FIRST, JOINT_COUNT), (BODY_FIRST, BODY_COUNT)):
            below[i] += range(m[first], m[first] + m[count])
        below[m[PARENT]] += below[i]
    rows = [_ranges(sorted(row)) for row in below[:-1]]
    starts = len(modules) + 1 + np.cumsum([0] + [len(row) for row in rows])
    return np.array([*starts, *(c for row in rows for c in row)], dtype=np.uint32)


def _ranges(numbers: Sequence[int]) -> list[int]:
    """First and last + 1 of each run in sorted numbers, one after the other."""
    return sorted(set(numbers) ^ {x + 1 for x in numbers})
