# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Friction of tendons along their routes at rest, by the direction in which each slid last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.dynamics.arguments import checked, one_of
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.model.cable_drives import cable_drives_of
from softrobot_dynamics.model.routes import capstan_of
from softrobot_dynamics.recursion.cable_drives import hold
from softrobot_dynamics.recursion.capstan import fill_friction_at_rest
from softrobot_dynamics.recursion.finite_differences import by_second_order

if TYPE_CHECKING:
    from softrobot_dynamics.model.evaluation import Evaluator
    from softrobot_dynamics.model.model import CompiledModel

SLIDING_SIGNS = {'in': 1.0, 'out': -1.0, 'none': 0.0}
"""Ways to slide: towards the base, as what is drawn in does, towards the tip, or not known."""

Ways: TypeAlias = 'ArrayLike | str | Mapping[str, str] | None'


def read_sliding(model: CompiledModel, sliding: Ways) -> Vector:
    """
    Return the ways (m,) in which tendons slid last, each 1, -1 or 0; None: 0 of all.

    ``sliding`` are these numbers, one of the :data:`SLIDING_SIGNS` for all, or words by actuator,
    those not named 'none'. Raises ArgumentError, UnknownNameError.
    """
    names = model.description.actuator_names
    if sliding is None:
        return np.zeros(model.m)
    if isinstance(sliding, str):
        return np.full(model.m, SLIDING_SIGNS[one_of('sliding', sliding, tuple(SLIDING_SIGNS))])
    if isinstance(sliding, Mapping):
        ways = np.zeros(model.m)
        for name, word in sliding.items():
            if name not in names:
                raise UnknownNameError('actuator', name, names)
            ways[names.index(name)] = SLIDING_SIGNS[
                one_of(f'sliding.{name}', word, tuple(SLIDING_SIGNS))
            ]
        return ways
    return checked_ways('sliding', checked('sliding', sliding, (model.m,)))


def checked_ways(name: str, ways: Vector) -> Any:
    """Return ways to slide, an array (...) of 1, -1 and 0; ArgumentError for other numbers."""
    wrong = ways[~np.isin(ways, (-1.0, 0.0, 1.0))]
    if len(wrong):
        raise ArgumentError(name, wrong[0], '1 (in), -1 (out) or 0 (none) of each actuator')
    return ways


class Sliding:
    """
    The force of friction on a model at rest, by the direction in which each tendon slid last.

    Tensions fall along each route, or grow, as those of the simulated robot do that slides, see
    :mod:`softrobot_dynamics.recursion.capstan`. u (m,) are commands if ``commanded``. All is in
    arrays of its own, but for the workspace of the ``evaluate`` (:class:`Evaluator`).
    """

    def __init__(self, model: CompiledModel, evaluate: Evaluator, commanded: bool) -> None:
        n, held = model.n, model.positioned & commanded
        self._signs = np.where(held, 0.0, model.signs)
        self._units = model.scales.units
        self._ways, self._zero, self._friction = np.zeros(model.m), np.zeros(n), np.zeros(n)
        self._force, self._command = np.zeros((2, model.m))
        acts, along = evaluate.entry, self._force
        if held.any():
            along, drives = np.zeros(model.m), cable_drives_of(model, evaluate.robot)
            given: Any = {'drives': drives, 'command': self._command, 'h': np.zeros(n)}
            acts = entry(hold, evaluate=acts, **given, force=self._force, output_forces=along)
        capstan: Any = capstan_of(model, evaluate.robot, along)
        add_friction = entry(
            fill_friction_at_rest,
            evaluate=acts,
            capstan=capstan,
            direction=self._ways,
            friction=self._friction,
        )
        self._add_friction = cached(run, 'VECTOR, VECTOR', entry=add_friction)

    def take(self, ways: Vector) -> bool:
        """Set the directions (m,) in which tendons slid last; return whether any did."""
        self._ways[:] = ways
        return bool(self._ways.any())

    def force(self, q: Vector, u: Vector) -> Vector:
        """Return the generalized force (n,) of friction on the robot at q (n,) under u (m,)."""
        self._set_command(u)
        return self._at(np.ascontiguousarray(q))

    def derivative(self, q: Vector, u: Vector) -> Matrix:
        """Return the derivative (n, n) by q of `force`, by central differences."""
        self._set_command(u)
        derivative = by_second_order(self._at, np.asarray(q), self._units)
        self._at(np.ascontiguousarray(q))  # back: others go by the poses at q
        return derivative

    def _at(self, q: Vector) -> Vector:
        self._add_friction(q, self._zero)
        return -self._friction

    def _set_command(self, u: Vector) -> None:
        np.multiply(self._signs, u, out=self._force)
        self._command[:] = u
