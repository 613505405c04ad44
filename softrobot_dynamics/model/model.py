# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compile a description to flat arrays and kernels."""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.garbage_collection import rarely_collected
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.compiling.parallel import compile_in_parallel
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.description.mimics import leader_limits
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.model.cable_drives import cable_tables
from softrobot_dynamics.model.closures import ClosurePlan, plan_closures
from softrobot_dynamics.model.contacts import ContactPlan, plan_contacts
from softrobot_dynamics.model.derivative_kernels import derivative_kernels, length_hessians
from softrobot_dynamics.model.evaluation import evaluation_parts, Evaluator, PerThread
from softrobot_dynamics.model.robot_arrays import note_identities, RobotArrays
from softrobot_dynamics.model.routes import plan_routes, RoutePlan
from softrobot_dynamics.model.scales import scales_of
from softrobot_dynamics.model.servos import servo_tables
from softrobot_dynamics.model.terms import allocate_terms
from softrobot_dynamics.recursion.actuation_hessians import Hessians
from softrobot_dynamics.recursion.derivative_passes import allocate_tangents, tangent_entries
from softrobot_dynamics.recursion.finite_differences import by_fourth_order, ENERGY_STEP
from softrobot_dynamics.recursion.joint_friction import CREEP_RATIO, DryFriction
from softrobot_dynamics.recursion.module_derivatives import DerivativeKernels
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.recursion.singular_mass import least_masses
from softrobot_dynamics.tracing.arithmetic import NUMERIC

_CACHE_SIZE = 64  # sets of material points whose tables stay


def compile_model(description: RobotDescription) -> CompiledModel:
    """
    Return the :class:`CompiledModel` of a RobotDescription (see ``load_robot``).

    Kernels are compiled on first use; a robot made of body and joint types seen before is loaded
    from the cache.
    """
    with rarely_collected():
        return CompiledModel(description)


