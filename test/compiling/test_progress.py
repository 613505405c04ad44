# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Reports of how far a compilation is."""

import functools
import math
import textwrap

import pytest
from softrobot_dynamics.compiling import parallel, progress
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.progress import CompilationProgress, reporting

SOURCE = textwrap.dedent("""
    from softrobot_dynamics.compiling.jit import kernel
    @kernel
    def raised(x, y):
        y[0] = {} + x[0]
""")


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose one entry is the time [s]."""
    now = [0.0]
    monkeypatch.setattr(progress.time, 'monotonic', lambda: now[0])
    monkeypatch.setattr(progress, '_PACE', progress._CompilationPace())
    monkeypatch.setattr(progress, '_START_COST', 0.0)
    return now


def build(number):
    """Return the address of a kernel that is compiled for each number."""
    module = load_module(SOURCE.format(number), 'raised')
    return address(module.__name__, 'raised', 'x, y')


def test_compilation_is_reported_once_and_not_where_kernels_are_cached(monkeypatch, tmp_path):
    """A report says how many kernels are compiled; there is none once they are in the cache."""
    monkeypatch.setenv('SOFTROBOT_CACHE_DIR', str(tmp_path))
    monkeypatch.setenv('SOFTROBOT_COMPILERS', '1')
    monkeypatch.setattr(progress, '_REPORT_PERIOD', math.inf)  # however long a kernel takes
    monkeypatch.setattr(progress, '_PACE', progress._CompilationPace())
    said, builders = [], [functools.partial(build, number) for number in (1.25, 2.5)]
    with reporting(said.append):
        parallel.compile_in_parallel(*builders)
        assert said == ['compiling 2 kernels for this machine; later starts find them']
        parallel.compile_in_parallel(*builders)
    assert len(said) == 1


def test_the_time_left_is_that_of_the_kernels_that_were_compiled(clock):
    """After a kernel of a third of the cost in 6 s, 12 s are left; the next are told at once."""
    said, shares = [], []
    costs = {'a': 300, 'b': 300, 'c': 150, 'd': 150}
    with reporting(said.append, shares.append):
        work = CompilationProgress(costs, processes=1)
        clock[0] = 6.0
        work.advance('a', 6.0, ['b', 'c', 'd'])
        clock[0] = 7.0
        work.advance('b', None, ['c', 'd'])  # too soon for another line
        clock[0] = 17.0
        work.advance('c', None, ['d'])
        work.advance('d', None, [])
        CompilationProgress({'e': 50, 'f': 100}, processes=2)
    assert said == [
        'compiling 4 kernels for this machine; later starts find them',
        'compiled 1 of 4 kernels, about 12 s left',
        'compiled 3 of 4 kernels, about 3 s left',
        'compiling 2 kernels for this machine, about 2 s; later starts find them',  # those of f
    ]
    assert shares == pytest.approx([0.0, 1 / 3, 2 / 3, 5 / 6, 1.0, 0.0])


def test_what_others_compile_in_parallel_is_not_waited_for_twice(clock):
    """Of two processes one has begun a kernel, while this one begins the last: as long as that."""
    said, costs = [], {'a': 300, 'b': 300, 'c': 300, 'd': 300}
    with reporting(said.append):
        work = CompilationProgress(costs, processes=2)
        clock[0] = 5.0
        work.advance('b', None, ['a', 'c', 'd'])  # which tells no pace
        clock[0] = 10.0
        work.advance('a', 10.0, ['c', 'd'])
        work.advance('c', None, ['d'])
        clock[0] = 20.0
        work.advance('d', None, [])
        CompilationProgress(costs, processes=2)
        CompilationProgress({'a': 300, 'b': 30, 'c': 30}, processes=2)
    assert said[1:] == [
        'compiled 2 of 4 kernels, about 10 s left',
        'compiling 4 kernels for this machine, about 20 s; later starts find them',
        'compiling 3 kernels for this machine, about 10 s; later starts find them',
    ]


def test_a_helper_has_to_start(clock, monkeypatch):
    """Before its first kernel another process imports numba, as this one did."""
    said = []
    with reporting(said.append):
        CompilationProgress({'a': 300}, processes=1).advance('a', 10.0, [])
        monkeypatch.setattr(progress, '_START_COST', 600.0)
        CompilationProgress({'a': 300, 'b': 300}, processes=2)
    assert said[1:] == ['compiling 2 kernels for this machine, about 20 s; later starts find them']


def test_the_start_of_numba_is_no_time_of_a_kernel(clock, monkeypatch):
    """A small kernel that was the first of its process does not make large ones look slow."""
    monkeypatch.setattr(progress, '_START_COST', 3500.0)
    said = []
    with reporting(said.append):
        work = CompilationProgress({'a': 500, 'b': 40000}, processes=1)
        clock[0] = 8.0
        work.advance('a', 8.0, ['b'])
    assert said[1:] == ['compiled 1 of 2 kernels, about 80 s left']


def test_nothing_is_reported_where_nobody_asked(clock):
    """Outside of `reporting`, compilation is silent."""
    said = []
    with reporting(said.append):
        pass
    CompilationProgress({'a': 1, 'b': 1}, 1).advance('a', 1.0, ['b'])
    assert said == []
