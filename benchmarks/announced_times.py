# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compare the compilation times that are announced to a user with those that it took.

    python benchmarks/announced_times.py                     three robots, three laws
    python benchmarks/announced_times.py ur10e --laws task   others; law '': derivatives only
    python benchmarks/announced_times.py --turns 3           each several times
    python benchmarks/announced_times.py --processor-time    whatever else the machine does

Each closed loop in a new process with an empty kernel cache. An announcement goes by the time that
kernels took before it; what others do on the machine later it cannot know. In processor time, that
is without helpers, it shows how well the costs of kernels are predicted.
"""

import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types

ROBOTS = ['pcc_arm', 'trimmed_helicoid', 'ur10e']
LAWS = ['pfbl', 'task', 'predictive']
SHORT = 5.0  # [s] times that nobody waits for


def compile_all(robot, law):
    """Compile the terms of a robot, and what nodes of its loop need, or its derivatives."""
    import numpy as np
    import softrobot_dynamics as sd

    model = sd.compile_model(sd.load_robot(robot))
    zero = np.zeros(model.n)
    model.evaluator()(model.q0, zero)
    if law:
        from softrobot_dynamics.configuration import build

        values = {'robot': robot, 'rate': 1000.0, 'payload.body': '', 'controlled': ()}
        build.controlled({**values, 'controller': law})
        values |= {'plant': (), 'surroundings': (), 'substep': 5e-4}
        build.simulated({**values, 'integrator': 'exponential'})
    else:
        sd.forward_dynamics_derivatives(model, q=model.q0, qd=zero, u=np.zeros(model.m))


def measure(robot, law, processor_time):
    """Return [words, announced time, time taken [s]] of each line that tells a time."""
    from softrobot_dynamics.compiling import parallel, progress

    clock = time.process_time if processor_time else time.monotonic
    progress.time = parallel.time = types.SimpleNamespace(monotonic=clock)
    open_lines, lines = [], []

    def say(words):
        announced = re.search(r'about (\d+) s', words)
        if announced:
            open_lines.append((clock(), int(announced[1]), words.partition(',')[0]))

    def note(share):
        if share == 1.0:
            now = clock()
            lines.extend([words, announced, now - begin] for begin, announced, words in open_lines)
            open_lines.clear()

    with progress.reporting(say, note):
        compile_all(robot, law)
    return lines


def measure_apart(robot, law, processor_time):
    """Return what :func:`measure` does, of a new process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, robot, '--laws', law, '--here']
        own = {'SOFTROBOT_CACHE_DIR': folder}
        if processor_time:
            command.append('--processor-time')
            own['SOFTROBOT_COMPILERS'] = '1'
        done = subprocess.run(
            command, env={**os.environ, **own}, stdout=subprocess.PIPE, check=True
        )
    return json.loads(done.stdout)


def main():
    """Print a line for each that was announced, and a summary of those that are not short."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', default=ROBOTS)
    parser.add_argument('--laws', nargs='+', default=LAWS)
    parser.add_argument('--turns', type=int, default=1)
    parser.add_argument('--processor-time', action='store_true', help='instead of the clock')
    parser.add_argument('--here', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.robots[0], options.laws[0], options.processor_time)))
        return
    print('| robot, law | said | announced [s] | taken [s] | ratio |')
    print('| --- | --- | --- | --- | --- |')
    ratios = []
    for robot, law in [*itertools.product(options.robots, options.laws)] * options.turns:
        for words, announced, taken in measure_apart(robot, law, options.processor_time):
            ratio = announced / taken
            line = f'| {robot}, {law} | {words} | {announced} | {taken:.1f} | {ratio:.2f} |'
            print(line, flush=True)
            if taken > SHORT:
                ratios.append(ratio)
    print(
        f'\n{len(ratios)} announcements of more than {SHORT:g} s: median ratio '
        f'{statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}'
    )


if __name__ == '__main__':
    main()
