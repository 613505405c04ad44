# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Plans over time: which one is in force, which solution is waited for, and when there is no command.

One solution is asked for at a time. It is taken up when it is due, or with the first tick after
that in which it is there; a plan is in force until the next one, but not beyond its last command.

At first the command in force is held, for at most ``FIRST_PLAN_TIME``. From then on a present time
that no plan covers has no command: the schedule is *lost*, which makes the robot safe. Solutions
are asked for from the present states all the same. One that failed, or that came after all that it
planned was over, is not used. The first that covers the present time when it comes shows that the
planner keeps up again: the law then begins anew, as after an activation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import math

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers.predictive.planner import Plan

FIRST_PLAN_TIME = 1.0  # [s] for which a law that begins may hold the command in force
MAX_SENT_COMMANDS = 4096  # that are remembered


@dataclass
class Solutions:
    """Counts of solutions, and figures of the last one, for diagnostics."""

    solved_count: int = 0
    late_ticks: int = 0  # ticks that waited for one and were answered by the gain
    failed: int = 0
    iterations: int = 0
    cost: float = math.nan
    residual: float = math.nan
    seconds: float = math.nan

    def count(self, plan: Plan) -> None:
        """Count a solution."""
        self.solved_count += 1
        self.failed += not plan.ok
        self.cost, self.residual = plan.cost, plan.residual
        self.iterations, self.seconds = plan.iterations, plan.seconds

    def figures(self) -> dict[str, object]:
        """Return all by the names that diagnostics give them."""
        return {
            'solutions': self.solved_count,
            'late solutions [ticks]': self.late_ticks,
            'failed solutions': self.failed,
            'cost of the last solution': self.cost,
            'residual of the last solution': self.residual,
            'iterations of the last solution': self.iterations,
            'time of the last solution [ms]': self.seconds * 1e3,
        }


def covers(plan: Plan | None, t: float) -> bool:
    """Tell whether a plan has a command for t [s]; the first also holds for a knot before."""
    return plan is not None and -1.0 < (t - plan.t) / plan.knot + 1e-6 < len(plan.u)


@dataclass
class PlanSchedule:
    """The plans of one law, see above; times in s, of the law."""

    period: float
    standing_command: Vector  # (m,) command in force before there is a plan
    now: Plan | None = None
    ready: Plan | None = None  # solved within a tick, not due yet
    waiting: bool = False  # for a solution
    requested_at: float = math.nan  # time of the last request
    due_at: float = math.nan  # when its solution is to be taken up
    restarts: bool = True  # whether the next solution knows nothing of before
    lost: bool = False
    started_at: float = 0.0
    sent: deque[tuple[float, Vector]] = field(
        default_factory=lambda: deque(maxlen=MAX_SENT_COMMANDS)
    )
    # times at which a late one was due and came; nan: not yet
    late_solution: tuple[float, float] | None = None
    late_noted_for: float = math.nan  # due time of the solution noted last as late
    replayed: Mapping[float, float] = field(default_factory=dict)  # when each late one came
    solutions: Solutions = field(default_factory=Solutions)

    def begin(self, t: float, u: Vector) -> None:
        """Begin at t under the command u (m,) in force; one that is lost remains it."""
        self.standing_command = u
        self.sent.clear()
        if not (self.lost and t >= self.requested_at):
            self._begin(t)

    def take_up(self, t: float, answer: Callable[[], Plan | None]) -> bool:
        """
        Take up the solution that is due; return whether a new one is to be asked for.

        ``answer`` returns the one that was asked for last, None as long as there is none. What it
        raises is raised, once.
        """
        if self.waiting and t >= self.due_at - 0.5 * self.period:
            try:
                found = None if t < self.replayed.get(self.due_at, -math.inf) else answer()
            except Exception:
                self.waiting = False
                self._lose(t)
                raise
            self._receive(found, t)
        over = self.now is not None and not covers(self.now, t)
        if over or (self.now is None and not self.lost and t > self.started_at + FIRST_PLAN_TIME):
            self._lose(t)
        return not self.waiting

    def ask(self, t: float, lead: float) -> None:
        """Note that a solution is asked for, to be taken up ``lead`` from now."""
        self.restarts, self.waiting = False, True
        self.requested_at, self.due_at = t, t + lead

    def command_at(self, t: float) -> Vector:
        """Return the command (m,) that was sent for t, or that the plan says, gain aside."""
        if self.sent and t < self.sent[-1][0] + self.period:
            for moment, u in reversed(self.sent):
                if moment <= t + 1e-9:
                    return u
            return self.sent[0][1]
        return self.planned(t)

    def planned(self, t: float) -> Vector:
        """Return the command (m,) of the plan for t, gain aside, as `follow_plan` has it."""
        if self.now is None:
            return self.standing_command
        k = int((t - self.now.t) / self.now.knot + 1e-6)
        planned: Vector = self.now.u[min(max(k, 0), len(self.now.u) - 1)]
        return planned

    def mean(self, begin: float, end: float) -> Vector:
        """Return the mean (m,) over time of the commands from ``begin`` to ``end`` [s]."""
        if not end > begin:
            return self.standing_command
        total, until = np.zeros_like(self.standing_command), end
        for t, u in reversed(self.sent):
            if t < until:
                since = max(t, begin)
                total += (until - since) * u
                until = since
            if until <= begin:
                break
        total += max(0.0, until - begin) * self.standing_command
        mean: Vector = total / (end - begin)
        return mean

    def _begin(self, t: float) -> None:
        self.now = self.ready = None
        self.waiting, self.lost, self.restarts = False, False, True
        self.requested_at = self.due_at = math.nan
        self.started_at = t

    def _lose(self, t: float) -> None:
        if self.sent:
            self.standing_command = self.sent[-1][1]
            self.sent.clear()
        self.restarts = True
        if not self.lost:
            self.now, self.lost, self.requested_at = None, True, t

    def _receive(self, found: Plan | None, t: float) -> None:
        """Take up a solution that is due, or note that it is late."""
        noted = self.late_noted_for == self.due_at
        if found is None:
            self.solutions.late_ticks += 1
            if not noted:
                self.late_solution, self.late_noted_for = (self.due_at, math.nan), self.due_at
            return
        if noted:
            self.late_solution = self.due_at, t
        self.waiting = False
        self.solutions.count(found)
        if not (found.ok and covers(found, t)):
            return
        if self.lost:
            self._begin(t)
        else:
            self.now = found
