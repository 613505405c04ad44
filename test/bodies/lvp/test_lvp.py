# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Locally volume preserving bodies: their map, forces, limits, and the rods they tend to."""

from dataclasses import dataclass, replace

import numpy as np
from oracles import newton_euler, volumes
from oracles.jets import Jet, jet, JETS
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.bodies.lvp.volumes import Cylinder
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.materials.contract import MATERIALS
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.traversal import evaluate
from support.cylinders import (
    BODIES_OF,
    body_of,
    C,
    close,
    deformation,
    ETA,
    forces,
    hollow,
    linearised,
    mapping,
    MIXED,
    postures,
    random_points,
    robot,
    ROD,
    RUBBER,
    slab,
)
from support.generated import instance, instances

STEP = 1e-30  # of the complex steps
PRINTED = volumes.tables(0.1)  # modes as lists, for the oracle


@pytest.fixture(scope='module', params=BODIES_OF)
def body(request):
    """Every set of modes, with and without a cavity."""
    return BODIES_OF[request.param]()


@pytest.mark.parametrize('size', [0.1, 1.0, 3.0])
def test_volume_is_preserved_everywhere(body, size):
    """The determinant of dp/dx is 1 to 1e-12, on both sides of strong bends as well."""
    points = random_points(body, 100, seed=1)
    for q in postures(body, 5, seed=2, size=size):
        F = deformation(body, list(q), points)
        assert np.abs(np.linalg.det(F) - 1.0).max() < 1e-12
        assert np.abs(F - np.eye(3)).max() > 0.01 * size


def test_the_map_is_backbone_and_cubic(body):
    """The formula equals the solution of the frames' equations and of the cubic by its roots."""
    modes = PRINTED.get(body.modes) or body.modes.each()
    for q in postures(body, 2, seed=4):
        for x in random_points(body, 5, seed=3):
            wanted = volumes.position(modes, body.length, q, x)
            found = np.array(body.position(list(x), list(q), NUMERIC), dtype=float)
            np.testing.assert_allclose(found, wanted, atol=1e-11)
        R, origin = volumes.frame(modes, body.length, q, body.length)
        rotation, tip = body.tip_frame(list(q), NUMERIC)
        np.testing.assert_allclose(np.reshape(rotation, (3, 3)), R, atol=1e-10)
        np.testing.assert_allclose(tip, origin, atol=1e-11)


def test_at_rest_there_is_no_motion_and_no_force(body):
    """At q = 0 nothing moves, and there is no force."""
    points, zero = random_points(body, 20, seed=5), np.zeros(len(body.coordinates()))
    found = np.array(body.position(list(points.T), list(zero), NUMERIC))
    np.testing.assert_allclose(found.T, points, atol=1e-16)
    strong = np.abs(forces(body, *postures(body, 2, seed=6))).max()
    assert np.abs(forces(body, zero, zero)).max() < 1e-12 * strong


def test_the_tip_frame_is_that_of_its_disc(body):
    """Material points on the tip's x and y axes stay on those of the frame."""
    r, L = 0.9 * body.outer_radius, body.length
    for q in postures(body, 3, seed=7):
        rotation, origin = body.tip_frame(list(q), NUMERIC)
        R = np.reshape(rotation, (3, 3))
        for axis, x in enumerate(([r, 0.0, L], [0.0, r, L])):
            p = np.array(body.position(x, list(q), NUMERIC), dtype=float) - origin
            np.testing.assert_allclose(p / np.linalg.norm(p), R[:, axis], atol=1e-13)


def test_the_length_of_a_curve_is_that_of_its_points(body):
    """The speed along a slanting material curve, without frames, against jets of the position."""
    n, L = len(body.coordinates()), body.length
    x, derivative, q = ([symbol(*key) for key in keys] for keys in (
        [('x', 0), ('x', 1), ('x', 2)], [('x', 3), ('x', 4)], [('q', j) for j in range(n)]
    ))  # fmt: skip
    speed = body.fibre_speed(x, derivative, q, SYMBOLIC)
    for values in postures(body, 3, seed=20):
        at, derivatives = (0.014, -0.006, 0.7 * L), (0.2, -0.3)
        given = {('x', i): v for i, v in enumerate((*at, *derivatives))}
        given |= {('q', j): v for j, v in enumerate(values)}
        curve = [Jet(v, d) for v, d in zip(at, (*derivatives, 1.0))]
        velocity = [jet(c).first for c in body.position(curve, list(values), JETS)]
        (found,) = evaluate([speed], given, NUMERIC)
        assert found == pytest.approx(np.linalg.norm(velocity), rel=1e-13)


