# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Torment the closed loop at 1 kHz with random faults, and account for every one of them.

Simulation and controller are two processes over DDS; a third stands between them, spoils states
and looks at every command (`soak_proxy.py`); this one kills, stops, asks and tells. Each fault has
to be found in a counter of a node, in its log or in its answer, and the loop has to be closed
again after it. No command may be without numbers, beyond limits or rates, or answer a state older
than the time-out; no process may end otherwise than it should; the records say the same.

    python benchmarks/soak.py --minutes 10 --seed 1

Equal seeds, equal faults. The exit status is 1 if anything was wrong.
"""

import argparse
from collections import defaultdict
import os
from pathlib import Path
import random
import signal
import sys
import tempfile
import time

import numpy as np
import rclpy
from soak_faults import COUNTED, Faults
from soak_loop import Loop, ROBOT, Unaccounted
from soak_proxy import PERIOD
import softrobot_dynamics as sd
from softrobot_dynamics.loops.realtime import PRIORITY
from softrobot_dynamics.nodes.messaging.transport import choose_transport

START = 300.0  # [s] in which all is compiled


def torment(loop, options, begin, rows, wrong):
    """Let one fault follow the other for as long as asked; fill in rows {name: [recovery, s]}."""
    rng = random.Random(options.seed)
    faults = Faults(loop, rng)
    names = [*COUNTED, *(n for n in vars(Faults) if not n.startswith('_') and n != 'spoil')]
    while (passed := time.monotonic() - begin) < 60.0 * options.minutes:
        if not options.quiet:
            words = f'{passed:.0f} of {60 * options.minutes:.0f} s'
            count = sum(map(len, rows.values()))
            print(f'\r{words}, {count} faults, {len(wrong)} wrong', end='', file=sys.stderr)
        name = rng.choice(names)
        started = time.monotonic()
        try:
            faults.spoil(name) if name in COUNTED else getattr(faults, name)()
            loop.closed()
        except Unaccounted as error:
            wrong.append(f'after {passed:.1f} s, {name}: {error}')
            print(f'\n{wrong[-1]}', file=sys.stderr, flush=True)
            if loop.broken():
                return
        rows[name].append(time.monotonic() - started)


def look_into(records, model):
    """Return how many ticks the records of the controllers hold, and what is wrong with them."""
    ticks, wrong = 0, []
    for path in records:
        data = sd.read_recording(path)
        if not len(data):
            continue
        ticks += len(data)
        u, before = data['u'], data['u_before']
        if not np.isfinite(u).all() or not np.isfinite(data['q']).all():
            wrong.append(f'{path.name}: no numbers')
        if (u < model.lower - 1e-9).any() or (u > model.upper + 1e-9).any():
            wrong.append(f'{path.name}: beyond the limits')
        # from the last command sent, of the law or the safe one; the proxy checks those in between
        steps = np.abs(u - np.where(np.isnan(before), u, before))
        if (steps > 1.001 * PERIOD * model.rate_limit + 1e-9).any():
            wrong.append(f'{path.name}: faster than allowed')
    return ticks, wrong


def run(options, folder):
    """Return the exit status of a run."""
    loop, rows, wrong = Loop(folder, options), defaultdict(list), []
    report = {'words': []}
    try:
        for name in ('simulation', 'controller'):
            loop.start(name)
        loop.closed(START)
        torment(loop, options, time.monotonic(), rows, wrong)
        report = loop.order(report=True)
        for name in list(loop.processes):
            loop.end(name, signal.SIGTERM)
    except Unaccounted as error:
        wrong.append(str(error))
    finally:
        loop.close()
    print('\r\033[K', end='', file=sys.stderr)
    wrong += report.pop('words')
    ticks, more = look_into(
        sorted(folder.glob('controller*.mcap')), sd.compile_model(sd.load_robot(ROBOT))
    )
    wrong += more + loop.tracebacks()
    show(rows, {**report, 'ticks in the records': ticks}, wrong)
    return 1 if wrong else 0


def show(rows, report, wrong):
    """Print the table, what was seen, and what was wrong."""
    print('| fault | times | accounted for, and the loop closed again, within [s] |')
    print('| --- | --- | --- |')
    for name in sorted(rows):
        print(f'| {name.replace("_", " ")} | {len(rows[name])} | {max(rows[name]):.1f} |')
    print(f'\n{sum(map(len, rows.values()))} faults;', end=' ')
    print('; '.join(f'{name}: {value}' for name, value in report.items()))
    print(f'wrong: {len(wrong)}', *wrong, sep='\n  ')


def main():
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    parser.add_argument('--quiet', action='store_true', help='show no progress')
    parser.add_argument('--keep', metavar='FOLDER', help='of logs and records; default: none')
    options = parser.parse_args()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    choose_transport()
    rclpy.init()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(options.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ['ROS_LOG_DIR'] = name
        sys.exit(run(options, folder))


if __name__ == '__main__':
    main()
