# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Foot and shank in stance: forces and moments at ankle and knee from motion and ground reaction.

The matrix formalism writes Newton's and Euler's equations of both segments as 12 equations in the
12 unknowns of the two joints. The robot is a shank whose knee moves freely in space, with a foot
at its end; what its joints transmit is what the recursion leaves over. The motion, the ground
reaction and its moving centre of pressure are made up, to the shape of a step.
"""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.axes import LINE_STYLES
from softrobot_dynamics.reproduce.outcome import (
    Array,
    Check,
    difference,
    quietly,
    SystemResult,
    Tell,
)
from softrobot_dynamics.reproduce.reference_rotations import MovingArray, skew, spin, turning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = 'foot and shank on a force plate: inverse dynamics beside the 12 x 12 system'

# what the 12 equations go by
# mass [kg], CoM [m] from the upper joint, inertia about it [kg m^2]; z up the limb, x to the toe
SHANK = 3.26, np.array([0.0, 0.0, -0.186]), np.array([0.051, 0.050, 0.006])
FOOT = 1.02, np.array([0.05, 0.0, -0.04]), np.array([0.0011, 0.0044, 0.0045])
ANKLE = np.array([0.0, 0.0, -0.43])  # in the shank [m]
ROBOT = 'foot_shank'
STANCE, GRAVITY = 0.66, np.array([0.0, 0.0, -9.81])  # [s], [m/s^2]
JOINTS = 'ankle', 'knee'
REMARKS = (
    'the source has no data of a step: angles, knee path, ground reaction and centre of pressure '
    'are ours, smooth, in 3-D and of the size of a person of 70 kg',
)


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Compare the wrenches of both joints through a stance; at a `share` of 67 instants."""
    model = sd.compile_model(sd.load_robot(ROBOT))
    times = np.linspace(0.0, STANCE, max(3, round(67 * share)))
    with tell(f'{len(times)} instants of a stance of {STANCE:g} s'):
        found = np.array([_recursion(model, t) for t in times])
        wanted = np.array([_twelve(t) for t in times])
    parts = {'force': slice(0, 3), 'moment': slice(3, 6)}
    checks = [
        Check(f'{part} at the {joint}', difference(found[:, i, at], wanted[:, i, at]), 1e-12, '',
              'the 12 x 12 system')
        for i, joint in enumerate(JOINTS)
        for part, at in parts.items()
    ]  # fmt: skip
    data = {'t': times, 'found': found, 'ground': np.array([_ground(t)[0] for t in times])}
    data['wanted'] = wanted
    return SystemResult(tuple(checks), REMARKS, data)


def _motion(t: float) -> dict[str, list[Array]]:
    """Return roll, pitch and yaw of shank and foot, and the knee's path: each (3, 3) jets."""
    w = 2.0 * np.pi / 1.1 * t
    wave = np.array([[np.cos(w), np.sin(w), np.cos(2 * w)]]).T
    rate = 2.0 * np.pi / 1.1 * np.array([[-np.sin(w), np.cos(w), -2 * np.sin(2 * w)]]).T
    curve = -((2.0 * np.pi / 1.1) ** 2) * wave * np.array([[1.0], [1.0], [4.0]])
    sizes = {
        'shank': [[0.02, 0.03, 0.01], [-0.30, 0.25, 0.06], [0.03, -0.02, 0.02]],
        'foot': [[0.02, -0.04, 0.01], [0.10, -0.18, 0.07], [-0.05, 0.03, 0.02]],
        'knee': [[-0.18, 0.05, 0.02], [0.01, 0.015, 0.004], [0.008, -0.012, 0.015]],
    }
    jets = {
        name: [np.array(size) @ each.ravel() for each in (wave, rate, curve)]
        for name, size in sizes.items()
    }
    jets['knee'][0] += np.array([0.9 * t, 0.1, 0.48])
    jets['knee'][1] += np.array([0.9, 0.0, 0.0])
    return jets


def _ground(t: float) -> tuple[Array, Array]:
    """Return the ground reaction, free moment (about z) then force (6,), and its point (3,)."""
    x = t / STANCE
    bell = np.sin(np.pi * x)
    up = 690.0 * bell * (1.25 - 0.55 * bell**4)  # two humps
    force = [-160.0 * np.sin(2 * np.pi * x) * bell, 35.0 * bell**2, up]
    ankle = _placed(t)[1].value
    pressure = np.array([ankle[0] - 0.05 + 0.22 * x, ankle[1] + 0.02 * bell, 0.0])
    return np.array([0.0, 0.0, 4.0 * np.sin(2 * np.pi * x), *force]), pressure