@former_names(told_lower='sent_lower', told_upper='sent_upper')
class CompiledModel:
    """
    A robot as kernels see it.

    Attributes: ``description``; ``n`` coordinates and ``m`` actuators with ``coordinate_names``
    and ``actuator_names`` as on the wire, ``body_names``; ``stiffness`` and ``damping`` (n, n),
    linearised at q = 0; ``nonlinear`` (., 2), first coordinate and coordinates of each body of
    which the passive forces are nonlinear, ``linear``: there is none; ``rest`` (n,), where springs
    have no force; ``joint_friction`` (n,), dry friction of simulated joints, see
    :mod:`.joint_friction`; ``lower``, ``upper`` (m,) limits and ``rate_limit`` (m,) [unit/s] of
    the commands, ``effort_lower``, ``effort_upper`` (m,) of u, which are the same but for
    actuators that are ``positioned`` (m,): told a position, see :mod:`.drives`; ``servos``, the
    :class:`.ServoTables` of joints whose drives take positions or velocities, for which u is the
    force that laws ask for, and ``sent_lower``, ``sent_upper`` (m,) of what is sent; ``commands``,
    ``efforts`` and ``outputs`` (m,), what commands, u and y are: a name and a unit, ``signs`` (m,)
    with dnu/du = (dy/dq)^T diag(signs); ``q0`` and ``qd0`` (n,) the initial coordinates and rates,
    ``q_lower``, ``q_upper`` (n,) the joints' position limits, ``qd_limit`` (n,) those of their
    speeds, of a joint with those of joints that follow it; ``y0`` (m,) the lengths at q = 0, which
    y is relative to; ``samplings``, a
    :class:`.Sampling` of each curve through a body: at how many points its length is measured;
    ``least_mass`` (n,), diagonal entries of the mass matrix that would be rounding (see
    ``masses``); ``scales``, its characteristic :class:`~.scales.Scales`; ``per_thread``, the
    :class:`~softrobot_dynamics.model.evaluation.PerThread`; ``points_kernel``, a function of a
    body's index and points (K, 3) as bytes that returns their Kernel, as ``Body.points_kernel``
    does; ``closure_plan``, the :class:`.ClosurePlan` of a robot with closed loops, whose ``q0``
    and ``qd0`` are assembled, else None.
    """

    def __init__(self, description: RobotDescription) -> None:
        self.description = description
        self.coordinate_names = tuple(description.coordinate_names)
        self.actuator_names = tuple(description.actuator_names)
        self.body_names = tuple(description.body_names)
        self.n, self.m = len(self.coordinate_names), len(self.actuator_names)
        self.q0, self.qd0 = (
            np.array([given.get(c, 0.0) for c in self.coordinate_names])
            for given in (description.initial, description.initial_rates)
        )
        self.q_lower, self.q_upper = _position_limits(description)
        self.restitution = _restitutions(description)
        self.qd_limit = _speed_limits(description)
        self._limit_leaders()
        self._read_actuators()
        tables = RobotArrays(description, self.n)
        self.stiffness, self.damping, self.rest = tables.stiffness, tables.damping, tables.rest
        self.joint_friction = tables.joint_friction
        self._arrays, self._segments = tables.arrays(), tables.segments
        self._sizes = tables.size, max(tables.scratch)
        parts = evaluation_parts(self.robot(), allocate_terms(self.n, self.m))
        tables.place(compile_in_parallel(tables.addresses, *parts)[0])
        self._arrays, self.samplings = tables.arrays(), tuple(tables.samplings)
        evaluator = self.evaluator()
        evaluator(np.zeros(self.n), np.zeros(self.n))
        note_identities(evaluator.robot)
        # lengths at q = 0, by the same kernels that will be compared with them
        self.y0 = evaluator(np.zeros(self.n), np.zeros(self.n)).y
        self._supply()
        self.scales = scales_of(evaluator.robot, evaluator.terms)
        self._linearise()
        self.scales = self.scales.stiffened(self.stiffness)
        self.least_mass = least_masses(evaluator.robot, self.stiffness)
        self.cable_tables = cable_tables(self)
        self.per_thread = PerThread(self)
        self.points_kernel = functools.lru_cache(_CACHE_SIZE)(self._points_kernel)
        self.closure_plan: ClosurePlan | None = None
        if description.closures:
            self.closure_plan = plan_closures(self)
            self.q0, self.qd0 = self.closure_plan.q0, self.closure_plan.qd0

    def __reduce__(self) -> tuple[Callable[[RobotDescription], CompiledModel], tuple[Any, ...]]:
        """Pickle and copy as the description, of which the kernels are found in the cache."""
        return compile_model, (self.description,)

    def derivatives(self) -> DerivativeKernels:
        """Return the kernels of derivatives by own coordinates, compiled when first asked for."""
        return self._derivatives

    def hessians(self, *, cables: bool = False) -> Hessians:
        """Return second derivatives of the lengths in bodies, or of those of cables; likewise."""
        own = self._cable_hessians if cables else self._hessians
        return own._replace(out=own.out.copy(), S=own.S.copy())  # its own for each thread

    @functools.cached_property
    def route_plan(self) -> RoutePlan:
        """The :class:`.RoutePlan` of routes with friction, made at first use."""
        return plan_routes(self)

    @functools.cached_property
    def contact_plan(self) -> ContactPlan | None:
        """The :class:`.ContactPlan` of pairs that may touch, None: none; made at first use."""
        return plan_contacts(self)

    @property
    def dry_friction(self) -> DryFriction:
        """The :class:`.DryFriction` of joints."""
        return DryFriction(self.joint_friction, CREEP_RATIO * self.scales.units * self.scales.rate)

    @functools.cached_property
    def _hessians(self) -> Hessians:
        return self._new_hessians()

    @functools.cached_property
    def _cable_hessians(self) -> Hessians:
        return length_hessians(self.cable_tables.parts, self.n)

    @functools.cached_property
    def _derivatives(self) -> DerivativeKernels:
        kernels, _ = compile_in_parallel(self._derivatives_and_tangents, self._new_hessians)
        return kernels

    def _derivatives_and_tangents(self) -> DerivativeKernels:
        """Compile the derivative kernels, and the entries that call them; return the kernels."""
        kernels, robot = derivative_kernels(self.description, self.scales.units), self.robot()
        tangent_entries(robot, allocate_tangents(robot, kernels))
        return kernels

    def _new_hessians(self) -> Hessians:
        return length_hessians(self._segments, self.n)

    def robot(self) -> Robot:
        """Return the arrays kernels take, workspace and gravity its own: one for each thread."""
        W, S = map(np.zeros, self._sizes)
        gravity = np.array(self.description.gravity, dtype=float)
        return Robot(**self._arrays, gravity=gravity, W=W, S=S)

    def evaluator(self) -> Evaluator:
        """Return a new :class:`Evaluator`: one for each thread."""
        return Evaluator(self)

    def _points_kernel(self, body: int, points: bytes) -> Kernel:
        with np.errstate(all='ignore'):  # NaN where there is no such point
            own = self.description.modules[body].body
            return own.points_kernel(np.frombuffer(points).reshape(-1, 3))

    def _limit_leaders(self) -> None:
        """Limit joints that others follow to where these are within their limits, too."""
        (ranges, speeds) = leader_limits(self.description.modules)
        firsts = self.description.first_coordinates()
        for name, (low, high) in ranges.items():
            self.q_lower[firsts[name]], self.q_upper[firsts[name]] = low, high
            self.qd_limit[firsts[name]] = speeds[name]

    def _read_actuators(self) -> None:
        joints = {m.joint_name: m.joint for m in self.description.modules}
        actuators = [entry.actuator for entry in self.description.actuators]
        limits = np.array([a.command_limits(joints) for a in actuators]).reshape(-1, 2)
        self.lower, self.upper = limits[:, 0].copy(), limits[:, 1].copy()
        self.rate_limit = np.array([a.rate_limit for a in actuators], dtype=float)
        limits = np.array([a.effort_limits(joints) for a in actuators]).reshape(-1, 2)
        self.effort_lower, self.effort_upper = limits[:, 0].copy(), limits[:, 1].copy()
        self.positioned = np.array([a.positioned for a in actuators], dtype=bool)
        self.commands, self.outputs = self.description.commands, self.description.outputs
        self.efforts, self.wire_fields = self.description.efforts, self.description.wire_fields
        self.signs = np.array([a.sign for a in actuators], dtype=float)
        self.servos = servo_tables(self)
        self.sent_lower, self.sent_upper = self.lower, self.upper  # of forces
        if self.servos.any:
            own = self.servos.actuators
            self.sent_lower, self.sent_upper = self.lower.copy(), self.upper.copy()
            self.sent_lower[own], self.sent_upper[own] = self.servos.bounds()

    def _supply(self) -> None:
        """Let no command grow faster than chambers at rest are filled."""
        for k, entry in enumerate(self.description.actuators):
            if (supply := entry.actuator.supply) is not None:
                self.rate_limit[k] = min(self.rate_limit[k], supply.rate(self.y0[k]))

    def _linearise(self) -> None:
        """Take stiffness and damping of bodies with a strain energy from their forces."""
        self.nonlinear = _nonlinear_parts(self.description)
        self.linear = not len(self.nonlinear)
        evaluator, zero = self.evaluator(), np.zeros(self.n)

        def elastic(q: Vector) -> Vector:
            return evaluator.passive(q, zero)[0]

        for first, count in self.nonlinear:
            part = list(range(first, first + count))
            derivatives = by_fourth_order(elastic, zero, ENERGY_STEP * self.scales.units, part)[
                part
            ]
            self.stiffness[np.ix_(part, part)] = 0.5 * (derivatives + derivatives.T)
            for j, rate in zip(part, np.eye(self.n)[part]):
                self.damping[part, j] = evaluator.passive(zero, rate)[1][part]


