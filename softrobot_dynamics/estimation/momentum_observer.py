# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Momentum observer: external force on a robot whose coordinates and rates are measured.

The generalized momentum p = M(q) v changes by ::

    dp/dt = A u - h + dM/dt v + f,    h = c + g + s + d = ID(q, v, 0),

and the observer's r follows f as T dr/dt = f - r does, without accelerations (De Luca and
Mattone, ICRA 2005; Haddadin, De Luca and Albu-Schaffer, IEEE T-RO 33, 2017). It is the exact
solution of that for the mean of f over each period, so no period is too long for it. The c(q, v)
is quadratic in v: with W = dc/dv, dM/dt v = c + C^T v = (W + W^T) v / 2. And W is the part of
dh/dv that is odd in v: damping forces are odd, so their derivatives are even.

Impulses over a period are those of the trapezoidal rule, but for that of linear damping, which
soft bodies have too much of: D times the way is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.arguments import checked, checked_time, require_finite
from softrobot_dynamics.dynamics.calls import frame as frame_at
from softrobot_dynamics.dynamics.calls import jacobian
from softrobot_dynamics.dynamics.command_conversion import HeldCables
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.contact_places import (
    EQUAL_SCORE_RATIO,
    MaterialPoint,
    nearest_alike,
    places_along,
    places_near,
)
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.recursion.singular_mass import accelerations

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


_MIN_SHARE_GAIN = 0.05  # of the force: what a place without a known shape must explain more


@former_names(other='touched_shape')
class ObservedContact(NamedTuple):
    """A place on a robot, and the force there that explains most, in the axes of the base."""

    body: str
    point: Vector | None  # (3,) [m] the material point, None: the body's tip
    position: Vector  # (3,) [m] where that is, base frame
    force: Vector  # (3,) [N]
    share: float  # of the force on the robot that this explains, squared and weighed: 0 to 1
    touched_shape: str | None = None  # of the surroundings that it touches there, if known


class _Instant(NamedTuple):
    """A robot at a time [s]."""

    t: float
    q: Vector  # (n,)
    p: Vector  # (n,) momentum
    change: Vector  # (n,) of it, but for actuators, linear damping and what acts from outside
    A: Matrix  # (m, n) force of a unit of each actuator, zero of those that are told positions


