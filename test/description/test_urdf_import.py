# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots from URDF: their inverse dynamics are Pinocchio's."""

from pathlib import Path
import re

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.configuration.parameter_files import parameters_of
from softrobot_dynamics.configuration.wire_names import wire_name_rows
from softrobot_dynamics.description.urdf import read_urdf
from softrobot_dynamics.errors import DescriptionError

pin = pytest.importorskip('pinocchio')

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
    """ID of a tree with fixed joints, turned inertias, branches and any axis is Pinocchio's."""
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
    """Imported arms of several makers have Pinocchio's inverse dynamics."""
    assert apart(FOLDER / arm) < 1e-10


ONE = """<robot name="r"><link name="root"/><link name="a"><inertial><origin xyz="0 0 0.1"/>
  <mass value="1.0"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link><joint name="ja" type="revolute"><parent link="root"/><child link="a"/>
  <axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.2"/>
  <limit lower="-1" upper="1.5" effort="10" velocity="2"/></joint></robot>"""
LINK = '<link name="a">'
LIMIT = '<limit lower="-1" upper="1.5" effort="10" velocity="2"/>'
JOINT = ONE[ONE.index('<joint') : ONE.index('</robot>')]
BACK = '<joint name="jb" type="fixed"><parent link="a"/><child link="root"/></joint>'


def refused(folder, text, **given):
    """Return the DescriptionError that refuses a URDF text."""
    file = folder / 'wrong.urdf'
    file.write_text(text, encoding='utf-8')
    with pytest.raises(DescriptionError) as refusal:
        read_urdf(file, **given)
    return refusal.value


@pytest.mark.quick
@pytest.mark.parametrize(('change', 'place'), [
    (('type="prismatic"', 'type="screw"'), 'joint push'),
    (('<limit lower="-1"', '<mimic joint="tur"/><limit lower="-1"'), 'joint branch.mimic.joint'),
    (('<parent link="world"/>', '<parent link="tool"/>'), 'links'),
    (('mass value="1.5"', 'mass value="much"'), 'link 1st-arm.mass.value'),
    (('</robot>', ''), 'file'),
    (('<parent link="world"/>', ''), 'joint bolt.parent'),
])  # fmt: skip
def test_an_unsupported_urdf_is_refused(tmp_path, change, place):
    """An unsupported element of a URDF is refused with its place."""
    error = refused(tmp_path, TREE.replace(*change))
    assert [problem.path for problem in error.problems] == [place]


