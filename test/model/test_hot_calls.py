# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Calls at control rate: buffer placement, no allocation, no GIL, own workspaces."""

import platform
import re
import sys
import threading
import time
from types import SimpleNamespace

from numba import float64, njit
from numba.core.runtime import _nrt_python, rtsys
import numpy as np
import pytest
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel, OPTIONS
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.controllers.sampled_data.linearisation_schedule import CYCLE_SHARES
from softrobot_dynamics.model.evaluation import Evaluator
from support.robots import compiled, states

ROBOT = 'pcc_arm'  # its bodies are traced formulas over blocks of points
APART = 8192  # numbers: 64 KiB
RATIO = 1.3  # of times by where buffers lie; scalar code takes at least twice as long
ATTEMPTS = 5  # on a machine that is busy otherwise


@kernel
def repeat(evaluate, q, qd, repeats):
    """All terms at one state, many times."""
    for _ in range(repeats):
        run(evaluate, q, qd)


@pytest.fixture(scope='module')
def loop():
    """Return a function that evaluates the terms of ROBOT many times within compiled code."""
    program, own = cached(repeat), compiled(ROBOT).evaluator()
    ((q, qd, _),) = states(compiled(ROBOT), 1)

    def evaluations(repeats, evaluator=own):
        program(evaluator.entry, q, qd, repeats)

    evaluations(1)
    return evaluations


def placed(robot, order, gap):
    """Return an evaluator with arrays P, W, S in this order in one buffer, with gaps."""
    arrays = [getattr(robot, name) for name in order]
    sizes = [-(-array.size // 8) * 8 + gap for array in arrays]  # whole cache lines
    buffer, starts = np.zeros(sum(sizes)), np.cumsum([0, *sizes])
    views = [buffer[start:][: array.size] for start, array in zip(starts, arrays)]
    for view, array in zip(views, arrays):
        view[:] = array
    robot, model = robot._replace(**dict(zip(order, views))), compiled(ROBOT)
    return Evaluator(SimpleNamespace(n=model.n, m=model.m, robot=lambda: robot))


@pytest.mark.quick
@pytest.mark.parametrize('order', ['PWS', 'PSW', 'SPW', 'WPS'])
def test_neighbouring_buffers_do_not_switch_vector_code_off(loop, order):
    """
    Terms take the same time with adjacent buffers as with distant ones.

    A check for overlapping arrays that covers too much makes scalar code of loops over points,
    depending on where the allocator happens to put them.
    """
    robot = compiled(ROBOT).robot()
    near, far = placed(robot, order, 0), placed(robot, order, APART)
    ratios = []
    for _ in range(ATTEMPTS):
        shortest = fastest(loop, near, far)
        ratios.append(shortest[0] / shortest[1])
        if ratios[-1] < RATIO:
            return
    pytest.fail(f'side by side {ratios} times as long as apart')


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='reads instructions of x86-64')
def test_loops_over_points_are_vector_code():
    """The kernel that a formula becomes multiplies several points at a time."""
    kernel = compiled(ROBOT).description.modules[0].body.kernel()
    terms = njit(**OPTIONS)(getattr(sys.modules[kernel.module], kernel.function).py_func)
    terms.compile((float64[::1],) * 6)
    (code,) = terms.inspect_asm().values()
    functions = [part for part in re.split(r'\n(?=_ZN)', code) if kernel.module in part[:200]]
    own = [part for part in functions if not part.startswith('_ZN7cpython')]
    assert own and all(re.search(r'\bv?(mul|fn?m(add|sub)\w*)pd\b', part) for part in own)


def fastest(loop, *evaluators, rounds=30, repeats=100):
    """Shortest times [s] of some evaluations by each of the evaluators, in turns."""
    times = np.empty((rounds, len(evaluators)))
    for row in times:
        for i, evaluator in enumerate(evaluators):
            start = time.perf_counter()
            loop(repeats, evaluator)
            row[i] = time.perf_counter() - start
    return times.min(axis=0)


@pytest.fixture
def allocations():
    """Return a function that counts what a call allocates and frees in compiled code."""

    def count(function, *arguments):
        before = rtsys.get_allocation_stats()
        function(*arguments)
        return np.subtract(rtsys.get_allocation_stats(), before)

    _nrt_python.memsys_enable_stats()
    allocate(1)
    assert count(allocate, 1).any()  # they are counted
    yield count
    _nrt_python.memsys_disable_stats()


@njit
def allocate(size):
    """Return a new array."""
    return np.empty(size)


@njit(**OPTIONS)
def ignore(*arguments):
    """Do nothing with arguments: what this allocates is what passing them takes."""


@pytest.mark.quick
def test_evaluations_allocate_nothing(loop, allocations):
    """A thousand evaluations within compiled code allocate no more than one."""
    assert np.array_equal(allocations(loop, 1000), allocations(loop, 1))


@pytest.mark.quick
def test_a_controller_allocates_nothing(allocations):
    """A tick runs one program that allocates no more than passing its arguments takes."""
    model = compiled(ROBOT)
    controller = PartialFeedbackLinearization(model, period=1e-3)
    controller.warm()
    ((q, qd, _),) = states(model, 1, size=0.1)
    controller.start(q, qd, 0.0)
    controller.compute(0.0, q, qd)  # takes up the plan
    ran = []
    controller._tick = recorded(controller._tick, ran)
    controller._held._advance = recorded(controller._held._advance, ran)
    found = sum(allocations(controller.compute, k * 1e-3, q, qd) for k in range(2 * CYCLE_SHARES))
    assert len(ran) == 2 * CYCLE_SHARES
    for arguments in ran:
        ignore(*arguments)
    assert np.array_equal(found, sum(allocations(ignore, *arguments) for arguments in ran))


def recorded(program, ran):
    """Return a program that notes the arguments it is run with."""

    def run(*arguments):
        ran.append(arguments)
        return program(*arguments)

    return run


@pytest.fixture
def without_priority():
    """Within this test a thread keeps the GIL until it gives it back by itself."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100.0)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.quick
def test_the_gil_is_released(loop, without_priority):
    """Another Python thread runs while compiled code runs."""
    ticks, end = [], threading.Event()

    def tick():
        while not end.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        meanwhile = [within(ticks, loop) for _ in range(ATTEMPTS)]
    finally:
        end.set()
        thread.join()
    assert max(meanwhile) >= 3


def within(ticks, loop, least=0.1):
    """Count ticks while compiled code runs for some time [s]."""
    repeats, passed = 1000, 0.0
    while passed < least:
        start = time.perf_counter()
        loop(repeats)
        end = time.perf_counter()
        passed, repeats = end - start, 4 * repeats
    return sum(start < tick < end for tick in ticks)


@pytest.mark.quick
@pytest.mark.parametrize('made', ['robot', 'evaluator'])
def test_buffers_are_not_shared(made):
    """Each robot and each evaluator has its own workspace, scratch and results."""
    first, second = (written(getattr(compiled(ROBOT), made)()) for _ in range(2))
    assert not any(np.shares_memory(a, b) for a in first for b in second)


def written(made):
    """Arrays that evaluations write to."""
    robot, terms = (made, ()) if hasattr(made, 'W') else (made.robot, made.terms)
    return [robot.W, robot.S, *terms]
