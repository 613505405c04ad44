# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of forward and inverse dynamics by the state, beside SoRoMoX and Pinocchio."""

import numpy as np
import pcs
from pinocchio_chain import pinocchio_model
from planar_chain import BODY
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from timing import in_turns, python_loop, ratio, Spread, spread

TITLE = 'Derivatives by the state'
PACKAGES = ('soromox', 'jax', 'pin')

SEGMENTS = 3
ARM, RIGID = 'PCS arm', 'ur10e'
SHIPPED = 'pcc_arm', RIGID, 'trimmed_helicoid'
AIMS = {ARM: 80e-6, 'pcc_arm': 40e-6, 'trimmed_helicoid': 400e-6}  # [s], of `forward`
PEERS = 1.5, 20.0  # times Pinocchio's time, and times as fast as SoRoMoX
CHAINS = 8, 32, 128  # bodies
REACH = 0.02  # [rad, m, ...] from the initial posture
TOLERANCE = 1e-8  # of the largest entry
STEP = 1e-5  # of the differences that check those without a peer, to SLACK
SLACK = 1e-5
WAYS = {
    'jacfwd': '`jacfwd` of its forward dynamics',
    'jacrev': '`jacrev` of its forward dynamics',
    'implicit': '−M⁻¹ `jacfwd` of its inverse dynamics',
}

_WORDS = """
Derivatives of the acceleration by q, q̇ and u (`Differentiator.forward`), and of ID by q and q̇
(`Differentiator.inverse`), from Python, beside one evaluation of all terms. They agree with
SoRoMoX's (PCS arm, as above) to {soromox:.0e} of the largest entry, with Pinocchio's (UR10e) to
{pinocchio:.0e}.
"""
_SOROMOX = """
SoRoMoX leaves derivatives to JAX. On the PCS arm, jitted, for the ({size}, {size}) matrix by the
state: {ways}. The fastest takes {share} times as long as ours.
"""
_PINOCCHIO = """
Pinocchio has formulas for rigid robots. On the UR10e, called from Python, it takes {rnea} µs for
`computeRNEADerivatives` and {aba} µs for `computeABADerivatives`: ours takes {inverse} and
{forward} times as long. {verdict}
"""
_CHAINS = """
Chains of N bodies with one coordinate each, `inverse`, and Pinocchio's `computeRNEADerivatives`.
The result has 2 N² entries; from N = {short} to {long} the time of rigid links grows as N to the
power {rigid}, that of planar constant curvature as N to the power
{planar}, and Pinocchio's as N to the power {rnea}.
"""
_BOUND = """
`lvp` is summed over its material points, with the moduli of its material at each: that, and the
second derivatives of the tendons' lengths, bound `trimmed_helicoid`.
"""


def measure(folder):
    """Return {'times': {robot: {call: seconds}}, 'errors': {peer: of the largest entry}}."""
    pcs.use_jax(folder)
    models = {ARM: pcs.arm(SEGMENTS)}
    models.update({name: sd.compile_model(sd.load_robot(name)) for name in SHIPPED})
    peers, times, errors = {ARM: _soromox, RIGID: _pinocchio}, {}, {}
    for name, model in models.items():
        robot = _Robot(model)
        functions = robot.functions()
        if name in peers:
            others, errors[peers[name].__name__[1:]] = peers[name](robot)
            functions.update(others)
        times[name] = in_turns(functions)
    chains = {str(n): _chains(n) for n in CHAINS}
    return {'times': times, 'errors': errors, 'chains': chains}


def _chains(n):
    """Return the times [s] of `inverse` for chains of n bodies, and of Pinocchio."""
    import pinocchio

    functions = {}
    for name, (joint, body) in _LINKS.items():
        bodies = [{'name': f'b{i}', 'joint': joint, 'body': body} for i in range(n)]
        model = sd.compile_model(sd.load_robot({'name': 'chain', 'bodies': bodies}))
        at = np.random.default_rng(1).uniform(-1.0, 1.0, (3, n))
        own = Differentiator(model)
        functions[name] = python_loop(own.inverse, *at)
        if name == 'rigid':
            other = pinocchio_model(model)
            data = other.createData()
            found = np.hstack(pinocchio.computeRNEADerivatives(other, data, *at)[:2])
            _difference(found, own.inverse(*at)[1], TOLERANCE)
            functions['rnea'] = python_loop(pinocchio.computeRNEADerivatives, other, data, *at)
    return in_turns(functions, turns=5, least=0.02)


