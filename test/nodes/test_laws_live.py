# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops of laws over real DDS, with commands that act when they arrive."""

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
import numpy as np  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from support.node_processes import compile_for_nodes, NODES, RATE, starting  # noqa: E402

pytestmark = pytest.mark.realtime

SETPOINT = [0.7, -0.4]
STIFFNESS = (400.0, 300.0, 200.0)
PACE = 3.0  # of the simulated time: what settles is waited for


def posture(model, state):
    """Return q (n,) of a state."""
    return np.array([dict(zip(state.name, state.position))[c] for c in model.coordinate_names])


def test_pd_plus_settles_at_its_set_point(observer, tmp_path):
    """In live nodes `pd_plus` settles at its set-point to 1e-6."""
    model = compile_for_nodes('double_pendulum', controller='pd_plus')
    given = {'pd_plus__p': 100.0, 'pd_plus__d': 20.0, 'reference__type': 'setpoint'}
    with starting(tmp_path, NODES, (), robot='double_pendulum', rate=RATE) as start:
        start('simulation', wait_for_commands='true', real_time_factor=PACE)
        start('controller', autostart='true', controller='pd_plus',
              reference__setpoint=SETPOINT, reference__ramp_time='0.5', **given)  # fmt: skip
        observer.until_running()
        y = np.array(SETPOINT)
        observer.until(
            lambda: np.abs(posture(model, observer.states[-1]) - y).max() < 1e-6 * np.abs(y).max(),
            'rest',
        )
        begin = len(observer.states)
        observer.until(lambda: len(observer.states) > begin + 100, 'more states')
        for state in observer.states[begin:]:
            assert np.abs(np.array(state.position) - y).max() < 1e-6 * np.abs(y).max()


def test_a_tip_gives_way_as_its_spring_says(observer, tmp_path):
    """In live nodes 1 N moves the tip by 1/k in its direction and not across, to 2 %."""
    model = compile_for_nodes('ur10e', controller='impedance')
    with starting(tmp_path, NODES, (), robot='ur10e', rate=RATE) as start:
        start('simulation', wait_for_commands='true', real_time_factor=PACE)
        start('controller', autostart='true', controller='impedance', reference__type='hold',
              impedance__stiffness=list(STIFFNESS), impedance__damping=[60.0] * 3)  # fmt: skip
        observer.until_running()

        def tip(state):
            return sd.forward_kinematics(model, q=posture(model, state))[-1][:3, 3]

        home = tip(observer.states[-1])
        publisher = observer.node.create_publisher(WrenchStamped, 'simulation/wrench', 10)
        observer.until(publisher.get_subscription_count, 'a reader of pushes')
        for axis, k in enumerate(STIFFNESS):
            push = WrenchStamped()
            push.header.frame_id = f'{model.body_names[-1]} base'
            setattr(push.wrench.force, 'xyz'[axis], 1.0)
            wanted = np.eye(3)[axis] / k

            observer.states.clear()

            def given_way(push=push, wanted=wanted, k=k):
                publisher.publish(push)  # again and again: it is in force until there is another
                last = observer.states[-100::10]
                offs = [np.abs(tip(state) - home - wanted).max() for state in last]
                return len(offs) == 10 and max(offs) < 0.02 / k

            observer.until(given_way, f'1/k along {"xyz"[axis]}', every=0.05)
