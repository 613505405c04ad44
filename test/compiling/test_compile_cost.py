# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Predicted costs of compiling kernels."""

import ast
import textwrap

import pytest
from softrobot_dynamics.compiling.compile_cost import (
    _FUNCTION_NODES,
    _LOOP_NODES,
    costs_of,
    kernel_size,
)

pytestmark = pytest.mark.quick

SMALL = textwrap.dedent("""
    def small(x):
        return 2.0 * x
""")


def nodes(source):
    """Return how many syntax nodes the functions of a source have."""
    functions = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    return sum(len(list(ast.walk(each))) for each in functions)


@pytest.mark.parametrize('calls', [1, 3])
def test_a_function_counts_at_each_call(calls):
    """The nodes are those of a function and, once for each call, those of what it calls."""
    own = f'def kernel(x):\n    return {" + ".join(["small(x)"] * calls)}\n'
    assert kernel_size('k', {'k': SMALL + own}).nodes == nodes(own) + calls * nodes(SMALL)


def test_a_loop_counts_for_more():
    """A loop has nodes of its own, as LLVM makes several of it."""
    loop = 'def kernel(x):\n    for i in range(3):\n        x[i] = 1.0\n'
    assert kernel_size('k', {'k': loop}).nodes == nodes(loop) + _LOOP_NODES


def test_emitted_modules_are_followed():
    """Functions that a kernel imports from another emitted module count, under any name."""
    own = 'from other import small as tiny\ndef kernel(x):\n    return tiny(x)\n'
    assert kernel_size('k', {'other': SMALL, 'k': own}).nodes == nodes(own) + nodes(SMALL)


def test_functions_of_packages_are_followed(tmp_path, monkeypatch):
    """Functions of packages that a kernel calls count, whichever way they are imported."""
    package = tmp_path / 'costs'
    package.mkdir()
    (package / '__init__.py').write_text('from costs.inner import small\n')
    (package / 'inner.py').write_text(SMALL)
    monkeypatch.syspath_prepend(tmp_path)
    __import__('costs')
    for line, call in (
        ('from costs.inner import small', 'small'),
        ('from costs import small', 'small'),
        ('from costs import inner', 'inner.small'),
    ):
        own = f'{line}\ndef kernel(x):\n    return {call}(x)\n'
        assert kernel_size('k', {'k': own}).nodes == nodes(own) + nodes(SMALL), line


@pytest.mark.parametrize('source', [
    'def kernel(x):\n    return kernel(x - 1.0)\n',
    'from numpy import sqrt\ndef kernel(x):\n    return sqrt(x)\n',
    'from nowhere.at import all\ndef kernel(x):\n    return all(x)\n',
])  # fmt: skip
def test_what_cannot_be_followed_counts_as_a_call(source):
    """A function that calls itself, numba's own or an unknown one has the nodes of the call."""
    assert kernel_size('k', {'k': source}).nodes == nodes(source)


def test_a_function_is_translated_once():
    """Of kernels that call one function the largest has its cost; none has if it is known."""
    call = 'from other import small as tiny\ndef {}(x):\n    return tiny(x){}\n'
    texts = {'one': call.format('one', ''), 'two': call.format('two', ' + tiny(x)')}
    kernels = {name: kernel_size(name, {'other': SMALL, name: texts[name]}) for name in texts}
    one, two = (nodes(texts[name]) + nodes(SMALL) for name in texts)
    two += nodes(SMALL)
    assert list(costs_of(kernels, set()).items()) == [
        ('two', two + 2 * _FUNCTION_NODES),
        ('one', one + _FUNCTION_NODES),
    ]
    known = kernels['one'].functions
    assert costs_of(kernels, known) == {'two': two + _FUNCTION_NODES, 'one': one}


def test_a_module_without_functions_has_the_least_cost():
    """Constants have a cost, so that shares can be formed."""
    assert kernel_size('k', {'k': 'x = 1.0\n'}).nodes == 1
