# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time of a run of a study, with one process and with one for each core.

    python benchmarks/studies.py [robot] [--runs N] [--seconds S]

Of the shipped controller's task, with another stiffness or mass in each run. Times are from the
first run to the last, the start of processes included; the kernels are in the cache by then.
"""

import argparse
import os
import time

from softrobot_dynamics.studies.factors import RunSampling
from softrobot_dynamics.studies.study import plan_study, run_study

VARY = {'pcc_arm': 'young_modulus', 'pneumatic_arm': 'young_modulus', 'ur10e': 'mass'}


def main():
    """Print a line for each number of processes."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robot', nargs='?', default='pcc_arm', choices=sorted(VARY))
    parser.add_argument('--runs', type=int, default=40)
    parser.add_argument('--seconds', type=float, default=10.0)
    options = parser.parse_args()
    given = {VARY[options.robot]: '0.7..1.3'}
    begin = time.perf_counter()
    sampling = RunSampling(options.runs)
    experiment = plan_study(options.robot, given, sampling=sampling, seconds=options.seconds)
    print(f'to plan it: {time.perf_counter() - begin:.1f} s')
    for jobs in sorted({1, os.cpu_count() or 1}):
        begin = time.perf_counter()
        run_study(experiment, jobs=jobs)
        passed = time.perf_counter() - begin
        fast = options.runs * options.seconds / passed
        print(
            f'{jobs} process{"es" if jobs > 1 else ""}: {passed:.1f} s for {options.runs} runs of'
            f' {options.seconds:g} s, {fast:.1f} times real time',
            flush=True,
        )


if __name__ == '__main__':
    main()
