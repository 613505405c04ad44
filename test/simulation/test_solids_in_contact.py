# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Cylinders and convex meshes in simulations: rolling, sliding, standing, lying on each other."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from support.contacts import GRAVITY, thing, world

FLOOR = {'name': 'floor', 'type': 'plane'}
LYING = {'type': 'cylinder', 'start': [0, -0.1, 0], 'end': [0, 0.1, 0], 'radius': 0.05}
STANDING = {'type': 'cylinder', 'start': [0, 0, -0.1], 'end': [0, 0, 0.1], 'radius': 0.05}
CORNERS = [[x, y, z] for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]
CUBE = {'type': 'mesh', 'vertices': CORNERS}


def ends(model, duration, dt=1e-3):
    """Return q and qd (n,) after a duration [s] from the start."""
    simulator = sd.Simulator(model)
    for _ in range(round(duration / dt)):
        simulator.step([], dt)
    return simulator.q, simulator.qd


@pytest.mark.parametrize('angle', [0.2, 1.2])
def test_a_cylinder_rolls_down_a_gentle_incline_and_slides_down_a_steep_one(angle):
    """A cylinder rolls at 2/3 g sin(angle) while tan(angle) < 3 mu, and slides beyond."""
    mu = 0.5
    gravity = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
    model = world([thing('o', LYING, (0, 0, 0.05))], [FLOOR], gravity)
    q, qd = ends(model, 0.5)
    rolls = 2.0 / 3.0 * GRAVITY * np.sin(angle)
    slides = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
    assert qd[1] == pytest.approx(0.5 * max(rolls, slides), rel=3e-3)
    turns = qd[1] / 0.05 if rolls > slides else 0.5 * mu * GRAVITY * np.cos(angle) * 2.0 / 0.05
    assert qd[5] == pytest.approx(turns, rel=5e-3)
    assert np.abs([q[2], q[4], q[6]]).max() < 1e-6  # straight on


@pytest.mark.parametrize(
    'shape, height', [(STANDING, 0.1), (CUBE, 0.05)], ids=['cylinder', 'mesh']
)
def test_a_solid_stands_on_its_flat_end_and_falls_over_beyond_its_edge(shape, height):
    """On an incline below the angle at which its centre is over its edge it stands."""
    high = {**shape, 'friction': 3.0}
    for share, stands in ((0.9, True), (1.15, False)):
        angle = np.arctan(share * 0.05 / height)
        gravity = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
        floor = {**FLOOR, 'friction': 3.0}
        q, _ = ends(world([thing('o', high, (0, 0, height))], [floor], gravity), 0.6)
        assert (np.abs(q[4:7]).max() < 1e-2) == stands


UPRIGHT = {**STANDING, 'start': [0, 0, -0.05], 'end': [0, 0, 0.05], 'radius': 0.08}
NARROW = {**STANDING, 'radius': 0.045}


@pytest.mark.parametrize('below', [CUBE, UPRIGHT, {'type': 'box', 'edges': [0.1] * 3}])
@pytest.mark.parametrize('above', [CUBE, NARROW, LYING], ids=['cube', 'standing', 'lying'])
def test_a_solid_stays_on_another_one(above, below):
    """A solid at rest on a fixed one stays, if their edges are flush or it overhangs, too."""
    start = (0.0, 0.0, 0.15 if above is NARROW else 0.1)
    bearing = {'name': 'below', 'friction': 1.0, **below}
    q, _ = ends(world([thing('o', above, start)], [bearing]), 0.5)
    np.testing.assert_allclose(q[1:4], start, atol=1e-3)
    assert np.abs(q[4:7]).max() < 1e-2


def test_a_board_lies_across_a_cylinder():
    """A board that is narrower than a cylinder is long is held by the cylinder's side."""
    board = {'type': 'box', 'edges': [0.3, 0.1, 0.02]}
    model = world([thing('b', board, (0, 0, 0.06))], [{'name': 'roll', **LYING}])
    q, _ = ends(model, 0.3)
    np.testing.assert_allclose(q[1:4], [0, 0, 0.06], atol=1e-3)
    assert np.abs(q[4:7]).max() < 1e-3


