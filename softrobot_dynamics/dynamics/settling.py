# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settling: where a robot that is let go comes to rest when all its motion is damped."""

from typing import NamedTuple

import numpy as np

STEPS = 300
TURN = 0.5  # a step turns no joint and no body by more [rad]
SHIFT = 0.5  # nor lengthens any by more, of the robot's size where it is let go
PUSH = 0.02  # off a ridge turns something by so much [rad]
NEAR = 1e-3  # residual, of the forces at play, from which Newton's method does the rest
REPRESENTED = 'a posture that the bodies cannot represent'


class Settled(NamedTuple):
    """What Newton's method found at the end, or None and the ``reason``; the steps before."""

    found: object
    reason: str
    steps: int


def settle(statics, q, u, newton):
    """
    Let the robot go at q (n,) under u (m,), and return how it has :class:`Settled`.

    Steps lead down along every mode of vibration: Newton's, but away from what that would climb
    to. ``newton(q)`` ends them, and where the robot balances on a ridge it gets a push.
    """
    statics.residual(q, u)
    far = SHIFT * max(statics.size(), 1e-2)
    for taken in range(STEPS):
        r, size = statics.residual(q, u)
        near = statics.linearised(q, u)
        if not (np.isfinite(r).all() and np.isfinite(near.K).all()):
            return Settled(None, REPRESENTED, taken)
        squares, modes = near.modes()
        step = _downhill(statics, r, squares, modes, far)
        if np.abs(r).max() <= NEAR * size:
            found = newton(q)
            if statics.stands(found, u):
                return Settled(found, '', taken)
            if found.balanced:
                step = step + _push(statics, r, modes[:, 0])
        q, reason = _lower(statics, q, u, r, step)
        if reason:
            return Settled(None, reason, taken + 1)
    return Settled(None, 'it moves on and on', STEPS)


def _downhill(statics, r, squares, modes, far):
    """Return a step (n,) that turns nothing by more than TURN, nor lengthens it by ``far`` [m]."""
    squares = np.abs(squares)
    step = -modes @ ((modes.T @ r) / np.maximum(squares, 1e-9 * max(squares.max(), 1.0)))
    turn, shift = max(statics.turn(step), 1e-300), max(statics.shift(step), 1e-300)
    return step * min(1.0, TURN / turn, far / shift)


def _push(statics, r, mode):
    """Return a step (n,) along a mode, down if that has a direction."""
    return mode * PUSH / max(statics.turn(mode), 1e-300) * (-1.0 if mode @ r > 0.0 else 1.0)


def _lower(statics, q, u, r, step):
    """Return q after a step, or a part of it, that does not climb, and ''; None and why not."""
    reason = 'no posture near is lower'
    for scale in 0.5 ** np.arange(20):
        better = q + scale * step
        slope = statics.residual(better, u)[0] @ step
        if not np.isfinite(slope):
            reason = REPRESENTED
        elif obstacle := statics.obstacle(better):
            reason = obstacle
        elif slope <= 0.5 * abs(r @ step):
            return better, ''
    return None, reason