def _placed(t: float) -> tuple[MovingArray, ...]:
    """Return the motions of knee, ankle, and the rotations of shank and foot."""
    jets = _motion(t)

    def rotation(name: str) -> MovingArray:
        roll, pitch, yaw = (turning(i, *(jet[i] for jet in jets[name])) for i in range(3))
        return yaw @ pitch @ roll

    knee, shank = MovingArray(*jets['knee']), rotation('shank')
    return knee, knee.plus(shank @ ANKLE), shank, shank @ rotation('foot')


def _twelve(t: float) -> Array:
    """
    Return force and moment (2, 6), base axes: on the foot at the ankle, on the shank at the knee.

    These are the twelve unknowns, in this order.
    """
    knee, ankle, shank, foot = _placed(t)
    ground, pressure = _ground(t)
    A, b = np.zeros((12, 12)), np.zeros(12)
    A[:3, :3] = A[3:6, 3:6] = A[6:9, 6:9] = A[9:, 9:] = np.eye(3)
    A[6:9, :3] = A[9:, 3:6] = -np.eye(3)  # what the shank gives to the foot
    for row, (segment, R, joint) in ((0, (FOOT, foot, ankle)), (6, (SHANK, shank, knee))):
        center = joint.plus(R @ segment[1])
        b[row : row + 3] = segment[0] * (center.acceleration - GRAVITY)
        b[row + 3 : row + 6] = _turning(segment, R)
        A[row + 3 : row + 6, row : row + 3] = skew(joint.value - center.value)
        if row:
            A[9:, :3] = -skew(ankle.value - center.value)
        else:
            b[:3] -= ground[3:]
            b[3:6] -= ground[:3] + np.cross(pressure - center.value, ground[3:])
    return np.asarray(np.linalg.solve(A, b).reshape(2, 6), dtype=float)


def _turning(segment: tuple[float, Array, Array], R: MovingArray) -> Array:
    """Return the rate of the angular momentum (3,) about the centre of mass."""
    w, alpha = spin(R)
    inertia = R.value @ np.diag(segment[2]) @ R.value.T
    return inertia @ alpha + np.cross(w, inertia @ w)


def _recursion(model: CompiledModel, t: float) -> list[Array]:
    """Return the same as :func:`_twelve`, by inverse dynamics."""
    jets, (_, ankle, shank, foot) = _motion(t), _placed(t)
    q, qd, qdd = (
        np.concatenate([jets[n][i] for n in ('knee', 'shank', 'foot')]) for i in range(3)
    )
    ground, pressure = _ground(t)
    point = foot.value.T @ (pressure - ankle.value)  # in the foot, which it moves along
    wrenches = {'foot': sd.Wrench(ground, point, 'base')}
    at_knee, at_ankle = sd.inverse_dynamics(
        model, q=q, qd=qd, qdd=qdd, wrenches=wrenches, joint_wrenches=True
    )[1]
    pairs = (at_ankle, foot.value), (at_knee, shank.value)
    return [np.concatenate([R @ wrench[3:], R @ wrench[:3]]) for wrench, R in pairs]


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw forces and moments at both joints: lines are ours, crosses the 12 x 12 system."""
    figure.set_size_inches(9.0, 5.4)
    axes = figure.subplots(2, 2, sharex=True)
    found, wanted = np.array(data['found']), np.array(data['wanted'])
    for column, joint in enumerate(JOINTS):
        for row, (what, unit) in enumerate((('force', 'N'), ('moment', 'N m'))):
            axis = axes[row, column]
            for k, (name, (colour, style)) in enumerate(zip('xyz', LINE_STYLES)):
                axis.plot(
                    data['t'], found[:, column, 3 * row + k], style, color=colour, label=name
                )
                values = wanted[::6, column, 3 * row + k]
                axis.plot(data['t'][::6], values, 'x', color=colour, ms=5)
            axis.set(title=f'{what} at the {joint}, base axes', ylabel=f'[{unit}]')
    for axis in axes[1]:
        axis.set_xlabel('t [s]')
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc='outside lower center', ncols=3)
