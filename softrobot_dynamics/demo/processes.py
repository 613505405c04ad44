# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The nodes of a demo as processes: started, watched, ended in order; signals that end it."""

from __future__ import annotations

from collections.abc import Sequence
import ctypes
from dataclasses import dataclass
import os
from pathlib import Path
import signal
import subprocess
import sys
from types import FrameType
from typing import Any

from softrobot_dynamics.compiling.processes import python_command, python_environment
from softrobot_dynamics.errors import SoftRobotError

_QUOTED_LOG_LINES = 12
_STOP_TIMEOUTS = ((signal.SIGINT, 8.0), (signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0))  # [s]
_PR_SET_PDEATHSIG = 1


@dataclass(eq=False)
class ProcessDiedError(SoftRobotError):
    """A node ended by itself."""

    name: str
    status: int  # as of subprocess: minus the signal's number, if it was one
    log: str  # the end of what it wrote

    def __str__(self) -> str:
        how = f'signal {-self.status}' if self.status < 0 else f'exit status {self.status}'
        return f'the {self.name} process ended by itself ({how}); the end of its log:\n{self.log}'


class Child:
    """A module of this package as a child process, which writes its log to a file."""

    def __init__(self, module: str, arguments: Sequence[str], log: Path) -> None:
        self.name, self._log = module.rpartition('.')[2], log
        command = python_command(f'softrobot_dynamics.{module}:main', *arguments)
        with open(log, 'wb') as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env=python_environment(),
                start_new_session=True,  # Ctrl-C is for the parent, which ends the demo in order
                preexec_fn=_end_with_parent if sys.platform == 'linux' else None,
            )

    def check(self) -> None:
        """Raise ProcessDiedError if the process has ended."""
        status = self._process.poll()
        if status is not None:
            raise ProcessDiedError(self.name, status, self.log_end())

    def log_end(self) -> Any:
        """Return the last lines that it wrote."""
        text = self._log.read_text(encoding='utf-8', errors='replace').strip()
        return (
            '\n'.join(f'  {line}' for line in text.splitlines()[-_QUOTED_LOG_LINES:])
            or '  (empty)'
        )

    def end(self) -> bool:
        """Ask the process to end, ever more firmly; return whether the first word was enough."""
        for number, patience in _STOP_TIMEOUTS:
            if self._process.poll() is None:
                self._process.send_signal(number)
            try:
                self._process.wait(patience)
                return number == signal.SIGINT
            except subprocess.TimeoutExpired:
                continue
        return False


def keep_to_this_machine(folder: Path) -> None:
    """
    Choose a ROS domain of our own, unless the user has set one, and a folder for ROS's logs.

    In the environment, for this process and its children.
    """
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if os.environ.get('ROS_DISTRO') == 'humble':  # which does not know the variable above
        os.environ.setdefault('ROS_LOCALHOST_ONLY', '1')
    os.environ['ROS_LOG_DIR'] = str(folder / 'ros_log')


_prctl = getattr(ctypes.CDLL(None), 'prctl', None) if sys.platform == 'linux' else None


def _end_with_parent() -> None:
    """Have the kernel end a child whose parent was killed: it would run at 1 kHz for ever."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Signals:
    """
    Turns the signals that end a program into KeyboardInterrupt.

    One that comes while a message is being converted gets lost there: `check` raises it again.
    """

    _NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __enter__(self) -> Signals:
        self._noted = False
        self._before = {number: signal.signal(number, self._note) for number in self._NUMBERS}
        return self

    def __exit__(self, *error: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = True
        raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""
        if self._noted:
            raise KeyboardInterrupt

    def ignore(self) -> None:
        """Ignore further signals."""
        for number in self._NUMBERS:
            signal.signal(number, signal.SIG_IGN)
