# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The law `task` led to a target within reach: at once, or after one that may be out of reach.

    python benchmarks/task_return.py [ROBOT ...] [--seeds 8]

Each seed: a tip at rest is led for 3 s to a target 0.3 to 1.2 times the robot's length off, in any
direction, and then in 2 s to where the tip is at some random posture that commands within a
quarter of their limits hold (`double_pendulum`, `ur10e`: at joint angles up to 0.8 rad). `beyond`
is that; `direct` leaves out the first target; `home` leads the outputs back to those of the
initial posture between the two, for 3 s. For each a line: of how many seeds the tip is more than
1 % of the robot's length off after 8 and 16 s (or the simulation has ended with an error, as where
a bend folds), and the greatest speed of a coordinate [units/s].
"""

import argparse

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.references.tip_commands import TipTarget
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

PERIOD = 1e-3
ROBOTS = 'pcc_arm', 'trimmed_helicoid', 'servo_arm', 'double_pendulum'
FREE_JOINTS = 'double_pendulum', 'ur10e'  # actuated one by one: any angles can be held


class Loop:
    """The law with its defaults, and the robot it moves."""

    def __init__(self, name):
        self.model = sd.compile_model(sd.load_robot(name))
        made = CONTROLLERS.get('task')
        settings = made.make_settings(self.model, None)
        self.law = made(self.model, period=PERIOD, settings=settings)
        self.plant, self.t, self.fastest = ActuatedSimulator(self.model), 0.0, 0.0
        rest = np.zeros(self.model.n)
        self.home = constant(self.law.outputs(self.model.q0, rest)[0])
        self.law.follow(self.home, 0.0, 0.0)
        self.law.start(self.plant.q, rest, 0.0, np.zeros(self.model.m))

    def go_on(self, seconds):
        """Close the loop for a time [s]."""
        end = self.t + seconds
        while self.t < end - 0.5 * PERIOD:
            command = self.law.compute(self.t, self.plant.q.copy(), self.plant.qd.copy())
            self.plant.step(command.u, PERIOD)
            self.t += PERIOD
            speed = np.abs(self.plant.qd / self.model.scales.units).max()
            self.fastest = max(self.fastest, float(speed))

    def tip_at(self, q):
        """Return where the led tip is at a posture [m]."""
        index = self.model.body_names.index(self.law.controlled_tip)
        return sd.forward_kinematics(self.model, q=q)[index][:3, 3]


def posture(name, model, rng):
    """Return a posture that can be held."""
    if name in FREE_JOINTS:
        return model.q0 + 0.8 * rng.uniform(-1.0, 1.0, model.n) * model.scales.units
    lower, upper = (np.clip(x, -1e3, 1e3) for x in (model.lower, model.upper))
    middle = np.clip(0.0, lower, upper)
    u = middle + 0.25 * rng.uniform(lower - middle, upper - middle)
    return sd.equilibrium(model, u=u).q


def run(name, way, seed):
    """Return the tip's error after 8 and 16 s [robot's length], and the greatest speed."""
    rng, loop = np.random.default_rng(seed), Loop(name)
    length = loop.model.scales.length
    goal = loop.tip_at(posture(name, loop.model, rng))
    loop.go_on(0.5)
    direction = rng.normal(size=3)
    direction *= rng.uniform(0.3, 1.2) * length / np.linalg.norm(direction)
    if way != 'direct':
        first = loop.tip_at(loop.plant.q) + direction
        loop.law.lead(TipTarget('', first, None, 0.5, length), loop.t)
        loop.go_on(3.0)
    if way == 'home':
        loop.law.follow(loop.home, loop.t, 2.0)
        loop.go_on(3.0)
    loop.law.lead(TipTarget('', goal, None, 2.0, length), loop.t)
    errors = [np.inf, np.inf]
    for k in range(2):
        try:
            loop.go_on(8.0)
        except sd.SoftRobotError as error:
            print(f'{name} {way} {seed}: {error}', flush=True)
            break
        errors[k] = np.linalg.norm(loop.tip_at(loop.plant.q) - goal) / length
    return *errors, loop.fastest


def main():
    """Print a line for each robot and way."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', default=ROBOTS)
    parser.add_argument('--seeds', type=int, default=8)
    options = parser.parse_args()
    for name in options.robots:
        for way in ('direct', 'beyond', 'home'):
            early, late, speed = np.array([run(name, way, k) for k in range(options.seeds)]).T
            print(
                f'{name:18s} {way:7s} more than 1 % off: {(early > 0.01).sum()} after 8 s,'
                f' {(late > 0.01).sum()} after 16 s, of {options.seeds}; speed {speed.max():.3g}',
                flush=True,
            )


if __name__ == '__main__':
    main()
