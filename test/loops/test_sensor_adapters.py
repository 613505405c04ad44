# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Values of sensors are read from messages of motion-capture drivers, and lost bodies noticed."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.estimation.sensors.message_layouts import LAYOUTS
from softrobot_dynamics.loops import sensor_adapters
from softrobot_dynamics.loops.message_fields import cause_of, SECOND
from softrobot_dynamics.loops.sensor_adapters import adapter_of, assigned, driver_fields

pytestmark = pytest.mark.quick

POSE = {'type': 'pose', 'body': 'segment3'}
DOTS = {'type': 'markers', 'points': [{'body': 'segment3'}, {'body': 'segment2'}]}
WORLD = {'xyz': [0.3, -0.2, 0.1], 'rpy': [1.2, -0.4, 0.7]}
STAMP = 5_000 * SECOND + 7
NAN = float('nan')


def adapter(sensor, **message):
    """Return (sensor, what reads its messages)."""
    given = {'sensors': [{**sensor, 'name': 'tip', 'message': message}]}
    (own,) = sd.load_estimator(given).sensors
    return own, adapter_of(own)


def nowhere(sensor, time):
    """Return no prediction: none is asked for."""
    raise AssertionError('a prediction was asked for')


def read(reader, message, arrival=0, predict=nowhere):
    """Return the value in a message."""
    return reader.read(message, arrival, predict).value


def message(fields):
    """Return the fields of a message as an object with attributes."""
    if isinstance(fields, dict):
        return SimpleNamespace(**{name: message(value) for name, value in fields.items()})
    return [message(each) for each in fields] if isinstance(fields, list) else fields