@pytest.mark.quick
@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('lower="-1"', 'lower="2"', 'joint ja.limit: .*lower < upper .*type fixed .*--unlimited ja'),
    ('lower="-1"', 'lower="1.5"', 'joint ja.limit: .*lower < upper'),
    ('lower="-1"', 'lower="nan"', 'joint ja.limit.lower: nan'),
    ('upper="1.5"', 'upper="inf"', 'joint ja.limit.upper: inf, .*finite'),
    ('upper="1.5"', 'upper="1,5"', "joint ja.limit.upper: '1,5'"),
    ('effort="10"', 'effort="-10"', 'joint ja.limit.effort: -10.0, expected a number > 0'),
    ('effort="10"', 'effort="0"', 'joint ja.limit.effort: 0.0, .*N m.*--unlimited ja'),
    ('effort="10"', 'effort="inf"', 'joint ja.limit.effort: inf'),
    ('effort="10"', '', 'joint ja.limit.effort: missing'),
    ('velocity="2"', 'velocity="-2"', 'joint ja.limit.velocity: -2.0'),
    ('velocity="2"', 'velocity="nan"', 'joint ja.limit.velocity: nan'),
    ('velocity="2"', '', 'joint ja.limit.velocity: missing'),
    (LIMIT, '', 'joint ja.limit: missing, .*type continuous'),
    (LIMIT, 2 * LIMIT, "joint ja.limit: '2 of them'"),
    (LIMIT, LIMIT.replace('limit', 'limits'), 'joint ja: .*did you mean limit'),
    (LIMIT, LIMIT.replace('effort', 'efort'), 'joint ja: .*did you mean effort'),
    (LIMIT, '<limit lower="0" upper="0" effort="0" velocity="0"/>', 'joint ja.limit.effort'),
    ('damping="0.1"', 'damping="-0.1"', 'joint ja.dynamics.damping: -0.1'),
    ('friction="0.2"', 'friction="nan"', 'joint ja.dynamics.friction: nan'),
    ('axis xyz="0 1 0"', 'axis xyz="0 0 0"', 'joint ja.axis.xyz: .*not all zero'),
    ('axis xyz="0 1 0"', 'axis xyz="0 1"', "joint ja.axis.xyz: '0 1', expected 3 finite"),
    ('axis xyz="0 1 0"', 'axis xyz="0 1 inf"', 'joint ja.axis.xyz'),
    ('<axis', '<origin rpy="0 0 1_0"/><axis', 'joint ja.origin.rpy'),
    (LIMIT, LIMIT + '<mimic joint="x"/>', "joint ja.mimic.joint: 'x', .*a joint.*--lock ja=VALUE"),
    (LIMIT, LIMIT + '<mimic joint="ja"/>', "joint ja.mimic.joint: 'ja', .*follow ja itself"),
    (LIMIT, LIMIT + '<mimic/>', 'joint ja.mimic.joint: missing, expected the name of a joint'),
    (LIMIT, LIMIT + '<mimic joint="x" offst="1"/>', 'joint ja: .*did you mean offset'),
    ('type="revolute"', 'type="floating"', 'joint ja.dynamics: .*have different units'),
    ('type="revolute"', '', 'joint ja: missing, expected one of revolute'),
    ('type="revolute"', 'type="revolut"', 'joint ja: .*did you mean revolute'),
    ('name="ja"', '', 'joint number 1.name: missing'),
    ('parent link="root"', 'parent link="rot"', 'joint ja.parent.link: .*did you mean root'),
    ('parent link="root"', 'parent link="a"', 'joint ja: .*child other than its parent'),
    ('<child link="a"/>', '', 'joint ja.child: missing'),
    ('<child link="a"/>', '<child link="a"/><child link="root"/>', 'joint ja.child: .2 of them'),
    ('</robot>', f'{JOINT}</robot>', 'joint ja: .*each joint once'),
    ('</robot>', JOINT.replace('"ja"', '"jb"') + '</robot>', 'link a: .child of 2 joints'),
    ('</robot>', f'{BACK}</robot>', 'links: .roots none.'),
    ('</robot>', f'{LINK}</link></robot>', 'link a: .*each link once'),
    ('</robot>', '<link name=""/></robot>', 'link number 3.name: missing'),
    ('</robot>', '<link name="b"/></robot>', 'links: .roots root, b.'),
    ('</robot>', '<Joint name="x"/></robot>', 'robot: .*did you mean joint'),
    ('name="root"/><link name="a"', 'name="a b"/><link name="a_b"', 'link a_b: .*from a b in'),
    ('robot name="r"', 'robot', 'robot.name: missing'),
    ('<mass value="1.0"/>', '', 'link a.mass: missing'),
    ('value="1.0"', '', 'link a.mass.value: missing'),
    ('value="1.0"', 'value="-1"', 'link a.mass.value: -1.0'),
    ('value="1.0"', 'value="nan"', 'link a.mass.value: nan'),
    ('value="1.0"', 'value="1e300"', r'link a.mass.value: 1e\+300'),
    ('ixy="0"', 'ixy="nan"', 'link a.inertia.ixy: nan'),
    ('ixy="0"', '', 'link a.inertia.ixy: missing'),
    ('ixy="0"', 'ixy="0.02"', 'link a.inertia: .*positive definite'),
    ('izz="0.01"', 'izz="0.03"', 'link a.inertia: .*the sum of the other two.*--repair'),
    ('izz="0.01"', 'izz="-0.01"', 'link a.inertia'),
    ('<inertia ', '<inertias ', 'link a: .*did you mean inertia'),
    ('</inertial>', '</inertial><inertial/>', 'link a.inertial: .2 of them'),
    ('<robot', '<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:include/', 'file'),
])  # fmt: skip
def test_what_urdf_does_not_allow_is_refused_by_joint_or_link(tmp_path, old, new, words):
    """Each wrong entry of a URDF is refused with its joint or link."""
    assert old in ONE
    text = ONE.replace(old, new, 1)
    error = refused(tmp_path, text)
    assert any(re.search(words, str(problem)) for problem in error.problems), error


