# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Steps as long as a tolerance allows, by a method of third order; see `rosenbrock_stages`."""

from collections.abc import Callable
from typing import Any, cast, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run, run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.actuation_hessians import fibre_stiffness
from softrobot_dynamics.recursion.cable_drives import add_cable_stiffness
from softrobot_dynamics.recursion.contact_forces import add_contact_stiffness
from softrobot_dynamics.recursion.derivative_passes import (
    allocate_tangents,
    DerivativeArrays,
    tangent_entries,
)
from softrobot_dynamics.recursion.servos import separate_servos
from softrobot_dynamics.simulation.integrators.contract import ADVANCE, Clock, Integrator, register
from softrobot_dynamics.simulation.integrators.forces import save_start
from softrobot_dynamics.simulation.integrators.rosenbrock_stages import (
    allocate_stages,
    begin_step,
    finish_step,
    next_stage,
    ROS34PW2,
    solve_stage,
    StageWorkspace,
)

MIN_STEP = 1e-9  # [s] below which the state cannot be continued: no matter is as fast
MAX_JACOBIAN_AGE = 4  # steps after which derivatives are taken anew


class Jacobian(NamedTuple):
    """Derivatives of ID(q, qd, qdd) - force by q, K, and by qd, D, (n, n) each; and scratch."""

    K: Matrix  # now
    D: Matrix
    last_K: Matrix  # when they were taken
    last_D: Matrix
    first_K: Matrix  # when they were taken the time before
    first_D: Matrix
    fibres: Matrix  # (n, n)
    x: Vector  # (2 n,)
    qdd: Vector  # (n,)


def _jacobian(n: int) -> Jacobian:
    matrices = 'K', 'D', 'last_K', 'last_D', 'first_K', 'first_D', 'fibres'
    square = {name: np.zeros((n, n)) for name in matrices}
    return Jacobian(**square, x=np.zeros(2 * n), qdd=np.zeros(n))


class RosenbrockWork(NamedTuple):
    """Work arrays of steps within a tolerance."""

    evaluate: Entry  # of the robot, into the terms
    terms: Terms
    differentiate: Entry  # into the tangents
    tangents: DerivativeArrays
    actuator_stiffness: Entry  # into the fibres of the Jacobian
    jacobian: Jacobian
    stages: StageWorkspace
    clock: Clock
    adapt: Entry  # of the Jacobian to drives that move joints, or EMPTY_ENTRY
    time: Vector  # (1,) [s] that obstacles move by
    longest: float  # step [s]
    tolerance: float
    units: Vector  # (n,) of coordinates, see softrobot_dynamics.model.scales


@register('rosenbrock')
class RosenbrockIntegrator(Integrator):
    """
    Steps of a third-order method, at most ``substep`` [s], as long as a tolerance allows.

    It is relative to a coordinate, or to what turns a part by 1 rad or moves it by its length.
    The method needs the derivatives of all forces by q and qd for its accuracy, while it has its
    order without. They are taken anew every few steps, and in between continued along a straight
    line: stale ones would cost a digit. They are without the friction of routes, which shortens
    steps where its direction changes.
    """

    keeps_tolerance = True

    def prepare(self, model: RobotModel) -> None:
        """Allocate the arrays of the kernel, and bind it."""
        n, robot, drives = model.n, self.evaluate.robot, self.acts.drives
        contact = self.acts.contact
        t = allocate_tangents(robot, model.derivatives())
        jacobian = _jacobian(n)
        own = {'hessians': model.hessians(), 'stiffness': jacobian.fibres, 'x': jacobian.x}
        actuator_stiffness = entry(fibre_stiffness, robot=robot, **own)
        if drives is not None:
            cables: Any = {'stiffness': np.zeros((n, n)), 'x': jacobian.x}
            cables['hessians'] = model.hessians(cables=True)
            actuator_stiffness = entry(
                add_cable_stiffness,
                fibres=actuator_stiffness,
                cables=entry(fibre_stiffness, robot=drives.robot, **cables),
                drives=drives,
                of_tension=cables['stiffness'],
                pull=np.zeros(len(drives.tension)),
                out=jacobian.fibres,
            )
        self._work = RosenbrockWork(
            evaluate=self.entry,
            terms=self.terms,
            differentiate=tangent_entries(robot, t, one_sided=True).whole,
            tangents=t,
            actuator_stiffness=actuator_stiffness,
            jacobian=jacobian,
            stages=allocate_stages(ROS34PW2, n),
            clock=self.clock,
            adapt=self._adaptation(jacobian),
            time=np.zeros(1) if contact is None else contact.moving.time,
            longest=self.substep,
            tolerance=cast(float, self.tolerance),  # without one it is refused before
            units=model.scales.units,
        )
        self.tried = self._work.stages.q
        self.advance = self.bind(self.entry)

    def _adaptation(self, jacobian: Jacobian) -> Entry:
        """Return the entry that adapts a Jacobian to contact and to drives, or EMPTY_ENTRY."""
        found, (K, D) = EMPTY_ENTRY, (jacobian.K, jacobian.D)
        if self.acts.contact is not None:
            found = entry(adapt_to_contact, contact=self.acts.contact, K=K, D=D)
        if self.acts.servos is not None:
            found = entry(adapt_to_servos, before=found, drives=self.acts.servos, K=K, D=D)
        return found

    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """Return ``advance`` by another entry that evaluates the robot into the same terms."""
        work = self._work._replace(evaluate=self.driven(evaluate))
        return cached(rosenbrock_steps, ADVANCE, work=work)

    def reset(self, q: Vector) -> None:
        """Restart."""
        clock = self.clock
        clock.next_step[0], clock.age[0] = self._work.longest, MAX_JACOBIAN_AGE
        clock.time_since_jacobian[0] = 0.0


