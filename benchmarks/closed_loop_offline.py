# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The closed loop without ROS: how much faster than real time, and how closely the demos follow.

    python benchmarks/closed_loop_offline.py                       all shipped robots
    python benchmarks/closed_loop_offline.py pcc_arm --duration 20
    python benchmarks/closed_loop_offline.py pcc_arm --delay 0.002 --known 0.002

The shipped controller's parameters and reference, at 1 kHz. RMS of what is left of the errors of
the controlled outputs, as a share of the way of each, the largest of them. ``--delay`` [s] is how
late commands act, ``--known`` what the law is told of that.
"""

import argparse
from pathlib import Path
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.references.contract import trajectory
import yaml

HERE = Path(__file__).resolve().parents[1]
BLEND = 2.0  # [s] more than the ramp, after which errors count


def shipped_task(name):
    """Return (model, names of controlled actuators, gains, ramp [s], Reference) of a demo."""
    text = (HERE / 'config' / 'controllers' / f'{name}.yaml').read_text(encoding='utf-8')
    values = yaml.safe_load(text)['/**']['controller']['ros__parameters']
    model, given = sd.compile_model(sd.load_robot(name)), values['reference']
    names = values.get('controlled') or model.actuator_names
    indices = [model.actuator_names.index(each) for each in names]
    flat = {'reference.type': given['type'], 'reference.setpoint': given.get('setpoint', ())}
    for kind in ('circle', 'path'):
        flat |= {f'reference.{kind}.{key}': x for key, x in given.get(kind, {}).items()}
    reference = trajectory(flat).plan(model, indices, model.q0).reference
    return model, names, values['gains'], given['ramp_time'], reference


def measure(name, options):
    """Return (times as fast as real time, largest share of the way that is left of an error)."""
    model, names, gains, ramp, reference = shipped_task(name)
    law = sd.Law('pfbl', controlled=names, parameters={**gains, 'delay': options.known})
    given = {'start': sd.Start(ramp=ramp), 'plant': sd.Plant(delay=options.delay)}
    sd.closed_loop(model, law, reference, 0.01, **given)
    begin = time.perf_counter()
    run = sd.closed_loop(model, law, reference, options.duration, **given)
    passed = time.perf_counter() - begin
    late = run.t > ramp + BLEND
    chosen = [model.actuator_names.index(each) for each in names]
    errors = (run.y[:, chosen] - run.y_d)[late]
    ways = np.maximum(np.ptp(run.y_d[late], axis=0), np.abs(run.y_d[-1] - run.y[0, chosen]))
    shares = np.sqrt((errors**2).mean(axis=0)) / ways.max()
    return options.duration / passed, shares.max(), run.ok.all()


def main():
    """Print a line for each robot."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    shipped = sorted(path.stem for path in (HERE / 'config' / 'controllers').glob('*.yaml'))
    parser.add_argument('robots', nargs='*', default=shipped)
    parser.add_argument('--duration', type=float, default=10.0, help='[s]')
    parser.add_argument('--delay', type=float, default=0.0, help='[s]')
    parser.add_argument('--known', type=float, default=0.0, help='[s]')
    options = parser.parse_args()
    for name in options.robots:
        fast, share, ok = measure(name, options)
        state = '' if ok else '  the law failed'
        print(f'{name:20s} {fast:6.1f} times real time, error {share:8.2%}{state}', flush=True)


if __name__ == '__main__':
    main()
