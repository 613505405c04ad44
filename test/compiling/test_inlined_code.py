# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Code of functions that others inline: when another process links it, and when it must not."""

from typing import NamedTuple

from numba import types
import pytest
from softrobot_dynamics.compiling import cache, prebuilt
from softrobot_dynamics.compiling.code_names import code_name
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.compiling.targets import level_keys, LEVELS, own_keys
from softrobot_dynamics.kernels import linalg
from support.programs import copied, finish, start

VECTOR, NUMBER = types.Array(types.float64, 1, 'C'), types.float64
CALLER = """
    from pathlib import Path
    from numba.core import event
    import numpy as np
    from softrobot_dynamics.compiling import prebuilt
    from softrobot_dynamics.compiling.cache import load_module
    prebuilt.FOLDER = Path({place!r})
    module = load_module('''
    from softrobot_dynamics.kernels.linalg import factorise, solve_factorised
    @for_python(_nrt=False, error_model='numpy', nogil=True, fastmath={{'contract'}})
    def solved(A, b):
        failed = factorise(A)
        solve_factorised(A, b)
        return {factor} * b[0] + failed
    ''', 'caller')
    with event.install_recorder('numba:compile') as recorder:
        found = module.solved(np.diag([2.0, 4.0]), np.array([3.0, 1.0]))
    starts = [each for _, each in recorder.buffer if each.is_start]
    print(float(found), *sorted(each.data['dispatcher'].__name__ for each in starts))
"""
"""A program that calls two functions of the package, and prints the names of what it compiles."""


def ran(folder, factor, place='none', first=''):
    """Return what a program has printed that multiplies by a factor, as a list of words."""
    program = CALLER.format(factor=factor, place=str(place))
    return finish(start(program, folder, first=first))[0].split()


def test_another_caller_links_what_was_compiled(tmp_path):
    """A process that compiles another caller compiles nothing of what that calls."""
    first, second = (ran(tmp_path, factor) for factor in (2.0, 5.0))
    assert first == ['3.0', 'factorise', 'solve_factorised', 'solved']
    assert second == ['7.5', 'solved']


def test_damaged_code_is_compiled_anew(tmp_path):
    """A file of code that is damaged is not linked."""
    ran(tmp_path, 2.0)
    (damaged,) = tmp_path.glob('solve_factorised_*.bc')
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert ran(tmp_path, 5.0) == ['7.5', 'solve_factorised', 'solved']


def test_an_edited_function_is_compiled_anew(tmp_path):
    """After an edit of the file of a function, or of one that it imports, none of it is linked."""
    before = copied(tmp_path / 'before')
    after = copied(tmp_path / 'after', 'kernels/linalg.py')
    assert len(ran(tmp_path / 'kernels', 2.0, first=before)) == 4
    assert len(ran(tmp_path / 'kernels', 5.0, first=before)) == 2
    assert len(ran(tmp_path / 'kernels', 5.0, first=after)) == 4


@pytest.mark.skipif(level_keys() is None, reason='no level has this processor')
def test_a_package_brings_code_to_link(tmp_path, monkeypatch):
    """Code that the package brings is linked where the cache has nothing."""
    made, place = tmp_path / 'made', tmp_path / 'installed'
    level = next(x for x in LEVELS.values() if level_keys().code.startswith(x.name))
    with monkeypatch.context() as patch:
        for name, value in level.variables().items():
            patch.setenv(name, value)
        ran(made, 2.0)
    assert prebuilt.collect(made, place, level) == 3
    assert ran(tmp_path / 'cache', 5.0, place) == ['7.5', 'solved']


def test_a_function_with_code_to_link_is_no_work(tmp_path, monkeypatch):
    """Code that a kernel links from the cache does not count in the announced time."""
    monkeypatch.setattr(cache, 'own_folder', lambda: tmp_path)
    (tmp_path / f'factorise_0.{own_keys().program}.bc').touch()
    (tmp_path / 'solve_factorised_0.another.bc').touch()
    linked = cache.linked_functions()
    assert 'factorise' in linked
    assert ('solve_factorised' in linked) == any(
        each.startswith('solve_factorised_') for each in prebuilt.linked_code()
    )


class Spring(NamedTuple):
    """Two numbers."""

    stiffness: float
    length: float


class OfLength(NamedTuple):
    """The same in another order."""

    length: float
    stiffness: float


OfLength.__name__ = 'Spring'


def tuple_type(kind):
    """Return numba's type of a NamedTuple of two numbers."""
    return types.NamedUniTuple(NUMBER, 2, kind)


def test_a_name_tells_functions_and_types_apart():
    """Code has another name for another function and for arguments of another type."""
    functions = [getattr(linalg, name).py_func for name in ('factorise', 'invert')]
    arguments = [(VECTOR,), (NUMBER,), (VECTOR, VECTOR), (tuple_type(Spring),)]
    names = {code_name(function, each) for function in functions for each in arguments}
    assert len(names) == 8 and None not in names


def made(factor):
    """Return a kernel that multiplies."""

    @kernel
    def scaled(x):
        return factor * x

    return scaled


@kernel
def doubled(x):
    """Return twice a number."""
    return 2.0 * x


@kernel
def finds(x):
    """Tell whether a number is one of two, by a function of numba's."""
    return x in (1, 2)


def test_what_others_could_not_find_is_not_named():
    """Code of local functions, and for types that cannot be imported, is this process's own."""
    assert code_name(doubled.py_func, (NUMBER,))
    assert code_name(made(2.0).py_func, (NUMBER,)) is None
    assert code_name(lambda x: x, (NUMBER,)) is None
    assert code_name(doubled.py_func, (tuple_type(OfLength),)) is None
    assert code_name(doubled.py_func, (types.functions.Dispatcher(doubled.made),)) is None


def test_code_with_functions_of_numba_is_not_kept():
    """Code that links functions of numba, which has no lasting names for them, is not kept."""
    for function, kept in ((doubled, True), (finds, False)):
        function.made.compile((types.int64,))
        (compiled,) = function.made.overloads.values()
        assert (compiled.library.as_bitcode() is not None) == kept


def test_local_functions_of_one_name_stay_apart():
    """Two kernels of the same name and types, in one caller, compute each its own."""
    twice, thrice = made(2.0), made(3.0)

    @kernel
    def both(x):
        return twice(x), thrice(x)

    assert both(1.0) == (2.0, 3.0)
