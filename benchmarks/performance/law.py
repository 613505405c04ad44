# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time per tick of the response to a held command in a control law."""

import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import run_three
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.controllers.sampled_data.command import HeldCommand, LINEARISING
from softrobot_dynamics.controllers.sampled_data.linearisation_schedule import CYCLE_SHARES
from softrobot_dynamics.dynamics.derivatives import Differentiator
from timing import in_turns, python_loop, spread

TITLE = 'The response to a held command'
PACKAGES = ()

ROBOTS = 'pcc_arm', 'pneumatic_arm', 'hybrid_arm', 'ur10e', 'trimmed_helicoid'
AIMS = {'pcc_arm': 60e-6, 'trimmed_helicoid': 600e-6}  # [s], of a response
PERIOD = 1e-3  # [s]
REACH = 0.02  # [rad, m, ...] from the initial posture
NEVER = 1 << 60  # ticks
CYCLES = 200  # in which ticks are timed one by one

_WORDS = """
A law needs the effect of a held command on the velocities at the end of a period
(`controllers/sampled_data/`).

* *response*: M, D and K at the present state, and the answer of that linear robot for the period;
* *longest*: the longest of its {cycle} shares, one in a tick, which most of a tick's spread comes
  of;
* *following*: extrapolation of the last two responses, in every tick;
* *tick*: a tick of `pfbl` on average, with all of that, from Python;
* *forward*: all derivatives of the acceleration at once, by `Differentiator.forward`.
"""
_BOUND = """
Derivatives are computed body by body, one in a tick. That and a few rows of matrices are the
longest share.
"""


@kernel
def go_on(held, q, qd, u, ticks):
    """Bring a response on by some ticks while the robot is at one state."""
    for _ in range(ticks):
        run_three(held, q, qd, u)


def measure(folder):
    """Return {robot: {call: seconds}}."""
    return {name: _times(sd.compile_model(sd.load_robot(name))) for name in ROBOTS}


def _times(model):
    q, qd = np.random.default_rng(1).uniform(-REACH, REACH, (2, model.n))
    q += model.q0
    u = np.clip(np.ones(model.m), model.lower, model.upper)
    working, resting = HeldCommand(model, PERIOD), HeldCommand(model, PERIOD)
    for held in (working, resting):
        held.begin(q, qd, u)
    resting.clock[LINEARISING] = NEVER  # the next linearisation
    law = PartialFeedbackLinearization(model, period=PERIOD)
    law.start(q, qd, 0.0)
    program, forward = cached(go_on), Differentiator(model).forward
    found = in_turns({
        'working': (lambda cycles: program(working.entry, q, qd, u, cycles * CYCLE_SHARES), 1),
        'resting': (lambda cycles: program(resting.entry, q, qd, u, cycles * CYCLE_SHARES), 1),
        'tick': python_loop(law.compute, 0.0, q, qd),
        'forward': python_loop(forward, q, qd, u),
    })  # fmt: skip
    # as was meant
    assert resting.clock[LINEARISING] == NEVER > working.clock[LINEARISING] > CYCLE_SHARES
    longest = _longest(working, q, qd, u) - _longest(resting, q, qd, u)
    return {
        'longest': longest,
        'response': found['working'] - found['resting'],
        'following': found['resting'] / CYCLE_SHARES,
        'tick': found['tick'],
        'forward': found['forward'],
    }


def _longest(held, q, qd, u):
    """Return the time [s] of the longest of the ticks of a cycle, each the median of many."""
    times = np.empty((CYCLES, CYCLE_SHARES))
    for row in times:
        for k in range(CYCLE_SHARES):
            start = time.perf_counter()
            held.advance(q, qd, u)
            row[k] = time.perf_counter() - start
    return float(np.median(times, axis=0).max())


def report(page, runs):
    """Write the section."""
    page.text(_WORDS.format(cycle=CYCLE_SHARES))
    calls = 'response', 'longest', 'following', 'tick', 'forward'
    rows = [
        [f'`{name}`'] + [spread(runs, name, call).text(1e-6) for call in calls] for name in ROBOTS
    ]
    page.table(['', *(f'{call} [µs]' for call in calls)], rows)
    page.text(_BOUND)
    for name, aim in AIMS.items():
        found = spread(runs, name, 'response')
        page.target(
            f'response to a held command, {name}',
            f'at most {aim * 1e6:g} µs',
            f'{found.text(1e-6)} µs',
            found.median <= aim,
        )
