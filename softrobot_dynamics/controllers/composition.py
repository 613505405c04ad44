# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Several laws on one robot, each on actuators of its own: all the time, or in phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.controllers.contract import Command, Controller
from softrobot_dynamics.controllers.phases import (
    controlled_actuators,
    names_of,
    Phase,
    Program,
    require_compatible,
    require_phases,
    Timetable,
)
from softrobot_dynamics.controllers.sampled_data.command import HeldCommand
from softrobot_dynamics.controllers.sampled_data.delayed_loop import Lateness
from softrobot_dynamics.controllers.sampled_data.ensemble import Ensemble
from softrobot_dynamics.controllers.sampled_data.prediction import Prediction
from softrobot_dynamics.controllers.sampled_data_law import SampledDataLaw, SampledDataSettings
from softrobot_dynamics.controllers.settings import LIMIT_FIELDS, Settings
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import alike, constant, Reference, select
from softrobot_dynamics.references.tip_commands import TipOrder, TipPathReference


@dataclass(frozen=True)
class Composed(SampledDataSettings):
    """Limits of the robot, ``feed_forward`` of actuators without a law, delay, the laws' own."""

    laws: tuple[Any, ...] = ()  # Settings of each law, whose limits and delay are not used

    def tuned_alike(self, other: Settings) -> bool:
        """Tell whether all parameters of all laws are the same, limits aside."""
        if not isinstance(other, Composed):
            return False
        pairs = zip(self.laws, other.laws, strict=True)
        return self.delay == other.delay and all(a.tuned_alike(b) for a, b in pairs)


class _Course(NamedTuple):
    """The reference that is followed, as it was ordered."""

    reference: Any  # Program or Reference
    t: float
    ramp: float


