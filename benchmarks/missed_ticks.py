# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compare the missed ticks of the closed loop with those of a bare pair of processes, in short turns.

A busy machine changes from second to second, so runs one after the other cannot be compared. Here
simulation and controller run all the time, and are stopped (SIGSTOP) while the bare pair of
`bare_pair.py` has its turn. Both have FIFO priority and compute about as long. Several laws take
turns likewise, each with a simulation of its own.

    python benchmarks/missed_ticks.py --turns 20               # beside whatever else runs
    python benchmarks/missed_ticks.py --turns 20 --load 4      # beside processes that start
    python benchmarks/missed_ticks.py --turns 20 --priority 0  # without FIFO
    python benchmarks/missed_ticks.py --turns 20 --laws pfbl task
"""

import argparse
import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

from bare_pair import run as bare_pair
from closed_loop import _wait_for, DRIVEN
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.loops.realtime import PRIORITY

SETTLE = 1.0  # [s] left out after the nodes were let go on
LOAD = """
import os, subprocess, sys, tempfile
parent = os.getppid()
while os.getppid() == parent:  # it does not outlive the benchmark
    subprocess.run([sys.executable, '-c', 'import asyncio, json, sqlite3'])
    with tempfile.TemporaryFile() as file:
        file.write(bytes(10_000_000))
        os.fsync(file.fileno())
"""
COUNTED = {  # of a thread: [line of its status or place in its stat]
    'taken off the processor': 'nonvoluntary_ctxt_switches',
    'gave it up': 'voluntary_ctxt_switches',
}
_FAULTS = 7  # place of the minor page faults in /proc/*/stat, after the name


def main():
    """Print the shares of missed ticks turn by turn, their means, and what the threads did."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--turns', type=int, default=10)
    parser.add_argument('--seconds', type=float, default=3.0, help='of each of the two in a turn')
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    parser.add_argument(
        '--load', type=int, default=0, help='processes that start others and write'
    )
    parser.add_argument(
        '--compute', type=int, default=150, help='of each process of the pair [us]'
    )
    parser.add_argument('--spread', action='store_true', help='each of the pair on a processor')
    parser.add_argument('--processors', nargs=2, default=['own', 'own'], help='of the two nodes')
    parser.add_argument('--robot', default='pcc_arm')
    parser.add_argument('--laws', nargs='+', default=['pfbl'], help='that take turns')
    options = parser.parse_args()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ends:
        os.environ['ROS_LOG_DIR'] = name
        loops = {law: _start_loop(law, Path(name), options, ends) for law in options.laws}
        for _ in range(options.load):
            load = subprocess.Popen([sys.executable, '-c', LOAD])
            ends.callback(load.kill)
        pair, windows, threads = _take_turns(loops, options)
        for node in (node for nodes in loops.values() for node in nodes):
            node.send_signal(signal.SIGCONT)
            node.send_signal(signal.SIGTERM)  # the simulation first: it still has its commands
            node.wait(60)
        for law in options.laws:
            record = sd.read_recording(Path(name) / law / 'simulation.mcap')
            _report(law, record, windows[law], pair, threads[law], options)


def _start_loop(law, folder, options, ends):
    """Return (simulation, controller), in a name space of their own, once they are closed."""
    own = folder / law
    own.mkdir()
    nodes = [
        _start(each, processor, law, options, own, ends)
        for each, processor in zip(('simulation', 'controller'), options.processors)
    ]
    _wait_for(own / 'simulation.log', DRIVEN, *nodes, patience=600.0)
    for node in nodes if len(options.laws) > 1 else ():
        node.send_signal(signal.SIGSTOP)  # as the next one starts
    return nodes


def _start(name, processor, law, options, folder, ends):
    parameters = {
        'simulation': [f'record:={folder / "simulation.mcap"}'],
        'controller': ['autostart:=true', 'reference.type:=hold', f'controller:={law}'],
    }[name]
    command = [sys.executable, '-m', f'softrobot_dynamics.nodes.{name}']
    command += ['--priority', str(options.priority), '--processor', processor, '--ros-args']
    command += ['-r', f'__ns:=/{law}']
    for each in (f'robot:={options.robot}', *parameters):
        command += ['-p', each]
    with open(folder / f'{name}.log', 'w') as log:
        node = subprocess.Popen(command, stdout=log, stderr=log)
    ends.callback(node.kill)
    return node


