# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time of an identification, and the share of its intervals that contain the true value.

    python benchmarks/identification.py [--runs N] [--motions N]

Modulus and density of a rod with 20 coordinates and four tendons, from 20 postures of two markers,
a millimetre of noise: the time of one fit, with the kernels in the cache. Then shipped `pcc_arm`
from six postures, N fits with other noise in each, at `loss: linear`. Then the same arm in motion,
0.5 s of jumping tensions, two markers 100 times a second with a millimetre of noise: a fit of
modulus, damping and delay, and N fits with other noise.
"""

import argparse
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import fitted, identify
from softrobot_dynamics.identification.motions import motion
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

TRUTH = {'young_modulus': 4.7e5, 'density': 1180.0}
MOVED = {'young_modulus': 4.7e5, 'damping': 0.12, 'delay': 0.024}
NOISE = 1e-3  # [m]


def rod():
    """Return the description of a rod with 20 coordinates."""
    strains = {name: {'basis': 'legendre', 'order': 9} for name in ('kappa_x', 'kappa_y')}
    body = {
        'type': 'cosserat', 'length': 0.4, 'section': {'type': 'circular', 'radius': 0.015},
        'density': 1070.0, 'young_modulus': 6e5, 'strains': strains,
    }  # fmt: skip
    tendons = [
        {'name': f't{k}', 'type': 'tendon', 'limits': [0.0, 20.0],
         'path': [{'body': 'rod', 'offset': {'radius': 0.012, 'phase': 0.5 * np.pi * k}}]}
        for k in range(4)
    ]  # fmt: skip
    bodies = [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}]
    return sd.load_robot(
        {'name': 'rod', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': tendons}
    )


def measured(robot, markers, count, scale):
    """Return exact postures of a robot with the true numbers."""
    rng = np.random.default_rng(1)
    u = rng.uniform(0.0, scale, (count, len(robot.actuator_names)))
    nowhere = postures(robot, u, markers, np.zeros((count, len(markers), 3)))
    true = Predictor(read_parameters(sd.vary(robot, TRUTH), list(TRUTH)), nowhere)
    return postures(robot, u, markers, true.points(np.zeros(len(TRUTH))))


def noisy(robot, data, seed):
    """Return postures with noise."""
    off = np.random.default_rng(seed).normal(0.0, NOISE, data.positions.shape)
    return postures(robot, data.commands, data.markers, data.positions + off)


def speed():
    """Print the time of a fit."""
    robot = rod()
    markers = [Marker('middle', 'rod', (0.0, 0.0, 0.2)), Marker('tip', 'rod', (0.0, 0.0, 0.4))]
    data = noisy(robot, measured(robot, markers, 20, 3.0), 0)
    for loss in 'linear', 'soft_l1':
        begin = time.perf_counter()
        found = identify(robot, data, list(TRUTH), loss=loss)
        passed = time.perf_counter() - begin
        words = ', '.join(f'{e.name} {e.lower:.4g} to {e.upper:.4g}' for e in found.estimates)
        print(f'20 postures of {robot.n} coordinates, {loss}: {passed:.2f} s; {words}', flush=True)


def coverage(runs):
    """Print how often intervals hold the truth."""
    robot = sd.load_robot('pcc_arm')
    markers = [
        Marker('middle', 'segment2', (0.02, 0.0, 0.1)), Marker('tip', 'segment3', (0.0, 0.0, 0.2))
    ]  # fmt: skip
    data = measured(robot, markers, 6, 6.0)
    parameters = read_parameters(sd.vary(robot, TRUTH), list(TRUTH))
    inside = np.zeros(len(TRUTH))
    for seed in range(runs):
        found = fitted(parameters, noisy(robot, data, seed), [np.zeros(2)], 'linear')
        inside += [e.lower < TRUTH[e.name] < e.upper for e in found.estimates]
    for name, count in zip(TRUTH, inside):
        print(f'{name}: the 95 % interval holds the truth in {100 * count / runs:.1f} % of {runs}')


def moving():
    """Return the late arm, times, commands, and where the markers of the true arm are."""
    robot = sd.vary(sd.load_robot('pcc_arm'), {'delay': 0.01, 'lag': 0.02})
    model = sd.compile_model(sd.vary(robot, MOVED))
    t = 0.01 * np.arange(51)
    u = np.repeat(np.random.default_rng(0).uniform(0.0, 6.0, (6, 9)), 10, axis=0)[: len(t)]
    own, seen = ActuatedSimulator(model, q=sd.equilibrium(model, u=u[0]).q), []
    own.begin_under(u[0])
    for row in u:
        seen.append(sd.forward_kinematics(model, q=own.q)[[0, 2], :3, 3])
        own.step(row, 0.01)
    return robot, t, u, np.array(seen)


def motions(runs):
    """Print the time of a fit to a motion, and how often intervals hold the truth."""
    robot, t, u, seen = moving()
    markers = [Marker(f'end {k}', f'segment{k}', (0.0, 0.0, 0.2)) for k in (1, 3)]
    rng = np.random.default_rng(0)

    def another():
        there = seen + rng.normal(0.0, NOISE, seen.shape)
        return motion(robot, t, u, markers=markers, positions=there)

    for _ in range(2):  # the second with everything loaded
        begin = time.perf_counter()
        found = identify(robot, another(), list(MOVED), loss='linear')
        passed = time.perf_counter() - begin
    words = ', '.join(f'{e.name} {e.lower:.4g} to {e.upper:.4g}' for e in found.estimates)
    print(f'a motion of {t[-1]:.1f} s: {passed:.2f} s; {words}', flush=True)
    true = read_parameters(sd.vary(robot, MOVED), list(MOVED))
    inside = np.zeros(len(MOVED))
    for _ in range(runs):
        found = fitted(true, another(), [np.zeros(len(MOVED))], 'linear')
        inside += [e.lower < MOVED[e.name] < e.upper for e in found.estimates]
    for name, count in zip(MOVED, inside):
        print(f'{name}: the 95 % interval holds the truth in {100 * count / runs:.1f} % of {runs}')


def main():
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--runs', type=int, default=500)
    parser.add_argument('--motions', type=int, default=500)
    options = parser.parse_args()
    speed()
    if options.runs:
        coverage(options.runs)
    if options.motions:
        motions(options.motions)


if __name__ == '__main__':
    main()
