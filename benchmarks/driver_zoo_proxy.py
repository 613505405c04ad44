# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Stand for the drivers of a robot: for benchmarks/driver_zoo.py, which starts it.

The simulated robot's states come on `raw_states` and go out as its drivers would send them, in
parts, each on its topic with its rate, names, latency and lack of velocities. Commands go the
other way, from the parts and units of the drivers to `raw_commands`. The only argument is JSON:
`states`, a list of what :class:`StateDriver` takes, and `commands`, one of what
:class:`CommandDriver` takes. A line on standard input, `PART SECONDS`, silences a part; the answer
is the time of its last message [s of the system clock] and of its first one afterwards.
"""

from collections import deque
import json
import math
import random
import sys
import threading
import time

import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of
from softrobot_dynamics.loops.realtime import request_priority
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.message_values import stamped
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.messaging.transport import choose_transport
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

TURN = 2.0 * math.pi
KINDS = {
    'joint_state': JointState,
    'multi_array': Float64MultiArray,
    'joint_trajectory': JointTrajectory,
}
BEYOND = 0.5  # [s] that a stamp may differ from the last one; farther, the robot was reset


class StateDriver:
    """
    Sends the states of some coordinates as one driver does.

    `names`: {coordinate: name on the wire}, in the order of the messages. `rate` [Hz], `late` [s]
    from the stamp to the message, `velocities`: `measured`, `none` or `nan`; `wrap` angles into
    [-pi, pi), `shuffle` the order in every message, `extra` joints beside these, `clock` [s] ahead
    of that of the robot.
    """

    def __init__(
        self, node, topic, names, rate, late=0.0, velocities='measured', wrap=False,
        shuffle=False, extra=(), clock=0.0,
    ):  # fmt: skip
        self._publish = node.create_publisher(JointState, topic, NEWEST_QOS).publish
        self._names, self._rate, self._late = names, rate, late
        self._velocities, self._wrap, self._shuffle = velocities, wrap, shuffle
        self._extra, self._clock = list(extra), round(clock * SECOND)
        self._cycle, self._random = -1, random.Random(1)
        self._queue, self._queued = deque(), threading.Condition()
        self.silent_until, self.last, self.back = 0.0, math.nan, math.nan
        if late:
            threading.Thread(target=self._release, daemon=True).start()

    def take(self, stamp, values):
        """Send a state, {coordinate: (position, velocity)}, if the driver measures now."""
        cycle = math.floor(stamp * self._rate / SECOND + 1e-6)
        if cycle == self._cycle:
            return
        self._cycle = cycle
        message = self._message(stamp, values)
        if self._late:
            with self._queued:
                self._queue.append((time.monotonic() + self._late, message))
                self._queued.notify()
        else:
            self._send(message)

    def _message(self, stamp, values):
        rows = [(name, *values[coordinate]) for coordinate, name in self._names.items()]
        rows += [(name, math.nan, math.nan) for name in self._extra]
        if self._shuffle:
            self._random.shuffle(rows)
        names, q, qd = zip(*rows)
        if self._wrap:
            q = [(x + math.pi) % TURN - math.pi for x in q]
        message = JointState(name=list(names), position=list(q))
        if self._velocities != 'none':
            blank = self._velocities == 'nan'
            message.velocity = [math.nan] * len(qd) if blank else list(qd)
        message.header.stamp = stamped(stamp + self._clock)
        return message

    def _release(self):
        while True:
            with self._queued:
                self._queued.wait_for(lambda: self._queue)
                due, message = self._queue.popleft()
            time.sleep(max(0.0, due - time.monotonic()))
            self._send(message)

    def _send(self, message):
        if time.time() < self.silent_until:
            return
        if self.silent_until and math.isnan(self.back):
            self.back = time.time()
        if not self.silent_until:
            self.last = time.time()
        self._publish(message)


class CommandDriver(threading.Thread):
    """
    Takes the commands of some actuators as one driver does.

    `names`: {name on the wire: actuator}, for a `multi_array` in their order; `unit`: the SI value
    of one. What was taken is handed on as {actuator: command} with the stamp, 0 if there is none.
    """

    def __init__(self, node, hand_on, topic, names, kind='joint_state', unit=1.0):
        super().__init__(daemon=True)
        self._inbox = Inbox(node, KINDS[kind], topic, NEWEST_QOS, len(names))
        self._names, self._kind, self._unit, self._hand_on = names, kind, unit, hand_on
        self.topic = topic

    def run(self):
        """Take commands for ever."""
        while True:
            message = self._inbox.wait(SECOND)
            if message is None:
                continue
            if self._kind == 'multi_array':
                self._pass(list(self._names), message.data, 0)
            elif self._kind == 'joint_trajectory':
                self._pass(message.joint_names, message.points[0].effort, 0)
            else:
                self._pass(message.name, message.effort, stamp_of(message))

    def _pass(self, names, values, stamp):
        told = {self._names[name]: self._unit * x for name, x in zip(names, values)}
        self._hand_on(self.topic, told, stamp)


class Drives:
    """Puts the commands of all drivers together for the robot."""

    def __init__(self, node, actuators, topics):
        self._publish = node.create_publisher(JointState, 'raw_commands', NEWEST_QOS).publish
        self._actuators, self._topics = actuators, set(topics)
        self._told, self._fresh, self._stamp = {}, set(), 0
        self._lock = threading.Lock()
        self.newest = 0  # stamp of the state that was sent last

    def take(self, topic, told, stamp):
        """Take what one driver was told; once all were told something, the robot is."""
        with self._lock:
            self._told |= told
            self._fresh.add(topic)
            self._stamp = max(self._stamp, stamp)
            if self._fresh < self._topics:
                return
            self._fresh.clear()
            message = JointState(
                name=self._actuators, effort=[self._told[name] for name in self._actuators]
            )
            message.header.stamp = stamped(self._stamp or self.newest)
            self._stamp = 0
            self._publish(message)


def hear(inbox, drivers, drives):
    """Pass the robot's states to its drivers for ever."""
    while True:
        message = inbox.wait(SECOND)
        if message is None:
            continue
        q, qd = (np.frombuffer(x).tolist() for x in (message.position, message.velocity))
        values = dict(zip(message.name, zip(q, qd)))
        drives.newest = stamp_of(message)
        for driver in drivers:
            driver.take(drives.newest, values)


def main():
    """Stand between until standard input ends."""
    given = json.loads(sys.argv[1])
    choose_transport()
    rclpy.init()
    request_priority()
    sys.setswitchinterval(5e-5)
    node = rclpy.create_node('drivers')
    states = {part: StateDriver(node, **own) for part, own in given['states'].items()}
    actuators = [x for own in given['commands'] for x in own['names'].values()]
    drives = Drives(node, actuators, [own['topic'] for own in given['commands']])
    for own in given['commands']:
        CommandDriver(node, drives.take, **own).start()
    inbox = Inbox(node, JointState, 'raw_states', NEWEST_QOS, given['size'])
    threading.Thread(target=hear, args=(inbox, list(states.values()), drives), daemon=True).start()
    print('ready', flush=True)
    for line in sys.stdin:
        part, seconds = line.split()
        driver = states[part]
        driver.silent_until = time.time() + float(seconds)
        while math.isnan(driver.back):
            time.sleep(0.01)
        print(json.dumps([driver.last, driver.back]), flush=True)


if __name__ == '__main__':
    main()
