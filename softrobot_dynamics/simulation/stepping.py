# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Steps in time of equal length, in one compiled call; what any such call tells."""

from collections.abc import Callable
import math
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.drives import drives_of
from softrobot_dynamics.model.routes import capstan_of
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.capstan import add_friction, resist
from softrobot_dynamics.recursion.drives import hold, stiffen
from softrobot_dynamics.recursion.joint_friction import brake, drag
from softrobot_dynamics.recursion.linearisation import Linearisation
from softrobot_dynamics.simulation.exponential import (
    allocate_motion,
    correct,
    ExponentialWorkspace,
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


class Inputs:
    """
    What acts on a robot in a simulation: ``force`` (m,) along y.

    If ``commanded``, actuators that are positioned have instead a ``command`` (m,) to hold, and
    no force but that of their cables, which is part of an evaluation; else ``command`` is None.
    """

    def __init__(self, model: Any, commanded: bool) -> None:
        held = model.positioned & commanded
        self.force, self._signs = np.zeros(model.m), np.where(held, 0.0, model.signs)
        self.command = np.zeros(model.m) if held.any() else None

    def take(self, u: Vector) -> None:
        """Take u (m,), commands where they are held."""
        np.multiply(u, self._signs, out=self.force)
        if self.command is not None:
            self.command[:] = u


class ForceEvaluation(NamedTuple):
    """An evaluation with all that acts on a robot by itself, and what that is made of."""

    entry: Entry
    drives: Any  # Drives, or None where no cable is held
    capstan: Any  # or None where no route rubs
    dry: Vector | None  # (n,) friction of joints, or None


def acting(
    model: RobotModel, evaluate: Any, inputs: Inputs, has_friction: bool
) -> ForceEvaluation:
    """Return the :class:`ForceEvaluation` of an Evaluator, with friction if there is any."""
    found, h, along = evaluate.entry, evaluate.terms.h, inputs.force
    drives = None
    if inputs.command is not None:
        drives, along = drives_of(model, evaluate.robot), inputs.force.copy()
        given = {'drives': drives, 'command': inputs.command, 'h': h}
        found = entry(hold, evaluate=found, **given, force=inputs.force, along=along)
    capstan = capstan_of(model, evaluate.robot, along) if has_friction else None
    if capstan is not None:
        found = entry(add_friction, evaluate=found, capstan=capstan, h=h)
    dry = model.joint_friction if has_friction and model.joint_friction.any() else None
    if dry is not None:
        found = entry(drag, evaluate=found, friction=dry, h=h)
    return ForceEvaluation(found, drives, capstan, dry)


class FixedWork(NamedTuple):
    """What steps of equal length work with."""

    evaluate: Entry  # of the robot, into the terms
    terms: Terms
    follow: Entry  # of the linearisation, or NOTHING where it is constant
    K: Matrix  # (n, n) of the linearisation
    D: Matrix  # (n, n)
    motion: ExponentialWorkspace
    clock: Clock
    substep: float  # [s]


class FixedSteps:
    """
    Steps of an exponential method, all as long as ``substep`` [s] or a little shorter.

    ``advance(force, q, qd, duration, once)`` advances (q, qd) by a duration [s], or ``once``,
    under forces (m,) along y. It returns 0, or 1 where a step cannot be made; ``clock`` says how
    much was done, ``terms`` are those of the last evaluation, ``tried`` (n,) is the posture of it,
    ``evaluate`` is the Evaluator, and ``entry`` the one of its evaluations: with cables that are
    held at the commands of the ``inputs``, whose force ``force`` has to be, and, if it
    ``has_friction``, the friction of routes and joints.
    """

    def __init__(
        self, model: RobotModel, substep: float, inputs: Inputs, has_friction: bool = False
    ) -> None:
        self.evaluate = evaluate = model.evaluator()
        self._linearisation = near = Linearisation(model)
        self.terms, self.clock = evaluate.terms, new_clock()
        self.entry, drives, capstan, dry = acting(model, evaluate, inputs, has_friction)
        follow, parts = near.follow, parts_of_step(model, substep)
        K, D = near.stiffness, near.damping
        if drives is not None:
            own = {'K': K, 'stiffness': K.copy()}
            follow = entry(stiffen, follow=follow, drives=drives, ahead=substep, **own)
            K, parts = own['stiffness'], 1
        if capstan is not None:
            own = {'D': D, 'damping': D.copy()}
            follow = entry(resist, follow=follow, capstan=capstan, **own)
            D = own['damping']
        if dry is not None:
            own = {'D': D, 'damping': D.copy()}
            follow = entry(brake, follow=follow, friction=dry, **own)
            D = own['damping']
        self._work = FixedWork(
            evaluate=self.entry,
            terms=self.terms,
            follow=follow,
            K=K,
            D=D,
            motion=allocate_motion(model.n, parts),
            clock=self.clock,
            substep=substep,
        )
        self.tried = self._work.motion.q
        self.advance = self.bind(self.entry)

    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """Return ``advance`` by another entry that evaluates the robot into the same terms."""
        return cached(fixed_steps, work=self._work._replace(evaluate=evaluate))

    def reset(self, q: Vector) -> None:
        """Begin at q (n,)."""
        self._linearisation.begin(q)


@kernel
def fixed_steps(work, force, q, qd, duration, once):
    """Make equal steps with stiffness and damping of the bodies alone, see :class:`FixedSteps`."""
    terms, K, D, b, clock = work.terms, work.K, work.D, work.motion, work.clock
    steps = max(1, math.ceil(duration / work.substep - 1e-9))
    h = duration / steps
    clock.passed[0] = clock.steps[0] = 0.0
    for k in range(1 if once else steps):
        run(work.evaluate, q, qd)
        start(terms, force, b)
        if work.follow.address != 0:
            run(work.follow, q, qd)
        if predict(K, D, q, qd, h, b) != 0:
            return 1
        run(work.evaluate, b.q, b.qd)
        if correct(terms, K, D, force, q, h, b) != 0:
            return 1
        copy(b.q, q)
        copy(b.qd, qd)
        clock.steps[0] = k + 1.0
        clock.passed[0] = duration if k + 1 == steps else (k + 1) * h
    return 0
