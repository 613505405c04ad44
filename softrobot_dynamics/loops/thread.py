# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of loops: a thread that runs cycles until it is ended."""

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Event, Thread

from softrobot_dynamics.errors import MessageError, SoftRobotError
from softrobot_dynamics.loops.contracts import LoopOutput, MessageInbox
from softrobot_dynamics.loops.realtime import apply_priority
from softrobot_dynamics.loops.statistics import LoopStatistics


class Loop:
    """
    A thread called `name` that repeats `_cycle` after a `_begin`, both the subclass's.

    A cycle waits for `inbox` only, which `leave` wakes. An exception ends the loop: it is kept in
    `error`, `_fail` makes the robot safe, `publisher` is told, and `ended` is called, which ends
    the node with a status that is not 0. `mode` is one of `modes`, at first 0; `healthy` are those
    in which the loop works as it should.
    """

    modes: Sequence[str]
    healthy: Sequence[int]

    def __init__(self, name: str, inbox: MessageInbox[object], publisher: LoopOutput) -> None:
        self.error: BaseException | None = None  # what ended the loop, if not `leave`
        self.ended: Callable[[], object] = _nothing
        self.statistics, self.mode = LoopStatistics(), 0
        self._inbox: MessageInbox[object] = inbox
        self._publisher: LoopOutput = publisher
        self._name, self._leaving = name, False
        self._thread = Thread(target=self.run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def leave(self) -> None:
        """Make `run` return."""
        self._leaving = True
        self._inbox.wake()

    def finish(self) -> None:
        """End the thread."""
        self.leave()
        if self._thread.ident is not None:
            self._thread.join()

    def run(self) -> None:
        """Run cycles until `leave` is called; for the loop's own thread."""
        apply_priority()
        try:
            self._begin()
            while not self._leaving:
                self._cycle()
        except BaseException as error:  # the end of a loop must never be silent
            self.error = error
            self._end(error)

    def _end(self, error: BaseException) -> None:
        """Leave things safe, say why the loop ended, and have the node end."""
        try:
            try:
                self._fail()
            finally:
                self._publisher.ended(f'the {self._name} loop ended', error)
        finally:
            self.ended()

    def mode_in_words(self) -> str:
        """Return the mode in words."""
        return self.modes[self.mode]

    def _enter(self, mode: int) -> None:
        before, self.mode = self.mode, mode
        if mode != before:
            self._publisher.entered(self.mode_in_words(), self.modes[before], mode in self.healthy)

    def _refuse(self, error: MessageError) -> None:
        self.statistics.refuse(error)
        self._publisher.refused(error)

    def _begin(self) -> None:
        raise NotImplementedError

    def _cycle(self) -> None:
        raise NotImplementedError

    def _fail(self) -> None:
        """Leave things safe after an exception."""


def _nothing() -> None:
    """Do nothing at the end of the thread."""


class Requests:
    """Actions that other threads ask a loop to carry out between two of its cycles."""

    def __init__(self, inbox: MessageInbox[object]) -> None:
        self._inbox = inbox
        self._waiting: SimpleQueue[_Request] = SimpleQueue()

    def ask(self, action: Callable[[], object], patience: float) -> bool:
        """
        Have the loop's thread do something; return whether it was done in `patience` [s].

        A SoftRobotError of the action is raised here, and is no end of the loop.
        """
        request = _Request(action)
        self._waiting.put(request)
        self._inbox.wake()
        done = request.done.wait(patience)
        if request.error is not None:
            raise request.error
        return done

    def __bool__(self) -> bool:
        return not self._waiting.empty()

    def carry_out(self) -> None:
        """Carry out the requests in their order; for the loop's thread."""
        while self:
            self._waiting.get().carry_out()


class _Request:
    """An action, whether it was done, and the error that it was refused with."""

    def __init__(self, action: Callable[[], object]) -> None:
        self._action, self.done = action, Event()
        self.error: SoftRobotError | None = None

    def carry_out(self) -> None:
        """Carry the action out, and keep the error that refuses it."""
        try:
            self._action()
        except SoftRobotError as error:
            self.error = error
        finally:
            self.done.set()
