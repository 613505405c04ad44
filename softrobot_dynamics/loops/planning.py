# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Plan a reference in a process of its own, which can be ended at any moment.

Planning is Python for a second or more; in the node's own process it would hold up the loop's
thread again and again. The other process has ordinary priority and finds all kernels compiled. It
ends with the node, however that ends: it watches the pipe that its task came through.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from typing import Any, BinaryIO, cast, IO

from softrobot_dynamics.compiling.processes import ErrorOutput, python_command, python_environment
from softrobot_dynamics.errors import CancelledError, shortened, SoftRobotError
from softrobot_dynamics.loops.realtime import on_all_processors


class Job:
    """A call made in another process, by one thread; any thread may cancel it, also beforehand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held for moments only: to cancel never waits
        self._over = threading.Event()  # answered or cancelled
        self._process: PlanningProcess | None = None
        self._answer = b''
        self.cancelled_by = ''  # in words, once it is

    def cancel(self, by: str) -> None:
        """End it; `run` and `check` raise CancelledError from now on, with the first `by`."""
        with self._lock:
            self.cancelled_by = self.cancelled_by or by
            if self._process is not None:
                self._process.kill()
            self._over.set()

    def check(self) -> None:
        """Raise CancelledError if somebody has cancelled it."""
        if self.cancelled_by:
            raise CancelledError('planning', self.cancelled_by)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """
        Return ``function(*arguments)``; all three can be pickled, the function by its module.

        Raises the SoftRobotError that the function raises, CancelledError, or SoftRobotError if
        the process ends otherwise. Returns at once when cancelled: a process that has been killed
        takes its time to give its memory back.
        """
        self.check()
        task = pickle.dumps((function, arguments))
        process = start_planning_process(__name__)
        with self._lock:
            self._process = process
            if self.cancelled_by:
                process.kill()
        threading.Thread(target=self._exchange, args=[process, task], daemon=True).start()
        self._over.wait()
        self.check()
        if process.returncode != 0:
            raise SoftRobotError(f'the planning process ended with {process.reason()}')
        result = pickle.loads(self._answer)
        if isinstance(result, SoftRobotError):
            raise result
        return result

    def _exchange(self, process: PlanningProcess, task: bytes) -> None:
        """Send a task and keep the answer, b'' if there is none, until the process has ended."""
        try:
            with process:
                with contextlib.suppress(BrokenPipeError):  # killed: its status says so
                    process.say(task)
                self._answer = process.answers.read()
                process.wait()  # before its task's pipe is closed, which would end it
        finally:  # whatever became of it, `run` must not wait for ever
            self._over.set()


class PlanningProcess(subprocess.Popen[bytes]):
    """A process beside the node, whose standard error is forwarded to that of the node."""

    def __init__(self, command: list[str], **options: Any) -> None:
        pipe = subprocess.PIPE
        super().__init__(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, **options)
        self._log = ErrorOutput(self.stderr)

    @property
    def answers(self) -> IO[bytes]:
        """Its standard output."""
        return cast(IO[bytes], self.stdout)  # a pipe

    def say(self, task: bytes) -> None:
        """Write all of a task to its standard input."""
        rest, pipe = memoryview(task), cast(IO[bytes], self.stdin)
        while rest:
            rest = rest[pipe.write(rest) :]

    def reason(self) -> str:
        """Return the status that it has ended with and the last that it said, if anything."""
        log = self._log.text()
        return f'{self.returncode}: {shortened(log)}' if log else f'{self.returncode}'


def start_planning_process(module: str) -> PlanningProcess:
    """
    Start a module's `main` as a process at ordinary priority, on any processor.

    Until the new process runs a program of its own it keeps us waiting, with the lock of the
    interpreter in our hands. So it starts at our real-time priority, and gives it up by itself:
    lowered any earlier, on a busy machine it would hold up the loop's thread. A Ctrl-C, which the
    terminal sends to it too, is for the node alone.
    """
    lower = shutil.which('chrt')
    command = [*([lower, '--other', '0'] if lower else []), *python_command(f'{module}:main')]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with on_all_processors():
            return PlanningProcess(
                command,
                env=python_environment(),
                close_fds=False,  # or Python would fork, with all its memory
            )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(pipe: int) -> None:
    """End this process when the other end of a pipe is closed, by whatever happened there."""
    os.read(pipe, 1)
    os._exit(1)  # at once: the main thread computes


def binary_stdout() -> BinaryIO:
    """Return standard output as a binary file, for answers; print goes to the standard error."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), 'wb')
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


def main() -> None:
    """Read a task from standard input and write its result, or our error, to standard output."""
    output = binary_stdout()
    function, arguments = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with, args=[sys.stdin.fileno()], daemon=True).start()
    try:
        result = function(*arguments)
    except SoftRobotError as error:
        result = error
    with output:
        output.write(pickle.dumps(result))
