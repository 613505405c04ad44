# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Nonlinear model predictive control of a tip or of outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from typing import Any, ClassVar, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.parallel import compile_in_parallel
from softrobot_dynamics.controllers.blending import BlendedReference
from softrobot_dynamics.controllers.contract import Command, Controller, register
from softrobot_dynamics.controllers.predictive.feedback import holding_command, PlanFeedback
from softrobot_dynamics.controllers.predictive.growth import RestAnalysis
from softrobot_dynamics.controllers.predictive.horizon import HorizonProblem
from softrobot_dynamics.controllers.predictive.other_commands import with_other_commands
from softrobot_dynamics.controllers.predictive.planner import Plan, Planner, Request
from softrobot_dynamics.controllers.predictive.schedule import PlanSchedule, Solutions
from softrobot_dynamics.controllers.predictive.settings import PredictiveSettings, problem_of
from softrobot_dynamics.controllers.predictive.solution_cycle import Timing
from softrobot_dynamics.dynamics import calls
from softrobot_dynamics.dynamics.arguments import body_index
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import braking, constant, Reference, select
from softrobot_dynamics.references.tip_commands import (
    LEVER_RATIO,
    tip_course,
    TipOrder,
    TipTwist,
    within_lead,
)

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@register('predictive')
class Predictive(Controller[PredictiveSettings]):
    """
    Model predictive control: commands that are best over a horizon, planned again and again.

    Each solution is an iteration of control-limited differential dynamic programming on implicit
    steps of the robot (:mod:`~softrobot_dynamics.controllers.predictive.iteration`), from
    where the robot will be when it is taken up, ``interval`` later. Every tick commands what the
    newest plan says, and its gain on what the state differs in. With ``tip``, the reference
    (:meth:`reference_width` 3) is the place of that body's tip [m] in the base frame; else it is
    of the controlled outputs. Forces that the model lacks are learnt from how the robot moves and
    held over the horizon.

    Solutions are made within :meth:`compute`, and taken up ``interval`` later all the same, unless
    :meth:`solve_beside` gives them a thread of their own: there a tick never waits for one, and
    ticks that have to go on with the plan before are counted as late.
    """

    Settings, follows_tip = PredictiveSettings, True
    pickled_attributes: ClassVar[tuple[str, ...]] = 'settings', 'plan', 'schedule'
    settings: PredictiveSettings

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        super().__init__(model, **options)
        self._tip = self.settings.tip
        self._body = body_index(model, self._tip, 'tip') if self._tip else -1
        own = np.zeros(0, dtype=np.int64) if self._tip else self.controlled

        def build_planner() -> Planner:
            return Planner(model, own, self.reference_width, self.settings.contact)

        def build_analysis() -> RestAnalysis:
            return RestAnalysis(model, self.settings.contact)

        self._planner, self._at_rest = compile_in_parallel(build_planner, build_analysis)
        zero = constant(np.zeros(self.reference_width))
        self.plan = BlendedReference(zero, zero, 0.0, 0.0)
        self._feedback = PlanFeedback(model.n, model.m)
        self._u, self._others = np.zeros((2, model.m))  # the latter: commands of other laws
        self._seen = np.array([model.q0, np.zeros(model.n)])
        self._solve: Callable[[Request], Callable[[], Plan | None]] | None = None
        self._poll: Callable[[], Plan | None] | None = None  # of a solution made elsewhere
        self._applied: Any = None
        self.schedule = PlanSchedule(self.period, np.zeros(model.m))

    @property
    def reference_width(self) -> int:
        """The number of values that a reference has: 3 of a tip, else one for each output."""
        return 3 if self.settings.tip else len(self.controlled)

    def use(self, settings: PredictiveSettings) -> None:
        """Replace all settings but ``tip`` and ``contact`` from the next tick on."""
        made = {'tip': self._tip, 'contact': self.settings.contact}
        same = all(getattr(settings, name) == value for name, value in made.items())
        self.settings = settings if same else settings.replace(**made)

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        self.require_state(q, qd)
        self._seen[0][:], self._seen[1][:] = q, qd
        place, rate = self._led(q, qd)
        state = np.array([place, rate, 0.0 * place])
        previous = braking(state, 0.0, self.plan.ramp)
        self.plan = self.plan._replace(previous=previous, start=float(t))
        self.last[:] = np.nan if u is None else u
        s = self.settings
        standing = holding_command(self.model, q, s.lower, s.upper) if u is None else u
        self.schedule.begin(t, np.array(standing, dtype=float))

    def resume(self) -> None:
        """Wait for no solution that is made elsewhere, see :meth:`.Pickleable.resume`."""
        self.schedule.waiting &= self.schedule.ready is not None

    def desired(self, t: float) -> Matrix:
        """Return what the reference asks for, its rate and acceleration, (3, width), at t [s]."""
        out = np.empty((3, self.reference_width))
        self._sample(self.plan, float(t), out, np.empty_like(out))
        return out

    @classmethod
    def controlled_tip_of(cls, settings: PredictiveSettings, model: CompiledModel) -> str:
        """Return the body whose tip is led, see :meth:`Controller.controlled_tip_of`."""
        return model.body_names[body_index(model, settings.tip)] if settings.tip else ''

    def require_order(self, order: TipOrder) -> None:
        """Raise ArgumentError for another tip, and for orders to turn it."""
        led = self.controlled_tip
        if order.body not in (led, '') or not led:
            raise ArgumentError('body', order.body, f'{led or "none"}, whose tip is led')
        turns = order.angular.any() if isinstance(order, TipTwist) else order.rotation is not None
        if turns:
            raise ArgumentError('order', order, 'a point, or a linear velocity alone')

    def lead(self, order: TipOrder, t: float) -> None:
        """Turn the led tip to a point, or by a linear velocity, see :meth:`Controller.lead`."""
        self.require_order(order)
        now = np.hstack([self.desired(t), np.zeros((3, 3))])
        if isinstance(order, TipTwist):  # else it would take as long to come back to the tip
            tip, lever = self._led(*self._seen)[0], LEVER_RATIO * self.model.scales.length
            now[0, :3] = within_lead(now[0, :3], tip, lever)
        place = select(tip_course(order, now, np.eye(3), 0.0), [0, 1, 2])
        self.plan = BlendedReference(place, place, float(t), 0.0)

    def stay(self, q: Vector, qd: Vector) -> Reference:
        """Return the reference that stays where the tip, or the outputs, are."""
        return constant(self._led(q, qd)[0])

    @property
    def solutions(self) -> Solutions:
        """Counts of solutions."""
        return self.schedule.solutions

    @property
    def failure(self) -> str:
        """The reason for which there is no command, see :attr:`Controller.failure`."""
        if not self.schedule.lost:
            return ''
        figures = self.solutions
        return (
            f'no plan covers the present time, and none is there to replace it'
            f' ({figures.solved_count} solutions, of which {figures.failed} failed;'
            f' {figures.late_ticks} ticks waited for one)'
        )

    def figures(self) -> dict[str, object]:
        """Return counts of solutions and figures of the last one, for diagnostics."""
        interval = self.settings.ticks(self.period) * self.period
        return {'interval of solutions [ms]': interval * 1e3, **self.solutions.figures()}

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command`, see :meth:`Controller.compute`."""
        self.require_state(q, qd)
        sent = self.schedule.sent
        if sent and self.last[0] == self.last[0]:  # others may have limited it
            sent[-1] = sent[-1][0], self.last.copy()
        low, high, cut = *self.reach(), -1
        y, velocity = np.full((2, self.model.m), np.nan)
        if math.isfinite(q @ q + qd @ qd):
            self._seen[0][:], self._seen[1][:] = q, qd
            self._go_on(t, q, qd)
            cut = self._command(t, q, qd, low, high, self._u)
            terms = self.evaluate(q, qd)
            y, velocity = terms.y - self.model.y0, terms.J @ qd
        desired = np.full((3, len(self.controlled)), np.nan)
        if not self._tip:
            desired = self.desired(t + self.settings.delay)
        ok = cut >= 0 and bool(np.isfinite(self._u).all())
        if ok:
            self.last[:] = self._u
            sent.append((t, self._u.copy()))
        unmet = np.zeros(self.model.m)
        return Command(self._u, y, velocity, desired, unmet, max(0, cut), ok)

    def growth(
        self, q: Vector, u: Vector, settings: PredictiveSettings, uncertainty: float = 0.0
    ) -> float:
        """Return the rate [1/s] at which errors would grow, see :meth:`Controller.growth`."""
        delayed = math.ceil(settings.delay / self.period - 1e-9)
        timing = Timing(self.period, settings.ticks(self.period), delayed)
        problem = problem_of(self.model, self.controlled, self._body, settings)
        return self._at_rest.growth(q, u, problem, self.controlled, timing, uncertainty)

    def forget_last_step(self) -> None:
        """Learn nothing from the last period, see :meth:`Controller.forget_last_step`."""
        self.schedule.requested_at = math.nan

    def solve_beside(self, solve: Callable[[Request], Callable[[], Plan | None]] | None) -> None:
        """
        Have solutions made elsewhere: ``solve`` of a request returns a function that tells.

        That returns the plan, or None as long as there is none. None: within :meth:`compute`.
        """
        self._solve = solve

    @property
    def planner(self) -> Planner:
        """The planner, for whoever solves beside the loop."""
        return self._planner

    def _led(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return where what the reference leads is, and its rate."""
        if not self._tip:
            y, velocity = self.outputs(q, qd)
            return y[self.controlled], velocity[self.controlled]
        T = calls.forward_kinematics(self.model, q=q)[self._body]
        J = calls.jacobian(self.model, q=q, body=self._tip)
        return T[:3, 3].copy(), T[:3, :3] @ (J[3:] @ qd)

    def _go_on(self, t: float, q: Vector, qd: Vector) -> None:
        """Take up a plan that is due, and ask for the next."""
        if not self.schedule.take_up(t, self._answer):
            return
        request = self._request(t, q, qd)
        self.schedule.ask(t, request.lead)
        if self._solve is None:
            self.schedule.ready = self._planner.solve(request)
        else:
            self._poll = self._solve(request)

    def _answer(self) -> Plan | None:
        """Return the plan that was asked for, None as long as there is none."""
        if self._poll is not None:
            return self._poll()
        found, self.schedule.ready = self.schedule.ready, None
        return found

    def replay_late(self, solutions: Mapping[float, float]) -> None:
        """Take up solutions that are due at some times [s] only when they came; nan: never."""
        self.schedule.replayed = {
            due: math.inf if math.isnan(came) else came for due, came in solutions.items()
        }

    def _request(self, t: float, q: Vector, qd: Vector) -> Request:
        """Return the :class:`Request` at a state."""
        s, plans = self.settings, self.schedule
        ticks = s.ticks(self.period)
        lead, delay = ticks * self.period, s.delay
        acting = t - delay  # what is sent then acts now
        leading = [plans.command_at(acting + (k + 0.5) * self.period) for k in range(ticks)]
        delayed = [plans.command_at(t + lead - (k + 0.5) * delay / 4.0) for k in range(4)]
        by_gain = np.zeros(self.model.m)  # what the gain adds to the plan at present
        if plans.now is not None and self._command(t, q, qd, s.lower, s.upper, self._u) >= 0:
            by_gain = self._u - plans.planned(t)
        return Request(
            restarts=plans.restarts,
            t=t,
            x=np.concatenate([q, qd]),
            reference=self.plan,
            problem=self._problem(t - plans.requested_at),
            time_since_last=t - plans.requested_at,
            applied_command=plans.mean(plans.requested_at - delay, acting),
            lead=lead,
            lead_command=np.clip(np.mean(leading, axis=0) + by_gain, s.lower, s.upper),
            delay=delay,
            delay_command=np.mean(delayed, axis=0),
            last=plans.command_at(t + lead - 0.5 * self.period),
        )

    def _problem(self, since: float) -> HorizonProblem:
        """Return the :class:`.HorizonProblem` at present, ``since`` [s] the last solution."""
        s = self.settings
        if self._applied is None or self._applied[0] is not s:
            self._applied = s, problem_of(self.model, self.controlled, self._body, s)
        u = np.clip(s.feed_forward, s.lower, s.upper)  # beside other laws it changes in place
        own = self._applied[1], self.controlled, self._others
        return with_other_commands(*own, u, since, s.horizon)

    def _command(
        self, t: float, q: Vector, qd: Vector, low: Vector, high: Vector, out: Vector
    ) -> int:
        """Fill ``out`` (m,); return how many commands are cut, or -1 without any."""
        plan = self.schedule.now
        if plan is None:
            np.clip(self.schedule.standing_command, low, high, out=out)
            return -1 if self.schedule.lost else 0
        return self._feedback.command(plan, t, q, qd, low, high, out)
