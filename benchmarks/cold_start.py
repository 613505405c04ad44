# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Profile a cold start: where the processor time of a first compilation goes.

    python benchmarks/cold_start.py                    the closed loop of pcc_arm
    python benchmarks/cold_start.py ur10e --law ''     its terms and derivatives, no law
    python benchmarks/cold_start.py --top 40           more functions
    python benchmarks/cold_start.py --announced        times that are announced, and taken

In a new process with an empty kernel cache and, but for `--announced`, without helpers. Numba's
own events tell which pass of which function is at work, and when LLVM is; nothing is replaced.
Times of the profile are those of the processor, without what is nested; the clock itself takes a
few percent.
"""

import argparse
from collections import Counter, defaultdict
import os
import re
import subprocess
import sys
import tempfile
import time

from numba.core import event

LLVM, PASS = 'numba:llvm_lock', 'numba:run_pass'


class Profile(event.Listener):
    """Sums own times by (function, pass), LLVM's apart."""

    def __init__(self):
        self.python, self.llvm = defaultdict(float), defaultdict(float)
        self.signatures = Counter()
        self._open, self._since, self._in_llvm = [], time.process_time(), 0

    def on_start(self, found):
        """Charge what has passed, and go on with what begins."""
        self._charge()
        if found.kind == LLVM:
            self._in_llvm += 1
            return
        data = found.data
        self._open.append((f'{data["module"]}.{data["qualname"]}', data['name'].split(' [')[0]))
        self.signatures[self._open[-1]] += 1

    def on_end(self, found):
        """Charge what has passed, and go on with what was interrupted."""
        self._charge()
        if found.kind == LLVM:
            self._in_llvm -= 1
        else:
            self._open.pop()

    def _charge(self):
        now = time.process_time()
        place = self._open[-1] if self._open else ('', 'outside of passes')
        (self.llvm if self._in_llvm else self.python)[place] += now - self._since
        self._since = now


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


def profile(robot, law, top):
    """Print the tables."""
    from softrobot_dynamics.compiling import cache

    found, begin = Profile(), time.process_time()
    for kind in (LLVM, PASS):
        event.register(kind, found)
    compile_all(robot, law)
    total = time.process_time() - begin
    print(f'{robot}: {total:.1f} s of processor time\n')
    python, llvm = sums(found.python, 1), sums(found.llvm, 1)
    print_table('pass', sorted(set(python) | set(llvm)), python, llvm, None, 14)
    python, llvm = sums(found.python, 0), sums(found.llvm, 0)
    signatures = {name: most for (name, _), most in sorted(found.signatures.items())}
    rows = [name for name in python if name]
    print_table('function', rows, python, llvm, signatures, top)
    own = [name for name in rows if traced(cache, name)]
    share = sum(python[name] + llvm[name] for name in own)
    rest = sum(python[name] + llvm[name] for name in rows) - share
    print(f'traced formulas of the robot {share:.1f} s, the same for every robot {rest:.1f} s')


def compare_announced(robot, law):
    """Print each time that is announced to a user beside the one that it took."""
    from softrobot_dynamics.compiling.progress import reporting

    open_lines = []

    def say(words):
        announced = re.search(r'about (\d+) s', words)
        if announced:
            open_lines.append((time.monotonic(), int(announced[1]), words.partition(',')[0]))

    def note(share):
        if share == 1.0:
            for begin, announced, words in open_lines:
                taken = time.monotonic() - begin
                print(f'| {words} | {announced} | {taken:.1f} | {announced / taken:.2f} |')
            open_lines.clear()

    print('| said | announced [s] | taken [s] | ratio |\n| --- | --- | --- | --- |')
    with reporting(say, note):
        compile_all(robot, law)


def traced(cache, name):
    """Tell whether a function holds formulas of a body or a joint."""
    module = name.rpartition('.')[0]
    if not module.startswith(cache.PREFIX):
        return False
    source = cache.source_of(module)
    return '@kernel' in source or f'from {cache.PREFIX}' in source or len(source) > 12_000


def sums(times, part):
    """Return times summed by a part of their keys."""
    found = defaultdict(float)
    for key, value in times.items():
        found[key[part]] += value
    return found


def print_table(title, names, python, llvm, signatures, top):
    """Print the rows that take longest."""
    print(f'| {title} | Python [s] | LLVM [s] |' + (' signatures |' if signatures else ''))
    print('| --- | --- | --- |' + (' --- |' if signatures else ''))
    for name in sorted(names, key=lambda name: -python[name] - llvm[name])[:top]:
        shown = name.removeprefix('softrobot_dynamics').lstrip('._')
        count = f' {signatures[name]} |' if signatures else ''
        print(f'| {shown} | {python[name]:.2f} | {llvm[name]:.2f} |{count}')
    print()


def main():
    """Profile in a new process."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robot', nargs='?', default='pcc_arm')
    parser.add_argument('--law', default='pfbl', help="of the closed loop; '': derivatives only")
    parser.add_argument('--top', type=int, default=25, help='functions to show')
    parser.add_argument('--announced', action='store_true', help='times announced to a user')
    parser.add_argument('--here', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here and options.announced:
        compare_announced(options.robot, options.law)
        return
    if options.here:
        profile(options.robot, options.law, options.top)
        return
    with tempfile.TemporaryDirectory() as folder:
        own = {'SOFTROBOT_CACHE_DIR': folder}
        if not options.announced:
            own['SOFTROBOT_COMPILERS'] = '1'
        command = [sys.executable, *sys.argv, '--here']
        sys.exit(subprocess.run(command, env={**os.environ, **own}).returncode)


if __name__ == '__main__':
    main()
