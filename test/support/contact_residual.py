# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""By how much the forces of a step miss the law of contact, by dense linear algebra."""

import numpy as np
from softrobot_dynamics.recursion.contact_pairs import DAMPING, FRICTION, RESTITUTION, STIFFNESS


def law_missed(simulator, system, before, h):
    """
    Return the largest miss of the law of contact in a step, of the largest force.

    Of a simulator after a step of h [s] from q ``before`` (n,), and its ContactSystem: the state
    at the end of the step is that without its change by contact, and what the forces in the
    records do to a linear robot by its matrices. Normal forces are compared with k d (1 + c d') at
    this state, friction with the nearest force that its normal force holds to the one that stops
    all sliding. Not for pairs with a restitution.
    """
    work, contact = simulator._stepper._work, simulator.contact
    b, n = work.motion, len(before)
    ids = system.active[1 : 1 + system.active[0]]
    if len(ids) == 0:
        return 0.0
    near = contact.candidates[1 : 1 + contact.candidates[0]]
    near = near[contact.gap[near] < contact.detection_distance]
    rows = contact.J[near].reshape(-1, 3, n)
    pushed = np.einsum('ckn,ck->n', rows, contact.pushes[near]) - contact.applied
    by_x, by_v = responses(b.M, work.D, work.K, h, b.parts)
    change_q, change_qd = _of_state(system)
    q, qd = b.q - change_q + by_x @ pushed, b.qd - change_qd + by_v @ pushed

    J, N, f = contact.J[ids].reshape(-1, 3, n), contact.normal[ids], contact.pushes[ids]
    drift = contact.drift[ids]
    moved = np.einsum('ckn,n->ck', J, q - before) + h * drift
    gap = contact.gap[ids] + np.einsum('ck,ck->c', N, moved)
    velocity = np.einsum('ckn,n->ck', J, qd) + drift
    speed, pushing = np.einsum('ck,ck->c', N, velocity), np.einsum('ck,ck->c', N, f)
    k, mu, c = contact.numbers[ids][:, [STIFFNESS, FRICTION, DAMPING]].T
    met = np.maximum(contact.onset[ids], -contact.speed[ids])
    met = np.maximum(met, contact.min_restitution_speed)
    c = np.where(contact.numbers[ids, RESTITUTION] < 0.0, c, contact.dissipation / met)
    law = k * np.maximum(0.0, -gap) * np.maximum(0.0, 1.0 - c * speed)

    across = np.eye(3) - N[:, :, None] * N[:, None, :]
    sliding, friction = velocity - speed[:, None] * N, f - pushing[:, None] * N
    by_own = np.einsum('ckn,nm,clm->ckl', J, by_v, J)
    stops = sliding / (0.5 * np.einsum('ckl,clk->c', across, by_own))[:, None]
    held, limit = friction - stops, mu * pushing
    size = np.linalg.norm(held, axis=1)
    held *= np.minimum(1.0, limit / np.maximum(size, 1e-300))[:, None]
    missed = np.maximum(np.abs(law - pushing), np.linalg.norm(held - friction, axis=1))
    largest = max(pushing.max(), law.max())
    return float(missed.max() / largest) if missed.any() else 0.0


def responses(M, D, K, h, parts):
    """Return what forces that last for a step of h [s] do to q and to qd at its end, (n, n)."""
    n = len(M)
    x, v, g = np.zeros((n, n)), np.zeros((n, n)), (1.0 - 0.5**0.5) * h / parts

    def backward_euler(x, v):
        then = np.linalg.solve(M + g * D + g * g * K, M @ v + g * (np.eye(n) - K @ x))
        return x + g * then, then

    for _ in range(parts):
        once = backward_euler(x, v)
        twice = backward_euler(*once)
        x, v = ((1.0 + 2.0**0.5) * b - 2.0**0.5 * a for a, b in zip(once, twice))
    return x, v


def _of_state(system):
    """Return the change (2 n,) by blocks as that of q (n,) and that of qd (n,)."""
    halves = [np.split(system.change[2 * a : 2 * b], 2) for a, b, _ in system.blocks]
    return tuple(np.concatenate(each) for each in zip(*halves))
