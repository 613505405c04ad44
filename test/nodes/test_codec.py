# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Messages encoded and decoded without rclpy's serialisation equal those with it."""

from array import array

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.nodes.messaging import codec  # noqa: E402
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension  # noqa: E402

pytestmark = pytest.mark.quick

RANDOM = np.random.default_rng(7)


def joint_state(names=('a', 'bc', 'def'), counts=(3, 3, 0), frame='', stamp=(5, 6)):
    """Return a JointState with random numbers."""
    message = JointState(name=list(names))
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.position, message.velocity, message.effort = (
        RANDOM.normal(size=count).tolist() for count in counts
    )
    return message


def multi_array(count, label=''):
    """Return a Float64MultiArray with random numbers."""
    message = Float64MultiArray(data=RANDOM.normal(size=count).tolist())
    if label:
        message.layout.dim = [MultiArrayDimension(label=label, size=count, stride=count)]
    return message


SERIES = {
    'states': [joint_state(stamp=(k, 10 * k)) for k in range(4)],
    'changing': [
        joint_state(),
        joint_state(names=('a', 'bc', 'deg')),
        joint_state(names=('b', 'bc', 'def')),
        joint_state(counts=(3, 0, 0)),
        joint_state(counts=(0, 3, 0)),
        joint_state(counts=(3, 3, 3)),
        joint_state(counts=(1, 1, 1)),
        joint_state(counts=(0, 0, 0), names=()),
        joint_state(frame='base'),
        joint_state(frame='basf'),
        joint_state(stamp=(-(2**31), 2**32 - 1)),
        joint_state(),
    ],
    'arrays': [
        multi_array(3),
        multi_array(3),
        multi_array(4),
        multi_array(4, 'x'),
        multi_array(0),
    ],
    'other types': [Header(frame_id='a'), Header(frame_id='b')],
}


@pytest.mark.parametrize('series', SERIES)
def test_decoding_gives_what_was_sent(series):
    """Decoding returns the sent values for several messages of one topic, each twice."""
    decoder = codec.Decoder(type(SERIES[series][0]))
    for message in SERIES[series]:
        for _ in range(2):
            assert decoder.decode(serialize_message(message)) == message


def test_only_numbers_are_read_after_the_first_message(monkeypatch):
    """After the first message only numbers are read, without deserialisation."""
    decoder = codec.Decoder(JointState)
    decoder.decode(serialize_message(joint_state()))
    message = joint_state(stamp=(8, 9))
    data = serialize_message(message)
    monkeypatch.setattr(codec, 'deserialize_message', None)
    assert decoder.decode(data) == message
    with pytest.raises(MessageError, match='unreadable'):
        decoder.decode(serialize_message(joint_state(frame='elsewhere')))


def test_bytes_that_are_no_message_are_refused():
    """Bytes of no message are refused, and the next message is read."""
    decoder = codec.Decoder(JointState)
    data = serialize_message(joint_state())
    decoder.decode(data)
    for broken in (b'', data[:30], b'\xff' * len(data)):
        with pytest.raises(MessageError, match='unreadable'):
            decoder.decode(broken)
    message = joint_state()
    assert decoder.decode(serialize_message(message)) == message


@pytest.mark.parametrize('message', [joint_state(counts=(0, 0, 0)), multi_array(0)])
def test_encoding_gives_the_bytes_of_the_message(message):
    """Encoding gives the message's bytes as its numbers and their count change."""
    encoder = codec.Encoder(message)
    for count in (0, 3, 3, 3, 2, 2):
        for field in ('position', 'effort', 'data'):
            if hasattr(message, field):
                setattr(message, field, array('d', RANDOM.normal(size=count)))
        if hasattr(message, 'header'):
            message.header.stamp.sec += 1
            message.header.stamp.nanosec += 10
        assert deserialize_message(encoder.encode(), type(message)) == message


def test_numbers_that_look_like_the_marks_do_no_harm():
    """The place of the numbers is found in a copy."""
    message = multi_array(2)
    message.data = array('d', [-3.141e59, -3.141e59 / 9])
    assert codec.Decoder(Float64MultiArray).decode(serialize_message(message)) == message


@pytest.mark.parametrize('counts', [(3, 3, 0), (0, 0, 3), (0, 3, 3), (3, 0, 0), (3, 3, 3)])
def test_other_readers_read_the_encoded_messages(counts):
    """Other readers accept the bytes, which end with the message."""
    typesys = pytest.importorskip('rosbags.typesys')
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    for names in (('a', 'bc', 'def'), ('t1', 't2', 't3')):
        sent = joint_state(names=names, counts=counts)
        encoder, decoder = codec.Encoder(sent), codec.Decoder(JointState)
        for _ in range(2):
            data = encoder.encode()
            read = store.deserialize_cdr(data, 'sensor_msgs/msg/JointState')
            for field, count in zip(('position', 'velocity', 'effort'), counts):
                assert np.array_equal(getattr(read, field), getattr(sent, field))
                setattr(sent, field, array('d', RANDOM.normal(size=count)))
            assert decoder.decode(data).header == sent.header
            sent.header.stamp.sec += 1
