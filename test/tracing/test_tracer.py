# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The tracer: derivatives to rounding error, hoisting, simplification, determinism."""

import inspect
import math
import os
import subprocess
import sys

import numpy as np
from oracles.precise import derivatives, PRECISE
import pytest
from softrobot_dynamics.compiling import binding
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.calls import invoke
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.tracing import graph, programs, traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.differentiate import kinematic_derivatives, tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter
from softrobot_dynamics.tracing.graph import constant, symbol, SYMBOLIC

mpmath = pytest.importorskip('mpmath')

TOLERANCE = 1e-14  # of the largest intermediate value

OPERATIONS = {
    **{op: lambda a, b, m, op=op: getattr(m, op)(a) for op in graph.UNARY if op != 'neg'},
    'neg': lambda a, b, m: -a,
    'pos': lambda a, b, m: +a,
    'add': lambda a, b, m: a + b + 2 + a + (3.5 + b),
    'sub': lambda a, b, m: (a - b) - 0.5 + (2.0 - a) * b,
    'mul': lambda a, b, m: a * b * 2.5 * a,
    'div': lambda a, b, m: a / b + 2.0 / a - b / 3.0,
    'step': lambda a, b, m: m.step(a - 0.3) * b + m.step(0.3 - a) * a,
    'arctan2': lambda a, b, m: m.arctan2(a - 1.0, b) + m.arctan2(-a, 0.5 - b),
    'whole power': lambda a, b, m: a**3 + b**2 + a**0 + b**16,
    'real power': lambda a, b, m: a**2.5 + b**0.5 + a**1.5,
    'negative power': lambda a, b, m: a**-2 + b**-0.7,
    **{f'c{k}': lambda a, b, m, k=k: m.stumpff(k, a * b) + m.stumpff(k, 20 * b) for k in range(4)},
}
"""Every operation a formula may use, on two positive numbers of order one."""


def formula(x, q, math):
    """Three outputs that use every operation on mixtures of x and q (or q alone, for x = 0)."""
    a = 0.6 + 0.3 * q[0] + 0.2 * x[0] * q[1]
    b = 0.9 + 0.1 * x[1] * q[0] - 0.2 * q[1] * q[2] + 0.1 * q[2] * q[0] * x[2]
    parts = [operation(a, b, math) for operation in OPERATIONS.values()]
    return [sum(parts[i::3], 0.1 * a) for i in range(3)]


def intermediate(outputs, symbols):
    """Largest absolute value that occurs in a graph."""
    order = traversal.topological(outputs)
    return max(abs(v) for v in traversal.evaluate(order, symbols, PRECISE))


def inputs(n, q, qd, x=()):
    """Symbols and their values."""
    kinds = {'q': q, 'qd': qd, 'x': x}
    return {
        (kind, i): mpmath.mpf(float(v)) for kind, vs in kinds.items() for i, v in enumerate(vs)
    }


