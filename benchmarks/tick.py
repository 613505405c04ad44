# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time of a tick of the control law, with the share of the next linearisation that each tick does.

    python benchmarks/tick.py                        all shipped robots
    python benchmarks/tick.py pcc_arm --ticks 5000
    python benchmarks/tick.py --against FOLDER       beside another checkout of this repository
    python benchmarks/tick.py --simulator            steps of 1 ms of the simulator instead
    python benchmarks/tick.py --prebuilt FOLDER      kernels of `softrobot compile --shared FOLDER`
                                                     beside those compiled for this processor

One thread; the mean without the slowest 2 % (the machine's own), and quantiles, medians over
``--runs`` new processes. ``FOLDER`` is measured in turns, and the ratios are formed turn by turn.
"""

import argparse
import gc
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization

HERE = Path(__file__).resolve().parents[1]
PERIOD, WARM = 1e-3, 500


def times(name, ticks, simulator):
    """
    Return mean, p50 and p99 [us] of a tick of a robot that stands near its initial posture.

    With ``simulator`` of a step of the simulated robot without commands, from there on.
    """
    model = sd.compile_model(sd.load_robot(name))
    q, qd = model.q0 + 1e-3, np.zeros(model.n)
    if simulator:
        plant, u = sd.Simulator(model, q=q), np.zeros(model.m)
    else:
        made = PartialFeedbackLinearization(model, period=PERIOD)
        made.start(q, qd, 0.0)
    found = np.empty(WARM + ticks)
    gc.disable()
    for k in range(len(found)):
        begin = time.perf_counter()
        if simulator:
            plant.step(u, PERIOD)
        else:
            made.compute(0.0, q, qd)
        found[k] = time.perf_counter() - begin
    gc.enable()
    found = 1e6 * np.sort(found[WARM:])
    return found[: int(0.98 * ticks)].mean(), *np.quantile(found, [0.5, 0.99])


def run(folder, options, kernels=None):
    """Return the times of all robots (., 3) by a checkout, in a process of its own."""
    files = [str(folder / 'config' / 'robots' / f'{name}.yaml') for name in options.robots]
    command = [sys.executable, __file__, *files, '--json', '--ticks', str(options.ticks)]
    command += ['--simulator'] * options.simulator
    surroundings = {**os.environ, 'PYTHONPATH': str(folder)}
    with tempfile.TemporaryDirectory() as empty:
        if kernels is not None:
            command += ['--kernels', str(kernels)]
            surroundings['SOFTROBOT_CACHE_DIR'] = empty
        elif options.prebuilt is not None:
            surroundings['SOFTROBOT_PREBUILT'] = '0'
        done = subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    """Print a line for each robot."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    robots = sorted(path.stem for path in (HERE / 'config' / 'robots').glob('*.yaml'))
    parser.add_argument('robots', nargs='*', default=robots)
    parser.add_argument('--ticks', type=int, default=3000)
    parser.add_argument('--runs', type=int, default=5, help='processes, of each')
    parser.add_argument('--against', metavar='FOLDER', type=Path, help='checkout to compare with')
    parser.add_argument('--prebuilt', metavar='FOLDER', type=Path, help='kernels for a level')
    parser.add_argument('--simulator', action='store_true', help='steps of a simulated robot')
    parser.add_argument('--kernels', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--json', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kernels is not None:
        from softrobot_dynamics.compiling import prebuilt

        prebuilt.FOLDER = options.kernels
    if options.json:
        print(
            json.dumps([times(name, options.ticks, options.simulator) for name in options.robots])
        )
        return
    ways = [(HERE, options)]
    if options.against is not None:
        ways.append((options.against.resolve(), options))
    if options.prebuilt is not None:
        ways.insert(0, (HERE, options, options.prebuilt.resolve()))
    found = np.array([[run(*way) for way in ways] for _ in range(options.runs)])
    for i, name in enumerate(options.robots):
        mean, p50, p99 = np.median(found[:, 0, i], axis=0)
        line = f'{name:20s} mean {mean:6.1f}  p50 {p50:6.1f}  p99 {p99:6.1f} us'
        if len(ways) > 1:
            ratios = found[:, 0, i] / found[:, 1, i]
            middle, least, most = (f(ratios[:, 0]) for f in (np.median, np.min, np.max))
            line += f'  mean {middle:.2f} ({least:.2f}-{most:.2f}) of the other'
            line += f', p50 {np.median(ratios[:, 1]):.2f}'
        print(line, flush=True)


if __name__ == '__main__':
    main()
