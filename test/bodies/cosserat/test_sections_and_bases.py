# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Each cross-section and each strain basis against its definition, and what they refuse."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.cosserat.bases.contract import BASES, read_basis
from softrobot_dynamics.bodies.cosserat.sections.contract import RodMaterial, Section, SECTIONS
from softrobot_dynamics.bodies.cosserat.strains import (
    STRAIGHT_STRAINS,
    strain_bases,
    strain_reference,
)
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.kernels.quadrature import gauss_legendre
from softrobot_dynamics.schema.fields import member
from softrobot_dynamics.schema.parsing import reader
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.graph import as_node, symbol, SYMBOLIC
from softrobot_dynamics.tracing.traversal import evaluate
from support.generated import instance, mapping

pytestmark = pytest.mark.quick

GIVEN = {
    'circular': {'radius': [0.02, 0.014]},
    'annular': {'outer_radius': [0.02, 0.015], 'inner_radius': [0.012, 0.01]},
    'elliptic': {'half_axis_x': [0.02, 0.012], 'half_axis_y': [0.009, 0.014]},
    'rectangular': {'width': [0.03, 0.01], 'height': [0.012, 0.02]},
}
BASIS = {
    'monomial': {'order': 4},
    'legendre': {'order': 4},
    'chebyshev': {'order': 4},
    'fourier': {'order': 2},
    'gaussian': {'order': 3, 'width': 0.3},
    'piecewise_constant': {'ends': [0.2, 0.65]},
    'table': {'stations': [0.0, 0.2, 0.5, 0.7, 1.0], 'values': [[1.0, 0.8, 0.1, -0.2, 0.0],
                                                                 [0.0, 0.3, 0.9, 0.5, 0.1]]},
}  # fmt: skip
EDGE = {  # half extents along y at x, for the half extent along x
    'circular': lambda m, x: np.sqrt(np.maximum(m['radius'] ** 2 - x**2, 0.0)),
    'elliptic': lambda m, x: m['half_axis_y'] * np.sqrt(1.0 - (x / m['half_axis_x']) ** 2),
    'rectangular': lambda m, x: 0.5 * m['height'] + 0.0 * x,
}
REACH = {
    'circular': ('radius', 1.0),
    'elliptic': ('half_axis_x', 1.0),
    'rectangular': ('width', 0.5),
}
SIGMA = np.array([0.0, 0.3, 0.71, 1.0])


def section(name, **fields):
    """Return a section."""
    given = fields or GIVEN.get(name) or mapping(SECTIONS.get(name))
    return instance(SECTIONS, {'type': name, **given})


def basis(name, **fields):
    """Return a basis."""
    given = fields or BASIS.get(name) or mapping(BASES.get(name))
    return read(read_basis, {'basis': name, **given})


def read(function, value):
    """Return what a value is read as, without problems."""
    problems = []
    found = function(value, 'here', problems)
    assert problems == []
    return found


def refused(function, value):
    """Return (path, value) of the one problem with a value, and its expectation."""
    problems = []
    function(value, 'here', problems)
    ((path, what, expected),) = problems
    return path, what, expected


def at(name, sigma=SIGMA):
    """Values (functions, K) of a basis."""
    values = basis(name).at(sigma, NUMERIC)
    return np.array([np.broadcast_to(v, np.shape(sigma)) for v in values])


def measures(name, sigma):
    """Measures of a section between base and tip."""
    return {key: a + (b - a) * sigma for key, (a, b) in GIVEN[name].items()}


def moments(name, sigma):
    """Area, int y^2 dA, int x^2 dA of a section, by quadrature over its strips."""
    if name == 'annular':
        radii = measures(name, sigma)
        outer, inner = (disc(radii[key]) for key in ('outer_radius', 'inner_radius'))
        return outer - inner
    key, share = REACH[name]
    shape = measures(name, sigma)
    return strips(lambda x: EDGE[name](shape, x), share * shape[key])


def disc(radius):
    """Moments of a disc."""
    return strips(lambda x: np.sqrt(radius**2 - x**2), radius)


def strips(half_height, reach):
    """Area and second moments; x = reach sin t makes the integrand smooth at the ends."""
    t, weights = gauss_legendre(60, -np.pi / 2.0, np.pi / 2.0)
    x = reach * np.sin(t)
    h, dx = half_height(x), weights * reach * np.cos(t)
    return np.array([dx @ (2.0 * h), dx @ (2.0 / 3.0 * h**3), dx @ (2.0 * h * x**2)])


