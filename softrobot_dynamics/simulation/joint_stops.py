# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Position limits of joints as stops in a simulation: rigid, unilateral, with a restitution.

A step that leads beyond a stop is made again, as long as it takes to get there. The impact then
changes the rates as M dqd = J^T p has it, with impulses p >= 0 at the stops that are reached, and
no rate into one is left: the kinetic energy is as small as rates from there allow, so that it
never grows (Moreau, 1988). With a restitution e of `limits.restitution` rates into stops become e
times as fast away from them (Newton's law). Of stops that are met at once the smallest e counts,
and 0 where another coordinate is just leaving its stop, so that energy does not grow then either.
Flights shorter than a sub-step end at once. Whatever presses against its stop is held there during
the next step; what acceleration leads away is free. Both are linear complementarity problems with
the mass matrix. No stiffness stands for the stop, which would have to be chosen for each robot and
step.

Steps that meet no stop are those of the integrator alone, bit for bit: it makes all steps of a
period first, and only if one was at a stop are they made again, one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.recursion.joint_stops import met, reached, save_state, Stops
from softrobot_dynamics.simulation.integrators.contract import Integrator
from softrobot_dynamics.simulation.loads import LoadedSteps

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


_PIVOTS_PER_UNKNOWN = 50


def complementary(A: Matrix, b: Vector) -> Vector:
    """
    Return x (k,) of the complementarity problem of A (k, k), symmetric positive definite, b (k,).

    By principal pivoting with the least index, which ends for every such A. Murty, Linear
    Complementarity, Linear and Nonlinear Programming (1988), Sec. 4.1.
    """
    k = len(b)
    x, basic = np.zeros(k), np.zeros(k, dtype=bool)
    # what is negative by rounding alone would be exchanged without end
    slack = 1e-12 * np.abs(b).max(initial=0.0)
    for _ in range(_PIVOTS_PER_UNKNOWN * k):
        x = np.zeros(k)
        if basic.any():
            x[basic] = np.linalg.solve(A[np.ix_(basic, basic)], -b[basic])
        w = A @ x + b
        wrong = np.flatnonzero(np.where(basic, x * np.diag(A), w) < -slack)
        if not len(wrong):
            break
        basic[wrong[0]] = not basic[wrong[0]]
    found: Vector = np.maximum(x, 0.0)
    return found


Mask = NDArray[np.bool_]  # (n,) which coordinates

_STOP_TOLERANCE = 1e-10  # of a coordinate's unit or its stop
_HELD_INERTIA_RATIO = 1e9  # of a held coordinate's inertia to its own
# of the inverse inertia without loops: makes stops of one freedom independent
_STOP_COMPLIANCE = 1e-9
_MAX_TRIES = 12  # of a step that is to end at a stop, and one for each coordinate


class JointStops:
    """
    Makes the steps of an integrator within the joints' position limits.

    ``engaged``: whether a coordinate is at a stop now. ``forces`` (n,): the generalized forces of
    the stops at the beginning of the last step, >= 0 at a lower one. ``keep(q, qd)`` keeps the
    state that a period begins at, for :meth:`restore`; ``met(q)`` tells whether a stop was met
    since then, or is by now. Both are kernels, called in each period.
    """

    def __init__(self, model: CompiledModel, stepper: Integrator, stops: Stops) -> None:
        self._model, self._stepper, self._stops = model, stepper, stops
        self._reached = cached(reached, stops=stops)
        finite = [np.where(np.isfinite(x), np.abs(x), 0.0) for x in (model.q_lower, model.q_upper)]
        self._slack = _STOP_TOLERANCE * (model.scales.units + np.maximum(*finite))
        self._saved = np.zeros(2 * model.n + len(stepper.clock))
        self.keep = cached(save_state, stops=stops, clock=stepper.clock, saved=self._saved)
        self.met = cached(met, stops=stops)
        self.forces, self.engaged = np.zeros(model.n), False

    def begin(self, q: Vector) -> None:
        """Restart at q (n,)."""
        self._stops.stop_inertia[:] = self.forces[:] = 0.0
        self.engaged = bool(self._reached(q))

    def restore(self, q: Vector, qd: Vector) -> None:
        """Go back to the state that was kept."""
        n = len(q)
        q[:], qd[:] = self._saved[:n], self._saved[n : 2 * n]
        for array, value in zip(self._stepper.clock, self._saved[2 * n :]):
            array[0] = value

    def advance(
        self, steps: LoadedSteps, force: Vector, q: Vector, qd: Vector, duration: float
    ) -> int:
        """
        Make one step, as ``advance`` of an Integrator, that ends at a stop if it meets one.

        Rates after it are those after the impact.
        """
        self._hold_pressed(steps, force, q, qd)
        start, longest, clock = (q.copy(), qd.copy()), duration, self._stepper.clock
        contact = self._stepper.acts.contact
        time = np.zeros(1) if contact is None else contact.moving.time
        now = time[0]
        substep = self._stepper.substep
        for left in reversed(range(_MAX_TRIES + len(q))):
            time[0] = now
            failed = steps.advance(force, q, qd, longest, True)
            if failed:
                break
            fixed = self._stops.stop_inertia > 0.0
            q[fixed], qd[fixed] = start[0][fixed], 0.0
            if self._stepper.loops is not None and fixed.any():
                steps.evaluate(q, qd)
                self._inverse(q, qd)  # all others, too, as loops have it
                qd[fixed] = 0.0
            deep = self._penetration(q) > self._slack
            if not deep.any() or not left:
                break
            pressed = deep & (self._penetration(start[0]) >= 0.0)
            fraction = self._step_fraction(start[0], q, deep)
            q[:], qd[:] = start
            if longest > substep and (self._model.restitution[pressed] > 0.0).any():
                longest = substep  # it may fly for some shorter time
            elif pressed.any():  # away from its stop and back within a step: it stays
                self._apply_impact(steps, pressed, q, qd)
                start = q.copy(), qd.copy()
            else:
                longest = float(clock.elapsed[0]) * fraction
        self._stops.stop_inertia[:] = 0.0
        if not failed:
            self._snap_to_stops(steps, q, qd)
        return int(failed)

    def _penetration(self, q: Vector) -> Vector:
        """Return how far beyond a stop each of q (n,) is, >= 0 at one."""
        depth: Vector = np.maximum(self._stops.lower - q, q - self._stops.upper)
        return depth

    def _step_fraction(self, start: Vector, end: Vector, deep: Mask) -> float:
        """Return the fraction of a step, on straight lines, after which the first stop is met."""
        stop = np.where(end > start, self._stops.upper, self._stops.lower)[deep]
        return float(((stop - start[deep]) / (end - start)[deep]).min())

    def _snap_to_stops(self, steps: LoadedSteps, q: Vector, qd: Vector) -> None:
        """Put coordinates near or beyond a stop on it, and remove their rates into it."""
        at = self._penetration(q) >= -self._slack
        self.engaged = bool(at.any())
        if not self.engaged:
            self.forces[:] = 0.0
            return
        q[:] = np.clip(q, self._stops.lower, self._stops.upper)
        upper = self._stops.upper - q <= self._slack
        q[at] = np.where(upper, self._stops.upper, self._stops.lower)[at]
        sign = np.where(upper, -1.0, 1.0)[at]
        if (sign * qd[at] >= 0.0).all():
            return
        steps.evaluate(q, qd)
        inverse, _ = self._inverse(q, qd)
        before = sign * qd[at]
        bounces = not (before > 0.0).any()
        e = self._model.restitution[at][before < 0.0].min() if bounces else 0.0
        away = -e * np.minimum(before, 0.0)
        impulse = complementary(_between(inverse, at, sign), before - away)
        qd += inverse[:, at] @ (sign * impulse)
        qd[at] = np.where(impulse > 0.0, sign * away, sign * np.maximum(sign * qd[at], away))
        if self._stepper.loops is not None:
            self._inverse(q, qd)  # rates keep loops closed

    def _hold_pressed(self, steps: LoadedSteps, force: Vector, q: Vector, qd: Vector) -> None:
        """Hold coordinates that rest at a stop and are pressed against it."""
        self._stops.stop_inertia[:] = self.forces[:] = 0.0
        self._snap_to_stops(steps, q, qd)
        at = (self._penetration(q) >= 0.0) & (qd == 0.0)
        if not at.any():
            return
        sign = np.where(q >= self._stops.upper, -1.0, 1.0)
        steps.evaluate_driven(q, qd)
        pressed = self._pressed_by_drives(at, sign)
        if pressed.any():
            self._lock(pressed)
            steps.evaluate_driven(q, qd)  # what such coordinates do not do moves no other
        rest = at & ~pressed
        if rest.any():
            terms, (inverse, drift) = self._stepper.terms, self._inverse(q, qd)
            free = inverse @ (terms.J.T @ force - terms.h) + drift
            A = _between(inverse, rest, sign[rest])
            self.forces[rest] = sign[rest] * complementary(A, sign[rest] * free[rest])
        self._lock(self.forces != 0.0)

    def _pressed_by_drives(self, at: Mask, sign: Vector) -> Mask:
        """
        Return which coordinates (n,) ``at`` stops their drives press against them, with forces.

        What is at its stop has rates of ``sign`` (n,) that lead away. After an evaluation with the
        drives; fills the forces of these stops.
        """
        found, drives = np.zeros(len(at), dtype=bool), self._stepper.acts.servos
        if drives is None:
            return found
        j = drives.coordinates
        into = at[j] & (drives.at_limit == 0.0) & (sign[j] * drives.a[j] < 0.0)
        found[j[into]] = True
        self.forces[j[into]] = -(drives.inertia * drives.a[j])[into]
        return found

    def _apply_impact(self, steps: LoadedSteps, pressed: Mask, q: Vector, qd: Vector) -> None:
        """Stop the coordinates ``pressed`` (n,) at once, by impulses, and hold them as well."""
        both = pressed | (self._stops.stop_inertia > 0.0)
        self._stops.stop_inertia[:] = 0.0
        steps.evaluate(q, qd)
        inverse, _ = self._inverse(q, qd)
        qd -= inverse[:, both] @ np.linalg.solve(inverse[np.ix_(both, both)], qd[both])
        qd[both] = 0.0
        self._lock(both)

    def _lock(self, which: Mask) -> None:
        """Hold coordinates (n,), and no others, by the mass matrix that was evaluated."""
        held, model, h = self._stops.stop_inertia, self._model, self._stepper.substep
        heavy = self._stepper.terms.M + h * (model.damping + h * model.stiffness)
        new = which & (held == 0.0)  # of what is held, M has the inertia already
        held[:] = np.where(
            new, _HELD_INERTIA_RATIO * np.abs(np.diag(heavy)), np.where(which, held, 0.0)
        )

    def _inverse(self, q: Vector, qd: Vector) -> tuple[Matrix, Vector]:
        """
        Return the inverse of the mass matrix (n, n) that was evaluated at q, qd, and a drift (n,).

        Of a robot with closed loops both are those of accelerations that keep them closed.
        """
        M, model, h = self._stepper.terms.M, self._model, self._stepper.substep
        try:
            inverse = np.asarray(np.linalg.inv(M), dtype=float)
        except np.linalg.LinAlgError:  # coordinates that stiffness or damping holds alone
            held = M + h * (model.damping + h * model.stiffness)
            inverse = np.asarray(np.linalg.inv(held), dtype=float)
        if self._stepper.loops is None:
            return inverse, np.zeros(len(q))
        constrained, drift = self._stepper.loops.constrain(inverse, q, qd)
        # several coordinates may be at stops that have one freedom together
        return constrained + _STOP_COMPLIANCE * np.diag(np.diag(inverse)), drift


def _between(inverse: Matrix, at: Mask, sign: Vector) -> Matrix:
    """Return how rates away from stops, at some coordinates, change by impulses there."""
    found: Matrix = inverse[np.ix_(at, at)] * np.outer(sign, sign)
    return found


def require_within(model: CompiledModel, q: Vector) -> None:
    """Raise ArgumentError by name for the first coordinate of q (n,) outside of its limits."""
    slack = _STOP_TOLERANCE * model.scales.units
    for i in np.flatnonzero((q < model.q_lower - slack) | (q > model.q_upper + slack)):
        low, high = float(model.q_lower[i]), float(model.q_upper[i])
        name = f'q of {model.coordinate_names[i]}'
        words = f'a position within its limits, {low:g} to {high:g}'
        where = 'an argument, or `initial` of the robot file, says where it begins'
        raise ArgumentError(name, float(q[i]), f'{words}; {where}')
