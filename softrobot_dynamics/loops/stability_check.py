# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check whether a loop can be stable at its rate, before it is changed and as it runs."""

from collections.abc import Callable, Iterable, Sequence
import contextlib
from typing import Any

import numpy as np
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.errors import MessageError, UnstableLoopError, UnstableZeroDynamicsError
from softrobot_dynamics.loops.contracts import ControlledPlant, MessageInbox
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.orders import Orders
from softrobot_dynamics.loops.realtime import now, SECOND
from softrobot_dynamics.loops.state_parts import PartReader
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.watchdog import RUNNING

MODEL_UNCERTAINTY = 0.2  # relative, of a robot's stiffness and damping


def zero_dynamics_warnings(
    plant: ControlledPlant,
    inbox: MessageInbox[Any],
    reader: StateReader | PartReader,
    allowed: bool,
) -> tuple[str, ...]:
    """
    Return in words, a tuple, the unstable zero dynamics of a plant.

    At the newest state in the inbox, which no loop reads yet, by a StateReader or a PartReader, or
    where the robot file has the robot. Raises UnstableZeroDynamicsError unless it is ``allowed``.
    """
    q = plant.model.q0
    with contextlib.suppress(MessageError):  # the loop will say what is wrong with it
        for _ in range(getattr(reader, 'parts', 1)):
            message = inbox.wait(0)  # an emergency stop must not wait for a state
            if message is not None:
                q = reader.read(message)[0]
    rates = plant.unstable_zero_dynamics(np.array(q, dtype=float)) if np.isfinite(q).all() else ()
    if not rates:
        return ()
    error = UnstableZeroDynamicsError(rates)
    if not allowed:
        raise error
    return (str(error),)


class StabilityCheck:
    """
    Asks the law at which rate errors would grow, also if the model were wrong; for one thread.

    ``plant`` is the :class:`.build.Controlled`, ``period`` [s] that of the loop; ``warn`` is told
    in words of a running loop that grows. ``clock`` returns the time in ns.

    Settings are checked with the delay of the loop's states added to their own: that of estimated
    velocities, and of parts of the states.

    In a running loop a growth counts if it is still there when errors would have grown e-fold: a
    robot that a new phase sets in motion, as a gripper that gets its pressure, may pass a place
    where it would not stay.
    """

    def __init__(
        self,
        plant: ControlledPlant,
        period: float,
        warn: Callable[[str], object] | None = None,
        clock: Callable[[], int] = now,
    ) -> None:
        self._plant, self._period, self._warn, self._clock = plant, period, warn, clock
        self._grows: float = plant.model.scales.growth
        self._checked_loop: tuple[Orders | None, str, float] = (
            None,
            '',
            0.0,
        )  # orders, phase, delay
        self._recheck_time: float | None = (
            None  # [ns] when a growth that was found has to be confirmed
        )
        self._last_warning = ''
        self.last = np.nan  # [1/s] where the loop was looked at last
        # [1/s] there, on a robot that is by MODEL_UNCERTAINTY other than the model
        self.last_of_changed_model = np.nan

    def check(self, loop: ControlLoop | None, settings: Settings) -> None:
        """Raise UnstableLoopError if new Settings would make errors grow, or grow faster."""
        if loop is None or settings.tuned_alike(loop.orders.settings):
            return
        q, u = loop.place()
        if q is None or u is None:
            return
        settings_in_force = map(loop.driver.with_state_delay, (settings, loop.orders.settings))
        new, now = (self._plant.growth(q, u, each) for each in settings_in_force)
        if new > self._grows and not new < now:
            raise UnstableLoopError(new, self._period)

    def along(
        self, places: Iterable[Sequence[Any]], settings: Settings, loop: ControlLoop | None = None
    ) -> tuple[str, ...]:
        """Return in words, a tuple, instabilities at (q, u) along a reference of a loop."""
        settings = settings if loop is None else loop.driver.with_state_delay(settings)
        rates = [self._plant.growth(q, u, settings, 0.0, *phase) for q, u, *phase in places]
        # some may be nan
        worst = max((rate for rate in rates if rate > self._grows), default=np.nan)
        return (f'along the reference, {self._unstable(worst)}',) if worst > self._grows else ()

    def monitor(self, loop: ControlLoop) -> str:
        """
        Return in words, or '', how a running loop grows.

        Looked at once an order and phase, and a second time, later, if it grows.
        """
        orders, phase, (q, u) = loop.orders, loop.phase, loop.place()
        if loop.mode != RUNNING or q is None or u is None:
            return self._last_warning
        delay, (before, *others) = loop.driver.state_delay, self._checked_loop
        new = orders is not before or others != [phase, delay]
        due = self._recheck_time is not None and self._clock() >= self._recheck_time
        if not (new or due):
            return self._last_warning
        self._checked_loop, self._recheck_time, self._last_warning = (
            (orders, phase, delay),
            None,
            '',
        )
        settings = loop.driver.with_state_delay(orders.settings)
        self.last, self.last_of_changed_model = (
            self._plant.growth(q, u, settings, share) for share in (0.0, MODEL_UNCERTAINTY)
        )
        words = self._warning()
        if words and new:
            fastest = np.nanmax([self.last, self.last_of_changed_model])
            self._recheck_time = self._clock() + SECOND / float(fastest)
        elif words:
            self._last_warning = words
            if self._warn is not None:
                self._warn(words)
        return self._last_warning

    def _warning(self) -> str:
        if self.last > self._grows:
            return self._unstable(self.last)
        if self.last_of_changed_model > self._grows:
            return (
                'with a robot whose stiffness or damping is'
                f' {MODEL_UNCERTAINTY:.0%} off the model, errors would'
                f' grow e-fold in {1.0 / self.last_of_changed_model:.3g} s'
            )
        return ''

    def _unstable(self, growth: float) -> str:
        return str(UnstableLoopError(growth, self._period))
