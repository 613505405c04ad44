# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Signals that end a demo: noted, ignored at its end, and raised as KeyboardInterrupt."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


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
        """Take no notice from now on."""
        for number in self._NUMBERS:
            signal.signal(number, signal.SIG_IGN)
