# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Steps of equal length by an exponential method; see :mod:`.exponential_step`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.cable_drives import cable_drive_stiffness
from softrobot_dynamics.recursion.capstan import damping_with_friction
from softrobot_dynamics.recursion.closed_motion import begin_chart, move_to
from softrobot_dynamics.recursion.joint_friction import add_joint_friction_damping
from softrobot_dynamics.recursion.linearisation import Linearisation
from softrobot_dynamics.recursion.servos import add_servo_stiffness
from softrobot_dynamics.simulation.integrators.contact_response import system_of, whole_system
from softrobot_dynamics.simulation.integrators.contact_step import begin_contact, end_contact
from softrobot_dynamics.simulation.integrators.contract import (
    ADVANCE,
    begin_steps,
    Clock,
    count_step,
    Integrator,
    new_clock,
    register,
)
from softrobot_dynamics.simulation.integrators.exponential_step import (
    allocate_motion,
    correct,
    ExponentialWorkspace,
    parts_of_step,
    predict,
)
from softrobot_dynamics.simulation.integrators.forces import save_start
from softrobot_dynamics.simulation.integrators.loop_closures import ClosedLoops


class ExponentialWork(NamedTuple):
    """Work arrays of steps of equal length."""

    evaluate: Entry  # of the robot, into the terms
    terms: Terms
    follow: Entry  # of the linearisation, or EMPTY_ENTRY where it is constant
    K: Matrix  # (n, n) of the linearisation
    D: Matrix  # (n, n)
    motion: ExponentialWorkspace
    begin_contact: Entry  # at the start of a step, or EMPTY_ENTRY
    end_contact: Entry  # at the end of one
    span: Vector  # (1,) [s] of the step, for that
    clock: Clock
    substep: float  # [s]


@register('exponential')
class ExponentialIntegrator(Integrator):
    """Steps of an exponential method, all as long as ``substep`` [s] or a little shorter."""

    solves_contact = True
    closes_loops = True

    def prepare(self, model: RobotModel) -> None:
        """Allocate the arrays of the kernel, and bind it."""
        substep = self.substep
        self._linearisation = near = Linearisation(model)
        _, drives, capstan, dry, servos, contact = self.acts
        follow, parts = near.follow, parts_of_step(model, substep)
        K, D = near.stiffness, near.damping
        if drives is not None:
            arrays = {'K': K, 'stiffness': K.copy()}
            follow = entry(
                cable_drive_stiffness, follow=follow, drives=drives, ahead=substep, **arrays
            )
            K, parts = arrays['stiffness'], 1
        if capstan is not None:
            arrays = {'D': D, 'damping': D.copy()}
            follow = entry(damping_with_friction, follow=follow, capstan=capstan, **arrays)
            D = arrays['damping']
        if dry is not None:
            arrays = {'D': D, 'damping': D.copy()}
            follow = entry(add_joint_friction_damping, follow=follow, friction=dry, **arrays)
            D = arrays['damping']
        if servos is not None:
            arrays = {'K': K, 'D': D, 'stiffness': K.copy(), 'damping': D.copy()}
            follow = entry(add_servo_stiffness, follow=follow, drives=servos, **arrays)
            K, D = arrays['stiffness'], arrays['damping']
        terms, n = self.terms, model.n
        if model.closure_plan is not None:
            self.loops = ClosedLoops(model, self.evaluate)
            follow, K, D = self.loops.reduced(follow, K, D)
            terms, n = self.loops.terms, len(K)
        span, before, after, system = np.zeros(1), EMPTY_ENTRY, EMPTY_ENTRY, None
        if contact is not None and self.loops is not None:
            before, contact = self.loops.touching(contact)
            self.acts = self.acts._replace(contact=contact)
            system = whole_system(contact, n)
        elif contact is not None:
            before = entry(begin_contact, contact=contact, h=self.terms.h)
            system = system_of(model)
        blocks = None if system is None else np.ascontiguousarray(system.blocks[:, :2])
        motion = allocate_motion(n, parts, blocks)
        if system is not None:
            after = entry(end_contact, contact=contact, system=system, K=K, D=D, b=motion)
        self._work = ExponentialWork(
            evaluate=self.entry,
            terms=terms,
            follow=follow,
            K=K,
            D=D,
            motion=motion,
            begin_contact=before,
            end_contact=after,
            span=span,
            clock=self.clock,
            substep=substep,
        )
        self.tried = motion.q if self.loops is None else self.loops.motion.q
        self.advance = self.bind(self.entry)

    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """Return ``advance`` by another entry that evaluates the robot into the same terms."""
        evaluate = self.driven(evaluate)
        if self.loops is not None:
            closed, evaluate = self.loops.by(evaluate)
            work = self._work._replace(evaluate=evaluate, clock=new_clock())
            given = {'closed': closed, 'clock': self.clock, 'state': self.loops.state}
            return cached(closed_steps, ADVANCE, work=work, **given)
        return cached(exponential_steps, ADVANCE, work=self._work._replace(evaluate=evaluate))

    def reset(self, q: Vector) -> None:
        """Begin at q (n,)."""
        self._linearisation.begin(q)


@kernel
def exponential_steps(work, force, q, qd, duration, once):
    """Make equal steps with stiffness and damping of the bodies alone."""
    terms, K, D, b, clock = work.terms, work.K, work.D, work.motion, work.clock
    steps = begin_steps(clock, duration, work.substep)
    h = duration / steps
    for _ in range(1 if once else steps):
        run(work.evaluate, q, qd)
        if work.begin_contact.address != 0:
            run(work.begin_contact, q, qd)
        save_start(terms, force, b)
        if work.follow.address != 0:
            run(work.follow, q, qd)
        if predict(K, D, q, qd, h, b) != 0:
            return 1
        run(work.evaluate, b.q, b.qd)
        if correct(terms, K, D, force, q, h, b) != 0:
            return 1
        if work.end_contact.address != 0:
            work.span[0] = h
            run(work.end_contact, q, work.span)
            if not (all_finite(b.q) and all_finite(b.qd)):
                return 1
        copy(b.q, q)
        copy(b.qd, qd)
        count_step(clock, duration, steps)
    return 0


@kernel
def closed_steps(work, closed, clock, state, force, q, qd, duration, once):
    """Make equal steps of a robot with closed loops, each in a chart where it begins."""
    steps = begin_steps(clock, duration, work.substep)
    h, z, zd = duration / steps, state[0], state[1]
    for _ in range(1 if once else steps):
        if begin_chart(closed, q, qd, z, zd) != 0:
            return 1
        closed.fresh[0] = 1.0
        if exponential_steps(work, force, z, zd, h, True) != 0:
            return 1
        if move_to(closed, z, zd, q, qd) != 0:
            return 1
        count_step(clock, duration, steps)
    return 0
