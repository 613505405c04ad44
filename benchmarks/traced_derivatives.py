# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second derivatives of `lvp` and `learned` bodies: what is traced, what by hand, and why.

    python benchmarks/traced_derivatives.py [--runs 5]

First, the lines of their modules by what they are:

- `traced`: formulas that the tracer differentiates (:mod:`softrobot_dynamics.tracing.loops`);
- `by hand`: arithmetic in loops over the points of a block, or over nodes;
- `kernels`: loops over coordinates and layers, sums, and slices of arrays around these;
- `emitted`: templates, tables and sizes of scratch;
- `other`: docstrings, imports, constants.

Then two ways that the package does not go, each beside the code by hand in a new process with an
empty kernel cache, in turns: processor time until the kernel of derivatives is compiled, and time
of a call; medians over the processes, and of the ratios. `loops` has the chain rule through a unit
of a network traced, for which :func:`activate_derivatives` below stands in
`bodies/learned/perceptron_derivatives.py`: hardly shorter, and slower. `unrolled` traces the whole
formula of a small network, as of any other body, without loops over layers and coordinates; the
nodes of the larger one are too many.
"""

import argparse
import ast
from collections import Counter
import ctypes
import inspect
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import time
from unittest import mock

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.learned import perceptron_derivatives as learned
from softrobot_dynamics.bodies.learned.body import Learned
from softrobot_dynamics.bodies.learned.perceptron import along
from softrobot_dynamics.bodies.learned.perceptron_derivatives import add_rate, pairs
from softrobot_dynamics.compiling import jit
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.tracing import derivative_kernels
from softrobot_dynamics.tracing.differentiate import derivatives_along, direction, tangent
from softrobot_dynamics.tracing.emit import BLOCK
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.loops import traced_loop
from softrobot_dynamics.tracing.traversal import topological

ROOT = Path(sd.__file__).parent / 'bodies'
FILES = (
    'lvp/backbone_derivatives', 'lvp/point_derivatives', 'lvp/stress_derivatives',
    'lvp/length_hessians', 'lvp/emit_derivatives', 'learned/perceptron_derivatives',
    'learned/layer_derivatives',
)  # fmt: skip
KINDS = 'traced', 'by hand', 'kernels', 'emitted', 'other'
B = BLOCK
RATE, BIAS, MOVED = 4, 5, 6  # rows of scratch: the rate of z, its bias, and the rate of z_k
CALLS, ROUNDS = 5, 1000  # of a call the least counts: others use the machine, too


@kernel
def activate_derivatives(n, directions, qd, D, row):
    """
    Chain rule through one unit: bundles of z in ``row`` become those of f(z).

    ``D``: f, f', f'', f''' of z, BLOCK numbers each; after them three rows of scratch.
    """
    each, pair = (1 + n + pairs(n)) * B, (1 + n) * B
    base = row[: each + n * B]
    for t in range(directions):
        first = each * (1 + t) + n * B
        _activate_direction(n, D, base, row[first : first + each])
    _activate_motion(n, qd, D, base, base[each:])
    for k in range(n):
        for j in range(k + 1):
            _fill_second(D, base[(1 + j) * B :], base[(1 + k) * B :], base[pair:])
            pair += B
    for k in range(n):
        _fill_first(D, base[(1 + k) * B :])
    for k in range(B):
        base[k] = D[k]


@kernel
def _activate_direction(n, D, base, own):
    """Change the bundle ``own`` of g = dz/dt; that of z is still before the activation."""
    pair = (1 + n) * B
    for k in range(n):
        z_k, g_k = base[(1 + k) * B :], own[(1 + k) * B :]
        for j in range(k + 1):
            z_j, g_j = base[(1 + j) * B :], own[(1 + j) * B :]
            _fill_second_along(D, own, z_j, z_k, base[pair:], g_j, g_k, own[pair:])
            pair += B
    for k in range(n):
        _fill_first_along(D, own, base[(1 + k) * B :], own[(1 + k) * B :])
    _fill_first(D, own)


@kernel
def _activate_motion(n, qd, D, base, third):
    """Change the third derivatives T_k, ``third``; that of z is still before the activation."""
    rate, bias, moved = D[RATE * B : BIAS * B], D[BIAS * B : MOVED * B], D[MOVED * B :]
    along(n, qd, base, rate)
    bias[:] = 0.0
    for k in range(n):
        moved[:] = 0.0
        add_rate(n, k, qd, base[(1 + n) * B :], 1, moved)
        for i in range(B):
            bias[i] += qd[k] * moved[i]
    for k in range(n):
        moved[:] = 0.0
        add_rate(n, k, qd, base[(1 + n) * B :], 1, moved)
        _fill_third(D, base[(1 + k) * B :], third[k * B :])


@traced_loop(B)
def _fill_first(D, z_k):
    """Make z_k that of f(z)."""
    z_k.write(0, tangent(D.rows(0, 1), _direction(D, z_k)))


@traced_loop(B)
def _fill_second(D, z_j, z_k, z_jk):
    """Make z_jk that of f(z)."""
    first = tangent(D.rows(0, 1), _direction(D, z_k))
    z_jk.write(0, tangent(first, _direction(D, z_j, (z_k, z_jk))))


@traced_loop(B)
def _fill_first_along(D, g, z_k, g_k):
    """Make g_k that of f(z)."""
    first = tangent(D.rows(0, 1), _direction(D, g))
    g_k.write(0, tangent(first, _direction(D, z_k, (g, g_k))))


@traced_loop(B)
def _fill_second_along(D, g, z_j, z_k, z_jk, g_j, g_k, g_jk):
    """Make g_jk that of f(z)."""
    first = tangent(D.rows(0, 1), _direction(D, g))
    second = tangent(first, _direction(D, z_k, (g, g_k)))
    g_jk.write(0, tangent(second, _direction(D, z_j, (g, g_j), (z_k, z_jk), (g_k, g_jk))))


@traced_loop(B)
def _fill_third(D, z_k, third):
    """Make T_k that of f(z), by the rate of z, its bias, and the rate of z_k."""
    rate, bias, moved = D.rows(RATE, 3)
    by_time = direction((D.rows(0, 3), [x * rate for x in D.rows(1, 3)]), ([rate], [bias]))
    second = derivatives_along(D.rows(0, 1), by_time, 2)[2]
    by_coordinate = direction(([rate], [moved]), ([bias], [third[0]]))
    third.write(0, tangent(second, _direction(D, z_k) | by_coordinate))


def _direction(D, z_k, *others):
    """Return the direction in which z moves by z_k, so f, f', f'' in D, and others as given."""
    moved = [x * z_k[0] for x in D.rows(1, 3)]
    return direction((D.rows(0, 3), moved), *(([a[0]], [b[0]]) for a, b in others))


