# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References of a tip's place itself, for laws that need no postures of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.dynamics.arguments import body_index
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import GROUP, Trajectory
from softrobot_dynamics.references.piecewise import Reference, spline

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SAMPLES = 256  # of a path, or of one turn


def led_tip_reference(
    model: CompiledModel, body: str, wanted: Trajectory, samples: int = SAMPLES
) -> Reference | None:
    """
    Return the reference (3 columns) of the place [m] of a body's tip in the base frame.

    It is that of a :class:`~.contract.Trajectory` for tips, as a circle; None stands for the tip
    where it is, the reference `hold`. Whether the robot can get there is not looked at.
    ArgumentError for one of outputs, or of other tips.
    """
    targets = wanted.targets()
    if targets is None:
        if wanted.type_name == 'hold':
            return None
        words = 'hold, or one of tips, such as circle or path: the law leads a tip'
        raise ArgumentError(f'{GROUP}.type', wanted.type_name, words)
    if [body_index(model, each) for each in targets.bodies] != [body_index(model, body)]:
        words = f'the tip that the law leads, {body}'
        raise ArgumentError(f'{GROUP}.{wanted.type_name}.body', list(targets.bodies), words)
    end = float(targets.duration)
    times = np.linspace(0.0, end, samples + 1)
    points = targets.points(times)[:, 0]
    ahead = end * np.array([0.3, 0.7])
    periodic = bool(np.allclose(targets.points(ahead + end), targets.points(ahead), atol=1e-9))
    if periodic:
        points[-1] = points[0]
    return spline(times, points, periodic=periodic)
