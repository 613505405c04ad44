# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The UR10e, and longer chains of its links, beside Pinocchio.

Both run many states within one compiled program, ours by numba, Pinocchio's in C++, see
pinocchio_chain.py. Of Pinocchio's builds and of crba's two conventions the fastest counts.
"""

import subprocess

from matplotlib.ticker import LogLocator
import numpy as np
from page import FAINT, OURS, PEER
import pinocchio_chain
from pinocchio_chain import BUILDS, CONVENTIONS, Peer, pinocchio_model
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import FULL
from timing import in_turns, python_loop, ratio, spread

TITLE = 'Rigid arm'
PACKAGES = ('pin', 'cmeel-eigen')

LENGTHS = 6, 12, 24, 48  # links; six are the UR10e itself
STATES = 100
TOLERANCE = 1e-12  # of the largest entry
PAIRS = ('ID', 'rnea'), ('MID', 'rnea + crba')  # our work and its peer's

_LINKS = ', '.join(map(str, LENGTHS))
_WORDS = """
Inverse dynamics (ID), and with the mass matrix (MID), of {states} random states in one compiled
program. Peer: Pinocchio's `rnea` and `crba` in a C++ program, `-O3 -DNDEBUG`, by {compiler}, with
and without `-march=native`, `crba` in both conventions; the fastest of a process counts. Its code
generation, for one robot only, is not compared.
"""
_CAPTION = f'Chains of {_LINKS} links, those of the UR10e over and over; medians and ranges.'


def prepare(folder):
    """Compile Pinocchio's side."""
    pinocchio_chain.build(folder)


def measure(folder):
    """Return {'chains': {links: {work: seconds}}, 'calls': {call: seconds}, 'compiler': words}."""
    chains = {length: _chain(length) for length in LENGTHS}
    version = subprocess.run(['g++', '--version'], stdout=subprocess.PIPE, text=True, check=True)
    return {
        'chains': {str(n): _in_loops(folder, model) for n, model in chains.items()},
        'calls': _from_python(chains[LENGTHS[0]]),
        'compiler': version.stdout.splitlines()[0],
    }


def _chain(length):
    """Return the model of the UR10e, or of as many of its links, over and over."""
    robot = sd.load_robot('ur10e')
    if length != len(robot.modules):
        links = [robot.modules[i % len(robot.modules)] for i in range(length)]
        bodies = [
            {'name': f'link{i}', 'joint': link.joint, 'body': link.body}
            for i, link in enumerate(links)
        ]
        robot = sd.load_robot({'name': 'chain', 'gravity': robot.gravity, 'bodies': bodies})
    return sd.compile_model(robot)


def _states(n):
    """Random q [rad], qd [rad/s], qdd [rad/s^2], (STATES, n) each."""
    return np.random.default_rng(1).uniform(-3.0, 3.0, (3, STATES, n))


def _in_loops(folder, model):
    """Seconds for one state, of our and of Pinocchio's programs."""
    q, qd, qdd = _states(model.n)
    Q, M = np.empty((STATES, model.n)), np.empty((STATES, model.n, model.n))
    robot, program = model.robot(), cached(repeat)

    def ours(with_mass):
        def loop(repeats):
            program(robot, q, qd, qdd, FULL, with_mass, Q, M, repeats)

        return loop, STATES

    functions = {'ID': ours(False), 'MID': ours(True)}
    for work in ('MID', 'ID'):
        functions[work][0](1)
    for build in BUILDS:
        for name, convention in CONVENTIONS.items():
            peer = Peer(folder, build, model, convention)
            forces, matrices = peer.results(q, qd, qdd)
            _require_equal(Q, forces)
            if convention >= 0:
                _require_equal(M, matrices)
            functions[f'{build} {name}'] = peer.loop(q, qd, qdd), STATES
    found = in_turns(functions)
    rnea = [found[f'{build} none'] for build in BUILDS]
    both = [found[f'{build} {name}'] for build in BUILDS for name in ('local', 'world')]
    return {**found, 'rnea': min(rnea), 'rnea + crba': min(both)}


@kernel
def repeat(robot, q, qd, qdd, mode, with_mass, Q, M, repeats):
    """ID or MID of all states (., n), many times: Q (., n) and M (., n, n)."""
    for _ in range(repeats):
        for i in range(len(q)):
            inverse_dynamics(robot, mode, with_mass, Q[i], M[i], q[i], qd[i], qdd[i])