SHAPES = [name for name in SECTIONS.names() if issubclass(SECTIONS.get(name), Section)]


@pytest.mark.parametrize('name', SHAPES)
def test_every_section_is_a_shape(name):
    """Moments are at least a disc's of the same area; the torsion constant is at most Ix + Iy."""
    area, Ix, Iy, J = np.broadcast_arrays(*section(name).at(SIGMA), SIGMA)[:4]
    assert (area > 0.0).all() and (J > 0.0).all()
    least = area**2 / (4.0 * np.pi)  # of a disc, the polar moment of which is the smallest
    assert (Ix + Iy >= 2.0 * least * (1.0 - 1e-12)).all()
    assert (J <= (Ix + Iy) * (1.0 + 1e-12)).all()  # as warping only softens
    assert section(name).at(0.3)[0] == pytest.approx(section(name).at(np.array([0.3]))[0][0])


def test_every_registered_section_is_tested_here():
    """Every registered section has a shape in this file, so that its moments are tested."""
    own = [n for n in SHAPES if SECTIONS.get(n).__module__.startswith(sd.__name__)]
    assert set(own) == set(GIVEN)


@pytest.mark.parametrize('name', GIVEN)
def test_moments_of_sections(name):
    """Area and second moments are those of the shape, at any place of a tapered rod."""
    found = np.array(section(name).at(SIGMA)[:3])
    for column, sigma in zip(found.T, SIGMA):
        np.testing.assert_allclose(column, moments(name, sigma), rtol=1e-12)


@pytest.mark.parametrize('name', ['circular', 'annular', 'elliptic'])
def test_torsion_of_round_sections(name):
    """The torsion constant is 2 int phi dA of Prandtl's function, which an ellipse has exactly."""
    if name == 'elliptic':
        m = measures(name, SIGMA)
        a2, b2 = m['half_axis_x'] ** 2, m['half_axis_y'] ** 2
        area, Ix, Iy, J = section(name).at(SIGMA)
        # phi = a2 b2 / (a2 + b2) (1 - x^2 / a2 - y^2 / b2), whose Laplacian is -2
        np.testing.assert_allclose(J, 2.0 * a2 * b2 / (a2 + b2) * (area - Iy / a2 - Ix / b2))
    else:
        _, Ix, Iy, J = section(name).at(SIGMA)
        np.testing.assert_allclose(J, Ix + Iy, rtol=1e-15)


@pytest.mark.parametrize('ratio', [1.0, 1.7, 0.3, 12.0, 500.0])
def test_torsion_of_rectangles(ratio):
    """The torsion constant is that of Poisson's equation, expanded in double sines."""
    w, h = 0.01 * ratio, 0.01
    m = np.arange(1.0, 60001.0, 2.0)
    # the sum over the waves along one side is closed: sum 1 / (n^2 (n^2 + z^2)), n odd
    z = m * w / h
    inner = (np.pi**2 / 8.0 - np.pi * np.tanh(np.pi * z / 2.0) / (4.0 * z)) / z**2
    wanted = 256.0 / np.pi**6 * w**3 * h * np.sum(inner / m**2)
    found = section('rectangular', width=w, height=h).at(0.4).J
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
    np.testing.assert_allclose(section('rectangular', width=h, height=w).at(0.4).J, found)


def test_torsion_of_a_square():
    """The torsion constant of a square is 0.1405770150 a^4."""
    assert section('rectangular', width=1.0, height=1.0).at(0.0).J == pytest.approx(
        0.14057701495515, rel=1e-13
    )


@pytest.mark.parametrize('name', GIVEN)
def test_rigidities_stand_for_any_shape(name):
    """Rigidities give the stiffness of a rod of that shape, from base to tip, and its mass."""
    material = RodMaterial(1070.0, 6e5, 0.4, 0.85)
    none = RodMaterial(None, None, 0.5, 1.0)
    for sigma in (0.0, 1.0):
        EIx, EIy, GJ, GA, _, EA = section(name).rigidity(sigma, material)
        rhoA, rhoIx, rhoIy = section(name).line_mass(sigma, material)
        fields = {
            'EI': {'x': EIx, 'y': EIy}, 'GJ': GJ, 'GA': GA, 'EA': EA,
            'rhoA': rhoA, 'rhoI': {'x': rhoIx, 'y': rhoIy},
        }  # fmt: skip
        same = section('rigidities', **fields)
        assert same.rigidity(0.3, none) == pytest.approx((EIx, EIy, GJ, GA, GA, EA), rel=1e-15)
        assert same.line_mass(0.3, none) == pytest.approx((rhoA, rhoIx, rhoIy), rel=1e-15)
    m = measures(name, 0.0)
    if name == 'rectangular':  # by hand
        assert section(name).rigidity(0.0, material)[:2] == pytest.approx(
            (5e4 * m['width'] * m['height'] ** 3, 5e4 * m['width'] ** 3 * m['height'])
        )
        area = m['width'] * m['height']
        assert section(name).rigidity(0.0, material)[3:] == pytest.approx(
            (0.85 * 6e5 / 2.8 * area, 0.85 * 6e5 / 2.8 * area, 6e5 * area)
        )


