# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Oversized messages are refused before they are read, those of real robots are not."""

import random
import struct

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Duration  # noqa: E402
from geometry_msgs.msg import PointStamped, Pose, PoseArray  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.loops import message_fields  # noqa: E402
from softrobot_dynamics.loops.state_reader import StateReader  # noqa: E402
from softrobot_dynamics.loops.trajectories import TrajectoryReader  # noqa: E402
from softrobot_dynamics.nodes.messaging import codec, message_sizes  # noqa: E402
from softrobot_dynamics.nodes.messaging.trajectory_bytes import read_trajectory  # noqa: E402
from std_msgs.msg import Float64MultiArray, Header  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

pytestmark = pytest.mark.quick

NAMES = [f'segment{k}.kappa_{k}' for k in range(10_000)]
HUGE = [
    JointState(name=NAMES),
    PointStamped(header=Header(frame_id='x' * 10_000)),
    Imu(header=Header(frame_id='x' * 10_000)),
    PoseArray(poses=[Pose()] * 100),
    Float64MultiArray(data=[0.0] * 10_000),
    JointTrajectory(joint_names=NAMES * 20),
]
FIELDS = 'positions', 'velocities', 'accelerations', 'effort'


@pytest.mark.parametrize('message', HUGE, ids=lambda each: type(each).__name__)
def test_an_oversized_message_is_refused_unread(message, monkeypatch):
    """A message of any type with too many bytes is refused before it is read."""

    def never(*arguments):
        raise AssertionError('it was read')

    decoder = codec.Decoder(type(message), 9)
    data = bytes(serialize_message(message))
    for name in ('deserialize_message', 'read_trajectory'):
        monkeypatch.setattr(codec, name, never)
    with pytest.raises(MessageError, match=f'wrong size: a message of {len(data)} bytes'):
        decoder.decode(data)


@pytest.mark.parametrize('count', [1, 9, 100, 1_000])
def test_large_messages_of_usual_size_are_read(count):
    """Names of 60 characters, efforts and 200 foreign joints are read."""
    names = [f'{k:060d}' for k in range(count + 200)]
    numbers = [0.0] * len(names)
    state = JointState(name=names, position=numbers, velocity=numbers, effort=numbers)
    poses = PoseArray(header=Header(frame_id='x' * 200), poses=[Pose()] * count)
    for message in (state, poses, Float64MultiArray(data=[0.0] * count)):
        data = bytes(serialize_message(message))
        message_sizes.require_size(len(data), message_sizes.most_bytes(type(message), count))


def trajectory(rng):
    """Return a random trajectory, most often a sensible one."""

    def numbers():
        return [rng.uniform(-9.0, 9.0) for _ in range(rng.choice([0, 1, 2, 2, 2, 3]))]

    points = [
        JointTrajectoryPoint(
            **{field: numbers() for field in FIELDS},
            time_from_start=Duration(sec=rng.randint(-9, 9), nanosec=rng.randrange(10**9)),
        )
        for _ in range(rng.randrange(5))
    ]
    names = [''.join(rng.choices('abcä.', k=rng.randrange(6))) for _ in range(rng.randrange(4))]
    header = Header(frame_id='x' * rng.randrange(9))
    header.stamp.sec, header.stamp.nanosec = rng.randint(-5, 5), rng.randrange(10**9)
    return JointTrajectory(header=header, joint_names=names, points=points)


def assert_same(found, message):
    """Check that what was read by us is what rclpy reads."""
    assert found.header == message.header
    assert found.joint_names == message.joint_names
    assert len(found.points) == len(message.points)
    for ours, theirs in zip(found.points, message.points):
        time = theirs.time_from_start
        assert tuple(ours.time_from_start) == (time.sec, time.nanosec)
        for field in FIELDS:
            assert np.array_equal(getattr(ours, field), getattr(theirs, field))


def test_trajectories_are_read_as_rclpy_reads_them():
    """The reader of trajectories returns what rclpy deserialises."""
    rng = random.Random(5)
    for _ in range(300):
        message = trajectory(rng)
        data = bytes(serialize_message(message))
        assert_same(read_trajectory(data), deserialize_message(data, JointTrajectory))


def test_a_trajectory_of_the_other_byte_order_is_read_too():
    """A trajectory of the other byte order is read."""
    data = struct.pack('>4BiI', 0, 0, 0, 0, 7, 8) + struct.pack('>I', 1) + b'\0' + bytes(3)
    data += struct.pack('>II', 1, 2) + b'a\0' + bytes(2) + struct.pack('>I', 0)
    found = read_trajectory(data)
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == (7, 8)
    assert found.joint_names == ['a'] and found.points == []


def test_bytes_that_are_no_trajectory_are_refused():
    """Truncated, corrupted or otherwise encoded trajectories are refused without allocation."""
    rng = random.Random(6)
    for _ in range(500):
        data = bytearray(serialize_message(trajectory(rng)))
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        del data[rng.randrange(4, len(data)) :]
        try:
            read_trajectory(bytes(data))
        except MessageError as error:
            assert message_fields.cause_of(error) in message_fields.CAUSES
    for begin in (b'', b'\0', b'\0\7\0\0'):
        with pytest.raises(MessageError, match='unreadable'):
            read_trajectory(begin)


@pytest.mark.parametrize(
    'message, words',
    [
        (JointTrajectory(points=[JointTrajectoryPoint()] * 6_000), '6000 points, expected'),
        (JointTrajectory(joint_names=['x'] * 2_000), '2000 joint names, expected'),
    ],
)
def test_an_oversized_trajectory_is_refused_by_its_counts(message, words):
    """A trajectory whose counts are too large is refused before its contents are read."""
    with pytest.raises(MessageError, match=words):
        read_trajectory(bytes(serialize_message(message)))


def test_few_names_are_compared_however_many_are_unknown(monkeypatch):
    """Only a few short unknown names are compared with known ones, to bound the time."""
    asked = []
    monkeypatch.setattr(message_fields, 'closest', lambda name, known: asked.append(name) or '')
    readers = StateReader(['x', 'y']), TrajectoryReader(['x', 'y'])
    for given in (NAMES, ['x' * 30_000, 'y' * 30_000, 'z']):
        asked.clear()
        for reader in readers:
            with pytest.raises(MessageError, match='wrong name'):
                reader.read(JointState(name=given)) if reader is readers[0] else reader.read(
                    JointTrajectory(joint_names=given)
                )
        assert 0 < len(asked) <= 6 and max(map(len, asked)) <= 40


@pytest.mark.parametrize('words', ['', 'x' * 240, 'wrong name: ' + 'x' * 10_000_000 + ' end'])
def test_a_refusal_is_short_whatever_was_refused(words):
    """A long refusal keeps its beginning, with the cause, and its end."""
    reason = MessageError(words).reason
    assert len(reason) <= 240
    assert reason == words or (reason.startswith('wrong name: x') and reason.endswith('x end'))
