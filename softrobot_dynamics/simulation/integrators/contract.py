# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of integrators: steps in time of M qdd = force - ID(q, qd, 0), in one compiled call.

A kind is one file: a kernel that makes steps, and a class that allocates what the kernel works
with. The robot is evaluated by an entry (:class:`ForceEvaluation`), which has all that acts on
the robot by itself, so that an integrator need not know of payloads, cables or friction.
"""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any, ClassVar, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.cable_drives import cable_drives_of
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.routes import capstan_of
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.cable_drives import hold
from softrobot_dynamics.recursion.capstan import evaluate_with_friction
from softrobot_dynamics.recursion.contact_forces import evaluate_with_contact
from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace
from softrobot_dynamics.recursion.joint_friction import add_joint_friction, DryFriction
from softrobot_dynamics.recursion.joint_stops import allocate_stops, Stops, watch_stops
from softrobot_dynamics.recursion.loads import evaluate_with_force
from softrobot_dynamics.recursion.servos import move_by_servos, ServoDrives
from softrobot_dynamics.schema.registry import Registry, required

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

INTEGRATORS = Registry(
    'integrator', 'softrobot_dynamics.simulation.integrators', 'softrobot_dynamics.integrators'
)
register = INTEGRATORS.register
ADVANCE = 'VECTOR, VECTOR, VECTOR, float64, boolean'  # types of what `advance` takes


@former_names(passed='elapsed', next='next_step', since='time_since_jacobian')
class Clock(NamedTuple):
    """Time and steps of a call, kept for the next one; one number each."""

    elapsed: Vector  # [s] by the last call
    steps: Vector  # in the last call
    next_step: Vector  # step [s] that is expected to be within the tolerance
    age: Vector  # steps taken since derivatives were taken
    time_since_jacobian: Vector  # [s] the same in time
    span: Vector  # [s] before that they were taken the time before; 0: never


def new_clock() -> Clock:
    """Return a :class:`Clock` of a call that has done nothing yet."""
    one = {name: np.zeros(1) for name in Clock._fields}
    return Clock(**one)


class Inputs:
    """
    The inputs of a simulated robot: ``force`` (m,) along y.

    If ``commanded``, actuators that are positioned have instead a ``command`` (m,) to hold, and
    no force but that of their cables, which is part of an evaluation; else ``command`` is None.
    ``stops`` are those of the joints if they act (``stopped``) and there are any, else None.
    Contact acts if ``touching``. With ``servos``, drives of joints have the ``setpoint`` of a
    position or velocity (k,) and no force here but that of their loops; else ``setpoint`` is
    None.
    """

    def __init__(
        self,
        model: CompiledModel,
        commanded: bool,
        stopped: bool = False,
        servos: bool = False,
        touching: bool = False,
    ) -> None:
        self.touching = touching
        held = model.positioned & commanded
        self.force, self._signs = np.zeros(model.m), np.where(held, 0.0, model.signs)
        self.command = np.zeros(model.m) if held.any() else None
        self.stops: Stops | None = None
        if stopped and np.isfinite([model.q_lower, model.q_upper]).any():
            self.stops = allocate_stops(model.q_lower, model.q_upper)
        self._moved = model.servos.actuators
        self.setpoint = np.zeros(len(self._moved)) if servos and model.servos.any else None
        if self.setpoint is not None:
            self._signs[self._moved] = 0.0

    def take(self, u: Vector) -> None:
        """Take u (m,), commands where they are held."""
        np.multiply(u, self._signs, out=self.force)
        if self.command is not None:
            self.command[:] = u
        if self.setpoint is not None:
            self.setpoint[:] = u[self._moved]


class ForceEvaluation(NamedTuple):
    """An evaluation with all passive forces and drives of a robot, and its parts."""

    entry: Entry
    drives: Any  # CableDrives, or None where no cable is held
    capstan: Any  # or None where no route rubs
    dry: DryFriction | None  # of joints
    servos: ServoDrives | None = None  # drives with a loop of their own; not in the entry
    contact: ContactWorkspace | None = None  # None where nothing touches


def acting(
    model: RobotModel,
    evaluate: Evaluator,
    inputs: Inputs,
    has_friction: bool,
    solves_contact: bool = False,
) -> ForceEvaluation:
    """
    Return the :class:`ForceEvaluation` of an Evaluator, with friction if there is any.

    Of contact it has the forces at a state, or, where the steps solve for them, those applied.
    """
    found, h, along = evaluate.entry, evaluate.terms.h, inputs.force
    drives = None
    if inputs.command is not None:
        drives, along = cable_drives_of(model, evaluate.robot), inputs.force.copy()
        given = {'drives': drives, 'command': inputs.command, 'h': h}
        found = entry(hold, evaluate=found, **given, force=inputs.force, output_forces=along)
    contact = None
    if inputs.touching and model.contact_plan is not None:
        contact = contact_of(model, evaluate.robot, model.contact_plan)
        if solves_contact:
            found = entry(evaluate_with_force, evaluate=found, h=h, force=contact.applied)
        else:
            found = entry(evaluate_with_contact, evaluate=found, contact=contact, h=h)
    capstan = capstan_of(model, evaluate.robot, along) if has_friction else None
    if capstan is not None:
        found = entry(evaluate_with_friction, evaluate=found, capstan=capstan, h=h)
    dry = model.dry_friction if has_friction and model.joint_friction.any() else None
    if dry is not None:
        found = entry(add_joint_friction, evaluate=found, friction=dry, h=h)
    return ForceEvaluation(found, drives, capstan, dry, _servos(model, inputs), contact)


def _servos(model: RobotModel, inputs: Inputs) -> ServoDrives | None:
    """Return the :class:`ServoDrives` with the set-points of the inputs, None if there is none."""
    if inputs.setpoint is None:
        return None
    own, k, n = model.servos, len(inputs.setpoint), model.n
    return ServoDrives(
        coordinates=own.coordinates,
        positions=own.positions,
        rate=own.rate,
        limit=own.effort,
        setpoint=inputs.setpoint,
        **{name: np.zeros(k) for name in ('effort', 'at_limit', 'inertia')},
        stop_inertia=np.zeros(n) if inputs.stops is None else inputs.stops.stop_inertia,
        free=np.zeros(n),
        a=np.zeros(n),
        L=np.zeros((n, n)),
    )


class Integrator:
    """
    Base of all integrators: subclass it and ``@register`` a name.

    Made with the longest step ``substep`` [s], the :class:`Inputs` whose ``force`` the steps are
    made under, whether routes and joints have friction (``has_friction``), and a ``tolerance``:
    None where ``keeps_tolerance`` is False, else ArgumentError without one. The constructor ends
    with :meth:`prepare`, in which a subclass allocates the arrays of its kernel and sets
    ``advance``.
    """

    type_name: ClassVar[str]
    keeps_tolerance: ClassVar[bool] = False
    """True: steps are as short as a tolerance asks for, which has to be given then."""

    solves_contact: ClassVar[bool] = False
    """True: steps find the forces of contact themselves; False: they are those at a state."""

    closes_loops: ClassVar[bool] = False
    """True: steps keep closed loops closed; False: a robot with closures is refused."""

    loops: Any = None
    """The :class:`.ClosedLoops` of a robot with closures, by whose terms steps are made."""

    advance: Callable[..., int]
    """As :meth:`bind` returns it, with what acts on the robot by itself alone."""

    def __init__(
        self,
        model: RobotModel,
        substep: float,
        inputs: Inputs,
        has_friction: bool = False,
        tolerance: float | None = None,
    ) -> None:
        if self.keeps_tolerance and tolerance is None:
            raise ArgumentError('tolerance', None, 'a number > 0')
        self.substep, self.tolerance = substep, tolerance
        self.evaluate: Evaluator = model.evaluator()
        self.terms: Terms = self.evaluate.terms  # of the last evaluation
        self.clock = new_clock()  # how much the last call of `advance` has done
        self.tried: Vector = np.zeros(model.n)  # posture of the last evaluation of a step
        own = self.solves_contact
        self.acts = acting(model, self.evaluate, inputs, has_friction, own)
        if inputs.stops is not None:
            given = {'evaluate': self.acts.entry, 'stops': inputs.stops, 'M': self.terms.M}
            self.acts = self.acts._replace(entry=entry(watch_stops, **given))
        self._inputs = inputs
        self.prepare(model)

    def prepare(self, model: RobotModel) -> None:
        """Allocate the arrays of the kernel; end with ``self.advance = self.bind(self.entry)``."""

    @property
    def entry(self) -> Entry:
        """The entry that evaluates the robot at (q, qd), with its passive forces and drives."""
        return self.acts.entry

    @required
    def bind(self, evaluate: Entry) -> Callable[..., int]:
        """
        Return ``advance(force, q, qd, duration, once)``, which evaluates the robot by an entry.

        The entry fills the ``terms``. ``advance`` moves q, qd (n,) on by a duration [s] under the
        force (m,) along y, or by one step if ``once``; it counts in the ``clock`` and keeps where
        it evaluates in ``tried``. It returns 0, or 1 where a step cannot be made, with q, qd as
        they were before that step. A kernel, bound by :func:`~.compiling.binding.cached`, that
        evaluates by :meth:`driven` of the entry.
        """
        raise NotImplementedError

    def driven(self, evaluate: Entry) -> Entry:
        """Return an entry with the drives that move joints, after all else that acts."""
        if self.acts.servos is None:
            return evaluate
        terms, force = self.terms, self._inputs.force
        given = {'h': terms.h, 'M': terms.M, 'J': terms.J, 'force': force}
        return entry(move_by_servos, evaluate=evaluate, drives=self.acts.servos, **given)

    def reset(self, q: Vector) -> None:
        """Restart at q (n,)."""


@kernel
def begin_steps(clock, duration, longest):
    """Set the clock to zero; return how many steps, none above ``longest`` [s], a duration has."""
    clock.elapsed[0] = clock.steps[0] = 0.0
    return max(1, math.ceil(duration / longest - 1e-9))


@kernel
def count_step(clock, duration, steps):
    """Count one of so many steps of equal length in a duration [s]."""
    clock.steps[0] += 1.0
    done = clock.steps[0]
    clock.elapsed[0] = duration if done == steps else done * (duration / steps)