def random_inputs(seed, count=1):
    """Points x (count, 3), coordinates q (3,) and velocities qd (3,)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, 3)), *rng.uniform(-1, 1, (2, 3))


def symbols(kind, count):
    """Symbol nodes of one kind."""
    return [symbol(kind, i) for i in range(count)]


@pytest.mark.quick
@pytest.mark.parametrize('name', OPERATIONS)
def test_derivatives_of_each_operation(name):
    """J and Jdot qd of every operation equal fifty-digit arithmetic to 1e-14."""
    q, operation = symbols('q', 2), OPERATIONS[name]
    outputs = [operation(0.7 + q[0] * q[1], 1.1 + 0.5 * q[1], SYMBOLIC)]
    J, bias = kinematic_derivatives(outputs, 2)
    nodes = [*outputs, J[0][0], J[1][0], *bias]
    at, rate = [0.41, -0.37], [0.8, 1.3]
    values = {('q', i): v for i, v in enumerate(at)} | {('qd', i): v for i, v in enumerate(rate)}
    found = traversal.evaluate(nodes, values, NUMERIC)
    f, first, second = derivatives(
        lambda q: [operation(0.7 + q[0] * q[1], 1.1 + 0.5 * q[1], PRECISE)], at, rate
    )
    scale = intermediate(nodes, inputs(2, at, rate))
    wanted = [f[0], first[0][0], first[1][0], second[0]]
    for value, exact in zip(found, wanted):
        # numbers such as 0.7 are doubles in both, but products of constants are rounded once
        assert abs(mpmath.mpf(float(value)) - exact) <= TOLERANCE * scale


@pytest.fixture(scope='module')
def kernel():
    """Return the emitted kernel of the formula: by point in its cloud, by call in its frame."""
    q = symbols('q', 3)
    position = formula(symbols('x', 3), q, SYMBOLIC)
    origin = formula([0.3, -0.2, 0.7], q, SYMBOLIC)
    rotation = [graph.as_node(v) for v in (1, 0, 0, 0, 1, 0, 0, 0, 1)]
    traced = programs.body_terms(position, (rotation, origin), 3)
    return traced, load_module(traced.source, 'test_formula').terms


def run(kernel, x, q, qd):
    """Slab and scratch of one call, with one unit of mass at each point x."""
    traced, terms = kernel
    compiled = address(terms.__module__, terms.__name__, 'P, q, qd, w, W, S')
    table = traced.tables.table(x, np.ones(len(x)), {})
    P = np.concatenate([[-(-len(x) // BLOCK)], np.zeros(18), traced.tables.numbers({}), table])
    W, S = np.zeros(layout.body_size(3)), np.zeros(traced.scratch)
    invoke(compiled, P, q, qd, np.zeros(3), W, S)
    return W, S.reshape(-1, BLOCK)


def check(found, x, q, qd):
    """Compare (f, J, bias) of the formula at one point, flat, with fifty digits."""
    f, J, second = derivatives(lambda z: formula([mpmath.mpf(v) for v in x], z, PRECISE), q, qd)
    outputs = formula(symbols('x', 3), symbols('q', 3), SYMBOLIC)
    first, bias = kinematic_derivatives(outputs, 3)
    nodes = [*outputs, *(n for column in first for n in column), *bias]
    scale = intermediate(nodes, inputs(3, q, qd, x))
    wanted = [*f, *(v for column in J for v in column), *second]
    errors = [abs(mpmath.mpf(float(a)) - b) for a, b in zip(found, wanted)]
    assert len(found) == len(wanted) == 15
    assert max(errors) <= TOLERANCE * scale


def test_emitted_kernels_equal_many_digits(kernel):
    """At each point p, J and Jdot qd of the emitted kernel equal fifty digits to 1e-14."""
    x, q, qd = random_inputs(1, count=BLOCK)
    _, S = run(kernel, x, q, qd)
    for k in (0, 7, BLOCK - 1):
        check(S[:15, k], x[k], q, qd)


def test_emitted_kernel_by_call(kernel):
    """A frame's origin, Jacobian and bias of the emitted kernel equal fifty digits to 1e-14."""
    x, q, qd = random_inputs(2)
    W, _ = run(kernel, x, q, qd)
    linear = W[18 + 9 : 18 + 18]
    check([*W[9:12], *linear, *W[15:18]], [0.3, -0.2, 0.7], q, qd)


@pytest.mark.quick
def test_compiled_source_has_comments_on_its_slots(kernel):
    """Comments in the compiled source name each slot before the code that fills it."""
    _, terms = kernel
    source = inspect.getsource(binding._emitted(terms, (), False).py_func)
    lines = [line.strip() for line in source.splitlines()]
    marks = {line: lines[i + 1] for i, line in enumerate(lines) if line.startswith('# ')}
    for slot, label in ((0, 'rotation'), (9, 'origin'), (24, 'angular Jacobian, coordinate 2')):
        assert marks[f'# {label}'].startswith(f'W[{slot}] = ')
    assert marks['# bias'].startswith(f'S[{(3 + 3 * 3) * BLOCK} + k] = ')


@pytest.mark.quick
def test_padding_and_blocks_do_not_change_sums(kernel):
    """One point more than a block gives the sums of both parts; padding has no mass."""
    x, q, qd = random_inputs(3, count=BLOCK + 1)
    whole, first, rest = (run(kernel, part, q, qd)[0] for part in (x, x[:BLOCK], x[BLOCK:]))
    start, end = layout.inertia_offset(3), layout.bias_offset(3) + 3
    np.testing.assert_allclose(whole[start:end], (first + rest)[start:end], rtol=1e-12, atol=1e-10)
    assert whole[start] == BLOCK + 1


