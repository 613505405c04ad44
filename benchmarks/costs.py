# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure the single operations that the nodes avoid: the figures that their docstrings name.

    python benchmarks/costs.py

An event through an executor of rclpy and through a wait set of one's own, a line of the log, a
message by the writer of the `mcap` library, a round of the garbage collector in a node, and waking
an idle processor, which may sleep and which may not.
"""

import contextlib
import gc
from io import BytesIO
import logging
import os
import threading
import time

from mcap.writer import Writer
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization as LAW
from softrobot_dynamics.loops.realtime import keep_awake, now, sleep_until
from softrobot_dynamics.nodes import controller
from softrobot_dynamics.nodes.messaging.inbox import Inbox

EVENTS, EVERY, WAKES, LINES, MESSAGES = 2000, 0.002, 1000, 2000, 50_000
JOINTS = [f'joint_{i}' for i in range(9)]
STATE = JointState(name=JOINTS, position=[0.0] * 9, velocity=[0.0] * 9, effort=[0.0] * 9)


@contextlib.contextmanager
def sending(node, topic):
    """Publish states on a topic in a thread meanwhile; end with a flag."""
    publisher, over = node.create_publisher(JointState, topic, QoSProfile(depth=1)), []

    def send():
        while not over:
            publisher.publish(STATE)
            time.sleep(EVERY)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    yield
    over.append(True)
    thread.join()


def own_time(receive):
    """Return the processor time of this thread [us] for each of many events it receives."""
    for _ in range(50):
        receive()
    begin = time.thread_time_ns()
    for _ in range(EVENTS):
        receive()
    return 1e-3 * (time.thread_time_ns() - begin) / EVENTS


def executor_event(node, topic):
    """Return the time [us] of an event through an executor."""
    heard = []
    node.create_subscription(JointState, topic, heard.append, QoSProfile(depth=1))
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def receive():
        count = len(heard)
        while len(heard) == count:
            executor.spin_once(timeout_sec=1.0)

    found = own_time(receive)
    executor.remove_node(node)
    return found


def inbox_event(node, topic):
    """Return the time [us] of an event through a wait set of one's own."""
    inbox = Inbox(node, JointState, topic, QoSProfile(depth=1))

    def receive():
        while inbox.wait(10**9) is None:
            pass

    found = own_time(receive)
    inbox.close()
    return found


def each(action, count):
    """Return the time [us] of each of many actions."""
    begin = time.perf_counter()
    for k in range(count):
        action(k)
    return 1e6 * (time.perf_counter() - begin) / count


def log_line(node):
    """Return the time [us] of a line; what is printed goes nowhere."""
    logger, kept = node.get_logger(), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        return each(lambda k: logger.warning(f'line {k}'), LINES)
    finally:
        os.dup2(kept, 2)


def mcap_message():
    """Return the time [us] of a message by the library's writer."""
    writer, data = Writer(BytesIO()), bytes(300)
    writer.start()
    schema = writer.register_schema('one', 'ros2msg', b'')
    channel = writer.register_channel('one', 'cdr', schema)
    return each(
        lambda k: writer.add_message(channel, log_time=k, data=data, publish_time=k), MESSAGES
    )


def collection():
    """Return the time [ms] of a full round of the collector in a controller with its robot."""
    model = sd.compile_model(sd.load_robot('pcc_arm'))
    made = LAW(model, period=1e-3)
    made.start(model.q0, np.zeros(model.n), 0.0)
    begin = time.perf_counter()
    gc.collect()
    return 1e3 * (time.perf_counter() - begin)


def lateness():
    """Return the median time [us] by which one wakes after a deadline 1 ms ahead."""
    late = np.empty(WAKES)
    for k in range(WAKES):
        deadline = now() + 1_000_000
        sleep_until(deadline)
        late[k] = 1e-3 * (now() - deadline)
    return np.median(late)


def main():
    """Print a line for each."""
    logging.disable()
    rclpy.init()
    node, sender = rclpy.create_node('receiver'), rclpy.create_node('sender')
    print(f'round of the garbage collector in {controller.__name__}: {collection():.0f} ms')
    with sending(sender, 'one'):
        print(f'event, executor: {executor_event(node, "one"):.0f} us of the receiving thread')
    with sending(sender, 'two'):
        print(f'event, wait set: {inbox_event(node, "two"):.0f} us of the receiving thread')
    print(f'line of the log: {log_line(node):.0f} us')
    print(f'message by the mcap library: {mcap_message():.1f} us')
    print(f'waking after a deadline, idle processors may sleep: {lateness():.0f} us')
    refused = keep_awake()
    print(f'the same where they may not: {refused or f"{lateness():.0f} us"}')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
