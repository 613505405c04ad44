# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A rod with two antagonistic tendons and one helical tendon, of selectable strains."""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.identification.postures import Marker, postures

LENGTH, RADIUS, OFFSET = 0.2, 0.01, 0.008
BENDING = 'kappa_x', 'kappa_y'
MARKERS = (Marker('middle', 'rod', (0.0, 0.0, 0.1)), Marker('tip', 'rod', (0.0, 0.0, LENGTH)))


def described(modulus=4e5, strains=BENDING, kind='cosserat', order=0, limit=5.0):
    """Return the mapping of a rod [Pa] without weight, on a wall, with three tendons [N]."""
    body = {'type': kind, 'length': LENGTH, 'density': 1000.0, 'young_modulus': modulus}
    if kind == 'cosserat':
        body['section'] = {'type': 'circular', 'radius': RADIUS}
        body['strains'] = {name: {'basis': 'legendre', 'order': order} for name in strains}
    else:
        body['radius'] = RADIUS
    offsets = {'right': [OFFSET, 0.0], 'left': [-OFFSET, 0.0]}
    offsets['winding'] = {'radius': OFFSET, 'phase': 1.5, 'turns': 0.4}
    actuators = [
        {'name': n, 'type': 'tendon', 'path': [{'body': 'rod', 'offset': offset}],
         'limits': [0.0, limit]} for n, offset in offsets.items()
    ]  # fmt: skip
    row = {'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}
    gravity = [0.0, 0.0, 0.0]
    return {'name': 'pulled', 'gravity': gravity, 'bodies': [row], 'actuators': actuators}


def rod(*given, **more):
    """Return the description."""
    return sd.load_robot(described(*given, **more))


def tip(model, u):
    """Return the tip (3,) [m] at rest under tensions (3,) [N]."""
    return sd.forward_kinematics(model, q=sd.equilibrium(model, u=u).q)[-1][:3, 3]


def held(true, commands, noise=0.0, markers=MARKERS, seed=0):
    """Return postures of a true robot under commands (P, 3) [N], with normal noise [m]."""
    model, there = sd.compile_model(true), []
    for u in commands:
        q = sd.equilibrium(model, u=u).q
        there.append([sd.frame(model, q=q, body='rod', point=m.point)[:3, 3] for m in markers])
    off = np.random.default_rng(seed).normal(0.0, noise, np.shape(there)) if noise else 0.0
    return postures(true, commands, markers, np.array(there) + off)