BENCH = {'type': 'box', 'edges': [0.3, 0.3, 0.1], 'pose': {'xyz': [0.0, 0.0, -0.05]}}
BLOCK = [[x, y, z] for x in (-0.15, 0.15) for y in (-0.15, 0.15) for z in (-0.1, 0.0)]
TABLES = {'plane': FLOOR, 'box': BENCH, 'mesh': {'type': 'mesh', 'vertices': BLOCK}}


@pytest.mark.parametrize('table', TABLES)
def test_a_capsule_that_lies_flat_touches_at_both_ends(table):
    """A capsule flat on a plane, box or mesh has half its weight at each end and does not tilt."""
    rod = {'type': 'capsule', 'start': [-0.1, 0, 0], 'end': [0.1, 0, 0], 'radius': 0.02}
    model = world([thing('r', rod, (0, 0, 0.02))], [{'name': 'table', **TABLES[table]}])
    q, _ = ends(model, 0.5)
    assert np.abs(q[4:7]).max() < 1e-6
    found = sd.contacts(model, q=q)
    assert (found.force > 0.0).sum() == 2
    assert found.force[0] == pytest.approx(found.force[1], rel=1e-3)
    assert found.force.sum() == pytest.approx(GRAVITY, rel=0.25)  # it still sinks a little
    np.testing.assert_allclose(sorted(found.points[:2, 0]), [-0.1, 0.1], atol=1e-6)


def test_a_capsule_that_overhangs_a_box_touches_it_at_the_edge():
    """Lying flat, it touches at its end that is on the box and where the face ends."""
    rod = {'type': 'capsule', 'start': [-0.1, 0, 0], 'end': [0.1, 0, 0], 'radius': 0.02}
    model = world([thing('r', rod, (0.13, 0, 0.02 - 1e-5))], [{'name': 'table', **BENCH}])
    found = sd.contacts(model, q=np.array([0.0, 0.13, 0.0, 0.02 - 1e-5, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(found.gap, [-1e-5, -1e-5], atol=1e-10)
    np.testing.assert_allclose(sorted(found.points[:, 0]), [0.03, 0.15], atol=1e-9)


def test_a_soft_rod_that_lies_on_a_box_rests_where_statics_has_it():
    """A free rod on a box is carried at several places, by all of its weight, in statics too."""
    body = {'type': 'pcc', 'length': 0.1, 'radius': 0.01, 'density': 1000.0}
    body |= {'young_modulus': 1e5, 'damping': 0.1}
    shape = {'type': 'rod', 'tolerance': 2e-3}
    clamped = {'name': 'b0', 'joint': {'type': 'fixed'}, 'body': body, 'collision': shape}
    bench = {**BENCH, 'pose': {'xyz': [-0.05 - 0.01 - 2e-4, 0.0, 0.0], 'rpy': [0, np.pi / 2, 0]}}
    robot = {'name': 'r', 'gravity': [-GRAVITY, 0, 0], 'bodies': [clamped]}
    robot['environment'] = [{'name': 'table', 'friction': 0.0, **bench}]
    model = sd.compile_model(sd.load_robot(robot))
    rest = sd.equilibrium(model, u=[])
    found = sd.contacts(model, q=rest.q)
    assert (found.force > 0.0).sum() >= 1
    simulator = sd.Simulator(model)
    for _ in range(2000):
        simulator.step([], 1e-3)
    np.testing.assert_allclose(simulator.q, rest.q, atol=1e-5)


@pytest.mark.parametrize('aside', [0.0, 1e-3])
def test_two_cylinders_in_one_place_are_refused(aside):
    """Rims that nearly coincide are no deep overlap; the middle of each in the other is."""
    can = {'type': 'cylinder', 'start': [0, 0, -0.05], 'end': [0, 0, 0.05], 'radius': 0.03}
    model = world([thing('a', can), thing('b', can, (aside, 0.0, 0.0))])
    with pytest.raises(ArgumentError, match=r'a and b do not overlap, as they do by 0\.0(29|3) m'):
        sd.Simulator(model)
    apart = model.q0.copy()
    apart[model.coordinate_names.index('b/x')] = 0.0601
    sd.Simulator(model, q=apart).step([], 1e-3)
