# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The files of the page "Your URDF with a soft finger" control an arm imported from URDF."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration.command_parts import command_parts
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.configuration.state_topics import state_parts
from softrobot_dynamics.description.urdf import read_urdf
from support.pages import commands, files_of, of_kind
import yaml

PAGE = 'urdf_with_finger.md'
JOINTS = (
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
)  # fmt: skip


LINK = """<link name="link{k}"><inertial><origin xyz="0 0 0.1"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="link{k}"/>
<origin xyz="0 0 0.2"/><axis xyz="{axis}"/>
<limit lower="-6.28" upper="6.28" effort="150" velocity="3.15"/></joint>"""
END = """<link name="tool0"/>
<joint name="tool" type="fixed"><parent link="link5"/><child link="tool0"/></joint>"""


def arm_urdf():
    """Return the URDF of an arm of six joints with the names of a UR5."""
    text, parent = '<robot name="ur5"><link name="base_link"/>', 'base_link'
    for k, name in enumerate(JOINTS):
        axis = '0 0 1' if k in (0, 4) else '0 1 0'
        text += LINK.format(k=k, name=name, parent=parent, axis=axis, mass=3.0 - 0.4 * k)
        parent = f'link{k}'
    return f'{text}{END}</robot>'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with an arm of six joints and the page's finger, and its other files."""
    folder = tmp_path_factory.mktemp('page')
    (folder / 'arm.urdf').write_text(arm_urdf(), encoding='utf-8')
    robot, files = read_urdf(folder / 'arm.urdf'), files_of(PAGE)
    finger = yaml.safe_load(files['finger.yaml'])
    robot['bodies'] += finger['bodies']
    robot['actuators'] += finger['actuators']
    (folder / 'ur5_finger.yaml').write_text(yaml.safe_dump(robot), encoding='utf-8')
    for name in ('my_controller.yaml', 'lab.yaml'):
        (folder / name).write_text(files[name], encoding='utf-8')
    return folder


def test_the_arm_reaches_and_the_finger_flexes(folder):
    """The controller file leads the arm to its posture, then pulls the tendon by 4 N."""
    model = sd.compile_model(sd.load_robot(folder / 'ur5_finger.yaml'))
    own = sd.load_controller(folder / 'my_controller.yaml', model)
    run = sd.closed_loop(model, own.law, own.plan(), 5.5, start=sd.Start(ramp=own.ramp))
    assert run.ok.all()
    assert run.q[-1, :6] == pytest.approx([0.5, -1.0, 1.2, -0.2, 0.5, 0.0], abs=1e-3)
    assert run.u[-1, 6] == pytest.approx(4.0) and np.abs(run.u[run.t < 2.9, 6]).max() == 0.0


def test_the_drivers_of_the_lab_have_all_coordinates_and_actuators(folder):
    """The file for two drivers shares out states and commands of the arm with position drives."""
    data = yaml.safe_load((folder / 'ur5_finger.yaml').read_text(encoding='utf-8'))
    for entry in data['actuators'][:6]:
        del entry['limits']
        entry |= {'command': 'position', 'bandwidth': 10.0}
    robot = sd.load_robot(data)
    values, unknown = controller_values(
        robot, [folder / 'my_controller.yaml', folder / 'lab.yaml']
    )
    assert unknown == () and values['safe_command'] == 'brake'
    arm, finger = state_parts(values, robot.coordinate_names)
    assert arm.topic == '/ur5/joint_states' and arm.names == JOINTS
    assert finger.topic == 'finger/joint_states' and len(finger.names) == 3
    parts = {part.name: part for part in command_parts(sd.compile_model(robot), values)}
    assert set(parts) == {'arm', 'winch'}


def test_the_parameter_that_the_page_tunes_is_one_of_the_controller(folder):
    """`ros2 param set` on the page names a parameter that its controller file declares."""
    robot = sd.load_robot(folder / 'ur5_finger.yaml')
    values, _ = controller_values(robot, [folder / 'my_controller.yaml'])
    tuned = [
        words[4]
        for block in of_kind('bash')
        if block.page == PAGE
        for words in commands(block)
        if words[:3] == ['ros2', 'param', 'set']
    ]
    assert tuned and set(tuned) <= set(values)
