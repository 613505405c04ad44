# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The tip of pcc_arm along a wall at a bounded force, by the law `predictive`.

The tip is led 30 mm deeper than the wall lets it come, and 100 mm along; the wall has a friction
of 0.3. The law knows model and wall, and contact with it or not.
"""

import numpy as np
from predictive_published import processor_times
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.law import Predictive
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.references.piecewise import spline, values_at
import yaml

PERIOD, BEGIN, END, SECONDS = 1e-3, 1.0, 2.0, 2.3  # [s]
WALL, DEEPER, TIP = 0.08, 0.03, 'segment3'  # [m] where its surface is
DEEP = WALL - 0.02 + DEEPER  # [m] of the middle of the tip, which has a radius of 20 mm
FRICTION, LIMIT = 0.3, 0.5  # [N]
CASES = {
    'no contact in the model': {},
    'contact': {'contact': True},
    f'contact, {LIMIT:g} N at most': {'contact': True, 'contact_force': LIMIT},
    'the same every 10 ms': {'contact': True, 'contact_force': LIMIT, 'interval': 0.01},
}


LAP = {
    'times': [0.0, 1.0, 2.0, 3.0],
    'points': [0.03, 0.0, 0.58, DEEP, -0.05, 0.58, DEEP, 0.05, 0.58, 0.03, 0.0, 0.58],
    'periodic': True,
}
"""A path of the tip that meets the wall, goes along it from 1 s to 2 s, and leaves it."""


def wall_robot():
    """Return the description of pcc_arm, which may touch a wall."""
    return sd.load_robot(wall_description())


def wall_description():
    """Return the content of that robot's file."""
    robot = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    for body in robot['bodies']:
        body['collision'] = {'type': 'rod', 'friction': FRICTION}
    wall = {'name': 'wall', 'type': 'plane', 'point': [WALL, 0.0, 0.0], 'normal': [-1.0, 0.0, 0.0]}
    robot['environment'] = [{**wall, 'friction': FRICTION}]
    return robot


def slide(model, seconds, **given):
    """Return (greatest forces (T,) [N], errors along the wall (T,) [mm]) from BEGIN on."""
    u = np.ones(model.m)
    q = sd.equilibrium(model, u=u).q
    tip = sd.forward_kinematics(model, q=q)[-1][:3, 3]
    goals = [tip, [DEEP, -0.05, 0.58], [DEEP, 0.05, 0.58]]
    way = spline([0.0, BEGIN, END], goals, quintic=True)
    settings = Predictive.make_settings(model, None, tip=TIP, **given)
    law = Predictive(model, period=PERIOD, settings=settings)
    processor_times(law, seconds)
    found = sd.closed_loop(model, law, way, SECONDS, start=sd.Start(q=q, u=u, ramp=0.2))
    assert found.ok.all() and law.solutions.failed == 0
    late = found.t > BEGIN
    places = np.array([sd.forward_kinematics(model, q=x)[-1][:3, 3] for x in found.q[late]])
    off = (places - values_at(way, found.t[late]))[:, 1:]
    forces = [sd.contacts(model, q=x).force.max(initial=0.0) for x in found.q]
    return np.array(forces), 1e3 * np.linalg.norm(off, axis=1)


def along_wall():
    """Print forces, errors and times of solutions of all cases."""
    model = sd.compile_model(wall_robot())
    for words, given in CASES.items():
        seconds = []
        forces, off = slide(model, seconds, **given)
        sliding = forces[round(BEGIN / PERIOD) :]
        p50, p99 = np.percentile(seconds[5:], [50, 99]) * 1e3
        print(
            f'{words}: force {forces.max():.2f} N at most, {sliding.max():.2f} N sliding;'
            f' tip {np.sqrt((off**2).mean()):.3f} mm RMS along the wall;'
            f' solution {p50:.2f} ms, p99 {p99:.2f} ms',
            flush=True,
        )
