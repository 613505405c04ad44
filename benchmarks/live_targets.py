# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Missed ticks with live targets for a tip: the loop with and without them, in turns.

    python benchmarks/live_targets.py --runs 3 --duration 20 --rate 100

pcc_arm at 1 kHz goes round a circle of 10 cm in 5 s: by a reference of that kind in one run, by
points on ~/target from a process of their own, at ``--rate`` [Hz], in the next; then round one of
5 cm with an upright tip, by poses on ~/target_pose.
"""

import argparse
import contextlib
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

from closed_loop import run_loop
import numpy as np
from softrobot_dynamics.loops.realtime import PRIORITY

CENTER, PERIOD = (0.0, 0.0, 0.57), 5.0  # [m], [s]
RADII = {'points': 0.1, 'poses': 0.05}  # [m]


def stream(kind, rate):
    """Publish points or poses until the process is ended."""
    from geometry_msgs.msg import PointStamped, PoseStamped
    import rclpy

    message = PointStamped() if kind == 'points' else PoseStamped()
    topic = 'target' if kind == 'points' else 'target_pose'
    point = message.point if kind == 'points' else message.pose.position
    rclpy.init()
    node = rclpy.create_node('points')
    publisher = node.create_publisher(type(message), f'controller/{topic}', 1)
    began = time.monotonic()
    for k in range(10**9):
        angle = 2.0 * np.pi * k / rate / PERIOD
        point.x = CENTER[0] + RADII[kind] * np.cos(angle)
        point.y = CENTER[1] + RADII[kind] * np.sin(angle)
        point.z = CENTER[2]
        publisher.publish(message)
        time.sleep(max(0.0, began + k / rate - time.monotonic()))


@contextlib.contextmanager
def streaming(kind, rate):
    """Within this context another process publishes."""
    process = subprocess.Popen([sys.executable, __file__, '--stream', kind, '--rate', str(rate)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def main():
    """Print a line for each run, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--duration', type=float, default=20.0, help='[s]')
    parser.add_argument('--rate', type=float, default=100.0, help='of the points [Hz]')
    parser.add_argument('--stream', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stream:
        stream(options.stream, options.rate)
        return
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    given = {'duration': options.duration, 'priority': PRIORITY, 'anywhere': False}
    found = {'circle': [], 'points': [], 'poses': []}
    with tempfile.TemporaryDirectory() as name:
        os.environ['ROS_LOG_DIR'] = name
        for _ in range(options.runs):
            for kind, rows in found.items():
                parameter = ['reference.type:=circle'] if kind == 'circle' else []
                run = SimpleNamespace(**given, robot='pcc_arm', parameter=parameter)
                live = kind in RADII
                with streaming(kind, options.rate) if live else contextlib.nullcontext():
                    rows.append(run_loop(run, Path(name)))
                print(kind, rows[-1], flush=True)
    for kind, rows in found.items():
        median = {key: float(np.median([row[key] for row in rows])) for key in rows[0]}
        print(
            f'{kind}: round trip p50 {median["p50_us"]:.0f} us, p99 {median["p99_us"]:.0f} us,'
            f' max {median["max_us"]:.0f} us; missed {100.0 * median["missed_share"]:.3f} %'
        )


if __name__ == '__main__':
    main()
