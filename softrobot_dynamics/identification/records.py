# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Motions from the recording of a node: commands, and every coordinate of the robot."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.mapping import held
from softrobot_dynamics.identification.motions import Coordinate, Motion, motion
from softrobot_dynamics.recordings.reading import read_recording

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


def read_record(
    description: RobotDescription, path: str | PathLike[str], horizon: float | None = None
) -> Motion:
    """
    Return the :class:`Motion` in a file that a node recorded, from its first command on.

    It starts in a free state, and each ``horizon`` [s] anew. All coordinates count alike, each in
    its own unit. A tick of which the state was not known, or is no later, is left out. Raises
    ArgumentError, also for the record of a robot with other coordinates or actuators.
    """
    record = read_recording(path)
    for name in ('coordinate_names', 'actuator_names'):
        own, there = list(getattr(description, name)), record.facts.get(name)
        if there != own:
            raise ArgumentError(f'{name} in {path}', there, f'those of {description.name}, {own}')
    u, stamp = record['u'], record['stamp']
    commanded = np.maximum.accumulate(np.isfinite(u).all(axis=1))
    later = np.diff(np.maximum.accumulate(stamp), prepend=stamp[:1] - 1) > 0
    kept = commanded & later & np.isfinite(record['q']).all(axis=1)
    if kept.sum() < 2:
        words = 'one with commands, and states after the first'
        raise ArgumentError('recording', str(path), words)
    return motion(
        description,
        1e-9 * (stamp[kept] - stamp[kept][0]),
        held(u)[kept],
        coordinates=[Coordinate(name) for name in description.coordinate_names],
        values=record['q'][kept],
        start='free',
        horizon=horizon,
    )
