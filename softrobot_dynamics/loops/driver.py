# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The driver: one answer to a state, for the control loop of the node and for `sd.closed_loop`.

It takes up orders, asks the law, has the safe command where there is none of the law's, and keeps
what goes out within the limits. It knows no threads and no clock: who owns it says when.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import cast, TYPE_CHECKING, TypeVar

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers.contract import Command, Controller
from softrobot_dynamics.controllers.limiting import Limiter
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.controllers.setpoints import DriveSetpoints
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.loops.orders import (
    Followed,
    HoldOrder,
    NO_ORDERS,
    OneTimeReference,
    Orders,
    RestTarget,
    TakenOrders,
)
from softrobot_dynamics.references.piecewise import reaching, Reference, turn
from softrobot_dynamics.references.tip_commands import TipOrder, TipTarget, TipTwist

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

S = TypeVar('S', bound=Settings)

STATE_DELAY = 'state_delay'  # [s], by which records note it when it changes
# of a solution that came late, likewise: the place of its law among the predictive ones, times [s]
LATE_SOLUTION = 'solution.law', 'solution.due', 'solution.taken_up'


class Driver:
    """
    A law, its orders, the safe command and the limiter of one robot.

    It answers a state (:meth:`answer`) in three steps: :meth:`compute`, what the law commands;
    :meth:`choose`, that or the safe command; :meth:`limit`, what is sent. :meth:`compute` is for
    one thread. The other two may be called by several that exclude each other, as in a node, where
    the safe command may be due while the law computes.

    ``model`` has the limits; ``hold``, a function of (q, qd), returns the reference to stay there
    (default: the law's present outputs). ``unit`` [s] is that of the moments that are given.

    Laws command forces. Joints whose drives take positions or velocities are sent what is made of
    them (:class:`.DriveSetpoints`); the safe command keeps their setpoints.
    """

    def __init__(
        self,
        model: CompiledModel,
        law: Controller,
        safe: SafeCommand,
        orders: Orders,
        *,
        hold: Callable[[Vector, Vector], Reference] | None = None,
        unit: float = 1.0,
    ) -> None:
        self.law = law
        self.limiter = Limiter(model.lower, model.upper)
        self.current_orders = orders  # those that were taken up last
        self.taken_up = NO_ORDERS  # what the last call of `compute` took up of them
        self.state_delay = 0.0  # [s] by which states are late, beside the delay of the settings
        self.running = False  # whether the last command chosen was the law's
        self._safe, self._rate_limit = safe, model.rate_limit
        self._safe_since: float | None = None  # when the safe command began, None: it did not
        self._hold, self._unit = hold or self._hold_outputs, unit
        self._toward: Reference | None = None  # the last Reference for a RestTarget
        self._setpoints = DriveSetpoints(model, law) if model.servos.any else None

    def answer(
        self, orders: Orders, t: float, q: Vector, qd: Vector, duration: float
    ) -> tuple[Vector, Command | None]:
        """
        Return (the command sent for the state (q, qd) of time t, the law's Command or None).

        ``t`` is the moment, too; the rate limits count for a ``duration`` [s]. The law begins anew
        unless the last command was its own. Both are valid until the next call. Raises whatever
        the law raises.
        """
        command = self.compute(orders, t, q, qd, restart=not self.running)
        return self.limit(self.choose(command, q, t), duration)[0], command

    def compute(
        self, orders: Orders, t: float, q: Vector, qd: Vector, *, restart: bool
    ) -> Command | None:
        """
        Apply orders at the state (q, qd) of time t [s]; return the law's command there.

        None where it is not valid. ``restart``: the law begins anew at this state. Raises whatever
        the law raises.
        """
        if self._setpoints is not None:
            q, qd = self._setpoints.follow(t, q, qd, restart=restart)
        if restart or orders is not self.current_orders:
            self._apply_orders(orders, t, q, qd, restart)
        else:
            self.taken_up = NO_ORDERS
        command = self.law.compute(t, q, qd)
        if not (command.ok and isfinite(command.u @ command.u)):
            return None
        return command if self._setpoints is None else self._setpoints.as_measured(command)

    def choose(self, command: Command | None, q: Vector | None, moment: float) -> Vector:
        """Return the command of the law, or at a moment the safe one if there is none; (m,)."""
        if command is None:
            self.begin_safe(q, moment)
            return self.safe_command(moment)
        self.running, self._safe_since = True, None
        return command.u

    def limit(self, u: Vector, duration: float) -> tuple[Vector, bool]:
        """
        Return (the limited command for u (m,), whether it differs).

        The first is valid until the next call. The rate limits, those of the settings while the
        law commands and else those of the robot, count for a ``duration`` [s].
        """
        rate = self.current_orders.settings.rate
        if self._safe_since is not None:  # as fast as actuators allow: others are for work
            rate = self._rate_limit
        u, changed = self.limiter.apply(u, rate, duration)
        if self._setpoints is not None:
            law, safe = self._setpoints.advance, self._setpoints.stop
            u = safe(u) if self.in_safe_command else law(u, duration)
        return u, changed

    def begin_safe(self, q: Vector | None, moment: float) -> bool:
        """Fix the safe command at a moment, at q (n,) if known; return False if it was begun."""
        self.running = False
        if self._safe_since is not None:
            return False
        self._safe_since = moment
        self._safe.begin(q, self.last_command)
        if q is not None and self._setpoints is not None:
            self._setpoints.initialise(self._setpoints.resting(q))
        return True

    def expect_delay(self, seconds: float) -> None:
        """Have the law compensate states that are late by that, from the next one on."""
        self.state_delay = seconds
        settings = self.current_orders.settings.replace()  # not the same object: taken up anew
        self.current_orders = self.current_orders._replace(settings=settings)

    def with_state_delay(self, settings: S) -> S:
        """Return settings with the delay of the states in theirs, if the law makes up for it."""
        delay = getattr(settings, 'delay', None)
        if not self.state_delay or delay is None:
            return settings
        replaced: S = settings.replace(delay=delay + self.state_delay)
        return replaced

    def initialise_setpoints(self, u: Vector) -> None:
        """Set the setpoints of joint drives that have none to those in a command u (m,)."""
        if self._setpoints is not None:
            self._setpoints.initialise(u[self._setpoints.actuators])

    def safe_command(self, moment: float) -> Vector:
        """Return the safe command (m,) at a moment after it began."""
        since = moment if self._safe_since is None else self._safe_since
        return self._safe.at(max(0, moment - since) * self._unit)

    def forget_safe(self) -> None:
        """Restart the safe command when the robot's posture becomes known."""
        self._safe_since = None

    @property
    def in_safe_command(self) -> bool:
        """Tell whether the safe command has begun."""
        return self._safe_since is not None

    @property
    def last_command(self) -> Vector | None:
        """The last command of the law or the safe one (m,), not a copy; None if there is none."""
        return self.limiter.last if self.limiter.has_last else None

    @property
    def sent(self) -> Vector:
        """The values sent last (m,), not a copy: the command, or set-points of joint drives."""
        return self.limiter.last if self._setpoints is None else self._setpoints.sent

    @property
    def sendable(self) -> bool:
        """Tell whether every drive has a value: positions are known after a first state."""
        return self._setpoints is None or self._setpoints.initialised

    def _apply_orders(
        self, orders: Orders, t: float, q: Vector, qd: Vector, restart: bool
    ) -> None:
        """Pass new settings and references to the law."""
        previous, self.current_orders, self.taken_up = self.current_orders, orders, NO_ORDERS
        if restart or orders.settings is not previous.settings:
            self.law.use(self.with_state_delay(orders.settings))
            self.taken_up |= (
                TakenOrders.BEGAN | TakenOrders.TUNED if restart else TakenOrders.TUNED
            )
        if restart or orders.reference is not previous.reference:
            self._follow(orders, t, q, qd, restart, previous)
        if restart:
            self.law.start(q, qd, t, self.last_command)

    def _follow(
        self, orders: Orders, t: float, q: Vector, qd: Vector, restart: bool, previous: Orders
    ) -> None:
        """Have the law follow the reference of orders."""
        reference: Followed | RestTarget | TipOrder = orders.reference
        ramp = orders.ramp
        one_time = isinstance(reference, OneTimeReference) and reference is not previous.reference
        if isinstance(reference, OneTimeReference) and one_time:
            reference = reference.reference
        if isinstance(reference, (HoldOrder, OneTimeReference)):
            reference = self._hold(q, qd)
            self.taken_up |= TakenOrders.HOLDS
        else:
            self.taken_up |= TakenOrders.LED if one_time else TakenOrders.FOLLOWS
        if isinstance(reference, (TipTarget, TipTwist)):
            self._lead(reference, t, q, qd, restart)
            return
        if isinstance(reference, RestTarget):
            if not restart and self._redirect(reference, t):
                return
            reference = self._toward = reaching(self.law.desired(t), *reference)
            ramp = orders.ramp if restart else 0.0
        self.law.follow(cast(Reference, reference), t, ramp)  # a Program for laws that take one

    def _lead(self, order: TipOrder, t: float, q: Vector, qd: Vector, restart: bool) -> None:
        """Have the law lead its tip; after a restart it holds all other outputs."""
        if restart:
            self.law.follow(self._hold(q, qd), t, 0.0)
            self.law.start(q, qd, t, self.last_command)
        self._toward = None
        self.law.lead(order, t)

    def _redirect(self, toward: RestTarget, t: float) -> bool:
        """Replace the law's reference by another of the same kind, which takes no time."""
        plan, before = self.law.plan, self._toward
        if before is None or plan.current is not before or t < plan.start + plan.ramp:
            return False
        turn(before, t - plan.start, self.law.desired(t), *toward)
        return True

    def _hold_outputs(self, q: Vector, qd: Vector) -> Reference:
        """Return the reference that stays at the law's outputs."""
        return self.law.stay(q, qd)
