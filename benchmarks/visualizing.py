# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Missed ticks with the visualizer: the loop with and without it, in turns.

    python benchmarks/visualizing.py --runs 5 --duration 10

pcc_arm at 1 kHz goes round a circle. With the visualizer, somebody also hears its markers.
"""

import argparse
import contextlib
import os
from pathlib import Path
import subprocess
import sys
import tempfile
from types import SimpleNamespace

from closed_loop import run_loop
import numpy as np
from softrobot_dynamics.loops.realtime import PRIORITY

KINDS = 'alone', 'shown'


def hear():
    """Take in markers until the process is ended, as a viewer does; say how many came."""
    import rclpy
    from visualization_msgs.msg import MarkerArray

    rclpy.init()
    node = rclpy.create_node('viewer')
    node.create_subscription(MarkerArray, 'visualizer/markers', lambda _: None, 1, raw=True)
    rclpy.spin(node)


@contextlib.contextmanager
def shown():
    """Within this context the visualizer runs, and somebody hears it."""
    node = '-m', 'softrobot_dynamics.nodes.visualizer', '--ros-args', '-p', 'robot:=pcc_arm'
    commands = node, (__file__, '--hear')
    processes = [subprocess.Popen([sys.executable, *command]) for command in commands]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main():
    """Print a line for each run, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--duration', type=float, default=10.0, help='[s]')
    parser.add_argument('--hear', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hear:
        hear()
        return
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    given = {'duration': options.duration, 'priority': PRIORITY, 'anywhere': False}
    run = SimpleNamespace(**given, robot='pcc_arm', parameter=['reference.type:=circle'])
    found = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as name:
        os.environ['ROS_LOG_DIR'] = name
        for _ in range(options.runs):
            for kind, rows in found.items():
                with shown() if kind == 'shown' else contextlib.nullcontext():
                    rows.append(run_loop(run, Path(name)))
                print(kind, rows[-1], flush=True)
    for kind, rows in found.items():
        median = {key: float(np.median([row[key] for row in rows])) for key in rows[0]}
        shares = ' '.join(f'{100.0 * row["missed_share"]:.2f}' for row in rows)
        print(
            f'{kind}: round trip p50 {median["p50_us"]:.0f} us, p99 {median["p99_us"]:.0f} us;'
            f' missed {100.0 * median["missed_share"]:.3f} % (each run: {shares})'
        )


if __name__ == '__main__':
    main()
