# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time of a start with a full kernel cache: import, model, law, and the first call.

    python benchmarks/warm_start.py                    pcc_arm
    python benchmarks/warm_start.py ur10e --starts 9
    python benchmarks/warm_start.py --against FOLDER   beside another checkout of this repository

Each start is a new process; checkouts take turns. The first ones, which may compile, are not
counted. With the right to it processes have FIFO priority, so that others on the machine do not
count. Pinocchio's derivatives of the UR10e, if it is installed, tell how fast the machine is.
"""

import argparse
import contextlib
import json
import os
from pathlib import Path
import subprocess
import sys

import numpy as np

HERE = Path(__file__).resolve().parents[1]
PRIORITY = 40
START = """
import json, sys, time
begin = time.perf_counter()
sys.path.insert(0, sys.argv[1])
import softrobot_dynamics as sd
moments = [time.perf_counter()]
model = sd.compile_model(sd.load_robot(sys.argv[2]))
moments.append(time.perf_counter())
import numpy as np
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
law = PartialFeedbackLinearization(model, period=1e-3)
moments.append(time.perf_counter())
law.start(model.q0, np.zeros(model.n), 0.0)
law.compute(0.0, model.q0, np.zeros(model.n))
moments.append(time.perf_counter())
print(json.dumps([b - a for a, b in zip([begin, *moments], moments)]))
"""
PINOCCHIO = """
import time
import numpy as np, pinocchio
model = pinocchio.buildSampleModelManipulator()
data, q = model.createData(), pinocchio.neutral(model)
v, times = np.zeros(model.nv), []
for _ in range(3000):
    begin = time.perf_counter()
    pinocchio.computeRNEADerivatives(model, data, q, v, v)
    times.append(time.perf_counter() - begin)
print(1e6 * sorted(times)[1500])
"""


def run(code, *arguments):
    """Return what a new process prints, None if it fails."""

    def first():
        with contextlib.suppress(AttributeError, OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))

    command = [sys.executable, '-c', code, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          preexec_fn=first)  # fmt: skip
    return None if done.returncode else json.loads(done.stdout)


def main():
    """Print the medians of the starts, and the ratio turn by turn."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robot', nargs='?', default='pcc_arm')
    parser.add_argument('--starts', type=int, default=7)
    parser.add_argument('--against', type=Path, help='folder of another checkout')
    options = parser.parse_args()
    folders = [HERE, *([options.against.resolve()] if options.against else [])]
    os.environ.pop('PYTHONDONTWRITEBYTECODE', None)  # as where it is installed
    found = {folder: [] for folder in folders}
    for k in range(options.starts + 1):
        for folder in folders if k % 2 else reversed(folders):
            times = run(START, str(folder), options.robot)
            if times is None:
                raise SystemExit(f'{folder} does not start')
            if k > 0:
                found[folder].append(times)
    print('import, model, law, first call, all [s], medians (range of all)')
    totals = []
    for folder, rows in found.items():
        rows = np.array(rows)
        totals.append(rows.sum(axis=1))
        parts = ', '.join(f'{x:.3f}' for x in np.median(rows, axis=0))
        spread = f'{np.median(totals[-1]):.3f} ({totals[-1].min():.3f} to {totals[-1].max():.3f})'
        print(f'{folder.name}: {parts}, {spread}')
    if len(totals) == 2:
        print(f'ratio, median of the turns: {np.median(totals[0] / totals[1]):.3f}')
    print(
        f'computeRNEADerivatives by Pinocchio, six joints: {run(PINOCCHIO) or float("nan"):.1f} us'
    )


if __name__ == '__main__':
    main()
