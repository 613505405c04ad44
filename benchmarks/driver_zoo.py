# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Drivers as others have them, each in the loop, beside the robot with clean states.

    python benchmarks/driver_zoo.py
    python benchmarks/driver_zoo.py --quick                    # a short run of each
    python benchmarks/driver_zoo.py --only 'late ticks' 'three parts'

Simulation and controller are two processes over DDS; a third (driver_zoo_proxy.py) stands for the
drivers between them, also of the clean robot, which has one driver that sends everything at the
simulation's rate. It runs before every third driver; the ratio is that of RMS errors to the median
of its runs. Errors are those of the true states of the simulation's record against the references
of the controller's. The tip of pcc_arm is compared with its circle (distance), that of ur10e with
where its reference is. The status is 1 if a driver goes beyond the bounds of its row.
"""

import argparse
import contextlib
import json
import math
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
import softrobot_dynamics as sd
from softrobot_dynamics.loops.realtime import without_priority
from softrobot_dynamics.references.inverse_statics import actuation_coordinates
import yaml

RATE, WATCHDOG = 500.0, 0.1  # [Hz] of the simulation; [s]
SETTLE, SILENCE = 2.5, 0.5  # [s] after which errors count; of a part that falls silent
PATIENCE = 120.0  # [s] for what takes a few
CONTROLLER = '/controller: control loop'
SEGMENTS = ('segment1', 'segment2', 'segment3')
MODES = ('bend_x', 'bend_y', 'elongation')
SOFT = [f'{segment}/{mode}' for segment in SEGMENTS for mode in MODES]
TENDONS = [f't{k}' for k in range(1, 10)]
ARM = ['shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint']
ARM += [f'wrist_{k}_joint' for k in (1, 2, 3)]
CIRCLE = {'center': np.array([0.0, 0.0, 0.57]), 'radius': 0.1}  # [m] of pcc_arm's parameters
TURNS = [[0.0, 4.0, 8.0], [0.0, 5.5, -1.5]]  # [s], [rad] of a wrist: through half a turn and back


class Driver(NamedTuple):
    """A row of the table: a driver and its bounds of the RMS error as a share of the way."""

    differs: str
    states: dict[str, dict[str, Any]]  # of the proxy's drivers, by part
    given: dict[str, Any] = {}  # parameters of the controller
    commands: list[dict[str, Any]] = []  # of the proxy's; none: one driver takes all
    robot: str = 'pcc_arm'
    rate: float = RATE  # of the ticks [Hz]
    most: float = 0.01
    silent: str = ''  # part that falls silent once


def whole(names=SOFT, wire=None, **own):
    """Return the driver of one topic with all states."""
    renamed = {name: (wire or {}).get(name, name) for name in names}
    return {'all': {'topic': 'joint_states', 'names': renamed, 'rate': RATE, **own}}


def part(topic, names, rate=RATE, prefix='', **own):
    """Return one driver of some coordinates."""
    wire = {name: prefix + name for name in names}
    return {'topic': f'{topic}/joint_states', 'names': wire, 'rate': rate, **own}


def of(segment, names=SOFT):
    """Return the coordinates of a segment."""
    return [name for name in names if name.startswith(segment)]


TWO = {'state_topics': ['arm', 'soft'], 'states.arm.names': ['segment1/*']}
THREE = {
    'state_topics': ['one', 'two', 'three'],
    'states.one.names': ['segment1/*'],
    'states.two.names': ['segment2/*'],
}
IN_THREE = {
    'one': part('one', of('segment1')),
    'two': part('two', of('segment2'), 125.0),
    'three': part('three', of('segment3'), 60.0),
}


def two(rate=125.0, **own):
    """Return a driver of the first segment and a slower one of the others."""
    rest = of('segment2') + of('segment3')
    return {'arm': part('arm', of('segment1')), 'soft': part('soft', rest, rate, **own)}


SPLINE = {
    'reference.type': 'spline',
    'reference.spline.times': TURNS[0],
    'reference.spline.values': [x for angle in TURNS[1] for x in [0.0] * 5 + [angle]],
}
NAMED = {'joint_prefix': 'left_', 'joint_names.segment2/bend_x': 'middle bend'}
WIRE = {name: f'left_{name}' for name in SOFT} | {'segment2/bend_x': 'middle bend'}
PAN = {'joint_prefix': 'ur_', 'joint_names.wrist_3_joint': 'flange'}
PAN_WIRE = {name: f'ur_{name}' for name in ARM} | {'wrist_3_joint': 'flange'}
UNITS = {
    'command_topics': ['winches', 'cables', 'drives'],
    'commands.winches.actuators': ['t1', 't2', 't3'],
    'commands.winches.type': 'multi_array',
    'commands.winches.unit': 'mN',
    'commands.cables.actuators': ['t4', 't5', 't6'],
    'commands.cables.prefix': 'can_',
    'commands.drives.actuators': ['t7', 't8', 't9'],
    'commands.drives.type': 'joint_trajectory',
    'commands.drives.unit': 'kN',
}
IN_UNITS = [
    {'topic': 'winches/commands', 'kind': 'multi_array', 'unit': 1e-3,
     'names': {name: name for name in TENDONS[:3]}},
    {'topic': 'cables/joint_commands', 'names': {f'can_{name}': name for name in TENDONS[3:6]}},
    {'topic': 'drives/joint_trajectory', 'kind': 'joint_trajectory', 'unit': 1e3,
     'names': {name: name for name in TENDONS[6:]}},
]  # fmt: skip


def commanded(names, wire=None):
    """Return the driver of all commands."""
    return [{'topic': 'joint_commands', 'names': {(wire or {}).get(x, x): x for x in names}}]


WRIST = {'robot': 'ur10e', 'commands': commanded(ARM)}
CLEAN = {
    'pcc_arm': Driver('one topic, all states, 500 Hz', whole()),
    'ur10e': Driver('the same; a wrist turns by 7 rad', whole(ARM), SPLINE, **WRIST),
}
ZOO = {
    'extra names': Driver(
        'two joints of a gripper beside the own', whole(extra=['finger_1', 'finger_2'])
    ),
    'reordered': Driver('another order in every message', whole(shuffle=True)),
    'named': Driver(
        'a prefix, and one name mapped, states and commands', whole(wire=WIRE), NAMED,
        commanded(TENDONS, {name: f'left_{name}' for name in TENDONS}),
    ),
    'no velocities': Driver('`velocity` is empty', whole(velocities='none'), most=0.02),
    'nan velocities': Driver('`velocity` is nan', whole(velocities='nan'), most=0.02),
    'another clock': Driver('stamps of a clock 1000 s behind', whole(clock=-1000.0)),
    'two parts': Driver('500 and 125 Hz', two(), TWO, rate=125.0),
    'three parts': Driver('500, 125 and 60 Hz', IN_THREE, THREE, rate=60.0, most=0.05),
    'three parts, tick at 125 Hz': Driver(
        'the same, 60 Hz brought forward', IN_THREE, THREE | {'states.tick': 'two'}, rate=125.0,
        most=0.02,
    ),
    'three parts, tick at 500 Hz': Driver(
        'the same, both brought forward', IN_THREE, THREE | {'states.tick': 'one'}, most=0.02
    ),
    'late ticks': Driver(
        'the slow part, which makes ticks, comes 8 ms late; `delay` says so', two(late=0.008),
        TWO | {'states.shared_clock': True, 'delay': 0.008}, rate=125.0, most=0.02,
    ),
    'late ticks, unknown': Driver(
        'the same, the controller is not told', two(late=0.008), TWO, rate=125.0, most=0.3
    ),
    'late, fast ticks': Driver(
        'the same with one clock, the fast part makes ticks', two(late=0.008),
        TWO | {'states.shared_clock': True, 'states.tick': 'arm'}, most=0.02,
    ),
    'late, slow observer': Driver(
        'the same with `pfbl.observer: 0.02`', two(late=0.008),
        TWO | {'states.shared_clock': True, 'states.tick': 'arm', 'pfbl.observer': 0.02},
        most=0.05,
    ),
    'commands in three': Driver(
        'mN by position, prefix, kN in trajectories; states in two parts', two(), TWO | UNITS,
        IN_UNITS, rate=125.0,
    ),
    'a silent part': Driver(
        f'the slow part says nothing for {SILENCE:g} s', two(), TWO, rate=125.0, silent='soft'
    ),
    'wrapped': Driver(
        'angles in [-pi, pi)', whole(ARM, wrap=True), SPLINE, **WRIST
    ),
    'wrapped, named, extra': Driver(
        'these, a prefix, a mapped name, a gripper, no velocities',
        whole(ARM, PAN_WIRE, wrap=True, extra=['finger'], velocities='none'), SPLINE | PAN,
        commanded(ARM, PAN_WIRE), 'ur10e', most=0.02,
    ),
}  # fmt: skip


class Figures(NamedTuple):
    """Results of a run: errors of the outputs as shares of their way, of the tip [m]."""

    rms: float
    peak: float
    tip_rms: float
    tip_peak: float
    ticks: int
    missed: int
    trips: int
    refused: int
    warnings: list[str]
    said: float = math.nan  # [s] from the last message of a silent part to its name in the log
    back: float = math.nan  # [s] from its first message to the law's first command
    named: bool = False  # by /diagnostics


class Loop:
    """Both nodes with the drivers between them, in a folder."""

    def __init__(self, folder, driver, ends):
        self.folder, self.driver = folder, driver
        size = len(SOFT) if driver.robot == 'pcc_arm' else len(ARM)
        commands = driver.commands or commanded(TENDONS)
        given = {'states': driver.states, 'commands': commands, 'size': size}
        proxy = [sys.executable, str(Path(__file__).with_name('driver_zoo_proxy.py'))]
        self.proxy = subprocess.Popen(
            [*proxy, json.dumps(given)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        ends.callback(self.proxy.kill)
        if self.proxy.stdout.readline() != 'ready\n':
            raise SystemExit('the drivers did not start')
        self.values, self.messages, self.nodes = {}, [], {}
        self.node = rclpy.create_node('watch')
        ends.callback(self.node.destroy_node)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 20)
        wait = int(WATCHDOG * RATE)
        raw = {'joint_states': 'raw_states', 'joint_commands': 'raw_commands'}
        self._start('simulation', ends, {'rate': RATE, 'command_timeout_periods': wait}, raw)
        gains = {'reference.type': 'circle', 'reference.ramp_time': 1.0}
        periods = max(2, round(WATCHDOG * driver.rate))
        own = {'rate': driver.rate, 'watchdog_periods': periods, 'autostart': True}
        self._start('controller', ends, gains | own | driver.given)

    def _hear(self, message):
        for status in message.status:
            if status.name == CONTROLLER:
                self.values = {each.key: each.value for each in status.values}
                self.messages.append(status.message)

    def _start(self, name, ends, parameters, remapped=()):
        """Start a node with a parameter file of its own."""
        nested = {'/**': {'ros__parameters': {'robot': self.driver.robot, **parameters}}}
        record, file = self.folder / f'{name}.mcap', self.folder / f'{name}.yaml'
        nested['/**']['ros__parameters']['record'] = str(record)
        file.write_text(yaml.safe_dump(nested), encoding='utf-8')
        command = [sys.executable, '-m', f'softrobot_dynamics.nodes.{name}', '--ros-args']
        command += ['--params-file', str(file)]
        for topic in remapped:
            command += ['-r', f'{topic}:={remapped[topic]}']
        with without_priority(), open(self.folder / f'{name}.log', 'w') as log:
            self.nodes[name] = subprocess.Popen(command, stdout=log, stderr=log)
        ends.callback(self.nodes[name].kill)

    def log(self):
        """Return what the controller has said."""
        return (self.folder / 'controller.log').read_text(encoding='utf-8')

    def until(self, condition, what):
        """Hear diagnostics until a condition holds; end in words after all patience."""
        end = time.monotonic() + PATIENCE
        while not condition():
            gone = [name for name, node in self.nodes.items() if node.poll() is not None]
            if gone or time.monotonic() > end:
                raise SystemExit(f'{what}: nothing came; ended: {gone};\n{self.log()}')
            self._executor.spin_once(timeout_sec=0.02)

    def running(self):
        """Tell whether the law commands."""
        return self.values.get('mode') == 'running'

    def run(self, seconds):
        """Have the loop run; return what was seen of a silent part."""
        self.until(self.running, 'a closed loop')
        seen = self._silence() if self.driver.silent else {}
        end = time.monotonic() + SETTLE + seconds
        self.until(lambda: time.monotonic() > end, 'the end')
        trips, last = float(self.values['watchdog trips']), self.values
        for name in ('controller', 'simulation'):
            self.nodes[name].send_signal(signal.SIGTERM)
            self.nodes[name].wait(30)
        refused = sum(int(x) for key, x in last.items() if key.startswith('refused'))
        seen.update(missed=int(last['missed ticks']), trips=int(trips), refused=refused)
        return seen

    def _silence(self):
        """Silence a part once the reference is followed; return when it was said and healed."""
        end = time.monotonic() + SETTLE
        self.until(lambda: time.monotonic() > end, 'the circle')
        name = self.driver.silent
        self.proxy.stdin.write(f'{name} {SILENCE}\n')
        self.proxy.stdin.flush()
        last, back = json.loads(self.proxy.stdout.readline())
        words = f'no valid state of {name}', f'no valid states of {name}'
        self.until(lambda: words[0] in self.log(), 'the part by name')
        self.until(lambda: any(words[1] in each for each in self.messages), 'diagnostics')
        self.until(self.running, 'the loop again')
        return {'said': moment_of(self.log(), words[0]) - last, 'back': back, 'named': True}


def moment_of(log, words):
    """Return the time [s] of the first line of a log with words."""
    line = next(line for line in log.splitlines() if words in line)
    return float(re.search(r'\[(\d+\.\d+)\]', line)[1])


def measure(driver, seconds):
    """Return the Figures of a run."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ends:
        loop = Loop(Path(name), driver, ends)
        seen = loop.run(seconds)
        robot, law = (
            sd.read_recording(Path(name) / f'{node}.mcap') for node in ('simulation', 'controller')
        )
        warnings = re.findall(r'\[(?:WARN|ERROR)\].*?\]: (.*)', loop.log())
    lawful = law['mode'] == law.facts['modes'].index('running')
    if driver.silent:
        after = law['log_time'] * 1e-9 > seen['back']
        first = law['log_time'][lawful & after][0] * 1e-9
        seen['back'] = first - seen['back']
        lawful &= law['log_time'] * 1e-9 > first
    begin = law['log_time'][lawful][0] + SETTLE * 1e9
    chosen = lawful & (law['log_time'] > begin)
    return Figures(*errors(driver, robot, law, chosen), ticks=len(law), warnings=warnings, **seen)


