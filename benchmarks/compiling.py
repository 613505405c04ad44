# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time to compile and to evaluate with and without the options of `compiling/jit.py`.

    python benchmarks/compiling.py [robot] [--turns 5] [--ways 'as it is' 'lowered by numba']

Each way in turn, in a new process with an empty kernel cache: as it is; with LLVM code made by
numba alone (`compiling/lowering/`); with what lets Python and C call every function, and
machine code of each; with numba's runtime, which counts references of slices; with sums over
points in their order (`reduction` as `kernel`). Processor time, medians of turns, and the median
ratio to the first way.
"""

import argparse
from collections import defaultdict
import json
import os
import subprocess
import sys
import tempfile
import time

from numba import njit
from numba.core.lowering import Lower
import numpy as np
from softrobot_dynamics.compiling import jit
from softrobot_dynamics.compiling.lowering.functions import KernelLowering

WAYS = ('as it is', 'lowered by numba', 'callable each', 'with reference counts', 'sums in order')
CALLS, ROUNDS = 2000, 7


def change(way):
    """Change the decorators before any kernel is made."""
    if way == 'lowered by numba':
        KernelLowering.lowering_class = Lower
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
    parser.add_argument('--turns', type=int, default=1)
    parser.add_argument('--ways', nargs='+', choices=WAYS, default=WAYS)
    parser.add_argument('--way', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        change(options.way)
        print(json.dumps(measure(options.robot)))
        return
    found = defaultdict(list)
    for _ in range(options.turns):
        for way in options.ways:
            found[way].append(measure_apart(options.robot, way))
    for way, times in found.items():
        first, later = np.median(times, axis=0)
        ratios = np.median(np.array(times) / found[options.ways[0]], axis=0)
        print(
            f'{way:22s} first terms {first:6.1f} s ({ratios[0]:.2f}), '
            f'later {later:7.1f} us ({ratios[1]:.2f})'
        )


def measure_apart(robot, way):
    """Measure in a new process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, robot, '--way', way],
            env={**os.environ, 'SOFTROBOT_CACHE_DIR': folder, 'SOFTROBOT_COMPILERS': '1'},
            stdout=subprocess.PIPE,
            check=True,
        )
    return json.loads(done.stdout)


if __name__ == '__main__':
    main()
