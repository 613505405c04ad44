# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The example of three drivers in closed loop, beside the same task in a single simulation.

    python benchmarks/hybrid_drivers.py
    python benchmarks/hybrid_drivers.py --rate 250   # on a machine that is too slow for it

Simulation 2 of the paper, three phases: `hybrid_arm` with drives of forces and with drives of
positions, each a simulation that answers every state (`lockstep`), and the processes of
examples/hybrid_drivers in real time: simulated hardware, estimator, regulator, controller. All
have the same laws, gains and rate, but an estimator of 250 Hz; they begin as the hardware does:
joints at zero, the soft arm hanging at rest. Needs rclpy. Results count only if the four processes
keep to the rate: the last lines say how late the simulation was, and what share of a processor
each process took.

By phase, of true states: largest and RMS distance of the tip from that of the simulation with
drives of forces at the same time after the first tick; largest and RMS error of the six joints
from their reference; bends and elongation at the end of the phase; and the largest error of what
the controller heard of the bends.
"""

import argparse
import contextlib
import os
from pathlib import Path
import sys
import tempfile
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.demo.processes import keep_to_this_machine
from softrobot_dynamics.recordings.reading import read_recording
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
import yaml

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / 'examples' / 'hybrid_drivers'
LAWS = ROOT / 'config' / 'controllers' / 'hybrid_arm.yaml'
FORCE = ROOT / 'config' / 'robots' / 'hybrid_arm.yaml'
POSITION = EXAMPLE / 'hybrid_arm_position.yaml'
PHASES = {'reach': (0.0, 3.0), 'bend': (3.0, 5.0), 'grip': (5.0, 8.0)}  # [s]
TIP = 'soft_arm'
LOCKSTEP = {
    'real_time_factor': 0.0, 'command_timing': 'lockstep',
    'wait_for_commands': 'true',
}  # fmt: skip
RATE = 500.0  # [Hz], of the example's arm
PATIENCE = 300.0  # [s] of real time until the robot moves


class Processes:
    """Nodes as processes with logs in a folder."""

    def __init__(self, folder):
        self._folder, self._stack = folder, contextlib.ExitStack()
        self._started = {}
        folder.mkdir()

    def node(self, name, *options, **parameters):
        """Start a node; its parameters go before those of the files."""
        words = [f'{name}:{key.replace("__", ".")}:={value}' for key, value in parameters.items()]
        own = [*options, *(p for w in words for p in ('-p', w))]
        self.program(name, ['-m', f'softrobot_dynamics.nodes.{name}', '--ros-args', *own])

    def program(self, name, arguments):
        """Start a Python program."""
        import subprocess

        log = self._stack.enter_context(open(self._folder / f'{name}.log', 'wb'))
        command = [sys.executable, *map(str, arguments)]
        started = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder)
        self._started[name] = started
        self._stack.callback(_end, started)

    def processor_times(self):
        """Return the processor time [s] that each process has had so far, by name."""
        ticks = os.sysconf('SC_CLK_TCK')
        found = {}
        for name, process in self._started.items():
            words = Path(f'/proc/{process.pid}/stat').read_text('utf-8')
            user, system = words.rpartition(')')[2].split()[11:13]
            found[name] = (int(user) + int(system)) / ticks
        return found

    def wait_for(self, name, words):
        """Wait until a log has words; RuntimeError with the log if they do not come."""
        log, late = self._folder / f'{name}.log', time.monotonic() + PATIENCE
        while words not in (text := log.read_text('utf-8', 'replace')):
            if time.monotonic() > late:
                raise RuntimeError(f'{name} did not say {words!r}:\n{text}')
            time.sleep(0.05)

    def end(self):
        """End all of them, the last that was started first."""
        self._stack.close()


def _end(process):
    import signal
    import subprocess

    process.send_signal(signal.SIGINT)
    try:
        process.wait(15.0)
    except subprocess.TimeoutExpired:
        process.kill()


def hanging(robot, folder):
    """Return a robot file like that of a ``robot`` which begins where its soft bodies hang."""
    description = yaml.safe_load(Path(robot).read_text('utf-8'))
    still = ActuatedSimulator(sd.compile_model(sd.load_robot(POSITION)))
    still.reset(np.zeros(still.model.n))
    for _ in range(500):
        still.step(np.zeros(still.model.m), 0.01)
    names = still.model.coordinate_names
    description['initial'] = {name: float(x) for name, x in zip(names, still.q)}
    path = folder / 'robot.yaml'
    path.write_text(yaml.safe_dump(description), 'utf-8')
    return path


def alone(folder, robot, seconds, rate):
    """Return the records (controller, simulation) of a single simulation in lockstep."""
    run = Processes(folder)
    robot = hanging(robot, folder)
    try:
        common = {'robot': robot, 'rate': rate, **LOCKSTEP}
        pace = {'command_timeout_periods': 10_000, 'record': folder / 'simulation.mcap'}
        run.node('simulation', **common, **pace)
        files = '--params-file', LAWS
        own = {'robot': robot, 'rate': rate, 'autostart': 'true', 'watchdog_periods': 4000}
        run.node('controller', *files, **own, delay=0.0, record=folder / 'controller.mcap')
        run.wait_for('simulation', 'driven by commands')
        _wait(folder, seconds)
    finally:
        run.end()
    return records(folder)


def drivers(folder, seconds, rate=None):
    """
    Return the records (controller, simulation) of the example's processes, and what they take.

    That is by name the share of a processor while the robot is driven. At a ``rate`` [Hz] that is
    not the example's the law's delay is that of a wait of half a period, and the estimator is no
    faster. The controller comes first: its reference is planned at ordinary priority, for which
    running nodes leave little time. The estimator comes last: the controller waits for its states,
    and it takes commands for acting, which they do only once regulator and simulation have found
    each other.
    """
    run = Processes(folder)
    pace = {name: {} for name in ('simulation', 'estimator', 'controller')}
    if rate is not None:
        known = yaml.safe_load((EXAMPLE / 'drivers.yaml').read_text('utf-8'))['/**']
        slowest = min(rate, known['estimator']['ros__parameters']['rate'])
        pace['simulation']['rate'], pace['estimator']['rate'] = rate, slowest
        pace['controller'] = {'rate': rate, 'delay': 0.002 + 0.5 / rate}
    robot = hanging(POSITION, folder)
    try:
        own = {'estimator': EXAMPLE / 'sensors.yaml'}
        files = '--params-file', LAWS, '--params-file', EXAMPLE / 'drivers.yaml'
        record = folder / 'controller.mcap'
        run.node('controller', *files, robot=POSITION, record=record, **pace['controller'])
        run.wait_for('controller', 'recording in')
        run.program('regulator', [EXAMPLE / 'regulator.py'])
        states = '-r', '~/ur10e/joint_states:=ur10e/joint_states'
        simulated = own | pace['simulation'] | {'robot': robot}
        run.node('simulation', *files, *states, **simulated, record=folder / 'simulation.mcap')
        run.wait_for('simulation', 'recording in')
        estimates = '-r', 'joint_states:=soft/joint_states'
        run.node('estimator', *files, *estimates, robot=POSITION, **own, **pace['estimator'])
        run.wait_for('simulation', 'driven by commands')
        before, begin = run.processor_times(), time.monotonic()
        time.sleep(seconds + 1.0)
        after, passed = run.processor_times(), time.monotonic() - begin
    finally:
        run.end()
    shares = {name: (after[name] - before[name]) / passed for name in after}
    return *records(folder), shares


def _wait(folder, seconds):
    """Wait until a record of a simulation as fast as it can be has so many seconds."""
    late, file = time.monotonic() + PATIENCE, folder / 'simulation.mcap'
    while time.monotonic() < late:
        time.sleep(1.0)
        with contextlib.suppress(Exception):
            stamps = read_recording(file)['stamp']
            if stamps[-1] - stamps[0] > (seconds + 0.5) * 1e9:
                return
    raise RuntimeError(f'{folder}: the simulation did not come to {seconds} s')


def records(folder):
    """Return the records (controller, simulation) in a folder."""
    return tuple(read_recording(folder / f'{name}.mcap') for name in ('controller', 'simulation'))


def lateness(controller, simulation):
    """Return by how much [s] the simulated hardware was late at most while it was driven."""
    return simulation['late'][simulation['stamp'] >= controller['stamp'][0]].max()


def sampled(model, record, seconds, period=0.01):
    """Return times, q (k, n), tips (k, 3), y_d (k, 6), heard q of a pair of records."""
    controller, simulation = record
    start = controller['stamp'][0]
    t = np.arange(0.0, seconds, period)

    def at(run, name):
        own = (run['stamp'] - start) * 1e-9
        return np.transpose([np.interp(t, own, column) for column in run[name].T])

    q = at(simulation, 'q')
    body = model.body_names.index(TIP)
    tips = np.array([sd.forward_kinematics(model, q=each)[body][:3, 3] for each in q])
    return t, q, tips, at(controller, 'y_d')[:, :6], at(controller, 'q')


def table(model, runs, seconds):
    """Print and return, for each run and phase, the figures of the module's words."""
    found = {name: sampled(model, run, seconds) for name, run in runs.items()}
    reference = next(iter(found.values()))[2]
    rows = {}
    print('run                phase  tip [mm] max  rms  joints [mrad] max  rms '
          '  bends [rad], elongation at the end   heard bends [mrad] max')  # fmt: skip
    for name, (t, q, tips, y_d, heard) in found.items():
        for phase, (begin, end) in PHASES.items():
            own = (t >= begin) & (t < min(end, seconds))
            if not own.any():
                continue
            away = 1e3 * np.linalg.norm(tips - reference, axis=1)[own]
            joints = 1e3 * np.abs(q[:, :6] - y_d)[own]
            joints = joints[np.isfinite(joints).all(axis=1)]
            wrong = 1e3 * np.abs(q - heard)[own][:, 6:8].max()
            last = q[own][-1, 6:9]
            rows[name, phase] = away.max(), _rms(away), joints.max(), _rms(joints), *last, wrong
            print(f'{name:18} {phase:6} {away.max():9.2f} {_rms(away):7.2f} {joints.max():12.2f} '
                  f'{_rms(joints):8.3f}    {last[0]:8.4f} {last[1]:8.4f} {last[2]:8.4f} '
                  f'{wrong:12.1f}', flush=True)  # fmt: skip
    return rows


def _rms(errors):
    return float(np.sqrt((errors**2).mean()))


def main():
    """Run all three, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=8.0, help='of the task')
    parser.add_argument('--rate', type=float, help="of all processes [Hz], else the example's")
    parser.add_argument('--keep', type=Path, help='folder for records and logs, which must not be')
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    keep_to_this_machine(folder)
    *driven, shares = drivers(folder / 'drivers', options.seconds, options.rate)
    rate = options.rate or RATE
    runs = {
        'force drives': alone(folder / 'force', FORCE, options.seconds, rate),
        'position drives': alone(folder / 'position', POSITION, options.seconds, rate),
        'three drivers': driven,
    }
    table(sd.compile_model(sd.load_robot('hybrid_arm')), runs, options.seconds)
    late = lateness(*runs['three drivers'])
    print(f'simulated hardware late by {1e3 * late:.1f} ms at most while it was driven')
    own = ', '.join(f'{name} {share:.2f}' for name, share in shares.items())
    print(f'processors: {own}; {sum(shares.values()):.2f} in all')


if __name__ == '__main__':
    main()
