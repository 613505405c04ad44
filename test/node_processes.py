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
def starting(folder):
    """Yield a function that starts a node (name, options, parameters); here they end."""
    with contextlib.ExitStack() as stack:

        def run(name, *options, **parameters):
            arguments = [
                f'{key.replace("__", ".")}:={value}'
                for key, value in {'rate': RATE, **parameters}.items()
            ]
            log = stack.enter_context(open(folder / f'{name}.log', 'a', encoding='utf-8'))
            process = subprocess.Popen(
                [
                    sys.executable,
                    str(PLANT),
                    name,
                    *(options or ('--priority', '0')),
                    '--ros-args',
                    *(part for argument in arguments for part in ('-p', argument)),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
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