def errors(driver, robot, law, chosen):
    """Return RMS and peak of outputs, as shares of their way, and of the tip [m]."""
    model = sd.compile_model(sd.load_robot(driver.robot))
    shift = driver.given.get('delay', 0.0) - driver.states.get('all', {}).get('clock', 0.0)
    stamps, y_d = law['stamp'][chosen] + round(shift * 1e9), law['y_d'][chosen]
    at = np.clip(np.searchsorted(robot['stamp'], stamps), 0, len(robot) - 1)
    q = robot['q'][at]
    y = np.array([actuation_coordinates(model, each) for each in q])
    off = np.abs(y - y_d) / np.ptp(y_d, axis=0).max()
    tips = np.array([sd.forward_kinematics(model, q=each)[-1][:3, 3] for each in q])
    if driver.robot == 'pcc_arm':
        away = tips - CIRCLE['center']
        radius = np.linalg.norm(away[:, :2], axis=1) - CIRCLE['radius']
        tip = np.hypot(radius, away[:, 2])
    else:
        wanted = [sd.forward_kinematics(model, q=each)[-1][:3, 3] for each in y_d]
        tip = np.linalg.norm(tips - wanted, axis=1)
    rms = np.sqrt((off**2).mean(axis=0)).max()
    return rms, off.max(), np.sqrt((tip**2).mean()), tip.max()


