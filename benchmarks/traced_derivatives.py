# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of `lvp` and `learned` bodies: what is traced, and what traced loops cost.

    python benchmarks/traced_derivatives.py [--runs 5]
    python benchmarks/traced_derivatives.py --against FOLDER   beside another checkout

First, the lines of their modules by what they are:

- `traced`: formulas that the tracer differentiates (:mod:`softrobot_dynamics.tracing.loops`);
- `by hand`: arithmetic in loops over the points of a block, or over nodes;
- `kernels`: loops over coordinates and layers, sums, and slices of arrays around these;
- `emitted`: templates, tables and sizes of scratch;
- `other`: docstrings, imports, constants.

Then kernels of networks, each way in a new process with an empty kernel cache, in turns: processor
time until a kernel is there, and time of a call; medians over the processes, and of the ratios.
`unrolled` traces the whole formula of a small network, as of any other body, without loops over
layers and coordinates; the nodes of the larger one are too many. ``FOLDER`` may be a checkout
without `bodies/learned/chain_rule.py`: there the chain rule of a unit is by hand.
"""

import argparse
import ast
from collections import Counter
import ctypes
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
from softrobot_dynamics.bodies.learned.body import Learned
from softrobot_dynamics.compiling import jit
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.tracing import derivative_kernels
from softrobot_dynamics.tracing.emit import BLOCK
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.traversal import topological

HERE = Path(__file__).resolve().parents[1]
ROOT = Path(sd.__file__).parent / 'bodies'
FILES = (
    'lvp/backbone_derivatives', 'lvp/point_derivatives', 'lvp/stress_derivatives',
    'lvp/length_hessians', 'lvp/emit_derivatives', 'learned/chain_rule',
    'learned/perceptron_derivatives', 'learned/layer_derivatives',
)  # fmt: skip
KINDS = 'traced', 'by hand', 'kernels', 'emitted', 'other'
SIGNATURES = {'terms': 'P, q, qd, w, W, S', 'derivatives': 'P, q, qd, qdd, motion, D, S'}
CALLS, ROUNDS = 5, 1000  # of a call the least counts: others use the machine, too


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


def measure(kind, case, way):
    """Return processor time [s] until the kernel is there, time of a call [us], and its result."""
    body = body_of(case)
    begin = time.process_time()
    kernel = {
        'unrolled': lambda: unrolled(body),
        'derivatives': body.derivatives_kernel,
        'terms': body.kernel,
    }[way if way == 'unrolled' else kind]()
    at = address(kernel.module, kernel.function, SIGNATURES[kind])
    first = time.process_time() - begin
    n, rng = len(body.coordinates()), np.random.default_rng(1)
    states = [0.02 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)]
    if kind == 'terms':
        given, out = [*states[:2], rng.normal(size=3)], np.zeros(layout.body_size.py_func(n))
    else:
        given, out = [*states, rng.normal(size=9)], np.zeros(layout.derivatives_size(n))
    arrays = [kernel.parameters, *given, out, np.zeros(kernel.scratch + 8)]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(at)
    pointers = [a.ctypes.data for a in arrays]
    best = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            function(*pointers)
        best.append((time.perf_counter() - begin) / CALLS)
    return first, 1e6 * min(best), out.tolist()


def run(kind, case, way, checkout):
    """Return what :func:`measure` finds in a new process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        surroundings = {'SOFTROBOT_CACHE_DIR': folder, 'PYTHONPATH': str(checkout)}
        done = subprocess.run(
            [sys.executable, __file__, '--measure', kind, case, way],
            env={**os.environ, **surroundings},
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
    """Print the lines of each module, and the nodes of formulas."""
    print(f'{"lines":32s}' + ''.join(f'{kind:>9s}' for kind in (*KINDS, 'all')))
    total = Counter()
    for name in FILES:
        found = kinds_of((ROOT / f'{name}.py').read_text())
        total += found
        print_row(name, found)
    print_row('all', total)
    nodes = {case: count_nodes(case) for case in ('small', 'learned')}
    print(f'nodes of whole formulas {nodes}, compiled are at most {derivative_kernels.MAX_NODES}')


def print_row(name, found):
    """Print a row of counts of lines."""
    counts = [*(found[kind] for kind in KINDS), found.total()]
    print(f'{name:32s}' + ''.join(f'{count:9d}' for count in counts))


def main():
    """Print a line for each kernel and way."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=5, help='processes, of each way')
    parser.add_argument('--against', metavar='FOLDER', type=Path, help='checkout to compare with')
    parser.add_argument('--measure', nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    print_lines()
    other = [] if options.against is None else [('other', options.against.resolve())]
    for kind, case, ways in (
        ('terms', 'learned', [*other, ('loops', HERE)]),
        ('derivatives', 'learned', [*other, ('loops', HERE)]),
        ('derivatives', 'small', [('loops', HERE), ('unrolled', HERE)]),
    ):
        found = [[run(kind, case, *way) for way in ways] for _ in range(options.runs)]
        for i, (way, _) in enumerate(ways):
            figures, first = (np.array([turn[j][:2] for turn in found]) for j in (i, 0))
            (compiling, call), ratios = (np.median(x, axis=0) for x in (figures, figures / first))
            result, wanted = (np.array(found[0][j][2]) for j in (i, 0))
            error = np.abs(result - wanted).max() / np.abs(wanted).max()
            print(
                f'{kind:11s} {case:8s} {way:9s} compile {compiling:5.2f} s ({ratios[0]:.2f} x), '
                f'call {call:7.1f} us ({ratios[1]:.2f} x), difference {error:.0e}',
                flush=True,
            )


if __name__ == '__main__':
    main()
