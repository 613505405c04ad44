# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The kernels of bodies whose position is linear in q, against point clouds and derivatives."""

from dataclasses import dataclass

import numpy as np
from oracles import newton_euler
from oracles.jets import Jet, jet, JETS
import pytest
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.linear_basis import LinearBasis
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.quadrature import gauss_legendre, rod_points
from softrobot_dynamics.materials.contract import Material, MATERIALS
from softrobot_dynamics.materials.neo_hookean import NeoHookean
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.differences import derivative, gradient
from support.generated import instance, instances
from support.kernel_calls import body_slab, fibre

TOLERANCE = 1e-12  # of the largest entry
STEP = 1e-30  # of complex steps


@dataclass(frozen=True)
class Waves(LinearBasis):
    """A body in n fields of sines and products, none of them simple."""

    type_name = 'waves'
    n: int = 5
    material: Material = None
    length: float = 0.3
    density: float = 900.0

    def coordinates(self):
        """Return wave_0, ..."""
        return tuple(f'wave_{j}' for j in range(self.n))

    def position(self, x, q, math):
        """Each field has all three components."""
        a, b, s = (c / self.length for c in x)
        moved = list(x)
        for j, amount in enumerate(q):
            wave = math.sin((1.0 + 0.4 * j) * s + 0.2 * j * a) * amount
            moved[0] = moved[0] + s * wave * math.cos(0.3 * j + b)
            moved[1] = moved[1] + s * amount * math.cos(0.7 * j * s + b) * (0.2 + a)
            moved[2] = moved[2] - wave * (a + 0.1 * j * b * b + 0.05)
        return moved

    def material_points(self):
        """Points of a tapered rod: 21, which no block holds evenly."""
        return rod_points(self.length, (0.03, 0.02), self.density, 7, True)

    def energy(self, F, math):
        """Return the material's."""
        return self.material and self.material.energy(F, math)

    def viscosity(self):
        """Return the material's."""
        return self.material and self.material.viscosity()

    def stiffness(self):
        """Return one that is not diagonal."""
        return np.diag(1.0 + np.arange(self.n)) + 0.3 * np.ones((self.n, self.n))


@dataclass(frozen=True)
class Affine(Waves):
    """A body that can do any affine motion: p = (1 + A) x + b."""

    type_name = 'affine'
    n: int = 12

    def position(self, x, q, math):
        """Read A row by row, then b."""
        return [x[i] + sum(q[3 * i + j] * x[j] for j in range(3)) + q[9 + i] for i in range(3)]


def states(n, count=3, size=0.02):
    """Random (q, qd, w)."""
    rng = np.random.default_rng(n)
    return [(*size * rng.uniform(-1, 1, (2, n)), rng.uniform(-2, 2, 3)) for _ in range(count)]


def close(found, wanted, tolerance=TOLERANCE):
    """Compare arrays relative to the largest entry of the wanted one."""
    return np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


def forces(W, n):
    """Elastic and damping force of a slab."""
    return W[layout.bias_offset(n) + n :].reshape(2, n)


@pytest.mark.parametrize('n', [1, 5, 40])
@pytest.mark.parametrize('size', [0.0, 0.02, 3.0], ids='size={}'.format)
def test_sums_are_those_of_the_points(n, size):
    """Inertia, bias wrench, coupling, mass and bias equal sums over all points."""
    body = Waves(n)
    kernel = body.kernel()
    for q, qd, w in states(n, size=size):
        qd = qd + 0.3
        W = body_slab(kernel, q, qd, w)
        inertia, wrench, coupling, mass, bias = newton_euler.body_sums(body, q, qd, w)
        assert close(W[layout.inertia_offset(n) :][:10], inertia)
        assert close(W[layout.wrench_offset(n) :][:6], wrench)
        assert close(W[layout.coupling_offset(n) :][: 6 * n], coupling.ravel())
        assert close(W[layout.mass_offset(n) :][: n * n], mass.ravel())
        assert close(W[layout.bias_offset(n) :][:n], bias)


