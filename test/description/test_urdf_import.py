# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots from URDF: their inverse dynamics are Pinocchio's."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.description.urdf import read_urdf
from softrobot_dynamics.errors import DescriptionError

FOLDER = Path(pin.__file__).parents[4] / 'share/example-robot-data/robots'
ARMS = (
    'ur_description/urdf/ur5_robot.urdf',
    'ur_description/urdf/ur10_robot.urdf',
    'kinova_description/robots/kinova.urdf',
    'xarm_description/urdf/xarm7.urdf',
    'so_arm_description/urdf/so101.urdf',
)
"""Of the package example-robot-data."""

TREE = """<robot name="a tree">
  <link name="world"/> <link name="mount"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="1st-arm"><inertial><origin xyz="0.1 -0.2 0.05" rpy="0.3 -0.5 0.7"/>
    <mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial>
  </link>
  <link name="slide"><inertial><mass value="0.7"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"><inertial><origin xyz="0 0 0.1"/><mass value="0.4"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.0015" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="other"><inertial><origin xyz="0.05 0 0"/><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="bolt" type="fixed"><parent link="world"/><child link="mount"/>
    <origin xyz="0 0.1 0.3" rpy="0.1 0.2 0.3"/></joint>
  <joint name="tip" type="fixed"><parent link="slide"/><child link="tool"/>
    <origin xyz="0 0 0.2" rpy="0 0.4 0"/></joint>
  <joint name="turn" type="continuous"><parent link="mount"/><child link="1st-arm"/>
    <origin xyz="0.2 0 0.1" rpy="0 0.5 0"/><axis xyz="0 0.6 0.8"/></joint>
  <joint name="push" type="prismatic"><parent link="1st-arm"/><child link="slide"/>
    <origin xyz="0 0 0.4" rpy="-0.2 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.3" effort="50" velocity="1"/></joint>
  <joint name="branch" type="revolute"><parent link="1st-arm"/><child link="other"/>
    <limit lower="-1" upper="2" effort="9" velocity="3"/></joint>
</robot>
"""


def apart(path):
    """Return by how much inverse dynamics are not Pinocchio's, relative, in three states."""
    model = sd.compile_model(sd.load_robot(read_urdf(path)))
    peer = pin.buildModelFromUrdf(str(path))
    data, rng, worst = peer.createData(), np.random.default_rng(0), 0.0
    own = [peer.joints[peer.getJointId(name)] for name in given(peer)]
    names = [''.join(c if c.isalnum() else '_' for c in name) for name in given(peer)]
    order = [model.coordinate_names.index(name) for name in names]
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, model.n))
        posture = pin.neutral(peer)
        for joint, i in zip(own, order, strict=True):
            turn = [q[i]] if joint.nq == 1 else [np.cos(q[i]), np.sin(q[i])]
            posture[joint.idx_q : joint.idx_q + joint.nq] = turn
        wanted = pin.rnea(peer, data, posture, qd[order], qdd[order])
        found = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)[order]
        found = found - sd.damping_force(model, q=q, qd=qd)[order]
        worst = max(worst, np.abs(found - wanted).max() / np.abs(wanted).max())
    return worst


def given(peer):
    """Return the names of the joints of a Pinocchio model, the universe aside."""
    return list(peer.names)[1:]


@pytest.mark.quick
def test_a_tree_has_pinocchios_inverse_dynamics(tmp_path, capsys):
    """Fixed joints, turned inertias, a branch, an axis that is none of the three, odd names."""
    file = tmp_path / 'tree.urdf'
    file.write_text(TREE, encoding='utf-8')
    assert apart(file) < 1e-10
    assert cli.main(['import', str(file)]) == 0
    robot = sd.load_robot(tmp_path / 'tree.yaml')
    assert robot.body_names == ('mount', '_1st_arm', 'slide', 'tool', 'other')
    assert robot.actuator_names == ('turn', 'push', 'branch')
    limits = robot.modules[2].joint.limits
    assert limits.position == (-0.1, 0.3) and (limits.effort, limits.velocity) == (50.0, 1.0)
    assert 'tree.yaml: a_tree, 5 bodies, 3 coordinates' in capsys.readouterr().out
    assert cli.main(['import', str(file)]) == 2  # never over a file
    assert 'exists' in capsys.readouterr().err


@pytest.mark.skipif(not FOLDER.exists(), reason='example-robot-data, 130 MB, is not installed')
@pytest.mark.parametrize('arm', ARMS)
def test_arms_have_pinocchios_inverse_dynamics(arm):
    """Whole arms as their makers describe them."""
    assert apart(FOLDER / arm) < 1e-10


@pytest.mark.quick
@pytest.mark.parametrize(('change', 'place'), [
    (('type="prismatic"', 'type="floating"'), 'joint push'),
    (('<limit lower="-1"', '<mimic joint="turn"/><limit lower="-1"'), 'joint branch'),
    (('<parent link="world"/>', '<parent link="tool"/>'), 'links'),
    (('mass value="1.5"', 'mass value="much"'), 'robot'),
    (('</robot>', ''), 'file'),
    (('<parent link="world"/>', ''), 'robot'),
])  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path, change, place):
    """With the place of it."""
    file = tmp_path / 'wrong.urdf'
    file.write_text(TREE.replace(*change), encoding='utf-8')
    with pytest.raises(DescriptionError) as refused:
        read_urdf(file)
    assert [problem.path for problem in refused.value.problems] == [place]
