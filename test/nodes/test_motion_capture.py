# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The estimator follows a moving arm by what drivers of motion capture publish, over real DDS."""

import json
import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from support.motion_capture import BODIES, DOTS, MotionCapture, MOUNT, TFMessage, WORLD  # noqa: E402
from support.node_processes import compile_estimator, RATE  # noqa: E402

pytestmark = pytest.mark.realtime

ESTIMATOR = '/estimator: estimator'
LONG = 150  # estimates that are compared
SILENCE = 1.0  # [s], more than any machine takes a breath
DISTURBANCE = {'force': 0.05, 'moment': 5e-4}
POSES = {
    'own': lambda k, body: None,
    'pose_stamped': lambda k, body: {
        'topic': f'/vrpn_mocap/{body}/pose', 'frame_id': 'world', 'clock': 'own'},
    'transform_stamped': lambda k, body: {
        'topic': f'/vicon/{body}/{body}', 'type': 'geometry_msgs/TransformStamped',
        'names': body, 'scale': 1e-3},
    'pose_array': lambda k, body: {
        'topic': '/mocap/bodies', 'type': 'geometry_msgs/PoseArray', 'indices': k + 1, 'size': 4},
    'tf': lambda k, body: {'type': 'tf2_msgs/TFMessage', 'names': f'mocap/{body}'},
    'marker_array': lambda k, body: {
        'topic': '/mocap/markers', 'type': 'visualization_msgs/MarkerArray', 'names': f'arm/{k}'},
}  # fmt: skip
"""The `message` of the sensor of a body, by the form that the driver publishes."""
MARKERS = {
    'labelled': {'topic': '/mocap/labelled'},
    'unlabelled': {
        'topic': '/pointCloud', 'type': 'sensor_msgs/PointCloud2', 'assign_within': 0.02},
}  # fmt: skip
"""The same of all markers in one message."""


def sensors(form):
    """Return the sensors of an estimator file for a form."""
    if form in MARKERS:
        points = [{'body': body, 'mount': {'xyz': dot}} for body in BODIES for dot in DOTS]
        message = {**MARKERS[form], 'origin': WORLD}
        return [{'name': 'dots', 'type': 'markers', 'points': points, 'message': message}]
    found = []
    for k, body in enumerate(BODIES):
        own = {'name': body, 'type': 'pose', 'body': body, 'mount': MOUNT}
        message = POSES[form](k, body)
        found.append({**own, 'message': {**message, 'origin': WORLD}} if message else own)
    return found


class Following:
    """Drives the arm slowly, shows it to a driver, and compares estimates with the truth."""

    def __init__(self, observer, model, form):
        self.capture = MotionCapture(observer.node, model, form)
        self._observer, self._model, self._tip, self._newest = observer, model, None, None
        self._hand = observer.node.create_publisher(JointState, 'joint_commands', 1)
        self.off = []  # how far the tip is from where it is estimated [m]
        observer.listen(JointState, 'joint_states', self._heard)
        observer.listen(JointState, 'estimated', self._estimated)
        self._count = 0

    def _place(self, state):
        order = [state.name.index(name) for name in self._model.coordinate_names]
        q = np.array(state.position)[order]
        return sd.forward_kinematics(self._model, q=q)[-1][:3, 3]

    def until(self, condition, what):
        """Drive the arm and show it until a condition holds."""
        self._observer.until(lambda: self._act() or condition(), what, every=0.5 / RATE)

    def _heard(self, state):
        self._newest = state
        self._tip = self._place(state)

    def _act(self):
        """Answer the newest state alone, so that a slow machine does not fall behind."""
        state, self._newest = self._newest, None
        if state is None:
            return
        self._count += 1
        phases = 2.0 * math.pi * (0.4 * self._count / RATE + np.arange(self._model.m) / 3.0)
        command = JointState(name=list(self._model.actuator_names))
        command.header.stamp = state.header.stamp
        command.effort = (2.0 + np.sin(phases)).tolist()
        self._hand.publish(command)
        self.capture.see(state)

    def _estimated(self, state):
        if self._tip is not None:
            self.off.append(float(np.linalg.norm(self._place(state) - self._tip)))


def follow(observer, start_arm, arm, folder, form):
    """Return the Following and its median error [m] once the estimator has run for a while."""
    file = folder / 'sensors.yaml'
    file.write_text(json.dumps({'sensors': sensors(form), 'disturbance': DISTURBANCE}))
    compile_estimator(arm, str(file))
    following = Following(observer, arm, form)
    start_arm('simulation', wait_for_commands='false')
    remapped = '--priority', '0', '--ros-args', '-r', 'joint_states:=estimated'
    start_arm('estimator', *remapped, robot='pcc_arm', rate=RATE, estimator=str(file),
              autostart='true', timeout=SILENCE)  # fmt: skip
    following.until(lambda: observer.mode(ESTIMATOR) == 'estimating', 'estimates')
    following.off.clear()
    following.until(lambda: len(following.off) > LONG, 'enough of them')
    return following, float(np.median(following.off))


NO_TF = pytest.mark.skipif(TFMessage is None, reason='tf2_msgs is not installed: no wheel has it')


@pytest.mark.parametrize('form', [
    pytest.param(form, marks=NO_TF if form == 'tf' else ()) for form in (*POSES, *MARKERS)
])  # fmt: skip
def test_the_estimate_follows_what_a_driver_publishes(observer, start_arm, arm, tmp_path, form):
    """The tip is found to 2 mm under drop-outs and jumps; a driver that ends is reported."""
    following, error = follow(observer, start_arm, arm, tmp_path, form)
    print(f'{form}: the tip is off by {1e3 * error:.2f} mm')
    assert error < 2e-3
    if form != 'unlabelled':  # where a jump is a reflection: no point is near it
        following.until(lambda: observer.value(ESTIMATOR, 'outliers') > 0, 'a jump')
    if form not in ('own', 'tf', 'unlabelled'):  # of these a lost body is no message of its own
        key = 'messages in which nothing was seen'
        following.until(lambda: observer.value(ESTIMATOR, key) > 0, 'a lost body')
    following.capture.off = True
    following.until(lambda: observer.mode(ESTIMATOR) == 'waiting for sensors', 'the words')
    said = {each.key: each.value for each in observer.status[ESTIMATOR].values}
    assert said['silent sensors'] == ('dots' if form in MARKERS else ', '.join(BODIES))
    following.capture.off = False
    following.until(lambda: observer.mode(ESTIMATOR) == 'estimating', 'estimates again')
