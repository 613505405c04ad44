# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure how fast the controller becomes safe, whatever else goes on, over real DDS.

Simulation and controller are two processes at 1 kHz; a third, this one, asks for an emergency
stop, a hold or deactivation, or sends a signal, and waits for the first safe command and for the
answer (of a signal: for the end of the process). Situations: nothing else going on (`idle`), a
circle being planned for a parameter (`planning`) or on activation (`activation`), three clients
that set a gain as fast as they can (`storm`), a busy process per core (`busy`), both (`busy
planning`). A hold has no command of its own: the loop takes it up with the next state.

    python benchmarks/stop_latency.py                 # FIFO
    python benchmarks/stop_latency.py --priority 0    # without
"""

import argparse
from collections import deque
import contextlib
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from closed_loop import hogs
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from softrobot_dynamics.loops.realtime import now, PRIORITY, request_priority, without_priority
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.messaging.transport import choose_transport
from std_srvs.srv import SetBool, Trigger

PATIENCE = 120.0  # [s] for what takes a few at most
STORM = 3  # clients
UNANSWERED = 1.0  # [s] after which they ask again: the controller has ended
ASKED, SENT = ('emergency stop', 'hold', 'deactivate'), ('SIGTERM', 'SIGINT')
SERVICES = {
    'change_state': ChangeState,
    'set_parameters_atomically': SetParametersAtomically,
    'emergency_stop': SetBool,
    'hold': Trigger,
}
SITUATIONS = ('idle', 'planning', 'activation', 'storm', 'busy', 'busy planning')


class Watch(threading.Thread):
    """Notes when the commands begin to be safe: the same pull on every tendon."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self._inbox = Inbox(node, JointState, 'joint_commands', NEWEST_QOS)
        self.safe, self.since = None, 0  # since when [ns] they are what they are
        self._moments = deque(maxlen=5000)  # of safe commands [ns]

    def run(self):
        """Watch, until the process ends."""
        while True:
            message = self._inbox.wait(1_000_000_000)
            safe = None if message is None else len(set(message.effort)) == 1
            if message is not None and safe != self.safe:
                self.since, self.safe = now(), safe
            if safe:
                self._moments.append(now())

    def safe_since(self, start):
        """Return when the first safe command after `start` [ns] came, None if none has."""
        return next((moment for moment in list(self._moments) if moment > start), None)


