# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Whether a robot can do what a reference asks: efforts, their rates and the joints' speeds.

What asks for more than a limit is remarked, as the law then follows as far as the limits let it;
what asks for more than :data:`FACTOR` times as much is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.statics import Statics
from softrobot_dynamics.errors import ArgumentError, ExcessiveReferenceError
from softrobot_dynamics.references import planning
from softrobot_dynamics.references.contract import Reference
from softrobot_dynamics.references.postures import actuation_coordinates, Postures

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

FACTOR = 2.0  # times a limit, for an effort counted from the middle of its range
PLACES = 8  # along a circle or path, where more may be asked of it
SLACK = 1e-6  # share of a limit that is rounding

# the search for a posture with given outputs
STEPS, FINEST = 25, 1.0 / 16.0  # Newton steps for each share of the way, the least share
SETTLED, BALANCED, REACHED = 1e-9, 1e-7, 1e-6  # change of q, forces, and gap: each relative
TURN = 0.3  # [rad] that a step may turn


class Planned(NamedTuple):
    """A reference, and in words what it asks for beyond the limits."""

    reference: Reference
    remarks: tuple[str, ...] = ()
    places: tuple[tuple[Vector, Vector], ...] = ()  # of (q (n,), u (m,)) along it, a few


def plan(model: CompiledModel, controlled: Any, settings: Mapping[str, Any], q: Vector) -> Planned:
    """
    Return the :class:`Planned` that settings describe, see ``planning.from_settings``.

    Raises what that raises, and ExcessiveReferenceError.
    """
    remarks: list[str] = []
    places: list[tuple[Vector, Vector]] = []

    def look(times: Vector, postures: Postures) -> None:
        remarks.extend(examine(model, times, postures))
        few = np.linspace(0, len(times) - 1, PLACES, dtype=int)
        places.extend(zip(postures.q[few], postures.u[few]))

    reference = planning.from_settings(model, controlled, settings, q, look)
    if settings['type'] == 'setpoint':
        y = np.array(settings['setpoint'], dtype=float)
        remarks.extend(examine_setpoint(model, controlled, y, q))
    return Planned(reference, tuple(remarks), tuple(places))


def examine(model: CompiledModel, times: Vector, postures: Postures) -> list[str]:
    """
    Return in words what a motion through postures asks for beyond the limits, a list.

    ``times`` (K,) [s] and Postures; u is what holds each posture and what inertia and damping add
    to it, in the directions that the actuators have. Raises ExcessiveReferenceError.
    """
    from scipy.interpolate import CubicSpline  # late: scipy is slow to import

    fitted = CubicSpline(times, postures.q)
    rates = fitted(times, 1)
    try:
        added = [_added(model, *state) for state in zip(postures.q, rates, fitted(times, 2))]
    except np.linalg.LinAlgError:  # a motion without inertia: nothing can be said
        return []
    u = postures.u + np.array(added)
    change = CubicSpline(times, u)(times, 1)
    demands = (
        _effort(model, times, u, np.arange(model.m)),
        _speed('change of ', _with_units(model, '/s'), times, change, model.rate_limit),
        _speed('speed of ', model.coordinate_names, times, rates, model.qd_limit),
    )
    return _judged(demands)


def examine_setpoint(model: CompiledModel, controlled: Any, y: Vector, q: Vector) -> list[str]:
    """
    Return in words what holding outputs asks for beyond the limits, a list.

    ``y`` (c,) of the ``controlled`` actuators; q (n,) is where the search begins. Raises
    ArgumentError if no posture is found, ExcessiveReferenceError.
    """
    y = checked('reference.setpoint', y, (len(controlled),))
    q, u = hold_outputs(model, controlled, y, q)
    beyond = np.flatnonzero((q < model.q_lower - SLACK) | (q > model.q_upper + SLACK))
    if len(beyond):
        i = beyond[0]
        low, high = float(model.q_lower[i]), float(model.q_upper[i])
        name = f'position of {model.coordinate_names[i]}'
        raise ExcessiveReferenceError(0.0, name, float(q[i]), low, high)
    return _judged([_effort(model, np.zeros(1), u[None], controlled)])


def hold_outputs(
    model: CompiledModel, controlled: Any, y: Vector, q: Vector
) -> tuple[Vector, Vector]:
    """
    Return (q (n,), u (m,)) at rest with the outputs y (c,) of the controlled actuators.

    Those that are not controlled do what is nearest to nothing. u may be beyond its limits.
    Raises ArgumentError, with the share of the way from q (n,) up to which there are postures.
    """
    search = _Search(model, controlled, q)
    begin, share, step = search.outputs(), 0.0, 1.0
    search.reach(begin)  # may fail: what counts is where we go
    while share < 1.0:
        target = min(1.0, share + step)
        if search.reach(begin + target * (y - begin)):
            share = target
        elif step > FINEST:
            step *= 0.5
        else:
            words = f'outputs of some posture at rest; there are such up to {share:.2g} of the way'
            raise ArgumentError('reference.setpoint', y, words)
    return search.q, search.u


