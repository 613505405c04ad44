# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Detect whether the machine stood still during a test, independently of what is tested.

A process of the highest priority on each processor asks to be woken every other millisecond. No
other process of the tests has a higher priority. If it woke late, then the machine itself was
suspended (a virtual machine whose host was busy), or it got no priority and other programs ran.
"""

import os
import subprocess
import sys
import time

PERIOD = 0.002  # [s]
TOO_LATE = 0.001  # [s]; on a machine that stands still for nobody it is a third of that at most


class Witness:
    """Processes that tell how late they woke, from the beginning of a context to its end."""

    late = 0.0  # [s] the longest, known at the end

    def __enter__(self):
        self._processes = [
            subprocess.Popen(
                [sys.executable, '-S', __file__, str(processor)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for processor in sorted(os.sched_getaffinity(0))
        ]
        return self

    def __exit__(self, *_):
        self.late = max(float(each.communicate(timeout=60)[0] or 0.0) for each in self._processes)


def watch(processor):
    """Wake up on a processor until the standard input ends; print the longest that it was late."""
    os.sched_setaffinity(0, {processor})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
    except OSError:
        pass  # then it sees other programs, too
    os.set_blocking(0, False)
    longest, due = 0.0, time.monotonic()
    while True:
        due += PERIOD
        time.sleep(max(0.0, due - time.monotonic()))
        late = time.monotonic() - due
        longest = max(longest, late)
        if late > PERIOD:
            due = time.monotonic()
        try:
            if not os.read(0, 1):
                break
        except BlockingIOError:
            pass
    print(longest)


if __name__ == '__main__':
    watch(int(sys.argv[1]))
