# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Many steps of an integrator in one compiled call: of equal length, or as a tolerance allows."""

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run, run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.differences import fibre_stiffness
from softrobot_dynamics.recursion.linearisation import Linearisation
from softrobot_dynamics.recursion.tangents import allocate_tangents, tangents
from softrobot_dynamics.simulation.exponential import (
    allocate_motion,
    correct,
    parts_of_step,
    predict,
)
from softrobot_dynamics.simulation.integrators import (
    allocate_stages,
    begin,
    end,
    next_stage,
    ROS34PW2,
    solve_stage,
    start,
)

SHORTEST = 1e-9  # step [s] below which the state cannot be continued
AGE = 4  # steps after which derivatives are taken anew


class Clock(NamedTuple):
    """What a call has done, and what the next one may know; one number each."""

    passed: Vector  # [s] by the last call
    steps: Vector  # in the last call
    next: Vector  # step [s] that is expected to be within the tolerance
    age: Vector  # steps taken since derivatives were taken
    since: Vector  # [s] the same in time
    span: Vector  # [s] before that they were taken the time before; 0: never


def _clock() -> Clock:
    one = {name: np.zeros(1) for name in Clock._fields}
    return Clock(**one)


class Fixed:
    """
    Steps of an exponential method, all as long as ``substep`` [s] or a little shorter.

    ``advance(force, q, qd, duration, once)`` advances (q, qd) by a duration [s], or ``once``,
    under forces (m,) along y. It returns 0, or 1 where a step cannot be made; ``clock`` says how
    much was done, ``terms`` are those of the last evaluation, ``evaluate`` is the Evaluator.
    """

    def __init__(self, model: Model, substep: float) -> None:
        self.evaluate = evaluate = model.evaluator()
        self._linearisation = Linearisation(model, evaluate)
        self.terms = evaluate.terms
        self.clock = _clock()
        self._given = {
            'terms': self.terms,
            'follow': self._linearisation.follow,
            'near': self._linearisation.near,
            'b': allocate_motion(model.n, parts_of_step(model, substep)),
            'clock': self.clock,
            'substep': substep,
        }
        self.advance = self.bind(evaluate.entry)

    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """Return ``advance`` by another entry that evaluates the robot into the same terms."""
        return cached(fixed_steps, evaluate=evaluate, **self._given)

    def reset(self, q: Vector) -> None:
        """Begin at q (n,)."""
        self._linearisation.begin(q)


@kernel
def fixed_steps(evaluate, terms, follow, near, b, clock, substep, force, q, qd, duration, once):
    """Make equal steps with stiffness and damping of the bodies alone, see :class:`Fixed`."""
    steps = max(1, math.ceil(duration / substep - 1e-9))
    h = duration / steps
    clock.passed[0] = clock.steps[0] = 0.0
    for k in range(1 if once else steps):
        run(evaluate, q, qd)
        start(terms, force, b)
        if len(near.parts) > 0:
            run(follow, q, qd)
        if predict(near.K, near.D, q, qd, h, b) != 0:
            return 1
        run(evaluate, b.q, b.qd)
        if correct(terms, near.K, near.D, force, q, h, b) != 0:
            return 1
        copy(b.q, q)
        copy(b.qd, qd)
        clock.steps[0] = k + 1.0
        clock.passed[0] = duration if k + 1 == steps else (k + 1) * h
    return 0


@kernel
def _step(evaluate, terms, method, b, K, D, force, q, qd, h):
    """Fill b with a step of h [s] from (q, qd), after :func:`start`; 1 where it cannot be made."""
    if begin(method, K, D, h, b) != 0:
        return 1
    for i in range(len(method.m)):
        if i > 0:
            next_stage(method, i, q, qd, b)
            run(evaluate, b.q, b.qd)
        if solve_stage(method, i, terms, K, force, qd, h, b) != 0:
            return 1
    return end(method, q, qd, b)


class Adaptive:
    """
    Steps of a third-order method, at most ``longest`` [s], as long as a tolerance allows.

    The method needs the derivatives of all forces by q and qd for its accuracy, while it has its
    order without. They are taken anew every few steps, and in between continued along a straight
    line: stale ones would cost a digit. ``advance``, ``clock`` and ``terms`` as of :class:`Fixed`.
    """

    def __init__(self, model: Model, longest: float, tolerance: float) -> None:
        n, evaluate = model.n, model.evaluator()
        self.evaluate, self.terms = evaluate, evaluate.terms
        self.clock = _clock()
        robot, t = evaluate.robot, allocate_tangents(evaluate.robot, n)
        jacobian = _jacobian(n)
        own = {'stiffness': jacobian.fibres, 'x': jacobian.x}
        self._given = {
            'differentiate': entry(tangents, robot=robot, rough=True, t=t),
            'stiffen': entry(fibre_stiffness, robot=robot, rough=True, **own),
            'terms': self.terms,
            't': t,
            'jacobian': jacobian,
            'method': ROS34PW2,
            'b': allocate_stages(n, 4),
            'clock': self.clock,
            'longest': longest,
            'tolerance': tolerance,
        }
        self.advance = self.bind(evaluate.entry)
        self._longest = longest

    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """Return ``advance`` by another entry that evaluates the robot into the same terms."""
        return cached(adaptive_steps, evaluate=evaluate, **self._given)

    def reset(self, q: Vector) -> None:
        """Begin anew."""
        clock = self.clock
        clock.next[0], clock.age[0], clock.since[0] = self._longest, AGE, 0.0


