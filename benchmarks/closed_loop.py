# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure the closed loop at 1 kHz beside a bare absolute-deadline loop, in turns.

Each run starts, one after the other, (a) a process that does nothing but sleep until the next
millisecond, at the same priority, and (b) the simulated robot and its controller over DDS. Quoted
are medians over the runs; the loop is judged against the machine's own late wake-ups.

    python benchmarks/closed_loop.py --runs 5 --duration 60                # FIFO
    python benchmarks/closed_loop.py --runs 5 --duration 60 --anywhere     # on any processor
    python benchmarks/closed_loop.py --runs 5 --duration 60 --hogs 2       # busy processors
    python benchmarks/closed_loop.py --runs 5 --duration 60 --priority 0   # without FIFO
    python benchmarks/closed_loop.py --runs 7 --duration 10 --against FOLDER   # another checkout
"""

import argparse
import contextlib
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.loops.realtime import (
    keep_awake,
    now,
    PRIORITY,
    request_priority,
    sleep_until,
)

HERE = Path(__file__).resolve().parents[1]
PERIOD = 1_000_000  # [ns]
DRIVEN = 'driven by commands'  # the simulation's mode while they come
SETTLE = 2.0  # [s] left out at the start
HOG = """
import os
parent = os.getppid()
while os.getppid() == parent:  # it does not outlive the benchmark
    sum(range(10000))
"""


def bare_loop(duration, priority):
    """Print, as JSON, how late [us] a loop wakes that only sleeps from deadline to deadline."""
    refused = request_priority(priority)
    if priority:
        keep_awake()
    late = np.empty(round(duration * 1e9) // PERIOD)
    deadline = now() + PERIOD
    for i in range(len(late)):
        sleep_until(deadline)
        woken = now()
        late[i] = (woken - deadline) * 1e-3
        deadline = (woken if woken - deadline > PERIOD else deadline) + PERIOD
    print(
        json.dumps(
            {
                'fifo': refused is None and priority > 0,
                'late_share': float((late > 1000).mean()),
                'max_us': float(late.max()),
            }
        )
    )


def run_bare(options):
    """Return what :func:`bare_loop` prints, run in a process of its own."""
    command = [
        sys.executable,
        __file__,
        '--bare',
        '--duration',
        str(options.duration),
        '--priority',
        str(options.priority),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_loop(options, folder, checkout=HERE):
    """Return the figures of one closed loop of a checkout from the simulation's record."""
    with contextlib.ExitStack() as ends:
        return _run_loop(options, folder, checkout, ends)


def _run_loop(options, folder, checkout, ends):
    """Run the loop and return its figures; things to be closed afterwards go into ``ends``."""
    file = checkout / 'config' / 'robots' / f'{options.robot}.yaml'
    robot = file if file.exists() else options.robot

    def node(name, processor, *parameters):
        arguments = [part for p in parameters for part in ('-p', p)]
        place = [] if options.anywhere else ['--processor', processor]
        log = open(folder / f'{name}.log', 'w')
        process = subprocess.Popen(
            [
                sys.executable,
                '-m',
                f'softrobot_dynamics.nodes.{name}',
                '--priority',
                str(options.priority),
                *place,
                '--ros-args',
                '-p',
                f'robot:={robot}',
                *arguments,
            ],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, 'PYTHONPATH': str(checkout)},
        )
        ends.callback(process.kill)
        return process

    record = folder / 'simulation.mcap'
    record.unlink(missing_ok=True)
    start = time.monotonic()
    simulation = node('simulation', 'first', f'record:={record}')
    controller = node('controller', 'second', 'autostart:=true', *options.parameter)
    _wait_for(folder / 'simulation.log', DRIVEN, simulation, controller)
    started = time.monotonic() - start
    time.sleep(SETTLE)
    waited = -_waited(simulation, controller)
    time.sleep(options.duration)
    waited += _waited(simulation, controller)
    memory = _resident(controller)
    for process in (simulation, controller):  # the simulation first: it still has its commands
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    data = sd.read_recording(record)
    driven = np.flatnonzero(data['mode'] == data.facts['modes'].index(DRIVEN))
    ticks = driven[round(SETTLE * 1e9) // PERIOD :]
    trips, late = data['round_trip'][ticks] * 1e6, data['late'][ticks] * 1e6
    p50, p99 = np.nanpercentile(trips, [50, 99])
    return {
        'p50_us': float(p50),
        'p99_us': float(p99),
        'max_us': float(np.nanmax(trips)),
        'missed_share': float(np.isnan(trips).mean()),
        'ticks': len(ticks),
        'simulation_late_max_us': float(late.max()),
        'waited_ms_per_s': 1e3 * waited / options.duration,
        'controller_mib': memory,
        'start_s': started,
    }


def _waited(*processes):
    """Return how long the threads of processes were ready to run while others ran, in all [s]."""
    files = [f for p in processes for f in Path(f'/proc/{p.pid}/task').glob('*/schedstat')]
    return 1e-9 * sum(int(file.read_text().split()[1]) for file in files)


def _resident(process):
    """Resident memory of a process [MiB]."""
    lines = Path(f'/proc/{process.pid}/status').read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('VmRSS')) / 1024.0