class Composition(Controller[Composed]):
    """
    Laws for one model and of one period, each for the actuators it controls.

    ``phases`` say which of them are at work, one after the other (default: all, all the time). An
    actuator may have another law in another phase. What a :class:`Program` says is followed: a law
    that was not at work before begins, where the robot is and with the command in force, with its
    phase; one that was goes on. A plain Reference is followed by those at work, and stops the
    phases where they are; so does a new start, until there is a program with another ``run_id``.

    ``controlled``, and with them the coordinates of a Reference, are those of the first law that
    follows anything, then those of the second that are not among them, and so on; y_d of those
    without a law at work is nan. Each law counts on what the others push with: those before it in
    this tick, those after it in the last one. So the law that has to make up for another comes
    after it. Actuators without a law get the ``feed_forward`` of the settings.

    ``settings`` are :class:`Composed` (default: the limits of the description, no feed-forward,
    the laws' own as they are). From then on the laws belong to the composition: what they are told
    comes from its settings, and a known delay is made up for once, for all.

    ``names`` of the laws (default: their places) tell apart what several say in diagnostics.

    Raises ArgumentError for laws of other models or periods, for actuators with two laws in a
    phase, for phases that cannot be, and for names that are not one for each law.
    """

    Settings = Composed
    type_name = 'composition'
    pickled_attributes = (*Controller.pickled_attributes, '_program', '_course', '_taken')

    def __init__(
        self,
        laws: Sequence[Controller],
        settings: Composed | None = None,
        phases: Sequence[Phase] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        first, period = require_compatible(laws), laws[0].period
        if phases is None:
            phases = (Phase('', math.inf, tuple(range(len(laws)))),)
        require_phases(phases, laws)
        self.names = names_of(laws, names)
        indices = controlled_actuators([(law, law.controlled) for law in laws])
        self.laws = tuple(laws)
        self._program: Program | None = None
        led = [law.controlled if law.follows else () for law in laws]
        self._columns = [[indices.index(k) for k in own] for own in led]
        if settings is None:
            own = tuple(law.settings for law in laws)
            settings = self.make_settings(first).replace(laws=own)
        names = [first.actuator_names[k] for k in indices]
        super().__init__(first, period=period, controlled=names, settings=settings)
        m, self._held = first.m, HeldCommand(first, period)
        self._prediction = Prediction(first, period, self._held.extrapolation.present[0])
        for law in laws:
            law.join(self._held, self._prediction)
        self._ensembles = [Ensemble(first, period, [laws[i] for i in p.laws]) for p in phases]
        self._u, self._last_command, self._unmet = np.zeros((3, m))
        self._desired = np.zeros((3, len(indices)))
        # what laws read as their feed-forward: it changes in place
        self._feed_forward = self._u.view()
        self._feed_forward.flags.writeable = False
        self._free = np.ones(m, dtype=bool)  # actuators without a law
        self._pending = False  # whether a program has begun, but no tick yet
        self._timetable = Timetable(phases)
        self._reset_inactive_outputs()
        self._course = self._taken = _Course(None, 0.0, 0.0)
        self._passed_settings: Any = None
        self._pass_on_settings()

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments that make another composition, of copies of its laws."""
        return (self.laws, self.settings, self.phases, self.names), {}

    def resume(self) -> None:
        """Hand the settings on, and let each law prepare for its own."""
        self._passed_settings = None
        self._pass_on_settings()
        for law in self.laws:
            law.resume()

    @property
    def phases(self) -> tuple[Phase, ...]:
        """All phases, in their order."""
        return self._timetable.phases

    @property
    def phase(self) -> str:
        """The name of the phase at hand, see :attr:`Controller.phase`."""
        return self._timetable.phase.name

    def figures(self) -> dict[str, object]:
        """Return the figures of the laws at work, see :meth:`Controller.figures`."""
        found = ((i, self.laws[i].figures()) for i in self._timetable.laws)
        return {self._labelled(i, key): value for i, each in found for key, value in each.items()}

    @property
    def response(self) -> Array:
        """The response that all laws go by, see :attr:`Controller.response`."""
        return self._held.extrapolation.present

    def forget_last_step(self) -> None:
        """Learn nothing from the last period, see :meth:`Controller.forget_last_step`."""
        for law in self.laws:
            law.forget_last_step()
        self._prediction.skip_next_state()

    def use(self, settings: Composed) -> None:
        """Replace all settings, those of the laws too, from the next tick on. ArgumentError."""
        if len(settings.laws) != len(self.laws):
            words = f'settings of {len(self.laws)} laws'
            raise ArgumentError('settings.laws', len(settings.laws), words)
        self.settings = settings

    def follow(
        self, reference: Reference | TipPathReference | Program, t: float, ramp: float
    ) -> None:
        """Turn to a Program, or let the laws at work turn to a Reference; ``t`` is now [s]."""
        if isinstance(reference, Program) and len(reference.references) != len(self.laws):
            words = f'references of {len(self.laws)} laws'
            raise ArgumentError('reference', len(reference.references), words)
        if isinstance(reference, TipPathReference):  # of all outputs: no law's own
            reference = reference.outputs
        self._course = _Course(reference, float(t), float(ramp))

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        self._pass_on_settings()
        self._apply_order(q, qd)
        if self._program is not None and not self._pending:
            self._timetable.stop()
            self._lead(self._timetable.laws, constant(self.outputs(q, qd)[0][self.controlled]), t)
        self._prediction.begin(q)
        self._begin(q, qd, t, u)
        if u is None and self._answer(t, q, qd).ok:  # it is known what tension stiffens
            last_command = self._last_command.copy()
            self._begin(q, qd, t, None)
            self._held.begin(q, qd, last_command)
        self._pending = True

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command` for the state (q, qd) at time t [s]; no law, no command."""
        self._pass_on_settings()
        delay = self.settings.delay
        time = max(
            (getattr(self.laws[i], 'observes', 0.0) for i in self._timetable.laws), default=0.0
        )
        q, qd = self._prediction(t, q, qd, delay, self._in_force(), time)
        self._apply_order(q, qd)
        self._pending = False
        if self._timetable.is_over(t + delay):
            self._advance_phase(t + delay, q, qd)
        command = self._answer(t + delay, q, qd)
        if command.ok and delay > 0.0:
            self._prediction.note_command(command.u)
        return command

    @property
    def controlled_tip(self) -> str:
        """The tip that a law at work leads, see :attr:`Controller.controlled_tip`."""
        return next(filter(None, (self.laws[i].controlled_tip for i in self._timetable.laws)), '')

    @property
    def relaxed(self) -> dict[str, float]:
        """By how much laws at work had to exceed limits, see :attr:`Controller.relaxed`."""
        found = ((i, self.laws[i].relaxed) for i in self._timetable.laws)
        return {
            self._labelled(i, name): value for i, each in found for name, value in each.items()
        }

    @property
    def failure(self) -> str:
        """The reason for which a law at work has no command, see :attr:`Controller.failure`."""
        found = ((i, self.laws[i].failure) for i in self._timetable.laws)
        return next((self._labelled(i, why) for i, why in found if why), '')

    @property
    def warning(self) -> str:
        """Reasons that laws at work give, see :attr:`Controller.warning`."""
        found = ((i, self.laws[i].warning) for i in self._timetable.laws)
        return '; '.join(self._labelled(i, words) for i, words in found if words)

    def require_order(self, order: TipOrder) -> None:
        """Raise ArgumentError for what no law at work can do, see :meth:`Controller.lead`."""
        leader = self._leader()
        if leader is None:
            super().require_order(order)
        else:
            leader.require_order(order)

    def lead(self, order: TipOrder, t: float) -> None:
        """Turn the led tip to a live target or twist, see :meth:`Controller.lead`."""
        self.require_order(order)
        if (leader := self._leader()) is not None:
            leader.lead(order, t)

    def _labelled(self, i: int, words: str) -> str:
        """Return words of law i, where there are several with its name."""
        return f'{self.names[i]}: {words}' if len(self.laws) > 1 else words

    def _leader(self) -> Controller | None:
        """Return the first law at work that leads a tip."""
        at_work = (self.laws[i] for i in self._timetable.laws)
        return next((law for law in at_work if law.controlled_tip), None)

    def desired(self, t: float) -> Matrix:
        """y_d, its rate and acceleration, (3, controlled), at time t [s]; nan without a law."""
        desired = np.full((3, len(self.controlled)), np.nan)
        for i in self._timetable.laws:
            if self._columns[i]:
                desired[:, self._columns[i]] = self.laws[i].desired(t)
        return desired

    def growth(
        self,
        q: Vector,
        u: Vector,
        settings: Composed,
        uncertainty: float = 0.0,
        place: int | None = None,
    ) -> float:
        """Return the rate [1/s] at which errors would grow in a phase (default: the present)."""
        place = self._timetable.place if place is None else place
        at_work = self._timetable.phases[place].laws
        own = [settings.laws[i] for i in at_work]
        pairs = [(self.laws[i], settings.laws[i]) for i in at_work]
        times = [law.observed(x) for law, x in pairs if isinstance(law, SampledDataLaw)]
        lateness = Lateness(settings.delay, max(times, default=0.0))
        return self._ensembles[place].growth(q, u, own, uncertainty, lateness)

    def unstable_zero_dynamics(self, q: Vector) -> tuple[complex, ...]:
        """Return the growing rates that each law sees while the others push as they do."""
        return tuple(rate for law in self.laws for rate in law.unstable_zero_dynamics(q))

    def warm(self) -> None:
        """Run every law once, so that no tick has to wait for the compiler."""
        self._held.linearise_at_rest(self.model.q0, self._u)
        for law in self.laws:
            law.warm()
        q, u = self.model.q0, np.clip(self._u, self.settings.lower, self.settings.upper)
        for ensemble, phase in zip(self._ensembles, self._timetable.phases):
            ensemble.growth(q, u, [self.settings.laws[i] for i in phase.laws], 0.0)
        self.start(q, np.zeros(self.model.n), 0.0)
        self.last[:], self._pending = np.nan, False

    def _pass_on_settings(self) -> None:
        """Hand settings on to the laws that others gave since the last tick."""
        settings = self.settings
        if settings is self._passed_settings:
            return
        self._passed_settings, shared = (
            settings,
            {name: getattr(settings, name) for name in LIMIT_FIELDS},
        )
        shared['feed_forward'] = self._feed_forward
        for law, own in zip(self.laws, settings.laws):
            law.use(own.replace(**shared, **({'delay': 0.0} if hasattr(own, 'delay') else {})))

    def _apply_order(self, q: Vector, qd: Vector) -> None:
        """Apply a new order."""
        course, before = self._course, self._program
        if course is self._taken:
            return
        self._taken, given = course, course.reference
        if not isinstance(given, Program):
            self._timetable.stop()
            self._lead(self._timetable.laws, given, course.t)
            return
        self._program, y = given, constant(self.outputs(q, qd)[0][self.controlled])
        if before is None or given.run_id is None or given.run_id != before.run_id:
            previous = self._timetable.laws
            self._timetable.enter(0, course.t)
            self._reset_inactive_outputs()
            self._lead(self._timetable.laws, y, course.t, given)
            self._start_new(previous, q, qd, course.t)
            self._pending = True
            return
        pairs = zip(given.references, before.references)
        changed = {i for i, (new, old) in enumerate(pairs) if not alike(new, old)}
        self._lead([i for i in self._timetable.laws if i in changed], y, course.t, given)

    def _advance_phase(self, t: float, q: Vector, qd: Vector) -> None:
        """Switch to the phase of time t [s]; laws that were inactive start."""
        previous = self._timetable.laws
        self._timetable.advance(t)
        self._reset_inactive_outputs()
        new = [i for i in self._timetable.laws if i not in previous]
        y = constant(self.outputs(q, qd)[0][self.controlled])
        self._lead(new, y, t, self._program)
        self._start_new(previous, q, qd, t)

    def _start_new(self, previous: Sequence[int], q: Vector, qd: Vector, t: float) -> None:
        """Start the active laws that were inactive before."""
        u = None if math.isnan(self.last[0]) else self.last
        for i in self._timetable.laws:
            if i not in previous:
                self.laws[i].start(q, qd, t, u)

    def _reset_inactive_outputs(self) -> None:
        """Reset the outputs of laws that may no longer be active."""
        self._desired[:], self._unmet[:], self._free[:] = np.nan, 0.0, True
        for i in self._timetable.laws:
            self._free[self.laws[i].controlled] = False

    def _lead(
        self, some: Sequence[int], y: Reference, t: float, program: Program | None = None
    ) -> None:
        """Let some laws follow a program, or else hold the outputs ``y``."""
        for i in some:
            law, columns = self.laws[i], self._columns[i]
            own = program.references[i] if program is not None else None
            if own is None and columns:
                own = select(y, columns)
            elif own is None:  # of commands: as they are
                own = constant(law.outputs(self.model.q0, self.model.qd0)[0][law.controlled])
            ramp = program.ramps[i] if program is not None and program.ramps else self._taken.ramp
            law.follow(own, t, ramp)

    def _begin(self, q: Vector, qd: Vector, t: float, u: Vector | None) -> None:
        """Start all active laws, under the command u (m,) in force if it is known."""
        self.last[:] = np.nan if u is None else u
        self._u[:] = self._last_command[:] = self.settings.feed_forward if u is None else u
        self._held.begin(q, qd, self._u)
        for i in self._timetable.laws:
            self.laws[i].start(q, qd, t, u)

    def _answer(self, t: float, q: Vector, qd: Vector) -> Command:
        """Compute the commands of the active laws, one after the other."""
        low, high = self.reach()
        u, saturated = self._u, 0
        np.clip(self.settings.feed_forward, low, high, out=u, where=self._free)
        for i in self._timetable.laws:
            law, columns = self.laws[i], self._columns[i]
            command, own = law.compute(t, q, qd), law.controlled
            if not command.ok:
                u[:] = self._last_command  # or what is no number would go round
                self._set_last_commands(self.last)
                return command._replace(u=u, desired=self._desired, unmet=self._unmet)
            u[own], self._unmet[own] = command.u[own], command.unmet[own]
            if columns:
                self._desired[:, columns] = command.desired
            saturated += command.saturated
        self._held.advance(q, qd, self._in_force())
        self._last_command[:] = u
        self._set_last_commands(u)
        return Command(u, command.y, command.velocity, self._desired, self._unmet, saturated, True)

    def _set_last_commands(self, u: Vector) -> None:
        """Set the last command of all laws to u (m,), nan where it is not known."""
        self.last[:] = u
        for law in self.laws:
            law.last[:] = u

    def _in_force(self) -> Vector:
        """Return the last command (m,), or the command that acts before any was sent."""
        return self.settings.feed_forward if math.isnan(self.last[0]) else self.last
