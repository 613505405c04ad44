# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Steps in time of equal length, in one compiled call; what any such call tells."""

from collections.abc import Callable
import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.linearisation import Linearisation, Near
from softrobot_dynamics.simulation.exponential import (
    allocate_motion,
    correct,
    Motion,
    parts_of_step,
    predict,
)
from softrobot_dynamics.simulation.integrators import start


class Clock(NamedTuple):
    """What a call has done, and what the next one may know; one number each."""

    passed: Vector  # [s] by the last call
    steps: Vector  # in the last call
    next: Vector  # step [s] that is expected to be within the tolerance
    age: Vector  # steps taken since derivatives were taken
    since: Vector  # [s] the same in time
    span: Vector  # [s] before that they were taken the time before; 0: never


def new_clock() -> Clock:
    """Return a :class:`Clock` of a call that has done nothing yet."""
    one = {name: np.zeros(1) for name in Clock._fields}
    return Clock(**one)


class FixedWork(NamedTuple):
    """What steps of equal length work with."""

    evaluate: Entry  # of the robot, into the terms
    terms: Terms
    follow: Entry  # of the linearisation
    near: Near
    motion: Motion
    clock: Clock
    substep: float  # [s]


class Fixed:
    """
    Steps of an exponential method, all as long as ``substep`` [s] or a little shorter.

    ``advance(force, q, qd, duration, once)`` advances (q, qd) by a duration [s], or ``once``,
    under forces (m,) along y. It returns 0, or 1 where a step cannot be made; ``clock`` says how
    much was done, ``terms`` are those of the last evaluation, ``evaluate`` is the Evaluator.
    """

    def __init__(self, model: Model, substep: float) -> None:
        self.evaluate = evaluate = model.evaluator()
        self._linearisation = near = Linearisation(model, evaluate)
        self.terms, self.clock = evaluate.terms, new_clock()
        self._work = FixedWork(
            evaluate=evaluate.entry,
            terms=self.terms,
            follow=near.follow,
            near=near.near,
            motion=allocate_motion(model.n, parts_of_step(model, substep)),
            clock=self.clock,
            substep=substep,
        )
        self.advance = self.bind(evaluate.entry)

    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """Return ``advance`` by another entry that evaluates the robot into the same terms."""
        return cached(fixed_steps, work=self._work._replace(evaluate=evaluate))

    def reset(self, q: Vector) -> None:
        """Begin at q (n,)."""
        self._linearisation.begin(q)


@kernel
def fixed_steps(work, force, q, qd, duration, once):
    """Make equal steps with stiffness and damping of the bodies alone, see :class:`Fixed`."""
    terms, near, b, clock = work.terms, work.near, work.motion, work.clock
    steps = max(1, math.ceil(duration / work.substep - 1e-9))
    h = duration / steps
    clock.passed[0] = clock.steps[0] = 0.0
    for k in range(1 if once else steps):
        run(work.evaluate, q, qd)
        start(terms, force, b)
        if len(near.parts) > 0:
            run(work.follow, q, qd)
        if predict(near.K, near.D, q, qd, h, b) != 0:
            return 1
        run(work.evaluate, b.q, b.qd)
        if correct(terms, near.K, near.D, force, q, h, b) != 0:
            return 1
        copy(b.q, q)
        copy(b.qd, qd)
        clock.steps[0] = k + 1.0
        clock.passed[0] = duration if k + 1 == steps else (k + 1) * h
    return 0