@pytest.mark.quick
@pytest.mark.parametrize(('old', 'new', 'place'), [
    ('lower="-1"', 'lower="${-pi}"', 'joint ja.limit.lower'),
    ('axis xyz="0 1 0"', 'axis xyz="0 ${one} 0"', 'joint ja.axis.xyz'),
    ('name="ja"', 'name="${prefix}ja"', 'joint number 1.name'),
    ('ixx="0.01"', 'ixx="${inertia}"', 'link a.inertia.ixx'),
])  # fmt: skip
def test_an_expression_of_xacro_is_one_problem_that_names_xacro(tmp_path, old, new, place):
    """An expression that xacro would expand is refused as such, and nothing is derived from it."""
    assert old in ONE
    (problem,) = refused(tmp_path, ONE.replace(old, new, 1)).problems
    assert problem.path == place and 'expand the file first: xacro FILE > URDF' in str(problem)


@pytest.mark.quick
def test_the_range_of_a_joint_is_not_judged_by_a_limit_that_is_no_number(tmp_path):
    """Where both limits of a joint cannot be read there are two problems, not a third."""
    text = ONE.replace('lower="-1"', 'lower="a"').replace('upper="1.5"', 'upper="b"')
    paths = [problem.path for problem in refused(tmp_path, text).problems]
    assert paths == ['joint ja.limit.lower', 'joint ja.limit.upper']


@pytest.mark.quick
def test_all_problems_of_a_file_come_at_once(tmp_path):
    """All problems of joints and links are reported at once."""
    text = ONE.replace('effort="10"', 'effort="-1"').replace('value="1.0"', 'value="x"')
    paths = [problem.path for problem in refused(tmp_path, text).problems]
    assert sorted(paths) == ['joint ja.limit.effort', 'link a.mass.value']


@pytest.mark.quick
@pytest.mark.parametrize('text', ['<robot name="r"/>', '<robot name="r"><link name="a"/></robot>'])
def test_a_robot_without_joints_is_refused(tmp_path, text):
    """A URDF without a movable joint is refused."""
    assert refused(tmp_path, text).problems[0].path in ('links', 'joints')


@pytest.mark.quick
def test_limits_are_left_out_only_by_name(tmp_path, capsys):
    """Zeros are no limits if the user says so; an unknown joint is refused."""
    file, zeros = tmp_path / 'zeros.urdf', '<limit lower="0" upper="0" effort="0" velocity="0"/>'
    file.write_text(ONE.replace(LIMIT, zeros), encoding='utf-8')
    assert cli.main(['import', str(file)]) == 2
    assert '--unlimited ja' in capsys.readouterr().err
    assert cli.main(['import', str(file), '--unlimited', 'jb']) == 2
    assert "unknown joint 'jb'" in capsys.readouterr().err
    assert cli.main(['import', str(file), '--unlimited', 'ja']) == 0
    assert '1 of the joints have no limits of position: ja' in capsys.readouterr().out
    joint = sd.load_robot(tmp_path / 'zeros.yaml').modules[0].joint
    assert joint.limits.effort == np.inf and joint.damping == 0.1


@pytest.mark.quick
def test_the_limits_of_a_continuous_joint_are_of_effort_and_velocity(tmp_path):
    """A continuous joint ignores lower and upper of its <limit>, and needs neither."""
    file = tmp_path / 'one.urdf'
    file.write_text(ONE.replace('revolute', 'continuous'), encoding='utf-8')
    assert read_urdf(file)['bodies'][0]['joint']['limits'] == {'effort': 10.0, 'velocity': 2.0}
    file.write_text(ONE.replace('lower="-1" upper="1.5"', ''), encoding='utf-8')
    assert read_urdf(file)['bodies'][0]['joint']['limits'] == {'effort': 10.0, 'velocity': 2.0}


