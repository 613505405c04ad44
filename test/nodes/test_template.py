# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers written into the template of a message are those of the message, and nothing else is."""

from array import array
import struct

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time  # noqa: E402
from geometry_msgs.msg import Point  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterEvent  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.nodes.messaging.codec import Decoder, Encoder  # noqa: E402
from softrobot_dynamics.nodes.messaging.template import MessageTemplate, padding, serialised  # noqa: E402
from std_msgs.msg import Float64, Float64MultiArray, Int32, MultiArrayDimension, MultiArrayLayout  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

pytestmark = pytest.mark.quick

RANDOM = np.random.default_rng(3)


def numbers(count):
    """Return some numbers as messages hold them."""
    return array('d', RANDOM.normal(size=count))


def trajectory(count):
    """Return a JointTrajectory of one point."""
    point = JointTrajectoryPoint(positions=numbers(count), velocities=numbers(count))
    return JointTrajectory(joint_names=[f'a{k}' for k in range(count)], points=[point])


def markers(count):
    """Return two markers, the second one of some points."""
    second = Marker(ns='long name', points=[Point(x=x) for x in RANDOM.normal(size=count)])
    return MarkerArray(markers=[Marker(ns='a'), second])


CASES = {
    'joint state': (
        JointState(name=['a', 'bc', 'def'], position=numbers(3), effort=numbers(3)),
        {'stamp': 'header.stamp', 'q': 'position', 'u': 'effort'},
    ),
    'trajectory': (trajectory(2), {'y': 'points.0.positions', 'rate': 'points.0.velocities'}),
    'number': (Float64(data=1.5), {'t': 'data'}),
    'whole number': (Int32(data=-7), {'mode': 'data'}),
    'markers': (
        markers(4),
        {'p': 'markers.1.points', 'colour': 'markers.1.color', 'stamp': 'markers.0.header.stamp'},
    ),
}


def found(message, path):
    """Return the numbers at a path of a message as nested lists."""
    *steps, field = path.split('.')
    for step in steps:
        message = message[int(step)] if step.isdecimal() else getattr(message, step)
    return plain(getattr(message, field))


def plain(value):
    """Return what a field holds as numbers in lists."""
    if hasattr(value, 'get_fields_and_field_types'):
        return [plain(getattr(value, name)) for name in value.get_fields_and_field_types()]
    return [plain(each) for each in value] if isinstance(value, (list, array)) else value


@pytest.mark.parametrize('case', CASES)
def test_numbers_that_are_written_are_those_of_the_message(case):
    """In every kind of field; all else of the message is as before, and the original untouched."""
    message, fields = CASES[case]
    before = deserialize_message(serialised(message), type(message))
    template = MessageTemplate.of(message, fields)
    assert message == before
    assert deserialize_message(bytes(template.data), type(message)) == before
    assert template.matches(bytes(template.data))
    written = {}
    for name in fields:
        view = template.view(name)
        view[...] = written[name] = RANDOM.integers(1, 2**20, size=view.shape)
    data = bytes(template.data)
    assert template.matches(data)
    read = deserialize_message(data, type(message))
    for name, path in fields.items():
        assert found(read, path) == written[name].tolist()
        template.view(name)[...] = found(before, path)
    assert deserialize_message(bytes(template.data), type(message)) == before


def test_a_change_of_anything_else_is_noticed():
    """Changed names and numbers of values are noticed; stamps beyond int32 are written."""
    message, fields = CASES['joint state']
    template = MessageTemplate.of(message, fields)
    template.write_stamp('stamp', Time(sec=-(2**31), nanosec=2**32 - 1))
    data = bytes(template.data)
    assert deserialize_message(data, JointState).header.stamp.nanosec == 2**32 - 1
    assert template.matches(data) and not template.matches(data + b'\0')
    assert not template.matches(data.replace(b'def', b'deg'))