@pytest.mark.quick
def test_values_are_computed_as_seldom_as_possible():
    """Values of constants are computed offline, of x in rows, of q once, the rest by point."""
    p, x, q = symbol('p', 0), symbol('x', 0), symbol('q', 0)
    m = SYMBOLIC
    code = Emitter([m.sin(2.0 * p) * q + m.exp(x) * m.log(q) + m.cos(x * q), p, m.tanh(x)])
    assert set(code.tables.scalars) == {m.sin(2.0 * p), p}
    assert set(code.tables.rows) == {m.exp(x), m.tanh(x), x}
    call, point = '\n'.join(code.call), '\n'.join(code.point)
    assert 'math.log(' in call and 'log' not in point
    assert 'vector_cos(' in point and 'cos' not in call
    assert not any(name in call + point for name in ('math.sin', 'math.exp', 'math.tanh'))
    assert sorted(code.tables.numbers({('p', 0): 0.25})) == [0.25, np.sin(0.5)]


@pytest.mark.quick
def test_simplification():
    """Trivial algebra leaves no trace, and equal expressions are one node."""
    a, b, zero, one = symbol('q', 0), symbol('q', 1), constant(0.0), constant(1.0)
    assert a + 0 is a and 0 + a is a and a - 0 is a and a * 1 is a and 1 * a is a and a / 1 is a
    assert a * 0 is zero and 0 * a is zero and a - a is zero and 0 / a is zero and a**0 is one
    minus = -a
    assert +a is a and -minus is a and a**1 is a and -(a - b) is b - a
    assert a + b is b + a and a * b is b * a and a - (-b) is a + b and (-a) * b is -(a * b)
    assert 2.0 * (3.0 * a) is 6.0 * a and constant(2.0) * 3.0 is constant(6.0)
    assert SYMBOLIC.sin(a + b) is SYMBOLIC.sin(b + a) and a**0.5 is SYMBOLIC.sqrt(a)
    assert SYMBOLIC.stumpff(2, zero) is constant(0.5) and SYMBOLIC.cos(zero) is one
    assert tangent([a * b + SYMBOLIC.sin(a)], {('q', 2): 1.0})[0] is zero
    assert tangent([a * b], {('q', 0): 1.0})[0] is b


@pytest.mark.quick
@pytest.mark.parametrize(
    'use',
    [
        lambda q: 1.0 if q else 2.0,
        lambda q: 1.0 if q > 0.0 else 2.0,
        lambda q: 1.0 if q <= 0.0 else 2.0,
        lambda q: 1.0 if q == 0.0 else q,
        lambda q: 1.0 if q != 0.0 else q,
        lambda q: max(q, 0.0),
        lambda q: abs(q),
        lambda q: math.sin(q),
        lambda q: np.sin(q),
        lambda q: float(q),
        lambda q: int(q),
        lambda q: 2.0**q,
        lambda q: q**q,
    ],
    ids='if q|q > 0|q <= 0|q == 0|q != 0|max|abs|math.sin|np.sin|float|int|2**q|q**q'.split('|'),
)
def test_an_untraceable_formula_is_refused(use):
    """A branch on a traced value or an untraced function is a TypeError."""
    with pytest.raises(TypeError):
        use(symbol('q', 0))


SOURCES = """
from softrobot_dynamics.bodies.contract import BODIES
import sys
sys.path.insert(0, sys.argv[1])
import test_tracer
from support import generated
from softrobot_dynamics.tracing import programs
q, x = test_tracer.symbols('q', 3), test_tracer.symbols('x', 3)
one = [test_tracer.constant(v) for v in (1, 0, 0, 0, 1, 0, 0, 0, 1)]
position = test_tracer.formula(x, q, test_tracer.SYMBOLIC)
print(programs.body_terms(position, (one, q), 3).source)
print(programs.fibre_length(position[0], 3).source)
for name in BODIES.names():
    for given in generated.instances(BODIES, name):
        print(generated.instance(BODIES, given).kernel().module)
"""


def test_emitted_source_is_the_same_in_every_process():
    """The emitted source does not depend on the order of sets: PYTHONHASHSEED changes nothing."""
    printed = [
        subprocess.run(
            [sys.executable, '-c', SOURCES, os.path.dirname(__file__)],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'PYTHONHASHSEED': seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ('1', '2')
    ]
    assert printed[0] == printed[1]
    assert 'def terms' in printed[0] and 'def length' in printed[0]
