# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Overhead of a call from Python, and the time of the slowest of many calls."""

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
from page import FAINT, OURS, PEER
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import FULL
from timing import in_turns, python_loop, spread

TITLE = 'Calls from Python'
PACKAGES = ()

ROBOTS = 'pcc_arm', 'ur10e'
CALLS = 100_000  # of which the slowest are looked at
SHARES = np.logspace(0.0, -np.log10(CALLS), 101)  # of calls that take longer
SHOWN = {  # share of the calls that take longer
    'p50': 0.5, 'p99': 0.01, 'p99.9': 0.001, 'longest': 1.0 / CALLS
}  # fmt: skip
CALLED = (  # a call, the same work in a loop, what the call may take beyond it [s]
    ('terms, program', 'terms in a loop', 1e-6),
    ('terms, evaluator', 'terms in a loop', 1e-6),
    ('ID, program', 'ID in a loop', None),
    ('ID, checked', 'ID in a loop', 1e-5),
)
_WORDS = """
The same work in a compiled loop and called from Python: *program*, the compiled function with its
robot and results given once; *evaluator*, what controllers and the simulator call; *checked*, the
public function, which checks shapes and numbers and allocates the result.
"""
_CAPTION = 'Latency of one call: share of calls beyond a time; medians and ranges.'
HOG = 'print(flush=True)\nwhile True:\n    pass\n'


def measure(folder):
    """Return {'calls': {robot: {call: seconds}}, 'latencies': {machine: seconds by SHARES}}."""
    calls = {name: _calls(sd.compile_model(sd.load_robot(name))) for name in ROBOTS}
    model = sd.compile_model(sd.load_robot(ROBOTS[0]))
    latencies = {'at rest': _latencies(model)}
    with _busy_processors():
        latencies['busy'] = _latencies(model)
    return {'calls': calls, 'latencies': latencies}


def _calls(model):
    """Seconds of an evaluation of all terms, and of ID: in a compiled loop, and called."""
    q, qd, qdd = np.random.default_rng(1).uniform(-0.3, 0.3, (3, model.n))
    robot, Q, M = model.robot(), np.empty(model.n), np.empty((model.n, model.n))
    evaluator, other, state = model.evaluator(), model.evaluator(), {'q': q, 'qd': qd, 'qdd': qdd}
    evaluate = cached(run, entry=evaluator.entry)
    recursion = cached(inverse_dynamics, robot=robot, Q=Q, M=M)
    evaluations, recursions = cached(repeat_terms), cached(repeat_recursion)
    recursion(FULL, False, q, qd, qdd)
    evaluations(other.entry, q, qd, 1)
    assert np.array_equal(sd.inverse_dynamics(model, **state), Q)
    assert np.array_equal(evaluator(q, qd).h, other.terms.h)

    def terms_in_loop(repeats):
        evaluations(evaluator.entry, q, qd, repeats)

    def recursion_in_loop(repeats):
        recursions(robot, FULL, Q, M, q, qd, qdd, repeats)

    return in_turns(
        {
            'terms in a loop': (terms_in_loop, 1),
            'terms, program': python_loop(evaluate, q, qd),
            'terms, evaluator': python_loop(evaluator, q, qd),
            'ID in a loop': (recursion_in_loop, 1),
            'ID, program': python_loop(recursion, FULL, False, q, qd, qdd),
            'ID, checked': python_loop(lambda: sd.inverse_dynamics(model, **state)),
        }
    )


@kernel
def repeat_terms(evaluate, q, qd, repeats):
    """All terms at one state, many times."""
    for _ in range(repeats):
        run(evaluate, q, qd)


@kernel
def repeat_recursion(robot, mode, Q, M, q, qd, qdd, repeats):
    """ID of one state, many times."""
    for _ in range(repeats):
        inverse_dynamics(robot, mode, False, Q, M, q, qd, qdd)


def _latencies(model):
    """Seconds that the evaluator's calls take: what each of the SHARES of them exceeds."""
    evaluator, now = model.evaluator(), time.perf_counter_ns
    q, qd = np.random.default_rng(1).uniform(-0.3, 0.3, (2, model.n))
    times = np.empty(CALLS, dtype=np.int64)
    for _ in range(1000):
        evaluator(q, qd)
    for i in range(CALLS):
        start = now()
        evaluator(q, qd)
        times[i] = now() - start
    return np.quantile(times * 1e-9, 1.0 - SHARES, method='higher').tolist()


@contextlib.contextmanager
def _busy_processors():
    """Within this context a process per processor is at work."""
    hogs = [
        subprocess.Popen([sys.executable, '-c', HOG], stdout=subprocess.PIPE)
        for _ in range(os.cpu_count())
    ]
    try:
        for hog in hogs:
            hog.stdout.readline()  # it runs
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.communicate()


def report(page, runs):
    """Write the section: overheads, then latencies."""
    page.text(_WORDS)
    rows = []
    for robot in ROBOTS:
        for call, loop, aim in CALLED:
            found = _overhead(runs, robot, call, loop)
            times = [spread(runs, 'calls', robot, key).text(1e-6) for key in (loop, call)]
            rows.append([f'{robot}, {call}', *times, found.text(1e-6)])
            if aim:
                name = f'{robot}, {call}: a call beyond its work'
                wanted = f'at most {aim * 1e6:g} µs'
                page.target(name, wanted, f'{found.text(1e-6)} µs', found.median <= aim)
    page.table(['', 'work in a loop [µs]', 'called from Python [µs]', 'overhead [µs]'], rows)
    page.text(
        f'How long {CALLS} calls of the evaluator of {ROBOTS[0]} take, each timed by itself, '
        'without priority; busy: with one more busy process per processor.'
    )
    rows = [
        [machine, *(_latency(runs, machine, share).text(1e-6, '.4g') for share in SHOWN.values())]
        for machine in runs[0]['latencies']
    ]
    page.table(['time of a call [µs]', *SHOWN], rows)
    page.figure('calls', lambda axis: _draw(axis, runs), _CAPTION)


def _overhead(runs, robot, call, loop):
    """Time [s] of a call beyond that in a loop, as a Spread."""
    return spread([{'s': r['calls'][robot][call] - r['calls'][robot][loop]} for r in runs], 's')


def _latency(runs, machine, share):
    """Time [s] that a share of the calls exceeds, as a Spread."""
    return spread(runs, 'latencies', machine, int(np.abs(np.log(SHARES / share)).argmin()))


def _draw(axis, runs):
    for machine, color in (('at rest', OURS), ('busy', PEER)):
        times = 1e6 * np.array([run['latencies'][machine] for run in runs])
        axis.fill_betweenx(SHARES, times.min(0), times.max(0), color=color, alpha=0.2, lw=0)
        axis.plot(np.median(times, axis=0), SHARES, color=color, label=machine)
    axis.axhline(SHOWN['p99.9'], ls=':', color=FAINT)
    axis.set(xscale='log', yscale='log', xlabel='time of a call [µs]')
    axis.set_ylabel('share of calls that take longer')
    axis.legend()
