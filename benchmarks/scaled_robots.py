# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Robots from 1 mm to 100 m, and from 1 kPa to 200 GPa: how far results are from scaled ones.

    python benchmarks/scaled_robots.py [--tasks rest,point,...] [--robots rod,arm,...]

By dimensional analysis a robot whose lengths, moduli and densities are multiplied by three factors
has the same posture, once lengths are divided by the unit of length and so on. For each task and
robot the table has the largest deviation of any number in these units from the robot of 1 m, and
the scale at which that is. Tolerances that have a unit show here.
"""

import argparse
from pathlib import Path
import sys
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.offline.closed_loop import closed_loop
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.inverse_statics import hold_points
from softrobot_dynamics.references.output_postures import hold_outputs
from softrobot_dynamics.references.piecewise import reaching
from softrobot_dynamics.references.tip_following import TipFollower
from softrobot_dynamics.schema.yaml_files import read_yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))
from support.robots import soft_arm  # noqa: E402
from support.scaled import law_of, model_of, rigid_arm, rod, Scale, SIZES, tips  # noqa: E402

ROBOTS = {
    'rod': (rod(), [2.0, 0.3, 0.0]),
    'arm': (read_yaml(shipped('robots')['pcc_arm'])[0], [3.0, 0, 0, 0, 2.0, 0, 0, 0, 1.0]),
    'links': (rigid_arm(), [1.0, -0.5]),
    'turning': (soft_arm(), [0.0, 2.0, 0.0, 0.5, 0.0, 1.0, 0.0]),
}
"""Mappings, and efforts [N, N m] that bend them well."""
RING = 0.55, 0.05
"""Height and radius [m] of a circle for the tip of the arm."""


class Case:
    """A robot at a scale: ``model``, efforts ``u`` (m,), and the units of efforts (m,)."""

    def __init__(self, name, scale):
        robot, u = ROBOTS[name]
        self.name, self.scale, self.model = name, scale, model_of(robot, scale)
        unit = {'rod': scale.length, 'arm': scale.length, 'links': 1.0}.get(name)
        self.ways = np.r_[1.0, np.full(6, scale.length)] if unit is None else unit
        self.efforts = scale.moment / self.ways
        self.u = np.array(u) * self.efforts
        self.last = self.model.body_names[-1]

    def rest(self, share=1.0, **given):
        """Return the Equilibrium under a share of the efforts."""
        return sd.equilibrium(self.model, u=share * self.u, **given)

    def tips(self, q):
        """Return rotations and positions of tips, in units of length."""
        return tips(self.model, self.scale, q)[:, :3].ravel()

    def tip(self, q):
        """Return where the last tip is (3,) [m]."""
        return sd.forward_kinematics(self.model, q=q)[-1, :3, 3]

    def outputs(self, q):
        """Return y (m,)."""
        return sd.actuation(self.model, q=q, qd=0.0 * q).coordinates


def rest(case):
    """Rest under weight, efforts and a force at the tip, at once and by a ramp; stability."""
    force = np.array([0.0, 0.0, 0.0, 0.02, 0.05, 0.01]) * case.scale.force
    push = {case.last: sd.Wrench(force, frame='base')}
    found = case.rest(wrenches=push), case.rest(ramp=True)
    slow = [each.stability * case.scale.time**2 for each in found]
    return np.concatenate([*(case.tips(each.q) for each in found), slow])


def point(case):
    """Posture for a point, with the least effort, and one for outputs."""
    q = case.rest(0.5).q
    found = hold_points(
        case.model, bodies=[case.last], times=[0.0], points=case.tip(q)[None, None]
    )
    k = np.arange(2)  # of three tendons on a rod that does not stretch one is not free
    own, u = hold_outputs(case.model, k, case.outputs(q)[k], case.model.q0)
    return np.concatenate(
        [case.tips(found.q[0]), found.u[0] / case.efforts, case.tips(own), u / case.efforts]
    )


def follow(case):
    """Live target within reach, and one beyond."""
    follower = TipFollower(case.model, case.last, case.rest(0.3).q)
    near = follower.follow(case.tip(case.rest(0.5).q))
    far = follower.follow(case.tip(case.rest(0.5).q) * 1.2)
    L = case.scale.length
    return np.r_[near.y / case.ways, near.off / L, far.point / L, far.off / L]


def circle(case):
    """Plan of a circle: postures and efforts."""
    height, radius = np.array(RING) * case.scale.length
    ring = Circle(case.last, (0.0, 0.0, height), (0.0, 0.0, 1.0), radius, 4.0 * case.scale.time)
    motion = tip_circle(case.model, ring, samples=16)
    found = [case.tips(q) for q in motion.postures.q]
    return np.r_[np.ravel(found), (motion.postures.u / case.efforts).ravel()]


def loop(case):
    """Run 0.25 s of the robot of 1 m in closed loop: pfbl, or computed torque of links."""
    T, law, p = case.scale.time, 'pfbl', 400.0
    q0 = sd.equilibrium(case.model, u=0.0 * case.u).q
    goal = case.rest(0.3).q
    if case.name == 'links':
        law, p, goal = 'computed_torque', 100.0, q0 + np.array([0.5, -0.3])
    y = case.outputs(q0)
    found = closed_loop(
        case.model,
        law_of(case.model, law, 1e-3 * T, p / T**2, 2.0 * np.sqrt(p) / T),
        reaching(np.array([y, 0.0 * y, 0.0 * y]), case.outputs(goal), 0.2 * T),
        0.25 * T,
        start=sd.Start(q=q0, u=0.0 * case.u),
        plant=sd.Plant(substep=5e-4 * T),
        progress=lambda *_: None,
    )
    assert found.ok.all()
    return np.r_[
        np.ravel([case.tips(q) for q in found.q[::25]]), (found.u[::25] / case.efforts).ravel()
    ]


def fit(case):
    """Identification of modulus and density from three postures, with noise and without."""
    soft = [m.body for m in case.model.description.modules if hasattr(m.body, 'young_modulus')][-1]
    truth = {'young_modulus': 1.2 * soft.young_modulus, 'density': 0.9 * soft.density}
    robot = sd.vary(case.model.description, truth)
    markers = (Marker('tip', case.last, (0.0, 0.0, soft.length)),)
    u = np.array([0.0, 0.5, 1.0])[:, None] * case.u
    nowhere = postures(robot, u, markers, np.zeros((3, 1, 3)))
    seen = Predictor(read_parameters(robot, list(truth)), nowhere).points(np.zeros(2))
    noise = 1e-4 * case.scale.length * np.random.default_rng(0).standard_normal(seen.shape)
    found = []
    for places in (seen, seen + noise):
        data = postures(case.model.description, u, markers, places)
        estimates = identify(case.model.description, data, list(truth)).estimates
        found += [(e.value / truth[e.name], e.lower / truth[e.name]) for e in estimates]
    return np.ravel(found)


def shape(case):
    """Estimator's shape from the pose of the tip, and its covariance."""
    s, units = case.scale, case.model.scales.units
    given = {
        'sensors': [
            {
                'name': 'camera',
                'type': 'pose',
                'body': case.last,
                'position_noise': 1e-3 * s.length,
                'orientation_noise': 0.01,
            }
        ],
        'disturbance': {'force': s.force, 'moment': 0.02 * s.moment},
    }
    there = sd.forward_kinematics(case.model, q=case.rest(1.1).q)[-1]
    found = sd.ShapeFit(case.model, given)({'camera': there}, u=case.u)
    return np.r_[case.tips(found.q), found.square, np.diag(found.covariance) / units**2]


