# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The closed loop where tendons are told positions: pcc_arm on its circle, by the cables' compliance.

    python benchmarks/position_tendons.py
    python benchmarks/position_tendons.py --compliance 1e-4 1e-5 --duration 8 --substep 1e-4

The shipped arm, gains and circle at 1 kHz without ROS, its tendons on spools of 10 mm; last the
same with tensions. RMS of the error of the outputs, as a share of the largest way of one; how far
the tip is off the circle's radius; the range of tensions, all after 4 s; and the rate at which the
law says that the slowest error falls at a posture of the circle.
"""

import argparse
from pathlib import Path

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.references.contract import trajectory
import yaml

CONFIG = Path(__file__).resolve().parents[1] / 'config'
AFTER, RAMP = 4.0, 2.0  # [s]


def read(folder):
    """Return what the YAML file of pcc_arm in a folder says."""
    return yaml.safe_load((CONFIG / folder / 'pcc_arm.yaml').read_text(encoding='utf-8'))


def arm(compliance):
    """Return the model of the arm with cables of a compliance [m/N], None: told tensions."""
    robot = read('robots')
    for tendon in robot['actuators'] if compliance else ():
        drive = {'compliance': compliance, 'radius': 0.01, 'pretension': 3.0}
        tendon.update(command='position', drive={**drive, 'tension': tendon.pop('limits')})
        del tendon['rate_limit']
    return sd.compile_model(sd.load_robot(robot))


def measure(compliance, options):
    """Return (share of the way, error of the radius [m], (least, most) tension, rate [1/s])."""
    model = arm(compliance)
    values = read('controllers')['/**']['controller']['ros__parameters']
    circle = values['reference']['circle']
    flat = {f'reference.circle.{key}': x for key, x in circle.items()}
    motion = trajectory({'reference.type': 'circle', **flat}).plan(model, range(model.m), model.q0)
    settings = PartialFeedbackLinearization.make_settings(model, **values['gains'])
    law = PartialFeedbackLinearization(model, period=1e-3, settings=settings)
    q, u = motion.postures.q[20], motion.postures.u[20]
    rate = law.growth(q, sd.commands(model, q=q, u=u), settings)
    run = sd.closed_loop(
        model,
        law,
        motion.reference,
        options.duration,
        start=sd.Start(ramp=RAMP),
        plant=sd.Plant(substep=options.substep),
    )
    late = run.t > AFTER
    errors = (run.y - run.y_d)[late]
    share = np.sqrt((errors**2).mean(axis=0)).max() / np.ptp(run.y_d[late], axis=0).max()
    states = list(zip(run.q, run.u))[int(1e3 * AFTER) :: 20]
    tips = np.array([sd.forward_kinematics(model, q=q)[-1][:2, 3] for q, _ in states])
    away = np.abs(np.linalg.norm(tips - circle['center'][:2], axis=1) - circle['radius']).max()
    T = np.array([sd.efforts(model, q=q, command=u) for q, u in states])
    return share, away, (T.min(), T.max()), rate


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--compliance', type=float, nargs='+', default=[1e-3, 1e-4, 1e-5])
    parser.add_argument('--duration', type=float, default=8.0)
    parser.add_argument('--substep', type=float, default=5e-4)
    options = parser.parse_args()
    for compliance in [*options.compliance, None]:
        share, away, (least, most), rate = measure(compliance, options)
        what = f'{compliance:g} m/N' if compliance else 'tensions'
        print(
            f'{what:>12}: outputs {100 * share:.3f} % of their way, radius {1e3 * away:.3f} mm,'
            f' {least:.2f} to {most:.2f} N, slowest error {rate:.2f} 1/s'
        )


if __name__ == '__main__':
    main()
