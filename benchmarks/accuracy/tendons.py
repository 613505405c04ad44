# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tendons that wind round a rod, and one that rubs along its way."""

import numpy as np
import references
import rods
from scipy.integrate import quad
import softrobot_dynamics as sd
from study import Answer, EXACT, Problem, SPECTRAL, studies

TURNS = 0.5, 1.0, 2.0, 4.0, 5.0, 8.0, 12.0
ROD = rods.Rod(0.3, 0.02, 1000.0, 1e5)
AROUND, BEND, STRETCH = 0.015, 1.5, 0.01  # [m] off the axis; [rad], [m] of the posture
STEP = 1e-4  # [rad] of the differences that give the reference its lever arm

FINGER = rods.Rod(0.2, 0.02, 1070.0, 6e5)
OFFSET, FRICTION, TENSION, LOAD = 0.015, 0.4, 12.0, (0.1, -0.2)  # [m], -, [N], [N] along x and z
WAYS = {'in': 1.0, 'out': -1.0}


def wound(turns, bend, stretch):
    """Return the length [m] of a helix about the axis of an arc that bends and stretches."""
    L, rate = ROD.length, 2.0 * np.pi * turns / ROD.length

    def speed(s):
        c, i = AROUND * np.cos(rate * s), AROUND * np.sin(rate * s)
        axial = 1.0 + stretch / L - bend / L * c
        return np.sqrt(axial * axial + rate * rate * (c * c + i * i))

    return quad(speed, 0.0, L, epsabs=1e-14, epsrel=1e-13, limit=2000)[0]


def wound_reference(turns):
    """Return elongation and lever arm on the bend, over the offset."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}

    def at(bend):
        return wound(turns, bend, STRETCH)

    step = 1e2 * STEP
    arm = sum(w * (at(BEND + k * step) - at(BEND - k * step)) for k, w in weights.items()) / step
    return np.array([at(BEND) - wound(turns, 0.0, 0.0), arm]) / AROUND


def wound_tendons(bodies, resolution):
    """Elongation and lever arm on the bend of one body, over the offset, for each of TURNS."""
    rows = []
    for turns in TURNS:
        offset = {'radius': AROUND, 'phase': 0.0, 'turns': turns}
        tendon = {'name': 't', 'type': 'tendon', 'path': [{'body': 'b0', 'offset': offset}]}
        model = rods.model(bodies(ROD, resolution), actuators=[tendon])
        name = next(c for c in model.coordinate_names if 'bend_x' in c or 'kappa_y' in c)
        q = np.zeros(model.n)
        bent = model.coordinate_names.index(name)
        scale = 1.0 if 'bend' in name else 1.0 / ROD.length
        q[bent] = BEND * scale
        stretched = next(i for i, c in enumerate(model.coordinate_names) if c.endswith(_STRETCHED))
        q[stretched] = STRETCH * scale
        found = sd.actuation(model, q=q, qd=0.0 * q)
        rows.append([found.coordinates[0], found.jacobian[0, bent] * scale])
    return Answer(np.array(rows) / AROUND, model.n)


_STRETCHED = 'elongation', 'gamma_z_0'


def rubbing_tendon(bodies, resolution):
    """Tip x/L, z/L of a finger under a dead load and a tendon drawn in or paid out."""
    tendon = {
        'name': 't', 'type': 'tendon', 'friction': FRICTION,
        'path': [{'body': 'b0', 'offset': [OFFSET, 0.0]}],
    }  # fmt: skip
    model = rods.model(bodies(FINGER, resolution), actuators=[tendon])
    push = {'b0': sd.Wrench([0.0, 0.0, 0.0, LOAD[0], 0.0, LOAD[1]], frame='base')}
    rows = []
    for way in WAYS:
        q = sd.equilibrium(model, u=[TENSION], sliding=way, wrenches=push).q
        rows.append(sd.forward_kinematics(model, q=q)[-1, [0, 2], 3] / FINGER.length)
    return Answer(np.array(rows), model.n)


def problems():
    """Return the problems of this file."""
    own = OFFSET, FRICTION, TENSION, LOAD, FINGER.length, FINGER.bending
    return (
        Problem(
            'Wound tendons beside the integral',
            'A tendon winds round an arc (L = 0.3 m, 1.5 rad, 10 mm longer than at rest) at 15 mm '
            'from its axis. Reference: scipy.quad of |r´|, and its differences of eighth order. '
            'Each route has as many points as its curve needs.',
            tuple(f'{turns:g} turns' for turns in TURNS),
            ('y / r', 'dy/d bend / r'),
            lambda: [wound_reference(turns) for turns in TURNS],
            studies(
                wound_tendons,
                ('`pcc`', rods.pcc, (1,), EXACT, 1e-9),
                ('`cosserat` of constant strains', rods.pcs(*_PLANE), (1,), EXACT, 1e-9),
                ('`cosserat`, degree 2', rods.gvs(*_PLANE, quadrature=10), (2,), EXACT, 1e-9),
            ),
        ),
        Problem(
            'A tendon that rubs on a bent finger',
            'A finger (L = 0.2 m, E I of a round rod of 20 mm, 0.6 MPa) that only bends, with a '
            'dead load of (0.1, -0.2) N at its tip and a tendon of 12 N at 15 mm with the '
            'friction coefficient 0.4 along its route: T = 12 N exp(∓0.4 |θ|), drawn in or paid '
            'out. Reference: the two-point problem by collocation.',
            tuple(WAYS),
            ('x/L', 'z/L'),
            lambda: [references.rubbing_tendon(way, *own) for way in WAYS.values()],
            studies(
                rubbing_tendon,
                ('`cosserat`, Legendre degree p', rods.gvs(*rods.THIN), (1, 2, 3, 4, 6), SPECTRAL,
                 1e-8),
                ('`cosserat`, degree 6, K quadrature points', rods.marches(*rods.THIN, degree=6),
                 (7, 10, 20, 40), SPECTRAL, 1e-8),
            ),
        ),
    )  # fmt: skip


_PLANE = 'kappa_y', 'gamma_z'
