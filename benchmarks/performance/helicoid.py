# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The arm of three trimmed helicoids: all its terms, by how many material points a body has.

Times are those of calls in a compiled loop, as in a controller or a simulator, unless they are
said to be calls from Python.
"""

from dataclasses import dataclass, replace

import numpy as np
from operations import count, fastest
from page import FAINT, OTHER, OURS
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.lvp.quadrature_accuracy import (
    converged_quadrature,
    quadrature_error,
)
from softrobot_dynamics.bodies.lvp.volumes import Cylinder
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.model.terms import allocate_terms
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import FULL, INERTIAL
from softrobot_dynamics.recursion.transmission import transmit
from timing import in_turns, python_loop, spread

TITLE = 'Trimmed helicoids: the price of material points'
PACKAGES = ()

MESH = 2749  # tetrahedra of a body in [P]
WHOLE = Cylinder(16, 4, 43)  # 2752 points
COARSEST, FINEST = Cylinder(3, 1, 4), Cylinder(24, 8, 48)
TOLERANCES = 1e-2, 1e-4, 1e-6, 1e-8  # of the estimate that chooses the other rules
CHOSEN = TOLERANCES.index(1e-6)
LIMITS = {'inertial': (350e-6, 25e-6), 'all': (800e-6, 60e-6)}  # [s], at WHOLE and at CHOSEN
BODIES, LOADS = 3, 8  # of the arm; under so many random tensions are the postures of the sample
TENSION = 40.0  # [N] the largest of them
CAPTION = (
    'Time of an evaluation, error of the worst term, and share of the peak, by the material '
    'points of a body. Dotted: the mesh of [P]; dashes: what was aimed at there.'
)


@dataclass(frozen=True)
class Stressless(Material):
    """No elasticity and no viscosity."""

    def energy(self, F, math):
        """Return zero."""
        return 0.0 * F[0][0]


@kernel
def repeat_inertial(robot, q, qd, qdd, Q, M, repeats):
    """Inertial forces Q (n,) = M qdd + c and the mass matrix M (n, n), many times."""
    for _ in range(repeats):
        inverse_dynamics(robot, INERTIAL, True, Q, M, q, qd, qdd)


@kernel
def repeat_all(robot, terms, zero, q, qd, repeats):
    """All terms of a simulator or a controller, many times."""
    for _ in range(repeats):
        inverse_dynamics(robot, FULL, True, terms.h, terms.M, q, qd, zero)
        transmit(robot, terms.y, terms.J, terms.bias, q, qd)


def measure(folder):
    """Rules with their errors, times [s] of an evaluation at each, and operations."""
    arm = sd.load_robot('trimmed_helicoid')
    own, sample = arm.modules[0].body, postures(arm)
    state = sample[:BODIES].ravel(), 2.0 * sample[:BODIES].ravel(), np.ones(arm.n)
    rules, functions = {}, {}
    for kind, body in (('inertial', replace(own, material=Stressless())), ('all', own)):
        rules[kind] = [_described(body, rule, sample) for rule in _rules(body, sample)]
        for rule in rules[kind]:
            program, arguments = prepared(kind, arm, body, Cylinder(*rule['rule']), *state)
            rule['operations'] = count(program, *arguments, 1)
            functions[_name(kind, rule)] = _repeating(program, arguments), 1
    functions['from Python'] = python_loop(sd.compile_model(arm).evaluator(), *state[:2])
    times = in_turns(functions)
    return {'rules': rules, 'times': times, 'product': fastest()}


def postures(arm):
    """Coordinates (24, 8) of bodies in equilibria of the arm under random tensions."""
    model, rng = sd.compile_model(arm), np.random.default_rng(1)
    found = [sd.equilibrium(model, u=TENSION * rng.random(model.m)).q for _ in range(LOADS)]
    return np.array(found).reshape(BODIES * LOADS, -1)


def prepared(kind, arm, body, rule, q, qd, qdd):
    """Return a program and all its arguments but repeats, once it agrees with public calls."""
    model = _model(arm, replace(body, quadrature=rule))
    n = model.n
    if kind == 'inertial':
        program, Q, M = cached(repeat_inertial), np.zeros(n), np.zeros((n, n))
        arguments = model.robot(), q, qd, qdd, Q, M
        stressed = _model(arm, replace(arm.modules[0].body, quadrature=rule))
        wanted = sd.mass_inertial_inverse_dynamics(stressed, q=q, qd=qd, qdd=qdd)
    else:
        program, terms = cached(repeat_all), allocate_terms(n, model.m)
        arguments, Q, M = (model.robot(), terms, np.zeros(n), q, qd), terms.h, terms.M
        wanted = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(n))
    program(*arguments, 1)
    for one, other in zip(wanted, (Q, M)):
        assert np.abs(one - other).max() <= 1e-12 * np.abs(one).max()
    return program, arguments


def _model(arm, body):
    """Return the model of the arm with other bodies, all the same."""
    return sd.compile_model(
        replace(arm, modules=tuple(replace(m, body=body) for m in arm.modules))
    )


def _repeating(program, arguments):
    return lambda repeats: program(*arguments, repeats)


def _rules(body, sample):
    """Return the rules chosen for TOLERANCES, then the body's own, then WHOLE."""
    coarsest = replace(body, quadrature=COARSEST)
    chosen = [converged_quadrature(coarsest, t, sample).quadrature for t in TOLERANCES]
    return [*chosen, body.quadrature, WHOLE]