def test_a_tube_is_not_wider_inside_than_outside():
    """The radii of a ring are compared at the base and at the tip."""
    tube = {'type': 'annular', 'outer_radius': [3e-2, 1e-2], 'inner_radius': 2e-2}
    problem = refused(reader(member(SECTIONS)), tube)
    assert problem == ('here.inner_radius', 2e-2, 'less than outer_radius, base and tip [m]')


@pytest.mark.parametrize('name', BASES.names())
def test_bases_can_be_traced(name):
    """Traced, a basis has the values it has for arrays, and the right number of functions."""
    nodes = basis(name).at(symbol('x', 0), SYMBOLIC)
    assert len(nodes) == basis(name).count() == len(at(name))
    for sigma in (0.0, 0.31, 0.65, 1.0):
        for node, wanted in zip(nodes, at(name, np.array(sigma))):
            (found,) = evaluate([as_node(node)], {('x', 0): sigma}, NUMERIC)
            np.testing.assert_allclose(found, wanted, atol=1e-15)


@pytest.mark.parametrize('name', [name for name in BASES.names() if name != 'table'])
def test_order_zero_is_the_constant_strain(name):
    """Every basis of order 0 is one function, equal to 1 everywhere."""
    (values,) = basis(name, order=0).at(SIGMA, NUMERIC)
    assert np.array_equal(values + 0.0 * SIGMA, np.ones(4))


def test_monomials_are_powers():
    """Monomial basis functions are phi_k = sigma^k."""
    np.testing.assert_allclose(at('monomial'), [SIGMA**k for k in range(5)], rtol=1e-15)


def test_legendre_polynomials_are_orthogonal():
    """The integral of phi_i phi_j is 1 / (2 i + 1) if i = j, else 0; phi_k(1) = 1."""
    sigma, weights = gauss_legendre(10)
    values = at('legendre', sigma)
    wanted = np.diag(1.0 / (2.0 * np.arange(5) + 1.0))
    np.testing.assert_allclose((values * weights) @ values.T, wanted, atol=1e-15)
    np.testing.assert_allclose(at('legendre', np.ones(1)), 1.0)


def test_chebyshev_polynomials_are_cosines():
    """Chebyshev basis functions satisfy phi_k(cos x) = cos(k x)."""
    angles = np.linspace(0.1, 3.0, 7)
    found = at('chebyshev', 0.5 * (np.cos(angles) + 1.0))
    np.testing.assert_allclose(found, np.cos(np.outer(np.arange(5), angles)), atol=1e-14)


def test_fourier_functions_are_orthogonal_waves():
    """Mean squares are 1 for the constant and 1/2 for the waves; sines rise at 0."""
    sigma = (np.arange(16) + 0.5) / 16.0
    values = at('fourier', sigma)
    np.testing.assert_allclose(values @ values.T / 16.0, np.diag([1.0] + [0.5] * 4), atol=1e-15)
    np.testing.assert_allclose(at('fourier', np.array([0.0, 0.01]))[[2, 4], 0], 0.0)
    assert (at('fourier', np.array([0.01]))[[2, 4]] > 0.0).all()


def test_bells_have_their_centre_and_width():
    """A Gaussian is 1 at its centre and 1/e a width away; the centres divide the rod."""
    centres = np.array([1.0, 3.0, 5.0]) / 6.0
    np.testing.assert_allclose(at('gaussian', centres)[1:].diagonal(), 1.0)
    np.testing.assert_allclose(at('gaussian', centres + 0.3)[1:].diagonal(), np.exp(-1.0))


def test_pieces():
    """A piecewise constant function is 1 on its piece only, with the break at its end."""
    sigma = np.array([0.0, 0.1, 0.2, 0.21, 0.65, 0.66, 1.0])
    wanted = [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1]]
    assert np.array_equal(at('piecewise_constant', sigma), wanted)
    assert basis('piecewise_constant', order=3).breaks() == (0.25, 0.5, 0.75)


