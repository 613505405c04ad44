# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Both inboxes bring the newest message, end a wait early or in time, and close cleanly."""

import contextlib
import threading
import time

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from softrobot_dynamics.nodes.messaging import inbox as inbox_module  # noqa: E402
from softrobot_dynamics.nodes.messaging.inbox import ExecutorInbox, HAS_WAIT_SET, WaitSetInbox  # noqa: E402
from softrobot_dynamics.nodes.messaging.parts_inbox import ExecutorPartsInbox, WaitSetPartsInbox  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

SECOND = 1_000_000_000
QUALITY = QoSProfile(depth=1)
WAIT_SET = pytest.mark.skipif(not HAS_WAIT_SET, reason='no WaitSet')


@pytest.fixture
def node():
    """Return a node that an executor spins in another thread."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('inbox', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    yield node
    executor.shutdown()
    thread.join()
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture(params=[pytest.param(WaitSetInbox, marks=WAIT_SET), ExecutorInbox])
def inbox(request, node):
    """Return an inbox for the topic `news`."""
    inbox = request.param(node, Float64MultiArray, 'news', QUALITY)
    yield inbox
    inbox.close()


def publish(node, *numbers, topic='news'):
    """Publish one message for each number, once somebody listens."""
    publisher = node.create_publisher(Float64MultiArray, topic, QUALITY)
    end = time.monotonic() + 300.0
    while not publisher.get_subscription_count():
        assert time.monotonic() < end, 'nobody listens'
        time.sleep(0.01)
    for number in numbers:
        publisher.publish(Float64MultiArray(data=[number]))


def test_the_newest_message_arrives(node, inbox):
    """The newest messages that came before the wait are read, in order."""
    publish(node, 1.0, 2.0, 3.0)
    seen = []
    while not seen or seen[-1] < 3.0:
        message = inbox.wait(300 * SECOND)
        assert message is not None, f'only {seen} arrived'
        seen.append(message.data[0])
    assert seen == sorted(seen)
    assert inbox.wait(0) is None


def test_a_wait_ends_at_its_time_out(inbox):
    """A wait without messages ends at its time-out and not before."""
    begin = time.monotonic_ns()
    assert inbox.wait(50_000_000) is None
    assert time.monotonic_ns() - begin >= 49_000_000
    assert inbox.wait(-1) is None


def test_a_wake_ends_the_wait_under_way_or_the_next(inbox):
    """A wake ends the present or the next wait without a message."""
    inbox.wake()
    assert inbox.wait(300 * SECOND) is None
    threading.Timer(0.05, inbox.wake).start()
    assert inbox.wait(300 * SECOND) is None


def test_a_rest_is_as_long_as_the_work_and_may_be_woken(node, inbox, monkeypatch):
    """During a rest no message is read, and afterwards the newest one is."""
    publish(node, 1.0)
    assert inbox.wait(30 * SECOND).data[0] == 1.0
    publish(node, 2.0)
    monkeypatch.setattr(inbox_module, '_MAX_REST', 3600 * SECOND)
    inbox._taken_at -= 600 * SECOND  # ten minutes of work
    inbox.rest()
    threading.Timer(0.05, inbox.wake).start()
    assert inbox.wait(60 * SECOND) is None  # though one is there
    inbox.rest()
    assert inbox.wait(10_000_000) is None
    monkeypatch.setattr(inbox_module, '_MAX_REST', 1_000_000)
    inbox.rest()
    end = time.monotonic() + 30.0
    while (message := inbox.wait(SECOND)) is None:
        assert time.monotonic() < end
    assert message.data[0] == 2.0


def test_sender_and_time_of_a_message_are_known(node, inbox):
    """A message comes with the system time of sending and an identity of its publisher."""
    before = time.time_ns()
    publish(node, 1.0)
    inbox.wait(30 * SECOND)
    stamp, sender = inbox.sent()
    assert before <= stamp <= time.time_ns() and len(sender) >= 8


@pytest.mark.skipif(not HAS_WAIT_SET, reason='no WaitSet')
def test_no_executor_serves_a_wait_set_inbox(node):
    """No executor wakes up for messages or events of an inbox with a wait set."""
    with contextlib.closing(WaitSetInbox(node, Float64MultiArray, 'news', QUALITY)) as inbox:
        subscription = inbox._subscription
        group = subscription.callback_group
        for entity in (subscription, *getattr(subscription, 'event_handlers', ())):
            assert entity.callback_group is group and not group.can_execute(entity)


@pytest.fixture(params=[pytest.param(WaitSetPartsInbox, marks=WAIT_SET), ExecutorPartsInbox])
def several(request, node):
    """Return an inbox for the topics `old` and `news`."""
    topics = [(Float64MultiArray, name, 1) for name in ('old', 'news')]
    inbox = request.param(node, topics, QUALITY)
    yield inbox
    inbox.close()


def test_messages_of_several_topics_come_with_their_topic(node, several):
    """Each message comes with the topic's place; topics take turns; waits end as for one."""
    begin = time.monotonic_ns()
    assert several.wait(50_000_000) is None
    assert time.monotonic_ns() - begin >= 49_000_000
    publish(node, 1.0)
    which, message = several.wait(300 * SECOND)
    assert (which, message.data[0]) == (1, 1.0)
    assert several.age() >= 0 and len(several.sent().sender) >= 8
    publish(node, 3.0, topic='old')
    publish(node, 2.0)
    found = [several.wait(300 * SECOND) for _ in range(2)]
    assert sorted((which, message.data[0]) for which, message in found) == [(0, 3.0), (1, 2.0)]
    several.wake()
    assert several.wait(300 * SECOND) is None


def test_a_rest_counts_for_all_topics(node, several, monkeypatch):
    """During a rest no message of any topic is read, and afterwards they are."""
    publish(node, 1.0)
    assert several.wait(30 * SECOND)[1].data[0] == 1.0
    publish(node, 2.0, topic='old')
    monkeypatch.setattr(inbox_module, '_MAX_REST', 50_000_000)
    several._taken_at -= SECOND  # of work
    several.rest()
    assert several.wait(10 * SECOND) is None  # though one is there
    assert several.wait(30 * SECOND)[1].data[0] == 2.0
