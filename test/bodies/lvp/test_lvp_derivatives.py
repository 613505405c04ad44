# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of locally volume preserving bodies by their own coordinates."""

import dataclasses

import numpy as np
from oracles import derivatives
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.lvp.body import LocallyVolumePreserving
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.quadrature import gauss_legendre
from softrobot_dynamics.materials.contract import determinant, first_invariant, Material
from support.cylinders import body_of, close, hollow, mesh_file, postures, robot, RUBBER, SILICONE
from support.derivative_checks import assert_body_derivatives
from support.kernel_calls import BEYOND, call, fibre

SOFT = {'type': 'st_venant_kirchhoff', 'young_modulus': 5e5, 'poisson_ratio': 0.3, 'damping': 0.1}
EVERY = {
    'kappa_x': [[1.0, 2.0]],
    'kappa_y': [[1.0, -3.0]],
    'kappa_z': [[4.0, 3.0]],
    'gamma_y': [[0.2, 0.3]],
    'stretch': [[0.1, 0.3]],
    'source': [[1e-5, 1e-4]],
}
FEW = {name: EVERY[name] for name in ('kappa_x', 'gamma_y', 'stretch')}  # for long formulas
STILL = {'kappa_z': [[1.0]], 'gamma_x': [[0.1, 0.4]]}  # no section grows


@dataclasses.dataclass(frozen=True)
class Yeoh(Material):
    """A user's energy: psi = c1 I + c2 I^2 + bulk/2 (J - 1)^2, I = I1 - 3 - 2 ln J."""

    c1, c2, bulk = 2e5, 3e4, 8e5

    def energy(self, F, math):
        """Return psi for F, three rows of three."""
        J = determinant(F)
        shape = first_invariant(F) - 3.0 - 2.0 * math.log(J)
        return self.c1 * shape + self.c2 * shape * shape + 0.5 * self.bulk * (J - 1.0) * (J - 1.0)


BODIES = {
    'table_4': lambda: body_of(material=RUBBER),
    'table_5': lambda: hollow(modes='table_5'),
    'every': lambda: hollow(modes=EVERY, material=SOFT),
    'own energy': lambda: dataclasses.replace(hollow(modes=FEW), material=Yeoh()),
    'still': lambda: body_of(modes=STILL, material={**SILICONE, 'damping': 0.0}),
}
"""Each material once; the first two have the code of shipped robots."""


def few(body):
    """Return a body with one of its material points, that evaluates a frame once, and this."""
    known, masses = body.material_points()
    some = [len(masses) - 2]
    frames = {}

    class Few(LocallyVolumePreserving):
        def material_points(self):
            return known[some], masses[some]

        def _frame(self, sigma, q):
            key = sigma, *q
            if key not in frames:
                frames[key] = super()._frame(sigma, q)
            return frames[key]

    fields = {f.name: getattr(body, f.name) for f in dataclasses.fields(body)}
    return Few(**fields), [(derivatives.vector(known[i]), masses[i]) for i in some]


@pytest.mark.parametrize('name', BODIES)
def test_derivatives_are_exact(name):
    """Derivatives equal a computation in many digits, with dilation and viscosity too."""
    assert_body_derivatives(*few(BODIES[name]()))


@pytest.mark.parametrize('name', [name for name in BODIES if name != 'own energy'])
def test_second_derivatives_of_lengths(name):
    """Second derivatives of a slanting curve's length equal its biases along coordinates."""
    body = BODIES[name]()
    n, L = len(body.coordinates()), body.length
    sigma, weights = gauss_legendre(16, 0.1, 0.9)
    points = np.column_stack([0.014 + 0.02 * sigma, 0.01 - 0.3 * sigma * L, sigma * L])
    derivatives = np.column_stack([0.02 / L + 0.0 * sigma, -0.3 + 0.0 * sigma])
    curve = points, derivatives, L * weights
    (q,) = postures(body, 1, seed=5)
    length, units = body.fibre_kernel(*curve), np.eye(n)

    def bias(v):
        return fibre(length, q, v)[-1]

    wanted = [[bias(u + v) - bias(u) - bias(v) for v in units] for u in units]
    kernel, out = body.length_hessians(*curve), np.full(n * n, np.nan)
    scratch = np.full(kernel.scratch + BEYOND, np.nan)
    call(kernel, 'P, q, out, S', q, out, scratch)
    assert np.isnan(scratch[kernel.scratch :]).all()
    assert close(out.reshape(n, n), 0.5 * np.array(wanted), 1e-13)


@pytest.mark.parametrize('own', [False, True], ids=['shipped', 'own energy'])
def test_derivatives_over_a_mesh(tmp_path, own):
    """Derivatives over all points of a mesh equal differences of the inverse dynamics."""
    rule = {'mesh': mesh_file(tmp_path, 2), 'order': 2}
    body = body_of(quadrature=rule, modes=FEW if own else 'table_4')
    if own:
        body = dataclasses.replace(body, material=Yeoh())
    model = robot(body)
    (q,) = postures(body, 1, seed=3)
    qd, qdd = np.random.default_rng(4).normal(size=(2, model.n))
    found = sd.inverse_dynamics_derivatives(model, q=q, qd=qd, qdd=qdd)

    def torque(q):
        return sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)

    step, derivatives = 1e-3, np.empty((model.n, model.n))
    for j, unit in enumerate(step * np.eye(model.n)):
        near, back, far, away = (torque(q + k * unit) for k in (1.0, -1.0, 2.0, -2.0))
        derivatives[:, j] = (8.0 * (near - back) - (far - away)) / (12.0 * step)
    assert close(found.by_q, derivatives, 1e-9)


def test_a_folded_body_has_no_derivatives():
    """Derivatives of a folded body are nan."""
    body = body_of()
    n = len(body.coordinates())
    kernel, zero = body.derivatives_kernel(), np.zeros(n)
    found, scratch = np.zeros(layout.derivatives_size(n)), np.zeros(kernel.scratch)
    q = [0.0, 3.2, *zero[2:]]
    arguments = 'P, q, qd, qdd, motion, D, S'
    call(kernel, arguments, q, zero, zero, np.zeros(9), found, scratch)
    assert np.isnan(found).all()
