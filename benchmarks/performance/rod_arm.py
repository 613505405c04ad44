# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Arms of segments with six constant strains beside SoRoMoX."""

import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import numpy as np
from operations import count, fastest
from page import FAINT, OURS, PEER
import pcs
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import FULL
from timing import in_turns, python_loop, ratio, spread

TITLE = 'Rods of constant strain'
PACKAGES = ('soromox', 'jax')

SEGMENTS = 1, 2, 3, 6, 12
ARM, LONG = 3, 12  # those that targets are about
MORE_POINTS = 10  # of the quadrature of a segment: our default
AIM, LONG_AIM = 30.0, 40.0  # times faster
TOLERANCE = 1e-10  # of the largest entry
WORKS = 'ID', 'MID'
COMPILED = 'rod_arm_compiled.json'

_WORDS = """
Three segments (n = {n}), all six strains, {points} Gauss points each, gravity, elasticity,
damping. Peer: SoRoMoX, whose ID is made of its `dynamics_terms`, M among them: one jitted
function of arrays on the device, on the calling thread (`jax_cpu_enable_async_dispatch` off,
twice as fast). Its methods one by one, each jitted, take {methods} µs for ID. Ours is the program
that a controller calls from Python; 'in a loop' leaves out the call.

Checked first: ours equals a third formulation, by scipy's exponentials, to {ours:.0e} of the
largest entry, SoRoMoX to {peer:.0e}. As published it is off by {shipped:.0e}, as its Gauss points
are of single precision; exact ones were put in.
"""
_OPERATIONS = """
Operations: {words}. Peak: numpy's product of two 512 × 512 matrices on one thread, {peak}
GFLOP/s. The {steps} steps of a segment are computed side by side, in rows of sixteen; frames,
twists and sums then run step by step.
"""
_FIRST = """
First ID and M in a new process, without imports: ours {cold:.1f} s with nothing compiled, SoRoMoX
{peer_cold:.1f} s (each once); ours {warm} s with its cache, SoRoMoX {peer_warm} s with JAX's,
which is off by default.
"""
_CAPTION = (
    'Growth with the arm, five Gauss points to a segment, medians and ranges. M alone has n² '
    'entries.'
)


@kernel
def repeat(robot, Q, M, with_mass, q, qd, qdd, repeats):
    """ID, or with the mass matrix MID, many times."""
    for _ in range(repeats):
        inverse_dynamics(robot, FULL, with_mass, Q, M, q, qd, qdd)


def prepare(folder):
    """Have both compile the arm in new processes, with nothing cached."""
    found = {}
    for name in ('ours', 'soromox'):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, __file__, name, cache]
            surroundings = {**os.environ, 'SOFTROBOT_CACHE_DIR': cache}
            done = subprocess.run(
                command, env=surroundings, stdout=subprocess.PIPE, text=True, check=True
            )
        found[name] = float(done.stdout.splitlines()[-1])
    (Path(folder) / COMPILED).write_text(json.dumps(found))


def measure(folder):
    """Return {'arms': {segments: {who and work: seconds}}, 'first', 'compiled', 'errors'}."""
    pcs.use_jax(folder)
    first = {'ours': _first(_Ours), 'soromox': _first(_Soromox)}
    arms = {str(segments): _times(segments, pcs.POINTS) for segments in SEGMENTS}
    arms[f'{ARM}, {MORE_POINTS} points'] = _times(ARM, MORE_POINTS)
    return {
        'arms': arms,
        'methods': in_turns({'ID': python_loop(_Soromox(ARM).by_methods)})['ID'],
        'first': first,
        'compiled': json.loads((Path(folder) / COMPILED).read_text()),
        'operations': {str(segments): _Ours(segments).operations() for segments in (ARM, LONG)},
        'product': fastest(),
        'errors': _errors(),
    }


class _Ours:
    """An arm in our program."""

    def __init__(self, segments, points=pcs.POINTS):
        model = self._model = pcs.arm(segments, points)
        self._state = pcs.state(segments)
        self._Q, self._M = np.empty(model.n), np.empty((model.n, model.n))
        given = {'robot': model.robot(), 'Q': self._Q, 'M': self._M}
        self._program = cached(inverse_dynamics, **given)
        self._repeat = cached(repeat, **given)

    def results(self):
        """Return ID and M."""
        self._program(FULL, True, *self._state)
        return self._Q, self._M

    def functions(self):
        """Return functions to be timed."""
        functions = {}
        for work, with_mass in zip(WORKS, (False, True)):
            functions[work] = python_loop(self._program, FULL, with_mass, *self._state)
            functions[f'{work} in a loop'] = self._loop(with_mass), 1
        return functions

    def operations(self):
        """Return how many floating-point operations each work takes."""
        program, out = cached(repeat), (self._Q, self._M)
        return {
            work: count(program, self._model.robot(), *out, with_mass, *self._state, 1)
            for work, with_mass in zip(WORKS, (False, True))
        }

    def _loop(self, with_mass):
        return lambda repeats: self._repeat(with_mass, *self._state, repeats)


class _Soromox:
    """An arm in SoRoMoX."""

    def __init__(self, segments, points=pcs.POINTS, exact=True):
        import jax

        arm, places = pcs.soromox(segments, points, exact), pcs.order(6 * segments)
        self._own = np.argsort(places)
        self._state = tuple(map(jax.numpy.array, pcs.state(segments)[:, places]))

        def both(q, qd, qdd):
            M, c, g = arm.dynamics_terms(q, qd)
            return M @ qdd + c + g + arm.elastic_force(q) + arm.damping_matrix(q) @ qd, M

        self._both, self._compiled = both, (jax.jit(lambda *state: both(*state)[0]), jax.jit(both))

    def results(self):
        """Return ID and M, in our coordinates."""
        Q, M = map(np.array, self._compiled[1](*self._state))
        return Q[self._own], M[np.ix_(self._own, self._own)]

    def by_methods(self):
        """Find ID without compiling it as a whole."""
        self._both(*self._state)[0].block_until_ready()

    def functions(self):
        """Return functions to be timed."""
        force, both = self._compiled
        return {
            'ID': python_loop(lambda: force(*self._state).block_until_ready()),
            'MID': python_loop(lambda: both(*self._state)[1].block_until_ready()),
        }


