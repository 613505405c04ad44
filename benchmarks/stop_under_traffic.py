# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure how fast the controller stops beside messages that no sensible sender would publish.

As `stop_latency.py`, with a further process that publishes (`traffic.py`): states with thousands
of unknown names, trajectories of thousands of points, points for bodies with names of a million
characters, floods. From the call of the emergency stop to the first safe command after it, seen
by a third process over DDS. Processes of the highest priority watch for stalls of the machine
itself (`test/support/witness.py`); the longest one stands beside the times.

    python benchmarks/stop_under_traffic.py                # FIFO
    python benchmarks/stop_under_traffic.py --priority 0   # without
"""

import argparse
import contextlib
import os
from pathlib import Path
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import rclpy
from softrobot_dynamics.loops.realtime import now, PRIORITY, request_priority, without_priority
from softrobot_dynamics.nodes.messaging.transport import choose_transport
from stop_latency import Client, Rig, Watch
from traffic import TRAFFIC

TEST = Path(__file__).parents[1] / 'test'
sys.path.append(str(TEST))  # not a copy: tests need it, too
from support.witness import Witness  # noqa: E402

HEAD = """\
| traffic | stops | first safe command p50, p99, max [ms] | answered [ms] | longest stall [ms] |
| --- | --- | --- | --- | --- |"""


class Simple(Rig):
    """The same with two masses for which nothing has to be compiled."""

    kind = 'setpoint'

    def program(self, name):
        """Return the words that start a node."""
        return str(TEST / 'support' / 'linear_plant.py'), name

    def node(self, name, place, *parameters):
        """Start a node."""
        where = ('reference.setpoint:=[0.5,-0.3]',) if name == 'controller' else ()
        return super().node(name, place, *parameters, *where)


@contextlib.contextmanager
def sending(situation):
    """Have one process send what a situation asks for."""
    if situation == 'nothing':
        yield
        return
    command = [sys.executable, str(Path(__file__).with_name('traffic.py')), situation]
    with without_priority():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        time.sleep(1.0)  # in which it is discovered
        yield
    finally:
        process.kill()
        process.wait()


def stop(client, watch):
    """Return the times [ms] to the first safe command after an emergency stop, and its answer."""
    start = now()
    client.answer(client.act('emergency stop'))
    answered = now()
    client.until(lambda: watch.safe_since(start), 'a safe command')
    safe = watch.safe_since(start)
    client.answer(client.act('release'))
    return (safe - start) * 1e-6, (answered - start) * 1e-6


def measure(rig, client, watch, options, situation):
    """Print the row of a situation."""
    simulation, times = rig.node('simulation', 'first'), []
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: (simulation.kill(), simulation.wait()))
        stack.callback(rig.close)
        rig.prepare()
        with sending(situation), Witness() as witness:
            for i in range(options.samples):
                time.sleep(random.uniform(0.05, 0.25))
                times.append(stop(client, watch))
                words = f'{situation}: {i + 1} of {options.samples}'
                print(f'\r{words} ', end='', file=sys.stderr, flush=True)
    print('\r\033[K', end='', file=sys.stderr)
    safe, answered = (
        ' / '.join(f'{x:.1f}' for x in (*np.percentile(row, [50, 99]), row.max()))
        for row in np.array(times).T
    )
    late = f'{1e3 * witness.late:.1f}'
    print(f'| {situation} | {len(times)} | {safe} | {answered} | {late} |', flush=True)


def main():
    """Run what the command line asks for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--samples', type=int, default=200, help='of each situation')
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    situations = 'nothing', *TRAFFIC
    parser.add_argument('--situation', action='append', choices=situations, help='default: all')
    parser.add_argument('--simple', action='store_true', help='a robot of two masses')
    parser.add_argument('--keep', metavar='FOLDER', help='of logs; default: none')
    options = parser.parse_args()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if refusal := request_priority(options.priority):
        print(refusal, file=sys.stderr)
    sys.setswitchinterval(5e-5)  # [s]: who watches does not wait for who asks
    choose_transport()
    rclpy.init()
    with tempfile.TemporaryDirectory() as name:
        os.environ['ROS_LOG_DIR'] = name
        folder = Path(options.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        print(HEAD, flush=True)
        client = Client()
        watch = Watch(client.node)
        watch.start()
        for situation in options.situation or situations:
            kind = Simple if options.simple else Rig
            rig = kind(client, watch, options.priority, situation, folder)
            measure(rig, client, watch, options, situation)
            client.until_gone()
        os._exit(0)  # whatever the thread that watches waits for


if __name__ == '__main__':
    main()
