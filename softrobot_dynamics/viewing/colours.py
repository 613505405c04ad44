# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Colours and thicknesses wherever a robot is shown; colours are (3,), to 255."""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.viewing.shapes import Appearance, RobotShape

SOFT, RIGID = np.array([41, 112, 148]), np.array([152, 158, 164])
OBJECT, OBSTACLE = np.array([226, 170, 78]), np.array([176, 184, 192])
FORCE, OBSTACLE_OPACITY = np.array([150, 30, 140]), 0.45  # of obstacles
IDLE, TENSIONED, INFLATED = (
    np.array([205, 205, 205]),
    np.array([214, 39, 40]),
    np.array([240, 150, 20]),
)
UNKNOWN, PATH = np.array([90, 90, 90]), np.array([255, 127, 14])
TENDON_BODY_OPACITY = 0.4  # of a body through which tendons run
TENDON_SHARE, FRAME_SHARE, PATH_SHARE = 0.007, 0.06, 0.006  # of the robot's size
FORCE_SHARE = 0.008
_LIGHTENING = 0.18  # of every second body, of the way to white


class Palette:
    """The colours of a :class:`RobotShape`, by how much its actuators do of what they may."""

    def __init__(self, shape: RobotShape) -> None:
        self._shape, self._model = shape, shape.model
        soft = [len(m.body.coordinates()) > 0 for m in self._model.description.modules]
        own = np.where(np.array(soft)[:, None], SOFT, RIGID).astype(float)
        own[::2] += _LIGHTENING * (255.0 - own[::2])
        own[[m.is_object for m in self._model.description.modules]] = OBJECT
        self._own = own
        kinds = [entry.actuator for entry in self._model.description.actuators]
        names = [getattr(kind, 'body', None) for kind in kinds]
        cavities = [k for k, kind in enumerate(kinds) if kind.type_name == 'pressure']
        self._cavities = [(k, self._model.body_names.index(names[k])) for k in cavities]
        self._loud = [TENSIONED if kinds[k].sign < 0 else INFLATED for k in shape.routed]
        self._areas = [getattr(kind, 'area', None) for kind in kinds]

    def bodies(self, u: Vector | None) -> Matrix:
        """Return the colours (N, 3) of the bodies under commands u (m,), None: not known."""
        found = self._own.copy()
        if u is not None:
            shares = self._shares(u)
            for k, body in self._cavities:
                found[body] = _mixed(found[body], INFLATED, shares[k])
        return found

    def curves(self, u: Vector | None) -> Matrix:
        """Return the colours (R, 3) of what runs along curves, in the order of `routed`."""
        if u is None:
            return np.tile(UNKNOWN, (len(self._loud), 1))
        shares = self._shares(u)
        found = [_mixed(IDLE, c, shares[k]) for k, c in zip(self._shape.routed, self._loud)]
        return np.array(found).reshape(-1, 3)

    def thickness(self, k: int, size: float) -> float:
        """Return that of actuator k in a robot of a size [m]: a chamber's own, if it says one."""
        area = self._areas[k]
        return TENDON_SHARE * size if area is None else 2.0 * float(np.sqrt(area / np.pi))

    def _shares(self, u: Vector) -> Vector:
        """Return |u| of what each actuator may at most, up to 1; without limits of the largest."""
        most = np.maximum(np.abs(self._model.lower), np.abs(self._model.upper))
        largest = np.abs(u).max(initial=0.0) or 1.0
        return np.clip(np.abs(u) / np.where(np.isfinite(most), most, largest), 0.0, 1.0)


def size_of(look: Appearance) -> float:
    """Return the longest side [m] of the box around a robot."""
    return float(np.ptp(np.vstack(look.surfaces), axis=0).max())


def _mixed(quiet: Vector, loud: Vector, share: float) -> Vector:
    return quiet + np.sqrt(share) * (loud - quiet)  # little is seen, too