TRACED = (
    activate_derivatives, _activate_direction, _activate_motion, _fill_first, _fill_second,
    _fill_first_along, _fill_second_along, _fill_third, _direction,
)  # fmt: skip
BY_HAND = learned.activate_derivatives, learned._activate_direction, learned._activate_motion


def body_of(case):
    """Return the body of a case, a network."""
    sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))
    from support.weights import network

    n, hidden, elastic = {'learned': (6, (16, 16), True), 'small': (2, (5,), False)}[case]
    fields = {'radius': (0.02, 0.016), 'density': 1070.0}
    if elastic:
        from softrobot_dynamics.materials.neo_hookean import NeoHookean

        fields['material'] = NeoHookean(young_modulus=2e5, poisson_ratio=0.4, damping=0.03)
    return Learned(network(n, hidden), **fields)


def traced_whole(body):
    """Return the derivatives of a body whose formula is traced as a whole, None if too long."""
    n = len(body.coordinates())
    q, x = ([symbol(kind, j) for j in range(count)] for kind, count in (('q', n), ('x', 3)))
    position, tip = body.position(x, q, SYMBOLIC), body.tip_frame(q, SYMBOLIC)
    return derivative_kernels.body_derivatives(position, tip, n)


def count_nodes(case):
    """Return how many nodes that formula has."""
    counted = mock.patch.object(derivative_kernels, 'topological', side_effect=topological)
    with counted as found, mock.patch.object(derivative_kernels, 'MAX_NODES', 0):
        traced_whole(body_of(case))
    return len(topological(*found.call_args.args))


