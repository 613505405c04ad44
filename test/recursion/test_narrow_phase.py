# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Distances of primitives beside those of another library, coal."""

import zlib

import numpy as np
import pytest
from softrobot_dynamics.collision.hulls import hull_of
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.recursion import narrow_phase, solid_distances
from softrobot_dynamics.recursion.narrow_phase import NO_CONTACT

pytestmark = pytest.mark.quick
coal = pytest.importorskip('coal')
RANDOM = np.random.default_rng(38)

box_distance, point_plane, point_tube, segment_box, segment_segment = map(cached, (
    narrow_phase.box_distance, narrow_phase.point_plane, narrow_phase.point_tube,
    narrow_phase.segment_box, narrow_phase.segment_segment,
))  # fmt: skip
segment_cylinder = cached(solid_distances.segment_cylinder)
segment_hull = cached(solid_distances.segment_hull)


@pytest.fixture(autouse=True)
def seed(request):
    """Give each case its own numbers, the same ones whichever tests ran before it."""
    seed = zlib.crc32(request.node.name.encode())
    RANDOM.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def frame():
    """Return a random transform (4, 4)."""
    Q = np.linalg.qr(RANDOM.normal(size=(3, 3)))[0]
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Q * np.sign(np.linalg.det(Q)), RANDOM.normal(size=3)
    return T


def capsule(a, b, radius):
    """Return coal's capsule between two points (3,), and where it is."""
    axis = b - a
    length = np.linalg.norm(axis)
    z = axis / length
    x = np.cross(z, RANDOM.normal(size=3))
    x /= np.linalg.norm(x)
    R = np.column_stack([x, np.cross(z, x), z])
    return coal.Capsule(radius, length), coal.Transform3s(R, 0.5 * (a + b))


