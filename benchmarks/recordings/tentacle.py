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
from softrobot_dynamics.identification.validation import choose, cross_validate

TITLE = 'Tentacle'

CONE, END = 0.305, 0.055  # [m]
PAIRS = 7  # groups of postures that are left out as numbers are chosen
FITS = (
    ('young_modulus',),
    ('young_modulus', 'density'),
    ('young_modulus', 'cone.density', 'end.density'),
)
FRICTION = 'friction=0..1'
OFFSETS = ('path.x.0', 'path.x.1', 'path.y.0', 'path.y.1')
MORE = (
    ('young_modulus', FRICTION),
    ('young_modulus', 'density', FRICTION),
    ('young_modulus', *OFFSETS),
    ('young_modulus', *OFFSETS, FRICTION),
)
"""What is fitted besides where the fourth marker is beyond the tip; tendons were drawn in last."""

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
    path = [{'body': 'cone', 'offset': offset}]
    return {'name': name, 'type': 'tendon', 'path': path, 'friction': 0.0}


def held(robot, data, along, sliding=None):
    """Return the postures, the fourth marker so far along [m] from the tip; tendons slid so."""
    markers = [
        Marker(f'{m["s_m"]} m', 'cone', (m['offset_m']['b'], 0.0, m['s_m']))
        for m in data['markers'][:3]
    ]
    markers.append(Marker('tip', 'cap', (0.0, 0.0, along)))
    u = [p['tensions_N'] for p in data['postures']]
    there = np.array([p['markers_m'] for p in data['postures']])
    there = there * [1.0, -1.0, -1.0]  # world z is up
    return postures(robot, u, markers, there, sliding=sliding)


def number(estimate, interval):
    """Return an estimate in words, with its interval unless it is at its bound."""
    times = '×' if estimate.factor else ''
    if estimate.at_bound:
        return f'{abs(round(estimate.value, 3)):.3g}, at its bound'
    return f'{times}{estimate.value:.4g} ({interval[0]:.4g} to {interval[1]:.4g})'


def row(where, found, checked):
    """Return a row of the table."""
    values = ', '.join(map(number, found.estimates, checked.intervals))
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
  something else that the model has not.
* Friction along the tendons alone is not what is missing. Each posture was taken as reached by
  drawing in, which the recording does not say. The fit then ends at no friction, its bound:
  {rubbing:.1f} mm with modulus and density. A tendon that rubs pulls less at its far end, and this
  arm bends more there than the model does.
* Where the tendons run says as much as two densities that nothing has: with offsets, two numbers
  in each direction and the same for both tendons, and one modulus, {modulus:.2g} Pa, the error is
  {offsets:.1f} mm on postures not seen, {seen:.1f} mm fitted. They are then {base_off:.1f} mm from
  the axis at the base and {end_off:.1f} mm at their ends (the file: 11.4 and 2.4 mm). How large
  they are altogether is not told: modulus, density and offsets may all be multiplied by one
  number, and 1100 kg/m³ is assumed.
* Friction fitted beside the offsets {beside},
  with {both:.1f} mm on postures not seen. It takes a part of what offsets say: postures reached
  from one side do not tell the two apart.
* `choose`, of modulus, density, friction and these offsets by postures left out two at a time,
  takes {chosen},
  in this order, and then nothing more: {least:.1f} mm.
* All of these were tried because one density did not do, on these same postures, and the least
  errors are chosen by the postures that they are of, among {tried} rows here and more in `choose`;
  on postures that nobody has looked at they may be larger.
* What both tendons do together: no posture of these has both pulled.
"""


def section(folder, options, say):
    """Return the text of the section."""
    data = json.loads((folder / 'tentacle' / 'tentacle.json').read_text(encoding='utf-8'))
    robot, rows = tentacle(), []
    for where, along in ALONG.items():
        fits = [checked(robot, held(robot, data, along), names) for names in FITS]
        rows += [told(row(where, *fit), say) for fit in fits]
    for names in MORE:
        fits.append(checked(robot, held(robot, data, along, 'in'), names))
        rows.append(told(row(where, *fits[-1]), say))
    (_, one), (found, two), _, (_, rubbing), (moved, offsets), both = fits[1:]
    last, (base_off, end_off) = both[0].estimates[-1], distances(moved.robot)
    low, high = both[1].intervals[-1]
    beside = f'is {last.value:.2g} ({low:.2g} to {high:.2g})'
    picked = chosen(robot, held(robot, data, along, 'in'))
    return TEXT.format(
        count=len(data['postures']),
        rows='\n'.join(rows),
        one=1e3 * one.rms,
        two=1e3 * two.rms,
        base=found.estimates[1].value,
        tip=found.estimates[2].value,
        rubbing=1e3 * rubbing.rms,
        offsets=1e3 * offsets.rms,
        seen=1e3 * moved.rms,
        modulus=moved.estimates[0].value,
        base_off=base_off,
        end_off=end_off,
        beside=beside,
        both=1e3 * both[1].rms,
        tried=len(fits),
        chosen=', '.join(picked.names),
        least=1e3 * picked.errors[-1],
    )


def chosen(robot, data):
    """Return the :class:`Choice` among modulus, density, friction and offsets."""
    found = identify(robot, data, ('young_modulus', 'density', FRICTION, *OFFSETS), loss='linear')
    return choose(found, loss='linear', folds=PAIRS)


def distances(robot):
    """Return how far the first tendon is from the axis at the base, and at its end [mm]."""
    offset = robot.actuators[0].actuator.path[0].offset
    x, y = np.array(offset.x), np.array(offset.y)
    return 1e3 * np.hypot(x[0], y[0]), 1e3 * np.hypot(x.sum(), y.sum())


def checked(robot, data, names):
    """Return a fit, and that of all postures but one in turn."""
    found = identify(robot, data, names, loss='linear')
    return found, cross_validate(found, loss='linear')


def told(line, say):
    """Say a line, and return it."""
    say(line)
    return line