@pytest.mark.quick
def test_a_link_without_mass_keeps_its_inertia(tmp_path):
    """A link without mass keeps its inertia: M is Pinocchio's, 0.01 kg m^2, after writing too."""
    file = tmp_path / 'rotor.urdf'
    file.write_text(ONE.replace('value="1.0"', 'value="0.0"'), encoding='utf-8')
    peer = pin.buildModelFromUrdf(str(file))
    wanted = pin.crba(peer, peer.createData(), np.array([0.3]))
    assert cli.main(['import', str(file)]) == 0
    model = sd.compile_model(sd.load_robot(tmp_path / 'rotor.yaml'))
    state = {'q': [0.3], 'qd': [0.0], 'qdd': [1.0]}
    assert sd.inertial_inverse_dynamics(model, **state) == pytest.approx(wanted[0], rel=1e-12)
    assert wanted[0, 0] == pytest.approx(0.01)
    assert sd.forward_dynamics(model, q=[0.3], qd=[0.0], u=[1.0])[0] == pytest.approx(
        (1.0 - 0.0) / 0.01, rel=1e-9
    )


@pytest.mark.quick
def test_a_mass_in_one_point_is_imported(tmp_path):
    """A point mass, whose <inertia> is zero, has the inertia m r^2 about the joint."""
    file = tmp_path / 'point.urdf'
    file.write_text(re.sub('i(..)="0.01"', r'i\1="0"', ONE), encoding='utf-8')
    model = sd.compile_model(sd.load_robot(read_urdf(file)))
    found = sd.inertial_inverse_dynamics(model, q=[0.3], qd=[0.0], qdd=[1.0])
    assert found == pytest.approx([0.01], rel=1e-12)


def chain(count):
    """Return the URDF of links one behind the other."""
    link = re.search('<inertial>.*</inertial>', ONE, re.DOTALL)[0]
    links = ''.join(f'<link name="a{i}">{link}</link>' for i in range(count))
    joints = ''.join(
        JOINT.replace('"ja"', f'"j{i}"')
        .replace('"root"', f'"a{i - 1}"' if i else '"root"')
        .replace('"a"', f'"a{i}"')
        for i in range(count)
    )
    return f'<robot name="chain"><link name="root"/>{links}{joints}</robot>'


@pytest.mark.quick
def test_a_chain_of_thousands_is_refused_in_words(tmp_path):
    """A chain of too many links is refused; one of the greatest allowed length is read."""
    file = tmp_path / 'long.urdf'
    file.write_text(chain(999), encoding='utf-8')
    bodies = read_urdf(file)['bodies']
    assert [body['parent'] for body in bodies[-2:]] == ['a996', 'a997'] and len(bodies) == 999
    assert 'joints: 3000, expected at most 1000' in str(refused(tmp_path, chain(3000)))


def imported(folder, text, *arguments):
    """Return the robot that `softrobot import` makes of a URDF text, and its exit status."""
    file = folder / 'given.urdf'
    file.write_text(text, encoding='utf-8')
    status = cli.main(['import', str(file), *arguments])
    return status, sd.load_robot(folder / 'given.yaml') if status == 0 else None


@pytest.mark.quick
@pytest.mark.parametrize(('joint', 'value'), [('turn', 0.7), ('push', 0.2), ('branch', -0.4)])
def test_a_locked_joint_holds_its_child_at_the_value(tmp_path, joint, value):
    """Inverse dynamics are those of the robot whose joint stays there, less its own row."""
    whole = sd.compile_model(sd.load_robot(read(tmp_path, TREE)))
    part = sd.compile_model(sd.load_robot(read(tmp_path, TREE, locked={joint: value})))
    at = whole.coordinate_names.index(joint)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-0.1, 0.3, (3, whole.n))
    q[at], qd[at], qdd[at] = value, 0.0, 0.0
    others = [i for i in range(whole.n) if i != at]
    assert part.coordinate_names == tuple(whole.coordinate_names[i] for i in others)
    wanted = sd.inverse_dynamics(whole, q=q, qd=qd, qdd=qdd)[others]
    found = sd.inverse_dynamics(part, q=q[others], qd=qd[others], qdd=qdd[others])
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-12)


