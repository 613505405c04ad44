# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start time and memory of a process, with an empty and with a full kernel cache."""

import importlib.util
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import textwrap
import time

from timing import spread

TITLE = 'Start and memory'
PACKAGES = ('scipy',)

ROBOTS = (
    'double_pendulum', 'planar_cc_chain', 'pcc_arm', 'ur10e', 'hybrid_arm', 'soft_hand',
    'trimmed_helicoid',
)  # fmt: skip
CHILD = """
import sys
import numpy as np
import softrobot_dynamics as sd
model = sd.compile_model(sd.load_robot(sys.argv[1]))
terms = model.evaluator()(model.q0, np.zeros(model.n))
assert np.isfinite(terms.h).all()
"""
DERIVATIVES = """
import time
begin = time.perf_counter()
zero = np.zeros(model.n)
found = sd.forward_dynamics_derivatives(model, q=model.q0, qd=zero, u=np.zeros(model.m))
assert np.isfinite(found.by_q).all()
print(time.perf_counter() - begin)
"""
SLOWEST = 'trimmed_helicoid'  # of which it is said where the time goes
MOST = 'hybrid_arm'  # that has most to compile, derivatives included
IMPORTS = {'numba': 'import numba, scipy.linalg', 'all': 'import softrobot_dynamics'}
IN_LLVM = f"""
from numba.core import event
spent = []
with event.install_timer('numba:llvm_lock', spent.append):
{textwrap.indent(CHILD.strip(), '    ')}
print(sum(spent))
"""
BASELINE = """
import numba, numpy, rclpy, scipy.optimize
rclpy.init(); rclpy.create_node('bare')
print(next(line for line in open('/proc/self/status') if line.startswith('VmRSS')).split()[1])
"""
CLOSED_LOOP = Path(__file__).resolve().parents[1] / 'closed_loop.py'
COLD, WITH_DERIVATIVES, WARM, MEMORY = 20.0, 36.0, 1.0, 350.0  # targets [s] and [MiB]


def measure(folder):
    """Return seconds to the first terms of each shipped robot, and memory of a controller."""
    figures = {'robots': {name: _start(name) for name in ROBOTS}, 'in_llvm': _in_llvm()}
    figures['alone'] = _start(MOST, SOFTROBOT_COMPILERS='1')
    figures['imports'] = {name: _seconds(['-c', words]) for name, words in IMPORTS.items()}
    if importlib.util.find_spec('rclpy'):
        figures['memory'] = _memory()
    return figures


def _start(name, **more):
    with tempfile.TemporaryDirectory() as cache:
        surroundings = {**os.environ, 'SOFTROBOT_CACHE_DIR': cache, **more}
        cold = _seconds(['-c', CHILD, name], surroundings)
        more = float(_output(['-c', CHILD + DERIVATIVES, name], surroundings))
        warm = _seconds(['-c', CHILD, name], surroundings)
        return {'cold': cold, 'derivatives': cold + more, 'warm': warm}


def _output(arguments, surroundings):
    """Return what a Python process prints last."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[-1]


def _seconds(arguments, surroundings=os.environ):
    """Seconds that a Python process takes, from its start to its end."""
    surroundings = dict(surroundings)
    surroundings.pop('PYTHONDONTWRITEBYTECODE', None)  # what is installed has its bytecode
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=surroundings, check=True)
    return time.perf_counter() - start


def _in_llvm():
    """Seconds of a cold start that are spent in LLVM."""
    with tempfile.TemporaryDirectory() as cache:
        own = {'SOFTROBOT_CACHE_DIR': cache, 'SOFTROBOT_COMPILERS': '1'}
        return float(_output(['-c', IN_LLVM, SLOWEST], {**os.environ, **own}))


def _memory():
    """Resident memory [MiB] of the controller of pcc_arm in a closed loop, and of its imports."""
    bare = subprocess.run(
        [sys.executable, '-c', BASELINE], stdout=subprocess.PIPE, text=True, check=True
    )
    with tempfile.TemporaryDirectory() as name:
        found = Path(name) / 'loop.json'
        command = [sys.executable, str(CLOSED_LOOP), '--runs', '1', '--duration', '5']
        subprocess.run([*command, '--json', str(found)], stdout=subprocess.DEVNULL, check=True)
        loop = json.loads(found.read_text())['loop'][0]
    return {'controller': loop['controller_mib'], 'imports': int(bare.stdout) / 1024.0}


def report(page, runs):
    """Say how long each robot takes, and what a controller holds."""
    robots = {
        name: [spread(runs, 'robots', name, kind) for kind in ('cold', 'derivatives', 'warm')]
        for name in ROBOTS
    }
    slowest = [max(three[i] for three in robots.values()) for i in range(3)]
    page.target(
        'first terms of any shipped robot, new process, empty cache',
        f'< {COLD:g} s',
        f'{slowest[0].text()} s',
        slowest[0].median < COLD,
    )
    page.target(
        'the same, derivatives of forward dynamics included',
        f'at most {WITH_DERIVATIVES:g} s',
        f'{slowest[1].text()} s',
        slowest[1].median <= WITH_DERIVATIVES,
    )
    page.target(
        'first terms, kernels cached',
        f'< {WARM:g} s',
        f'{slowest[2].text()} s',
        slowest[2].median < WARM,
    )
    page.text("""
