# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compare the wait set of the nodes' own with the executors of rclpy, in the same closed loop.

One process publishes states of nine joints at 1 kHz, as the simulation does. The other computes
for 100 us and answers each, by a wait set in a thread of its own (as the nodes), by rclpy's
EventsExecutor, or by its SingleThreadedExecutor. All read and write the bytes of messages alike,
at the priority of the nodes and on the processors of two nodes.

    python benchmarks/executors.py --runs 6             # in turns, a processor each
    python benchmarks/executors.py --runs 6 --shared    # both on one processor
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.realtime import now, sleep_until
from softrobot_dynamics.nodes.messaging.codec import Decoder, Encoder
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.transport import choose_transport

KINDS = {'wait set': None, 'events': EventsExecutor, 'single': SingleThreadedExecutor}
PERIOD, COMPUTE = 1_000_000, 100_000  # [ns]
SETTLE = 1.0  # [s] left out at the beginning
PATIENCE = 60.0  # [s] for the other process
NEWEST = QoSProfile(depth=1)


def message():
    """Return a JointState of nine joints."""
    zeros = [0.0] * 9
    names = [f'joint_{k}' for k in range(9)]
    return JointState(name=names, position=zeros, velocity=zeros, effort=zeros)


def begin(name, priority, processor):
    """Return a node in a process that has priority as the nodes have it."""
    realtime.request_priority(priority, processor)
    if priority:
        realtime.keep_awake()
    choose_transport()
    with realtime.without_priority():
        rclpy.init()
        sys.setswitchinterval(realtime.SWITCH_INTERVAL)
        node = rclpy.create_node(name)
    return node


def compute():
    """Use the processor for as long as a tick of a law and its checks."""
    end = time.thread_time_ns() + COMPUTE
    while time.thread_time_ns() < end:
        pass


class Answers:
    """Publishes an answer to each state, which has the number of that state as its stamp."""

    def __init__(self, node):
        self._publisher = node.create_publisher(JointState, 'commands', NEWEST)
        self._message = message()
        self._encode = Encoder(self._message).encode
        self._decode = Decoder(JointState).decode

    def raw(self, data):
        """Answer the bytes of a state."""
        self.to(self._decode(data))

    def to(self, state):
        """Answer a state."""
        stamp = self._message.header.stamp
        stamp.sec, stamp.nanosec = state.header.stamp.sec, state.header.stamp.nanosec
        compute()
        self._publisher.publish(self._encode())


def answer(kind, priority, processor):
    """Answer until the other process closes our input; print how long this one has computed."""
    node, over = begin('answering', priority, processor), threading.Event()
    with realtime.without_priority():
        answers = Answers(node)
        if kind == 'wait set':
            inbox = Inbox(node, JointState, 'states', NEWEST)
            serve = functools.partial(_serve_inbox, inbox, answers, over)
        else:
            node.create_subscription(JointState, 'states', answers.raw, NEWEST, raw=True)
            executor = KINDS[kind]()
            executor.add_node(node)
            serve = functools.partial(_serve_executor, executor, over)
    realtime.prioritise_dds_threads()
    thread = threading.Thread(target=serve)
    thread.start()
    print('ready', flush=True)
    sys.stdin.readline()
    used, began = time.process_time(), now()
    sys.stdin.readline()
    share = (time.process_time() - used) / (1e-9 * (now() - began))
    over.set()
    thread.join()
    print(json.dumps(share), flush=True)
    os._exit(0)  # what an executor still waits for is no matter


def _serve_inbox(inbox, answers, over):
    realtime.apply_priority()
    while not over.is_set():
        if (state := inbox.wait(100_000_000)) is not None:
            answers.to(state)


def _serve_executor(executor, over):
    realtime.apply_priority()
    while not over.is_set():  # spin() of an EventsExecutor ignores signals
        executor.spin_once(timeout_sec=0.1)


