# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Surfaces and tendons of robots in a posture, by their own formulas."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.cosserat.sections.annular import Annular
from softrobot_dynamics.bodies.cosserat.sections.contract import RodMaterial
from softrobot_dynamics.bodies.cosserat.sections.elliptic import Elliptic
from softrobot_dynamics.bodies.cosserat.sections.rectangular import Rectangular
from softrobot_dynamics.bodies.meshes import Mesh
from softrobot_dynamics.bodies.skins import boundary, TUBE_SIDES
from softrobot_dynamics.viewing.ranges import command_ranges, coordinate_ranges
from softrobot_dynamics.viewing.shapes import reach_of, RobotShape
from support.robots import compiled, SHIPPED, states


def volume(points, triangles):
    """Return what a surface encloses, by the divergence theorem: > 0 if it faces outwards."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.einsum('ij,ij->', a, np.cross(b, c)) / 6.0


# of a circle's area: its polygon's
ROUND = TUBE_SIDES / (2.0 * np.pi) * np.sin(2.0 * np.pi / TUBE_SIDES)


@pytest.mark.parametrize('name', SHIPPED)
def test_surfaces_follow_the_robot(name):
    """Surfaces of bodies face outwards and end at the tips, in the world frame."""
    model = compiled(name)
    shape, ((q, _, _),) = RobotShape(model), states(model, 1, size=0.5)
    look = shape.at(q)
    base = model.description.base.matrix()
    assert look.frames == pytest.approx(base @ sd.forward_kinematics(model, q=q), abs=1e-12)
    for points, triangles, frame in zip(look.surfaces, shape.triangles, look.frames, strict=True):
        assert volume(points, triangles) > 0.0
        low, high = points.min(axis=0), points.max(axis=0)
        size = np.linalg.norm(high - low)
        assert (frame[:3, 3] > low - 0.1 * size).all() and (frame[:3, 3] < high + 0.1 * size).all()


def test_a_free_joint_is_not_drawn_as_a_link():
    """The drawn shank of foot_shank is as long as from knee to ankle in any posture."""
    model = compiled('foot_shank')
    look = RobotShape(model).at(model.q0 + [0.3, 0.2, 0.5, 0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
    assert np.ptp(look.surfaces[0], axis=0).max() < 0.43 + 0.1


def test_a_segment_encloses_its_volume():
    """The surface of a segment encloses its volume at rest and at any bend."""
    model = compiled('pcc_arm')
    shape = RobotShape(model)
    q = model.q0.copy()
    for bend, within in ((0.0, 1e-12), (0.8, 5e-3)):
        q[0] = bend
        found = volume(shape.at(q).surfaces[0], shape.triangles[0])
        assert found == pytest.approx(ROUND * np.pi * 0.02**2 * 0.2, rel=within)


@pytest.mark.parametrize('name', ['pcc_arm', 'pneumatic_arm', 'soft_hand', 'planar_cc_chain'])
def test_tendons_run_where_their_lengths_are_measured(name):
    """The drawn curve of a tendon lengthens by the actuator's y."""
    model = compiled(name)
    shape, ((q, _, _),) = RobotShape(model), states(model, 1, size=0.6)
    lengths = [
        [np.linalg.norm(np.diff(c, axis=0), axis=1).sum() for c in shape.at(x).curves]
        for x in (q, 0.0 * q)
    ]
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    rest = sd.actuation(model, q=0.0 * q, qd=0.0 * q).coordinates
    for k, now, before in zip(shape.routed, *lengths, strict=True):
        area = getattr(model.description.actuators[k].actuator, 'area', 1.0)
        assert now - before == pytest.approx((y[k] - rest[k]) / area, abs=3e-3 * before)


def test_sections_have_their_outlines():
    """Outlines have the section's extents, or are ellipses of the same inertia."""
    matter = RodMaterial(1000.0, 1e6, 0.5, 1.0)
    for section, half in (
        (Annular((0.02, 0.01), (0.01, 0.005)), (0.015, 0.015)),
        (Elliptic((0.03, 0.03), (0.01, 0.01)), (0.03, 0.01)),
        (Rectangular((0.03, 0.05), (0.01, 0.01)), (0.02, 0.005)),
    ):
        outline = section.outline(0.5, matter)
        assert outline.max(axis=0) == pytest.approx(half) and (outline[1] > outline[0]).any()
        x, y = outline.T
        assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0.0  # from x to y


def test_a_mesh_is_drawn_by_its_boundary():
    """A mesh is drawn by its boundary, without the faces between two tetrahedra."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]])
    surface = boundary(Mesh(points, np.array([[0, 1, 2, 3], [1, 2, 3, 4]])))
    assert surface.triangles.shape == (6, 3)
    assert volume(*surface) == pytest.approx(1.0 / 6.0 + 1.0 / 3.0)


@pytest.mark.parametrize('name', SHIPPED)
def test_sliders_stay_where_bodies_can_be(name):
    """Every body is possible at both ends of each slider, and joints reach their limits."""
    model = compiled(name)
    ranges = coordinate_ranges(model, reach_of(model))
    assert (ranges[:, 0] < ranges[:, 1]).all() and np.isfinite(ranges).all()
    shape = RobotShape(model)
    for j in range(model.n):
        for end in ranges[j]:
            q = model.q0.copy()
            q[j] = end
            assert np.isfinite(np.vstack(shape.at(q).surfaces)).all()
    finite = np.isfinite(model.q_lower)
    assert (ranges[finite, 0] == model.q_lower[finite]).all()
    assert (command_ranges(model)[:, 1] == model.upper).all()


def test_the_length_of_a_tree_is_that_of_its_longest_branch():
    """Links listed after a branch, as URDF's `base`, do not add the way back to the base."""
    link = {'type': 'rigid', 'mass': 1.0, 'com': [0.0, 0.0, 0.0]}
    joint = {'type': 'fixed', 'origin': {'xyz': [0.0, 0.0, 1.0]}}
    bodies = [
        {'name': 'a', 'joint': joint, 'body': link},
        {'name': 'b', 'joint': {**joint, 'type': 'revolute'}, 'body': link},
        {'name': 'c', 'parent': 'base', 'joint': joint, 'body': link},
    ]
    model = sd.compile_model(sd.load_robot({'name': 'tree', 'bodies': bodies}))
    assert reach_of(model) == pytest.approx(2.0)