def unrolled(body):
    """Return the kernel of derivatives of a body whose formula is traced as a whole."""
    n, traced = len(body.coordinates()), traced_whole(body)
    cloud, masses = body.material_points()
    table = traced.tables.table(cloud, masses, {})
    blocks = -(-len(masses) // BLOCK)
    head = [blocks, *np.zeros(2 * n * n), *traced.tables.numbers({})]
    module = load_module(traced.source, 'unrolled_derivatives')
    return jit.Kernel(
        module.__name__, 'derivatives', np.concatenate([head, table]), traced.scratch
    )


def measure(case, way):
    """Return processor time [s] until the kernel is there, time of a call [us], and its result."""
    body = body_of(case)
    if way == 'loops':
        learned.activate_derivatives = activate_derivatives
    begin = time.process_time()
    kernel = unrolled(body) if way == 'unrolled' else body.derivatives_kernel()
    at = address(kernel.module, kernel.function, 'P, q, qd, qdd, motion, D, S')
    first = time.process_time() - begin
    n, rng = len(body.coordinates()), np.random.default_rng(1)
    states = [0.02 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)]
    D = np.zeros(layout.derivatives_size(n))
    arrays = [kernel.parameters, *states, rng.normal(size=9), D, np.zeros(kernel.scratch + 8)]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(at)
    pointers = [a.ctypes.data for a in arrays]
    best = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            function(*pointers)
        best.append((time.perf_counter() - begin) / CALLS)
    return first, 1e6 * min(best), D.tolist()


def run(case, way):
    """Return what :func:`measure` finds in a new process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, '--case', case, '--way', way],
            env={**os.environ, 'SOFTROBOT_CACHE_DIR': folder},
            stdout=subprocess.PIPE,
            check=True,
        )
    return json.loads(done.stdout)


def kinds_of(text):
    """Return how many lines of a module are of each of KINDS."""
    kinds = ['other'] * len(text.splitlines())
    for node in ast.parse(text).body:
        lines = slice(node.lineno - 1, node.end_lineno)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            kinds[lines] = ['emitted'] * len(kinds[lines])  # a template
        if isinstance(node, ast.FunctionDef):
            marks = ' '.join(map(ast.unparse, [*node.decorator_list, node.args]))
            traced = 'traced_loop' in marks or 'axes' in marks or ': LaneRows' in marks
            compiled = any(word in marks for word in ('kernel', 'inlined', 'reduction'))
            kind = 'traced' if traced else 'kernels' if compiled else 'emitted'
            kinds[lines] = [kind] * len(kinds[lines])
            for loop in (x for x in ast.walk(node) if compiled and isinstance(x, ast.For)):
                if re.search(r'\b(B|N|R|len)\b', ast.unparse(loop.iter)):
                    inner = slice(loop.lineno - 1, loop.end_lineno)
                    kinds[inner] = ['by hand'] * len(kinds[inner])
            if ast.get_docstring(node):
                said = slice(node.body[0].lineno - 1, node.body[0].end_lineno)
                kinds[said] = ['other'] * len(kinds[said])
    return Counter(kinds)


def print_lines():
    """Print the lines of each module and of two chain rules, and the nodes of formulas."""
    print(f'{"lines":32s}' + ''.join(f'{kind:>9s}' for kind in (*KINDS, 'all')))
    total = Counter()
    for name in FILES:
        found = kinds_of((ROOT / f'{name}.py').read_text())
        total += found
        print_row(name, found)
    print_row('all', total)
    counts = [
        sum(len(inspect.getsource(getattr(f, 'py_func', f)).splitlines()) for f in functions)
        for functions in (BY_HAND, TRACED)
    ]
    nodes = {case: count_nodes(case) for case in ('small', 'learned')}
    print(f'nodes of whole formulas {nodes}, compiled are at most {derivative_kernels.MAX_NODES}')
    print(f'chain rule through a unit of a network: {counts[0]} lines by hand, {counts[1]} traced')


def print_row(name, found):
    """Print a row of counts of lines."""
    counts = [*(found[kind] for kind in KINDS), found.total()]
    print(f'{name:32s}' + ''.join(f'{count:9d}' for count in counts))


def main():
    """Print a line for each case and way."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=5, help='processes, of each way')
    parser.add_argument('--case', help=argparse.SUPPRESS)
    parser.add_argument('--way', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.case, options.way)))
        return
    print_lines()
    for case, ways in (('learned', ('loops',)), ('small', ('unrolled',))):
        found = {way: [] for way in ('by hand', *ways)}
        for _ in range(options.runs):
            for way, runs in found.items():
                runs.append(run(case, way))
        for way, runs in found.items():
            hand = found['by hand']
            first, call = (np.array([run[i] for run in runs]) for i in range(2))
            ratios = [
                np.median([run[i] / other[i] for run, other in zip(runs, hand)]) for i in range(2)
            ]
            wanted = np.array(hand[0][2])
            error = np.abs(np.array(runs[0][2]) - wanted).max() / np.abs(wanted).max()
            print(
                f'{case:8s} {way:9s} compile {np.median(first):5.2f} s ({ratios[0]:.2f} x), '
                f'call {np.median(call):7.1f} us ({ratios[1]:.2f} x), difference {error:.0e}',
                flush=True,
            )


if __name__ == '__main__':
    main()
