# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Joints that follow others, in robot files."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.periodic_coordinates import periodic_coordinates
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.joints.contract import Mimic
from softrobot_dynamics.joints.revolute import Revolute
from support.followers import FOLLOW, gripper

pytestmark = pytest.mark.quick


def changed(joint, **fields):
    """Return the gripper with fields of a joint changed."""
    robot = gripper()
    for body in robot['bodies']:
        if body['joint']['name'] == joint:
            body['joint'].update(fields)
    return robot


def follower(robot, name):
    """Return a joint of a RobotDescription."""
    return next(m.joint for m in robot.modules if m.joint_name == name)


def test_chains_of_followers_end_at_one_leader():
    """Multiplier and offset of a joint that follows a follower are those of the chain."""
    joint = follower(sd.load_robot(gripper()), 'tip2')
    assert joint.leader == 'drive'
    assert (joint.multiplier, joint.offset) == pytest.approx((1.5 * 0.8, 1.5 * -0.1 + 0.05))


@pytest.mark.parametrize(('joint', 'fields', 'words'), [
    ('tip2', {'mimic': {'joint': 'driv'}}, 'bodies[2].joint.mimic.joint: .*did you mean drive'),
    ('drive', {'mimic': {'joint': 'tip2'}}, 'bodies[3].joint.mimic.joint: .*follow drive itself'),
    ('drive', {'mimic': {'joint': 'drive'}}, 'bodies[3].joint.mimic.joint: .*follow drive itself'),
    ('drive', {'mimic': {'joint': 'seat'}}, 'bodies[3].joint.mimic.joint: .*with one coordinate'),
    ('seat', {'mimic': {'joint': 'turn'}}, 'bodies[4].joint.mimic: .*only a joint with one'),
    ('tip2', {'mimic': {'joint': 'drive', 'multiplier': 0.0}},
     'bodies[2].joint.mimic.multiplier: 0.0, expected a number other than 0'),
    ('tip2', {'mimic': {'multiplier': 2.0}}, 'bodies[2].joint.mimic.joint: missing'),
    ('tip2', {'mimic': 'drive'}, 'bodies[2].joint.mimic: '),
])  # fmt: skip
def test_a_follower_that_cannot_be_is_refused_by_name(joint, fields, words):
    """Unknown leaders, circles, joints without the one coordinate, and a multiplier of 0."""
    place, _, rest = words.partition(': ')
    with pytest.raises(DescriptionError) as refusal:
        sd.load_robot(changed(joint, **fields))
    assert any(problem.path == place for problem in refusal.value.problems)
    assert refusal.match(rest)


def test_a_leader_stays_where_its_followers_are_within_their_limits():
    """The range of a leader is that of all limits; one that is empty is refused."""
    limits = {'position': [-0.3, 0.5], 'velocity': 2.6}  # of -1.3 q + 0.2
    model = sd.compile_model(sd.load_robot(changed('tip1', limits=limits)))
    at = model.coordinate_names.index('drive')
    assert model.q_lower[at] == pytest.approx((0.5 - 0.2) / -1.3)
    assert model.q_upper[at] == pytest.approx((-0.3 - 0.2) / -1.3)
    assert model.qd_limit[at] == pytest.approx(2.0)
    assert np.isinf(np.delete(model.q_upper, at)).all()
    robot = changed('tip1', limits={'position': [2.0, 3.0]})
    robot['bodies'][3]['joint']['limits'] = {'position': [-1.0, 1.0]}
    with pytest.raises(
        DescriptionError, match='leave drive a range with those of screw, tip2, tip1'
    ):
        sd.load_robot(robot)


def test_a_whole_turn_of_a_leader_is_another_pose():
    """Angles of a joint that others follow are not unwrapped: followers do not turn wholly."""
    robot = sd.load_robot(gripper())
    assert not periodic_coordinates(robot).period.any()
    free = sd.load_robot(gripper(follow=False))
    period = dict(zip(free.coordinate_names, periodic_coordinates(free).period))
    assert period['turn'] and period['drive']


def test_an_effort_limit_of_a_follower_limits_a_motor_at_it():
    """A motor at a follower has the limit of that joint, and its y is the follower's motion."""
    model = sd.compile_model(sd.load_robot(changed('slide', limits={'effort': 7.0})))
    at = model.actuator_names.index('slide')
    assert (model.lower[at], model.upper[at]) == (-7.0, 7.0)
    assert model.outputs[at].unit == 'm'
    assert sd.actuation(model, q=[0.5, 0, 0, 0, 0], qd=np.zeros(5)).coordinates[
        at
    ] == pytest.approx(0.1 * 0.5)


def test_numbers_of_followers_are_varied():
    """Fields of the joint and of `mimic` change what follows."""
    robot = sd.load_robot(gripper())
    joint = follower(sd.vary(robot, {'screw.multiplier': 2.0, 'tip2.offset': 0.5}), 'tip2')
    assert (joint.multiplier, joint.offset) == pytest.approx((3.0, 1.5 * -0.1 + 0.5))
    model = sd.compile_model(sd.vary(robot, {'tip1.damping': '×2'}))
    wanted = sd.compile_model(robot).damping[1, 1] + 0.2 * 1.3**2
    assert model.damping[1, 1] == pytest.approx(wanted)


def test_joints_made_in_python_follow_others():
    """A joint object with a Mimic is the same as a mapping with `mimic`."""
    robot = gripper()
    made = Revolute(axis=(0.0, 0.0, 1.0), mimic=Mimic('turn', 2.0))
    plate = {'type': 'rigid', 'mass': 1.0}
    robot['bodies'].append({'name': 'last', 'joint': made, 'body': plate})
    joint = follower(sd.load_robot(robot), 'last')
    assert (joint.leader, joint.multiplier, joint.offset) == ('turn', 2.0, 0.0)


def test_an_initial_state_has_no_followers():
    """A follower has no coordinate to begin at: it is refused by name."""
    with pytest.raises(DescriptionError, match='initial.tip1'):
        sd.load_robot({**gripper(), 'initial': {'tip1': 0.1}})
    assert set(FOLLOW) & set(sd.load_robot(gripper()).coordinate_names) == set()


def test_the_initial_posture_keeps_followers_within_their_limits():
    """A leader that would begin where a follower is beyond its limit is refused by name."""
    robot = changed('tip1', limits={'position': [-0.3, 0.5]})  # of -1.3 drive + 0.2
    assert sd.load_robot({**robot, 'initial': {'drive': 0.38}}).initial == {'drive': 0.38}
    with pytest.raises(DescriptionError, match=r'initial\.drive: 0\.39, .* -0\.230769 to 0\.3846'):
        sd.load_robot({**robot, 'initial': {'drive': 0.39}})