def test_slab_is_that_of_the_traced_formula():
    """Frame and its derivatives, too, and forces of springs and of a material, equal the trace."""
    n = 2
    body = Waves(n, NeoHookean(3e5, 0.3, 0.05))
    own, traced = body.kernel(), Body.kernel(body)
    assert own.function == traced.function and own.module != traced.module
    offsets = (layout.inertia_offset, layout.wrench_offset, layout.coupling_offset)
    later = [offset(n) for offset in (*offsets, layout.mass_offset, layout.bias_offset)]
    parts = [
        0,
        9,
        12,
        15,
        18,
        18 + 3 * n,
        *later,
        later[-1] + n,
        later[-1] + 2 * n,
        later[-1] + 3 * n,
    ]
    for q, qd, w in states(n, 5):
        found, wanted = body_slab(own, q, 9.0 * qd, w), body_slab(traced, q, 9.0 * qd, w)
        for first, last in zip(parts, parts[1:]):
            scale = max(1e-3, np.abs(wanted[first:last]).max())
            assert np.abs(found[first:last] - wanted[first:last]).max() < 1e-12 * scale


def test_compiled_code_is_the_same_for_any_number():
    """Bodies of 3 and of 40 coordinates share a kernel, and so do those of one material."""
    law, other = NeoHookean(3e5, 0.3, 0.05), NeoHookean(1e5, 0.4)
    for small, large in ((Waves(3), Waves(40)), (Waves(3, law), Affine(12, other))):
        a, b = small.kernel(), large.kernel()
        assert (a.module, a.function) == (b.module, b.function)
        fibres = [
            k.fibre_kernel(np.ones((3, 3)), np.ones((3, 2)), np.ones(3)) for k in (small, large)
        ]
        assert fibres[0][:2] == fibres[1][:2]


def deformation(body, q):
    """Deformation gradients (3, 3, K) of all points for complex q, by jets in x."""
    points, columns = body.material_points()[0], []
    for j in range(3):
        x = [Jet(points[:, i], float(i == j)) for i in range(3)]
        columns.append([jet(c).first * np.ones(len(points)) for c in body.position(x, q, JETS)])
    return np.swapaxes(columns, 0, 1)


def materials():
    """Every registered material that is at rest where nothing is deformed."""
    every = [
        instance(MATERIALS, g) for name in MATERIALS.names() for g in instances(MATERIALS, name)
    ]
    return [m for m in every if not list(Waves(1, m).validate())]


@pytest.mark.parametrize('material', materials(), ids=lambda m: m.type_name)
def test_forces_are_those_of_the_energy(material):
    """Elastic: dU/dq, damping: v/2 int tr(dC/dt dC/dq_j), both by complex steps."""
    n = 6
    body = Waves(n, material)
    kernel, volumes = body.kernel(), body.material_points()[1] / body.density
    for q, qd, w in states(n):
        elastic, derivatives = [], []
        for j in range(n):
            F = deformation(body, q + 1j * STEP * np.eye(n)[j])
            elastic.append(volumes @ material.energy(list(F), NUMERIC).imag / STEP)
            derivatives.append(np.einsum('aik,ajk->kij', F, F).imag / STEP)
        rate = np.tensordot(qd, derivatives, 1)
        viscous = [
            0.5 * (material.viscosity() or 0.0) * volumes @ np.sum(rate * gradient, axis=(1, 2))
            for gradient in derivatives
        ]
        found = forces(body_slab(kernel, q, qd, w), n)
        assert close(found[0] - body.stiffness() @ q, np.array(elastic), 1e-11)
        assert close(found[1], np.array(viscous)) if material.viscosity() else not found[1].any()


