# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Stand between a robot and its controller: for benchmarks/soak.py, which starts it.

States go through, from `raw_states` to `joint_states`, some of them spoiled; every command is
looked at. A line of JSON on standard input is an order, each is answered by one on standard
output: a fault for some seconds, a controller that begins anew, the report at the end.
"""

from collections import deque
import json
import random
import sys
import threading
import time

import numpy as np
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
import softrobot_dynamics as sd
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.message_values import stamped
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.messaging.transport import choose_transport

PERIOD, OLDEST = 0.001, 0.05  # [s] of the loop; after which a state is too old to be answered
AT_ONCE = 0.005  # [s] in which the safe command follows one that was on its way for too long
REMEMBERED = 20_000  # states
LATE = 30  # states that are kept back
ALL = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)


def _set(field, change):
    """Return what changes one field of a state."""

    def spoil(state, before, rng):
        values = list(getattr(state, field))
        change(values, rng.randrange(len(values)), rng)
        setattr(state, field, values)
        return state

    return spoil


def _stamp(ahead):
    """Return what sets the stamp of a state off by so much [s]."""

    def spoil(state, before, rng):
        state.header.stamp = stamped(stamp_of(state) + round(ahead * SECOND))
        return state

    return spoil


def _to(value):
    """Return what gives an entry of a list this value, or that of a function of a random one."""

    def change(values, i, rng):
        values[i] = value(rng) if callable(value) else value

    return change


SPOILED = {  # what becomes of every other state: (state, the last good one, random) -> message
    'not a number': _set('position', _to(float('nan'))),
    'infinite': _set('velocity', _to(float('inf'))),
    'absurd': _set('position', _to(lambda rng: rng.choice([-1.0, 1.0]) * 1e200)),
    'of another robot': _set('name', _to('elbow')),
    'a number missing': _set('position', lambda values, i, rng: values.pop()),
    'unreadable': lambda state, before, rng: b'\0\1\0\0' + rng.randbytes(40),
    'implausible rate': _set('velocity', _to(lambda rng: rng.choice([-1.0, 1.0]) * 1e3)),
    'repeated': lambda state, before, rng: before,
    'out of order': _stamp(-0.5),
    'from the future': _stamp(10.0),
}
SET = {'clock set forwards': 3600 * SECOND, 'clock set back': -3600 * SECOND}  # for good


class Proxy(threading.Thread):
    """Passes states on, as the fault of the moment has it."""

    def __init__(self, node, seed):
        super().__init__(daemon=True)
        self._inbox = Inbox(node, JointState, 'raw_states', NEWEST_QOS)
        self._publish = node.create_publisher(JointState, 'joint_states', NEWEST_QOS).publish
        self._random, self._kept = random.Random(seed), deque()
        self._fault, self._turn = None, 0
        self.bad = set()  # stamps of spoiled states
        self.sent, self._order = {}, deque()  # {stamp: when it was passed on [ns of the clock]}
        self.spoiled, self.passed, self.offset = 0, 0, 0
        self._before = None

    def spoil(self, fault, seconds):
        """Have a fault for some seconds; return how many states it cost."""
        before = self.spoiled
        if fault in SET:
            self.offset += SET[fault]
            self.spoiled += 1
        self._fault = fault
        time.sleep(seconds)
        self._fault = None
        return self.spoiled - before

    def run(self):
        """Pass states on for ever."""
        while True:
            message = self._inbox.wait(SECOND)
            if message is not None:
                state = JointState(name=list(message.name))
                for field in ('position', 'velocity'):
                    setattr(state, field, np.frombuffer(getattr(message, field)).tolist())
                state.header.stamp = stamped(stamp_of(message) + self.offset)
                self._handle(state, self._fault)

    def _handle(self, state, fault):
        self._turn += 1
        if fault in SPOILED and self._turn % 2 and self._before is not None:
            self.spoiled += 1
            message = SPOILED[fault](state, self._before, self._random)
            if isinstance(message, JointState):
                self.bad.add(stamp_of(message))
            self._publish(message)
        elif fault == 'silence' or (fault == 'dropped' and self._random.random() < 0.5):
            self.spoiled += 1
        elif fault == 'late':
            self.spoiled += 1
            self._kept.append(state)
            if len(self._kept) > LATE:
                self._pass(self._kept.popleft())
        else:
            self._kept.clear()
            self._pass(state)

    def _pass(self, state):
        stamp = stamp_of(state)
        self.sent[stamp] = time.time_ns()  # not later than the command that answers it
        self._order.append(stamp)
        if len(self._order) > REMEMBERED:
            self.sent.pop(self._order.popleft(), None)
        self._before = state
        self._publish(state)
        self.sent[stamp] = time.time_ns()  # what this process took its time for is not its age
        self.passed += 1


class Commands(Inbox):
    """Every command, with the time at which it was published."""

    def all(self):
        """Yield (command, when it was published [ns of the clock]), for ever."""
        subscription, guard, _ = self._handles
        while True:
            self._wait_set.clear_entities()
            self._wait_set.add_subscription(subscription)
            self._wait_set.add_guard_condition(guard)
            self._wait_set.wait(SECOND)
            while taken := subscription.take_message(self._type, True):
                yield self._decode(taken[0]), taken[1]['source_timestamp']


class Judge(threading.Thread):
    """Looks at every command: a number, within the limits, as fast as allowed, not too old."""

    def __init__(self, node, model, proxy):
        super().__init__(daemon=True)
        self._inbox = Commands(node, JointState, 'joint_commands', ALL)
        self._model, self._proxy = model, proxy
        self._last = None  # (u, when)
        self._late = ''  # what is to be said of the last command, unless the safe one follows
        self.count, self.ages, self.wrong, self.overtaken = 0, [], [], 0

    def begin_anew(self):
        """Expect a controller that does not know the last command."""
        self._last = None

    def run(self):
        """Look at commands for ever."""
        for message, published in self._inbox.all():
            self.count += 1
            u = np.array(message.effort)
            for words in self._look(u, stamp_of(message), published):
                self.wrong.append(f'{words}: {u.tolist()}')
            self._last = u, published

    def _look(self, u, stamp, published):
        """Yield in words what is wrong with a command."""
        model = self._model
        if u.shape != (model.m,) or not np.isfinite(u).all():
            yield 'no numbers'
            return
        if (u < model.lower - 1e-9).any() or (u > model.upper + 1e-9).any():
            yield 'beyond the limits'
        if self._last is not None:
            before, then = self._last
            allowed = PERIOD + max(0.0, (published - then) * 1e-9)
            if (abs(u - before) > 1.001 * allowed * model.rate_limit + 1e-9).any():
                yield f'faster than allowed in {allowed * 1e3:.2f} ms'
        passed_on = self._proxy.sent.get(stamp)
        if self._late:
            if passed_on is None and published - self._last[1] < AT_ONCE * SECOND:
                self.overtaken += 1
            else:
                yield f'after one that {self._late}'
            self._late = ''
        if passed_on is not None:
            age = (published - passed_on) * 1e-9
            if age > OLDEST:
                self._late = f'answers a state of {age * 1e3:.1f} ms ago'
            else:
                self.ages.append(age)
        elif stamp in self._proxy.bad:
            yield 'answers a state that was spoiled'

    def report(self):
        """Return what was seen of the commands."""
        ages = np.array(self.ages or [0.0]) * 1e3
        return {
            'commands': self.count,
            'age p50, p99, max [ms]': [*np.percentile(ages, [50, 99]).round(3), ages.max()],
            'too old, and followed by the safe command at once': self.overtaken,
            'wrong': len(self.wrong),
            'words': self.wrong[:10],
        }


def main():
    """Obey orders until standard input is closed."""
    choose_transport()
    rclpy.init()
    sys.setswitchinterval(5e-5)
    node = rclpy.create_node('proxy')
    proxy = Proxy(node, int(sys.argv[2]))
    validator = Judge(node, sd.compile_model(sd.load_robot(sys.argv[1])), proxy)
    for thread in (proxy, validator):
        thread.start()
    for line in sys.stdin:
        order = json.loads(line)
        if 'fault' in order:
            answer = proxy.spoil(order['fault'], order['seconds'])
        elif 'anew' in order:
            answer = validator.begin_anew()
        else:
            answer = {**validator.report(), 'states': proxy.passed, 'spoiled': proxy.spoiled}
        print(json.dumps(answer), flush=True)


if __name__ == '__main__':
    main()
