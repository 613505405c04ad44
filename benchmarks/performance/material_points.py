# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time of positions, velocities, frames and Jacobians of material points, by their number."""

import itertools

import numpy as np
import softrobot_dynamics as sd
from timing import in_turns, python_loop, spread

TITLE = 'Material points'
PACKAGES = ()

NUMBERS = 1, 10, 100, 1000
AIM, OF = 5e-6, 1000  # [s] a point, in a batch of so many
LEGENDRE = {'basis': 'legendre', 'order': 2}
ROD = {
    'type': 'cosserat', 'length': 0.2, 'density': 1062.0, 'young_modulus': 6.7e5,
    'section': {'type': 'circular', 'radius': 0.015},
    'strains': {'kappa_x': LEGENDRE, 'kappa_y': LEGENDRE, 'gamma_z': {'basis': 'legendre'}},
}  # fmt: skip
ROBOTS = {
    'pcc_arm, `pcc`': 'pcc_arm',
    'three rods, `cosserat`': {
        'name': 'rods',
        'bodies': [{'name': f'rod{i}', 'joint': {'type': 'fixed'}, 'body': ROD} for i in range(3)],
    },
    'trimmed_helicoid, `lvp`': 'trimmed_helicoid',
}
_WORDS = """
`sd.material_points`: positions, velocities, frames and Jacobians of points of the last body, with
the terms of the whole robot at q. *New*: points not asked for before, which need tables first.
"""


def measure(folder):
    """Return {robot: {call: seconds}}."""
    return {name: _calls(sd.compile_model(sd.load_robot(r))) for name, r in ROBOTS.items()}


def _calls(model):
    """Seconds of a call for points, by their number, known and new, and of one for the tip."""
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-0.1, 0.1, (2, model.n))
    known = np.asarray(model.description.modules[-1].body.material_points()[0])
    points = {count: known[rng.integers(len(known), size=count)] for count in NUMBERS}
    count = itertools.count(1)
    found = sd.material_points(model, q=q, qd=qd, points=points[OF], frame='base')
    assert np.allclose(found.jacobians[:, 3:] @ qd, found.velocities, atol=1e-14)

    def ask(points):
        sd.material_points(model, q=q, qd=qd, points=points)

    def ask_new(points):
        ask(points * (1.0 - 1e-9 * next(count)))

    calls = {'tip': python_loop(lambda: sd.jacobian(model, q=q))}
    calls |= {f'{k}': python_loop(ask, points[k]) for k in NUMBERS}
    calls |= {f'{k} new': python_loop(ask_new, points[k]) for k in NUMBERS}
    return in_turns(calls)


def report(page, runs):
    """Write the section: calls by the number of points, and the time of each point."""
    page.text(_WORDS)
    rows = []
    for robot in ROBOTS:
        for kind in ('', ' new'):
            shown = [spread(runs, robot, f'{k}{kind}').text(1e-6) for k in NUMBERS]
            each = spread([{'s': run[robot][f'{OF}{kind}'] / OF} for run in runs], 's')
            rows.append([f'{robot}{kind and ", new"}', *shown, each.text(1e-6)])
            if not kind:
                wanted = f'at most {AIM * 1e6:g} µs'
                name = f'{robot}: a point in a batch of {OF}'
                page.target(name, wanted, f'{each.text(1e-6)} µs', each.median <= AIM)
    heads = [f'{k} point{"s" * (k > 1)} [µs]' for k in NUMBERS]
    page.table(['', *heads, f'each of {OF} [µs]'], rows)
    tips = ', '.join(f'{spread(runs, r, "tip").text(1e-6)} µs ({r})' for r in ROBOTS)
    page.text(f'For comparison, `sd.jacobian` of the tip: {tips}.')
