# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Deadlines of a loop; schedules of a simulated robot and of an estimator."""

from typing import NamedTuple

from softrobot_dynamics.loops.realtime import SECOND
from softrobot_dynamics.simulation.bus import Bus, make_bus

_MIN_INTERVAL = 0.7  # of a period, between one state and the next
_LOST_TIME_WINDOW = 2 * SECOND  # [ns]
# of the time; with more the machine is too slow, not stalled now and then
_MAX_LOST_FRACTION = 0.05
_UNTIMED_BUS = make_bus({})


class Schedule(NamedTuple):
    """Times of a simulated robot: rate of its states, age of commands, when these act."""

    rate: float  # [Hz] of the states, in simulated time
    timeout: float  # [periods] of simulated time after which a command is too old
    timing: str  # from when on commands act, see `command_timing`
    waits: bool = False  # at the initial posture until a command answers a state
    pace: float = 1.0  # [s] of simulated time in one of real time; 0: as fast as answers come
    bus: Bus = _UNTIMED_BUS  # when drives take the command that would act by then


class EstimationSchedule(NamedTuple):
    """
    Periods, time limits and thresholds of an estimation loop; times in [ns].

    All of them are by the clock of the sensors' stamps, on which ``pace`` [s] pass in one of real
    time.
    """

    period: int
    timeout: int  # without a measurement, after which a sensor counts as silent
    settling: int  # of measurements before states go out
    report: int  # from one report to the next
    delay: float  # [s] from a command until it acts
    body: str = ''  # on whose tip a push is looked for
    collision: float = 0.0  # [N] of a push that is one; 0: none is
    pace: float = 1.0


class LostTime:
    """
    The share of the time by which deadlines were moved, of the last two seconds.

    ``share`` is 0 unless it was above a twentieth in the two seconds before, too: single stalls.
    """

    def __init__(self) -> None:
        self._begin: int | None = None
        self._slipped, self._before, self.share = 0, 0.0, 0.0

    def add(self, moment: int, slip: int) -> bool:
        """Add a slip [ns], 0 for none, at a moment; return whether this determines a share."""
        if self._begin is None:
            self._begin = moment
            return False
        self._slipped += slip
        if (passed := moment - self._begin) < _LOST_TIME_WINDOW:
            return False
        share, before = self._slipped / passed, self._before
        self.share = share if min(share, before) > _MAX_LOST_FRACTION else 0.0
        self._begin, self._slipped, self._before = moment, 0, share
        return self.share > 0.0


class Deadlines:
    """
    A grid of absolute deadlines [ns], of which `next` is the one to come.

    After waking late the next one comes a little later than its place on the grid, so that no
    command has to come in less than `_MIN_INTERVAL` of an interval. Waking later than an interval,
    and than `patience` [ns], moves the whole grid: nothing ever catches up in a burst.
    """

    def __init__(self, patience: int = 0) -> None:
        self._patience = patience
        self._grid = self.next = 0
        self.slipped = 0  # [ns] by which the grid has moved

    def start(self, moment: int) -> None:
        """Start a grid at a deadline [ns]."""
        self._grid = self.next = moment

    def advance(self, woken: int, interval: int) -> int:
        """Set the deadline after that for which one woke at `woken`; return a slip, 0 for none."""
        slip = woken - self._grid
        if slip <= max(interval, self._patience):
            slip = 0
        self.slipped += slip
        self._grid += slip + interval
        self.next = max(self._grid, woken + round(_MIN_INTERVAL * interval))
        return slip
