# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Processor time of the control loop's answer to a state, from the decoded message to the command.

    python benchmarks/answers.py                        pcc_arm and ur10e
    python benchmarks/answers.py ur10e --against FOLDER   beside another checkout, in turns

The loop of the controller node runs in one thread, without DDS: it reads and checks the state,
asks the law (`pfbl`) and limits the command. Mean without the slowest 2 %, and median; medians of
both over ``--runs`` new processes, and of the ratios of a turn.
"""

import argparse
import gc
import json
import os
from pathlib import Path
import subprocess
import sys
import time

import numpy as np
from sensor_msgs.msg import JointState
from softrobot_dynamics.configuration import build, declared_parameters
from softrobot_dynamics.configuration.law_settings import settings_of
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.nodes.messaging.inbox import Sent
from softrobot_dynamics.nodes.messaging.message_values import stamped

HERE = Path(__file__).resolve().parents[1]
PERIOD, WARM = 1_000_000, 1000


class Messages:
    """Bring one state after the other, at once."""

    def __init__(self, names, q):
        self._message = JointState(name=list(names), position=list(q), velocity=[0.0] * len(q))

    def wait(self, _):
        """Return the next state."""
        self._message.header.stamp = stamped(now())
        return self._message

    def sent(self):
        """Return when the last one was sent."""
        return Sent(now(), b'robot')

    def rest(self):
        """There is no other thread."""

    wake = rest


class Publisher:
    """Take what the loop sends."""

    def __getattr__(self, name):
        return lambda *_: None


def times(robot, ticks):
    """Return (mean, p50) [us] of an answer."""
    values = {row.name: row.default for row in declared_parameters.controller_rows()}
    values['robot'] = robot
    more = {}

    def declare(rows):
        more.update({row.name: row.default for row in rows})
        return {**values, **more}

    plant = build.controlled(values, declare)
    model = plant.model
    settings = settings_of(plant.controller, model, None, {**values, **more})
    inbox = Messages(model.coordinate_names, model.q0)
    loop = ControlLoop(
        plant, inbox, StateReader(model.coordinate_names), Publisher(),
        Orders(settings, HoldOrder()), period=PERIOD, watchdog=10_000 * PERIOD,
    )  # fmt: skip
    found, clock = np.empty(WARM + ticks), time.thread_time_ns
    gc.disable()
    for k in range(len(found)):
        begin = clock()
        loop._cycle()
        found[k] = clock() - begin
        time.sleep(1e-4)
    gc.enable()
    if loop.statistics.counts['ticks'] < ticks:
        raise SystemExit(f'{robot}: {loop.statistics.counts}')
    found = 1e-3 * np.sort(found[WARM:])
    return found[: int(0.98 * ticks)].mean(), np.median(found)


def run(folder, options):
    """Return the times of all robots (., 2) by a checkout, in a process of its own."""
    files = [str(folder / 'config' / 'robots' / f'{robot}.yaml') for robot in options.robots]
    command = [sys.executable, __file__, *files, '--json', '--ticks', str(options.ticks)]
    done = subprocess.run(
        command, env={**os.environ, 'PYTHONPATH': str(folder)}, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def main():
    """Print a line for each robot."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', default=['pcc_arm', 'ur10e'])
    parser.add_argument('--ticks', type=int, default=5000)
    parser.add_argument('--runs', type=int, default=5, help='processes, of each')
    parser.add_argument('--against', metavar='FOLDER', type=Path, help='checkout to compare with')
    parser.add_argument('--json', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.json:
        print(json.dumps([times(robot, options.ticks) for robot in options.robots]))
        return
    ours, theirs = [], []
    for _ in range(options.runs):
        if options.against:
            theirs.append(run(options.against.resolve(), options))
        ours.append(run(HERE, options))
    ours, theirs = np.array(ours), np.array(theirs)
    for k, robot in enumerate(options.robots):
        mean, middle = np.median(ours[:, k], axis=0)
        line = f'{robot:16s} mean {mean:6.1f} us  p50 {middle:6.1f} us'
        if len(theirs):
            mean, middle = np.median(ours[:, k] / theirs[:, k], axis=0)
            line += f'   ratio: mean {mean:.3f}  p50 {middle:.3f}'
        print(line)


if __name__ == '__main__':
    main()