def _take_turns(loops, options):
    """Return the missed shares of the pair; windows [ns] and threads' counts of each loop."""
    pair, windows, threads = [], {law: [] for law in loops}, {law: {} for law in loops}
    options.duration = options.seconds
    for turn in range(options.turns):
        for nodes in loops.values():
            _stop(nodes)
        pair.append(bare_pair(options.compute * 1000, options))
        for law in list(loops)[:: 1 if turn % 2 else -1]:  # none is always the first
            windows[law].append(_run_loop(loops[law], threads[law], options.seconds))
            if len(loops) > 1:
                _stop(loops[law])
    return pair, windows, threads


def _stop(nodes):
    for node in nodes:
        node.send_signal(signal.SIGSTOP)


def _run_loop(nodes, threads, seconds):
    """Let a loop go on for a time; return its window [ns], and add its threads' counts."""
    for node in reversed(nodes):
        node.send_signal(signal.SIGCONT)
    time.sleep(SETTLE)
    before = _counts(nodes)
    begin = time.time_ns()
    time.sleep(seconds)
    window = begin, time.time_ns()
    for thread, counts in _counts(nodes).items():
        if thread in before:
            was = threads.setdefault(thread, dict.fromkeys(counts, 0))
            for name, value in counts.items():
                was[name] += value - before[thread][name]
    return window


def _counts(nodes):
    """Return {(node, thread): {what is counted: number so far}}; times in ns."""
    found = {}
    for name, node in zip(('simulation', 'controller'), nodes):
        for task in Path(f'/proc/{node.pid}/task').iterdir():
            with contextlib.suppress(OSError):
                status = dict(
                    line.split(':', 1) for line in (task / 'status').read_text().splitlines()
                )
                counts = {words: int(status[key]) for words, key in COUNTED.items()}
                stat = (task / 'stat').read_text().rpartition(')')[2].split()
                ran, waited, _ = map(int, (task / 'schedstat').read_text().split())
                counts |= {'page faults': int(stat[_FAULTS]), 'ran': ran, 'waited': waited}
                found[name, (task / 'comm').read_text().strip(), task.name] = counts
    return found


def _report(law, record, windows, pair, threads, options):
    times, trips, late = (record[name] for name in ('log_time', 'round_trip', 'late'))
    shares, ticks = [], []
    for begin, end in windows:
        inside = np.flatnonzero((times >= begin) & (times < end))
        ticks.append(inside)
        shares.append(np.isnan(trips[inside]).mean())
    for bare, loop in zip(pair, shares):
        print(f'bare pair {100 * bare:6.3f} %, {law} {100 * loop:6.3f} %')
    inside = np.concatenate(ticks)
    missed, behind = np.isnan(trips[inside]), late[inside - 1] > 0.3e-3
    p50, p99 = np.nanpercentile(trips[inside] * 1e6, [50, 99])
    bare, loop = 100 * np.mean(pair), 100 * missed.mean()
    print(
        f'{law}: {options.turns} turns of {options.seconds:g} s, priority {options.priority}, '
        f'load {options.load} + {os.getloadavg()[0]:.0f}: bare pair {bare:.3f} % (median '
        f'{100 * np.median(pair):.3f}), loop {loop:.3f} % (median {100 * np.median(shares):.3f}), '
        f'allowed {2 * bare + 0.3:.3f} %; round trip p50 {p50:.0f} us, p99 {p99:.0f} us; '
        f'{100 * missed[behind].sum() / max(1, missed.sum()):.0f} % of the missed ticks after a '
        f'state that was more than 0.3 ms late ({100 * behind.mean():.2f} % of all were)'
    )
    seconds = options.turns * options.seconds
    for (name, words, number), counts in threads.items():
        if counts['ran'] > 1e-3 * seconds * 1e9:
            numbers = ', '.join(
                f'{what} {value / seconds * (1e-6 if what in ("ran", "waited") else 1):.3g}'
                for what, value in counts.items()
            )
            print(f'{name} {words} {number}: in each second (times in ms) {numbers}')


if __name__ == '__main__':
    main()
