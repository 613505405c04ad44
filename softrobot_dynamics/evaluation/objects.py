# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Evaluate the objects in a run: how far they were moved, lifted, and slipped in a grasp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.dynamics.contacts import contacts

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_SAMPLED_MOMENTS = 200  # of a run


class ObjectOutcome(NamedTuple):
    """An object at the end of a run."""

    name: str
    rise: float  # [m] against gravity since the beginning
    shift: float  # [m] across gravity
    holders: tuple[str, ...]  # bodies of the robot that touch it
    lies_on: tuple[str, ...]  # obstacles and objects that touch it
    slip: float  # [m] past its holders since it touched nothing else; nan where it still does

    def in_words(self) -> str:
        """Return a line about it."""
        moved = f'moved {1e3 * self.shift:.1f} mm across and {1e3 * self.rise:+.1f} mm up'
        touched = f'held by {", ".join(self.holders)}' if self.holders else 'not held'
        if self.lies_on:
            touched += f', on {", ".join(self.lies_on)}'
        slipped = '' if np.isnan(self.slip) else f', slipped by {1e3 * self.slip:.1f} mm'
        return f'{self.name}: {moved}; {touched}{slipped}'


def object_outcomes(model: CompiledModel, q: Matrix, t: Vector) -> Iterator[str]:
    """
    Yield a line about each object of a model after a run through q (T, n), if there are any.

    ``t`` (T,) [s]: the time by which obstacles move.
    """
    good = np.isfinite(q).all(axis=1)
    if good.any():
        for index, module in enumerate(model.description.modules):
            if module.is_object:
                yield object_outcome(model, index, q[good], t[good]).in_words()


def object_outcome(model: CompiledModel, index: int, q: Matrix, t: Vector) -> ObjectOutcome:
    """
    Return the :class:`ObjectOutcome` of a body, an object, by its index, after postures (T, n).

    ``t`` (T,) [s]: the time by which obstacles move. Of many postures some are looked at, evenly
    spread.
    """
    seen = np.unique(np.linspace(0, len(q) - 1, _SAMPLED_MOMENTS).round().astype(int))
    q, t = q[seen], t[seen]
    modules = model.description.modules
    name, bodies = modules[index].name, {m.name for m in modules if not m.is_object}
    touched = [_touching(model, row, moment, name) for row, moment in zip(q, t)]
    tips = np.array([forward_kinematics(model, q=row) for row in q])
    places = tips[:, index, :3, 3]
    gravity = np.array(model.description.gravity, dtype=float)
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size else np.array([0.0, 0.0, 1.0])
    displacement = places[-1] - places[0]
    rise = float(displacement @ up)
    holders = tuple(sorted(touched[-1] & bodies))
    others = tuple(sorted(touched[-1] - bodies))
    slip = float('nan')
    if holders and not others:
        free = max((k + 1 for k, names in enumerate(touched) if names - bodies), default=0)
        held = [model.body_names.index(each) for each in holders]
        slip = _slip(places[free:], tips[free:][:, held])
    return ObjectOutcome(
        name, rise, float(np.linalg.norm(displacement - rise * up)), holders, others, slip
    )


def _touching(model: CompiledModel, q: Vector, t: float, name: str) -> set[str]:
    """Return the names of bodies and obstacles that touch an object at q (n,), at a time [s]."""
    found = contacts(model, q=q, t=t)
    return {
        other
        for (a, b), force in zip(found.bodies, found.force)
        for one, other in ((a, b), (b, a))
        if one == name and force > 0.0
    }


def _slip(places: Matrix, tips: Matrix) -> float:
    """Return how far [m] places (T, 3) move in the axes of frames (T, H, 4, 4), on average."""
    R, p = tips[..., :3, :3], tips[..., :3, 3]
    own = np.einsum('thji,thj->thi', R, places[:, None] - p)
    return float(np.linalg.norm((own[-1] - own[0]).mean(axis=0)))
