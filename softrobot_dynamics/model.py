# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""From a description to flat arrays and compiled kernels; all that can be computed once, is."""

import numpy as np
from softrobot_dynamics.actuators.contract import CoordinateSegment, FibreSegment
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kinematics.arithmetic import NUMERIC
from softrobot_dynamics.kinematics.binding import bind, cached
from softrobot_dynamics.kinematics.cache import compiling, import_line, load_module
from softrobot_dynamics.kinematics.programs import HEADER
from softrobot_dynamics.passive import passive_forces
from softrobot_dynamics.recursion import Robot, STATE
from softrobot_dynamics.transmission import allocate_terms, COORDINATE, evaluate_terms, FIBRE, LINE

_STEP = 1e-6  # of the differences that linearise a strain energy [unit of the coordinate]


def compile_model(description):
    """
    Return the :class:`CompiledModel` of a RobotDescription (see ``load_robot``).

    Kernels are compiled on first use; a robot made of body and joint types seen before is loaded
    from the cache.
    """
    return CompiledModel(description)


class CompiledModel:
    """
    A robot as kernels see it.

    Attributes: ``description``; ``n`` coordinates and ``m`` actuators with ``coordinate_names``
    and ``actuator_names`` as on the wire, ``body_names``; ``stiffness`` and ``damping`` (n, n),
    linearised at q = 0; ``nonlinear`` (., 2), first coordinate and coordinates of each body of
    which that is not the whole truth, ``linear``: there is none; ``rest`` (n,), where the springs
    are at ease; ``lower``, ``upper`` (m,) limits and ``rate_limit`` (m,) [unit/s] of the
    actuators, ``signs`` (m,) with dnu/du = (dy/dq)^T diag(signs); ``q0`` (n,) the initial
    coordinates, ``q_lower``, ``q_upper`` (n,) the joints' position limits; ``y0`` (m,) the
    lengths at q = 0, which y is relative to.
    """

    def __init__(self, description):
        self.description = description
        self.coordinate_names = tuple(description.coordinate_names)
        self.actuator_names = tuple(description.actuator_names)
        self.body_names = tuple(description.body_names)
        self.n, self.m = len(self.coordinate_names), len(self.actuator_names)
        self.q0 = np.array([description.initial.get(c, 0.0) for c in self.coordinate_names])
        self.q_lower, self.q_upper = _position_limits(description)
        self._read_actuators()
        tables = _Tables(description, self.n)
        self.stiffness, self.damping, self.rest = tables.stiffness, tables.damping, tables.rest
        self._arrays = tables.arrays(np.array(description.gravity, dtype=float))
        self._sizes = tables.size, max(tables.scratch)
        self._dispatch = tables.dispatch()
        self.y0 = self._reference_lengths()
        self._linearise()

    def robot(self):
        """Return the arrays kernels take, with a workspace of its own: one for each thread."""
        return Robot(*self._arrays, *map(np.zeros, self._sizes))

    def program(self, function, /, **given):
        """
        Return ``function`` compiled for this robot, a callable of its remaining arguments.

        Arguments called ``joint_terms``, ``body_terms`` and ``lengths`` are bound to this robot's
        dispatchers, others may be ``given`` by name: NamedTuples of arrays such as ``robot``
        then cost calls little. The machine code is cached across processes.
        """
        return bind(self._dispatch, function, given)

    def evaluator(self):
        """Return a new :class:`Evaluator`: one for each thread."""
        return Evaluator(self)

    def _read_actuators(self):
        joints = {m.joint_name: m.joint for m in self.description.modules}
        actuators = [entry.actuator for entry in self.description.actuators]
        limits = np.array([a.command_limits(joints) for a in actuators]).reshape(-1, 2)
        self.lower, self.upper = limits[:, 0].copy(), limits[:, 1].copy()
        self.rate_limit = np.array([a.rate_limit for a in actuators], dtype=float)
        self.signs = np.array([a.sign for a in actuators], dtype=float)

    def _reference_lengths(self):
        """Actuation coordinates at q = 0, by the same kernels that will be compared with them."""
        return self.evaluator()(np.zeros(self.n), np.zeros(self.n)).y

    def _linearise(self):
        """Take stiffness and damping of bodies with a strain energy from their forces."""
        self.nonlinear = _nonlinear_parts(self.description)
        self.linear = not len(self.nonlinear)
        evaluator, own = self.evaluator(), np.eye(self.n)
        for first, count in self.nonlinear:
            part = list(range(first, first + count))
            for j in part:
                near, back, far, farther = (
                    evaluator.passive(k * _STEP * own[j], 0.0 * own[j])[0][part]
                    for k in (1.0, -1.0, 2.0, -2.0)
                )
                slope = (8.0 * (near - back) - (far - farther)) / (12.0 * _STEP)
                self.stiffness[part, j] = slope
                self.damping[part, j] = evaluator.passive(0.0 * own[j], own[j])[1][part]
            block = np.ix_(part, part)
            self.stiffness[block] = 0.5 * (self.stiffness[block] + self.stiffness[block].T)


