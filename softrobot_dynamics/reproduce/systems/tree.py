# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A tree with joints of 2, 3, 1 and 1 coordinates, as Figure 1 of C. K. Liu and S. Jain has it.

The recursion's generalized forces beside Lagrange's equations, which are made here from nothing
but rotations about axes; velocities and forces between space and coordinates, both ways. The
tutorial's ball joint has the angles of Rx Ry Rz; the package's has roll, pitch and yaw, Rz Ry Rx.
One motion in both has other coordinates, and the same torque.
"""

from __future__ import annotations

from typing import Any, TYPE_CHECKING, TypeAlias

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.axes import head, LINE_STYLES
from softrobot_dynamics.reproduce.outcome import (
    Array,
    Check,
    difference,
    quietly,
    SystemResult,
    Tell,
)
from softrobot_dynamics.reproduce.reference_rotations import Numbers, turn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = 'the tree of the tutorial by C. K. Liu and S. Jain: recursion beside Lagrange'

ROBOT = 'tree'
# what Lagrange's equations go by
# name, parent, where the joint is on it [m], axes of its turns, mass [kg], CoM [m], inertia
LINKS = (
    ('trunk', -1, (0.0, 0.0, 0.0), (0, 1), 8.0, (0.0, 0.01, 0.22), (0.20, 0.18, 0.06)),
    ('upper', 0, (0.05, 0.18, 0.40), (0, 1, 2), 2.1, (0.14, 0.0, 0.01), (0.004, 0.016, 0.017)),
    ('lower', 1, (0.29, 0.0, 0.0), (2,), 1.3, (0.11, 0.01, 0.0), (0.002, 0.009, 0.010)),
    ('head', 0, (0.0, 0.0, 0.47), (1,), 4.2, (0.02, 0.0, 0.10), (0.022, 0.024, 0.015)),
)
Turn: TypeAlias = tuple[int, Numbers, Numbers]  # of a coordinate: its index, axis, centre [m]
BALL_COORDINATES = slice(2, 5)  # of the ball joint
GRAVITY = np.array([0.0, 0.0, -9.81])
STATES, COMPLEX_STEP = 40, 1e-40  # and the complex step
REMARKS = (
    'which link hangs on which, masses and lengths are ours: the figure has the joints alone',
    'angles Rx(a) Ry(b) Rz(c) are singular where cos b = 0, roll, pitch and yaw where cos pitch '
    'is 0: different postures of the ball joint',
)


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Compare in a `share` of 40 random states."""
    model, rng = sd.compile_model(sd.load_robot(ROBOT)), np.random.default_rng(0)
    rows = []
    with tell('random states'):
        for _ in range(max(2, round(share * STATES))):
            q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 7)) * [[1.2], [3.0], [20.0]]
            rows.append(_compared(model, q, qd, qdd))
    words = {
        'generalized forces': 'Lagrange’s equations in the angles of Rx Ry Rz',
        'rates from links’ velocities': 'the rates they were made of',
        'torque of the ball joint': 'that of Lagrange’s forces, in the tutorial’s angles',
        'power': 'forces times rates in the tutorial’s angles',
    }
    errors = np.array(rows).max(axis=0)
    checks = tuple(
        Check(what, float(error), 1e-11, '', against)
        for (what, against), error in zip(words.items(), errors)
    )
    q = np.array([0.3, -0.2, 0.4, 0.0, -0.5, 0.7, 0.2])
    return SystemResult(
        checks, REMARKS, {'b': _SWEPT_ANGLES, 'angles': _sweep(q), 'errors': np.array(rows)}
    )


def _compared(model: CompiledModel, q: Array, qd: Array, qdd: Array) -> list[float]:
    """Return the relative differences of one state, given in the tutorial's angles."""
    own, own_rate, own_acceleration = _in_ours(q, qd, qdd)
    found = sd.inverse_dynamics(model, q=own, qd=own_rate, qdd=own_acceleration)
    lagrange = _lagrange(q, qd, qdd)
    # in the trunk's axes
    torque = np.linalg.solve(_axes_xyz(q[BALL_COORDINATES]).T, lagrange[BALL_COORDINATES])
    expected = lagrange.copy()
    expected[BALL_COORDINATES] = _axes_rpy(own[BALL_COORDINATES]).T @ torque
    twists = {name: sd.jacobian(model, q=own, body=name) @ own_rate for name in model.body_names}
    rates = sd.generalized_velocities(model, q=own, twists=twists).qd
    drive = sd.joint_torques(model, q=own, forces=found)[1, :3]  # in the distal frame
    turned = _rotation_xyz(q[BALL_COORDINATES]) @ drive
    power = lagrange @ qd
    return [
        difference(found, expected),
        difference(rates, own_rate),
        difference(turned, torque),
        abs(found @ own_rate - power) / np.abs(lagrange * qd).max(),
    ]


# Lagrange, in the tutorial's angles