def test_a_table_goes_through_its_values_and_keeps_cubics():
    """Rows are met at the stations; a cubic, a parabola, a line are reproduced."""
    stations = np.array(BASIS['table']['stations'])
    np.testing.assert_allclose(at('table', stations), BASIS['table']['values'], atol=1e-15)
    for power, count in ((1, 2), (2, 3), (3, 4), (3, 6)):
        stations = np.linspace(0.0, 1.0, count)
        table = basis('table', stations=stations, values=[(stations - 0.3) ** power])
        found = table.at(SIGMA, NUMERIC)[0]
        np.testing.assert_allclose(found, (SIGMA - 0.3) ** power, atol=1e-14)


WRONG_BASES = [
    (5, 'here', 'a mapping with a basis'),
    ({'order': 2}, 'here.basis', 'one of the bases chebyshev, '),
    ({'basis': 'legender', 'order': 2}, 'here.basis', 'did you mean legendre?'),
    ({'basis': 'legendre', 'order': -1}, 'here.order', 'a whole number >= 0'),
    ({'basis': 'legendre', 'width': 1.0}, 'here.width', 'one of the fields basis, order'),
    ({'basis': 'gaussian', 'width': 0.0}, 'here.width', 'a number > 0 [-]'),
    ({'basis': 'piecewise_constant'}, 'here.order', 'or ends'),
    ({'basis': 'piecewise_constant', 'order': 1, 'ends': [0.5]}, 'here.ends', 'beside order'),
    ({'basis': 'piecewise_constant', 'ends': [0.5, 0.5]}, 'here.ends', 'that increase'),
    ({'basis': 'piecewise_constant', 'ends': [1.0]}, 'here.ends[0]', '< 1'),
    ({'basis': 'table', 'stations': [0, 0.9], 'values': [[1, 2]]}, 'here.stations', '0 to 1'),
    ({'basis': 'table', 'stations': [0, 1], 'values': [[1, 2, 3]]}, 'here.values[0]', '2 numbers'),
]


@pytest.mark.parametrize('value, path, expected', WRONG_BASES)
def test_wrong_bases_are_refused(value, path, expected):
    """Each wrong entry is named, with what would be right."""
    found, _, words = refused(read_basis, value)
    assert found == path and expected in words


LINE = {'basis': 'monomial', 'order': 1}
WRONG_STRAINS = [
    (strain_bases, {}, 'here', 'a mapping, not empty'),
    (strain_bases, ['kappa_x'], 'here', 'a mapping, not empty'),
    (strain_bases, {'kappa_w': LINE}, 'here.kappa_w', 'one of the strains kappa_x, kappa_y'),
    (strain_bases, {'kappa_x': 2}, 'here.kappa_x', 'a mapping with a basis'),
    (strain_reference, [0, 0, 1], 'here', 'a list of 6 numbers'),
    (strain_reference, {'kappa': 1.0}, 'here.kappa', 'one of the strains'),
    (strain_reference, {'kappa_x': 'much'}, 'here.kappa_x', 'a mapping with a basis'),
    (strain_reference, {'kappa_x': LINE}, 'here.kappa_x.coefficients', 'a list'),
    (
        strain_reference,
        {'kappa_x': {**LINE, 'coefficients': [1.0]}},
        'here.kappa_x.coefficients',
        '2 numbers, one per function',
    ),
]


@pytest.mark.parametrize('field, value, path, expected', WRONG_STRAINS)
def test_wrong_strains_are_refused(field, value, path, expected):
    """Each wrong entry is named, with what would be right."""
    found, what, words = refused(reader(field()), value)
    assert found == path and expected in words
    assert (what is MISSING) == (path == 'here.kappa_x.coefficients' and value['kappa_x'] == LINE)


def test_strains_are_read_in_their_order():
    """Curvatures come first, whatever the order in the file; a reference may be partial."""
    found = read(reader(strain_bases()), {'gamma_z': LINE, 'kappa_y': LINE})
    assert [strain for strain, _ in found] == [1, 5]
    assert read(reader(strain_reference()), [1, 0, 0, 0, 0, 1]) == (1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    given = {'kappa_y': 3, 'kappa_z': {**LINE, 'coefficients': [2.0, -0.5]}}
    reference = read(reader(strain_reference()), given)
    assert reference[:2] + reference[3:] == (0.0, 3.0, *STRAIGHT_STRAINS[3:])
    np.testing.assert_allclose(reference[2].at(SIGMA, NUMERIC), 2.0 - 0.5 * SIGMA)