def _wait_for(log, words, *processes, patience=120.0):
    end = time.monotonic() + patience
    while words not in log.read_text():
        if time.monotonic() > end or any(p.poll() is not None for p in processes):
            raise SystemExit(f'the loop did not start, see {log.parent}')
        time.sleep(0.02)


@contextlib.contextmanager
def hogs(count):
    """Keep ``count`` processes busy that compute without end."""
    busy = [subprocess.Popen([sys.executable, '-c', HOG]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main():
    """Run what the command line asks for and print a table row per run and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--duration', type=float, default=60.0, help='of one loop [s]')
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    parser.add_argument('--hogs', type=int, default=0, help='busy processes beside the loop')
    parser.add_argument(
        '--anywhere', action='store_true', help='let the nodes share all processors'
    )
    parser.add_argument('--robot', default='pcc_arm')
    parser.add_argument(
        '--parameter',
        action='append',
        metavar='NAME:=VALUE',
        default=['reference.type:=circle'],
        help='of the controller',
    )
    parser.add_argument('--against', metavar='FOLDER', type=Path, help='checkout to compare with')
    parser.add_argument('--json', metavar='FILE', help='also write the figures of each run')
    parser.add_argument('--bare', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare_loop(options.duration, options.priority)
        return
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    bare, loop, theirs = [], [], []
    with tempfile.TemporaryDirectory() as name, hogs(options.hogs):
        os.environ['ROS_LOG_DIR'] = name
        for run in range(options.runs):
            bare.append(run_bare(options))
            sides = [(loop, HERE)]
            if options.against:  # alternately the one and the other first: the machine drifts
                sides.insert(run % 2, (theirs, options.against.resolve()))
            for figures, checkout in sides:
                figures.append(run_loop(options, Path(name), checkout))
                print(f'run {run + 1}: {checkout}: {figures[-1]}', flush=True)
            print(f'run {run + 1}: bare {bare[-1]}', flush=True)

    if options.json:
        Path(options.json).write_text(json.dumps({'bare': bare, 'loop': loop}))

    def median(rows, key):
        return float(np.median([row[key] for row in rows]))

    print(
        f'median of {options.runs} runs of {options.duration:g} s, FIFO {bare[0]["fifo"]}, '
        f'{options.hogs} hogs, anywhere {options.anywhere}: '
        f'round trip p50 {median(loop, "p50_us"):.0f} us, '
        f'p99 {median(loop, "p99_us"):.0f} us, max {median(loop, "max_us"):.0f} us; missed '
        f'{100 * median(loop, "missed_share"):.3f} %; bare loop late by more than 1 ms '
        f'{100 * median(bare, "late_share"):.3f} %, allowed '
        f'{100 * (2 * median(bare, "late_share") + 0.003):.3f} %; '
        f'waited for a processor {median(loop, "waited_ms_per_s"):.0f} ms per s; '
        f'controller {median(loop, "controller_mib"):.0f} MiB, '
        f'loop closed after {median(loop, "start_s"):.2f} s'
    )
    if theirs:
        keys = 'p50_us', 'p99_us'
        ratios = [np.median([a[k] / b[k] for a, b in zip(loop, theirs)]) for k in keys]
        print('round trip beside {}, ratio by turns: p50 {:.3f}, p99 {:.3f}; missed there {:.3f} %'
              .format(options.against, *ratios, 100 * median(theirs, 'missed_share')))  # fmt: skip


if __name__ == '__main__':
    main()
