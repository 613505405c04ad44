# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The conical tentacle of tud-phi/soromox: two tendons with measured tensions, four markers.

FOLDER/tentacle/tentacle.json is as its authors publish it (geometry, tensions, four markers, held
postures).
"""

import json
import math

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fitting import identify, rms
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.validation import cross_validate

TITLE = 'Tentacle'

CONE, END = 0.305, 0.055  # [m]
FITS = (
    ('young_modulus',),
    ('young_modulus', 'density'),
    ('young_modulus', 'cone.density', 'end.density'),
)
ALONG = {'0.36 m': 0.0, '0.352 m': -0.008, '0.368 m': 0.008}
"""Where the fourth marker may be: the file gives 0.36 m and 8 mm along the rod, no direction."""


def rod(length, radius, order):
    """Return a conical rod that bends, and twists."""
    bases = {'kappa_x': order, 'kappa_y': order, 'kappa_z': min(order, 1)}
    strains = {name: {'basis': 'legendre', 'order': k} for name, k in bases.items()}
    return {
        'type': 'cosserat', 'length': length, 'section': {'type': 'circular', 'radius': radius},
        'density': 1100.0, 'young_modulus': 3e5, 'poisson_ratio': 0.49, 'strains': strains,
    }  # fmt: skip


def tentacle():
    """Return the description of the tentacle: two rods, two converging tendons, z down."""
    parts = (('cone', rod(CONE, [0.01541, 0.00642], 3)), ('end', rod(END, [0.00642, 0.0048], 0)))
    bodies = [{'name': n, 'joint': {'type': 'fixed'}, 'body': body} for n, body in parts]
    cap = {
        'type': 'rigid', 'mass': 1e-6, 'com': [0.0, 0.0, 0.0],
        'inertia': {'ixx': 1e-12, 'iyy': 1e-12, 'izz': 1e-12},
    }  # fmt: skip
    bodies.append({'name': 'cap', 'joint': {'type': 'fixed'}, 'body': cap})
    actuators = [tendon(name, math.radians(f)) for name, f in (('t1', 30.0), ('t2', 150.0))]
    robot = {'name': 'tentacle', 'gravity': [0.0, 0.0, 9.81], 'base': {'rpy': [math.pi, 0.0, 0.0]}}
    return sd.load_robot({**robot, 'bodies': bodies, 'actuators': actuators})


def tendon(name, f):
    """Return a tendon at an angle f [rad] from world y to world x."""
    distance = np.array([0.0114, -0.0295 * CONE])
    x, y = math.sin(f) * distance, -math.cos(f) * distance
    offset = {'x': x.tolist(), 'y': y.tolist()}
    return {'name': name, 'type': 'tendon', 'path': [{'body': 'cone', 'offset': offset}]}


def held(robot, data, along):
    """Return the postures, with the fourth marker so far along [m] from the tip."""
    markers = [
        Marker(f'{m["s_m"]} m', 'cone', (m['offset_m']['b'], 0.0, m['s_m']))
        for m in data['markers'][:3]
    ]
    markers.append(Marker('tip', 'cap', (0.0, 0.0, along)))
    u = [p['tensions_N'] for p in data['postures']]
    there = np.array([p['markers_m'] for p in data['postures']])
    return postures(robot, u, markers, there * [1.0, -1.0, -1.0])  # world z is up


def row(where, found, checked):
    """Return a row of the table."""
    values = ', '.join(
        f'{e.value:.4g} ({low:.4g} to {high:.4g})'
        for e, (low, high) in zip(found.estimates, checked.intervals)
    )
    each = ', '.join(f'{1e3 * rms(checked.residuals[:, k]):.1f}' for k in range(4))
    names, errors = ', '.join(found.parameters.names), (found.rms, checked.rms)
    rounded = ' | '.join(f'{1e3 * value:.1f}' for value in errors)
    return f'| {where} | {names} | {values} | {rounded} | {each} |'


TEXT = """
A conical silicone tentacle that hangs, 0.36 m long, pulled by one or the other of two converging
tendons with measured tensions: {count} held postures, four markers [tud-phi/soromox,
paper_results/secVa_system_identification, MIT]. The model is a `cosserat` rod of 0.305 m with
Legendre polynomials up to order 3 for both curvatures and a linear twist, and one of 0.055 m
with constant curvature behind it. Errors are the root mean square of distances over all four
markers, in mm; "not seen" are postures left out of the fit, one at a time.

| fourth marker at | fitted | values (95 % by jackknife) | rms | not seen | by marker |
| --- | --- | --- | --- | --- | --- |
{rows}

The recording places the fourth marker at 0.36 m and "8 mm along", which we read as 8 mm beyond
the tip (the last rows); the others show what it would mean if it were not.

What the data cannot tell:

* With one modulus and one density the error is {one:.1f} mm on postures not seen. Two densities
  bring it to {two:.1f} mm, but {base:.0f} and {tip:.0f} kg/m³ are no silicone's: they stand for
  something else that the model has not, such as friction of the tendons, or their offsets. They
  were also tried because one density did not do, on these same postures; on postures that nobody
  has looked at the error may be larger.
* Friction along the tendons is not part of the statics here; it would need postures reached from
  both sides.
* What both tendons do together: no posture of these has both pulled.
"""


def section(folder, options, say):
    """Return the text of the section."""
    data = json.loads((folder / 'tentacle' / 'tentacle.json').read_text(encoding='utf-8'))
    robot, rows = tentacle(), []
    for where, along in ALONG.items():
        fits = []
        for names in FITS:
            found = identify(robot, held(robot, data, along), names, loss='linear')
            fits.append((found, cross_validate(found, loss='linear')))
            rows.append(row(where, *fits[-1]))
            say(rows[-1])
    (_, one), (found, two) = fits[1:]  # the fourth marker beyond the tip
    return TEXT.format(
        count=len(data['postures']),
        rows='\n'.join(rows),
        one=1e3 * one.rms,
        two=1e3 * two.rms,
        base=found.estimates[1].value,
        tip=found.estimates[2].value,
    )