class _Search:
    """Newton's method for statics and given outputs; unknown are q and the controlled u."""

    def __init__(self, model: CompiledModel, controlled: Any, q: Vector) -> None:
        self._model, self._controlled, self._statics = model, controlled, Statics(model)
        self.q, self.u = np.array(q, dtype=float), np.clip(np.zeros(model.m), *_limits(model))

    def outputs(self) -> Vector:
        """Return the outputs (c,) of the controlled actuators."""
        found = actuation_coordinates(self._model, self.q)
        return found[self._controlled]

    def reach(self, y: Vector) -> bool:
        """Go to outputs y (c,); return whether that succeeded, else nothing has changed."""
        before = self.q.copy(), self.u.copy()
        try:
            for _ in range(STEPS):
                change, balance, gap = self._step(y)
                if change < SETTLED and balance < BALANCED and gap < REACHED:
                    return True
        except (ArgumentError, np.linalg.LinAlgError):  # a posture the bodies cannot represent
            pass
        self.q, self.u = before
        return False

    def _step(self, y: Vector) -> tuple[float, float, float]:
        """Do a Newton step; return its size, and the errors before it."""
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
        change = float(np.abs(step[:n]).max())
        share = min(1.0, TURN / max(statics.turn(step[:n]), 1e-300))
        self.q = self.q + share * step[:n]
        self.u[chosen] += share * step[n:]
        scale = max(float(np.abs(y).max(initial=0.0)), 1e-3 * float(np.abs(J).max()))
        return (
            change / (1.0 + float(np.abs(self.q).max())),
            float(np.abs(r).max()) / max(size, 1e-9),
            float(np.abs(gap).max()) / scale,
        )


def _limits(model: CompiledModel) -> tuple[Vector, Vector]:
    return model.lower, model.upper


def _added(model: CompiledModel, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """Return what motion adds to u (m,), by least squares of the accelerations in the outputs."""
    evaluate, zero = model.per_thread.evaluator, np.zeros(model.n)
    still = evaluate(q, zero).h.copy()
    terms = evaluate(q, qd)
    force = terms.M @ qdd + terms.h - still
    root = np.linalg.cholesky(terms.M)
    sides = np.linalg.solve(root, np.column_stack([terms.J.T, force]))
    return model.signs * np.linalg.lstsq(sides[:, :-1], sides[:, -1], rcond=1e-9)[0]


def _effort(
    model: CompiledModel, times: Vector, u: Matrix, chosen: Any
) -> tuple[float, ExcessiveReferenceError]:
    """Return (ratio, error) for the effort that is farthest beyond its range."""
    low, high = (limit[chosen] for limit in _limits(model))
    over = np.maximum(np.maximum(low - u[:, chosen], u[:, chosen] - high), 0.0)
    ratios = 1.0 + 2.0 * over / (high - low)
    names = _with_units(model)
    own = [names[i] for i in chosen]
    return _worst('effort of ', own, times, u[:, chosen], ratios, (low, high))


def _with_units(model: CompiledModel, per: str = '') -> list[str]:
    """Return the names of the actuators with the units of their commands."""
    return [
        f'{name} [{quantity.unit or "-"}{per}]'
        for name, quantity in zip(model.actuator_names, model.commands)
    ]


def _speed(
    what: str, names: Sequence[str], times: Vector, values: Matrix, limits: Vector
) -> tuple[float, ExcessiveReferenceError]:
    """Return (ratio, error) for the value that is farthest beyond its limit."""
    return _worst(what, names, times, values, np.abs(values) / limits, (-limits, limits))


def _worst(
    what: str,
    names: Any,
    times: Vector,
    values: Matrix,
    ratios: Matrix,
    limits: tuple[Vector, Vector],
) -> tuple[float, ExcessiveReferenceError]:
    k, i = np.unravel_index(np.argmax(ratios), ratios.shape)
    low, high = (float(limit[i]) for limit in limits)
    error = ExcessiveReferenceError(
        float(times[k]), what + names[i], float(values[k, i]), low, high
    )
    return float(ratios[k, i]), error


def _judged(demands: Sequence[tuple[float, ExcessiveReferenceError]]) -> list[str]:
    """Raise the worst of (ratio, error) beyond the factor; return the words of the others."""
    ratio, error = max(demands, key=lambda each: each[0])
    if ratio > FACTOR:
        raise error
    return [str(error) for ratio, error in demands if ratio > 1.0 + SLACK]
