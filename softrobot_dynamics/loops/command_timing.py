# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time from which on a command acts on the simulated robot."""

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.simulation.bus import Bus, HeldOverBus, Stretch

TIMINGS = {
    'arrival': 'acting when they arrive',
    'next_period': 'acting from the next period on',
    'lockstep': 'acting from the instant of the state answered',
}
"""Timings of commands, with the words that reports use for each."""


def timing_in_words(timing: str, taken: float) -> str:
    """Return in words from when on commands act, of drives that take them at a rate [Hz] or 0."""
    if not taken:
        return TIMINGS[timing]
    return f'{TIMINGS[timing]}, the newest taken by the drives at {taken:.4g} Hz'


class CommandTiming:
    """
    Shares out the periods of a robot among the commands in force, by one of the `TIMINGS`.

    `arrival`: as a robot does that takes a command when it comes; `next_period`: as a bus with
    the robot's own cycle; `lockstep`: as if it took the law no time, the same whenever a command
    arrives. Over a `bus` the drives take the command that would be in force, cycle by cycle.
    `period` [s]; `u` (m,) is in force at first.
    """

    def __init__(self, timing: str, period: float, u: Vector, bus: Bus) -> None:
        self._timing, self._period = timing, period
        self._held = HeldOverBus(bus, u)  # knows a command by its array: none is written to
        self.begin(u)

    def begin(self, u: Vector) -> None:
        """Restart, the cycles of the bus as well, with u (m,) in force."""
        u = u.copy()
        self._held.begin(u)
        self._go_on(u)

    def force(self, u: Vector) -> None:
        """Set the command in force from the beginning of this period to u (m,)."""
        u = u.copy()
        self._held.force(u)
        self._go_on(u)

    def _go_on(self, u: Vector) -> None:
        """Start a period with u (m,) as the newest command."""
        self._stretches: list[Stretch] = []
        self._now = self._next = u
        self._passed = 0.0

    def arrived(self, u: Vector, after: float) -> None:
        """Add a command (m,) that arrived `after` [s] from the beginning of this period."""
        self._next = u.copy()
        if self._timing == 'arrival':
            self._close(min(max(after, self._passed), self._period))
        if self._timing != 'next_period':
            self._now = self._next

    def finish_period(self) -> list[Stretch]:
        """Return the stretches of this period, as long as it together, and begin the next."""
        self._close(self._period)
        stretches, u = self._stretches, self._next
        self._go_on(u)
        return list(self._held.stretches(stretches))

    def _close(self, moment: float) -> None:
        """End the stretch under way at a moment [s], if it has any length."""
        if moment > self._passed:
            self._stretches.append(Stretch(self._now, moment - self._passed))
            self._passed = moment
