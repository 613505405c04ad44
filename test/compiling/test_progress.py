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
    return now


def build(number):
    """Return the address of a kernel that is compiled for each number."""
    module = load_module(SOURCE.format(number), 'raised')
    return address(module.__name__, 'raised', 'x, y')


def test_compilation_is_reported_once_and_not_where_kernels_are_cached(monkeypatch, tmp_path):
    """A report says how many kernels are compiled; there is none once they are in the cache."""
    monkeypatch.setenv('SOFTROBOT_CACHE_DIR', str(tmp_path))
    monkeypatch.setenv('SOFTROBOT_COMPILERS', '1')
    monkeypatch.setattr(progress, '_EVERY', math.inf)  # however long a kernel takes
    said, builders = [], [functools.partial(build, number) for number in (1.25, 2.5)]
    with reporting(said.append):
        parallel.compile_in_parallel(*builders)
        assert said == ['compiling 2 kernels for this machine; later starts find them']
        parallel.compile_in_parallel(*builders)
    assert len(said) == 1


def test_the_time_left_is_extrapolated_from_kernels_that_were_compiled(clock):
    """After one of four kernels in 6 s the report says that about 18 s are left."""
    said = []
    with reporting(said.append):
        work = CompilationProgress(4)
        clock[0] = 6.0
        work.advance()
        clock[0] = 7.0
        work.advance()  # too soon for another report
        clock[0] = 30.0
        work.advance()
        work.advance()
    assert said[1:] == [
        'compiled 1 of 4 kernels, about 18 s left',
        'compiled 3 of 4 kernels, about 10 s left',
    ]


def test_nothing_is_reported_where_nobody_asked(clock):
    """Outside of `reporting`, compilation is silent."""
    said = []
    with reporting(said.append):
        pass
    CompilationProgress(2).advance()
    assert said == []