def faults(driver, found):
    """Return in words in what a run is beyond its bounds."""
    wrong = []
    if not found.rms < driver.most:
        wrong.append(f'outputs off by {100 * found.rms:.2f} %, allowed {100 * driver.most:g} %')
    expected = 1 if driver.silent else 0
    if found.trips != expected:
        wrong.append(f'{found.trips} watchdog trips, expected {expected}')
    if driver.silent and not WATCHDOG * 0.8 < found.said < WATCHDOG + 0.1:
        wrong.append(f'the silent part was named after {found.said * 1e3:.0f} ms')
    if driver.silent and not 0.0 <= found.back < 1.0:
        wrong.append(f'the loop was closed {found.back * 1e3:.0f} ms after the part came back')
    if len(set(found.warnings)) < len(found.warnings):
        wrong.append(f'said more than once: {found.warnings}')
    return wrong


def row(name, driver, found, clean):
    """Return a line of the table; ``clean`` is the RMS error of the clean robot."""
    cells = [
        name, driver.differs, f'{100 * found.rms:.3f} / {100 * found.peak:.3f} %',
        f'{1e3 * found.tip_rms:.2f} / {1e3 * found.tip_peak:.2f}', f'{found.rms / clean:.1f}',
        f'{100 * found.missed / max(1, found.ticks + found.missed):.2f} %', str(found.trips),
    ]  # fmt: skip
    return f'| {" | ".join(cells)} |'


