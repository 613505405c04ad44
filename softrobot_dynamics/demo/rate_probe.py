# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure how many ticks of a bare loop are in time at some rates; needs the standard library only.

Processes stand in a ring, as simulation, estimator and controller do, and pass datagrams on. The
first one sends a number at every deadline and, once it has come back, computes its step; the
others compute before they pass it on. As in the nodes, a thread of each receives and wakes the one
that computes, at the nodes' priority. No DDS, robot or law is involved: how long each computes is
told. The file is run by its path, as importing the package takes longer than measuring.
"""

from collections.abc import Callable, Mapping
import functools
from importlib.util import module_from_spec, spec_from_file_location
import json
import os
import select
import socket
import sys
import threading
import time
from types import ModuleType
from typing import Any, TypeAlias

Send: TypeAlias = Callable[[int], None]

DATAGRAM_BYTES = 8  # the number of a tick
DEADLINE_FRACTION = 0.8  # of a period, in which all of a tick shall be done: the rest is margin
SECOND = 1_000_000_000  # [ns]; nothing of the package can be imported here
RELAY_TIMEOUT = 20.0  # [s] after which a process that passes numbers on ends by itself
_MAX_READ = 1000  # numbers that are read at once; the newest counts
_START_PERIOD = 0.02  # [s] from one number to the next while the other processes start
_EARLY_DIVISOR = 4  # a measurement whose result is certain ends after this part of it


def main(given: str) -> None:
    """Take one place of a ring of processes, as `rates.py` describes it by `given`, as JSON."""
    settings: Any = json.loads(given)
    spec = spec_from_file_location('realtime', settings['realtime'])
    realtime = module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(realtime)  # type: ignore[union-attr]
    sys.setswitchinterval(realtime.SWITCH_INTERVAL)
    if realtime.request_priority(realtime.PRIORITY, settings['processor']) is None:
        realtime.keep_awake()
    own = socket.socket(fileno=settings['socket'])
    inbox = Inbox(own)
    send = functools.partial(_send, own, ('127.0.0.1', settings['next']))
    if settings['rates']:
        ask(realtime, send, inbox, settings)
    else:
        pass_on(send, inbox, settings['work'])


class Inbox:
    """Numbers of a socket, received by a thread of its own, which wakes who waits for them."""

    def __init__(self, own: socket.socket) -> None:
        self._own, (self._read, self._write) = own, os.pipe()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        while True:
            os.write(self._write, self._own.recv(DATAGRAM_BYTES))

    def wait(self, timeout: float) -> int | None:
        """Return the newest number, None if none comes within a time [s]."""
        if not select.select([self._read], [], [], max(0.0, timeout))[0]:
            return None
        return int.from_bytes(
            os.read(self._read, _MAX_READ * DATAGRAM_BYTES)[-DATAGRAM_BYTES:], 'little'
        )


def _send(own: socket.socket, place: tuple[str, int], number: int) -> None:
    """Send a number to the next process of the ring."""
    own.sendto(number.to_bytes(DATAGRAM_BYTES, 'little'), place)


def compute(duration: int) -> None:
    """Use the processor for so long [ns], time on other threads not counted."""
    start = time.thread_time_ns()
    while time.thread_time_ns() - start < duration:
        pass


def pass_on(send: Send, inbox: Inbox, work: int) -> None:
    """Compute for each number, then pass it on, until none comes any more."""
    while (number := inbox.wait(RELAY_TIMEOUT)) is not None:
        compute(work)
        send(number)


def ask(realtime: ModuleType, send: Send, inbox: Inbox, told: Mapping[str, Any]) -> None:
    """
    Print, as JSON, the share of ticks that were late at each rate, until few enough are.

    Of `told`: `rates` [Hz], falling, `seconds` of each, `ticks` at least, `late` share that is
    few enough.
    """
    shares: dict[float, float] = {}
    number = 0
    for rate in told['rates']:
        ticks = max(told['ticks'], round(told['seconds'] * rate))
        number = _awaken(send, inbox, number)
        loop = realtime, send, inbox, round(SECOND / rate), told['work']
        number, shares[rate] = _late(loop, number, ticks, told['late'])
        if shares[rate] <= told['late']:
            break
    print(json.dumps(list(shares.items())), flush=True)


def _awaken(send: Send, inbox: Inbox, number: int) -> int:
    """Send numbers until the others have passed one on; return one that none has had."""
    first = number
    while True:
        send(number)
        number += 1
        answer = inbox.wait(_START_PERIOD)
        if answer is not None and answer >= first:
            return number


def _late(
    loop: tuple[ModuleType, Send, Inbox, int, int], number: int, ticks: int, enough: float
) -> tuple[int, float]:
    """
    Return the next number, and the share of ticks that were not done in time.

    It ends early where there are more than a share that is `enough`, whatever the others do.
    """
    realtime, send, inbox, period, work = loop
    late, done, deadline = 0, 0, realtime.now() + period
    while done < ticks and not (late > enough * ticks and done >= ticks / _EARLY_DIVISOR):
        realtime.sleep_until(deadline)
        woken, limit = realtime.now(), deadline + round(DEADLINE_FRACTION * period)
        send(number)
        answer: int | None = -1
        while answer is not None and answer < number:
            answer = inbox.wait((deadline + period - realtime.now()) / SECOND)
        compute(work)
        late += answer is None or realtime.now() > limit
        deadline = (woken if woken - deadline > period else deadline) + period
        number, done = number + 1, done + 1
    return number, late / done


if __name__ == '__main__':
    main(sys.argv[1])
