# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of sampled-data laws: each tick is one compiled call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING, TypeVar

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.compiling.parallel import compile_in_parallel
from softrobot_dynamics.controllers.blending import BlendedReference
from softrobot_dynamics.controllers.buffers import allocate_buffers, Buffers
from softrobot_dynamics.controllers.contract import Command, Controller
from softrobot_dynamics.controllers.held_command_motion import (
    HeldLinearisation,
    unknown_linearisation,
)
from softrobot_dynamics.controllers.sampled_data.command import HeldCommand, ResponseExtrapolation
from softrobot_dynamics.controllers.sampled_data.delayed_loop import Lateness
from softrobot_dynamics.controllers.sampled_data.friction_compensation import FrictionCompensation
from softrobot_dynamics.controllers.sampled_data.loop_stability import Answer, SampledLoop
from softrobot_dynamics.controllers.sampled_data.prediction import Prediction
from softrobot_dynamics.controllers.settings import as_number, Settings
from softrobot_dynamics.model.cable_drives import cable_drives_of
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.cable_drives import CableDrives, hold_common
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_STATE_TYPES = 'VECTOR, VECTOR, float64'  # q, qd, t
# of the time of the robot's slowest motion, in which redundant commands fade
RELAXATION_RATIO = 10.0


@dataclass(frozen=True)
class SampledDataSettings(Settings):
    """Settings: the delay of the loop that the law knows, beside the limits."""

    delay: float = parameter(
        number('s', at_least=0.0, at_most=0.01, default=0.0),
        'Known time from a state until its command acts; the law compensates for it',
        group='',
    )


D = TypeVar('D', bound=SampledDataSettings)


class LawWorkspace(NamedTuple):
    """Constants of a law, and the arrays it works in."""

    evaluate: Entry  # of the terms; of M only where a law ``needs_poses``
    terms: Terms
    robot: Robot  # whose workspace has the frames of the state evaluated last
    advance_response: Entry  # brings the response on by a tick
    response: Array  # (2, n, n) G and R K of this tick
    drives: CableDrives  # whose lengths are those of the state evaluated last
    signs: Vector  # (m,)
    y0: Vector  # (m,)
    rest: Vector  # (n,) zeros
    controlled: Integers  # (c,)
    last: Vector  # (m,) the command in force, NaN where unknown
    reached: Vector  # (n,) of the Prediction, NaN where states are not predicted
    period: float
    fading: float  # share by which redundant commands fade in a period
    b: Buffers


