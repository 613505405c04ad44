# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The same arm of segments with six constant strains (PCS), three times.

Ours, SoRoMoX's, which JAX compiles, and a third formulation in numpy and scipy that shares no
formula with either. Same rods, Gauss points, gravity, elasticity and damping.
"""

import os
from pathlib import Path

import numpy as np
from scipy.linalg import expm
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.released_strains import STRAINS

POINTS = 5  # of the quadrature of each segment: SoRoMoX's default
LENGTH, RADIUS, DENSITY, YOUNG_MODULUS, DAMPING = 0.2, 0.02, 1070.0, 6e5, 0.08  # SI
GRAVITY = 1.0, -2.0, 9.5  # [m/s^2]
STRAIGHT = 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
ORDER = [2, 0, 1, 5, 3, 4]  # our strains in SoRoMoX's order, whose x axis runs along the rod


def arm(segments, points=POINTS, length=LENGTH):
    """Return our model of an arm of n = 6 ``segments`` coordinates, each ``length`` [m] long."""
    rod = {
        'type': 'cosserat', 'section': {'type': 'circular', 'radius': RADIUS}, 'length': length,
        'density': DENSITY, 'young_modulus': YOUNG_MODULUS, 'damping': DAMPING,
        'strains': dict.fromkeys(STRAINS, {'basis': 'monomial'}), 'quadrature': points,
    }  # fmt: skip
    bodies = [
        {'name': f'segment{i}', 'joint': {'type': 'fixed'}, 'body': rod} for i in range(segments)
    ]
    given = {'name': 'arm', 'gravity': list(GRAVITY), 'bodies': bodies}
    return sd.compile_model(sd.load_robot(given))


def state(segments):
    """Return random q, qd, qdd (n,), of moderate bends and small shears."""
    reach = np.tile([3.0, 3.0, 3.0, 0.1, 0.1, 0.1], segments)
    return reach * np.random.default_rng(1).uniform(-1.0, 1.0, (3, 6 * segments))


def use_jax(folder):
    """
    Have JAX count in float64 on a CPU, and keep in a folder what it compiles.

    It runs on the calling thread, without waiting for others: for such short work twice as fast.
    """
    os.environ['JAX_PLATFORMS'], os.environ['NPROC'] = 'cpu', '1'
    os.environ['XLA_FLAGS'] = '--xla_cpu_multi_thread_eigen=false'
    import jax

    jax.config.update('jax_enable_x64', True)
    jax.config.update('jax_cpu_enable_async_dispatch', False)
    jax.config.update('jax_compilation_cache_dir', str(Path(folder).resolve() / 'jax'))
    jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)


def soromox(segments, points=POINTS, exact=True):
    """
    Return SoRoMoX's model of the arm.

    Its Gauss points are those of single precision. ``exact`` ones, which cost nothing, make equal
    results possible.
    """
    import equinox
    import jax.numpy as jnp
    from soromox.systems import PCS
    from soromox.systems.components import LinkSpec
    from soromox.systems.pcs.structures import PCSStructure

    stiffness = jnp.diag(_rigidity()[ORDER])
    link = LinkSpec.circular(
        length=LENGTH, radius=RADIUS, density=DENSITY, stiffness=stiffness,
        damping=DAMPING * stiffness, reference_strain=jnp.array(np.take(STRAIGHT, ORDER)),
    )  # fmt: skip
    model = PCS.from_links(
        [link] * segments,
        structure=PCSStructure(num_gauss_points=points),
        gravity=jnp.array(np.take(GRAVITY, ORDER[:3])),
        base_pose=jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),  # x y z w, then the origin
    )
    if not exact:
        return model
    nodes, weights = np.polynomial.legendre.leggauss(points)
    rule = np.pad(0.5 + 0.5 * nodes, 1, constant_values=(0.0, 1.0)), np.pad(0.5 * weights, 1)
    return equinox.tree_at(
        lambda model: (model.integration_points, model.integration_weights),
        model,
        tuple(map(jnp.array, rule)),
    )


def order(n):
    """Places (n,) in our vectors of SoRoMoX's coordinates."""
    return np.add.outer(np.arange(0, n, 6), ORDER).ravel()


def reference(q, qd, qdd, points=POINTS):
    """
    ID (n,) and M (n, n) from positions p alone: sums of m J^T (J qdd + d2p/dt2 - g) and m J^T J.

    Motions along each coordinate and along qd are series T + T' e + T'' e^2 / 2, e^3 = 0, in
    block triangular matrices, whose exponentials and products are exact. Three points stand for a
    section, with its mass and second moments.
    """
    n, angles = len(q), 2.0 * np.pi * np.arange(3) / 3.0
    ring = np.outer(np.cos(angles), [1.0, 0.0, 0.0, 0.0])
    ring += np.outer(np.sin(angles), [0.0, 1.0, 0.0, 0.0])
    ring = RADIUS / np.sqrt(2.0) * ring + [0.0, 0.0, 0.0, 1.0]
    nodes, weights = np.polynomial.legendre.leggauss(points)
    masses = DENSITY * np.pi * RADIUS**2 * LENGTH * 0.5 * weights / len(ring)
    rates = np.vstack([np.eye(n), qd]).reshape(n + 1, -1, 6).transpose(1, 0, 2)
    Q, M = np.tile(_rigidity(), n // 6) * (q + DAMPING * qd), np.zeros((n, n))
    base = np.eye(12)
    for strain, rate in zip(q.reshape(-1, 6) + STRAIGHT, rates):
        derivative = np.kron(np.eye(3), _hat(strain)) + np.kron(np.eye(3, k=1), _hat(rate))
        for s, m in zip(0.5 * LENGTH * (1.0 + nodes), masses):
            T = base @ expm(s * derivative)
            for x in ring:
                J, a = T[:n, :3, 4:8] @ x, 2.0 * T[n, :3, 8:] @ x
                M += m * J @ J.T
                Q += m * J @ (qdd @ J + a - GRAVITY)
        base = base @ expm(LENGTH * derivative)
    return Q, M


def _rigidity():
    """Stiffness (6,) of a segment by its strains, if its material keeps its volume: G = E / 3."""
    axial = YOUNG_MODULUS * np.pi * RADIUS**2
    bending = axial * RADIUS**2 / 4.0
    torsion, shear = 2.0 * bending / 3.0, axial / 3.0
    return LENGTH * np.array([bending, bending, torsion, shear, shear, axial])


def _hat(strain):
    """Matrices (..., 4, 4) of strains (..., 6)."""
    x, y, z, u, v, w = np.moveaxis(np.asarray(strain), -1, 0)
    o = 0.0 * x
    rows = [[o, -z, y, u], [z, o, -x, v], [-y, x, o, w], [o, o, o, o]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