def drive(kind, options):
    """Return round trips [ns], 0 for a missed tick, and the processor time of the other [s/s]."""
    first, second = realtime.two_processors()
    if options.shared:
        second = first
    command = [sys.executable, __file__, '--answer', kind, '--priority', str(options.priority)]
    command += [] if second is None else ['--processor', str(second)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        node = begin('driving', options.priority, first)
        with realtime.without_priority():
            publisher = node.create_publisher(JointState, 'states', NEWEST)
            inbox = Inbox(node, JointState, 'commands', NEWEST)
        realtime.prioritise_dds_threads()
        found = []
        thread = threading.Thread(
            target=lambda: found.append(_drive(publisher, inbox, other, options.duration))
        )
        if other.stdout.readline() != 'ready\n':
            raise SystemExit(f'the process of {kind} did not start')
        thread.start()
        thread.join()
        share = json.loads(other.stdout.readline())
    finally:
        other.kill()
    return found[0], share


def _drive(publisher, inbox, other, duration):
    realtime.apply_priority()
    state = message()
    encode, stamp = Encoder(state).encode, state.header.stamp
    _meet(publisher, inbox, encode)
    trips, first = [], round(SETTLE * 1e9 / PERIOD)
    deadline = now() + PERIOD
    for k in range(first + round(duration * 1e9 / PERIOD)):
        if k == first:
            _tell(other)
        sleep_until(deadline)
        deadline = max(deadline, now() - PERIOD) + PERIOD
        stamp.sec, stamp.nanosec, sent = 1, k, now()
        publisher.publish(encode())
        trip = 0
        while not trip and (left := deadline - now()) > 0:
            reply = inbox.wait(left)
            if reply is not None and reply.header.stamp.nanosec == k:
                trip = now() - sent
        trips.append(trip)
    _tell(other)
    return trips[first:]


def _meet(publisher, inbox, encode):
    """Publish until somebody answers."""
    end = now() + round(PATIENCE * 1e9)
    while inbox.wait(50_000_000) is None:
        publisher.publish(encode())
        if now() > end:
            raise SystemExit('nobody answers')


def _tell(process):
    process.stdin.write('\n')
    process.stdin.flush()


def main():
    """Print round trips, missed ticks and processor time of each kind, medians of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=6)
    parser.add_argument('--duration', type=float, default=10.0, help='of one run [s]')
    parser.add_argument('--priority', type=int, default=realtime.PRIORITY, help='FIFO, 0: none')
    parser.add_argument('--shared', action='store_true', help='both on one processor')
    parser.add_argument('--answer', choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument('--drive', choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument('--processor', type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if options.answer:
        answer(options.answer, options.priority, options.processor)
    elif options.drive:
        print(json.dumps(drive(options.drive, options)))
        sys.stdout.flush()
        os._exit(0)
    else:
        compare(options)


def compare(options):
    """Run all kinds in turns, each with new processes."""
    found = {kind: [] for kind in KINDS}
    common = ['--duration', str(options.duration), '--priority', str(options.priority)]
    common += ['--shared'] * options.shared
    for run in range(options.runs):
        order = list(KINDS) if run % 2 == 0 else list(reversed(KINDS))
        for kind in order:
            command = [sys.executable, __file__, '--drive', kind, *common]
            said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
            trips, share = json.loads(said.splitlines()[-1])
            trips = np.array(trips)
            p50, p99 = np.percentile(1e-3 * trips[trips > 0], [50, 99])
            found[kind].append((p50, p99, 100 * np.mean(trips == 0), 1e3 * share))
    print('kind: round trip p50, p99 [us], missed [%], processor time [ms/s]; median (range)')
    for kind, rows in found.items():
        columns = [
            f'{np.median(each):.3g} ({min(each):.3g} to {max(each):.3g})' for each in zip(*rows)
        ]
        print(f'{kind}: {", ".join(columns)}')


if __name__ == '__main__':
    main()