def tables(runs):
    """Return the lines of the table and of the notes of runs (name, Driver, Figures)."""
    heads = 'driver', 'what differs', 'outputs RMS / peak', 'tip RMS / peak [mm]', 'ratio'
    lines = [f'| {" | ".join((*heads, "missed", "trips"))} |', '| --- ' * 7 + '|']
    clean = {}
    for robot in CLEAN:
        own = [f.rms for name, d, f in runs if name == 'clean' and d.robot == robot]
        clean[robot] = float(np.median(own or [np.nan]))
    shown, notes = set(), []
    for name, driver, found in runs:
        if name != 'clean' or driver.robot not in shown:
            lines.append(row(name, driver, found, clean[driver.robot]))
        shown.add(driver.robot)
        notes += [f'{name}: {words}' for words in found.warnings]
        if driver.silent:
            notes.append(
                f'{name}: named after {found.said * 1e3:.0f} ms, the loop closed'
                f' {found.back * 1e3:.0f} ms after it came back'
            )
    return [*lines, '', *notes]


def main():
    """Run the drivers, print the table, and tell by the status whether all kept their bounds."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=10.0, help='that are measured, of each')
    parser.add_argument('--quick', action='store_true', help='2 s of each')
    parser.add_argument('--only', nargs='+', choices=ZOO, default=list(ZOO), metavar='DRIVER')
    options = parser.parse_args()
    seconds = 2.0 if options.quick else options.seconds
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    rclpy.init()
    runs, broken, known = [], [], set()

    def take(name, driver):
        found = measure(driver, seconds)
        runs.append((name, driver, found))
        broken.extend(f'{name}: {words}' for words in faults(driver, found))
        print(f'{name}: {100 * found.rms:.3f} %', flush=True)

    for k, name in enumerate(options.only):
        driver = ZOO[name]
        if k % 3 == 0 or driver.robot not in known:
            take('clean', CLEAN[driver.robot])
            known.add(driver.robot)
        take(name, driver)
    print('', *tables(runs), sep='\n')
    print('', *(broken or ['all within their bounds']), sep='\n')
    sys.exit(bool(broken))


if __name__ == '__main__':
    main()
