# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time per tick of validating a state and limiting a command, for the shipped robots.

    python benchmarks/state_validation.py [robot ...]
"""

import argparse
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.limiting import Limiter
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.loops.state_validation import bounds_of, StateValidator

TICKS, ROUNDS, PERIOD = 5000, 7, 1_000_000


def microseconds(tick):
    """Return the least mean time of a tick among several rounds [us]."""
    best = float('inf')
    for turn in range(ROUNDS):
        begin = time.perf_counter()
        for k in range(turn * TICKS + 1, (turn + 1) * TICKS + 1):
            tick(k)
        best = min(best, time.perf_counter() - begin)
    return best / TICKS * 1e6


def main(robots):
    """Print a line for each robot."""
    print(f'{"robot":20} {"n":>3} {"m":>3} {"judge [us]":>11} {"limiter [us]":>13}')
    for robot in robots:
        model = sd.compile_model(sd.load_robot(robot))
        validator, limiter = StateValidator(bounds_of(model)), Limiter(model.lower, model.upper)
        q, qd, u = model.q0, np.zeros(model.n), np.zeros(model.m)
        judged = microseconds(
            lambda k, validator=validator, q=q, qd=qd: validator.check(
                q, qd, k * PERIOD, k * PERIOD
            )
        )
        limited = microseconds(
            lambda k, limiter=limiter, u=u, rate=model.rate_limit: limiter.apply(u, rate, 1e-3)
        )
        print(f'{robot:20} {model.n:3} {model.m:3} {judged:11.2f} {limited:13.2f}')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.strip().partition('\n')[0])
    parser.add_argument('robots', nargs='*', default=sorted(shipped('robots')), metavar='ROBOT')
    main(parser.parse_args().robots)
