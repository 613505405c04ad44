# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parallel compilation: helpers, order, and what happens when helpers fail."""

import fcntl
import functools
import os
import textwrap
import time

import pytest
from softrobot_dynamics.compiling import cache, cache_integrity, parallel, warnings_once
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.demo.precompilation import simulation_elsewhere
from support.programs import finish, start

BUILD = textwrap.dedent("""
    import ctypes
    import numpy as np
    from softrobot_dynamics.compiling import cache, cache_integrity, parallel
    from softrobot_dynamics.compiling.binding import address

    SOURCE = '''
    from softrobot_dynamics.compiling.jit import kernel
    @kernel
    def times(x, y):
        y[0] = {}.0 * x[0]
    '''

    def build(factor):
        module = cache.load_module(SOURCE.format(factor), 'times')
        return address(module.__name__, 'times', 'x, y')

    def value(place):
        x, y = np.array([2.0]), np.zeros(1)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(place)
        call(x.ctypes.data, y.ctypes.data)
        return y[0]

    made, write = [], cache_integrity.write
    cache_integrity.write = lambda path, content: made.append(path.suffix) or write(path, content)
""")
"""The beginning of a program whose ``build`` compiles a kernel for each number."""

TOGETHER = """
import functools
found = parallel.compile_in_parallel(*(functools.partial(build, i) for i in (3, 4, 5)))
print([float(value(place)) for place in found], made.count('.o'))
"""

WAITING = """
begin = parallel._start
def start(modules):
    helper = begin(modules)
    helper.wait()
    return helper
parallel._start = start
"""
"""Let helpers finish before this process begins."""

FAILING = """
begin = parallel._start
def start(modules):
    helper = begin({})
    helper.kill()
    return helper
parallel._start = start
"""
"""Let helpers be killed before they have compiled anything."""


@pytest.fixture
def several(monkeypatch):
    """Let three processes compile at once."""
    monkeypatch.setenv('SOFTROBOT_COMPILERS', '3')


def kept(place):
    """Names of the machine code in a folder."""
    return {path.name for path in place.glob('*.o')}


def test_helpers_compile_what_this_process_then_takes(tmp_path, several):
    """Helpers fill the cache with all that this process needs, with equal results."""
    out, err = finish(start(BUILD + WAITING + TOGETHER, tmp_path))
    assert out.split('] ') == ['[6.0, 8.0, 10.0', '0\n'] and not err
    assert len(kept(tmp_path)) == 3


@pytest.mark.parametrize('way', ['alone', 'killed'])
def test_without_helpers_this_process_does_the_work(tmp_path, monkeypatch, way):
    """A process without helpers, or whose helpers are killed, compiles everything itself."""
    monkeypatch.setenv('SOFTROBOT_COMPILERS', '1' if way == 'alone' else '3')
    changed = 'parallel._start = None\n' if way == 'alone' else FAILING
    out, err = finish(start(BUILD + changed + TOGETHER, tmp_path))
    assert out.split('] ') == ['[6.0, 8.0, 10.0', '3\n'] and not err
    assert len(kept(tmp_path)) == 3


def test_no_helpers_start_for_cached_kernels(tmp_path, several):
    """A second process finds everything in the cache and starts no helpers."""
    finish(start(BUILD + TOGETHER, tmp_path))
    out, err = finish(start(BUILD + 'parallel._start = None\n' + TOGETHER, tmp_path))
    assert out.split('] ') == ['[6.0, 8.0, 10.0', '0\n'] and not err


def test_without_a_folder_there_are_no_helpers(tmp_path, several):
    """Without a shared cache folder this process compiles everything in memory."""
    (tmp_path / 'file').write_text('')
    program = BUILD + 'parallel._start = None\n' + TOGETHER
    out, err = finish(start(program, tmp_path / 'file' / 'kernels'))
    assert out.startswith('[6.0, 8.0, 10.0]') and err.count('cannot be written') == 1


def test_a_source_that_helpers_cannot_import(tmp_path, several):
    """A kernel of the program itself, which no other process knows, is compiled here."""
    own = """
from softrobot_dynamics.compiling.jit import kernel
def half(x):
    return 0.5 * x
half = kernel(half)
SOURCE = 'from __main__ import half\\n' + textwrap.dedent(SOURCE).replace('x[0]', 'half(x[0])')
"""
    program = f'import textwrap\n{BUILD}{own}{WAITING}{TOGETHER}'
    out, err = finish(start(program, tmp_path))
    assert out.split('] ') == ['[3.0, 4.0, 5.0', '3\n'] and not err