class SampledDataLaw(Controller[D]):
    """
    Base of laws in a kernel that use the response of the robot to a command held for a period.

    What to write, beside what every :class:`Controller` has: ``KernelSettings``, the record of
    what the kernel reads, which :func:`.kernel_settings` makes of ``Settings``; :meth:`prepared`
    where the law makes more of them than their values; and ``tick``, a static kernel of (fixed,
    plan, settings, q, qd, t) that fills ``fixed.b`` (:class:`Buffers`) and returns how many
    commands are saturated, or -1 for no answer, by way of
    :mod:`~softrobot_dynamics.controllers.output_commands`.
    A known ``settings.delay`` [s] is made up for: the law then acts on the state in which its
    command will find the robot. Friction of the model, along the routes of tendons and of joints,
    is made up for where the reference moves
    (:mod:`~softrobot_dynamics.controllers.sampled_data.friction_compensation`).

    Attribute: ``observes`` [s], the time in which forces become known that the model does not
    know, the field ``observer`` of ``KernelSettings``; 0 without one: they are not looked for.
    """

    Settings: Any = SampledDataSettings
    KernelSettings: Any
    tick: Any
    needs_poses = False  # of frames, in the workspace of ``fixed.robot``: filled with M only
    remembers = 0  # rows (c,) of ``fixed.b.memory``: zero at rest, and where the law begins

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._linear = unknown_linearisation(model.n)
        self._friction = FrictionCompensation(model)
        kernel_settings = self.make_kernel_settings(self.settings)

        def build() -> HeldCommand:
            """Return the response to held commands, and compile the tick."""
            held = HeldCommand(model, self.period)
            fixed = self._make_fixed(held.extrapolation, held.entry, self._friction.any)
            self._bind(fixed, self.plan, kernel_settings)
            return held

        (held,) = compile_in_parallel(build)
        self._held: HeldCommand | None = held  # None: somebody else keeps it up to date
        self._prediction = Prediction(model, self.period, held.extrapolation.present[0])
        self._sampled = SampledLoop(model, self.period, self.controlled, self.memory_size)
        self._law_at_rest = self.law_at_rest(self._sampled.extrapolation)
        self._bind_response(held, held.entry)

    def resume(self) -> None:
        """Prepare the law for its plan and settings."""
        self._apply(self.plan, self.settings)

    def join(self, held: HeldCommand, prediction: Prediction) -> None:
        """Go by a response for several laws, see :meth:`Controller.join`."""
        self._held, self._prediction = None, prediction
        self._bind_response(held, entry(nothing))

    def _bind_response(self, held: HeldCommand, advance: Entry) -> None:
        """Work with the extrapolation of a response, which the entry brings on by a tick."""
        self._linear = HeldLinearisation(held.response, held.clock)
        fixed = self._make_fixed(held.extrapolation, advance, with_friction=self._friction.any)
        self._fixed = fixed._replace(reached=self._prediction.reached)
        self.last, self._buffers = self._fixed.last, self._fixed.b
        self._apply(self.plan, self.settings)

    @property
    def response(self) -> Array:
        """The response that the law goes by, see :attr:`Controller.response`."""
        found: Array = self._fixed.response
        return found

    def forget_last_step(self) -> None:
        """Learn nothing from the last period, see :meth:`Controller.forget_last_step`."""
        self._buffers.last_answer_time[:] = np.nan
        self._prediction.skip_next_state()

    @property
    def memory_size(self) -> int:
        """The number of values the law keeps from one tick to the next."""
        return self.remembers * len(self.controlled)

    def make_kernel_settings(self, settings: D, q: Vector | None = None) -> Any:
        """
        Return the ``KernelSettings`` of settings: prepared values where there are, else their own.

        ``q`` (n,) is a posture at which the law shall be at rest, None while it runs.
        """
        prepared = self.prepared(settings, q)
        return self.KernelSettings(
            *(
                prepared[name] if name in prepared else as_number(getattr(settings, name))
                for name in self.KernelSettings._fields
            )
        )

    def prepared(self, settings: D, q: Vector | None) -> dict[str, Any]:
        """Return computed entries of ``KernelSettings``, for q as in `make_kernel_settings`."""
        return {}

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        super().start(q, qd, t, u)
        if self._held is not None:
            self._prediction.begin(q)
        self._friction.begin(q, self._in_force())
        self._apply(self.plan, self.settings)
        self._buffers.memory[:], self._buffers.last_answer_time[:] = 0.0, np.nan
        if self._held is None:
            return
        self._held.begin(q, qd, self._in_force())
        if u is None and self._tick(q, qd, float(t)) >= 0:  # it is known what tension stiffens
            self._held.begin(q, qd, self._buffers.u)
            self.last[:], self._buffers.last_answer_time[:] = np.nan, np.nan

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command`, see :meth:`Controller.compute`."""
        self.require_state(q, qd)
        b, plan, settings = self._buffers, self.plan, self.settings
        if not (plan is self._applied[0] and settings is self._applied[1]):
            self._apply(plan, settings)
        delay = settings.delay
        if self._held is not None:
            q, qd = self._prediction(t, q, qd, delay, self._in_force(), self.observes)
        if self._friction.any:
            J = self.evaluate(q, qd).J[self.controlled]
            self._friction.update(q, self._in_force(), J, self.desired(t + delay)[1])
        saturated = self._tick(q, qd, t + delay)
        ok = saturated >= 0
        if ok and delay > 0.0:
            self._prediction.note_command(b.u)
        return Command(b.u, b.y, b.velocity, b.desired, b.unmet, saturated, ok)

    def growth(self, q: Vector, u: Vector, settings: D, uncertainty: float = 0.0) -> float:
        """Return the rate [1/s] at which errors would grow, see :meth:`Controller.growth`."""
        lateness = Lateness(settings.delay, self.observed(settings))
        return self._sampled.growth(
            q, u, lambda q, u: self._law_at_rest(q, u, settings), uncertainty, lateness
        )

    def observed(self, settings: D) -> float:
        """Return the value of ``observes`` [s] with other settings."""
        return float(getattr(self.make_kernel_settings(settings), 'observer', 0.0))

    def law_at_rest(self, extrapolation: ResponseExtrapolation) -> Callable[..., Answer]:
        """Return the law at rest beside the loop, see :meth:`Controller.law_at_rest`."""
        fixed = self._make_fixed(extrapolation, entry(nothing), limited=False)
        return lambda place, u, settings: self._at_rest(fixed, place, u, settings)

    def _at_rest(self, fixed: LawWorkspace, place: Vector, u: Vector, settings: D) -> Answer:
        """Return the law without limits that stays at q (n,) under u (m,), in arrays of its."""
        free = np.full(self.model.m, np.inf)
        stay = constant(self.outputs(place, fixed.rest)[0][self.controlled])
        kernel_settings = self.make_kernel_settings(
            settings.replace(lower=-free, upper=free, rate=free), place
        )
        tick = self._bind(fixed, BlendedReference(stay, stay, 0.0, 0.0), kernel_settings)

        def answer(
            q: Vector, qd: Vector, memory: Vector, reached: Vector | None = None
        ) -> tuple[Any, Vector]:
            """Return (forces, memory a period later) of the law at a state."""
            fixed.last[:], fixed.b.last_answer_time[:] = u, -self.period
            fixed.reached[:] = np.nan if reached is None else reached
            fixed.b.memory.ravel()[:] = memory
            found = fixed.b.w.copy() if tick(q, qd, 0.0) >= 0 else np.nan
            return found, fixed.b.memory.flatten()

        return answer

    def _make_fixed(
        self,
        extrapolation: ResponseExtrapolation,
        advance_response: Entry,
        with_friction: bool = False,
        limited: bool = True,
    ) -> LawWorkspace:
        """
        Return a :class:`LawWorkspace` with arrays of its own, by the extrapolation of a response.

        ``with_friction``: with friction; ``limited``: efforts of cables are.
        """
        model, evaluate = self.model, Evaluator(self.model, self.needs_poses or with_friction)
        last, drives = np.full(model.m, np.nan), cable_drives_of(model, evaluate.robot, limited)
        evaluation = self._friction.entry(evaluate) if with_friction else evaluate.entry
        if model.positioned.any():
            given = {'drives': drives, 'command': last, 'h': evaluate.terms.h}
            evaluation = entry(hold_common, evaluate=evaluation, **given)
        return LawWorkspace(
            evaluate=evaluation,
            terms=evaluate.terms,
            robot=evaluate.robot,
            advance_response=advance_response,
            drives=drives,
            response=extrapolation.present,
            signs=model.signs,
            y0=model.y0,
            rest=np.zeros(model.n),
            controlled=self.controlled,
            last=last,
            reached=np.full(model.n, np.nan),
            period=self.period,
            fading=min(1.0, self.period * model.scales.rate / RELAXATION_RATIO),
            b=allocate_buffers(model.n, model.m, len(self.controlled), self.remembers),
        )

    def _in_force(self) -> Vector:
        """Return the last command (m,), or the command that acts before any was sent."""
        return self.last if self.last[0] == self.last[0] else self.settings.feed_forward

    def _apply(self, plan: BlendedReference, settings: D) -> None:
        """Prepare the law for a plan and settings: given once, they cost a tick no time."""
        self._applied = plan, settings
        kernel_settings = self.make_kernel_settings(settings)
        self.observes = getattr(kernel_settings, 'observer', 0.0)
        self._tick = self._bind(self._fixed, plan, kernel_settings)

    def _bind(
        self, fixed: LawWorkspace, plan: BlendedReference, kernel_settings: tuple[Any, ...]
    ) -> Callable[[Vector, Vector, float], int]:
        """Return the kernel of a tick as a function of q, qd (n,) and the time [s]."""
        return cached(self.tick, _STATE_TYPES, fixed=fixed, plan=plan, settings=kernel_settings)


@kernel
def nothing(q, qd, u):
    """Leave a response as it is."""
    return
