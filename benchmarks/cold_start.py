# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Profile a cold start: where the processor time of a first compilation goes.

    python benchmarks/cold_start.py                    the closed loop of pcc_arm
    python benchmarks/cold_start.py ur10e --law ''     its terms and derivatives, no law
    python benchmarks/cold_start.py --top 40           more functions
    python benchmarks/cold_start.py --against FOLDER   in all, beside another checkout, in turns

In a new process with an empty kernel cache, without helpers. Numba's own events tell which pass of
which function is at work, and when LLVM is; nothing is replaced. Times are those of the processor,
without what is nested; the clock itself takes a few percent.
"""

import argparse
from collections import Counter, defaultdict
import os
from pathlib import Path
import statistics
import subprocess
import sys
import tempfile
import time

from announced_times import compile_all
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


def compare(other, robot, law, turns):
    """Print the processor time of all of a cold start here and in another checkout, by turns."""
    folders = {'here': Path(__file__).resolve().parents[1], 'there': other.resolve()}
    times = defaultdict(list)
    for _ in range(turns):
        for name, folder in folders.items():
            times[name].append(total_time(folder, robot, law))
            print(f'{name:5s} {times[name][-1]:6.2f} s', flush=True)
    ratio = statistics.median(a / b for a, b in zip(times['here'], times['there']))
    medians = ' and '.join(f'{statistics.median(times[x]):.1f} s {x}' for x in folders)
    print(f'median of {turns} turns: {medians} of processor time, ratio {ratio:.2f}')


def total_time(folder, robot, law):
    """Return the processor time [s] of a process that compiles all with a checkout's package."""
    program = 'import sys, announced_times; announced_times.compile_all(*sys.argv[1:])'
    file = folder / 'config' / 'robots' / f'{robot}.yaml'
    with tempfile.TemporaryDirectory() as cache:
        paths = os.pathsep.join([str(folder), str(Path(__file__).parent)])
        own = {'SOFTROBOT_CACHE_DIR': cache, 'SOFTROBOT_COMPILERS': '1', 'PYTHONPATH': paths}
        command = [sys.executable, '-c', program, str(file), law]
        before = os.times()
        subprocess.run(command, env={**os.environ, **own}, cwd=cache, check=True)
        after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


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
    parser.add_argument('--against', metavar='FOLDER', type=Path, help='checkout to compare with')
    parser.add_argument('--turns', type=int, default=3, help='of a comparison')
    parser.add_argument('--here', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        profile(options.robot, options.law, options.top)
        return
    if options.against:
        compare(options.against, options.robot, options.law, options.turns)
        return
    with tempfile.TemporaryDirectory() as folder:
        own = {'SOFTROBOT_CACHE_DIR': folder, 'SOFTROBOT_COMPILERS': '1'}
        command = [sys.executable, *sys.argv, '--here']
        sys.exit(subprocess.run(command, env={**os.environ, **own}).returncode)


if __name__ == '__main__':
    main()