class Jacobian(NamedTuple):
    """Derivatives of ID(q, qd, qdd) - force by q, K, and by qd, D, (n, n) each; and scratch."""

    K: Matrix  # now
    D: Matrix
    last_K: Matrix  # when they were taken
    last_D: Matrix
    first_K: Matrix  # when they were taken the time before
    first_D: Matrix
    fibres: Matrix  # (n, n)
    x: Vector  # (n + 1,)
    qdd: Vector  # (n,)


def _jacobian(n: int) -> Jacobian:
    matrices = 'K', 'D', 'last_K', 'last_D', 'first_K', 'first_D', 'fibres'
    square = {name: np.zeros((n, n)) for name in matrices}
    return Jacobian(**square, x=np.zeros(n + 1), qdd=np.zeros(n))


@kernel
def adaptive_steps(
    evaluate,
    differentiate,
    stiffen,
    terms,
    t,
    jacobian,
    method,
    b,
    clock,
    longest,
    tolerance,
    force,
    q,
    qd,
    duration,
    once,
):
    """Make steps within a tolerance, see :class:`Adaptive`."""
    clock.passed[0] = clock.steps[0] = 0.0
    ready = False
    while clock.passed[0] < duration * (1.0 - 1e-12):
        left = duration - clock.passed[0]
        h = left / max(1.0, np.ceil(left / clock.next[0] - 1e-9))
        if not ready:
            run(evaluate, q, qd)
            start(terms, force, b)
            ready = True
            _continue(clock, jacobian)
        if clock.age[0] >= AGE:
            _accelerate(b, jacobian.qdd)
            run_three(differentiate, q, qd, jacobian.qdd)
            run(stiffen, q, force)
            _subtract(t, jacobian)
            _keep(clock, jacobian)
        failed = _step(evaluate, terms, method, b, jacobian.K, jacobian.D, force, q, qd, h)
        excess = np.inf if failed != 0 else _excess(b.error, q, tolerance)
        longer = 0.9 * max(excess, 1e-12) ** (-1.0 / method.order)
        clock.next[0] = min(longest, h * min(3.0, max(0.2, longer)))
        if excess <= 1.0 or (failed == 0 and h <= SHORTEST):
            copy(b.q, q)
            copy(b.qd, qd)
            clock.passed[0] += h
            clock.steps[0] += 1.0
            clock.age[0] += 1.0
            clock.since[0] += h
            ready = False
            if once:
                return 0
        elif h <= SHORTEST:
            return 1
        elif clock.age[0] > 0.0:
            clock.age[0] = AGE
    return 0


@kernel
def _excess(error, q, tolerance):
    """Estimated error of a step in tolerances."""
    largest = 0.0
    for i in range(len(q)):
        largest = max(largest, abs(error[i]) / (tolerance * (1.0 + abs(q[i]))))
    return largest


@kernel
def _accelerate(b, qdd):
    """Fill qdd (n,) after :func:`start`."""
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
def _keep(clock, jacobian):
    """Keep new derivatives, and those before, if there are any."""
    for i in range(len(jacobian.K)):
        if clock.since[0] > 0.0:
            copy(jacobian.last_K[i], jacobian.first_K[i])
            copy(jacobian.last_D[i], jacobian.first_D[i])
        copy(jacobian.K[i], jacobian.last_K[i])
        copy(jacobian.D[i], jacobian.last_D[i])
    clock.span[0], clock.since[0], clock.age[0] = clock.since[0], 0.0, 0.0


@kernel
def _continue(clock, jacobian):
    """Set derivatives to where the straight line through the last two has come by now."""
    w = min(1.0, clock.since[0] / clock.span[0]) if clock.span[0] > 0.0 else 0.0
    for i in range(len(jacobian.K)):
        for j in range(len(jacobian.K)):
            K, D = jacobian.last_K[i, j], jacobian.last_D[i, j]
            jacobian.K[i, j] = K + w * (K - jacobian.first_K[i, j])
            jacobian.D[i, j] = D + w * (D - jacobian.first_D[i, j])