def _from_python(model):
    """Seconds for a call from Python at one state, ours and Pinocchio's."""
    import pinocchio

    (q, qd, qdd), n = _states(model.n)[:, 0], model.n
    given = {'robot': model.robot(), 'Q': np.empty(n), 'M': np.empty((n, n))}
    program = cached(inverse_dynamics, **given)
    other = pinocchio_model(model)
    data = other.createData()
    state = {'q': q, 'qd': qd, 'qdd': qdd}
    _require_equal(sd.inverse_dynamics(model, **state), pinocchio.rnea(other, data, q, qd, qdd))

    def rnea_and_crba():
        pinocchio.rnea(other, data, q, qd, qdd)
        pinocchio.crba(other, data, q)

    return in_turns(
        {
            'ID, program': python_loop(program, FULL, False, q, qd, qdd),
            'MID, program': python_loop(program, FULL, True, q, qd, qdd),
            'ID': python_loop(lambda: sd.inverse_dynamics(model, **state)),
            'MID': python_loop(lambda: sd.mass_inverse_dynamics(model, **state)),
            'rnea': python_loop(pinocchio.rnea, other, data, q, qd, qdd),
            'rnea + crba': python_loop(rnea_and_crba),
        }
    )


def _require_equal(found, wanted):
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert error <= TOLERANCE, f'results differ by {error:.1e}'


def report(page, runs):
    """Write the section: the arm, calls from Python, longer chains."""
    page.text(_WORDS.format(compiler=runs[0]['compiler'], states=STATES))
    rows = []
    for work, other in PAIRS:
        ours, peer = ('chains', str(LENGTHS[0]), work), ('chains', str(LENGTHS[0]), other)
        share, times = ratio(runs, ours, peer), (spread(runs, *keys) for keys in (ours, peer))
        rows.append([f'{work}, {other}', *(each.text(1e-6) for each in times), share.text()])
        name = f"UR10e, {work} beside Pinocchio's {other}, in loops"
        page.target(name, 'at most 1.0 ×', f'{share.text()} ×', share.median <= 1.0)
    page.table(['', 'ours [µs]', 'Pinocchio [µs]', 'ratio'], rows)
    page.text(_verdicts(runs))
    rows = [
        [f'{work}, {other}']
        + [spread(runs, 'calls', key).text(1e-6) for key in (f'{work}, program', work, other)]
        for work, other in PAIRS
    ]
    page.text('One call at a time from Python:')
    page.table(['', 'our program [µs]', 'our checked call [µs]', 'Pinocchio [µs]'], rows)
    page.figure('rigid_arm', lambda axes: _draw(axes, runs), _CAPTION, columns=2)


def _verdicts(runs):
    """Say at every length who is faster, and which of Pinocchio's builds was taken."""
    words = []
    for work, other in PAIRS:
        shares = [
            ratio(runs, ('chains', str(n), work), ('chains', str(n), other)) for n in LENGTHS
        ]
        each = ', '.join(f'{share.median:.2f}' for share in shares)
        faster = [n for n, share in zip(LENGTHS, shares) if share.median > 1.0]
        who = (
            f'Pinocchio is faster at {", ".join(map(str, faster))}' if faster else 'ours is faster'
        )
        words.append(f'{work} takes {each} of the time of {other} with {_LINKS} links: {who}.')
    for name, names in (('rnea', ['none']), ('rnea + crba', ['local', 'world'])):
        times = {
            f'{build} {convention}'.removesuffix(' none'): spread(
                runs, 'chains', str(LENGTHS[0]), f'{build} {convention}'
            ).text(1e-6)
            for build in BUILDS
            for convention in names
        }
        found = ', '.join(f'{key} {time}' for key, time in times.items())
        words.append(f'Of {name} with {LENGTHS[0]} links there were [µs]: {found}.')
    return ' '.join(words)


def _draw(axes, runs):
    for axis, (work, other) in zip(axes, PAIRS):
        for key, color, label in ((work, OURS, 'ours'), (other, PEER, 'Pinocchio')):
            found = [spread(runs, 'chains', str(n), key) for n in LENGTHS]
            middle, low, high = 1e6 * np.array(found).T
            axis.fill_between(LENGTHS, low, high, color=color, alpha=0.2, lw=0)
            axis.plot(LENGTHS, middle, 'o-', color=color, label=f'{label}, {key}')
        linear = middle[0] * np.array(LENGTHS) / LENGTHS[0]
        axis.plot(LENGTHS, linear, ':', color=FAINT, label='slope 1')
        axis.set(xscale='log', yscale='log', xlabel='links', ylabel='time [µs]')
        axis.set_xticks(LENGTHS, LENGTHS)
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter('{x:g}')
        axis.minorticks_off()
        axis.legend()