_LINKS = {
    'rigid': (
        {'type': 'revolute', 'origin': {'xyz': [0.0, 0.0, 0.0], 'rpy': [0.3, 0.0, 0.0]}},
        {
            'type': 'rigid', 'mass': 1.0, 'com': [0.1, 0.01, 0.0], 'tip': {'xyz': [0.2, 0.0, 0.0]},
            'inertia': {'ixx': 0.01, 'iyy': 0.012, 'izz': 0.008},
        },
    ),
    'planar': ({'type': 'fixed'}, {'type': 'planar_cc', **BODY, 'young_modulus': 1e6}),
}  # fmt: skip


class _Robot:
    """A robot at a state, and its derivatives, which differences agree with."""

    def __init__(self, model):
        self.model, self._own, rng = model, Differentiator(model), np.random.default_rng(1)
        self.q, self.qd = rng.uniform(-REACH, REACH, (2, model.n))
        self.q += model.q0
        self.u = np.ones(model.m)
        self.by_state = self.forward()
        direction = rng.uniform(-1.0, 1.0, 2 * model.n)
        ahead, behind = (self._acceleration(STEP * k * direction) for k in (1.0, -1.0))
        _difference((ahead - behind) / (2.0 * STEP), self.by_state @ direction, SLACK)

    def _acceleration(self, shift):
        dq, dqd = np.split(shift, 2)
        return sd.forward_dynamics(self.model, q=self.q + dq, qd=self.qd + dqd, u=self.u)

    def forward(self):
        """Return the derivative (n, 2 n) of the acceleration by the state."""
        found = self._own.forward(self.q, self.qd, self.u)
        self.qdd = found.qdd
        return np.hstack([found.by_q, found.by_qd])

    def inverse(self):
        """Return the derivative (n, 2 n) of ID by the state."""
        return self._own.inverse(self.q, self.qd, self.qdd)[1].copy()

    def functions(self):
        """Return functions to be timed."""
        q, qd = self.q, self.qd
        return {
            'terms': python_loop(self.model.evaluator(), q, qd),
            'inverse': python_loop(self._own.inverse, q, qd, self.qdd),
            'forward': python_loop(self._own.forward, q, qd, self.u),
        }


def _soromox(robot):
    """Return the WAYS of SoRoMoX to be timed, and by how much the results differ."""
    import jax
    import jax.numpy as jnp

    arm, n = pcs.soromox(SEGMENTS), robot.model.n
    places = pcs.order(n)
    y = jnp.array(np.concatenate([robot.q[places], robot.qd[places]]))

    def rates(y):
        return arm.forward_dynamics(0.0, y)

    def implicit(y):
        M, c, g = arm.dynamics_terms(*jnp.split(y, 2))
        qdd = rates(y)[n:]

        def force(y):
            q, qd = jnp.split(y, 2)
            M, c, g = arm.dynamics_terms(q, qd)
            return M @ qdd + c + g + arm.elastic_force(q) + arm.damping_matrix(q) @ qd

        top = jnp.hstack([jnp.zeros((n, n)), jnp.eye(n)])
        return jnp.vstack([top, -jnp.linalg.solve(M, jax.jacfwd(force)(y))])

    ways = dict(zip(WAYS, map(jax.jit, (jax.jacfwd(rates), jax.jacrev(rates), implicit))))
    both = np.concatenate([places, n + places])
    wanted = robot.by_state[np.ix_(places, both)]
    errors = [_difference(np.array(way(y))[n:], wanted, TOLERANCE) for way in ways.values()]
    functions = {
        name: python_loop(lambda way=way: way(y).block_until_ready()) for name, way in ways.items()
    }
    return functions, max(errors)


