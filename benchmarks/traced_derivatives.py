# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second derivatives of `lvp` and `learned` bodies: written by hand, or traced and emitted in loops.

    python benchmarks/traced_derivatives.py [--runs 5]

The arithmetic of a point is differentiated by the tracer instead: of an `lvp` the position and the
Jacobian of a point (`bodies/lvp/point_derivatives.py`), of a `learned` body the activation of a
unit (`bodies/learned/perceptron_derivatives.py`). The loops around it stay. `unrolled` traces the
whole formula of a small network, as of any other body, without loops.

Each way in a new process with an empty kernel cache, in turns: processor time until the kernel of
derivatives is compiled, and time of a call; medians over the processes. The result of each call is
compared with that of the code by hand. Last, lines of code by what they are.
"""

import argparse
import ast
import ctypes
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.learned import perceptron_derivatives as learned
from softrobot_dynamics.bodies.learned.body import Learned
from softrobot_dynamics.bodies.lvp import backbone_derivatives as backbone
from softrobot_dynamics.bodies.lvp import dilation_rows as dilation
from softrobot_dynamics.bodies.lvp import point_derivatives as points
from softrobot_dynamics.compiling import jit
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.kernels import lanes, layout
from softrobot_dynamics.tracing.derivative_kernels import body_derivatives
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, indented
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.traversal import topological

ROOT = Path(sd.__file__).parent / 'bodies'
FILES = {
    'lvp': (
        'backbone_derivatives', 'point_derivatives', 'stress_derivatives', 'length_hessians',
        'emit_derivatives',
    ),
    'learned': ('perceptron_derivatives', 'layer_derivatives'),
}  # fmt: skip
CALLS, ROUNDS = 5, 1000  # of a call the least counts: others use the machine, too
cross = lanes.cross.py_func


class Inputs:
    """Symbols of a formula, each with the expression that reads it in lane k."""

    def __init__(self):
        self.reads = []

    def number(self, text):
        """Return the symbol of an expression."""
        self.reads.append(text)
        return symbol('q', len(self.reads) - 1)

    def row(self, array, row):
        """Return the symbol of a row of an array."""
        return self.number(f'{array}[{row * BLOCK} + k]')

    def vector(self, array, row):
        """Return the symbols of three rows of an array."""
        return tuple(self.row(array, row + i) for i in range(3))

    def loop(self, writes, depth=4):
        """Return a loop over a block that writes nodes, {(array, row): node}."""
        code = Emitter(writes.values())
        stored = [f'{a}[{r * BLOCK} + k] = {code.name(x)}' for (a, r), x in writes.items()]
        read = f'q = ({", ".join(self.reads)},)'
        return (
            indented([f'for k in range({BLOCK}):'], depth)
            + '\n'
            + indented([read, *code.call, *stored], depth + 4)
        )


def seeds(*pairs):
    """Return the direction in which vectors, or numbers, change by others."""
    found = {}
    for values, changes in pairs:
        values, changes = (x if isinstance(x, tuple) else (x,) for x in (values, changes))
        found |= {x.value: change for x, change in zip(values, changes)}
    return found


def stored(array, row, nodes):
    """Return {(array, row): node} of nodes in rows one after the other."""
    return {(array, row + i): node for i, node in enumerate(nodes)}


def scaled(factor, vector):
    """Return a vector times a number."""
    return [factor * x for x in vector]


def moved_points():
    """Return ``_move_points``: p = o + f e, where e turns with the section."""
    x, P = Inputs(), points
    x1, x2, m = x.row('places', 0), x.row('places', 1), x.row('mass', 0)
    axes = x.vector('G', backbone.AXES), x.vector('G', backbone.AXES + 3)
    s, spun = (
        x.vector('G', backbone.ANGULAR_VELOCITY),
        x.vector('G', backbone.ANGULAR_ACCELERATION),
    )
    o, speed = x.vector('G', backbone.ORIGIN_ROW), x.vector('G', backbone.LINEAR_VELOCITY)
    pushed = x.vector('G', backbone.LINEAR_ACCELERATION)
    f, f1, f2 = (x.row('U', r) for r in (0, dilation.RATES, dilation.ACCELERATION))
    w = tuple(x.number(f'motion[{i}]') for i in range(3))
    turned = [(axis, tuple(cross(s, axis))) for axis in axes]
    by_time = seeds(*turned, (s, spun), (o, speed), (speed, pushed), (f, f1), (f1, f2))
    e = [a * x1 + b * x2 for a, b in zip(*axes)]
    u = scaled(f, e)
    p = [a + b for a, b in zip(o, u)]
    e1, u1, v = (tangent(vector, by_time) for vector in (e, u, p))
    e2, u2, a = (tangent(vector, by_time) for vector in (e1, u1, v))
    force = scaled(m, a)
    turning = scaled(2.0 * m, [a + b for a, b in zip(v, cross(p, w))])
    writes = (
        stored('S', P.ARM, [*e, *e1, *e2])
        | stored('S', P.LEVER, [*u, *u1, *u2])
        | stored('S', P.POSITION, p)
        | stored('S', P.VELOCITY, turning)
        | stored('S', P.TWICE_VELOCITY, scaled(2.0 * m, v))
        | stored('S', P.MOMENT, [*cross(p, force), *force])
    )
    return f'\n\n@kernel\ndef move_points(mass, places, motion, U, G, S):\n{x.loop(writes)}\n'


def moved_columns():
    """Return ``_place_column`` and ``_move_column``: J = c + eta x u + g e, g = phi df/dz."""
    x, P, dilated = Inputs(), points, 'share * phi[k] * dilated[{} + k]'
    g, g1, g2 = (
        x.number(dilated.format(r * BLOCK)) for r in (0, dilation.RATES, dilation.ACCELERATION)
    )
    e, e1, e2 = (x.vector('S', P.ARM + 3 * i) for i in range(3))
    u, u1, u2 = (x.vector('S', P.LEVER + 3 * i) for i in range(3))
    h, h1, h2 = (x.vector('own', backbone.ETA + 3 * i) for i in range(3))
    c, c1, c2 = (x.vector('own', backbone.ORIGIN_DERIVATIVE + 3 * i) for i in range(3))
    force, m = x.vector('S', P.FORCE), x.row('mass', 0)
    by_time = seeds(
        *((e, e1), (e1, e2), (u, u1), (u1, u2), (h, h1), (h1, h2), (c, c1), (c1, c2)),
        *((g, g1), (g1, g2)),
    )
    J = [a + b + g * arm for a, b, arm in zip(c, cross(h, u), e)]
    J1 = tangent(J, by_time)
    J2 = tangent(J1, by_time)
    (along,) = tangent([sum(a * b for a, b in zip(e, force))], seeds((e, tuple(cross(h, e)))))
    place = stored('column', 0, [*J, *h, g])
    move = stored(
        'S', P.WRENCH_DERIVATIVES, [*scaled(m, J2), *cross(J, force), along, *scaled(2.0 * m, J1)]
    )
    head = '    share = 1.0 if dilates else 0.0\n'
    return (
        f'\n\n@kernel\ndef place_column(dilates, phi, dilated, own, S, column):\n{head}'
        # a tuple of more symbols than are used costs nothing: they are removed
        f'{x.loop(place).replace("mass[0 + k]", "0.0")}\n'
        '\n\n@kernel\ndef move_column(dilates, weights, dilated, own, column, S):\n'
        f'    mass, phi = weights\n{head}{x.loop(move)}\n'
    )


def activated():
    """Return ``activate_derivatives``: chain rule of f(z), traced for each pair of loops."""
    x = Inputs()
    f = [x.row('derivatives', i) for i in range(4)]

    def along(z, *pairs):
        """Return the direction that changes z, thus f and its derivatives, and others."""
        return seeds(*pairs) | {f[i].value: f[i + 1] * z for i in range(3)}

    g, z_j, z_k, z_jk = (x.row(name, 0) for name in ('g', 'z_j', 'z_k', 'z_jk'))
    g_j, g_k, g_jk = (x.row(name, 0) for name in ('g_j', 'g_k', 'g_jk'))
    r, bias, r_k, third = (x.row(name, 0) for name in ('rate', 'bias', 'moved', 'third'))
    by_j = along(z_j, (g, g_j), (z_k, z_jk), (g_k, g_jk))
    by_k = along(z_k, (g, g_k), (r, r_k), (bias, third))
    (y_k,), (y_t,) = tangent(f[:1], by_k), tangent(f[:1], along(g))
    (y_jk,), (y_tk,) = tangent([y_k], by_j), tangent([y_t], by_k)
    (y_tjk,) = tangent([y_tk], by_j)
    by_time = along(r, (r, bias))
    (twice,) = tangent(tangent(f[:1], by_time), by_time)
    (y_k2,) = tangent([twice], by_k)
    fields = {
        'value': ('value', f[0]), 'first': ('z_k', y_k), 'second': ('z_jk', y_jk),
        'g': ('g', y_t), 'g_first': ('g_k', y_tk), 'g_second': ('g_jk', y_tjk),
        'third': ('third', y_k2),
    }  # fmt: skip
    for name, (array, node) in fields.items():
        used = {n.value[1] for n in symbols([node])}
        reads = Inputs()
        reads.reads = [text if i in used else '0.0' for i, text in enumerate(x.reads)]
        depth = {'second': 12, 'first': 8, 'third': 8}.get(name.rpartition('_')[2], 4)
        fields[name] = reads.loop({(array, 0): node}, depth)
    return ACTIVATE.format(B=BLOCK, **fields)


def symbols(nodes):
    """Return the symbols below nodes."""
    return [node for node in topological(nodes) if node.op == 'symbol']


ACTIVATE = """

