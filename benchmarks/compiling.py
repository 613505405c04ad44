# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time to compile and to evaluate with and without the options of `compiling/jit.py`.

    python benchmarks/compiling.py [robot]

Each way in a new process with an empty kernel cache: as it is; with what lets Python and C call
every function, and machine code of each; with numba's runtime, which counts references of slices;
with sums over points in their order (`reduction` as `kernel`). Processor time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from numba import njit
import numpy as np
from softrobot_dynamics.compiling import jit

WAYS = ('as it is', 'callable each', 'with reference counts', 'sums in order')
CALLS, ROUNDS = 2000, 7


def change(way):
    """Change the decorators before any kernel is made."""
    if way == 'callable each':
        jit.inner = lambda **options: njit(**options)
    if way == 'with reference counts':
        jit.OPTIONS['_nrt'] = True
    jit.kernel = jit.inner(**jit.OPTIONS)
    jit.inlined = jit.inner(forceinline=True, **jit.OPTIONS)
    jit.reduction = jit.inner(**{**jit.OPTIONS, 'fastmath': True})
    jit.summing = jit.inner(**{**jit.OPTIONS, 'fastmath': {'contract', 'reassoc'}})
    if way == 'sums in order':
        jit.reduction = jit.kernel


def measure(robot):
    """Return the processor time until the first terms of a robot [s], and of later ones [us]."""
    import softrobot_dynamics as sd

    begin = time.process_time()
    model = sd.compile_model(sd.load_robot(robot))
    q, qd = model.q0 + 1e-3, np.zeros(model.n)
    evaluate = model.evaluator()
    evaluate(q, qd)
    first, best = time.process_time() - begin, np.inf
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(CALLS):
            evaluate(q, qd)
        best = min(best, time.process_time() - begin)
    return first, 1e6 * best / CALLS


def main():
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robot', nargs='?', default='trimmed_helicoid')
    parser.add_argument('--way', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        change(options.way)
        print(json.dumps(measure(options.robot)))
        return
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, __file__, options.robot, '--way', way],
                env={**os.environ, 'SOFTROBOT_CACHE_DIR': folder},
                stdout=subprocess.PIPE,
                check=True,
            )
        first, later = json.loads(done.stdout)
        print(f'{way:22s} first terms {first:6.1f} s, later {later:7.1f} us', flush=True)


if __name__ == '__main__':
    main()