class Evaluator:
    """
    All terms of a robot at a state, in arrays of its own that every call fills anew.

    Attributes: ``robot`` (:class:`Robot`), whose workspace also holds the frames of the state;
    ``terms`` (:class:`Terms`).
    """

    def __init__(self, model):
        self.robot, self.terms = model.robot(), allocate_terms(model.n, model.m)
        self._evaluate = model.program(evaluate_terms, robot=self.robot, terms=self.terms)
        with compiling(self._evaluate):
            self(np.zeros(model.n), np.zeros(model.n))

    def __call__(self, q, qd):
        """Return the terms at (q, qd), arrays (n,) of floats, unchecked."""
        self._evaluate(q, qd)
        return self.terms

    def passive(self, q, qd):
        """Return new arrays of the elastic force s(q) and the damping force d(q, qd), (n,)."""
        self(q, qd)
        elastic, damping = np.empty((2, len(q)))
        cached(passive_forces)(self.robot, q, qd, elastic, damping)
        return elastic, damping


class _Tables:
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
            rows.append([module.parent if module.parent >= 0 else N, *joint, *body])
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
        return self._rows[i][3] + self._modules[i].joint.coordinates().index(coordinate)

    def body_coordinates(self, body):
        """First coordinate and number of coordinates of a body."""
        return tuple(self._rows[self._bodies[body]][8:10])

    def rigidly_joined(self, first, second):
        """Tell whether ``second`` stands on the tip of ``first`` by a joint that does not move."""
        i = self._bodies[second]
        return self._modules[i].parent == self._bodies[first] and self._rows[i][4] == 0


def _nonlinear_parts(description):
    """First coordinate and number of coordinates of each body with a strain energy, (., 2)."""
    parts, first = [], 0
    for module in description.modules:
        first += len(module.joint.coordinates())
        count = len(module.body.coordinates())
        if module.body.energy(np.eye(3).tolist(), NUMERIC) is not None:
            parts.append((first, count))
        first += count
    return np.array(parts, dtype=np.int64).reshape(-1, 2)


def _position_limits(description):
    """Lower and upper bound of each coordinate; bodies have none."""
    free = -np.inf, np.inf
    pairs = [
        pair
        for m in description.modules
        for pair in [*m.joint.position_limits(), *[free] * len(m.body.coordinates())]
    ]
    return np.array(pairs, dtype=float).reshape(-1, 2).T.copy()


def _coordinates_below(modules):
    """Compressed rows: for each module, (first, last + 1) of the coordinates it moves or has."""
    below = [[] for _ in range(len(modules) + 1)]  # the last are those beyond the ground
    for i in range(len(modules) - 1, -1, -1):
        m = modules[i]
        below[i] += [*range(m[3], m[3] + m[4]), *range(m[8], m[8] + m[9])]
        below[m[0]] += below[i]
    rows = [_ranges(sorted(row)) for row in below[:-1]]
    starts = len(modules) + 1 + np.cumsum([0] + [len(row) for row in rows])
    return np.array([*starts, *(c for row in rows for c in row)], dtype=np.uint32)


def _ranges(numbers):
    """First and last + 1 of each run in sorted numbers, one after the other."""
    edges = set(numbers) ^ {x + 1 for x in numbers}
    return sorted(edges)


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