@kernel
def activate_derivatives(n, directions, qd, derivatives, row):
    each = (1 + n + n * (n + 1) // 2) * {B}
    base = row[:each + n * {B}]
    for t in range(directions):
        start = each * (1 + t) + n * {B}
        activate_direction(n, derivatives, base, row[start:start + each])
    activate_motion(n, qd, derivatives, base, base[each:each + n * {B}])
    at, value = (1 + n) * {B}, base[:{B}]
    for a in range(n):
        z_k = base[(1 + a) * {B}:(2 + a) * {B}]
        for b in range(a + 1):
            z_j, z_jk = base[(1 + b) * {B}:(2 + b) * {B}], base[at:at + {B}]
{second}
            at += {B}
    for a in range(n):
        z_k = base[(1 + a) * {B}:(2 + a) * {B}]
{first}
{value}


@kernel
def activate_direction(n, derivatives, base, own):
    g, at = own[:{B}], (1 + n) * {B}
    for a in range(n):
        z_k, g_k = base[(1 + a) * {B}:(2 + a) * {B}], own[(1 + a) * {B}:(2 + a) * {B}]
        for b in range(a + 1):
            z_j, g_j = base[(1 + b) * {B}:(2 + b) * {B}], own[(1 + b) * {B}:(2 + b) * {B}]
            z_jk, g_jk = base[at:at + {B}], own[at:at + {B}]
{g_second}
            at += {B}
    for a in range(n):
        z_k, g_k = base[(1 + a) * {B}:(2 + a) * {B}], own[(1 + a) * {B}:(2 + a) * {B}]
{g_first}
{g}


@kernel
def activate_motion(n, qd, derivatives, base, thirds):
    rate, bias = derivatives[4 * {B}:5 * {B}], derivatives[5 * {B}:6 * {B}]
    moved = derivatives[6 * {B}:7 * {B}]
    along(n, qd, base, rate)
    bias[:] = 0.0
    for a in range(n):
        moved[:] = 0.0
        add_rate(n, a, qd, base[(1 + n) * {B}:], 1, moved)
        for k in range({B}):
            bias[k] += qd[a] * moved[k]
    for a in range(n):
        third, z_k = thirds[a * {B}:(a + 1) * {B}], base[(1 + a) * {B}:(2 + a) * {B}]
        moved[:] = 0.0
        add_rate(n, a, qd, base[(1 + n) * {B}:], 1, moved)
{third}
"""


def compiled(source, *names):
    """Return the kernels of a source, without compiling them yet."""
    place = {'kernel': jit.kernel, 'along': learned.along, 'add_rate': learned.add_rate}
    exec(compile(source, '<traced>', 'exec'), place)
    return [place[name] for name in names]


def trace_loops(kind):
    """Put traced code in the place of code by hand, before anything is compiled."""
    if kind == 'lvp':
        points._move_points, points._place_column, points._move_column = compiled(
            moved_points() + moved_columns(), 'move_points', 'place_column', 'move_column'
        )
    else:
        (learned.activate_derivatives,) = compiled(activated(), 'activate_derivatives')


def body_of(case):
    """Return the body of a case: that of a robot, or a network (n, hidden)."""
    if case == 'lvp':
        model = sd.load_robot('trimmed_helicoid')
        return model.modules[0].body
    sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))
    from support.weights import network

    n, hidden, elastic = {'learned': (6, (16, 16), True), 'small': (2, (5,), False)}[case]
    fields = {'radius': (0.02, 0.016), 'density': 1070.0}
    if elastic:
        from softrobot_dynamics.materials.neo_hookean import NeoHookean

        fields['material'] = NeoHookean(young_modulus=2e5, poisson_ratio=0.4, damping=0.03)
    return Learned(network(n, hidden), **fields)


def unrolled(body):
    """Return the kernel of derivatives of a body whose formula is traced as a whole."""
    n = len(body.coordinates())
    q, x = ([symbol(kind, j) for j in range(count)] for kind, count in (('q', n), ('x', 3)))
    traced = body_derivatives(body.position(x, q, SYMBOLIC), body.tip_frame(q, SYMBOLIC), n)
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
        trace_loops('lvp' if case == 'lvp' else 'learned')
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


def count_lines():
    """Print how many lines are statements of loops over a block, and how many are others."""
    total = inner = 0
    for kind, names in FILES.items():
        files = [ROOT / kind / f'{name}.py' for name in names]
        for text in (path.read_text() for path in files):
            total += len(text.splitlines())
            lines = set()
            for node in ast.walk(ast.parse(text)):
                over = isinstance(node, ast.For) and ast.unparse(node.iter)
                if over and re.search(r'\b(B|N|R|len)\b', over):
                    lines |= set(range(node.lineno + 1, node.end_lineno + 1))
            inner += len(lines)
    print(f'{total} lines, of which {inner} in loops over the points of a block, or over nodes')


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
    count_lines()
    for case, ways in (('lvp', ('loops',)), ('learned', ('loops',)), ('small', ('unrolled',))):
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
