# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Inverse dynamics of a walking leg against Newton and Euler, segment by segment, in 3-D."""

import numpy as np
from oracles.jets import Jet, jet, JETS
from oracles.trees import place
import softrobot_dynamics as sd
from support.robots import states

TOLERANCE = 1e-12  # of the largest entry

# Foot, shank and thigh of a person who walks: lengths, masses, inertias about the centres of mass
SEGMENTS = {
    'thigh': (7.5, [0.0, 0.01, -0.18], [0.13, 0.12, 0.03], [0.0, 0.0, -0.42]),
    'shank': (3.4, [0.0, 0.0, -0.19], [0.051, 0.05, 0.006], [0.0, 0.0, -0.43]),
    'foot': (1.1, [0.05, 0.0, -0.04], [0.0011, 0.0044, 0.0045], [0.18, 0.0, -0.07]),
}
CONTACT, GROUND_FORCE, FREE_MOMENT = [0.11, 0.01, -0.08], [-45.0, 12.0, 790.0], 4.5


def leg():
    """Three rigid segments on ball joints."""
    bodies, start = [], [0.0, 0.0, 0.9]
    for name, (mass, com, inertia, tip) in SEGMENTS.items():
        joint = {'type': 'spherical', 'parameters': 'roll_pitch_yaw', 'origin': {'xyz': start}}
        body = {
            'type': 'rigid', 'mass': mass, 'com': com, 'tip': {'xyz': tip},
            'inertia': dict(zip(('ixx', 'iyy', 'izz'), inertia)),
        }  # fmt: skip
        bodies.append({'name': name, 'joint': joint, 'body': body})
        start = [0.0, 0.0, 0.0]
    return sd.compile_model(sd.load_robot({'name': 'leg', 'bodies': bodies}))


def newton_euler(model, q, qd, qdd):
    """
    Moment and force at ankle, knee, hip, base axes, segment by segment from the ground up.

    For each: F = m (a - g) - F_distal and M = I alpha + w x I w less the moments, about the
    centre of mass, of all other forces.
    """
    placed = place(model.description, [Jet(*each) for each in zip(q, qd, qdd)], JETS)
    force, moment = np.array(GROUND_FORCE), np.array([0.0, 0.0, FREE_MOMENT])
    at, result = None, {}
    for name in ('foot', 'shank', 'thigh'):
        mass, com, inertia, _ = SEGMENTS[name]
        frame = placed[model.body_names.index(name)].joint_frame
        R, dR, ddR = (matrix(frame[0], order) for order in ('value', 'first', 'second'))
        origin, acceleration = (vector(frame[1], order) for order in ('value', 'second'))
        w = vee(dR @ R.T)
        alpha = vee(ddR @ R.T - skew(w) @ skew(w))
        arm = R @ com
        a = acceleration + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        center, own = origin + arm, R @ np.diag(inertia) @ R.T
        if at is None:
            at = origin + R @ CONTACT
        proximal = mass * (a - [0.0, 0.0, -9.81]) - force
        needed = own @ alpha + np.cross(w, own @ w) - moment - np.cross(at - center, force)
        needed -= np.cross(origin - center, proximal)
        result[name] = np.concatenate([R.T @ needed, R.T @ proximal])
        force, moment, at = -proximal, -needed, origin
    return result


def matrix(entries, order):
    """One order of nine jets, (3, 3)."""
    return vector(entries, order).reshape(3, 3)


def vector(entries, order):
    """One order of several jets."""
    return np.array([float(getattr(jet(v), order)) for v in entries])


def skew(w):
    """Matrix (3, 3) of the cross product with w."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def vee(S):
    """Vector of a skew matrix."""
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def test_a_leg_on_the_ground():
    """Ankle, knee and hip of a leg on a force plate are what Newton and Euler give, in 3-D."""
    model = leg()
    ground = sd.Wrench([0.0, 0.0, FREE_MOMENT, *GROUND_FORCE], CONTACT, 'base')
    for q, qd, qdd in states(model, 5, seed=7, size=1.2):
        qd, qdd = 3.0 * qd, 20.0 * qdd
        joints = sd.inverse_dynamics(
            model, q=q, qd=qd, qdd=qdd, wrenches={'foot': ground}, joint_wrenches=True
        )[1]
        for name, wanted in newton_euler(model, q, qd, qdd).items():
            found = joints[model.body_names.index(name)]
            assert np.abs(found - wanted).max() <= TOLERANCE * np.abs(wanted).max()
