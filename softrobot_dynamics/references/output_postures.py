# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Postures at rest that have given outputs, by Newton's method.

Geometry alone would not do: how far a tendon can go depends on what it pulls at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.saddle_free_newton import relative_residual
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.inverse_statics import actuation_coordinates, PathPostures
from softrobot_dynamics.references.piecewise import Indices, Reference

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# for each fraction of the way, and the least fraction
MAX_NEWTON_STEPS, MIN_FRACTION = 25, 1.0 / 16.0
# change of q, forces, and gap: each relative
STEP_TOLERANCE, FORCE_TOLERANCE, OUTPUT_TOLERANCE = 1e-9, 1e-7, 1e-6
MAX_STEP_ROTATION = 0.3  # [rad]
# along a reference, for each of its pieces
MIN_POSTURES, POSTURES_PER_PIECE, MAX_POSTURES = 129, 8, 1025


def hold_outputs(
    model: CompiledModel, controlled: Indices, y: Vector, q: Vector, name: str = 'y'
) -> tuple[Vector, Vector]:
    """
    Return (q (n,), u (m,)) at rest with the outputs y (c,) of the controlled actuators.

    Those that are not controlled do what is nearest to nothing. u may be beyond its limits.
    Raises ArgumentError, with the share of the way from q (n,) up to which there are postures;
    there y is called by ``name``.
    """
    search = _begun(model, controlled, y, q, name)
    return search.q, search.u


def hold_along(
    model: CompiledModel, controlled: Indices, reference: Reference, q: Vector, name: str = 'y'
) -> tuple[Vector, PathPostures]:
    """
    Return times (K,) [s] along a Reference, and the Postures that have its outputs at rest there.

    Arguments and errors as of :func:`hold_outputs`, with the time up to which there are postures.
    """
    from scipy.interpolate import PPoly  # late: scipy is slow to import

    breaks = reference.breaks
    count = min(max(MIN_POSTURES, POSTURES_PER_PIECE * (len(breaks) - 1)), MAX_POSTURES)
    times = np.linspace(breaks[0], breaks[-1], count)
    outputs = PPoly(reference.coefficients[::-1], breaks)(times)
    return times, hold_through(model, controlled, times, outputs, q, name)


def hold_through(
    model: CompiledModel,
    controlled: Indices,
    times: Vector,
    outputs: Matrix,
    q: Vector,
    name: str = 'y',
    u: Vector | None = None,
) -> PathPostures:
    """
    Return the Postures that have some outputs (K, c) at rest, one after the other.

    They are those of times (K,) [s]; ``u`` (m,) is what actuators do that are not controlled, else
    as of :func:`hold_along`.
    """
    search = _begun(model, controlled, outputs[0], q, name, u)
    found = [search.posture()]
    for t, before, y in zip(times[1:], outputs, outputs[1:]):
        if search.go(before, y) < 1.0:
            raise ArgumentError(name, y, f'outputs of some posture at rest at t = {t:.4g} s')
        found.append(search.posture())
    return PathPostures(*(np.array(each) for each in zip(*found)))


def _begun(
    model: CompiledModel,
    controlled: Indices,
    y: Vector,
    q: Vector,
    name: str,
    u: Vector | None = None,
) -> _NewtonSearch:
    """Return the search that has come from q (n,) to outputs y (c,); or ArgumentError."""
    search = _NewtonSearch(model, controlled, q, u)
    begin = search.outputs()
    search.reach(begin)  # may fail: what counts is where we go
    share = search.go(begin, y)
    if share < 1.0:
        words = f'outputs of an equilibrium; equilibria exist up to {share:.2g} of the way'
        raise ArgumentError(name, y, words)
    return search


class _NewtonSearch:
    """Newton's method for statics and given outputs; unknown are q and the controlled u."""

    def __init__(
        self, model: CompiledModel, controlled: Indices, q: Vector, u: Vector | None
    ) -> None:
        self._model, self._controlled, self._statics = model, controlled, Statics(model)
        self.q = np.array(q, dtype=float)
        self.u = np.clip(
            np.zeros(model.m) if u is None else u, model.effort_lower, model.effort_upper
        )

    def posture(self) -> tuple[Vector, Vector, Vector]:
        """Return q (n,), u (m,) and y (m,) there."""
        return self.q.copy(), self.u.copy(), actuation_coordinates(self._model, self.q)

    def outputs(self) -> Vector:
        """Return the outputs (c,) of the controlled actuators."""
        found = actuation_coordinates(self._model, self.q)
        return found[self._controlled]

    def go(self, begin: Vector, end: Vector) -> float:
        """Go from outputs (c,) to others; return the share of the way that succeeded, 1 if all."""
        share, step = 0.0, 1.0
        while share < 1.0:
            target = min(1.0, share + step)
            if self.reach(begin + target * (end - begin)):
                share = target
            elif step > MIN_FRACTION:
                step *= 0.5
            else:
                break
        return share

    def reach(self, y: Vector) -> bool:
        """Go to outputs y (c,); return whether that succeeded, else nothing has changed."""
        before = self.q.copy(), self.u.copy()
        try:
            for _ in range(MAX_NEWTON_STEPS):
                change, balance, gap = self._step(y)
                if (
                    change < STEP_TOLERANCE
                    and balance < FORCE_TOLERANCE
                    and gap < OUTPUT_TOLERANCE
                ):
                    return True
        except (ArgumentError, np.linalg.LinAlgError):  # a posture the bodies cannot represent
            pass
        self.q, self.u = before
        return False

    def _step(self, y: Vector) -> tuple[float, float, float]:
        """Take a Newton step; return its size, and the errors before it."""
        statics, chosen, n = self._statics, self._controlled, self._model.n
        tangent = statics.tangent(self.q, self.u)
        r, size = statics.residual(self.q, self.u)
        A = statics.actuation_matrix()[:, chosen]
        gap = y - self.outputs()
        J = A.T * self._model.signs[chosen, None]
        matrix = np.block([[tangent, -A], [J, np.zeros((len(chosen), len(chosen)))]])
        rows = 1.0 / np.maximum(np.abs(matrix).max(axis=1), 1e-300)
        columns = 1.0 / np.maximum(np.abs(rows[:, None] * matrix).max(axis=0), 1e-300)
        scaled = rows[:, None] * matrix * columns
        step = columns * np.linalg.lstsq(scaled, rows * np.concatenate([-r, gap]), rcond=1e-12)[0]
        units = self._model.scales.units
        change = float(np.abs(step[:n] / units).max())
        share = min(1.0, MAX_STEP_ROTATION / max(statics.step_rotation(step[:n]), 1e-300))
        self.q = self.q + share * step[:n]
        self.u[chosen] += share * step[n:]
        scale = np.maximum(np.abs(y), 1e-3 * np.abs(J * units).max(axis=1, initial=0.0))
        change /= 1.0 + float(np.abs(self.q / units).max())
        return change, relative_residual(r, size), relative_residual(gap, scale)