From the start of a Python process to all terms of a robot at one state: imports, reading the file,
kernels, evaluation. Cold: empty cache; warm: all in it. With derivatives: until those of forward
dynamics are there, compiled by the next process.
""")
    page.table(
        ['robot', 'cold [s]', 'with derivatives [s]', 'warm [s]'],
        [[f'`{name}`', *(each.text() for each in three)] for name, three in robots.items()],
    )
    alone = [spread(runs, 'alone', kind) for kind in ('cold', 'derivatives')]
    page.text(f"""
Of the cold start of `{SLOWEST}` {spread(runs, 'in_llvm').text()} s are LLVM's; the rest is numba's
typing and lowering. Functions are optimised anew within each program, so bodies, recursion and
transmission are called by address and compiled apart, and what is not of a body is compiled once
for all robots. An inner function is optimised in its outermost caller only. Compilation is shared
by as many processes as there are processors, at most four
(`compiling/parallel.py`), here two; alone (`SOFTROBOT_COMPILERS=1`) `{MOST}` takes
{alone[0].text()} s, with derivatives {alone[1].text()} s.

`python benchmarks/cold_start.py` profiles the closed loop of `pcc_arm` by numba's events, in one
process. Of 22.5 s of processor time on a busy machine about 38 % are LLVM's own, 18 % the making
of its input, 16 % type inference, 8 % the reading of bytecode. The formulas of the robot take an
eighth; the rest is the same for every robot, and is in the cache for the next one. LLVM's input is
made by the package (`compiling/lowering/`). Where numba makes it, the first terms of
`trimmed_helicoid` take 1.71 times as much processor time, later ones 1.03 times
(`python benchmarks/compiling.py`, medians of three turns).

`python benchmarks/announced_times.py --processor-time` compares the times that are announced with
those taken: 20 announcements of more than 5 s for `pcc_arm`, `trimmed_helicoid` and `ur10e`
with `pfbl`, `task` and `predictive` were 0.91 (0.71 to 1.19) times what it took, on a busy
machine; by the clock on a quiet one, of 7 announcements, 1.05 (0.75 to 1.24) times.

With the kernels of a [wheel](realtime.md#kernels-in-a-wheel) in a fresh environment, by the same
benchmark: 0.5 s of processor time with an empty cache, as with a full one (two runs); 10.8 s
with numba 0.67 and a wheel made with 0.68, since what Python itself calls is compiled then;
32.4 s without. The wheel with the kernels of `pcc_arm` and `ur10e` has 1.7 MB, 0.4 more than one
without kernels. A tick of `pcc_arm` takes 1.01 to 1.02 times as
long (mean; 0.97 to 1.13 in single turns of a loaded machine) as with kernels compiled for its
processor (`python benchmarks/tick.py pcc_arm --prebuilt FOLDER`).

A warm start with the law `pfbl` imports no numba. `python benchmarks/warm_start.py`, `pcc_arm`,
seven processes, where Pinocchio's derivatives of a chain of six joints take 2.6 µs: import
0.013 s, model 0.202 s, law 0.112 s, first call 0.001 s, in all 0.327 (0.315–0.334) s; with numba
imported, as before, 0.528 (0.516–0.537) s in the same turns.
""")
    with_ros = [run for run in runs if 'memory' in run]
    if not with_ros:
        page.text('Memory of a controller was not measured: there is no rclpy here.')
        return
    controller, imports = (spread(with_ros, 'memory', kind) for kind in ('controller', 'imports'))
    page.target(
        'resident memory of an active controller, kernels cached',
        f'< {MEMORY:g} MiB',
        f'{controller.text()} MiB',
        controller.median < MEMORY,
    )
    page.text(f"""
The controller of `pcc_arm`, closing the loop at 1 kHz on a circle, holds {controller.text()} MiB
of resident memory; a bare node with numpy, numba, scipy and rclpy {imports.text()} MiB.
""")
