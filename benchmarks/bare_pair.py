# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Round trip of a machine without ROS: two processes that compute and send datagrams.

As in the nodes, a thread of each process receives and wakes the one that computes; but there is no
DDS, no robot and no law. One process sends every millisecond and computes before; the other one
answers after having computed as long. A tick is missed if no answer came before the next one.

    python benchmarks/bare_pair.py                          # FIFO
    python benchmarks/bare_pair.py --priority 0 --hogs 2    # without, beside busy processes
"""

import argparse
import contextlib
import multiprocessing
import os
import socket
import threading
import time

from closed_loop import hogs, PERIOD
import numpy as np
from softrobot_dynamics.loops.realtime import (
    keep_awake,
    now,
    PRIORITY,
    request_priority,
    sleep_until,
    two_processors,
)

FORKS = multiprocessing.get_context('fork')
BYTES = 8  # of a datagram: the number of its tick


def compute(duration):
    """Use the processor for so long [ns], time on other threads not counted."""
    start = time.thread_time_ns()
    while time.thread_time_ns() - start < duration:
        pass


class Inbox:
    """Datagrams of a socket, received by a thread of its own, which wakes who waits for them."""

    def __init__(self, own):
        self._own, (self._read, self._write) = own, os.pipe()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self):
        while True:
            os.write(self._write, self._own.recv(BYTES))

    def wait(self):
        """Return the next number, waiting for it."""
        return int.from_bytes(os.read(self._read, BYTES), 'little')

    def newest(self):
        """Return the last number that has come, None if none is there."""
        os.set_blocking(self._read, False)
        with contextlib.suppress(BlockingIOError):
            return int.from_bytes(os.read(self._read, 1000 * BYTES)[-BYTES:], 'little')


def answer(own, other, duration, priority, processor=None):
    """Answer each number by itself, once it has computed."""
    request_priority(priority, processor)
    inbox = Inbox(own)
    while True:
        number = inbox.wait()
        compute(duration)
        own.sendto(number.to_bytes(BYTES, 'little'), other)


def missed(own, other, duration, ticks):
    """Return the share of ticks whose number has not come back before the next one."""
    inbox, count, deadline = Inbox(own), 0, now() + PERIOD
    for i in range(ticks):
        sleep_until(deadline)
        woken = now()
        count += i > 0 and inbox.newest() != i - 1
        compute(duration)
        own.sendto(i.to_bytes(BYTES, 'little'), other)
        deadline = (woken if woken - deadline > PERIOD else deadline) + PERIOD
    return count / ticks


def main():
    """Print the share of missed ticks by how long the two compute, run by run."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--duration', type=float, default=10.0, help='of one run [s]')
    parser.add_argument('--compute', type=int, nargs='+', default=[0, 100, 150, 200], help='[us]')
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    parser.add_argument('--hogs', type=int, default=0, help='busy processes beside the pair')
    parser.add_argument('--spread', action='store_true', help='each keeps to a processor')
    options = parser.parse_args()
    found = {each: [] for each in options.compute}
    with hogs(options.hogs):
        for _ in range(options.runs):
            for each, shares in found.items():
                shares.append(run(each * 1000, options))
    print(f'{options.hogs} hogs, priority {options.priority}; missed, median (range):')
    for each, shares in found.items():
        median, low, high = (100 * f(shares) for f in (np.median, min, max))
        print(f'computing {each} us each: {median:.3f} % ({low:.3f}-{high:.3f})')


def run(duration, options):
    """Return the share of ticks that a new pair misses, each computing for a duration [ns]."""
    first, second = two_processors() if options.spread else (None, None)
    own, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for each in (own, other):
        each.bind(('127.0.0.1', 0))
    arguments = other, own.getsockname(), duration, options.priority, second
    partner = FORKS.Process(target=answer, args=arguments)
    partner.start()
    try:
        ticks = round(options.duration * 1e9) // PERIOD
        with FORKS.Pool(1) as pool:  # a new process: priority cannot be given back
            arguments = own, other.getsockname(), duration, ticks, options.priority, first
            return pool.apply(_measure, arguments)
    finally:
        partner.kill()
        partner.join()


def _measure(own, other, duration, ticks, priority, processor):
    request_priority(priority, processor)
    if priority:
        keep_awake()
    return missed(own, other, duration, ticks)


if __name__ == '__main__':
    main()