def load_small(label, done=()):
    """Load a module that compiles at once; returns its function."""
    source = '@by_address(float64(float64))\ndef small(x):\n    return 2.0 * x\n'
    module = cache.load_module(f'# {label}\nfrom numba.types import float64\n{source}', label)
    return module.small


@pytest.mark.quick
def test_kernels_of_other_processes_are_compiled_last():
    """A kernel that another process is compiling is left until the others are done."""
    with cache.collecting() as sources:
        for label in 'abc':
            load_small(f'{label}{id(sources)}')
    names, order = list(sources), []
    whole = cache.load
    with pytest.MonkeyPatch.context() as patch, open_lock(names[0]) as lock:

        def load(name, source, wait=True):
            if wait and name == names[0]:
                lock.close()  # the other one is ready just now
            fresh = name not in cache._LOADED
            done = whole(name, source, wait)
            order.extend([name] * (done and fresh))
            return done

        patch.setattr(cache, 'load', load)
        parallel._load(sources)
    assert order == [*names[1:], names[0]]


def open_lock(name):
    """Open and take the lock of a module, as another process would."""
    file = open(cache_integrity.own_folder() / f'{name}.lock', 'w')
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


@pytest.mark.quick
def test_stand_ins_are_not_called():
    """A builder that calls a kernel while it is being collected gets an error."""
    name = f'called{time.time_ns()}'  # of nothing that the cache has
    with pytest.raises(RuntimeError, match='cannot be called yet'):
        parallel.compile_in_parallel(lambda: load_small(name)(1.0))
    assert parallel.compile_in_parallel(functools.partial(load_small, name))[0](1.5) == 3.0


@pytest.mark.quick
@pytest.mark.parametrize('given', ['many', '-5'])
def test_a_wrong_number_of_compilers_is_warned_of(monkeypatch, given):
    """A wrong number of compilers draws one warning that names it, and the default is used."""
    monkeypatch.setattr(warnings_once, '_shown', set())
    monkeypatch.setenv('SOFTROBOT_COMPILERS', given)
    with pytest.warns(RuntimeWarning, match=f"SOFTROBOT_COMPILERS is '{given}', expect") as caught:
        assert parallel.process_limit() >= 1
    assert caught[0].filename == 'softrobot_dynamics'  # and no line of the library's source
    for words, count in {'1': 1, '3': 3, '0': 1}.items():
        monkeypatch.setenv('SOFTROBOT_COMPILERS', words)
        assert parallel.process_limit() == count


@pytest.mark.quick
def test_a_limit_of_one_process_starts_none_for_the_simulation(monkeypatch):
    """Where one process alone may compile it compiles the simulation's kernels, too."""
    monkeypatch.setenv('SOFTROBOT_COMPILERS', '1')
    with simulation_elsewhere('nobody') as other:
        assert other is None


def new_kernel():
    """Return a function that returns the address of a kernel which no cache has yet."""
    number = int.from_bytes(os.urandom(6), 'little')
    lines = 'from softrobot_dynamics.compiling.jit import kernel', '@kernel', 'def f(x):'
    source = '\n'.join([*lines, f'    x[0] = {number}.0', ''])
    module = cache.load_module(source, 'real')
    return functools.partial(address, module.__name__, 'f', 'x')


@pytest.mark.quick
def test_addresses_are_real_afterwards():
    """After a parallel compilation every address is that of a kernel, not of a stand-in."""
    build = new_kernel()
    with cache.collecting():
        stand_in = build()
    (real,) = parallel.compile_in_parallel(build)
    assert stand_in != real == build()


@pytest.mark.quick
def test_builders_are_called_once_where_all_is_kept():
    """Compiled code needs no stand-ins: the second start calls a builder once."""
    build, calls = new_kernel(), []

    def builder():
        calls.append(build())
        return calls[-1]

    first = parallel.compile_in_parallel(builder)
    assert len(calls) == 2
    assert parallel.compile_in_parallel(builder) == first and len(calls) == 3