def distance(a, b):
    """Return the signed distance of two of coal's shapes."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = 1e-10  # of the distance, 1e-6 by default
    return coal.distance(*a, *b, request, result)


@pytest.mark.parametrize('trial', range(50))
def test_capsules_are_as_far_from_each_other_as_coal_says(trial):
    """Gap of two capsules, apart or overlapping by less than both radii, and its normal."""
    a, b, c, d = RANDOM.normal(size=(4, 3))
    gap, *normal, s, t = segment_segment(a, b, 0.1, c, d, 0.2)
    assert gap == pytest.approx(distance(capsule(a, b, 0.1), capsule(c, d, 0.2)), abs=1e-6)
    between = a + s * (b - a) - c - t * (d - c)
    np.testing.assert_allclose(np.multiply(normal, gap + 0.3), between, atol=1e-12)


def test_parallel_capsules_meet_in_the_middle_of_what_is_side_by_side():
    """The nearest points of parallel segments are in the middle of their common part."""
    a, b, c, d = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [2, 1, 0]], dtype=float)
    gap, *normal, s, t = segment_segment(a, b, 0.1, c, d, 0.2)
    assert gap == pytest.approx(0.7)
    assert s == pytest.approx(0.75)
    assert t == pytest.approx(0.25 / 1.5)
    np.testing.assert_allclose(normal, [0, -1, 0], atol=1e-12)


@pytest.mark.parametrize('ends', [(0, 0), (0, 1), (1, 0)])
def test_a_segment_of_no_length_is_a_sphere(ends):
    """Spheres and capsules are measured alike; two in one place have a normal of length 1."""
    a, b, c, d = RANDOM.normal(size=(4, 3))
    b, d = (b if ends[0] else a), (d if ends[1] else c)
    gap, *normal, _, _ = segment_segment(a, b, 0.1, c, d, 0.2)
    places = np.linspace(0.0, 1.0, 20001)[:, None]
    first, second = a + places * (b - a), c + places * (d - c)
    nearest = min(
        np.linalg.norm(first - c, axis=1).min() if not ends[1] else np.inf,
        np.linalg.norm(second - a, axis=1).min() if not ends[0] else np.inf,
    )
    assert gap == pytest.approx(nearest - 0.3, abs=1e-7)
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    gap, *normal, _, _ = segment_segment(a, a, 0.1, a, a, 0.2)
    assert gap == pytest.approx(-0.3)
    assert np.linalg.norm(normal) == pytest.approx(1.0)


@pytest.mark.parametrize('trial', range(50))
def test_a_capsule_is_as_far_from_a_box_as_coal_says(trial):
    """Gap of a capsule and a box that are apart, and its normal by differences."""
    T, half = frame(), RANDOM.uniform(0.1, 0.8, 3)
    a, b = RANDOM.normal(size=(2, 3)) * 1.5 + T[:3, 3]
    gap, *normal, _ = segment_box(a, b, 0.1, T.ravel(), half)
    box = coal.Box(*(2.0 * half)), coal.Transform3s(T[:3, :3], T[:3, 3])
    expected = distance(capsule(a, b, 0.1), box)
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    if gap > -0.1:  # beyond, the axis is in the box, where ways out differ
        assert gap == pytest.approx(expected, abs=1e-6)
        off = 1e-6 * np.array(normal)
        shifted = segment_box(a + off, b + off, 0.1, T.ravel(), half)[0]
        assert shifted - gap == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize('trial', range(50))
def test_a_capsule_is_as_far_from_a_cylinder_as_coal_says(trial):
    """Gap of a capsule and a cylinder with flat ends, and its normal by differences."""
    T, radius, half = frame(), *RANDOM.uniform(0.1, 0.8, 2)
    a, b = RANDOM.normal(size=(2, 3)) * 1.5 + T[:3, 3]
    gap, *normal, s = segment_cylinder(a, b, 0.1, T.ravel(), radius, half)
    cylinder = coal.Cylinder(radius, 2.0 * half), coal.Transform3s(T[:3, :3], T[:3, 3])
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    if gap > -0.1:  # beyond, the axis is in the cylinder, where ways out differ
        assert gap == pytest.approx(distance(capsule(a, b, 0.1), cylinder), abs=1e-6)
        off = 1e-6 * np.array(normal)
        shifted = segment_cylinder(a + off, b + off, 0.1, T.ravel(), radius, half)[0]
        assert shifted - gap == pytest.approx(1e-6, rel=1e-3)


def test_below_the_surface_of_a_cylinder_the_nearest_face_is_the_way_out():
    """A point in a cylinder leaves by its side or its end, whichever is nearer."""
    for x, gap, normal in (
        ([0.9, 0.0, 0.0], -0.1, [1, 0, 0]),
        ([0.0, 0.0, -1.95], -0.05, [0, 0, -1]),
        ([0.0, 4.0, 6.0], 5.0, [0.0, 0.6, 0.8]),
    ):
        x = np.array(x)
        found, *n, _ = segment_cylinder(x, x, 0.0, np.eye(4).ravel(), 1.0, 2.0)
        assert found == pytest.approx(gap)
        np.testing.assert_allclose(n, normal, atol=1e-12)


@pytest.mark.parametrize('trial', range(60))
def test_a_capsule_is_as_far_from_a_convex_mesh_as_coal_says(trial):
    """Gap of a capsule, or a sphere, and the hull of 4 to 40 points, and its normal."""
    T, points = frame(), RANDOM.normal(size=(RANDOM.integers(4, 40), 3)) * 0.5
    hull = hull_of(points, 'points')
    a, b = RANDOM.normal(size=(2, 3)) * 1.5 + T[:3, 3]
    if trial % 3 == 0:
        b = a
    given = 0.1, T.ravel(), hull.faces, 0, len(hull.faces), np.zeros(6)
    gap, *normal, _ = segment_hull(a, b, *given)
    vertices = coal.StdVec_Vec3s()
    vertices.extend(list(hull.corners))
    other = coal.Convex.convexHull(vertices, True, 'Qt')
    ball = coal.Sphere(0.1), coal.Transform3s(np.eye(3), a)
    first = capsule(a, b, 0.1) if trial % 3 else ball
    expected = distance(first, (other, coal.Transform3s(T[:3, :3], T[:3, 3])))
    assert np.linalg.norm(normal) == pytest.approx(1.0)
    if gap > -0.1:  # beyond, the axis is in the mesh, where ways out differ
        assert gap == pytest.approx(expected, abs=2e-6)
        off = 1e-6 * np.array(normal)
        shifted = segment_hull(a + off, b + off, *given)[0]
        assert shifted - gap == pytest.approx(1e-6, rel=1e-3)
    else:
        heights = ((a - T[:3, 3]) @ T[:3, :3]) @ hull.faces[:, :3].T - hull.faces[:, 3]
        assert gap <= heights.max() - 0.1 + 1e-12  # no deeper at the end


def test_a_mesh_of_a_box_is_as_far_as_the_box():
    """Capsules are as far from a box as from the mesh of its corners, within it, too."""
    half = np.array([0.3, 0.5, 0.7])
    corners = half * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    hull, T = hull_of(corners, 'box'), np.eye(4).ravel()
    for _ in range(100):
        a, b = RANDOM.normal(size=(2, 3)) * 0.8
        gap = segment_hull(a, b, 0.1, T, hull.faces, 0, len(hull.faces), np.zeros(6))[0]
        assert gap == pytest.approx(segment_box(a, b, 0.1, T, half)[0], abs=1e-7)


def test_inside_of_a_box_the_nearest_face_is_the_way_out():
    """The distance from a box is that to the nearest face inside, < 0, and Euclid's outside."""
    half = np.array([1.0, 2.0, 3.0])
    assert box_distance(0.9, 0.0, 0.0, half) == pytest.approx(-0.1)
    assert box_distance(0.0, 0.0, 2.95, half) == pytest.approx(-0.05)
    assert box_distance(4.0, 6.0, 3.0, half) == pytest.approx(5.0)


def test_a_sphere_is_as_far_from_a_plane_as_coal_says():
    """Gap of a sphere and a plane, and the plane's normal."""
    for _ in range(20):
        T, x = frame(), RANDOM.normal(size=3)
        gap, *normal = point_plane(x, 0.1, T.ravel())
        n = T[:3, 2]
        sphere = coal.Sphere(0.1), coal.Transform3s(np.eye(3), x)
        plane = coal.Halfspace(n, float(n @ T[:3, 3])), coal.Transform3s()
        assert gap == pytest.approx(distance(sphere, plane), abs=1e-9)
        np.testing.assert_allclose(normal, n)


def test_within_a_tube_the_gap_is_to_its_wall():
    """Gap and normal of a sphere within a tube; beyond its ends there is no wall."""
    T = frame()
    inner = T[:3, :3] @ np.array([0.3, 0.4, 0.7]) + T[:3, 3]
    gap, *normal = point_tube(inner, 0.1, T.ravel(), 1.0, 0.8)
    assert gap == pytest.approx(1.0 - 0.5 - 0.1)
    np.testing.assert_allclose(normal, T[:3, :3] @ [-0.6, -0.8, 0.0], atol=1e-12)
    assert point_tube(inner, 0.1, T.ravel(), 1.0, 0.6)[0] == NO_CONTACT
    middle = point_tube(T[:3, 3].copy(), 0.1, T.ravel(), 1.0, 0.6)
    assert middle[0] == pytest.approx(0.9)
    assert np.linalg.norm(middle[1:]) == pytest.approx(1.0)
