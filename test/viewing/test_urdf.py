# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Discs along soft bodies, and the URDF of a robot, read by Pinocchio."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.calls import placement
from softrobot_dynamics.viewing.discs import Discs
from softrobot_dynamics.viewing.shapes import RobotShape
from softrobot_dynamics.viewing.urdf import robot_description
from support.robots import compiled, states

pin = pytest.importorskip('pinocchio')


@pytest.mark.quick
def test_discs_move_with_the_material():
    """Discs stand in the middle of slices, in the world frame, turned as the material."""
    model = compiled('pcc_arm')
    discs, ((q, _, _),) = Discs(model, 4), states(model, 1)
    frames, base = discs.at(q), model.description.base.matrix()
    assert [disc.name for disc in discs.discs[3:5]] == ['segment1/disc_4', 'segment2/disc_1']
    for k, disc in enumerate(discs.discs):
        x = np.array([0.0, 0.0, (k % 4 + 0.5) * 0.2 / 4])
        assert frames[k] == pytest.approx(base @ placement(model, q).pose(disc.body, x), abs=1e-12)
    radii = [disc.radius for disc in discs.discs]
    assert radii[0] == pytest.approx(0.02) and disc.length == pytest.approx(0.05)


@pytest.mark.parametrize(('name', 'count'), [('hybrid_arm', 6), ('ur10e', 0)])
def test_discs_have_frames_where_material_does(name, count):
    """Discs of a hollow body have frames, rigid bodies have no discs, and 0 gives none."""
    model = compiled(name)
    discs = Discs(model, 3)
    frames = discs.at(model.q0)
    assert len(discs.discs) == len(frames) == count
    gram = frames[:, :3, :3].swapaxes(1, 2) @ frames[:, :3, :3]
    assert gram == pytest.approx(np.tile(np.eye(3), (count, 1, 1)))
    assert Discs(model, 0).at(model.q0).shape == (0, 4, 4)


@pytest.mark.parametrize('name', ['ur10e', 'hybrid_arm', 'double_pendulum'])
def test_the_urdf_is_the_robot(name):
    """In Pinocchio the URDF's links make the same lines from tip to joint to tip."""
    model = compiled(name)
    shape, discs = RobotShape(model), Discs(model, 3)
    text = robot_description(shape, discs.discs, 'map', 'left/')
    read = pin.buildModelFromXML(text)
    visual = pin.buildGeomFromUrdfString(read, text, pin.GeometryType.VISUAL)
    ((q, _, _),) = states(model, 1, size=0.5)
    names = [*model.body_names, *(disc.name for disc in discs.discs)]
    frames = np.concatenate([shape.at(q).frames, discs.at(q)])
    order = [joint.removeprefix('left/').removesuffix('/pose') for joint in list(read.names)[1:]]
    assert sorted(order) == sorted(names)
    posture = np.concatenate([pin.SE3ToXYZQUAT(pin.SE3(frames[names.index(n)])) for n in order])
    data = pin.Data(read)
    pin.forwardKinematics(read, data, posture)
    pin.updateFramePlacements(read, data)
    for n, frame in zip(names, frames, strict=True):
        assert data.oMf[read.getFrameId(f'left/{n}')].homogeneous == pytest.approx(frame)
    places = visual.createData()
    pin.updateGeometryPlacements(read, data, visual, places)
    ends, seen = [], {}
    for thing, place in zip(visual.geometryObjects, places.oMg, strict=True):
        half = np.array([0.0, 0.0, thing.geometry.halfLength])
        if '/disc_' in thing.name:
            seen[thing.name] = 2.0 * half[2]
        else:
            ends += [place.act(half), place.act(-half)]
    assert len(seen) == len(discs.discs)
    assert list(seen.values()) == pytest.approx([d.length for d in sorted(discs.discs)])
    base, placed = model.description.base.matrix(), placement(model, q)
    rigid = [i for i, m in enumerate(model.description.modules) if not m.body.coordinates()]
    joints = base[:3, :3] @ np.array([placed.joint(i)[1] for i in rigid]).T + base[:3, 3:]
    wanted = np.concatenate([joints.T, shape.at(q).frames[rigid, :3, 3]])
    gaps = [np.linalg.norm(np.array(ends) - w, axis=1).min() for w in wanted]
    assert max(gaps) < 1e-8  # [m], by nine digits
    assert sd.load_robot(name).name in text
