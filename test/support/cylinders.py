# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Shared locally volume-preserving bodies and calls of their kernels."""

import numpy as np
from oracles.jets import Jet, jet, JETS
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.kernels import layout
from support.generated import instance
from support.kernel_calls import body_slab
from support.robots import possible
from support.solids import box

C, ETA = 1.8e5, 0.05
RUBBER = {'type': 'incompressible_neo_hookean', 'modulus': C, 'damping': ETA}
SILICONE = {'type': 'neo_hookean', 'young_modulus': 5e5, 'poisson_ratio': 0.4, 'damping': 0.1}
MIXED = {
    'kappa_x': [[3.0, 2.0, -4.0]],
    'kappa_y': [[1.0, 5.0], [0.0, 0.0, 4.0]],
    'kappa_z': [[4.0, 3.0]],
    'gamma_x': [[0.2]],
    'stretch': [[0.1, 0.3]],
    'source': [[0.0, 1e-4]],
}
ROD = {'stretch': [[1.0]], 'kappa_x': [[1.0]], 'kappa_y': [[1.0]]}


def mapping(**fields):
    """Return the mapping of a solid body with the modes of Table 4, but for some fields."""
    return {
        'type': 'lvp', 'length': 0.1, 'outer_radius': 0.02, 'density': 960.0, 'material': RUBBER,
        **fields,
    }  # fmt: skip


def body_of(**fields):
    """Return such a body."""
    return instance(BODIES, mapping(**fields))


def hollow(**fields):
    """Return a hollow body."""
    return body_of(inner_radius=0.012, **fields)


def round_off(mesh, radius):
    """Points of a mesh whose square sections, of sides 2, become discs of a radius."""
    x, y, z = mesh.points.T
    return np.column_stack([
        radius * x * np.sqrt(1.0 - y**2 / 2.0), radius * y * np.sqrt(1.0 - x**2 / 2.0), z
    ])  # fmt: skip


def mesh_file(folder, count, radius=0.02, length=0.1, scale=1.0):
    """Write a mesh of a cylinder, finer for a larger count; return its path."""
    meshio = pytest.importorskip('meshio')
    mesh = box((2 * count, 2 * count, 3 * count), (2.0, 2.0, length))
    path = folder / f'{count}.vtu'
    meshio.Mesh(round_off(mesh, radius) / scale, [('tetra', mesh.tetrahedra)]).write(path)
    return str(path)


BODIES_OF = {
    'table_4': lambda: body_of(),
    'table_5': lambda: hollow(modes='table_5'),
    'mixed': lambda: hollow(modes=MIXED, material=SILICONE),
    'rod': lambda: body_of(modes=ROD),
}


def reach(body):
    """Size of each coordinate (n,) that does something: a plain source is some square mm."""
    if isinstance(body.modes, str):
        return np.where([c == 'source' for c in body.coordinates()], 1e-4, 1.0)
    return np.ones(len(body.coordinates()))


def postures(body, count, seed, size=1.0):
    """Coordinates (count, n) that the body can take."""
    rng, scale = np.random.default_rng(seed), size * reach(body)
    drawn = [scale * rng.uniform(-1.0, 1.0, len(scale)) for _ in range(count)]
    return np.array([possible(body, q) for q in drawn])


def deformation(body, q, points):
    """Deformation gradients (..., K, 3, 3) for perhaps complex q, exact to rounding."""
    columns = []
    for j in range(3):
        x = [Jet(points[:, i], float(i == j)) for i in range(3)]
        columns.append([jet(c).first * np.ones(len(points)) for c in body.position(x, q, JETS)])
    return np.moveaxis(np.array(columns), (0, 1), (-1, -2))


def random_points(body, count, seed):
    """Points (K, 3) [m] anywhere in the cylinder."""
    rng = np.random.default_rng(seed)
    square = rng.uniform(body.inner_radius**2, body.outer_radius**2, count)
    angle, s = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(0.0, body.length, count)
    return np.column_stack([np.sqrt(square) * np.cos(angle), np.sqrt(square) * np.sin(angle), s])


def slab(body, q, qd, w=(0.0, 0.0, 0.0)):
    """Slab of the body's kernel."""
    return body_slab(body.kernel(), q, qd, w)


def forces(body, q, qd):
    """Elastic and damping force (n,) of the kernel."""
    n = len(q)
    return slab(body, q, qd)[layout.bias_offset(n) + n :].reshape(2, n)


def linearised(body):
    """Stiffness and damping matrix (n, n) at rest."""
    steps = 1e-4 * reach(body)
    units = np.diag(steps)
    stiffness = [forces(body, e, 0 * e)[0] - forces(body, -e, 0 * e)[0] for e in units]
    damping = [forces(body, 0 * e, e)[1] for e in units]
    return np.array(stiffness).T / (2.0 * steps), np.array(damping).T / steps


def close(found, wanted, tolerance):
    """Compare arrays relative to the largest entry of the wanted one."""
    return np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


def robot(body, **fields):
    """Return the model of one body on a fixed joint."""
    bodies = [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}]
    return sd.compile_model(sd.load_robot({'name': 'one', 'bodies': bodies, **fields}))
