# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Errors of the forces of contact of a step, by dense linear algebra."""

import numpy as np
from softrobot_dynamics.recursion.contact_pairs import DAMPING, FRICTION, RESTITUTION, STIFFNESS

_HELD = 0.999  # of what a normal force holds: friction below that stops all sliding


def error_of_forces(contact, system):
    """
    Return by how much velocities at contacts are wrong after a step, of those forces make.

    By a ContactWorkspace and a ContactSystem without impacts: the law of every pair is linearised
    at the end of the step, all are solved together by least squares, and the velocities at
    contacts that this changes are compared with those by the largest force alone.
    """
    ids = system.active[1 : 1 + system.active[0]]
    if len(ids) == 0:
        return 0.0
    J, by = _dense(system, ids)
    U = np.einsum('ibj,kaj->ibka', J, by).reshape(4 * len(ids), -1)
    change = np.concatenate(_split(system, system.change))
    u = system.free[ids] + J @ change
    A, b = np.zeros((3 * len(ids), 3 * len(ids))), np.zeros(3 * len(ids))
    for row, (i, (gap, v, *slide)) in enumerate(zip(ids, u)):
        own, rows = np.eye(3 * len(ids))[3 * row :], U[4 * row : 4 * row + 4]
        f, number = system.force[i], contact.numbers[i]
        k, mu, c = number[STIFFNESS], number[FRICTION], number[DAMPING]
        if number[RESTITUTION] >= 0.0:
            least = contact.min_restitution_speed
            c = contact.dissipation / max(contact.onset[i], -contact.speed[i], least)
        law = k * max(0.0, -gap) * max(0.0, 1.0 - c * v)
        A[3 * row], b[3 * row] = own[0], law - f[0]
        if law > 0.0:
            A[3 * row] += k * (1.0 - c * v) * rows[0] - k * gap * c * rows[1]
        size = np.hypot(f[1], f[2])
        if size < _HELD * mu * f[0]:
            A[3 * row + 1 : 3 * row + 3], b[3 * row + 1 : 3 * row + 3] = rows[2:], -np.array(slide)
        else:
            along = f[1:] / size if size > 0.0 else np.zeros(2)
            for a in range(2):
                A[3 * row + 1 + a] = own[1 + a] - mu * along[a] * own[0]
                b[3 * row + 1 + a] = mu * along[a] * f[0] - f[1 + a]
    scale = np.maximum(np.abs(A).max(axis=1), 1e-300)
    step = np.linalg.lstsq(A / scale[:, None], b / scale, rcond=1e-12)[0]
    wrong = (U @ step).reshape(-1, 4)[:, 1:]
    made = system.self_response[ids][:, [1, 4, 4]] * np.abs(system.force[ids]).max()
    return float((np.abs(wrong) / made).max())


def _dense(system, ids):
    """Return rows (m, 4, 2 n) of motions by the state, and its changes (m, 3, 2 n) by forces."""
    n = len(system.change) // 2
    J, by = np.zeros((len(ids), 4, 2 * n)), np.zeros((len(ids), 3, 2 * n))
    for row, i in enumerate(ids):
        for k in system.sides[i]:
            if k >= 0:
                first, last = system.blocks[k, :2]
                own = system.J[i].reshape(3, n)[:, first:last]
                J[row, 0, first:last] = own[0]
                J[row, 1:, n + first : n + last] = own
                found = system.pair_response[i].reshape(3, 2 * n)[:, 2 * first : 2 * last]
                by[row, :, first:last] = found[:, : last - first]
                by[row, :, n + first : n + last] = found[:, last - first :]
    return J, by


def _split(system, change):
    """Return the change (2 n,) by blocks as that of q (n,) and that of qd (n,)."""
    q, qd = [], []
    for first, last, _ in system.blocks:
        q.append(change[2 * first : first + last])
        qd.append(change[first + last : 2 * last])
    return np.concatenate(q), np.concatenate(qd)
