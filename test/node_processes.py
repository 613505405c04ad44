# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Both nodes as processes for tests, with a plant that needs no compilation."""

import contextlib
import os
from pathlib import Path
import subprocess
import sys

RATE = 200.0  # [Hz] gentle: what is tested with these is not speed
SAFE = [1.0, 1.0]  # what the parameter safe_pretension is unless set
PLANT = Path(__file__).with_name('linear_plant.py')


@contextlib.contextmanager
def starting(folder, program=(str(PLANT), '{}'), options=('--priority', '0'), **given):
    """
    Yield a function that starts a node (name, options, parameters); here they end.

    By a Python program, which has the node's name for {}, with options and parameters unless
    others are given. A node writes into the file of its name in the folder.
    """
    with contextlib.ExitStack() as stack:

        def run(name, *own, **parameters):
            values = {**(given or {'rate': RATE}), **parameters}.items()
            arguments = [f'{key.replace("__", ".")}:={value}' for key, value in values]
            log = stack.enter_context(open(folder / f'{name}.log', 'a', encoding='utf-8'))
            process = subprocess.Popen(
                [
                    sys.executable,
                    *(part.format(name) for part in program),
                    *(own or options),
                    '--ros-args',
                    *(part for argument in arguments for part in ('-p', argument)),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
                cwd=folder,
            )
            stack.callback(_end, process)
            return process

        yield run
    for log in folder.glob('*.log'):  # pytest shows it if the test failed
        print(f'{log.name}:', log.read_text(encoding='utf-8'), sep='\n')


def _end(process):
    if process.poll() is None:
        process.kill()
    process.wait()


def closed_loop(observer, start, **parameters):
    """Return both processes with the loop closed between them."""
    processes = start('simulation'), start('controller', autostart='true', **parameters)
    observer.until_running()
    return processes


def _stat(process):
    """Return (state, parent) of a process, ('X', 0) if there is none any more."""
    try:
        words = Path(f'/proc/{process}/stat').read_text(encoding='utf-8')
    except FileNotFoundError:
        return 'X', 0
    state, parent = words.rpartition(')')[2].split()[:2]
    return state, int(parent)


def ended(process):
    """Tell whether a process, by its id, has ended."""
    return _stat(process)[0] in 'XZ'


def planner_of(observer, node):
    """Wait until a node has a child that plans; return its process id."""
    found = []

    def there():
        ids = [int(name) for name in os.listdir('/proc') if name.isdigit()]
        found[:] = [each for each in ids if _stat(each)[1] == node.pid and not ended(each)]
        return found

    observer.until(there, 'a planning process')
    return found[0]
