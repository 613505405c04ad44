# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The tip of pcc_arm round a circle of 100 mm in 1 s over DDS, by the law `predictive`.

Two processes: the simulation, and the controller, whose solutions have a thread of their own. The
tip is where the states that the controller answered have it, from 2 s after the blend-in on.
"""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.loops.orders import TakenOrders
import yaml

LAW = Path(__file__).parent.parent / 'examples/predictive/pcc_arm.yaml'
DISTAL = ['controlled:=[t7, t8, t9]']
LOAD = 0.16  # [kg], a fifth of pcc_arm
BLEND, SETTLE, INTERVAL = 1.0, 2.0, 0.004  # [s]


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


def circle(folder, robot, parameters, seconds, options):
    """Return (tip errors (T,) [mm], shares of ticks missed and of solutions late)."""
    rate, priority, slow = options.loop_rate, options.priority, options.real_time_factor
    record = folder / 'controller.mcap'
    record.unlink(missing_ok=True)
    own = [f'rate:={rate}', f'record:={record}', 'autostart:=true', *parameters]
    own += [f'reference.ramp_time:={BLEND}', f'predictive.interval:={INTERVAL}']
    given = [part for each in own for part in ('-p', each)]
    with contextlib.ExitStack() as ends:
        log = folder / 'simulation.log', folder / 'controller.log'
        about = [f'robot:={robot}', f'rate:={rate}', f'real_time_factor:={slow}']
        about = [part for each in about for part in ('-p', each)]
        simulation = node(ends, 'simulation', log[0], priority, *about)
        law = '--params-file', str(LAW), *given
        controller = node(ends, 'controller', log[1], priority, *law)
        end = time.monotonic() + 300.0
        while 'driven by commands' not in log[0].read_text():
            if time.monotonic() > end or controller.poll() is not None:
                raise SystemExit(f'the loop did not start: {log[1].read_text()}')
            time.sleep(0.05)
        time.sleep((seconds + BLEND + SETTLE) / slow)
        for process in (controller, simulation):
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    data, model = sd.read_recording(record), sd.compile_model(sd.load_robot('pcc_arm'))
    began = np.flatnonzero(data['orders'].astype(int) & int(TakenOrders.BEGAN))[-1]
    t = data['t'][began:] - data['t'][began]
    late = t > BLEND + SETTLE
    if not late.any():
        raise SystemExit(f'the law began anew {t[-1]:.1f} s before the end: {log[1].read_text()}')
    t, states = t[late], data['q'][began:][late]
    tips = np.array([sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in states])
    target = np.stack([0.1 * np.cos(2 * np.pi * t), 0.1 * np.sin(2 * np.pi * t)], axis=1)
    off = np.hypot(np.linalg.norm(tips[:, :2] - target, axis=1), tips[:, 2] - 0.57)
    missed = max(0.0, 1.0 - (len(t) - 1) / (rate * (t[-1] - t[0])))
    due = {note['solution.due'] for _, note in data.parameters if 'solution.due' in note}
    solutions = (data['t'][-1] - data['t'][0]) / max(1.0 / rate, INTERVAL)
    return 1e3 * off, missed, len(due) / solutions


def over_dds(options):
    """Print errors of the tip over DDS."""
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as ends:
        for _ in range(options.jobs):
            ends.callback(subprocess.Popen([sys.executable, '-c', 'while True: pass']).kill)
        folder = Path(name)
        os.environ['ROS_LOG_DIR'] = name
        other = off_robot(folder / 'off.yaml')
        for words, robot, given in (
            ('9 tendons', 'pcc_arm', ()),
            ('the three distal ones, the others slack', 'pcc_arm', DISTAL),
            ('mass and stiffness 20 % off, a load of a fifth', other, ()),
        ):
            off, missed, late = circle(folder, robot, given, options.seconds, options)
            rms = np.sqrt((off**2).mean())
            print(
                f'{words}: tip {rms:.3f} mm RMS, {off.max():.3f} most;'
                f' {100 * missed:.2f} % of ticks missed, {100 * late:.2f} % of solutions late',
                flush=True,
            )