TASKS = {each.__name__: each for each in (rest, point, follow, circle, loop, fit, shape)}
LEFT_OUT = {
    # the tips of a rod that does not stretch are on a surface; an arm on a joint that turns may
    # go round by that joint as well, so its postures are not told by the least effort
    'circle': {'links', 'rod', 'turning'},
    'point': {'links'},
    'follow': {'links'},
    'fit': {'links'},
    'loop': {'rod'},
}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--tasks', default=','.join(TASKS))
    parser.add_argument('--robots', default=','.join(ROBOTS))
    given = parser.parse_args()
    print(f'{"task":<8} {"robot":<8} {"largest":>9} {"deviation":>10}  where')
    for task in given.tasks.split(','):
        for name in given.robots.split(','):
            if name not in LEFT_OUT.get(task, ()):
                print(f'{task:<8} {name:<8} {_worst(TASKS[task], name)}', flush=True)


def _worst(task, name):
    """Return in words the largest number of a task, its worst deviation, and at which scale."""
    wanted, worst, where, began = None, 0.0, Scale(), time.monotonic()
    for scale in SIZES:
        try:
            found = task(Case(name, scale))
        except SoftRobotError as error:
            return f'{scale}: {error}'
        wanted = found if wanted is None else wanted
        there = np.isfinite(wanted)  # nan is what data do not tell
        if (there != np.isfinite(found)).any():
            return f'{scale}: not the same numbers are told'
        off = float(np.abs(found - wanted)[there].max())
        if off > worst:
            worst, where = off, scale
    took = time.monotonic() - began
    return f'{np.nanmax(np.abs(wanted)):9.3g} {worst:10.1e}  {tuple(where)}, {took:.0f} s'


if __name__ == '__main__':
    main()
