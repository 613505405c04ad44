# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Boxes and convex meshes beside each other: distances beside coal, edges that cross, faces."""

import zlib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from support.contacts import GRAVITY, thing, world

EDGES = [0.2, 0.3, 0.4]
CORNERS = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.2, 0.2)]
SHAPES = {'box': {'type': 'box', 'edges': EDGES}, 'mesh': {'type': 'mesh', 'vertices': CORNERS}}
PLANK = {'type': 'box', 'edges': [0.4, 0.1, 0.1]}
SLOW = {'contact': {'stiffness': 1e4}}


@pytest.fixture(scope='module')
def couple():
    """Return the model of two equal solids, of each kind."""
    return {kind: world([thing(n, s) for n in 'ab'], (), **SLOW) for kind, s in SHAPES.items()}


def placed(place, turn=(0.0, 0.0, 0.0)):
    """Return the coordinates of the slide, a solid at the origin, and one elsewhere."""
    return np.concatenate([[0.0], np.zeros(6), place, turn])


@pytest.mark.parametrize('kind', SHAPES)
@pytest.mark.parametrize('trial', range(20))
def test_solids_that_are_apart_are_as_far_from_each_other_as_coal_says(couple, kind, trial):
    """Least gap and normal of two solids at random angles, 5 to 20 mm apart, are those of coal."""
    coal = pytest.importorskip('coal')
    random = np.random.default_rng(zlib.crc32(f'{kind} {trial}'.encode()))
    turn, way = random.normal(size=3), random.normal(size=3)
    turn *= random.uniform(0.1, 3.0) / np.linalg.norm(turn)
    way /= np.linalg.norm(way)
    box, request = coal.Box(*EDGES), coal.DistanceRequest()
    request.gjk_tolerance = 1e-10
    R = Rotation.from_rotvec(turn).as_matrix()
    wanted, low, high = random.uniform(5e-3, 0.02), 0.0, 2.0

    def apart(size):
        result, here = coal.DistanceResult(), coal.Transform3s(R, size * way)
        coal.distance(box, coal.Transform3s(), box, here, request, result)
        return result

    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if apart(middle).min_distance < wanted else (low, middle)
    expected = apart(high)
    found = sd.contacts(couple[kind], q=placed(high * way, turn))
    assert found.gap[0] == pytest.approx(expected.min_distance, abs=1e-7)
    sign = -1.0 if found.bodies[0] == ('a', 'b') else 1.0
    np.testing.assert_allclose(sign * found.normals[0], expected.normal, atol=1e-4)


@pytest.mark.parametrize('kind', SHAPES)
def test_edges_that_cross_touch_where_they_cross(couple, kind):
    """The only contact of two solids, edge on edge, is where their edges cross."""
    below = Rotation.from_euler('x', np.arctan2(0.15, 0.2))  # its highest edge is along x
    above = Rotation.from_euler('z', 0.4 * np.pi) * below  # its lowest one is not
    depth = 1e-4
    place = [0.02, -0.03, 2.0 * np.hypot(0.15, 0.2) - depth]
    q = np.concatenate([[0.0], np.zeros(3), below.as_rotvec(), place, above.as_rotvec()])
    found = sd.contacts(couple[kind], q=q)
    assert found.gap[0] == pytest.approx(-depth, abs=1e-12)
    assert (found.gap < 0.0).sum() == 1
    np.testing.assert_allclose(np.abs(found.normals[0]), [0.0, 0.0, 1.0], atol=1e-12)
    along = 0.02 + 0.03 / np.tan(0.4 * np.pi)  # both edges are in this plane through the place
    np.testing.assert_allclose(found.points[0], [along, 0.0, 0.25 - 0.5 * depth], atol=1e-12)


def test_two_planks_that_cross_touch_at_four_points():
    """A plank across another one touches it at the corners of the square that both cover."""
    model = world([thing('a', PLANK), thing('b', PLANK)], (), **SLOW)
    found = sd.contacts(model, q=placed([0.0, 0.0, 0.1 - 1e-5], [0.0, 0.0, 0.5 * np.pi]))
    touching = found.gap < 0.0
    np.testing.assert_allclose(found.gap[touching], -1e-5, atol=1e-12)
    points = sorted(map(tuple, np.round(found.points[touching, :2], 9)))
    assert points == [(-0.05, -0.05), (-0.05, 0.05), (0.05, -0.05), (0.05, 0.05)]


def test_a_plank_across_two_others_stays_where_it_is():
    """A plank rests by its edges alone on two fixed planks whose corners are beyond it."""
    rails = [
        {'name': f'r{side + 1}', 'type': 'box', 'edges': [0.05, 0.5, 0.05],
         'pose': {'xyz': [0.15 * side, 0.0, 0.0]}}
        for side in (-1, 1)
    ]  # fmt: skip
    simulator = sd.Simulator(world([thing('p', PLANK, (0.0, 0.0, 0.075))], rails))
    for _ in range(500):
        simulator.step([], 1e-3)
    np.testing.assert_allclose(simulator.q[1:4], [0.0, 0.0, 0.075], atol=5e-4)
    assert np.abs(simulator.q[4:]).max() < 1e-4
    assert np.abs(simulator.qd[1:]).max() < 1e-3
    force = sd.contacts(simulator.model, q=simulator.q).generalized_force[3]
    assert force == pytest.approx(GRAVITY, rel=3e-2)
