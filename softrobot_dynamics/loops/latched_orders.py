# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Orders for the loop from several threads, kept while there is no loop.

Who may touch what in a controller node:

- Threads: *main* makes transitions, *parameters* answers get and set, *safety* the emergency stop
  and hold (see `executors`), *signals* notes SIGTERM and SIGINT, *control* is the loop itself,
  *guard* sends the safe command where that is late (see `watchdog`); each topic by which outputs
  are led has a thread of its own (see `threaded_subscription`).
- What takes long, that is to configure, to activate, to clean up, to set a parameter and to follow
  a message, is done by one thread at a time, which holds `Parameters.lock`.
- What makes the robot safe never takes that lock: it goes through `LatchedOrders`, whose own lock
  is held for moments. It cancels the planning under way, which it would contradict.
- The loop reads its orders, one immutable object, and takes no lock for them. Sending has a lock
  of its own, held for a publication: whoever orders an emergency stop sends the safe command.
"""

from collections.abc import Callable, Iterator
import contextlib
import threading
from typing import Any

from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.orders import HoldOrder
from softrobot_dynamics.loops.planning import Job

EMERGENCY, HOLD = 'the emergency stop', 'hold'
LATCHED = 'emergency stop is on: release it first'


class LatchedOrders:
    """The emergency stop, the loop if there is one, and the planning under way if there is any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._emergency = False
        self._job: Job | None = None
        self._activating = False
        self._closed = ''  # in words, by what
        self.loop: ControlLoop | None = None

    # For any thread, at any time

    def stop(self, on: bool) -> None:
        """Latch the emergency stop or release it, which leads to holding, never to going on."""
        with self._lock:
            self._emergency = on
            self._hold(EMERGENCY, emergency=on)

    def hold(self) -> str:
        """Hold the present outputs; return in words why not, or '' ."""
        with self._lock:
            refusal = '' if self._activating and not self._emergency else self.refusal()
            if not refusal:
                self._hold(HOLD)
        return refusal

    def refusal(self) -> str:
        """Return in words why there is nothing to be followed, or ''."""
        if self._emergency:
            return LATCHED
        return 'not active' if self.loop is None else ''

    def cancel(self, by: str) -> None:
        """Cancel the planning under way, if there is any."""
        with self._lock:
            self._cancel(by)

    def close(self, by: str) -> None:
        """Cancel the planning under way, and all that would be begun."""
        with self._lock:
            self._closed = by
            self._cancel(by)

    def disengage(self, by: str) -> ControlLoop | None:
        """Cancel the planning under way; return the loop, None if there is none, and forget it."""
        with self._lock:
            self._cancel(by)
            loop, self.loop = self.loop, None
        return loop

    # For the thread that holds `Parameters.lock`

    @contextlib.contextmanager
    def planning(self, activating: bool = False) -> Iterator[Job]:
        """Within this context there is a Job, which others cancel as they need."""
        job = Job()
        with self._lock:
            self._job, self._activating = job, activating
            if self._closed:
                self._cancel(self._closed)
        try:
            yield job
        finally:
            with self._lock:
                self._job, self._activating = None, False

    def engage(self, loop: ControlLoop) -> None:
        """Give orders to `loop` from now on, those given while its reference was planned first."""
        with self._lock:
            cancelled = self._job is not None and self._job.cancelled_by
            changes = {'reference': HoldOrder()} if cancelled else {}
            loop.order(emergency=self._emergency, **changes)
            self.loop = loop

    def change(self, note: Callable[[ControlLoop], object] | None = None, **changes: Any) -> None:
        """
        Change the orders; CancelledError if a reference is among them that was cancelled.

        ``note(loop)`` is called first, if there is a loop: no tick knows of orders before it.
        """
        with self._lock:
            if 'reference' in changes and self._job is not None:
                self._job.check()
            if self.loop is not None:
                if note is not None:
                    note(self.loop)
                self.loop.order(**changes)

    # Under the lock

    def _hold(self, by: str, **changes: Any) -> None:
        if self.loop is not None:
            self.loop.order(reference=HoldOrder(), **changes)
        self._cancel(by)

    def _cancel(self, by: str) -> None:
        if self._job is not None:
            self._job.cancel(by)