@kernel
def rosenbrock_steps(work, force, q, qd, duration, once):
    """Make steps within a tolerance, see :class:`RosenbrockIntegrator`."""
    b, clock, jacobian = work.stages, work.clock, work.jacobian
    clock.elapsed[0] = clock.steps[0] = 0.0
    ready, initial_time = False, work.time[0]
    while clock.elapsed[0] < duration * (1.0 - 1e-12):
        left = duration - clock.elapsed[0]
        h = left / max(1.0, np.ceil(left / clock.next_step[0] - 1e-9))
        changed = not ready
        if not ready:
            work.time[0] = initial_time + clock.elapsed[0]
            run(work.evaluate, q, qd)
            save_start(work.terms, force, b)
            ready = True
            _extrapolate_derivatives(clock, jacobian)
        if clock.age[0] >= MAX_JACOBIAN_AGE:
            _accelerate(b, jacobian.qdd)
            run_three(work.differentiate, q, qd, jacobian.qdd)
            run(work.actuator_stiffness, q, force)
            _subtract(work.tangents, jacobian)
            _store_derivatives(clock, jacobian)
            changed = True
        if changed and work.adapt.address != 0:
            run(work.adapt, q, qd)
        failed = _step(work, force, q, qd, h)
        excess = np.inf if failed != 0 else _excess(b.error, q, work.units, work.tolerance)
        longer = 0.9 * max(excess, 1e-12) ** (-1.0 / b.method.order)
        clock.next_step[0] = min(work.longest, h * min(3.0, max(0.2, longer)))
        if excess <= 1.0 or (failed == 0 and h <= MIN_STEP):
            copy(b.q, q)
            copy(b.qd, qd)
            clock.elapsed[0] += h
            clock.steps[0] += 1.0
            clock.age[0] += 1.0
            clock.time_since_jacobian[0] += h
            ready = False
            if once:
                return 0
        elif h <= MIN_STEP:
            return 1
        elif clock.age[0] > 0.0:
            clock.age[0] = MAX_JACOBIAN_AGE
    return 0


@kernel
def adapt_to_contact(contact, K, D, q, qd):
    """Add stiffness and damping of contact as it was in the last evaluation, at (q, qd)."""
    add_contact_stiffness(contact, K, D)


@kernel
def adapt_to_servos(before, drives, K, D, q, qd):
    """Adapt K and D to the drives as they were in the last evaluation, after ``before``."""
    if before.address != 0:
        run(before, q, qd)
    separate_servos(drives, K, D)


@kernel
def _step(work, force, q, qd, h):
    """Fill b with a step of h [s] from (q, qd), after :func:`save_start`; 1: it cannot be made."""
    terms, b, jacobian, start_time = work.terms, work.stages, work.jacobian, work.time[0]
    if begin_step(jacobian.K, jacobian.D, h, b) != 0:
        return 1
    for i in range(len(b.method.m)):
        if i > 0:
            next_stage(i, q, qd, b)
            work.time[0] = start_time + b.method.nodes[i] * h
            run(work.evaluate, b.q, b.qd)
            work.time[0] = start_time
        if solve_stage(i, terms, jacobian.K, force, qd, h, b) != 0:
            return 1
    return finish_step(q, qd, b)


@kernel
def _excess(error, q, units, tolerance):
    """Estimated error of a step in tolerances."""
    largest = 0.0
    for i in range(len(q)):
        largest = max(largest, abs(error[i]) / (tolerance * (units[i] + abs(q[i]))))
    return largest


@kernel
def _accelerate(b, qdd):
    """Fill qdd (n,) after :func:`save_start`."""
    for i in range(len(qdd)):
        qdd[i] = b.F[i]
        for j in range(i + 1):
            b.L[i, j] = b.M[i, j]
    if cholesky(b.L) == 0:
        solve_lower(b.L, qdd)
        solve_lower_transposed(b.L, qdd)


@kernel
def _subtract(t, jacobian):
    """Fill the :class:`Jacobian` with tangents of ID, and of the forces of fibres."""
    n = len(jacobian.qdd)
    for i in range(n):
        for j in range(n):
            jacobian.K[i, j] = t.by_state[i, j] - jacobian.fibres[i, j]
            jacobian.D[i, j] = t.by_state[i, n + j]


@kernel
def _store_derivatives(clock, jacobian):
    """Keep new derivatives, and those before, if there are any."""
    for i in range(len(jacobian.K)):
        if clock.time_since_jacobian[0] > 0.0:
            copy(jacobian.last_K[i], jacobian.first_K[i])
            copy(jacobian.last_D[i], jacobian.first_D[i])
        copy(jacobian.K[i], jacobian.last_K[i])
        copy(jacobian.D[i], jacobian.last_D[i])
    clock.span[0] = clock.time_since_jacobian[0]
    clock.time_since_jacobian[0] = clock.age[0] = 0.0


@kernel
def _extrapolate_derivatives(clock, jacobian):
    """Set derivatives to where the straight line through the last two has come by now."""
    w = min(1.0, clock.time_since_jacobian[0] / clock.span[0]) if clock.span[0] > 0.0 else 0.0
    for i in range(len(jacobian.K)):
        for j in range(len(jacobian.K)):
            K, D = jacobian.last_K[i, j], jacobian.last_D[i, j]
            jacobian.K[i, j] = K + w * (K - jacobian.first_K[i, j])
            jacobian.D[i, j] = D + w * (D - jacobian.first_D[i, j])