def read(folder, text, **given):
    """Return the mapping that `read_urdf` makes of a text."""
    file = folder / 'read.urdf'
    file.write_text(text, encoding='utf-8')
    return read_urdf(file, **given)


@pytest.mark.quick
def test_joints_that_mimic_a_locked_one_are_locked_where_they_follow_it(tmp_path):
    """Joints that mimic a locked one are locked at multiplier * value + offset, in chains too."""
    follower = (
        JOINT.replace('"ja"', '"jb"')
        .replace('"root"', '"a"')
        .replace('child link="a"', ('child link="b"'))
        .replace('<axis', '<mimic joint="ja" multiplier="-2" offset="0.1"/><axis')
    )
    text = ONE.replace('</robot>', f'<link name="b"/>{follower}{MOVING}</robot>')
    bodies = read(tmp_path, text, locked={'ja': 0.3})['bodies']
    assert [body['joint']['type'] for body in bodies] == ['fixed', 'fixed', 'revolute']
    assert bodies[0]['joint']['origin']['rpy'] == pytest.approx([0.0, 0.3, 0.0])
    assert bodies[1]['joint']['origin']['rpy'] == pytest.approx([0.0, -0.5, 0.0])


FOLLOW = '<mimic joint="ja" multiplier="-2" offset="0.1"/><axis'
MOVING = """<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
  ixz="0" iyz="0"/></inertial></link><joint name="jc" type="continuous"><parent link="root"/>
  <child link="c"/></joint>"""


PAIR = """<robot name="pair"><link name="root"/><link name="a">{own}</link><link name="b">{own}
  </link><link name="c">{own}</link>
  <joint name="jc" type="revolute"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
    <origin xyz="0 0.1 0.2"/><limit lower="-3" upper="3" effort="5" velocity="4"/>
    <mimic joint="jb" offset="-0.3"/></joint>
  <joint name="ja" type="revolute"><parent link="root"/><child link="a"/><axis xyz="0 1 0"/>
    <origin xyz="0.1 0 0.2" rpy="0.3 0 0.1"/><dynamics damping="0.1" friction="0.2"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
  <joint name="jb" type="prismatic"><parent link="root"/><child link="b"/><axis xyz="0 0.6 0.8"/>
    <origin xyz="-0.1 0 0.2"/><dynamics damping="0.3" friction="0.4"/>
    <limit lower="-0.5" upper="1.8" effort="5" velocity="2"/>
    <mimic joint="ja" multiplier="-2" offset="0.1"/></joint>
</robot>""".format(
    own="""<inertial><mass value="1.3"/><origin xyz="0.1 -0.05 0.2"/>
  <inertia ixx="0.03" iyy="0.02" izz="0.025" ixy="0.001" ixz="0" iyz="-0.002"/></inertial>"""
)
"""A joint jb that follows ja, and jc that follows jb and stands before both."""