def test_a_material_with_stress_at_rest_is_refused():
    """A material with stress at rest, which would swell a body of linear basis, is refused."""
    law = MATERIALS.get('incompressible_neo_hookean')(1e5)
    ((path, _, expected),) = Waves(2, law).validate()
    assert path == 'material' and 'without stress at rest' in expected


def test_rigid_motions_meet_no_force():
    """A large rotation or a spin about any axis causes no elastic or damping force."""
    body = Affine(12, NeoHookean(3e5, 0.3, 0.05))
    object.__setattr__(body, 'stiffness', lambda: np.zeros((12, 12)))
    kernel = body.kernel()
    turn = np.array([0.8, -1.1, 0.5])
    skew = np.cross(np.eye(3), -turn)
    values, vectors = np.linalg.eig(skew)
    R = (vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)).real
    spin = np.cross(np.eye(3), [3.0, 1.0, -2.0])
    q = np.concatenate([(R - np.eye(3)).ravel(), [0.1, 0.2, 0.3]])
    still, turning = np.zeros(12), np.concatenate([(spin @ R).ravel(), [1.0, 0.0, 2.0]])
    bent = forces(body_slab(kernel, 0.1 * q, turning, np.zeros(3)), 12)
    found = forces(body_slab(kernel, q, turning, np.zeros(3)), 12)
    assert np.abs(found).max() < 1e-12 * np.abs(bent).max()
    assert not forces(body_slab(kernel, still, still, np.zeros(3)), 12).any()


def test_fibre_length_is_that_of_the_curve():
    """Length, gradient and bias of a material curve equal those of the moved points."""
    body, n = Waves(6), 6
    s, weights = gauss_legendre(37, 0.02, body.length)
    points = np.column_stack([0.02 * np.cos(9.0 * s), 0.01 + 0.03 * s, s])
    derivatives = np.column_stack([-0.18 * np.sin(9.0 * s), 0.03 + 0.0 * s])
    kernel = body.fibre_kernel(points, derivatives, weights)
    curve = [Jet(points[:, i], (*derivatives.T, 1.0)[i]) for i in range(3)]

    def length(q):
        return weights @ np.sqrt(sum(jet(c).first ** 2 for c in body.position(curve, q, JETS)))

    for q, qd, _ in states(n, 3, size=0.1):
        out = fibre(kernel, q, qd)
        np.testing.assert_allclose(out[0], length(q), rtol=1e-14)
        gradient = [length(q + 1j * STEP * e).imag / STEP for e in np.eye(n)]
        np.testing.assert_allclose(out[1:-1], gradient, atol=1e-13)
        rate = derivative(lambda t: length(q + t * qd + 1j * STEP * qd).imag / STEP)  # noqa: B023
        np.testing.assert_allclose(out[-1], rate, atol=1e-10 * max(1.0, abs(rate)))


def test_fields_and_derivatives_are_those_of_the_formula():
    """fields_at is dp/dq, and derivatives_at is its derivative by x."""
    body, n = Waves(3), 3
    points = np.array([[0.01, -0.02, 0.1], [0.0, 0.03, 0.25]])

    def moved(x, q):
        return np.array(body.position(list(x), list(q), NUMERIC))

    fields, derivatives = body.fields_at(points), body.derivatives_at(points)
    for point, field, by_x in zip(points, fields, derivatives):
        for j, unit in enumerate(np.eye(n)):
            np.testing.assert_allclose(field[:, j], moved(point, unit) - point, atol=1e-15)
            wanted = gradient(lambda x: moved(x, unit) - x, point)  # noqa: B023
            np.testing.assert_allclose(by_x[j], wanted, atol=1e-10)


def test_a_position_that_is_not_linear_is_refused():
    """A formula with a square of q is no linear basis."""

    class Bent(Waves):
        def position(self, x, q, math):
            return [x[0], x[1], x[2] + q[0] * q[0]]

    with pytest.raises(TypeError, match='not linear in q'):
        Bent(1).kernel()