@pytest.mark.parametrize('size', [0.0, 1e-3, 1.0, 3.0])
def test_the_kernel_sums_the_points(body, size):
    """Frames at nodes, interpolated, give the sums that the formula gives, to 1e-12."""
    n = len(body.coordinates())
    offsets = [f(n) for f in (layout.inertia_offset, layout.wrench_offset, layout.coupling_offset,
                              layout.mass_offset, layout.bias_offset)]  # fmt: skip
    rates = postures(body, 3, seed=9)
    for q, qd in zip(postures(body, 3, seed=8, size=size), rates):
        w = np.array([0.3, -1.2, 0.8])
        W = slab(body, q, qd, w)
        for first, wanted in zip(offsets, newton_euler.body_sums(body, q, qd, w)):
            assert close(W[first : first + wanted.size], wanted.ravel(), 1e-12)


@dataclass(frozen=True)
class Cloud:
    """The points of a product rule, as those of a mesh: of no sections."""

    rule: Cylinder

    def points(self, *size):
        """Points (K, 3) [m] and volumes (K,) [m^3]."""
        return self.rule.points(*size)


SHAPES_OF = {
    'incompressible_neo_hookean': ({}, {'inner_radius': 0.012, 'fill': 0.4}),
    'neo_hookean': ({'inner_radius': 0.012, 'modes': MIXED},),
}
"""Bodies of each material: strains and material have code of their own, which others share."""


@pytest.mark.parametrize('rule', [(6, 2, 8), (18, 1, 5)])
@pytest.mark.parametrize('material', MATERIALS.names())
def test_sums_over_sections_are_those_over_points(material, rule):
    """Sums over sections equal sums over points for every material, strain and shape."""
    (given,) = instances(MATERIALS, material)
    shapes = SHAPES_OF.get(material, ({'inner_radius': 0.012, 'modes': 'table_5'},))
    bodies = [body_of(material=given, **fields) for fields in shapes]
    rule = Cylinder(*rule)
    for body in bodies:
        n = len(body.coordinates())
        first, last = layout.inertia_offset(n), layout.bias_offset(n)
        parts = [0, first, first + 10, first + 16, first + 16 + 6 * n, last]
        parts += [last + n, last + 2 * n, last + 3 * n]
        for size in (0.3, 1.0, 3.0):
            q, qd = postures(body, 2, seed=21, size=size)
            each = [replace(body, quadrature=r) for r in (rule, Cloud(rule))]
            found, wanted = (slab(one, q, qd, (0.3, -1.2, 0.8)) for one in each)
            for a, b in zip(parts, parts[1:]):
                assert close(found[a:b], wanted[a:b], 1e-13)


def test_forces_are_those_of_the_energy(body):
    """Elastic: the gradient of the energy; damping: v/2 int tr(dC/dt dC/dq); complex steps."""
    points, masses = body.material_points()
    volume, n = masses / body.density, len(body.coordinates())
    for q, qd in zip(postures(body, 3, seed=10), postures(body, 3, seed=11)):
        stepped = (q + 1j * STEP * np.eye(n)).T[..., None]  # of each coordinate, all steps
        F = deformation(body, list(stepped), points)
        density = body.energy([list(row) for row in np.moveaxis(F, (2, 3), (0, 1))], NUMERIC)
        derivatives = (np.swapaxes(F, 2, 3) @ F).imag / STEP
        rate, v = np.tensordot(qd, derivatives, 1), body.viscosity()
        damping = v / 2.0 * np.sum(rate * derivatives, axis=(2, 3)) @ volume
        found = forces(body, q, qd)
        assert close(found[0], density.imag @ volume / STEP, 1e-11)
        assert close(found[1], damping, 1e-11)


def test_stretch_is_that_of_a_rod():
    """Energy C A L (h^2 + 2/h - 3) at the length factor h = 1 + q: the modulus is 6 C."""
    body = body_of(modes=ROD)
    volume = np.pi * body.outer_radius**2 * body.length
    for q in (-0.4, 0.0, 0.3, 1.0):
        h = 1.0 + q
        found = forces(body, [q, 0.0, 0.0], np.zeros(3))[0]
        wanted = [2.0 * C * volume * (h - 1.0 / h**2), 0.0, 0.0]
        np.testing.assert_allclose(found, wanted, atol=1e-12 * C * volume)
    assert linearised(body)[0][0, 0] == pytest.approx(6.0 * C * volume, rel=1e-6)