@pytest.mark.quick
def test_joints_that_mimic_others_are_as_pinocchio_has_them(tmp_path):
    """Inverse dynamics and M of a chain of followers, with damping: Pinocchio's reduced by G."""
    lines = []
    mapping = read(tmp_path, PAIR, report=lines.append)
    model = sd.compile_model(sd.load_robot(mapping))
    assert model.coordinate_names == model.actuator_names == ('ja',)
    assert lines == [
        'joint ja: range -1 to 1 narrowed to -0.85 to 0.3 by the limits of jb, which follows it'
    ]
    np.testing.assert_allclose([model.q_lower[0], model.q_upper[0]], [-0.85, 0.3])
    assert model.qd_limit[0] == pytest.approx(1.0)
    assert model.joint_friction[0] == pytest.approx(0.2 + 2.0 * 0.4)
    peer = pin.buildModelFromXML(PAIR)
    order = [list(peer.names[1:]).index(name) for name in ('ja', 'jb', 'jc')]
    G, c, damping = np.zeros(3), np.zeros(3), np.zeros(3)
    G[order], c[order], damping[order] = [1.0, -2.0, -2.0], [0.0, 0.1, -0.2], [0.1, 0.3, 0.0]
    data = peer.createData()
    for q, qd, qdd in np.random.default_rng(0).uniform(-0.5, 0.5, (3, 3)):
        wanted = pin.rnea(peer, data, G * q + c, G * qd, G * qdd) + damping * G * qd
        full = pin.crba(peer, data, G * q + c)
        full = np.triu(full) + np.triu(full, 1).T
        found, M = sd.mass_inverse_dynamics(model, q=[q], qd=[qd], qdd=[qdd])
        assert found[0] == pytest.approx(G @ wanted, rel=1e-12)
        assert M[0, 0] == pytest.approx(G @ full @ G, rel=1e-12)


@pytest.mark.quick
@pytest.mark.parametrize(('change', 'given', 'words'), [
    (('', ''), {'dropped': ['a']}, "joint jb.mimic.joint: 'ja', .*not dropped.*--lock jb=VALUE"),
    (('joint="ja"', 'joint="jc"'), {}, "joint jb.mimic.joint: 'jb', .*follow jb itself"),
    (('lower="-0.5" upper="1.8"', 'lower="5" upper="6"'), {},
     r'joint jb.limit: .*-2.95 to -2.45 of ja.*-1 to 1 .*--unlimited jb'),
    (('"ja" type="revolute"', '"ja" type="fixed"'), {}, 'joint jb.mimic.joint: .ja, fixed'),
    (('"ja" type="revolute"', '"ja" type="floating"'), {}, 'joint jb.mimic.joint: .ja, floating'),
    (('"jb" type="prismatic"', '"jb" type="planar"'), {}, 'joint jb: .mimic., .*several'),
    (('multiplier="-2"', 'multiplier="two"'), {}, "joint jb.mimic.multiplier: 'two'"),
])  # fmt: skip
def test_a_follower_without_a_leader_is_refused_by_name(tmp_path, change, given, words):
    """A <mimic> without a valid leader is refused by name, with what would be right."""
    assert re.search(words, str(refused(tmp_path, PAIR.replace(*change), **given)))


@pytest.mark.quick
def test_ranges_that_followers_leave_together_are_empty_or_named(tmp_path):
    """Each follower narrows what those before it left; one that leaves nothing is refused."""
    near = PAIR.replace('lower="-3" upper="3"', 'lower="-0.4" upper="3"')
    read(tmp_path, near, report=(lines := []).append)
    assert [line.partition(' by ')[0] for line in lines] == [
        'joint ja: range -1 to 1 narrowed to -0.85 to 0.3',
        'joint ja: range -0.85 to 0.3 narrowed to -0.85 to 0.1',
    ]
    far = PAIR.replace('lower="-3" upper="3"', 'lower="2" upper="3"')
    assert re.search(
        'joint jc.limit: .*-0.85 to 0.3 .*--unlimited jc', str(refused(tmp_path, far))
    )


@pytest.mark.quick
def test_a_multiplier_of_zero_locks_a_follower_at_its_offset(tmp_path):
    """A follower with a multiplier of zero stays at its offset, and so do its own followers."""
    text = PAIR.replace('multiplier="-2"', 'multiplier="0"')
    kinds = {b['joint']['name']: b['joint'] for b in read(tmp_path, text)['bodies']}
    assert [kinds[name]['type'] for name in ('ja', 'jb', 'jc')] == ['revolute', 'fixed', 'fixed']
    np.testing.assert_allclose(kinds['jb']['origin']['xyz'], [-0.1, 0.06, 0.28])
    assert kinds['jc']['origin']['rpy'][0] == pytest.approx(-0.2)


