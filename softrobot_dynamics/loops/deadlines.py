# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Deadlines of a loop; schedules of a simulated robot and of an estimator."""

from typing import NamedTuple

from softrobot_dynamics.simulation.bus import Bus, make_bus

_SHORTEST = 0.7  # of a period, between one state and the next
_AT_ANY_TIME = make_bus({})


class Schedule(NamedTuple):
    """Times of a simulated robot: rate of its states, age of commands, when these act."""

    rate: float  # [Hz] of the states, in simulated time
    timeout: float  # [periods] of simulated time after which a command is too old
    timing: str  # from when on commands act, see `command_timing`
    waits: bool = False  # at the initial posture until a command answers a state
    pace: float = 1.0  # [s] of simulated time in one of real time; 0: as fast as answers come
    bus: Bus = _AT_ANY_TIME  # when drives take the command that would act by then


class EstimationSchedule(NamedTuple):
    """Periods, time limits and thresholds of an estimation loop; times in [ns]."""

    period: int
    timeout: int  # without a measurement, after which a sensor counts as silent
    settling: int  # of measurements before states go out
    report: int  # from one report to the next
    delay: float  # [s] from a command until it acts
    body: str = ''  # on whose tip a push is looked for
    collision: float = 0.0  # [N] of a push that is one; 0: none is


class Deadlines:
    """
    A grid of absolute deadlines [ns], of which `next` is the one to come.

    After waking late the next one comes a little later than its place on the grid, so that no
    command has to come in less than `_SHORTEST` of an interval. Waking more than an interval late
    moves the whole grid: nothing ever catches up in a burst.
    """

    def __init__(self) -> None:
        self._grid = self.next = 0
        self.slipped = 0  # [ns] by which the grid has moved

    def put(self, moment: int) -> None:
        """Begin a grid at a deadline [ns]."""
        self._grid = self.next = moment

    def meet(self, woken: int, interval: int) -> int:
        """Set the deadline after that for which one woke at `woken`; return a slip, 0 for none."""
        slip = woken - self._grid
        if slip <= interval:
            slip = 0
        self.slipped += slip
        self._grid += slip + interval
        self.next = max(self._grid, woken + round(_SHORTEST * interval))
        return slip
