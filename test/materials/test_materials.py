# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stress laws satisfy their contract, and bodies have their forces."""

from dataclasses import dataclass, field

import numpy as np
from oracles.jets import Jet, JETS
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.materials.contract import Material, MATERIALS
from softrobot_dynamics.materials.neo_hookean import NeoHookean
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.differences import gradient
from support.generated import instance, instances, members
from support.kernel_calls import body_slab

pytestmark = pytest.mark.quick

STEP = 1e-30  # of the complex step


@dataclass(frozen=True)
class Block(Body):
    """A block that bends, swells and shears; its points are few, as only their sums matter."""

    type_name = 'block'
    material: Material
    length: float = 0.2
    density: float = 1000.0
    points: tuple = field(default=tuple(map(tuple, np.random.default_rng(3).random((7, 3)))))

    def coordinates(self):
        """Return three."""
        return 'bend', 'swell', 'shear'

    def position(self, x, q, math):
        """Polynomials and a sine."""
        s = x[2] / self.length
        return [
            x[0] * (1.0 + q[1] * s) + 0.1 * q[0] * s * s,
            x[1] * (1.0 + q[1] * s) + 0.05 * math.sin(q[2] * s),
            x[2] - q[0] * s * x[0] + 0.1 * q[1] * s,
        ]

    def material_points(self):
        """Return points in a block of 0.1 m, 0.1 m and 0.2 m."""
        return np.array(self.points) * [0.1, 0.1, 0.2], np.linspace(0.1, 0.4, len(self.points))

    def energy(self, F, math):
        """Return the material's."""
        return self.material.energy(F, math)

    def viscosity(self):
        """Return the material's."""
        return self.material.viscosity()


@pytest.fixture(scope='module', params=members(MATERIALS))
def material(request):
    """Every registered material."""
    return request.param


def energy(material, F):
    """Energy density psi of an array (3, 3)."""
    return material.energy([list(row) for row in F], NUMERIC)


def rotation(angle):
    """Turn about a skew axis, (3, 3)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(angle * np.array([0.6, -0.3, 0.74])).as_matrix()


def test_the_energy_is_zero_at_rest_and_positive_elsewhere(material):
    """The energy is zero at rest and positive for volume-preserving deformations."""
    assert energy(material, np.eye(3)) == 0.0
    stretched = np.diag([1.2, 1.25, 1 / 1.5])
    assert energy(material, stretched) > 0.0


def test_energy_is_objective(material):
    """A rotation after a deformation does not change it; neither law prefers a direction."""
    F = np.eye(3) + 0.1 * np.random.default_rng(1).normal(size=(3, 3))
    wanted = energy(material, F)
    assert energy(material, rotation(1.1) @ F) == pytest.approx(wanted, rel=1e-13)
    assert energy(material, F @ rotation(0.7)) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize('name', ['neo_hookean', 'st_venant_kirchhoff'])
def test_small_strains_obey_hookes_law(name):
    """At small strains stresses follow Hooke's law with the given modulus and ratio."""
    E, nu = 3e5, 0.35
    law = MATERIALS.get(name)(young_modulus=E, poisson_ratio=nu)

    def stress(F):
        return gradient(lambda f: energy(law, f.reshape(3, 3)), F.ravel()).reshape(3, 3)

    assert np.abs(stress(np.eye(3))).max() < 1e-6 * E
    strain = 1e-5
    pulled = stress(np.diag([1 - nu * strain, 1 - nu * strain, 1 + strain]))
    np.testing.assert_allclose(pulled, np.diag([0, 0, E * strain]), atol=1e-4 * E * strain)
    sheared = stress(np.eye(3) + strain * np.eye(3)[[1, 0, 2]] * [[1], [1], [0]])
    assert sheared[0, 1] == pytest.approx(E / (1 + nu) * strain, rel=1e-4)


@pytest.mark.parametrize(
    'name', ['incompressible_neo_hookean', 'neo_hookean', 'st_venant_kirchhoff']
)
def test_viscosity_in_shear_is_half_of_damping_times_modulus(name):
    """In small shears the viscosity is half of `damping` times the shear modulus."""
    law, strain = instance(MATERIALS, instances(MATERIALS, name)[0]), 1e-4
    sheared = [np.eye(3) + sign * strain * np.outer([1, 0, 0], [0, 0, 1]) for sign in (1, -1)]
    modulus = sum(energy(law, F) for F in sheared) / strain**2
    assert law.damping > 0.0
    assert law.viscosity() == pytest.approx(0.5 * law.damping * modulus, rel=1e-6)


def deformation(body, q):
    """Deformation gradients (K, 3, 3) of all points for perhaps complex q, exact to rounding."""
    points, _ = body.material_points()
    columns = []
    for j in range(3):
        x = [Jet(points[:, i], float(i == j)) for i in range(3)]
        columns.append([c.first * np.ones(len(points)) for c in body.position(x, list(q), JETS)])
    return np.moveaxis(np.array(columns), (0, 1, 2), (2, 1, 0))


def forces_of(body, q, qd):
    """Elastic and damping forces (3,) by complex steps of the energy and of C."""
    volumes = body.material_points()[1] / body.density
    elastic, derivatives = [], []
    for j in range(3):
        F = deformation(body, q + 1j * STEP * np.eye(3)[j])
        density = body.energy([list(row) for row in np.moveaxis(F, 0, 2)], NUMERIC)
        elastic.append(volumes @ density.imag / STEP)
        derivatives.append((np.swapaxes(F, 1, 2) @ F).imag / STEP)
    rate = np.tensordot(qd, derivatives, 1)
    viscosity = body.viscosity() or 0.0
    damping = [
        viscosity / 2 * volumes @ np.sum(rate * derivative, axis=(1, 2))
        for derivative in derivatives
    ]
    return np.array(elastic), np.array(damping)


def test_forces_are_those_of_the_energy(material):
    """The traced weak form equals the gradient of the energy and the objective damping."""
    body = Block(material)
    kernel, rng = body.kernel(), np.random.default_rng(5)
    for _ in range(3):
        q, qd, w = 0.4 * rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
        W = body_slab(kernel, q, qd, w)
        found = W[layout.bias_offset(3) + 3 :][:6].reshape(2, 3)
        for force, wanted in zip(found, forces_of(body, q, qd)):
            np.testing.assert_allclose(force, wanted, atol=1e-12 * np.abs(wanted).max())


def test_a_model_linearises_the_energy():
    """Linear stiffness and damping are the forces' derivatives at rest; forces are exact."""
    body = Block(NeoHookean(young_modulus=2e5, poisson_ratio=0.3, damping=0.1))
    description = sd.load_robot(
        {
            'name': 'block',
            'gravity': [0, 0, 0],
            'bodies': [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}],
        }
    )
    model = sd.compile_model(description)
    rest, q, qd = np.zeros(3), np.array([0.2, -0.1, 0.3]), np.array([1.0, -2.0, 0.5])
    derivatives = np.array([forces_of(body, rest, each)[1] for each in np.eye(3)]).T
    np.testing.assert_allclose(model.damping, derivatives, atol=1e-12 * np.abs(derivatives).max())
    hessian = gradient(lambda x: forces_of(body, x, rest)[0], rest)
    np.testing.assert_allclose(model.stiffness, hessian, atol=1e-6 * np.abs(hessian).max())
    elastic, damping = forces_of(body, q, qd)
    np.testing.assert_allclose(sd.elastic_force(model, q=q), elastic, rtol=1e-11)
    np.testing.assert_allclose(sd.damping_force(model, q=q, qd=qd), damping, rtol=1e-11)
