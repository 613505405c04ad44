# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Solutions of predictive laws in a thread of their own, beside the control loop.

The loop hands over a request and looks, tick by tick, whether there is an answer: it never waits.
While a solution is computed no lock of the interpreter is held. The thread has ordinary priority,
preferred among others where the loop has a real-time priority, and keeps to no processor: a late
solution is bridged by the plan before, and one that never ends must not stop other threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
import threading
from typing import Any

from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.controllers.predictive.planner import Plan, Planner, Request
from softrobot_dynamics.loops.realtime import set_niceness, without_priority

JOIN_TIMEOUT = 2.0  # [s]
#: Topics of :func:`recorded_figures` in a record, with their columns.
RECORDED_FIGURES = {
    '~/solution/count': 'solutions',
    '~/solution/late_ticks': 'solution_late_ticks',
    '~/solution/failed': 'solution_failed',
    '~/solution/iterations': 'solution_iterations',
    '~/solution/cost': 'solution_cost',
    '~/solution/residual': 'solution_residual',
    '~/solution/time': 'solution_time',
}


class SolutionThread:
    """A thread that solves the requests of one planner; it ends with :meth:`close`."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._requests: SimpleQueue[tuple[Request, list[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name='solutions', daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> Callable[[], Plan | None]:
        """
        Submit a request; return a function that returns the plan, None until it is solved.

        One that begins anew takes the place of all that are not begun.
        """
        answer: list[Any] = []

        def poll() -> Plan | None:
            if not answer:
                return None
            if isinstance(answer[0], Exception):
                raise answer[0]
            plan: Plan = answer[0]
            return plan

        if request.restarts:
            self._drop()
        self._requests.put((request, answer))
        return poll

    def close(self) -> None:
        """End the thread after its present solution; one that hangs ends with the process."""
        self._drop()
        self._requests.put(None)
        self._thread.join(JOIN_TIMEOUT)

    def _drop(self) -> None:
        with suppress(Empty):
            while True:
                self._requests.get_nowait()

    def _run(self) -> None:
        with without_priority():
            set_niceness()
            while (task := self._requests.get()) is not None:
                request, answer = task
                try:
                    answer.append(self._planner.solve(request))
                except Exception as error:  # raised in the loop, which then makes the robot safe
                    answer.append(error)


def predictive_laws(law: Controller) -> list[Any]:
    """Return the laws that plan ahead in a law, itself or those of its phases."""
    return [each for _, each in _predictive_parts(law)]


def predictive_names(law: Controller) -> list[str]:
    """Return the names of :func:`predictive_laws`, those of parts; a law without parts has ''."""
    return [name for name, _ in _predictive_parts(law)]


def _predictive_parts(law: Controller) -> list[tuple[str, Any]]:
    parts = zip(law.names, law.laws) if isinstance(law, Composition) else [('', law)]
    return [(name, each) for name, each in parts if hasattr(each, 'planner')]


def recorded_figures(laws: Iterable[Any]) -> tuple[tuple[float, ...], ...]:
    """
    Return rows of a number for each predictive law, in the order of ``RECORDED_FIGURES``.

    Counts so far, then figures of the last solution that was taken up, its time in s.
    """
    rows = []
    for law in laws:
        s = law.schedule.solutions
        counts = s.solved_count, s.late_ticks, s.failed
        rows.append((*counts, s.iterations, s.cost, s.residual, s.seconds))
    return tuple(zip(*rows))


def solve_beside(law: Controller) -> list[SolutionThread]:
    """Give each predictive law in a law a thread for its solutions; return these."""
    threads = []
    for each in predictive_laws(law):
        threads.append(SolutionThread(each.planner))
        each.solve_beside(threads[-1].submit)
    return threads