def header(stamp=STAMP, frame='world'):
    """Return the header of a message."""
    return {'stamp': {'sec': stamp // SECOND, 'nanosec': stamp % SECOND}, 'frame_id': frame}


def pose(place=(0.1, 0.2, 0.3), turn=(0.0, 0.0, 0.6, 0.8)):
    """Return the fields of a pose at a place [m], turned by a quaternion x, y, z, w."""
    return {'position': dict(zip('xyz', place)), 'orientation': dict(zip('xyzw', turn))}


def stamped(stamp=STAMP, frame='world', **given):
    """Return a geometry_msgs/PoseStamped."""
    return message({'header': header(stamp, frame), 'pose': pose(**given)})


def array(*poses, stamp=STAMP):
    """Return a geometry_msgs/PoseArray."""
    return message({'header': header(stamp), 'poses': list(poses)})


def transforms(**bodies):
    """Return a tf2_msgs/TFMessage of poses by their frames."""
    return message({
        'transforms': [
            {'header': header(), 'child_frame_id': name, 'transform':
                {'translation': each['position'], 'rotation': each['orientation']}}
            for name, each in bodies.items()
        ]
    })  # fmt: skip


def random_pose(seed):
    """Return a transform (4, 4)."""
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=seed).as_matrix()
    T[:3, 3] = np.random.default_rng(seed).normal(size=3)
    return T


@pytest.mark.parametrize('kind', LAYOUTS)
def test_what_a_simulated_driver_writes_is_read_back(kind):
    """A value in the world of a driver, its unit and its stamp, comes back in the base frame."""
    layout, T = LAYOUTS[kind], random_pose(3)
    for sensor, value in ((POSE, T), (DOTS, np.arange(6.0).reshape(2, 3))):
        count = 1 if sensor is POSE else 2
        chosen = {}
        if layout.name:
            chosen = {'names': [f'dots/{k}' for k in range(count)]}
        elif layout.items and layout.orientation:
            chosen = {'indices': [3, 1][:count], 'size': 5}
        if (sensor is POSE and not layout.orientation) or (count > 1 and not layout.items):
            continue
        given, reader = adapter(
            sensor, type=kind, origin=WORLD, scale=1e-3, frame_id='world', **chosen
        )
        sent = message(driver_fields(given, value, STAMP))
        found = reader.read(sent, 0, nowhere)
        assert found.stamp == STAMP
        accuracy = 1e-6 if kind == 'sensor_msgs/PointCloud2' else 1e-12
        np.testing.assert_allclose(found.value, value, rtol=accuracy, atol=accuracy)


def test_the_origin_is_the_pose_of_the_drivers_frame_in_the_base():
    """A pose is T_base_world T_world_body, with the lengths of the message in metres."""
    world, place, turn = (
        random_pose(1),
        np.array([1.0, -2.0, 3.0]),
        Rotation.random(random_state=2),
    )
    origin = {
        'xyz': world[:3, 3].tolist(),
        'rpy': Rotation.from_matrix(world[:3, :3]).as_euler('xyz').tolist(),
    }
    _, reader = adapter(POSE, origin=origin, scale=1e-3)
    body = np.eye(4)
    body[:3, :3], body[:3, 3] = turn.as_matrix(), place
    found = read(reader, stamped(place=1e3 * place, turn=turn.as_quat()))
    np.testing.assert_allclose(found, world @ body, atol=1e-12)


@pytest.mark.parametrize('given', [
    {'place': (0.0, 0.0, 0.0), 'turn': (0.0, 0.0, 0.0, 0.0)},
    {'place': (0.0, 0.0, 0.0), 'turn': (0.0, 0.0, 0.0, 1.0)},
    {'turn': (0.0, 0.0, 0.0, 0.0)},
    {'turn': (NAN, NAN, NAN, NAN)},
    {'place': (NAN, 0.0, 0.0)},
])  # fmt: skip
def test_a_lost_body_is_no_measurement(given):
    """Zeros, an identity at the origin and nan, as drivers send for a lost body, give no value."""
    _, reader = adapter(POSE)
    assert read(reader, stamped(**given)) is None
    assert read(reader, stamped(stamp=STAMP + 1)) is not None


def test_the_last_pose_again_is_no_measurement():
    """Exactly the numbers before are no measurement even with a new stamp, unless allowed."""
    _, reader = adapter(POSE)
    assert read(reader, stamped()) is not None
    assert read(reader, stamped(stamp=STAMP + 1)) is None
    assert read(reader, stamped(stamp=STAMP + 2, place=(0.1, 0.2, 0.3000001))) is not None
    _, patient = adapter(POSE, repeats=True)
    assert all(read(patient, stamped(stamp=STAMP + k)) is not None for k in range(3))


def test_a_body_that_a_message_does_not_have_is_no_measurement():
    """A message about others on a topic of many nodes is no measurement, and no error."""
    _, reader = adapter(POSE, type='tf2_msgs/TFMessage', names='tip')
    assert reader.shared
    assert read(reader, transforms(base=pose(), camera=pose())) is None
    found = read(reader, transforms(base=pose(), tip=pose(place=(1.0, 2.0, 3.0))))
    np.testing.assert_allclose(found[:3, 3], [1.0, 2.0, 3.0])
    assert read(reader, message({'transforms': []})) is None


def test_hidden_markers_are_nan_and_the_others_count():
    """A marker that is nan, zero or repeated is not seen; with none seen there is no value."""
    _, reader = adapter(DOTS, indices=[2, 0])
    found = read(reader, array(pose((1.0, 0.0, 0.0)), pose(), pose((0.0, 0.0, 2.0))))
    np.testing.assert_allclose(found, [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    found = read(reader, array(pose((1.5, 0.0, 0.0)), pose(), pose((0.0, 0.0, 2.0))))
    np.testing.assert_allclose(found, [[NAN] * 3, [1.5, 0.0, 0.0]])
    found = read(reader, array(pose((0.0, 0.0, 0.0)), pose(), pose((0.0, 0.1, 2.0))))
    np.testing.assert_allclose(found, [[0.0, 0.1, 2.0], [NAN] * 3])
    assert read(reader, array(pose((NAN, 0.0, 0.0)), pose(), pose((0.0, 0.1, 2.0)))) is None


@pytest.mark.parametrize(('settings', 'sent', 'cause'), [
    ({'frame_id': 'world'}, stamped(frame='map'), 'wrong name'),
    ({}, stamped(turn=(0.0, 0.0, 0.6, 0.6)), 'not a number'),
    ({}, stamped(place=(float('inf'), 0.0, 0.0)), 'not a number'),
    ({}, array(pose()), 'unreadable'),
    ({'type': 'geometry_msgs/PoseArray', 'indices': 2}, array(pose(), pose()), 'wrong size'),
    ({'type': 'geometry_msgs/PoseArray', 'indices': 0, 'size': 3}, array(pose()), 'wrong size'),
])  # fmt: skip
def test_a_message_that_is_not_as_the_settings_say_is_refused(settings, sent, cause):
    """Another frame, length of a quaternion, number of bodies or type is a MessageError."""
    _, reader = adapter(POSE, **settings)
    with pytest.raises(MessageError) as caught:
        reader.read(sent, 0, nowhere)
    assert cause_of(caught.value) == cause


@pytest.mark.parametrize(('wrong', 'cause'), [
    ({'fields': []}, 'wrong name'),
    ({'data': b'123'}, 'wrong size'),
    ({'point_step': 4}, 'wrong name'),
])  # fmt: skip
def test_a_cloud_without_coordinates_is_refused(wrong, cause):
    """A cloud without x, y, z, or with too few bytes, is a MessageError."""
    given, reader = adapter(DOTS, type='sensor_msgs/PointCloud2', assign_within=0.1)
    fields = {**driver_fields(given, np.ones((2, 3)), STAMP), **wrong}
    with pytest.raises(MessageError) as caught:
        reader.read(message(fields), 0, lambda *asked: np.ones((2, 3)))
    assert cause_of(caught.value) == cause


def test_markers_in_any_order_are_assigned_to_the_nearest_prediction():
    """Each point goes to one prediction, ghosts and points too far away to none."""
    _, reader = adapter(
        {**DOTS, 'delay': 0.01}, type='geometry_msgs/PoseArray', assign_within=0.05
    )
    asked = []

    def predict(*question):
        asked.append(question)
        return np.array([[0.1, 0.0, 0.5], [0.1, 0.04, 0.5]])

    sent = array(pose((3.0, 0.0, 0.0)), pose((0.1, 0.06, 0.5)), pose((0.1, 0.03, 0.5)))
    found = read(reader, sent, predict=predict)
    np.testing.assert_allclose(found, [[0.1, 0.03, 0.5], [0.1, 0.06, 0.5]])
    assert asked == [('tip', STAMP - SECOND // 100)]
    found = read(reader, array(pose((0.1, 0.07, 0.5))), predict=predict)
    np.testing.assert_allclose(found, [[NAN] * 3, [0.1, 0.07, 0.5]])
    assert read(reader, array(pose((0.1, 0.5, 0.5))), predict=predict) is None
    assert read(reader, array(), predict=predict) is None


def test_the_assignment_is_the_one_with_the_least_squares():
    """With more markers than points, and in any order, each prediction gets its own."""
    rng = np.random.default_rng(5)
    predicted = rng.normal(size=(9, 3))
    order = rng.permutation(9)[:7]
    found = assigned(predicted[order] + 1e-3 * rng.normal(size=(7, 3)), predicted, 0.01)
    assert set(np.flatnonzero(np.isfinite(found).all(axis=1))) == set(order)
    assert np.nanmax(np.abs(found - predicted)) < 6e-3


def test_stamps_of_a_clock_of_its_own_tell_only_how_long_a_message_took(monkeypatch):
    """With a foreign clock the fastest message has age zero, slower ones are that much older."""
    system = 1_700_000_000 * SECOND  # ahead of the steady clock
    monkeypatch.setattr(sensor_adapters, 'now', lambda: 0)
    monkeypatch.setattr(sensor_adapters.time, 'time_ns', lambda: system)
    _, reader = adapter(POSE, clock='own', repeats=True)
    ms = SECOND // 1000
    for k, (late, age) in enumerate(((20, 0), (10, 0), (17, 7), (10, 0))):
        arrival = (10 * k + late) * ms
        found = reader.read(stamped(stamp=STAMP + 10 * k * ms), arrival, nowhere)
        assert found.stamp == system + arrival - age * ms
    for stamp, cause in ((STAMP + 30 * ms, 'out of order'), (0, 'stale')):
        with pytest.raises(MessageError) as caught:
            reader.read(stamped(stamp=stamp), 60 * ms, nowhere)
        assert cause_of(caught.value) == cause
    _, unstamped = adapter(POSE, clock='arrival')
    assert unstamped.read(stamped(stamp=0), 5 * ms, nowhere).stamp == system + 5 * ms


def test_other_kinds_may_have_another_topic_and_clock():
    """Encoders read their own messages, also by a clock of their own."""
    encoders = {'type': 'joint', 'names': ['t1', 't2'], 'noise': 1e-3}
    own, reader = adapter(encoders, topic='/winches/joint_states', clock='shared')
    sent = message({'header': header(), 'name': ['t2', 't1'], 'position': [2.0, 1.0]})
    found = reader.read(sent, 0, nowhere)
    assert found.stamp == STAMP and np.asarray(found.value).tolist() == [1.0, 2.0]
    assert own.message.topic_of('tip') == '/winches/joint_states'