class Client:
    """Asks the controller for everything."""

    def __init__(self):
        self.node = rclpy.create_node('client')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._clients = {
            name: self.node.create_client(kind, f'controller/{name}')
            for name, kind in SERVICES.items()
        }

    def holds(self, condition, patience):
        """Spin until a condition holds; tell whether it did in time [s]."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=0.005)
        return True

    def until(self, condition, what):
        """Spin until a condition holds; end in words after all patience."""
        if not self.holds(condition, PATIENCE):
            raise SystemExit(f'{what}: nothing in {PATIENCE:g} s')

    def ask(self, name, request):
        """Return the future of an answer."""
        self.until(self._clients[name].service_is_ready, name)
        return self._clients[name].call_async(request)

    def until_gone(self):
        """Wait until nobody serves: a process that ended is known for a moment longer."""
        for name, client in self._clients.items():
            self.until(lambda client=client: not client.service_is_ready(), f'the end of {name}')

    def answer(self, future):
        """Return what was asked for."""
        self.until(future.done, 'an answer')
        return future.result()

    def change(self, name):
        """Return the future of a transition."""
        number = getattr(Transition, f'TRANSITION_{name.upper()}')
        request = ChangeState.Request(transition=Transition(id=number))
        return self.ask('change_state', request)

    def set(self, **values):
        """Return the future of a change of parameters."""
        parameters = [
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in values.items()
        ]
        request = SetParametersAtomically.Request(parameters=parameters)
        return self.ask('set_parameters_atomically', request)

    def act(self, path):
        """Return the future of what a path is called by."""
        if path in ('emergency stop', 'release'):
            return self.ask('emergency_stop', SetBool.Request(data=path != 'release'))
        return self.ask('hold', Trigger.Request()) if path == 'hold' else self.change(path)


class Rig:
    """Simulation and controller, and one situation to stop them in."""

    kind = 'hold'  # of reference

    def __init__(self, client, watch, priority, situation, folder):
        self._client, self._watch = client, watch
        self._priority, self._folder = priority, folder
        self._activating = situation == 'activation'
        self._planning = situation.endswith('planning')
        self._controller = None

    def node(self, name, place, *parameters):
        """Start a node."""
        given = [part for p in parameters for part in ('-p', p)]
        own = ['--priority', str(self._priority), '--processor', place]
        command = [sys.executable, *self.program(name), *own, '--ros-args']
        log = open(self._folder / f'{name}.log', 'a')
        with without_priority():
            return subprocess.Popen([*command, *given], stdout=log, stderr=log)

    def program(self, name):
        """Return the words that start a node."""
        return '-m', f'softrobot_dynamics.nodes.{name}'

    def prepare(self):
        """Bring the controller to where the situation begins."""
        if self._controller is None or self._controller.poll() is not None:
            kind = 'circle' if self._activating else self.kind
            self._controller = self.node('controller', 'second', f'reference.type:={kind}')
            self._client.answer(self._client.change('configure'))
            if not self._activating:
                self._client.answer(self._client.change('activate'))
        if not self._activating:
            self._client.until(lambda: self._watch.safe is False, 'a closed loop')

    def begin(self):
        """Begin what goes on; return the future of its answer, None if nothing does."""
        future = None
        if self._planning:
            future = self._client.set(reference__type='circle')
        elif self._activating:
            future = self._client.change('activate')
        if future is not None:
            self._client.until(self._has_child, 'planning')
            time.sleep(random.uniform(0.0, 0.4))
            if future.done():
                raise SystemExit('the planning was over before it was stopped')
        return future

    def _has_child(self):
        task = Path(f'/proc/{self._controller.pid}/task')
        return any((each / 'children').read_text().strip() for each in task.iterdir())

    def stop(self, path):
        """Return the times [ms] to the first safe command and to the answer of one stop."""
        future = self.begin()
        self._watch.safe = None
        start = now()
        if path in SENT:
            self._controller.send_signal(getattr(signal, path))
            self._client.until(lambda: self._controller.poll() is not None, 'the end')
            if self._controller.returncode:
                raise SystemExit(f'{path}: exit status {self._controller.returncode}')
        else:
            self._client.answer(self._client.act(path))
        answered = now()
        silent = path == 'hold' or (path in SENT and self._activating)
        if not silent:
            self._client.until(lambda: self._watch.safe is True, 'a safe command')
        safe = np.nan if silent else self._watch.since - start
        if future is not None and path not in SENT:
            self._client.answer(future)
        self._recover(path)
        return safe * 1e-6, (answered - start) * 1e-6

    def _recover(self, path):
        """Undo a stop."""
        if path == 'emergency stop':
            self._client.answer(self._client.act('release'))
        if self._activating and path not in SENT:
            self._client.answer(self._client.change('deactivate'))
        elif path == 'deactivate':
            self._client.answer(self._client.change('activate'))
        elif path in SENT:
            self._client.until_gone()

    def close(self):
        """End the controller."""
        if self._controller is not None and self._controller.poll() is None:
            self._controller.terminate()
            self._controller.wait()


def storm():
    """Set a gain over and over, until the parent ends; the main program of a client of its own."""
    client, parent, p = Client(), os.getppid(), 100.0
    while os.getppid() == parent:
        p = 201.0 - p
        client.holds(client.set(gains__p=p).done, UNANSWERED)


@contextlib.contextmanager
def clients(count):
    """Keep `count` clients setting a gain."""
    command = [sys.executable, __file__, '--storm', '--priority', '0']
    storming = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for process in storming:
            process.kill()
            process.wait()


def measure(rig, options, situation):
    """Print one row for each path in a situation."""
    simulation = rig.node('simulation', 'first')
    asked = ASKED[:2] if situation == 'activation' else ASKED  # a transition excludes another
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: (simulation.kill(), simulation.wait()))
        stack.callback(rig.close)
        rig.prepare()
        with without_priority():
            stack.enter_context(hogs(os.cpu_count() if situation.startswith('busy') else 0))
            stack.enter_context(clients(STORM if situation == 'storm' else 0))
        for path in (*asked, *SENT):
            times = []
            for i in range(options.signals if path in SENT else options.samples):
                rig.prepare()
                time.sleep(random.uniform(0.05, 0.1))
                times.append(rig.stop(path))
                print(f'\r{situation}, {path}: {i + 1} ', end='', file=sys.stderr, flush=True)
            print('\r\033[K', end='', file=sys.stderr)
            safe, answered = np.array(times).T
            row = f'| {situation} | {path} | {len(times)} | {_row(safe)} | {_row(answered)} |'
            print(row, flush=True)


def _row(times):
    if np.isnan(times).any():
        return ''
    return ' / '.join(f'{value:.1f}' for value in (*np.percentile(times, [50, 99]), times.max()))


def main():
    """Run what the command line asks for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--samples', type=int, default=100, help='of each path')
    parser.add_argument('--signals', type=int, default=20, help='of each signal')
    parser.add_argument('--priority', type=int, default=PRIORITY, help='FIFO, 0 for none')
    parser.add_argument('--situation', action='append', choices=SITUATIONS, help='default: all')
    parser.add_argument('--storm', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if refusal := request_priority(options.priority):
        print(refusal, file=sys.stderr)
    sys.setswitchinterval(5e-5)  # [s]: who watches does not wait for who asks
    choose_transport()
    rclpy.init()
    if options.storm:
        storm()
        return
    with tempfile.TemporaryDirectory() as name:
        os.environ['ROS_LOG_DIR'] = name
        print('| situation | path | times | first safe command p50 / p99 / max [ms] |'
              ' answered p50 / p99 / max [ms] |\n| --- | --- | --- | --- | --- |')  # fmt: skip
        client = Client()
        watch = Watch(client.node)
        watch.start()
        for situation in options.situation or SITUATIONS:
            rig = Rig(client, watch, options.priority, situation, Path(name))
            measure(rig, options, situation)


if __name__ == '__main__':
    main()