def test_small_bends_are_stiffer_than_a_rod():
    """Sections that do not contract make the bending modulus 58/9 C instead of 6 C."""
    body = body_of(modes=ROD)
    moment = np.pi / 4.0 * body.outer_radius**4
    K = linearised(body)[0]
    wanted = 58.0 / 9.0 * C * moment * body.length
    np.testing.assert_allclose(K[1:, 1:], wanted * np.eye(2), rtol=1e-5, atol=1e-6 * wanted)


def test_damping_is_objective(body):
    """Damping is damping / 2 times the stiffness at small strains, and rotation costs nothing."""
    K, D = linearised(body)
    if body.viscosity() == ETA * C:  # a law that holds for det F = 1 only
        assert close(D, ETA / 2.0 * K, 1e-5)
    n = len(body.coordinates())
    for q, qd in zip(postures(body, 3, seed=12), postures(body, 3, seed=13)):
        assert qd @ forces(body, q, qd)[1] > 0.0
        turning = slab(body, q, qd, w=(3.0, -2.0, 5.0))[layout.bias_offset(n) + n :]
        assert np.array_equal(turning, forces(body, q, qd).ravel())


def test_slender_bodies_are_rods():
    """The mass matrix tends to that of a volume rod with the square of radius over length."""
    errors, q = [], np.array([0.7, -0.4, 0.02])  # bends [rad] in x and y, elongation [m]
    for radius in (0.02, 0.002):
        modes = {'stretch': [[5.0]], 'kappa_x': [[-5.0]], 'kappa_y': [[5.0]]}
        fields = {'length': 0.2, 'outer_radius': radius, 'modes': modes}
        body = body_of(quadrature={'axial': 12}, **fields)
        rod = instance(BODIES, {'type': 'pcc', 'length': 0.2, 'radius': radius, 'density': 960.0,
                                'young_modulus': 1e5, 'quadrature': 12})  # fmt: skip
        place = layout.mass_offset(3)
        found, wanted = (
            slab(each, x, 0.0 * q)[place : place + 9].reshape(3, 3)
            for each, x in ((body, q[[2, 1, 0]]), (rod, q))
        )
        found = found[np.ix_([2, 1, 0], [2, 1, 0])]
        errors.append(np.abs(found - wanted).max() / np.abs(wanted).max())
    assert 1e-5 < errors[1] < 1e-4 and errors[0] / errors[1] == pytest.approx(100.0, rel=0.1)


@pytest.mark.parametrize(
    'q, words',
    [
        ([0, 3.2, 0, 0, 0, 0, 0, 0], 'b: bend: a curvature of 32 1/m at s = 0 m'),
        ([0, 0, 0, -2, -200, 0, 0, 0], 'b: bend: a curvature of 220 1/m at s = 0.1 m'),
        ([-5, 0, 0, 0, 0, 0, 0, 0], 'b: stretch: a length factor of -0.25'),
        ([0, 0, 0, 0, 0, 200, 0, 0], 'b: turn: by 10 rad'),
    ],
)
def test_an_impossible_body_is_refused(q, words):
    """An impossible posture is an error with the reason, never a number that is none."""
    model = robot(mapping())
    zero = np.zeros(model.n)
    with pytest.raises(ArgumentError, match='argument q') as caught:
        sd.inverse_dynamics(model, q=np.array(q, dtype=float), qd=zero, qdd=zero)
    assert words in str(caught.value)
    with pytest.raises(ArgumentError):
        sd.elastic_force(model, q=np.array(q, dtype=float))


def test_a_closing_cavity_is_refused():
    """A source that shrinks the cavity below nothing is refused."""
    body = hollow(modes='table_5')
    assert body.explain([0.0, -1e-4]) is None
    assert 'source: -0.0002 m^2 closes the cavity' in body.explain([0.0, -2e-4])
    assert not np.isfinite(slab(body, [0.0, -2e-4], [0.0, 0.0])).any()
    assert np.isfinite(slab(body, [0.0, -1e-4], [0.0, 0.0])).all()


