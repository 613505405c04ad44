# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Messages become arrays by name, and unusable ones are refused with their reason."""

import numpy as np
import pytest

pytest.importorskip('sensor_msgs.msg')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.loops.message_fields import cause_of, CAUSES, stamp_of  # noqa: E402
from softrobot_dynamics.loops.state_reader import StateReader  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_messages import (  # noqa: E402
    CommandArrayReader,
    CommandArrayWriter,
    CommandReader,
    CommandWriter,
)
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from softrobot_dynamics.nodes.messaging.reference_messages import ReferenceWriter  # noqa: E402
from softrobot_dynamics.nodes.messaging.state_messages import StateWriter  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

pytestmark = pytest.mark.quick

NAMES = ('a', 'b', 'c')


def state(names=NAMES, position=(1.0, 2.0, 3.0), velocity=(4.0, 5.0, 6.0)):
    """Return a JointState."""
    return JointState(name=list(names), position=list(position), velocity=list(velocity))


def command(names=NAMES, effort=(1.0, 2.0, 3.0), stamp=0):
    """Return a JointState with efforts."""
    message = JointState(name=list(names), effort=list(effort))
    message.header.stamp = stamped(stamp)
    return message


@pytest.mark.parametrize('names', [('a', 'b', 'c'), ('c', 'a', 'b'), ('b', 'a', 'c')])
def test_values_go_by_name(names):
    """Each value ends up at its own coordinate, in any order of the message."""
    value = dict(zip(names, (1.0, 2.0, 3.0)))
    q, qd = StateReader(NAMES).read(state(names))
    assert q.tolist() == [value[name] for name in NAMES]
    assert qd.tolist() == [value[name] + 3.0 for name in NAMES]


@pytest.mark.parametrize('names', [('grip', 'a', 'b', 'c'), ('c', 'b', 'grip', 'a', 'lift')])
def test_names_of_others_beside_ours_are_ignored(names):
    """Names of others beside the robot's are ignored, whatever their numbers, and reported."""
    value = {name: (1.0 + k if name in NAMES else np.nan) for k, name in enumerate(names)}
    numbers = tuple(value[name] for name in names)
    reader = StateReader(NAMES)
    q, qd = reader.read(state(names, numbers, numbers))
    assert q.tolist() == qd.tolist() == [value[name] for name in NAMES]
    assert reader.ignored == tuple(name for name in names if name not in NAMES)
    assert reader.read(state())[0].tolist() == [1.0, 2.0, 3.0] and reader.ignored == ()
    with pytest.raises(MessageError, match='c missing'):
        reader.read(state(('a', 'b', 'grip')))


def test_the_order_may_change_from_message_to_message():
    """A permutation kept from the last message is never used for another order."""
    reader = CommandReader(NAMES)
    for names in (('c', 'b', 'a'), ('b', 'c', 'a'), NAMES, ('c', 'b', 'a')):
        effort = [float(NAMES.index(name)) for name in names]
        assert reader.read(command(names, effort))[0].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    'message, cause, word',
    [
        (state(position=(1.0, 2.0)), 'wrong size', 'position has 2 values, expected 3'),
        (state(velocity=()), 'wrong size', 'velocity has 0'),
        (state(names=('a', 'b')), 'wrong name', 'c missing'),
        (state(names=()), 'wrong name', 'a, b, c missing'),
        (state(names=('a', 'b', 'c', 'd')), 'wrong size', 'position has 3 values, expected 4'),
        (state(names=('arm/x', 'b', 'c')), 'wrong name', "'arm/x' is unknown; a missing"),
        (state(names=('a', 'b', 'b')), 'wrong name', "'b' is named twice"),
        (state(position=(1.0, np.nan, 3.0)), 'not a number', 'position'),
        (state(velocity=(1.0, 2.0, -np.inf)), 'not a number', 'velocity'),
    ],
)
def test_a_state_that_cannot_be_used_is_refused(message, cause, word):
    """An unusable state is refused with the reason, of a cause that is counted."""
    reader = StateReader(NAMES)
    with pytest.raises(MessageError) as caught:
        reader.read(message)
    assert cause_of(caught.value) == cause and cause in CAUSES
    assert word in caught.value.reason
    assert reader.read(state())[0].tolist() == [1.0, 2.0, 3.0]  # and the next one is fine


@pytest.mark.parametrize(
    'message',
    [
        command(effort=(1.0, 2.0)),
        command(names=('a', 'b', 'x')),
        command(effort=(np.nan, 0.0, 0.0)),
    ],
)
def test_a_command_that_cannot_be_used_is_refused(message):
    """An unusable command is refused as an unusable state is."""
    with pytest.raises(MessageError):
        CommandReader(NAMES).read(message)


def test_a_command_carries_the_stamp_of_the_state_it_answers():
    """A command carries the stamp of the state that it answers, to the nanosecond."""
    stamp = 1_700_000_000_123_456_789
    assert CommandReader(NAMES).read(command(stamp=stamp))[1] == stamp


def test_an_array_of_commands_goes_by_position():
    """A Float64MultiArray is read by position, as it has neither names nor a stamp."""
    reader = CommandArrayReader(NAMES)
    u, stamp = reader.read(Float64MultiArray(data=[3.0, 2.0, 1.0]))
    assert u.tolist() == [3.0, 2.0, 1.0] and stamp == 0
    with pytest.raises(MessageError, match='data has 2 values'):
        reader.read(Float64MultiArray(data=[3.0, 2.0]))


def test_written_messages_are_read_back():
    """A state and a command survive the way out and in."""
    q, qd, stamp = np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, 0.3]), 12_345_678_901
    message = StateWriter(NAMES).write(q, qd, stamped(stamp))
    assert stamp_of(message) == stamp
    assert [x.tolist() for x in StateReader(NAMES).read(message)] == [q.tolist(), qd.tolist()]
    answer = CommandWriter(NAMES).write(q, message.header.stamp)
    u, answered = CommandReader(NAMES).read(answer)
    assert u.tolist() == q.tolist() and answered == stamp
    array = CommandArrayWriter(NAMES).write(q, message.header.stamp)
    assert CommandArrayReader(NAMES).read(array)[0].tolist() == q.tolist()


def test_a_reference_is_one_point():
    """A reference is one point with positions, velocities and accelerations by name."""
    y = np.array([1.0, 2.0, 3.0])
    message = ReferenceWriter(NAMES).write(np.array([y, 2.0 * y, 3.0 * y]), stamped(7))
    (point,) = message.points
    assert message.joint_names == list(NAMES)
    assert (point.positions.tolist(), point.velocities.tolist(), point.accelerations.tolist()) == (
        y.tolist(),
        (2.0 * y).tolist(),
        (3.0 * y).tolist(),
    )
