# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The tip of pcc_arm through a gap between two posts, by the law `predictive`.

The arm, 40 mm thick, hangs beside the gap of 42 mm: a margin of 1 mm on both sides. Its tip is led
along a straight line to the other side, which meets a post in most runs. Start, goal, mass and
stiffness are drawn for each seed; the law knows the model and the posts.
"""

from dataclasses import replace

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.law import Predictive
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.references.piecewise import spline
from softrobot_dynamics.viewing.animation import animate, Film
import yaml

PERIOD, SECONDS, MOVE = 1e-3, 2.0, 1.2
RADIUS, POST, MARGIN = 0.02, 0.015, 1e-3  # [m] of the arm, of the posts, of the gap
CLEARANCE = 5e-4  # [m] that the law keeps
TIP = 'segment3'


def gap_robot():
    """Return the description of pcc_arm, which may touch two posts."""
    robot = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    for body in robot['bodies']:
        body['collision'] = {'type': 'rod', 'friction': 0.2}
    off = RADIUS + MARGIN + POST
    robot['environment'] = [
        {
            'name': name,
            'type': 'capsule',
            'start': [0.0, sign * off, 0.45],
            'end': [0.0, sign * off, 0.75],
            'radius': POST,
        }
        for name, sign in (('left', 1.0), ('right', -1.0))
    ]
    return sd.load_robot(robot)


def tip_of(model, q):
    """Return the place (3,) of the tip [m]."""
    return sd.forward_kinematics(model, q=q)[-1][:3, 3]


def resting(model, tip, u):
    """Return the equilibrium whose tip is nearest to x and y (2,) of ``tip``, by t7 to t9."""
    u = u.copy()
    for _ in range(30):
        q = sd.equilibrium(model, u=u).q
        off = tip[:2] - tip_of(model, q)[:2]
        if np.abs(off).max() < 1e-6:
            break
        slopes = []
        for k in (6, 7, 8):
            moved = u.copy()
            moved[k] += 0.05
            slopes.append(
                (tip_of(model, sd.equilibrium(model, u=moved, q0=q).q)[:2] - tip_of(model, q)[:2])
                / 0.05
            )
        step = np.linalg.lstsq(np.transpose(slopes), off, rcond=None)[0]
        u[6:] = np.maximum(0.0, u[6:] + np.clip(step, -2.0, 2.0))
    return sd.equilibrium(model, u=u).q, u


def goal_side(model, found):
    """Return whether the tip ends on the other side of the posts."""
    return tip_of(model, found.q[0])[0] > POST and tip_of(model, found.q[-1])[0] < -POST


def smallest_gaps(model, states):
    """Return the smallest gap [m] in each of the states (K, n); inf where nothing is near."""
    gaps = []
    for q in states:
        found = sd.contacts(model, q=q)
        gaps.append(found.gap.min() if len(found.gap) else np.inf)
    return np.array(gaps)


def draw(seed):
    """Return (tip at the start, goal (3,), factors of mass and stiffness) of a seed."""
    rng = np.random.default_rng(seed)
    start = np.array([0.12 + 0.02 * rng.uniform(-1, 1), 0.02 * rng.uniform(-1, 1), 0.0])
    goal = np.array([-0.12, 0.015 * rng.uniform(-1, 1), 0.57])
    return start, goal, 1.0 + 0.02 * rng.uniform(-1, 1, 2)


def go_through(model, seed, clearance=CLEARANCE, **given):
    """Return the closed loop of a seed, its goal, and the gaps (K,) [m] of all ticks."""
    start, goal, (mass, stiffness) = draw(seed)
    changes = {'density': f'×{mass:.4f}', 'young_modulus': f'×{stiffness:.4f}'}
    plant = sd.compile_model(sd.vary(model.description, changes))
    free = sd.compile_model(replace(plant.description, environment=()))
    q, u = resting(free, start, np.ones(model.m))
    way = tip_of(plant, q)
    line = spline([0.0, MOVE], [way, goal], quintic=True)
    settings = Predictive.make_settings(model, None, tip=TIP, clearance=clearance, **given)
    law = Predictive(model, period=PERIOD, settings=settings)
    begin = sd.Start(q=q, u=u, ramp=0.2)
    found = sd.closed_loop(model, law, line, SECONDS, start=begin, plant=plant)
    return found, goal, smallest_gaps(plant, found.q)


def film_gap(model, path, seed=1):
    """Write the run of a seed into a GIF."""
    found, goal, _ = go_through(model, seed)
    line = np.linspace(tip_of(model, found.q[0]), goal, 20)
    film = Film(model, found.t, found.q, (line,))
    animate(film, path, title='1 mm on both sides')
