# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parts of a robot description that are about contact."""

from dataclasses import dataclass

from softrobot_dynamics.collision.contract import CollisionShape
from softrobot_dynamics.description.obstacle_motion import ObstacleMotion
from softrobot_dynamics.schema.fields import number


@dataclass(frozen=True)
class Obstacle:
    """A shape of the environment, in the base frame, its name, and the motion it is given."""

    name: str
    shape: CollisionShape
    motion: ObstacleMotion | None = None


@dataclass(frozen=True)
class ContactOptions:
    """Options of simulated contact: entries of ``contact`` at the top of a robot file."""

    slip: float | None = number('m/s', above=0.0, default=None)
    stiffness: float | None = number('N/m', above=0.0, default=None)