def _pinocchio(robot):
    """Return Pinocchio's calls to be timed, and by how much the results differ."""
    import pinocchio

    other, (q, qd, qdd, u) = pinocchio_model(robot.model), (robot.q, robot.qd, robot.qdd, robot.u)
    data = other.createData()
    found = pinocchio.computeRNEADerivatives(other, data, q, qd, qdd)[:2]
    errors = [_difference(np.hstack(found), robot.inverse(), TOLERANCE)]
    found = pinocchio.computeABADerivatives(other, data, q, qd, u)[:2]
    errors.append(_difference(np.hstack(found), robot.by_state, TOLERANCE))
    functions = {
        'rnea': python_loop(pinocchio.computeRNEADerivatives, other, data, q, qd, qdd),
        'aba': python_loop(pinocchio.computeABADerivatives, other, data, q, qd, u),
    }
    return functions, max(errors)


def _difference(found, wanted, tolerance):
    """Return the largest difference, relative to the largest entry, if it is tolerable."""
    error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    assert error <= tolerance, f'results differ by {error:.1e}'
    return error


def report(page, runs):
    """Write the section."""
    errors = {name: spread(runs, 'errors', name).high for name in runs[0]['errors']}
    page.text(_WORDS.format(**errors))
    rows = [
        [name if name == ARM else f'`{name}`']
        + [_time(runs, name, call).text(1e-6, '.0f') for call in ('terms', 'inverse', 'forward')]
        + [_share(runs, name, 'forward', 'terms').text()]
        for name in (ARM, *SHIPPED)
    ]
    headers = ['', 'all terms [µs]', 'inverse [µs]', 'forward [µs]', 'forward / terms']
    page.table(headers, rows)
    best = min(WAYS, key=lambda way: _time(runs, ARM, way).median)
    page.text(_SOROMOX.format(
        size=12 * SEGMENTS, share=_share(runs, ARM, best, 'forward').text(),
        ways=', '.join(f'{words} {_time(runs, ARM, way).text(1e-3)} ms'
                       for way, words in WAYS.items()),
    ))  # fmt: skip
    pairs = {'inverse': 'rnea', 'forward': 'aba'}
    shares = {ours: _share(runs, RIGID, ours, theirs) for ours, theirs in pairs.items()}
    slower = [f'`{ours}`' for ours, share in shares.items() if share.median > 1.0]
    page.text(_PINOCCHIO.format(
        **{call: _time(runs, RIGID, call).text(1e-6) for call in pairs.values()},
        **{ours: share.text() for ours, share in shares.items()},
        verdict=f'Pinocchio is the faster one of {" and ".join(slower)}.' if slower else '',
    ))  # fmt: skip
    _report_chains(page, runs)
    page.text(_BOUND)
    _validator(page, runs, best, shares)


def _report_chains(page, runs):
    """Write how the time grows with the length of chains."""
    names = {'rigid': 'rigid links', 'rnea': 'Pinocchio, the same', 'planar': '`planar_cc`'}
    rows = [
        [words, *(spread(runs, 'chains', str(n), name).text(1e-6) for n in CHAINS)]
        for name, words in names.items()
    ]
    growth = {
        name: ratio(runs, ('chains', str(CHAINS[-1]), name), ('chains', str(CHAINS[-2]), name))
        for name in names
    }
    powers = {
        name: Spread(*np.log(found) / np.log(CHAINS[-1] / CHAINS[-2])).text()
        for name, found in growth.items()
    }
    page.text(_CHAINS.format(short=CHAINS[-2], long=CHAINS[-1], **powers))
    page.table(['[µs]', *(f'N = {n}' for n in CHAINS)], rows)


def _validator(page, runs, best, shares):
    """Enter the targets."""
    for call, share in shares.items():
        page.target(
            f'UR10e, derivatives, `{call}` beside Pinocchio',
            f'at most {PEERS[0]:g} ×',
            f'{share.text()} ×',
            share.median <= PEERS[0],
        )
    for name, aim in AIMS.items():
        found = _time(runs, name, 'forward')
        page.target(
            f'derivatives of forward dynamics by the state, {name}',
            f'at most {aim * 1e6:g} µs',
            f'{found.text(1e-6, ".0f")} µs',
            found.median <= aim,
        )
    found = _share(runs, ARM, best, 'forward')
    page.target(
        'derivatives of forward dynamics by the state, PCS arm beside SoRoMoX',
        f'at least {PEERS[1]:g} × faster',
        f'{found.text()} ×',
        found.median >= PEERS[1],
    )


def _time(runs, name, call):
    return spread(runs, 'times', name, call)


def _share(runs, name, above, below):
    return ratio(runs, ('times', name, above), ('times', name, below))