def test_numbers_whose_place_is_not_certain_are_read_the_ordinary_way():
    """A message whose other bytes look like the values searched for is read the ordinary way."""
    size, stride = struct.unpack('=II', struct.pack('=d', -3.141e59))
    message = Float64MultiArray(data=[2.5])
    message.layout.dim = [MultiArrayDimension(size=size, stride=stride)]
    with pytest.raises(MessageError, match='numbers of x are found 2 times'):
        MessageTemplate.of(message, {'x': 'data'})
    decoder, encoder = Decoder(Float64MultiArray), Encoder(message)
    for value in (2.5, 3.5):
        message.data = [value]
        assert decoder.decode(encoder.encode()) == message


GAPPED = [
    JointState(name=['ab', 'cd'], position=numbers(2)),
    JointState(name=['a', '\N{LATIN SMALL LETTER E WITH ACUTE}', 'bcdefgh'], effort=numbers(3)),
    JointState(),
    Float64MultiArray(data=[2.5]),
    Float64MultiArray(
        data=[2.5, 3.5],
        layout=MultiArrayLayout(
            dim=[MultiArrayDimension(label='abc', size=2), MultiArrayDimension()]
        ),
    ),
    trajectory(2),
    markers(3),
    ParameterEvent(new_parameters=[Parameter(name='p')]),
]
"""Messages with padding before texts, counts and numbers of several sizes."""


@pytest.mark.parametrize('message', GAPPED, ids=lambda x: type(x).__name__)
def test_padding_may_hold_any_bytes(message):
    """The message stays the same whatever its padding holds."""
    data = bytearray(serialised(message))
    gaps = padding(message, bytes(data))
    for fill in (0x00, 0x55, 0xFF):
        for begin, end in gaps:
            data[begin:end] = bytes([fill]) * (end - begin)
        assert deserialize_message(bytes(data), type(message)) == message


@pytest.mark.parametrize(
    ('message', 'gaps'),
    [
        (GAPPED[0], [(17, 20), (31, 32), (39, 40)]),  # after the frame and both names
        (GAPPED[3], [(16, 20)]),  # before the double, at 16 from the end of the head
        (trajectory(2), [(17, 20), (31, 32), (39, 40), (48, 52), (72, 76)]),
    ],
)
def test_padding_is_where_alignment_leaves_it(message, gaps):
    """Padding ends at multiples of 4 or 8 from the end of the head; nothing else is padding."""
    assert padding(message, serialised(message)) == gaps


@pytest.mark.parametrize('message', GAPPED[:5], ids=lambda x: type(x).__name__)
def test_padding_may_differ_from_message_to_message(message, monkeypatch):
    """Messages whose padding is filled otherwise are read the short way, to the same numbers."""
    data = serialised(message)
    gaps, decoder = padding(message, data), Decoder(type(message))
    decoder.decode(data)
    monkeypatch.setattr('softrobot_dynamics.nodes.messaging.codec.deserialize_message', None)
    for fill in range(1, 256, 50):
        filled = bytearray(data)
        for begin, end in gaps:
            filled[begin:end] = bytes((fill + place) % 256 for place in range(begin, end))
        assert decoder.decode(bytes(filled)) == message


def test_no_padding_is_assumed_in_other_encodings_and_longer_messages():
    """Bytes of a head that is not known, or too few for the message, have no padding."""
    message = GAPPED[0]
    data = serialised(message)
    assert padding(message, data)
    assert padding(message, b'\0\7' + data[2:]) == []
    assert padding(message, data[:-1]) == []
    assert padding(message, data + b'\1\2')[-1] == (len(data), len(data) + 2)


def test_no_padding_is_assumed_beside_types_of_no_known_size():
    """A message with a wide string, of which no shipped message has one, has no known padding."""

    class Named:
        text, number = 'x', 1.0

        @staticmethod
        def get_fields_and_field_types():
            return {'text': 'wstring', 'number': 'double'}

    assert padding(Named(), bytes([0, 1]) + bytes(30)) == []
