# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Both nodes and what stands between them, started, asked and told: for benchmarks/soak.py."""

import json
from pathlib import Path
import signal
import subprocess
import sys

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PointStamped, WrenchStamped
from sensor_msgs.msg import JointState
from softrobot_dynamics.loops.realtime import without_priority
from std_srvs.srv import SetBool, Trigger
from stop_latency import Client
from trajectory_msgs.msg import JointTrajectory

ROBOT = 'pcc_arm'
CONTROLLER, SIMULATION = '/controller: control loop', '/simulation: simulated robot'
PATIENCE = 40.0  # [s] for a fault to be accounted for, and for the loop to close again


class Unaccounted(Exception):
    """A fault left no trace, or the loop did not close again."""


class Loop(Client):
    """Both nodes and the proxy, and what they say."""

    def __init__(self, folder, options):
        super().__init__()
        self.folder, self.priority = folder, str(options.priority)
        self.status, self.heard, self.tell, self.processes = {}, {}, {}, {}
        create = self.node.create_subscription
        create(DiagnosticArray, '/diagnostics', self._diagnosed, 20)
        create(JointState, 'controller/controller_state', self._outputs, 1)
        for name, kind in (('reset', Trigger), ('pause', SetBool)):
            self._clients[name] = self.node.create_client(kind, f'simulation/{name}')
        self._clients['restart'] = self.node.create_client(Trigger, 'controller/restart')
        for topic, kind in (
            ('controller/trajectory', JointTrajectory),
            ('controller/target', PointStamped),
            ('simulation/wrench', WrenchStamped),
            ('simulation/set_state', JointState),
        ):
            self.tell[topic] = self.node.create_publisher(kind, topic, 10)
        proxy = [sys.executable, str(Path(__file__).with_name('soak_proxy.py')), ROBOT]
        self.proxy = subprocess.Popen(
            [*proxy, str(options.seed)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def _diagnosed(self, message):
        for status in message.status:
            values = {each.key: each.value for each in status.values}
            self.status[status.name] = values, self.status.get(status.name, ({}, 0))[1] + 1

    def _outputs(self, message):
        self.heard['y'] = list(message.name), list(message.position)

    def order(self, **what):
        """Return the proxy's answer to an order."""
        print(json.dumps(what), file=self.proxy.stdin, flush=True)
        return json.loads(self.proxy.stdout.readline())

    def start(self, name):
        """Start a node; of the controller the proxy expects another one."""
        own = ['-r', 'joint_states:=raw_states']
        if name == 'controller':
            own = ['-p', 'autostart:=true', '-p', f'record:={self.folder}/controller.mcap']
            self.order(anew=True)
        command = [sys.executable, '-m', f'softrobot_dynamics.nodes.{name}']
        command += ['--priority', self.priority, '--ros-args', '-p', f'robot:={ROBOT}', *own]
        log = open(self.folder / f'{name}.log', 'a')
        with without_priority():
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log)
        self.status.pop(CONTROLLER if name == 'controller' else SIMULATION, None)

    def end(self, name, number):
        """End a node by a signal, and note with which status."""
        process = self.processes.pop(name)
        process.send_signal(number)
        expected = -signal.SIGKILL if number == signal.SIGKILL else 0
        try:
            self.wait_for(lambda: process.poll() is not None, f'the end of the {name}')
        except Unaccounted:
            process.kill()
            raise
        if process.returncode != expected:
            raise Unaccounted(f'{name} ended with {process.returncode}, expected {expected}')

    def wait_for(self, condition, what, patience=PATIENCE):
        """Spin until a condition holds; Unaccounted after all patience, or if a node has ended."""
        if not self.holds(lambda: condition() or self._gone(), patience):
            raise Unaccounted(f'{what}: not in {patience:g} s')
        if gone := self._gone():
            raise Unaccounted(f'{what}: the {gone} has ended')

    def _gone(self):
        return ''.join(name for name, each in self.processes.items() if each.poll() is not None)

    def number(self, node, key):
        """Return a number of the last diagnostics of a node, 0 before the first."""
        return float(self.status.get(node, ({}, 0))[0].get(key, 0))

    def grows(self, *keys, node=CONTROLLER):
        """Return what waits until one of some counters is greater than it is now."""
        before = {key: self.number(node, key) for key in keys}

        def grown():
            return any(self.number(node, key) > before[key] for key in keys)

        return lambda: self.wait_for(grown, ' or '.join(keys))

    def says(self, node, words):
        """Return what waits until a node's log has words once more."""
        path = self.folder / f'{node}.log'
        before = path.read_text().count(words)
        return lambda: self.wait_for(lambda: path.read_text().count(words) > before, words)

    def closed(self, patience=PATIENCE):
        """Wait until both nodes say, in diagnostics from now on, that the loop is closed."""
        counts = {name: count for name, (_, count) in self.status.items()}

        def fresh(name, mode):
            values, count = self.status.get(name, ({}, 0))
            return count > counts.get(name, 0) and values.get('mode') == mode

        def both():
            return fresh(CONTROLLER, 'running') and fresh(SIMULATION, 'driven by commands')

        self.wait_for(both, 'a closed loop', patience)

    def pause(self, seconds):
        """Let time pass."""
        self.holds(lambda: False, seconds)

    def broken(self):
        """Tell whether a node has ended by itself: there is nothing to go on with."""
        return bool(self._gone())

    def close(self):
        """End what is left."""
        for process in (*self.processes.values(), self.proxy):
            if process.poll() is None:
                process.kill()
            process.wait()

    def tracebacks(self):
        """Return in words which log has a traceback, or a loop that ended."""
        logs = list(self.folder.glob('*.log'))
        marks = 'Traceback', 'loop ended'
        return [f'{x.name}: {mark}' for x in logs for mark in marks if mark in x.read_text()]