def _lagrange(q: Array, qd: Array, qdd: Array) -> Array:
    """Return M qdd + c + g (7,): derivatives of the energies, by complex steps."""
    M, g = _mass(q)
    derivatives = np.array(
        [_mass(q + 1j * COMPLEX_STEP * e)[0].imag / COMPLEX_STEP for e in np.eye(len(q))]
    )
    rate = np.tensordot(qd, derivatives, 1)
    return M.real @ qdd + rate @ qd - 0.5 * np.einsum('kij,i,j->k', derivatives, qd, qd) + g.real


def _mass(q: Numbers) -> tuple[Numbers, Numbers]:
    """Return M (7, 7) and g (7,) = -sum of J^T m g, at q (7,), which may be complex."""
    n, first = len(q), 0
    placed: list[tuple[Numbers, Numbers, list[Turn]]] = []
    M, g = np.zeros((n, n), dtype=complex), np.zeros(n, dtype=complex)
    for _, parent, at, axes, mass, com, inertia in LINKS:
        R, o, above = placed[parent] if parent >= 0 else (np.eye(3), np.zeros(3), [])
        o = o + R @ np.array(at)
        turns = list(above)
        for k, axis in enumerate(axes):
            turns.append((first + k, R[:, axis], o))
            R = R @ turn(axis, q[first + k])
        first += len(axes)
        placed.append((R, o, turns))
        Jv, Jw = np.zeros((2, 3, n), dtype=complex)
        for j, direction, center in turns:
            Jw[:, j] = direction
            Jv[:, j] = np.cross(direction, o + R @ np.array(com) - center)
        M += mass * Jv.T @ Jv + Jw.T @ R @ np.diag(inertia) @ R.T @ Jw
        g -= mass * Jv.T @ GRAVITY
    return M, g


# One motion of the ball joint in both kinds of angles


def _rotation_xyz(a: Numbers) -> Numbers:
    return turn(0, a[0]) @ turn(1, a[1]) @ turn(2, a[2])


def _axes_xyz(a: Numbers) -> Numbers:
    """Return the axes (3, 3), columns, about which the angles of Rx Ry Rz turn."""
    x = turn(0, a[0])
    return np.column_stack([np.eye(3)[0], x[:, 1], (x @ turn(1, a[1]))[:, 2]])


def _axes_rpy(a: Numbers) -> Numbers:
    """Return the same of roll, pitch and yaw, Rz Ry Rx."""
    z = turn(2, a[2])
    return np.column_stack([(z @ turn(1, a[1]))[:, 0], z[:, 1], np.eye(3)[2]])


def _in_ours(q: Array, qd: Array, qdd: Array) -> list[Array]:
    """Return the same motion in the package's coordinates."""
    a, da, dda = q[BALL_COORDINATES], qd[BALL_COORDINATES], qdd[BALL_COORDINATES]
    R = _rotation_xyz(a)
    b = np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])
    here, there = _axes_xyz(a), _axes_rpy(b)
    db = np.linalg.solve(there, here @ da)
    here_rate = _axes_xyz(a + 1j * COMPLEX_STEP * da).imag / COMPLEX_STEP
    there_rate = _axes_rpy(b + 1j * COMPLEX_STEP * db).imag / COMPLEX_STEP
    ddb = np.linalg.solve(there, here @ dda + here_rate @ da - there_rate @ db)
    result = [q.copy(), qd.copy(), qdd.copy()]
    for whole, part in zip(result, (b, db, ddb)):
        whole[BALL_COORDINATES] = part
    return result


_SWEPT_ANGLES = np.linspace(-1.5, 1.5, 61)


def _sweep(q: Array) -> Array:
    """Return roll, pitch and yaw (61, 3) while the second of the tutorial's angles goes along."""
    rows = []
    for b in _SWEPT_ANGLES:
        posture = q.copy()
        posture[BALL_COORDINATES.start + 1] = b
        rows.append(_in_ours(posture, 0.0 * q, 0.0 * q)[0][BALL_COORDINATES])
    return np.array(rows)


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw the angles of one rotation in both ways, and the differences in all states."""
    figure.set_size_inches(9.0, 3.4)
    angles, errors = figure.subplots(1, 2)
    for k, (name, (colour, style)) in enumerate(zip(('roll', 'pitch', 'yaw'), LINE_STYLES)):
        angles.plot(data['b'], np.array(data['angles'])[:, k], style, color=colour, label=name)
    angles.set(xlabel='b of Rx(0.4) Ry(b) Rz(-0.5) [rad]', ylabel='of Rz Ry Rx [rad]')
    head(angles, 'one rotation')
    names = 'forces', 'rates', 'torque', 'power'
    for k, (name, mark) in enumerate(zip(names, 'osD^')):
        values = np.maximum(np.array(data['errors'])[:, k], 1e-17)
        errors.semilogy(values, mark, ms=4, mfc='none', label=name)
    errors.set(xlabel='random state', ylabel='relative difference', ylim=(1e-17, 1e-10))
    head(errors, '')
