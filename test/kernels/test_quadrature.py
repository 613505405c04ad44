# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadrature rules of volumes: the degrees they are exact for, meshes, and what is wrong."""

from itertools import product
from math import factorial, gamma

import numpy as np
import pytest
from softrobot_dynamics.bodies.meshes import Mesh, read_tetrahedra
from softrobot_dynamics.errors import ArgumentError, MeshError
from softrobot_dynamics.kernels.quadrature import collocation, cylinder_points, gauss_legendre

pytestmark = pytest.mark.quick

REGULAR = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
CORNER = np.array([[0, 1, 2, 3]])


def monomials(degree):
    """Exponents (i, j, k) of all monomials of a degree."""
    return [e for e in product(range(degree + 1), repeat=3) if sum(e) == degree]


def annulus(i, j, outer, inner):
    """Integral of x^i y^j over a ring."""
    if i % 2 or j % 2:
        return 0.0
    turn = 2.0 * gamma((i + 1) / 2) * gamma((j + 1) / 2) / gamma((i + j) / 2 + 1)
    power = i + j + 2
    return turn * (outer**power - inner**power) / power


@pytest.mark.parametrize('inner', [0.0, 0.6])
@pytest.mark.parametrize('axial, radial, angular', [(2, 1, 4), (3, 2, 8), (4, 3, 7)])
def test_cylinder_rule_is_exact_up_to_its_degrees(axial, radial, angular, inner):
    """The cylinder rule is exact up to its degrees and not beyond."""
    length, outer = 1.3, 0.9
    points, weights = cylinder_points(length, outer, inner, axial, radial, angular)
    x, y, z = points.T
    assert len(points) == axial * radial * angular and (weights > 0.0).all()
    assert (np.hypot(x, y) < outer).all() and (np.hypot(x, y) > inner).all()
    across = min(4 * radial - 1, angular - 1)
    for i, j, k in product(range(across + 1), range(across + 1), range(2 * axial)):
        if i + j <= across:
            exact = annulus(i, j, outer, inner) * length ** (k + 1) / (k + 1)
            assert weights @ (x**i * y**j * z**k) == pytest.approx(exact, rel=1e-13, abs=1e-15)
    along = length ** (2 * axial + 1) / (2 * axial + 1) * annulus(0, 0, outer, inner)
    assert weights @ z ** (2 * axial) != pytest.approx(along, rel=1e-6)


@pytest.mark.parametrize('order, count', [(1, 1), (2, 4), (3, 8), (4, 27), (5, 27), (7, 64)])
def test_tetrahedron_rules_are_exact_up_to_their_degree(order, count):
    """On a cube's corner int x^i y^j z^k = i! j! k! / (i + j + k + 3)! up to the degree."""
    points, weights = Mesh(REGULAR, CORNER).quadrature(order)
    assert len(points) == count and (weights > 0.0).all() and (points > 0.0).all()
    for degree in range(order + 1):
        for i, j, k in monomials(degree):
            exact = factorial(i) * factorial(j) * factorial(k) / factorial(degree + 3)
            found = weights @ np.prod(points ** np.array([i, j, k]), axis=1)
            assert found == pytest.approx(exact, rel=1e-13)