@pytest.mark.quick
@pytest.mark.parametrize(('given', 'words'), [
    ({'locked': {'ja': 2.0}}, 'joint ja: 2.0, expected a value from -1 to 1.5'),
    ({'locked': {'jf': 0.0}}, "joint jf: 'fixed', expected a revolute"),
])  # fmt: skip
def test_what_cannot_be_locked_is_refused(tmp_path, given, words):
    """A joint that cannot be locked is refused by name, with what would be right."""
    fixed = JOINT.replace('"ja"', '"jf"').replace('"root"', '"a"').replace('revolute', 'fixed')
    fixed = fixed.replace('child link="a"', 'child link="f"')
    text = ONE.replace('</robot>', f'<link name="f"/>{fixed}{MOVING}</robot>')
    assert words in str(refused(tmp_path, text, **given))


@pytest.mark.quick
def test_a_dropped_link_is_left_out_with_all_beyond_it(tmp_path, capsys):
    """A dropped link is left out with all beyond it; unknown links are refused."""
    text = TREE.replace('name="push" type="prismatic"', 'name="push" type="screw"')
    status, robot = imported(tmp_path, text, '--drop', 'slide')
    assert status == 0 and robot.body_names == ('mount', '_1st_arm', 'other')
    assert imported(tmp_path, text, '--drop', 'slid')[0] == 2
    assert "unknown link 'slid' (did you mean slide?)" in capsys.readouterr().err
    assert imported(tmp_path, text, '--lock', 'turned=0')[0] == 2
    assert "unknown joint 'turned'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        imported(tmp_path, text, '--lock', 'turn=nan')
    assert 'expected JOINT=VALUE' in capsys.readouterr().err


@pytest.mark.quick
@pytest.mark.parametrize(('old', 'new'), [
    ('izz="0.01"', 'izz="0.03"'), ('ixy="0"', 'ixy="0.02"'), ('izz="0.01"', 'izz="0"'),
])  # fmt: skip
def test_an_inertia_of_no_body_is_repaired_on_demand_and_named(tmp_path, capsys, old, new):
    """An invalid inertia is replaced by the nearest valid one on demand; valid ones stay."""
    status, robot = imported(tmp_path, ONE.replace(old, new), '--repair')
    assert status == 0 and 'link a: principal moments' in capsys.readouterr().out
    given = np.diag([0.01, 0.01, 0.01])
    given[2, 2] = {'izz="0.03"': 0.03, 'izz="0"': 0.0}.get(new, 0.01)
    given[0, 1] = given[1, 0] = 0.02 if 'ixy' in new else 0.0
    found = robot.modules[0].body.inertia.matrix()
    second, wanted = (np.trace(x) / 2.0 * np.eye(3) - x for x in (found, given))
    moments, axes = np.linalg.eigh(wanted)
    nearest = axes @ np.diag(np.maximum(moments, 0.0)) @ axes.T
    assert second == pytest.approx(nearest, abs=2e-6 * np.abs(moments).max())
    tilted = ONE.replace('ixy="0"', 'ixy="0.001"').replace('ixz="0"', 'ixz="0.0007"')
    assert read(tmp_path, tilted, repair=True) == read(tmp_path, tilted)
    tiny = re.sub('i(..)="0.01"', r'i\1="1e-35"', ONE)
    assert 'inertia' not in read(tmp_path, tiny, repair=True)['bodies'][0]['body']


@pytest.mark.quick
def test_names_that_change_are_printed(tmp_path, capsys):
    """An import that changes names of the URDF prints old and new ones."""
    status, _ = imported(tmp_path, TREE.replace('name="push"', 'name="push.1"'))
    out = capsys.readouterr().out
    assert status == 0
    assert "joint 'push.1' is named push_1" in out and "link '1st-arm' is named _1st_arm" in out