@pytest.mark.parametrize('sign', [-1.0, 1.0])
def test_the_limit_is_where_a_bend_folds(sign):
    """Terms are finite up to 98 % of the folding curvature, and invalid beyond 99 %."""
    body = body_of(modes=ROD)
    most = 1.0 / (np.sqrt(3.0) * body.outer_radius)
    good, bad = (
        np.array([0.0, 0.6, sign * 0.8]) * 0.975 * most,
        [0.0, 0.6 * most, sign * 0.8 * most],
    )
    assert body.explain(good) is None and np.isfinite(slab(body, good, 0.1 * good)).all()
    F = deformation(body, list(good), random_points(body, 200, seed=14))
    assert np.abs(np.linalg.det(F) - 1.0).max() < 1e-12
    assert 'folds' in body.explain(bad) and np.isnan(slab(body, bad, [0.0] * 3)).all()


def test_names_are_those_of_the_strains():
    """Numbered where a strain has several modes; Table 4 in its own order."""
    assert body_of().coordinates() == ('stretch', 'kappa_x0', 'kappa_x1', 'kappa_y0', 'kappa_y1',
                                       'kappa_z', 'gamma_x', 'gamma_y')  # fmt: skip
    assert hollow(modes='table_5').coordinates() == ('stretch', 'source')
    given = {'source': [[1.0], [0.0, 1.0]], 'kappa_x': [[1.0]]}
    assert hollow(modes=given).coordinates() == ('kappa_x', 'source0', 'source1')


@pytest.mark.parametrize(
    'fields, words',
    [
        ({'modes': 'table_6'}, "body.modes: 'table_6', expected table_4, table_5, or a mapping"),
        ({'modes': {}}, 'body.modes: {}, expected at least one mode'),
        ({'modes': {'bend': [[1.0]]}}, 'body.modes.bend'),
        ({'modes': {'kappa_x': [1.0]}}, 'body.modes.kappa_x[0]: 1.0, expected a list, not empty'),
        ({'modes': {'kappa_x': [[1.0, 2.0], [2.0, 4.0]]}}, 'none of which is a sum of the others'),
        ({'modes': {'kappa_x': [[0.0]]}}, 'nor zero'),
        ({'modes': {'kappa_x': [[0.0] * 9 + [1.0]]}}, 'polynomials of degree 6 at most'),
        ({'modes': 'table_5'}, 'no source: without inner_radius there is no cavity'),
        ({'inner_radius': 0.02}, 'body.inner_radius: 0.02, expected a radius < outer_radius'),
        ({'quadrature': {'axial': 2}}, 'body.quadrature.axial: 2, expected > 2, the degree'),
        ({'quadrature': {'angular': 3}}, 'body.quadrature.angular: 3'),
        ({'quadrature': {'mesh': 'none.msh'}}, 'body.quadrature.mesh: '),
        ({'fill': 1.2}, 'body.fill: 1.2'),
        ({'material': {'type': 'steel'}}, 'body.material.type'),
    ],
)
def test_wrong_fields_are_named(fields, words):
    """Each wrong field is named by its path with what would be right."""
    with pytest.raises(DescriptionError) as caught:
        robot(mapping(**fields))
    (problem,) = caught.value.problems
    assert words in str(problem)


def test_numbers_change_without_compiling():
    """Sizes, densities, moduli and coefficients of modes change without compiling."""
    first = body_of().kernel()
    other = {**RUBBER, 'modulus': 3e4}
    modes = {name: [[0.3, 0.1]] for name in ('stretch', 'kappa_z', 'gamma_x', 'gamma_y')}
    modes |= {name: [[2.0], [0.1, 0.2, 0.3]] for name in ('kappa_x', 'kappa_y')}
    second = body_of(
        length=0.2, outer_radius=0.01, density=1e3, material=other, modes=modes
    ).kernel()
    assert (first.module, first.function) == (second.module, second.function)


def test_fill_scales_mass_and_forces():
    """A wall that is a third material has a third of the mass, the stiffness, the damping."""
    full, part = hollow(), hollow(fill=0.35)
    (q, qd), n = postures(full, 2, seed=15), 8
    wanted, found = slab(full, q, qd), slab(part, q, qd)
    first = layout.inertia_offset(n)
    np.testing.assert_allclose(found[first:], 0.35 * wanted[first:], rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(found[:first], wanted[:first], rtol=1e-15)
    mass = 960.0 * np.pi * (0.02**2 - 0.012**2) * 0.1
    assert wanted[first] == pytest.approx(mass, rel=1e-14)
