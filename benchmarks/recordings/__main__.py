# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Models identified on recordings of real arms, judged on postures that they have not seen.

    python benchmarks/recordings --data FOLDER

FOLDER/tentacle/tentacle.json is as its authors publish it (geometry, tensions, four markers, held
postures). Standard output is the table of docs/recordings.md; errors in millimetres.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fitting import identify, rms
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.validation import cross_validate

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


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--data', type=Path, required=True)
    options = parser.parse_args()
    data = json.loads((options.data / 'tentacle' / 'tentacle.json').read_text(encoding='utf-8'))
    robot = tentacle()
    print(
        '| fourth marker at | fitted | values (95 % by jackknife) | rms | not seen | by marker |'
    )
    print('| --- | --- | --- | --- | --- | --- |')
    for where, along in ALONG.items():
        for names in FITS:
            found = identify(robot, held(robot, data, along), names, loss='linear')
            checked = cross_validate(found, loss='linear')
            values = ', '.join(
                f'{e.value:.4g} ({low:.4g} to {high:.4g})'
                for e, (low, high) in zip(found.estimates, checked.intervals)
            )
            each = ', '.join(f'{1e3 * rms(checked.residuals[:, k]):.1f}' for k in range(4))
            errors = f'{1e3 * found.rms:.1f} | {1e3 * checked.rms:.1f} | {each}'
            print(f'| {where} | {", ".join(names)} | {values} | {errors} |', flush=True)


if __name__ == '__main__':
    main()