def test_any_tetrahedron_is_the_image_of_the_corner():
    """Rules on skew tetrahedra have the volumes and first moments of their corners."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(12, 3))
    tetrahedra = np.arange(12).reshape(3, 4)
    edges = points[tetrahedra[:, 1:]] - points[tetrahedra[:, :1]]
    inverted = np.linalg.det(edges) < 0.0
    tetrahedra[inverted] = tetrahedra[inverted][:, [0, 2, 1, 3]]
    mesh = Mesh(points, tetrahedra)
    np.testing.assert_allclose(mesh.volumes(), np.abs(np.linalg.det(edges)) / 6.0, rtol=1e-13)
    for order in (1, 2, 3):
        at, weights = mesh.quadrature(order)
        centres = points[tetrahedra].mean(axis=1)
        np.testing.assert_allclose(weights @ at, mesh.volumes() @ centres, rtol=1e-12)


@pytest.mark.parametrize(
    'points, tetrahedra, words',
    [
        (REGULAR, CORNER[:, [1, 0, 2, 3]], '1 of 1 inverted (elements 0)'),
        (REGULAR * [1.0, 1.0, 0.0], CORNER, '1 of 1 flat (elements 0)'),
        (REGULAR * [1.0, 1.0, 1e-9], CORNER, '1 of 1 flat (elements 0)'),
        (REGULAR * np.nan, CORNER, 'finite points (P, 3) expected'),
        (REGULAR[:, :2], CORNER, 'finite points (P, 3) expected, not (4, 2)'),
        (REGULAR, CORNER[:, :3], 'tetrahedra (T, 4) expected, not (1, 3)'),
        (REGULAR, CORNER + 1, 'tetrahedra of all points 0 ... 3 expected'),
        (np.vstack([REGULAR, REGULAR[:1]]), CORNER, 'tetrahedra of all points 0 ... 4 expected'),
    ],
)
def test_an_invalid_mesh_is_refused(points, tetrahedra, words):
    """A mesh with wrong elements is refused with these and the name of its source."""
    with pytest.raises(MeshError) as caught:
        Mesh(points, tetrahedra, 'block.msh')
    assert str(caught.value).startswith('mesh block.msh: ') and words in str(caught.value)


def test_only_the_wrong_elements_are_named():
    """The error names five wrong elements and says that there are more."""
    good, bad = CORNER[0], CORNER[0, [1, 0, 2, 3]]
    with pytest.raises(MeshError) as caught:
        Mesh(REGULAR, np.array([good, *[bad] * 7, good]))
    assert caught.value.elements == tuple(range(1, 8))
    assert '7 of 9 inverted (elements 1, 2, 3, 4, 5, ...)' in str(caught.value)


def test_an_invalid_order_is_refused():
    """An order of zero or a half is refused."""
    for order in (0, 1.5):
        with pytest.raises(ArgumentError, match='order'):
            Mesh(REGULAR, CORNER).quadrature(order)


@pytest.mark.parametrize('kind, suffix', [('gmsh22', '.msh'), ('vtu', '.vtu'), ('abaqus', '.inp')])
def test_files_are_read_by_meshio(tmp_path, kind, suffix):
    """Corners of quadratic elements only, other cells and idle points left out, unit applied."""
    meshio = pytest.importorskip('meshio')
    idle = np.array([[9.0, 9.0, 9.0]])
    path = tmp_path / f'corner{suffix}'
    cells = [('tetra', CORNER + 1), ('triangle', CORNER[:, :3] + 1)]
    meshio.Mesh(np.vstack([idle, 20.0 * REGULAR]), cells).write(path, kind)
    mesh = read_tetrahedra(path, scale=1e-3)
    assert mesh.points.shape == (4, 3) and mesh.source == str(path)
    np.testing.assert_allclose(mesh.volumes(), [0.02**3 / 6.0], rtol=1e-12)
    middle = [(a, b) for a in range(4) for b in range(a)]
    points = np.vstack([REGULAR, [(REGULAR[a] + REGULAR[b]) / 2 for a, b in middle]])
    meshio.Mesh(points, [('tetra10', np.arange(10)[None])]).write(path, kind)
    np.testing.assert_allclose(read_tetrahedra(path).volumes(), [1.0 / 6.0], rtol=1e-12)


def test_files_that_hold_no_mesh_are_refused(tmp_path, capsys):
    """A missing file, another format, no tetrahedra or a wrong unit is refused."""
    meshio = pytest.importorskip('meshio')
    for name, content in (('none.msh', None), ('text.msh', 'hello'), ('text.xyz', 'hello')):
        if content is not None:
            (tmp_path / name).write_text(content)
        with pytest.raises(MeshError) as caught:
            read_tetrahedra(tmp_path / name)
        assert f'{name}: a mesh file expected' in str(caught.value)
    flat = tmp_path / 'flat.vtu'
    meshio.Mesh(REGULAR, [('triangle', CORNER[:, :3])]).write(flat)
    with pytest.raises(MeshError, match='tetrahedra in 3 dimensions expected; it has triangle'):
        read_tetrahedra(flat)
    with pytest.raises(ArgumentError, match='scale'):
        read_tetrahedra(flat, scale=0.0)


@pytest.mark.parametrize('count', [1, 2, 3, 10, 16])
def test_collocation_is_exact_for_polynomials(count):
    """Integrals from 0, first and second derivatives, at both ends too, of all powers below."""
    found, (x, _) = collocation(count), gauss_legendre(count)
    ends = np.concatenate([x, [0.0, 1.0]])
    for p in range(count):
        f = x**p
        assert found.weights @ f == pytest.approx(1.0 / (p + 1))
        integrals = found.integration_matrix @ f
        np.testing.assert_allclose(integrals, x ** (p + 1) / (p + 1), atol=1e-13)
        derivative = p * ends ** max(p - 1, 0)
        np.testing.assert_allclose(found.derivatives @ f, derivative, atol=1e-11)
        second = p * (p - 1) * x ** max(p - 2, 0)
        np.testing.assert_allclose(found.hessians @ f, second, atol=1e-8)