def _described(body, rule, sample):
    return {
        'rule': (rule.axial, rule.radial, rule.angular),
        'points': rule.axial * rule.radial * rule.angular,
        'error': quadrature_error(replace(body, quadrature=rule), sample, finest=FINEST),
    }


def report(page, runs):
    """Write targets, text, figure and table."""
    rules = runs[0]['rules']
    for kind, limits in LIMITS.items():
        for rule, limit in zip((rules[kind][-1], rules[kind][CHOSEN]), limits):
            found = spread(runs, 'times', _name(kind, rule))
            work = f'three helicoids, {kind}, {rule["points"]} points a body'
            aim, words = f'≤ {limit * 1e6:.0f} µs', f'{found.text(1e-6, ".4g")} µs'
            page.target(work, aim, words, found.median <= limit)
    page.text(_text(runs, rules))
    page.table(
        ['axial × radial × angular', 'points a body', 'error', 'time [µs]', 'GFLOP/s', 'of peak'],
        [_row(runs, kind, rule) for kind in rules for rule in _sorted(rules[kind])],
    )
    page.figure('helicoid', lambda axes: _draw(axes, runs, rules), CAPTION, (10.0, 3.6), columns=3)


def _text(runs, rules):
    own = rules['all'][-2]
    inertial, all_terms = (f'{_derivative(runs, kind, rules[kind]):.1f} ns' for kind in LIMITS)
    fewer, more = (f'{_each(rules[kind]):.0f}' for kind in LIMITS)
    return f"""
Three bodies of 8 coordinates each and nine tendons, by the number of material points of a body;
[P] takes the {MESH} tetrahedra of a mesh. *inertial*: M q̈ + c and M, of a material without stress.
*all*: M, c, gravity, nonlinear stress and damping, tendons, as a simulator needs.

Rules are chosen by `converged_quadrature` for tolerances of
{', '.join(f'{t:.0e}' for t in TOLERANCES)} in {BODIES * LOADS} postures (equilibria under random
tensions up to {TENSION:.0f} N), except the shipped one and that of {rules['all'][-1]['points']}
points. Error: worst term, relative to its largest entry, against {FINEST.axial} ×
{FINEST.radial} × {FINEST.angular} points. The shipped arm has {own['points']} points a body, error
{own['error']:.0e}; its evaluator takes {spread(runs, 'times', 'from Python').text(1e-6)} µs from
Python.

A point takes {inertial} and {fewer} floating-point operations, with stress {all_terms} and {more},
counted in the emitted source. Peak: numpy's product of two 512 × 512 matrices on one thread,
{spread(runs, 'product').text(1e9)} GFLOP/s.
"""


def _name(kind, rule):
    return f'{kind} {rule["points"]}'


def _sorted(rules):
    """Return the rules, each once, by their points."""
    unique = {rule['points']: rule for rule in rules}
    return [unique[points] for points in sorted(unique)]


def _derivative(runs, kind, rules):
    """Nanoseconds a point, between the two finest rules."""
    few, many = _sorted(rules)[-2:]
    near, far = (spread(runs, 'times', _name(kind, rule)).median for rule in (few, many))
    return (far - near) / (many['points'] - few['points']) / BODIES * 1e9


def _each(rules):
    """Operations of a point, between the two finest rules."""
    few, many = _sorted(rules)[-2:]
    return (many['operations'] - few['operations']) / (many['points'] - few['points']) / BODIES


def _rates(runs, kind, rule):
    """Median of operations per second, and of their share of the machine's peak."""
    rates = [rule['operations'] / run['times'][_name(kind, rule)] for run in runs]
    return np.median(rates), np.median([rate / run['product'] for rate, run in zip(rates, runs)])


def _row(runs, kind, rule):
    rate, share = _rates(runs, kind, rule)
    return [
        f'{kind}, {" × ".join(map(str, rule["rule"]))}',
        str(rule['points']),
        f'{rule["error"]:.0e}',
        spread(runs, 'times', _name(kind, rule)).text(1e-6, '.4g'),
        f'{rate / 1e9:.1f}',
        f'{share:.0%}',
    ]


def _draw(axes, runs, rules):
    for (kind, found), color, mark in zip(rules.items(), (OURS, OTHER), 'os'):
        ordered = _sorted(found)
        points = [rule['points'] for rule in ordered]
        times = [1e6 * spread(runs, 'times', _name(kind, rule)).median for rule in ordered]
        shares = [100.0 * _rates(runs, kind, rule)[1] for rule in ordered]
        axes[0].plot(points, times, f'{mark}-', color=color, label=kind)
        axes[1].plot(points, [rule['error'] for rule in ordered], f'{mark}-', color=color)
        axes[2].plot(points, shares, f'{mark}-', color=color)
        axes[0].plot([MESH], [1e6 * LIMITS[kind][0]], '_', color=color, markersize=12)
    titles = 'time [µs]', 'error of the worst term', 'operations per second [% of peak]'
    for axis, title, scale in zip(axes, titles, ('log', 'log', 'linear')):
        axis.set(xscale='log', yscale=scale, xlabel='material points a body', title=title)
        axis.axvline(MESH, color=FAINT, linewidth=0.8, linestyle=':')
    axes[2].set_ylim(0.0, 100.0)
    axes[0].legend()
