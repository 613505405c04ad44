# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time of a tick of the control law, with the share of the next linearisation that each tick does.

    python benchmarks/tick.py                        all shipped robots
    python benchmarks/tick.py pcc_arm --ticks 5000

One process, one thread; the mean without the slowest 2 % (the machine's own), and quantiles. To
compare with another version, run both in turns, each in several new processes.
"""

import argparse
import gc
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.description.shipped import shipped

PERIOD, WARM = 1e-3, 500


def times(name, ticks):
    """Return the time of each tick [us] of a robot that stands near its initial posture."""
    model = sd.compile_model(sd.load_robot(name))
    q, qd = model.q0 + 1e-3, np.zeros(model.n)
    made = PartialFeedbackLinearization(model, period=PERIOD)
    made.start(q, qd, 0.0)
    found = np.empty(WARM + ticks)
    gc.disable()
    for k in range(len(found)):
        begin = time.perf_counter()
        made.compute(0.0, q, qd)
        found[k] = time.perf_counter() - begin
    gc.enable()
    return 1e6 * np.sort(found[WARM:])


def main():
    """Print a line for each robot."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', default=sorted(shipped('robots')))
    parser.add_argument('--ticks', type=int, default=3000)
    options = parser.parse_args()
    for name in options.robots:
        found = times(name, options.ticks)
        mean = found[: int(0.98 * len(found))].mean()
        p50, p99 = np.quantile(found, [0.5, 0.99])
        print(f'{name:20s} mean {mean:6.1f}  p50 {p50:6.1f}  p99 {p99:6.1f} us', flush=True)


if __name__ == '__main__':
    main()
