# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands in parts survive the way through their messages, whatever types, units and fields."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from softrobot_dynamics.configuration.command_parts import CommandPart  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.nodes.messaging.codec import Decoder, Encoder  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_topics import PartsReader, writer_of  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402

pytestmark = pytest.mark.quick

U = np.array([12.0, -3.0, 1.5e5, 4.0, 2.0e4])
EFFORTS = ('effort', 'effort')


def part(name, type_name, indices, names, fields=EFFORTS, sizes=(1.0, 1.0), horizon=0.002):
    """Return a CommandPart."""
    return CommandPart(name, type_name, '', indices, names, fields, sizes, horizon)


PARTS = (
    part('arm', 'joint_state', (1, 0), ('b', 'a')),
    part('air', 'multi_array', (4, 2), ('e', 'c'), sizes=(1e3, 1e3)),
    part('drive', 'joint_trajectory', (3,), ('d',), ('position',), (np.pi / 180.0,)),
)


def sent(each, u=U, stamp=7_000_000_009):
    """Return the message of a part as its reader gets it, by way of the bytes."""
    writer = writer_of(each)
    encoder = Encoder(writer.message)
    for command in (0.0 * u, u):  # the second by the places found with the first
        writer.write(command, stamped(stamp))
        data = encoder.encode()
    whole = deserialize_message(serialize_message(writer.message), writer.message_type)
    assert str(deserialize_message(data, writer.message_type)) == str(whole)  # nan too
    return Decoder(writer.message_type, len(u)).decode(data)


def test_parts_make_the_command_whole_again():
    """Each part brings its commands back to their places in SI units, with the stamp if any."""
    reader, u = PartsReader(PARTS), np.zeros(5)
    assert reader.names == ('arm', 'air', 'drive')
    stamps = []
    for k, each in enumerate(PARTS):
        values, stamp = reader.read((k, sent(each)))
        assert reader.part == k
        u[reader.places[k]] = values
        stamps.append(stamp)
    assert u == pytest.approx(U, rel=1e-15)
    assert stamps == [7_000_000_009, 0, 0]


def test_units_and_names_are_those_of_the_drives():
    """A regulator gets kPa in its order; a drive degrees, as one point from now on."""
    assert sent(PARTS[1]).data.tolist() == pytest.approx([20.0, 150.0])
    message = sent(PARTS[2])
    assert message.joint_names == ['d'] and message.header.stamp.sec == 0
    (point,) = message.points
    assert list(point.positions) == pytest.approx([np.rad2deg(4.0)])
    assert len(point.effort) == len(point.velocities) == 0
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (0, 2_000_000)


@pytest.mark.parametrize('type_name', ['joint_state', 'joint_trajectory'])
def test_each_command_stands_in_the_field_of_its_actuator(type_name):
    """Where actuators take different fields, the others of these are nan, and not read."""
    fields = ('position', 'effort')
    mixed = part('arm', type_name, (0, 1), ('a', 'b'), fields)
    message = sent(mixed)
    where = message.points[0] if type_name == 'joint_trajectory' else message
    position = where.positions if type_name == 'joint_trajectory' else where.position
    assert list(position) == pytest.approx([12.0, np.nan], nan_ok=True)
    assert list(where.effort) == pytest.approx([np.nan, -3.0], nan_ok=True)
    assert PartsReader([mixed]).read((0, message))[0].tolist() == [12.0, -3.0]
    backwards = part('arm', type_name, (1, 0), ('b', 'a'), fields[::-1])
    assert PartsReader([backwards]).read((0, message))[0].tolist() == [-3.0, 12.0]


def test_commands_of_others_in_a_message_are_ignored():
    """A message may have names and numbers of others; missing ones are told with the part."""
    both, one = (
        part('arm', 'joint_state', (0, 1), ('a', 'b')),
        PARTS[0]._replace(indices=(1,), names=('b',), fields=('effort',), sizes=(1.0,)),
    )
    message = sent(both, np.array([np.nan, -3.0, 0.0, 0.0, 0.0]))
    assert PartsReader([one]).read((0, message))[0].tolist() == [-3.0]
    with pytest.raises(MessageError, match=r'not a number: .*\(arm\)'):
        PartsReader([both]).read((0, message))
    with pytest.raises(MessageError, match=r'wrong name: .*z missing \(arm\)'):
        PartsReader([one._replace(names=('z',))]).read((0, message))


def test_a_trajectory_of_several_points_is_no_command():
    """A simulated drive takes one point at a time."""
    message = sent(PARTS[2])
    longer = message._replace(points=[*message.points, *message.points])
    with pytest.raises(MessageError, match='wrong size: 2 points, expected 1'):
        PartsReader(PARTS).read((2, longer))
