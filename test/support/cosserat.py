# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Shared Cosserat rods and calls of their kernels."""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.bodies.released_strains import STRAINS
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.generated import instance
from support.kernel_calls import body_slab

TOLERANCE = 1e-12  # of the largest entry
L = 0.25
ELLIPSE = {'type': 'elliptic', 'half_axis_x': [0.02, 0.015], 'half_axis_y': [0.012, 0.01]}
ROUND = {'type': 'circular', 'radius': 0.02}
BENT = [0.9, -0.6, 0.5, 0.04, -0.03, 1.02]


def constant():
    """Bases of order 0 of all six strains."""
    return {name: {'basis': 'monomial'} for name in STRAINS}


VARYING = {
    'kappa_x': {'basis': 'legendre', 'order': 2},
    'kappa_y': {'basis': 'fourier', 'order': 1},
    'kappa_z': {'basis': 'chebyshev', 'order': 1},
    'gamma_x': {'basis': 'gaussian', 'order': 1},
    'gamma_z': {'basis': 'table', 'stations': [0, 0.3, 0.6, 1], 'values': [[0.0, 1.0, 0.5, 2.0]]},
}  # fmt: skip


SMOOTH = {
    'kappa_x': {'basis': 'legendre', 'order': 2},
    'kappa_z': {'basis': 'monomial', 'order': 1},
    'gamma_z': {'basis': 'legendre', 'order': 1},
}


def given(strains=None, **fields):
    """Return the mapping of a rod; constant strains unless told otherwise."""
    return {
        'type': 'cosserat', 'length': L, 'section': ELLIPSE, 'density': 1070.0,
        'young_modulus': 6e5, 'strains': strains or constant(), 'quadrature': 5, **fields,
    }  # fmt: skip


def rod(strains=None, **fields):
    """Return a rod."""
    return instance(BODIES, given(strains, **fields))


def state(body, size=1.0, seed=0):
    """Return q, qd (n,) and the angular velocity (3,) of the joint frame; shears are small."""
    rng = np.random.default_rng(seed)
    names = body.coordinates()
    reach = np.array([0.2 if name.startswith('gamma') else 4.0 * size for name in names])
    return *(reach * rng.uniform(-1.0, 1.0, (2, len(names)))), rng.uniform(-2.0, 2.0, 3)


def slab(body, q, qd, w=(0.0, 0.0, 0.0)):
    """Slab of a body, from its own kernel."""
    return body_slab(body.kernel(), q, qd, w)


def parts(W, n):
    """Inertia, wrench, coupling, mass and bias of a slab."""
    first, bias = layout.inertia_offset(n), layout.bias_offset(n)
    coupling, mass = layout.coupling_offset(n), layout.mass_offset(n)
    yield W[first : first + 10]
    yield W[first + 10 : first + 16]
    yield W[coupling : coupling + 6 * n].reshape(n, 6)
    yield W[mass : mass + n * n].reshape(n, n)
    yield W[bias : bias + n]


def assert_close(found, wanted, tolerance=TOLERANCE):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


def strain_of(body, q, rate=False):
    """Strain (6,) of a rod as a function of s [m], or its rate."""

    def at(s):
        still = np.array(body.strain(s / body.length, np.zeros(len(q)), NUMERIC), dtype=float)
        return np.array(body.strain(s / body.length, q, NUMERIC), dtype=float) - rate * still

    return at


def robot(*bodies, actuators=(), names='abc'):
    """Compile a chain of bodies on fixed joints."""
    rows = [
        {'name': name, 'joint': {'type': 'fixed'}, 'body': body}
        for name, body in zip(names, bodies)
    ]
    given = {'name': 'r', 'gravity': [1.0, -2.0, 9.0], 'bodies': rows, 'actuators': actuators}
    return sd.compile_model(sd.load_robot(given))