def _first(who):
    """Seconds from the description of the arm to its first ID and M."""
    start = time.perf_counter()
    who(ARM).results()
    return time.perf_counter() - start


def _times(segments, points):
    """Seconds of each work, ours and SoRoMoX's, whose results are equal."""
    parties = {'ours': _Ours(segments, points), 'soromox': _Soromox(segments, points)}
    error = _difference(*(party.results() for party in parties.values()))
    assert error <= TOLERANCE, f'results differ by {error:.1e}'
    functions = {
        f'{who} {work}': function
        for who, party in parties.items()
        for work, function in party.functions().items()
    }
    return in_turns(functions)


def _errors():
    """Differences from the third formulation, of the largest entry."""
    wanted = pcs.reference(*pcs.state(ARM))
    found = {
        'ours': _difference(_Ours(ARM).results(), wanted),
        'soromox': _difference(_Soromox(ARM).results(), wanted),
    }
    assert max(found.values()) <= TOLERANCE, found
    return {**found, 'shipped': _difference(_Soromox(ARM, exact=False).results(), wanted)}


def _difference(found, wanted):
    return max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in zip(found, wanted))


def report(page, runs):
    """Write the section: the arm, its first call, longer arms."""
    errors = {key: spread(runs, 'errors', key).high for key in runs[0]['errors']}
    page.text(_WORDS.format(
        n=6 * ARM, points=pcs.POINTS, ours=errors['ours'], peer=errors['soromox'],
        shipped=errors['shipped'], methods=spread(runs, 'methods').text(1e-6),
    ))  # fmt: skip
    names = [str(segments) for segments in SEGMENTS if segments in (ARM, LONG)]
    names.insert(1, f'{ARM}, {MORE_POINTS} points')
    rows = [
        [f'{name} segments, {work}' if name.isdigit() else f'{name} each, {work}']
        + [_time(runs, name, f'ours {work}{where}') for where in (' in a loop', '')]
        + [_time(runs, name, f'soromox {work}'), _faster(runs, name, work, work).text()]
        for name in names
        for work in WORKS
    ]
    page.table(['', 'ours, in a loop [µs]', 'ours [µs]', 'SoRoMoX [µs]', 'times faster'], rows)
    page.text(_profile(runs))
    page.text(_FIRST.format(
        cold=runs[0]['compiled']['ours'], peer_cold=runs[0]['compiled']['soromox'],
        warm=spread(runs, 'first', 'ours').text(),
        peer_warm=spread(runs, 'first', 'soromox').text(),
    ))  # fmt: skip
    page.figure('rod_arm', lambda axes: _draw(axes, runs), _CAPTION)
    for name, ours, peer, aim in (
        (ARM, 'ID', 'ID', AIM), (ARM, 'MID', 'MID', AIM), (LONG, 'MID', 'ID', LONG_AIM),
    ):  # fmt: skip
        share = _faster(runs, str(name), ours, peer)
        page.target(
            f'PCS, {name} segments, {ours} beside {peer} of SoRoMoX',
            f'at least {aim:g} × faster',
            f'{share.text()} ×',
            share.median >= aim,
        )


def _profile(runs):
    """Say how much is computed, and how fast."""
    words = []
    for name, made in runs[0]['operations'].items():
        for work, number in made.items():
            rates = [number / run['arms'][name][f'ours {work} in a loop'] for run in runs]
            shares = [rate / run['product'] for rate, run in zip(rates, runs)]
            words.append(
                f'{work} of {name} segments makes {number} floating-point operations, '
                f'{np.median(rates) * 1e-9:.1f} per nanosecond ({np.median(shares):.0%} of peak)'
            )
    return _OPERATIONS.format(
        words='; '.join(words), peak=spread(runs, 'product').text(1e9), steps=pcs.POINTS + 1
    )


def _time(runs, name, work):
    return spread(runs, 'arms', name, work).text(1e-6)


def _faster(runs, name, ours, peer):
    return ratio(runs, ('arms', name, f'soromox {peer}'), ('arms', name, f'ours {ours}'))


def _draw(axes, runs):
    """Draw times over the number of coordinates."""
    n = 6 * np.array(SEGMENTS)
    for who, label, color in (('soromox', 'SoRoMoX', PEER), ('ours', 'ours', OURS)):
        for work, style in zip(WORKS, ('o-', 's--')):
            times = np.array([spread(runs, 'arms', str(s), f'{who} {work}') for s in SEGMENTS])
            middle, low, high = 1e6 * times.T
            axes.fill_between(n, low, high, color=color, alpha=0.2, lw=0)
            axes.plot(n, middle, style, color=color, label=f'{label}, {work}')
    axes.plot(n, middle[0] * n / n[0], ':', color=FAINT, label='slope 1')
    axes.set(xscale='log', yscale='log', xlabel='coordinates n', ylabel='time [µs]', xticks=n)
    axes.set_xticklabels(n)
    axes.minorticks_off()
    axes.legend(ncols=2)


if __name__ == '__main__':  # by prepare()
    if sys.argv[1] == 'soromox':
        pcs.use_jax(sys.argv[2])
    print(_first({'ours': _Ours, 'soromox': _Soromox}[sys.argv[1]]))