@pytest.mark.quick
def test_names_that_change_are_kept_as_parameters_beside_the_robot_file(tmp_path, capsys):
    """The names of the URDF are written as `joint_names`, of coordinates alone, for the nodes."""
    text = TREE.replace('name="push"', 'name="push ü.1"').replace('name="bolt"', 'name="bo.lt"')
    status, robot = imported(tmp_path, text)
    (file,) = tmp_path.glob('*_names.yaml')
    assert status == 0 and str(file) in capsys.readouterr().out
    given = parameters_of(file, 'controller')
    assert given == {'joint_names.push___1': 'push ü.1'}
    assert set(given) <= {row.name for row in wire_name_rows(robot)}


@pytest.mark.quick
def test_a_file_of_names_is_not_overwritten(tmp_path, capsys):
    """An import that would overwrite a file of names is refused, and writes nothing."""
    text = TREE.replace('name="push"', 'name="push.1"')
    (tmp_path / 'given_names.yaml').write_text('mine')
    assert imported(tmp_path, text)[0] == 2
    assert 'given_names.yaml: File exists' in capsys.readouterr().err
    assert (tmp_path / 'given_names.yaml').read_text() == 'mine'


@pytest.mark.quick
def test_names_that_do_not_change_need_no_file(tmp_path):
    """An import that changes no name writes the robot file alone."""
    imported(tmp_path, ONE)
    assert not list(tmp_path.glob('*_names.yaml'))


@pytest.mark.quick
def test_a_joint_that_cannot_be_at_zero_begins_in_the_middle_of_its_range(tmp_path, capsys):
    """The import writes and says an initial posture that the simulated robot takes."""
    status, robot = imported(tmp_path, ONE.replace('lower="-1"', 'lower="0.5"'))
    assert (
        status == 0
        and 'ja: its limits exclude 0; its initial value is 1' in capsys.readouterr().out
    )
    model = sd.compile_model(robot)
    assert sd.Simulator(model).q == pytest.approx([1.0])
    assert 'initial' not in read(tmp_path, ONE)


@pytest.mark.quick
@pytest.mark.parametrize('axis', [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.36, -0.48, 0.8)])
def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis(tmp_path, axis):
    """Displacements keep to the plane, and the angle turns about its normal."""
    text = ONE.replace('revolute', 'planar').replace('0 1 0', '{} {} {}'.format(*axis), 1)
    text = re.sub('<dynamics.*?/>', '', text)
    model = sd.compile_model(sd.load_robot(read(tmp_path, text)))
    assert model.coordinate_names == ('ja/x', 'ja/y', 'ja/angle') and model.m == 0
    q = [0.1, -0.2, 0.4]
    T = sd.forward_kinematics(model, q=q)[-1]
    rest = sd.forward_kinematics(model, q=[0.0, 0.0, 0.0])[-1]
    assert rest == pytest.approx(np.eye(4), abs=1e-12)
    assert T[:3, 3] @ axis == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(T[:3, 3]) == pytest.approx(np.hypot(0.1, 0.2))
    assert T[:3, :3] @ axis == pytest.approx(axis, abs=1e-12)
    assert np.trace(T[:3, :3]) == pytest.approx(1.0 + 2.0 * np.cos(0.4))


@pytest.mark.quick
def test_a_floating_joint_has_pinocchios_mass_matrix(tmp_path):
    """In the pose of rest, where rates of coordinates are the twist that Pinocchio has."""
    text = re.sub('<dynamics.*?/>', '', ONE.replace('revolute', 'floating'))
    model = sd.compile_model(sd.load_robot(read(tmp_path, text)))
    peer = pin.buildModelFromUrdf(str(tmp_path / 'read.urdf'))
    wanted = pin.crba(peer, peer.createData(), pin.neutral(peer))
    found = sd.inertial_inverse_dynamics(model, q=np.zeros(6), qd=np.zeros(6), qdd=np.eye(6)[0])
    assert found == pytest.approx(np.maximum(wanted, wanted.T)[0], abs=1e-12)
    _, mass = sd.mass_inverse_dynamics(model, q=np.zeros(6), qd=np.zeros(6), qdd=np.zeros(6))
    assert mass == pytest.approx(np.triu(wanted) + np.triu(wanted, 1).T, abs=1e-12)
