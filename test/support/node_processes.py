# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Start controller and simulation nodes as processes, with a plant that needs no compilation.

Processes are forked from a server that has already imported what nodes need, and has loaded the
kernels of the arm, because these take most of the start time; they report their status more often,
because that is what tests wait for. Tests of the demo, and tests about how a process begins or
ends, start nodes by their commands, as users do.
"""

import contextlib
import functools
import importlib
import multiprocessing
from multiprocessing import forkserver
import os
from pathlib import Path
import runpy
import signal
import subprocess
import sys

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.processes import safe_path
from softrobot_dynamics.configuration import build
from softrobot_dynamics.configuration.node_parameters import OF_SIMULATION
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.estimation.settings import load_estimator

RATE = 100.0  # [Hz] of every loop in a test, on whatever machine: none of them is about speed
STARTED = []  # the nodes of this process's tests that have not been cleared away
REPORT_PERIOD = 0.2  # [s] of the status of forked nodes; others report once a second
SAFE = [1.0, 1.0]  # what the parameter safe_pretension is unless set
PLANT = Path(__file__).with_name('linear_plant.py')
NODES = 'softrobot_dynamics.nodes'  # for robots that are described
SERVER = multiprocessing.get_context('forkserver')
SERVER.set_forkserver_preload(
    [
        'rclpy',
        'scipy.linalg',
        *(f'{NODES}.{name}' for name in ('controller', 'simulation', 'estimator')),
        'support.loaded_arm',
    ]
)


@functools.cache
def _begin_server():
    """
    Start the server, unless it runs, from a folder that has nothing to import.

    It finds the modules that this process has by its environment alone. From the folder of the
    sources it would take the package there, not the one that is installed.
    """
    here = os.getcwd()
    os.chdir(os.sep)
    try:
        with safe_path():
            forkserver.ensure_running()
    finally:
        os.chdir(here)


def compile_for_nodes(robot, **given):
    """Compile what both nodes need for a robot, here, where nobody waits for it with patience."""
    description = sd.load_robot(robot)
    values = controller_values(description, [])[0] | {'robot': robot} | given
    model = build.controlled(values).model
    own = {row.name: row.default for row in OF_SIMULATION} | {'robot': robot}
    build.simulated(own)
    return model


def compile_estimator(model, file):
    """Compile what an estimator node needs for a robot and a file of sensors."""
    own = load_estimator(file)
    estimator = sd.Estimator(model, own)
    estimator.observability()
    estimator.estimate(0.01, covariance=True)
    estimator.push()
    sd.ShapeFit(model, own)({}, u=np.ones(model.m))


class Started:
    """A node that was started, to be used as a Popen."""

    def __init__(self, *given):
        _begin_server()
        self._process = SERVER.Process(target=_run, args=given)
        self._process.start()
        self.pid = self._process.pid

    def poll(self):
        """Return the status, None while it runs."""
        return self._process.exitcode

    def wait(self, timeout=None):
        """Return the status once it has ended; TimeoutExpired."""
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired('a node', timeout)
        return self.poll()

    def send_signal(self, number):
        """Send a signal unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self):
        """End it."""
        self.send_signal(signal.SIGKILL)


def _run(program, arguments, log, folder, environment):
    """Become a node, as if it had been started by a command."""
    from softrobot_dynamics.nodes import diagnostics  # needs ROS, which the server has imported

    with open(log, 'ab') as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [str(program), *arguments]
    diagnostics._REPORT_PERIOD = REPORT_PERIOD
    if program == PLANT:
        runpy.run_path(str(program), run_name='__main__')
    else:
        sys.exit(importlib.import_module(program).main(sys.argv))


def _command(program, arguments, log, folder, environment):
    """Start a node by a command; return its Popen."""
    environment['PYTHONPATH'] = os.pathsep.join(filter(None, sys.path))
    words = [str(program)] if program == PLANT else ['-m', program]
    with open(log, 'ab') as file:
        return subprocess.Popen(
            [sys.executable, *words, *arguments],
            stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=folder,
        )  # fmt: skip


@contextlib.contextmanager
def starting(folder, nodes=None, options=('--priority', '0'), forked=True, **given):
    """
    Yield a function that starts a node (name, options, parameters); here they end.

    It is one of a package of nodes, None: with the plant that needs no compilation; with options
    and parameters unless others are given; or a process of its own from the beginning. A node
    writes into the file of its name in the folder.
    """
    become = Started if forked else _command
    with contextlib.ExitStack() as stack:

        def run(name, *own, **parameters):
            values = {**(given or {'rate': RATE}), **parameters}.items()
            words = [f'{key.replace("__", ".")}:={value}' for key, value in values]
            arguments = [*(own or options), '--ros-args', *(p for w in words for p in ('-p', w))]
            program, first = (PLANT, [name]) if nodes is None else (f'{nodes}.{name}', [])
            log, environment = folder / f'{name}.log', dict(os.environ)
            log.touch()
            process = become(program, [*first, *arguments], log, folder, environment)
            stack.callback(_end, process)
            STARTED.append(process)
            return process

        yield run
    for log in folder.glob('*.log'):  # pytest shows it if the test failed
        print(f'{log.name}:', log.read_text(encoding='utf-8'), sep='\n')


def failed():
    """Tell whether a node that was started has ended by itself with an error."""
    return any((process.poll() or 0) > 0 for process in STARTED)


def _end(process):
    STARTED.remove(process)
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
    except (FileNotFoundError, ProcessLookupError):  # gone before or while it is read
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
