# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Chains of N planar constant-curvature bodies beside Lagrange's equations in C: [P, Fig. 11]."""

import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import numpy as np
from operations import count
from page import OURS, PEER
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import INERTIAL
from symbolic import ALIKE, build, Chain, difference, find, LIMIT, OPERATIONS, STATES
from timing import in_turns, ratio, Spread, spread

TITLE = 'Chains of planar bodies, beside symbolic Lagrange'
PACKAGES = ('sympy',)

BODY = {'length': 0.3, 'radius': 0.03, 'density': 1000.0}
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128)
COUNTED = 1, 8, 128  # of which operations are counted
LONG = tuple(n for n in SIZES if n >= 32)  # of which exponents are taken
CURVES = {'ours': ('recursion', OURS), 'peer': ('Lagrange in C', PEER)}


@kernel
def repeat(robot, q, qd, qdd, with_mass, Q, M, repeats):
    """IID, or MIID, so many times."""
    for _ in range(repeats):
        inverse_dynamics(robot, INERTIAL, with_mass, Q, M, q, qd, qdd)


class Ours:
    """The recursion of a chain of n bodies, to be asked as a :class:`symbolic.Peer`."""

    def __init__(self, n):
        body = {'type': 'planar_cc', **BODY, 'young_modulus': 1e6}
        bodies = [{'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body} for i in range(n)]
        model = sd.compile_model(sd.load_robot({'name': 'chain', 'bodies': bodies}))
        self._robot, self._program = model.robot(), cached(repeat)
        self.out, self.mass, self._zero = np.zeros(n), np.zeros((n, n)), np.zeros(n)
        self.loop('bias', self._zero, self._zero)(1)

    def loop(self, operation, q, v, with_mass=False):
        """Return a function of the number of repeats of 'momentum' (M v) or 'bias' (c)."""
        qd, qdd = (v, self._zero) if operation == 'bias' else (self._zero, v)
        given = self._robot, q, qd, qdd, with_mass, self.out, self.mass
        return lambda repeats: self._program(*given, repeats)

    def operations(self, with_mass):
        """Return how many floating-point operations IID or MIID makes."""
        ones, zero = np.ones(len(self.out)), self._zero
        return count(
            self._program, self._robot, ones, ones, zero, with_mass, self.out, self.mass, 1
        )


def prepare(folder):
    """Build the peers, as far as they go, and time our own first use, which compiles for any N."""
    path = Path(folder) / 'planar_chain_first_use.json'
    path.write_text(json.dumps(_first_use()))
    for operation in OPERATIONS:
        for n in SIZES:
            if build(folder, Chain(operation, n, **BODY)) is None:
                break


def _first_use():
    """Return the time [s] until the first result in a new process without a cache."""
    code = 'import planar_chain, time; start = time.perf_counter(); planar_chain.Ours(1); '
    command = [sys.executable, '-c', code + 'print(time.perf_counter() - start)']
    with tempfile.TemporaryDirectory() as cache:
        given = {**os.environ, 'SOFTROBOT_CACHE_DIR': cache}
        done = subprocess.run(
            command, cwd=Path(__file__).parent, env=given, stdout=subprocess.PIPE, check=True
        )
    return float(done.stdout)


def measure(folder):
    """Return times [s] of building and of a call at q = qd = qdd = 1, and differences, by N."""
    found = {'first_use': json.loads((Path(folder) / 'planar_chain_first_use.json').read_text())}
    Ours(1)  # loads the machine code
    for n in SIZES:
        start = time.perf_counter()
        ours, peers = Ours(n), {}
        _note(found, 'build', 'ours', n, time.perf_counter() - start)
        for operation in OPERATIONS:
            peer, seconds = find(folder, Chain(operation, n, **BODY))
            if peer:
                error = difference(ours, peer, operation, n)
                assert error < ALIKE, (operation, n, error)
                peers[operation] = peer
                _note(found, 'build', operation, n, seconds)
                _note(found, 'difference', operation, n, error)
        for (operation, who), seconds in _times(ours, peers, n).items():
            _note(found, operation, who, n, seconds)
        if n in COUNTED:
            for kind in ('bias', 'mass'):
                _note(found, 'operations', kind, n, ours.operations(kind == 'mass'))
    found['exponent'] = {kind: _exponent(found[kind]['ours']) for kind in ('bias', 'mass')}
    return found


def _times(ours, peers, n):
    """Return {(operation, who): time [s] of a call}; operation 'mass' is MIID."""
    ones = np.ones(n)
    loops = {('mass', 'ours'): (ours.loop('bias', ones, ones, with_mass=True), 1)}
    for operation in OPERATIONS:
        loops[operation, 'ours'] = ours.loop(operation, ones, ones), 1
    for operation, peer in peers.items():
        loops[operation, 'peer'] = peer.loop(operation, ones, ones), 1
    for each in (('mass', 'ours'), ('momentum', 'ours')):
        loops[each][0](1)
    assert np.abs(ours.mass @ ones - ours.out).max() < 1e-12 * np.abs(ours.out).max()
    return in_turns(loops, turns=5, least=0.02)


def _exponent(times):
    """Return the slope of log time over log N."""
    return float(np.polyfit(np.log(LONG), np.log([times[str(n)] for n in LONG]), 1)[0])


def _note(found, kind, who, n, value):
    found.setdefault(kind, {}).setdefault(who, {})[str(n)] = value


def report(page, runs):
    """Write the section."""
    body = f'R = {BODY["radius"]} m, L = {BODY["length"]} m, ρ = {BODY["density"]:g} kg/m³'
    page.text(
        f'A chain of N bodies `planar_cc` on fixed joints, {body}, at q = qd = qdd = 1 '
        '[P, Fig. 11], in a compiled loop: c = IID(q, qd, 0), MIID(q, qd, 0) and M qdd = '
        'IID(q, 0, qdd), the same program, which does not know that qd = 0.'
    )
    page.text(
        'Peer: the same chain, planar and for one N, by Lagrange’s equations in C. sympy '
        'differentiates the kinetic energy; the fastest of three sets of options of gcc counts '
        '(up to -O2 -march=native -ffast-math). The recursion is three-dimensional, and compiled '
        f'once for any N. The peer may take {LIMIT:g} s to derive and compile: {_reach(runs)} are '
        f'the largest. The recursion compiles in {runs[0]["first_use"]:.0f} s on first use, and '
        f'builds N = {SIZES[-1]} in {spread(runs, "build", "ours", str(SIZES[-1])).text(1e-3)} ms.'
    )
    _table(page, runs)
    page.figure(
        'planar_chain',
        lambda axes: _draw(axes, runs),
        'Chains of N planar bodies: time to build (dotted: first use of the recursion, which '
        'compiles for any N), times of M qdd and c, and the largest relative difference of either '
        f'in {STATES} random states',
        size=(11.0, 3.0),
        columns=4,
    )
    _validator(page, runs)


def _sizes(runs, kind, who):
    """Return all N of a curve."""
    return [int(n) for n in runs[0][kind][who]]


def _medians(runs, kind, who):
    return np.array([spread(runs, kind, who, str(n)).median for n in _sizes(runs, kind, who)])


def _reach(runs):
    reached = ((_sizes(runs, each, 'peer')[-1], name) for each, name in OPERATIONS.items())
    return ' and '.join(f'N = {n} for {name}' for n, name in reached)


def _table(page, runs):
    """Add the table of times by N."""
    columns = [(each, who) for each in OPERATIONS for who in CURVES] + [('mass', 'ours')]
    names = {**OPERATIONS, 'mass': 'MIID'}
    rows = []
    for n in SIZES:
        cells = [
            spread(runs, each, who, str(n)).text(1e-6) if n in _sizes(runs, each, who) else '–'
            for each, who in columns
        ]
        rows.append([str(n), *cells])
    page.table(['N', *(f'{names[each]}, {CURVES[who][0]} [µs]' for each, who in columns)], rows)


def _draw(axes, runs):
    for axis, (kind, title) in zip(axes[1:], OPERATIONS.items()):
        for who, (label, colour) in CURVES.items():
            _curve(axis, runs, kind, who, 1e6, color=colour, label=label)
        axis.set(title=title, ylabel='time [µs]')
    _curve(axes[2], runs, 'mass', 'ours', 1e6, color=OURS, ls='--', label='recursion, MIID')
    _curve(axes[0], runs, 'build', 'ours', color=OURS, label='recursion')
    axes[0].axhline(runs[0]['first_use'], color=OURS, ls=':')
    for (kind, name), marker in zip(OPERATIONS.items(), 'o^'):
        for axis, what in ((axes[0], 'build'), (axes[3], 'difference')):
            _curve(axis, runs, what, kind, color=PEER, marker=marker, label=f'Lagrange, {name}')
    axes[0].set(title='model', ylabel='time to build [s]')
    axes[3].set(title='difference', ylabel='relative difference')
    for axis in axes:
        axis.set(xlabel='N')
        axis.legend()


def _curve(axis, runs, kind, who, unit=1.0, **style):
    values = unit * _medians(runs, kind, who)
    axis.loglog(_sizes(runs, kind, who), values, markersize=3, **{'marker': 'o', **style})


def _validator(page, runs):
    """Say who is faster where, and set that against the targets."""
    worst = max(_medians(runs, 'difference', each).max() for each in OPERATIONS)
    compared = ' '.join(
        f'{name}: {_comparison(runs, operation)}' for operation, name in OPERATIONS.items()
    )
    page.text(f'{compared} Largest relative difference at any N: {worst:.1e}.')
    added = {n: _added(runs, str(n)) for n in COUNTED}
    grown = {kind: spread(runs, 'exponent', kind) for kind in ('bias', 'mass')}
    of_c, of_mass = (exponent.text(form='.3f') for exponent in grown.values())
    costs = ', '.join(f'{_percent(cost)} at N = {n}' for n, cost in added.items())
    page.text(
        f'The mass matrix adds to c {costs}. It has N² entries, so MIID at no extra '
        f'cost [P] cannot hold for long chains: from N = {LONG[0]} to {LONG[-1]} the time '
        f'of c grows as N to the power {of_c}, that of MIID as N to the power {of_mass}. '
        f'What it adds is work: {_work(runs)}.'
    )
    at = _crossing(runs, 'bias')
    page.target('IID of a planar chain, N = 32…128', 'exponent of N ≤ 1.02', of_c,
                grown['bias'].median <= 1.02)  # fmt: skip
    page.target('c of a planar chain, beside symbolic Lagrange in C', 'ahead from N ≤ 12',
                _from(runs, 'bias'), at is not None and at <= 12.0)  # fmt: skip
    page.target('M qdd of a planar chain, beside symbolic Lagrange in C', 'crossing published',
                _from(runs, 'momentum'), True)  # fmt: skip
    page.target('MIID beside IID, planar chain, N = 8', '≤ +35 %', _percent(added[8]),
                added[8].median <= 0.35)  # fmt: skip


def _added(runs, n):
    """Cost of MIID above that of IID, as a part of the latter."""
    return Spread(*(part - 1.0 for part in ratio(runs, ('mass', 'ours', n), ('bias', 'ours', n))))


def _work(runs):
    """Say how many operations c and MIID make, and at what speed."""
    words = []
    for n in map(str, COUNTED):
        made = [runs[0]['operations'][kind][n] for kind in ('bias', 'mass')]
        speeds = [
            np.median([each / run[kind]['ours'][n] for run in runs]) * 1e-9
            for kind, each in zip(('bias', 'mass'), made)
        ]
        words.append(
            f'{made[0]} floating-point operations for c and {made[1]} for MIID '
            f'({made[1] / made[0] - 1.0:+.0%}) at N = {n}, {speeds[0]:.1f} and {speeds[1]:.1f} '
            'of them per nanosecond'
        )
    return '; '.join(words)


def _percent(found):
    return f'{found.text(0.01, "+.0f")} %'


def _ratios(runs, operation):
    """Return the peer's time over ours, by N."""
    values = _medians(runs, operation, 'peer')
    return values / _medians(runs, operation, 'ours')[: len(values)]


def _crossing(runs, operation):
    """Return the N from which the recursion stays ahead, interpolated, or None."""
    sizes, logs = np.log(_sizes(runs, operation, 'peer')), np.log(_ratios(runs, operation))
    behind = np.flatnonzero(logs <= 0.0)
    if not len(behind):
        return float(SIZES[0])
    k = behind[-1]
    if k + 1 == len(logs):
        return None
    part = logs[k] / (logs[k] - logs[k + 1])
    return float(np.exp(sizes[k] + part * (sizes[k + 1] - sizes[k])))


def _from(runs, operation):
    at, last = _crossing(runs, operation), _sizes(runs, operation, 'peer')[-1]
    return f'from N = {at:.1f}' if at else f'not reached up to N = {last}'


def _comparison(runs, operation):
    """Say in words who is faster where."""
    sizes, ratios = _sizes(runs, operation, 'peer'), _ratios(runs, operation)
    at, slow = _crossing(runs, operation), np.argmin(ratios)
    if ratios[slow] > 1.0:
        return f'the recursion is faster at every N, {ratios[slow]:.1f} times or more.'
    words = f'Lagrange in C is faster, {1.0 / ratios[slow]:.1f} times at N = {sizes[slow]}'
    if at is None:
        return f'{words} and still {1.0 / ratios[-1]:.1f} times at N = {sizes[-1]}.'
    lead = f'the recursion is {ratios[-1]:.1f} times as fast at N = {sizes[-1]}'
    return f'{words}, up to N = {at:.1f}; {lead}.'
