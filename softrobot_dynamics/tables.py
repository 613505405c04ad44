# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The flat arrays of a robot, and what dispatches to its kernels, for the recursion."""

import numpy as np
from softrobot_dynamics.actuators.contract import CoordinateSegment, FibreSegment
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kinematics.cache import import_line, load_module
from softrobot_dynamics.kinematics.programs import HEADER
from softrobot_dynamics.recursion import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_RESTS,
    JOINT_SLAB,
    PARENT,
    STATE,
    TIP_RESTS,
)
from softrobot_dynamics.transmission import COORDINATE, FIBRE, LINE


class Tables:
    """The arrays of a robot while they are being filled."""

    def __init__(self, description, n):
        self.stiffness, self.damping = np.zeros((2, n, n))
        self.rest = np.zeros(n)
        N = len(description.modules)
        self.size, self.scratch = (N + 1) * STATE + 6 * n, [12 + 12 * n]
        self._n, self._numbers, self._count = n, [], 0
        self._codes = {'joint': [], 'body': [], 'length': []}
        rows, first = [], 0
        for module in description.modules:
            joint = self._part('joint', module.joint, layout.frame_size, first)
            first += joint[3]
            body = self._part('body', module.body, layout.body_size, first)
            first += body[3]
            rows.append([module.parent if module.parent >= 0 else N, *joint, *body, 0, 0])
            self._springs(module.joint, joint[2])
            self._matrices(module.body, body[2])
        self._modules = np.array(rows, dtype=np.uint32)
        parts = _Parts(description, self._modules)
        rows = [
            self._segment(i, segment, parts)
            for i, entry in enumerate(description.actuators)
            for segment in entry.actuator.segments(parts)
        ]
        self._segments = np.array(rows, dtype=np.int64).reshape(-1, 6)

    def arrays(self, gravity):
        """Modules, below, segments, P and gravity of :class:`Robot`."""
        return (
            self._modules,
            _coordinates_below(self._modules),
            self._segments,
            np.concatenate([np.zeros(1), *self._numbers]),
            gravity,
        )

    def dispatch(self):
        """Return the module with ``joint_terms``, ``body_terms`` and ``lengths``."""
        source = (
            HEADER
            + _dispatcher('joint_terms', self._codes['joint'], 'P, q, qd, W')
            + _dispatcher('body_terms', self._codes['body'], 'P, q, qd, w, W, S')
            + _dispatcher('lengths', self._codes['length'], 'P, q, qd, out, S')
        )
        return load_module(source, 'dispatch')

    def _part(self, kind, part, size, first):
        """Tag, numbers, first coordinate, coordinates and slab of a joint or a body."""
        count = len(part.coordinates())
        slab = self.size
        self.size += size.py_func(count)
        return [*self._enter(kind, part.kernel()), first, count, slab]

    def _enter(self, kind, kernel):
        """Tag and offset of the numbers of a kernel."""
        codes, code = self._codes[kind], (kernel.module, kernel.function)
        if code not in codes:
            codes.append(code)
        self.scratch.append(kernel.scratch + self._n + 64)
        return codes.index(code), self._append(kernel.parameters)

    def _append(self, values):
        offset = 1 + self._count
        self._numbers.append(np.asarray(values, dtype=float))
        self._count += len(values)
        return offset

    def _springs(self, joint, first):
        stiffness, damping, rest = joint.springs()
        part = slice(first, first + len(rest))
        self.stiffness[part, part], self.damping[part, part] = np.diag(stiffness), np.diag(damping)
        self.rest[part] = rest

    def _matrices(self, body, first):
        part = slice(first, first + len(body.coordinates()))
        self.stiffness[part, part] = body.stiffness()
        self.damping[part, part] = body.damping_matrix()

    def _segment(self, actuator, segment, parts):
        """Row of a segment, see :mod:`softrobot_dynamics.transmission`."""
        if isinstance(segment, CoordinateSegment):
            return [actuator, COORDINATE, 0, parts.joint_coordinate(*segment), 1, 0]
        if isinstance(segment, FibreSegment):
            tag, numbers = self._enter('length', segment.kernel)
            return [actuator, FIBRE + tag, numbers, *parts.body_coordinates(segment.body), 0]
        numbers = self._append([*segment.start, *segment.end])
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

    def __init__(self, description, modules):
        self._modules, self._rows = description.modules, modules
        self._bodies = {m.name: i for i, m in enumerate(description.modules)}
        self._joints = {m.joint_name: i for i, m in enumerate(description.modules)}

    def index(self, body):
        """Row of a body's module."""
        return self._bodies[body]

    def body(self, name):
        """Return a body by name."""
        return self._modules[self._bodies[name]].body

    def joint_coordinate(self, joint, coordinate):
        """Index of a coordinate of a joint."""
        i = self._joints[joint]
        return self._rows[i][JOINT_FIRST] + self._modules[i].joint.coordinates().index(coordinate)

    def body_coordinates(self, body):
        """First coordinate and number of coordinates of a body."""
        return tuple(self._rows[self._bodies[body]][8:10])

    def rigidly_joined(self, first, second):
        """Tell whether ``second`` stands on the tip of ``first`` by a joint that does not move."""
        i = self._bodies[second]
        return self._modules[i].parent == self._bodies[first] and self._rows[i][4] == 0


def note_rests(robot):
    """Note in a robot's table which joints and tips are at rest: as their kernels have said."""
    identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    for m in robot.modules:
        m[JOINT_RESTS] = not m[JOINT_COUNT] and np.array_equal(
            robot.W[m[JOINT_SLAB] :][:12], identity
        )
        m[TIP_RESTS] = not m[BODY_COUNT] and np.array_equal(robot.W[m[BODY_SLAB] :][:12], identity)


def _coordinates_below(modules):
    """Compressed rows: for each module, (first, last + 1) of the coordinates it moves or has."""
    below = [[] for _ in range(len(modules) + 1)]  # the last are those beyond the ground
    for i in range(len(modules) - 1, -1, -1):
        m = modules[i]
        for first, count in ((JOINT_FIRST, JOINT_COUNT), (BODY_FIRST, BODY_COUNT)):
            below[i] += range(m[first], m[first] + m[count])
        below[m[PARENT]] += below[i]
    rows = [_ranges(sorted(row)) for row in below[:-1]]
    starts = len(modules) + 1 + np.cumsum([0] + [len(row) for row in rows])
    return np.array([*starts, *(c for row in rows for c in row)], dtype=np.uint32)


def _ranges(numbers):
    """First and last + 1 of each run in sorted numbers, one after the other."""
    return sorted(set(numbers) ^ {x + 1 for x in numbers})


def _dispatcher(name, codes, arguments):
    """Source of a function that calls one of several kernels by tag."""
    imports, branches = '', ''
    for tag, (module, function) in enumerate(codes):
        imports += import_line(module, function, f'{name}_{tag}') + '\n'
        branches += (
            f'    {"elif" if tag else "if"} tag == {tag}:\n        {name}_{tag}({arguments})\n'
        )
    return (
        f'\n{imports}\n\n@njit(**OPTIONS)\ndef {name}(tag, {arguments}):\n'
        f'{branches or "    pass"}\n'
    )