class MomentumObserver:
    """
    A generalized momentum observer: q and qd as measured in, force from outside (n,) out.

    After a push begins, ``force`` has 1 - exp(-t / ``time``) of it after t [s]; with a shorter
    ``time`` it is found sooner, and noisier. All that the model has wrong is a part of it, such as
    Coulomb friction, which no model has. Not for several threads.

    Attributes: ``model``; ``time`` [s]; ``force`` (n,), the newest. Raises ArgumentError.
    """

    def __init__(self, model: CompiledModel, *, time: float = 0.02) -> None:
        require_tree(model, 'observers of momentum are')
        self.model, self.time = model, checked_time('time', time)
        if not self.time > 0.0:
            raise ArgumentError('time', time, 'a time > 0 [s]')
        self._evaluate, self._differentiate = model.evaluator(), Differentiator(model)
        self._signs = np.where(model.positioned, 0.0, model.signs)
        positioned = bool(model.positioned.any())
        self._cables = HeldCables(model, self._evaluate.robot) if positioned else None
        self._rest = np.zeros(model.n)
        self._places: list[MaterialPoint] = []
        self.begin(0.0)

    def begin(self, t: float, q: ArrayLike | None = None, qd: ArrayLike | None = None) -> None:
        """
        Restart at a time [s] at q and qd (n,), by default the initial q, at rest.

        Raises ArgumentError.
        """
        q, qd = self.model.q0 if q is None else q, self._rest if qd is None else qd
        self._last, self.force = self._evaluate_at(t, q, qd), np.zeros(self.model.n)

    def __call__(self, t: float, q: ArrayLike, qd: ArrayLike, u: ArrayLike) -> Vector:
        """
        Return the force (n,) at a time [s] by q and qd (n,), under u (m,) since the call before.

        Of tendons that are told positions u are these. Where coordinates jump, as when a rotation
        vector is made a shorter one, begin anew. Raises ArgumentError.
        """
        before, now, u = self._last, self._evaluate_at(t, q, qd), checked('u', u, (self.model.m,))
        h = now.t - before.t
        if not h > 0.0:
            raise ArgumentError('t', t, f'a time after {before.t:g} s, that of the call before')
        impulse = 0.5 * h * (before.change + now.change + self._actuator_force(before, u))
        impulse += 0.5 * h * self._actuator_force(now, u) - self.model.damping @ (now.q - before.q)
        mean = (now.p - before.p - impulse) / h
        require_finite(self.model, now.q, mean)
        keep = math.exp(-h / self.time)
        self._last, self.force = now, keep * self.force + (1.0 - keep) * mean
        return self.force.copy()

    def push(
        self,
        body: str | None = None,
        *,
        point: ArrayLike | None = None,
        moment: bool = False,
        frame: str = 'base',
        covariance: ArrayLike | None = None,
    ) -> Vector:
        """
        Return the force (3,) at a place that explains the newest one best, by least squares.

        Place, ``moment``, by which it is a wrench (6,), and ``frame`` are those of
        :meth:`~.estimator.Estimator.push`. What is left is weighed by the inverse of its
        ``covariance`` (n, n) where nothing pushes; by default M, whatever units coordinates have.
        What does not move the robot is zero. Raises ArgumentError, SingularMassError.
        """
        J = jacobian(self.model, q=self._last.q, body=body, point=point, frame=frame)
        return self._explain(J if moment else J[3:], covariance)[0]

    def contact(
        self,
        places: Sequence[MaterialPoint] | None = None,
        *,
        within: float | None = None,
        covariance: ArrayLike | None = None,
    ) -> ObservedContact:
        """
        Return the :class:`ObservedContact` whose force explains most of the newest one.

        ``places`` and ``within`` are those of :meth:`~.estimator.Estimator.contact`, the
        ``covariance`` is that of :meth:`push`. Where the model has an environment, a place that is
        not near it is told only if it explains 5 % of the force more than those that are; of near
        ones that explain as much, to 1 %, that with the smallest gap is told. Raises
        ArgumentError, SingularMassError.
        """
        q, near = self._last.q, []
        if places is None:
            self._places = self._places or places_along(self.model)
            places, near = self._places, places_near(self.model, q, self._last.t, within)
        if not places:
            raise ArgumentError('places', places, 'at least one')
        body, point, shape = *max(places, key=lambda each: self._share(each, covariance)), None
        share = self._share((body, point), covariance)
        if near:
            shares = [self._share((each.body, each.point), covariance) for each in near]
            k = nearest_alike(shares, near, EQUAL_SCORE_RATIO * max(shares))
            if shares[k] >= share - _MIN_SHARE_GAIN:
                body, point, shape, share = (
                    near[k].body,
                    near[k].point,
                    near[k].near_shape,
                    shares[k],
                )
        force = self.push(body, point=point, covariance=covariance)
        there = None if point is None else checked('point', point, (3,))
        position = frame_at(self.model, q=q, body=body, point=there)[:3, 3]
        return ObservedContact(body, there, position, force, share, shape)

    def _share(self, place: MaterialPoint, covariance: ArrayLike | None) -> float:
        """Return the share of the newest force that a force at a place explains."""
        J = jacobian(self.model, q=self._last.q, body=place[0], point=place[1], frame='base')
        return self._explain(J[3:], covariance)[1]

    def _explain(self, J: Matrix, covariance: ArrayLike | None) -> tuple[Vector, float]:
        """Return what explains the newest force with a Jacobian J (k, n) best, and its share."""
        n = self.model.n
        wrench = np.repeat([self.model.scales.length, 1.0], 3)[-len(J) :]  # its units
        J = wrench[:, None] * J
        if covariance is None:
            M = self._evaluate(self._last.q, self._rest).M
            columns = [accelerations(self.model, M, column) for column in (*J, self.force)]
        else:
            P = checked('covariance', covariance, (n, n))
            try:
                columns = list(np.linalg.solve(P, np.vstack([J, self.force]).T).T)
            except np.linalg.LinAlgError:
                raise ArgumentError('covariance', covariance, 'a matrix of full rank') from None
        along = J @ columns[-1]
        fitted = np.linalg.pinv(J @ np.transpose(columns[:-1]), hermitian=True) @ along
        whole = float(self.force @ columns[-1])
        share = min(1.0, float(along @ fitted) / whole) if whole > 0.0 else 0.0
        return wrench * fitted, share

    def _evaluate_at(self, t: float, q: ArrayLike, qd: ArrayLike) -> _Instant:
        """Return the robot at a time; ArgumentError."""
        n, own, D = self.model.n, self._differentiate, self.model.damping
        t, q, qd = checked_time('t', t), checked('q', q, (n,)).copy(), checked('qd', qd, (n,))
        terms = self._evaluate(q, qd)
        p, A = terms.M @ qd, self._signs[:, None] * terms.J
        W = own.inverse(q, -qd, self._rest)[1][:, n:].copy()
        h, by_state = own.inverse(q, qd, self._rest)
        W = 0.5 * (by_state[:, n:] - W)
        change = 0.5 * (W + W.T) @ qd - h + D @ qd
        require_finite(self.model, q, change)
        return _Instant(t, q, p, change, A)

    def _actuator_force(self, instant: _Instant, u: Vector) -> Vector:
        """Return the generalized force (n,) of actuators under u (m,)."""
        force: Vector = u @ instant.A
        if self._cables is not None:
            self._evaluate(instant.q, self._rest)
            force = force - self._cables.pulls(instant.q, u).sum(axis=0)
        return force
