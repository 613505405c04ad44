# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time from the start of simulation and controller until their loop is closed, and what it holds.

Each start is of two new processes, over DDS: with a full kernel cache, where the reference is to
hold and where a circle is planned, and with an empty one.

    python benchmarks/start.py
    python benchmarks/start.py --robot trimmed_helicoid --starts 10 --cold 1
"""

import argparse
import os
from pathlib import Path
import tempfile
from unittest.mock import patch

from closed_loop import run_loop
import numpy as np
from softrobot_dynamics.loops.realtime import PRIORITY


def start(options, reference, folder):
    """Return the time [s] until the loop was closed and the memory [MiB] of the controller."""
    own = {'duration': 0.5, 'anywhere': False, 'parameter': [f'reference.type:={reference}']}
    found = run_loop(argparse.Namespace(**vars(options), **own), folder)
    return found['start_s'], found['controller_mib']


def row(options, cache, reference, folder):
    """Return a row of the table: starts one after the other."""
    found = []
    for _ in range(options.cold if cache == 'empty' else options.starts):
        with tempfile.TemporaryDirectory() as empty:
            changed = {'SOFTROBOT_CACHE_DIR': empty} if cache == 'empty' else {}
            with patch.dict(os.environ, changed):
                found.append(start(options, reference, folder))
    times, memory = np.array(found).T
    spread = f'{np.median(times):.2f} ({times.min():.2f}–{times.max():.2f})'
    return f'| {cache} | {reference} | {len(times)} | {spread} | {np.median(memory):.0f} |'


def main():
    """Run what the command line asks for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='pcc_arm')
    parser.add_argument('--starts', type=int, default=5, help='with a full cache')
    parser.add_argument('--cold', type=int, default=3, help='starts with an empty cache')
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    options = parser.parse_args()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    print('| kernel cache | reference | starts | loop closed after [s] | controller [MiB] |')
    print('| --- | --- | --- | --- | --- |')
    with tempfile.TemporaryDirectory() as name:
        os.environ['ROS_LOG_DIR'] = name
        start(options, 'circle', Path(name))  # fills the cache
        for cache, reference in (('full', 'hold'), ('full', 'circle'), ('empty', 'circle')):
            print(row(options, cache, reference, Path(name)), flush=True)


if __name__ == '__main__':
    main()