def _nonlinear_parts(description: RobotDescription) -> Integers:
    """First coordinate and number of coordinates of each body with a strain energy, (., 2)."""
    parts = [
        (body.start, body.stop - body.start)
        for module, _, body in description.coordinate_slices()
        if module.body.energy(np.eye(3).tolist(), NUMERIC) is not None
    ]
    return np.array(parts, dtype=np.int64).reshape(-1, 2)


def _position_limits(description: RobotDescription) -> Matrix:
    """Lower and upper bound of each coordinate; bodies have none."""
    free = -np.inf, np.inf
    pairs = [
        pair
        for m in description.modules
        for pair in [*m.joint.position_limits(), *[free] * len(m.body.coordinates())]
    ]
    return np.array(pairs, dtype=float).reshape(-1, 2).T.copy()


def _restitutions(description: RobotDescription) -> Vector:
    """Restitution at the position limits of each coordinate; bodies have none."""
    found = [
        each
        for m in description.modules
        for each in [*m.joint.restitutions(), *[0.0] * len(m.body.coordinates())]
    ]
    return np.array(found)


def _speed_limits(description: RobotDescription) -> Vector:
    """Greatest speed of each coordinate; bodies have none."""
    limits = [
        limit
        for m in description.modules
        for limit in [*m.joint.velocity_limits(), *[np.inf] * len(m.body.coordinates())]
    ]
    return np.array(limits, dtype=float)
