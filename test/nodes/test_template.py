# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers written into the template of a message are those of the message, and nothing else is."""

from array import array
import struct

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time  # noqa: E402
from geometry_msgs.msg import Point  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.nodes.messaging.codec import Decoder, Encoder  # noqa: E402
from softrobot_dynamics.nodes.messaging.template import MessageTemplate, serialised  # noqa: E402
from std_msgs.msg import Float64, Float64MultiArray, Int32, MultiArrayDimension  # noqa: E402
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
    """Of a name as of the number of values; a stamp is written beyond the range of int32, too."""
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


def test_gaps_between_texts_may_hold_any_bytes(monkeypatch):
    """A sender that leaves other bytes there than we would is read the short way as well."""
    data = bytearray(serialised(JointState(name=['ab', 'cd'], position=numbers(2))))
    data[data.index(b'ab\0') + 3] = 0x55
    decoder, expected = Decoder(JointState), deserialize_message(bytes(data), JointState)
    assert decoder.decode(bytes(data)) == expected
    monkeypatch.setattr('softrobot_dynamics.nodes.messaging.codec.deserialize_message', None)
    assert decoder.decode(bytes(data)) == expected
