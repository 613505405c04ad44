# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Records of a demo as both nodes would write them, of a made-up motion."""

import json
import shutil

import numpy as np
from softrobot_dynamics.description import load_robot
from softrobot_dynamics.shipped import shipped

PERIOD, EPOCH = 0.01, 1.7e9  # [s]
RADIUS, TURN = 0.2, 1.0  # of the circle [m], [s]
SIMULATION_MODES = ('idle', 'driven by commands', 'stale')
CONTROLLER_MODES = ('waiting', 'running', 'no valid state')


def columns(ticks=300, before=50, n=2, m=2):
    """
    Return (simulation, controller): columns by name, of a loop closed for `ticks` periods.

    The simulation runs for `before` periods first, and as long afterwards.
    """
    total = before + ticks + before
    time = PERIOD * np.arange(total)
    q = np.sin(time[:, None] + np.arange(n))
    u = 5.0 + np.cos(time[:, None] + np.arange(m))
    closed = slice(before, before + ticks)
    mode, trip = np.zeros(total), np.full(total, np.nan)
    mode[before:], mode[before + ticks :], trip[closed] = 1.0, 2.0, 2e-4
    names = {
        'coordinate_names': np.array([f'q{i}' for i in range(n)]),
        'actuator_names': np.array([f'a{i}' for i in range(m)]),
    }
    simulation = {
        'stamp': EPOCH + time, 't': time, 'q': q, 'qd': 0.0 * q, 'u': u, 'round_trip': trip,
        'mode': mode, 'late': np.full(total, 1e-5), 'modes': np.array(SIMULATION_MODES),
        'period': np.array(PERIOD), **names,
    }  # fmt: skip
    y = q[closed, :1] + np.zeros((1, m))
    controller = {
        'stamp': EPOCH + time[closed], 't': time[:ticks], 'q': q[closed], 'qd': 0.0 * q[closed],
        'u': u[closed], 'y': y, 'y_d': y + 1e-3, 'mode': np.ones(ticks),
        'modes': np.array(CONTROLLER_MODES), **names,
    }  # fmt: skip
    return simulation, controller


def write_demo(folder, robot='double_pendulum', kind='circle', **changes):
    """Write the folder of a demo of a shipped robot; `changes` replace columns of both files."""
    description = load_robot(robot)
    simulation, controller = columns(n=description.n, m=len(description.actuators))
    for record in (simulation, controller):
        record['coordinate_names'] = np.array(description.coordinate_names)
        record['actuator_names'] = np.array(description.actuator_names)
        record.update({name: values for name, values in changes.items() if name in record})
    np.savez(folder / 'simulation.npz', **simulation)
    np.savez(folder / 'controller.npz', **controller)
    shutil.copyfile(shipped('robots')[robot], folder / 'robot.yaml')
    facts = {'robot': robot, 'parameters': parameters(kind)}
    (folder / 'demo.json').write_text(json.dumps(facts), encoding='utf-8')


def parameters(kind='circle'):
    """Return the controller's parameters that say what was to be followed."""
    circle = {'body': 'tip', 'center': [0.0, 0.0, -1.4], 'normal': [0.0, 1.0, 0.0],
              'radius': RADIUS, 'period': TURN}  # fmt: skip
    return {
        'reference.type': kind,
        'reference.ramp_time': 0.5,
        'controlled': [],
        **{f'reference.circle.{name}': value for name, value in circle.items()},
    }
