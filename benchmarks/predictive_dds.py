# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The law `predictive` over DDS: the tip of pcc_arm round a circle, and along a wall.

Two processes: the simulation, and the controller, whose solutions have a thread of their own. The
tip is where the states that the controller answered have it, from 2 s after the blend-in on. The
circle has 100 mm and 1 s; along the wall (:mod:`predictive_wall`) the tip goes back and forth, and
meets it anew each time.
"""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np
from predictive_wall import LAP, LIMIT, TIP, wall_description
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.settings import whole_count
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.loops.orders import TakenOrders
from softrobot_dynamics.references.path import Path as TipPath
import yaml

LAW = Path(__file__).parent.parent / 'examples/predictive/pcc_arm.yaml'
DISTAL = ['controlled:=[t7, t8, t9]']
LOAD = 0.16  # [kg], a fifth of pcc_arm
BLEND, SETTLE = 1.0, 2.0  # [s]


class Run(NamedTuple):
    """Record of a loop, from SETTLE after the blend-in on."""

    t: np.ndarray  # (T,) [s] since the law began
    q: np.ndarray  # (T, n)
    missed: float  # share of ticks
    late: float  # share of solutions

    def loss(self):
        """Return the shares in words."""
        return (
            f'{100 * self.missed:.2f} % of ticks missed, {100 * self.late:.2f} % of solutions late'
        )


def off_robot(path):
    """Write pcc_arm a fifth heavier and stiffer, with a fifth of its mass at the tip."""
    robot = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    for module in robot['bodies']:
        body = module['body'] = dict(module['body'])
        body['density'], body['young_modulus'] = 1.2 * body['density'], 1.2 * body['young_modulus']
    load = {'type': 'rigid', 'mass': LOAD, 'com': [0.0, 0.0, 0.0]}
    robot['bodies'].append({'name': 'load', 'joint': {'type': 'fixed'}, 'body': load})
    path.write_text(yaml.safe_dump(robot))
    return path


def node(ends, name, log, priority, *arguments):
    """Start a node, which ends with ``ends``; return its process."""
    command = [sys.executable, '-m', f'softrobot_dynamics.nodes.{name}']
    command += ['--priority', str(priority), '--ros-args', *arguments]
    process = subprocess.Popen(command, stdout=log.open('w'), stderr=subprocess.STDOUT)
    ends.callback(process.kill)
    return process


def run(folder, robot, law, parameters, options):
    """Return the :class:`Run` of a loop of a robot under a law, a file of parameters and more."""
    rate, priority, slow = options.loop_rate, options.priority, options.real_time_factor
    record = folder / 'controller.mcap'
    record.unlink(missing_ok=True)
    own = [f'rate:={rate}', f'record:={record}', 'autostart:=true', *parameters]
    own += [f'reference.ramp_time:={BLEND}']
    given = [part for each in own for part in ('-p', each)]
    with contextlib.ExitStack() as ends:
        log = folder / 'simulation.log', folder / 'controller.log'
        about = [f'robot:={robot}', f'rate:={rate}', f'real_time_factor:={slow}']
        about = [part for each in about for part in ('-p', each)]
        simulation = node(ends, 'simulation', log[0], priority, *about)
        controller = node(ends, 'controller', log[1], priority, '--params-file', str(law), *given)
        end = time.monotonic() + 300.0
        while 'driven by commands' not in log[0].read_text():
            if time.monotonic() > end or controller.poll() is not None:
                raise SystemExit(f'the loop did not start: {log[1].read_text()}')
            time.sleep(0.05)
        time.sleep((options.seconds + BLEND + SETTLE) / slow)
        for process in (controller, simulation):
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    data = sd.read_recording(record)
    began = np.flatnonzero(data['orders'].astype(int) & int(TakenOrders.BEGAN))[-1]
    t = data['t'][began:] - data['t'][began]
    used = t > BLEND + SETTLE
    if not used.any():
        raise SystemExit(f'the law began anew {t[-1]:.1f} s before the end: {log[1].read_text()}')
    t = t[used]
    missed = max(0.0, 1.0 - (len(t) - 1) / (rate * (t[-1] - t[0])))
    due = {note['solution.due'] for _, note in data.parameters if 'solution.due' in note}
    ticks = whole_count(settings_of(law)['predictive']['interval'], 1.0 / rate)
    solutions = (data['t'][-1] - data['t'][0]) * rate / ticks
    return Run(t, data['q'][began:][used], missed, len(due) / solutions)


def settings_of(law):
    """Return the parameters in a file of the controller's."""
    return yaml.safe_load(Path(law).read_text())['/**']['controller']['ros__parameters']


def over_dds(options):
    """Print errors of the tip over DDS."""
    with loops(options) as folder:
        other, model = off_robot(folder / 'off.yaml'), sd.compile_model(sd.load_robot('pcc_arm'))
        for words, robot, given in (
            ('9 tendons', 'pcc_arm', ()),
            ('the three distal ones, the others slack', 'pcc_arm', DISTAL),
            ('mass and stiffness 20 % off, a load of a fifth', other, ()),
        ):
            found = run(folder, robot, LAW, given, options)
            tips = np.array([sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in found.q])
            a = 2 * np.pi * found.t
            target = np.stack([0.1 * np.cos(a), 0.1 * np.sin(a)], axis=1)
            off = np.hypot(np.linalg.norm(tips[:, :2] - target, axis=1), tips[:, 2] - 0.57)
            off, rms = 1e3 * off, 1e3 * np.sqrt((off**2).mean())
            print(
                f'{words}: tip {rms:.3f} mm RMS, {off.max():.3f} most; {found.loss()}', flush=True
            )


def wall_over_dds(options):
    """Print forces and errors of the tip along a wall over DDS."""
    with loops(options) as folder:
        robot, law = folder / 'robot.yaml', folder / 'law.yaml'
        robot.write_text(yaml.safe_dump(wall_description()))
        model = sd.compile_model(sd.load_robot(robot))
        for words, limit in (('contact', None), (f'contact, {LIMIT:g} N at most', LIMIT)):
            own = settings_of(LAW) | {'robot': str(robot)}
            own['predictive'] = own['predictive'] | {'contact': True}
            if limit is not None:
                own['predictive']['contact_force'] = limit
            own['reference'] = {'type': 'path', 'path': LAP | {'bodies': [TIP]}}
            law.write_text(yaml.safe_dump({'/**': {'controller': {'ros__parameters': own}}}))
            found = run(folder, robot, law, (), options)
            print(f'{words}: {along(model, found)}; {found.loss()}', flush=True)


def along(model, found):
    """Return in words forces and errors of the tip while it is led along the wall."""
    goals = TipPath(bodies=(TIP,), **LAP).targets().points(found.t)[:, 0]
    tips = np.array([sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in found.q])
    force = np.array([sd.contacts(model, q=q).force.max(initial=0.0) for q in found.q])
    phase = found.t % LAP['times'][-1]
    sliding = (phase > LAP['times'][1]) & (phase < LAP['times'][2])
    off = 1e3 * np.linalg.norm((tips - goals)[sliding, 1:], axis=1)
    return (
        f'force {force.max():.2f} N at most, {force[sliding].max():.2f} N sliding; tip'
        f' {np.sqrt((off**2).mean()):.3f} mm RMS along the wall'
    )


@contextlib.contextmanager
def loops(options):
    """Yield a folder for loops beside busy processes, as many as asked for."""
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ends:
        for _ in range(options.jobs):
            ends.callback(subprocess.Popen([sys.executable, '-c', 'while True: pass']).kill)
        os.environ['ROS_LOG_DIR'] = name
        yield Path(name)
