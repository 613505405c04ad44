# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Setpoints of joint drives that take positions or velocities, made of the forces of a law.

The acceleration that a force would give the joint is integrated to a commanded motion, and the law
is asked for the next force where that has come to, beside the measured coordinates of all else: a
drive makes true what it is told, but late. So the lag of a drive is not in the loop of the law,
and the loop is stable whatever that is. What is sent runs ahead of the commanded motion by the lag
of the drive (:class:`.Servo`), of the hold and of the delay that the law knows::

    s = q_c + (2/w + tau) q_c' + (1/w^2 + 2 tau/w + tau^2/2) q_c''       tau = T/2 + delay
    s = q_c' + (1/w + tau) q_c'' + kappa (q_c - q)                       of a velocity

so that the joint itself follows q_c. A drive that does not, as an obstacle is in its way, stops
the commanded motion at a distance from the measured one: as far as the drive lags at full speed.
Limits of position and velocity bound the commanded motion as well as what is sent.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.drives import drives_of
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.drives import Drives, effort_of, hold_common

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.model.model import CompiledModel

_LONGEST = 5.0  # periods for which a commanded motion goes on by itself
_LAGS = 2.0  # over w: lag of a position drive in a steady motion, and farthest from the measured
_SLOWED = 0.5  # of w: rate at which a commanded motion comes to rest at a limit of its position
_CORRECTED = 0.25  # of w: greatest rate of the correction of a position by a velocity, and
_PERIODS = 10.0  # least time of it in periods


class CommandedMotion(NamedTuple):
    """The commanded motion of k joints, and what their drives are told."""

    coordinates: Integers  # (k,)
    positions: Integers  # (k,) 1: told a position, 0: a velocity
    w: Vector  # (k,) rate of the drive [1/s]
    lower: Vector  # (k,) limits of the position
    upper: Vector  # (k,)
    speed: Vector  # (k,) limit of the velocity
    correction: Vector  # (k,) kappa [1/s]
    q: Vector  # (k,) commanded
    v: Vector  # (k,)
    a: Vector  # (k,) until the next tick
    measured: Vector  # (k,)
    told: Vector  # (k,)
    period: float  # [s] of the law


class ForceResponse(NamedTuple):
    """What finds the mean accelerations of a robot under a force that is held for a period."""

    evaluate: Entry
    terms: Terms
    drives: Drives
    signs: Vector  # (m,)
    response: Array  # (2, n, n) G and R K of the law, zero where it knows none
    known: int  # 1: it does
    u: Vector  # (m,) force
    F: Vector  # (n,) scratch
    q: Vector  # (n,) where it is evaluated
    qd: Vector  # (n,)


class DriveSetpoints:
    """
    The commanded motion of those joints of a model whose drives take positions or velocities.

    ``told`` (m,) is what is to be sent: forces but for those joints. In a tick :meth:`follow` is
    called before the law, :meth:`advance` after it; :meth:`stop` where no law commands.
    ``actuators`` (k,) are the indices of their drives, ``resting``, a function of q (n,), returns
    what these are told (k,) to stay there.
    """

    def __init__(self, model: CompiledModel, law: Controller) -> None:
        own, k = model.servos, len(model.servos.actuators)
        self._own, self._law, self._t = own, law, nan
        self.actuators, self.resting = own.actuators, own.resting
        self._motion = motion = CommandedMotion(
            coordinates=own.coordinates,
            positions=own.positions,
            w=own.rate,
            lower=own.lower,
            upper=own.upper,
            speed=own.speed,
            correction=1.0 / (1.0 / (_CORRECTED * own.rate) + _PERIODS * law.period),
            **{name: np.zeros(k) for name in ('q', 'v', 'a', 'measured')},
            told=np.full(k, nan),
            period=law.period,
        )
        self.told = np.full(model.m, nan)
        self._q, self._qd = np.zeros((2, model.n))
        self._found = found = _force_response(model, law, self._q, self._qd)
        self._follow = cached(follow_motion, motion=motion, q_out=self._q, qd_out=self._qd)
        self._plan = cached(plan_setpoints, motion=motion, found=found)
        self.follow(0.0, model.q0, np.zeros(model.n), anew=True)  # compiles
        self.advance(np.zeros(model.m), law.period)
        motion.told[:] = self.told[:] = nan

    @property
    def known(self) -> bool:
        """Whether it is known what to tell all drives."""
        return bool(np.isfinite(self._motion.told).all())

    def follow(self, t: float, q: Vector, qd: Vector, *, anew: bool) -> tuple[Vector, Vector]:
        """
        Return (q, qd), (n,) each, at which the law is asked at time t [s]: valid until the next.

        That is the measured state with the commanded motion in the place of its joints; ``anew``:
        this begins where the joints are.
        """
        passed, self._t = t - self._t, t
        if anew or not passed >= 0.0:
            self._begin(q, qd)
            passed = 0.0
        if self._follow(q, qd, min(passed, _LONGEST * self._law.period)):
            self._law.forget_last_step()
        return self._q, self._qd

    def advance(self, u: Vector, duration: float) -> Vector:
        """Return ``told`` (m,) for the force u (m,) of the law; limits count for a duration [s]."""
        delay = getattr(self._law.settings, 'delay', 0.0)
        self._found.u[:] = u
        if self._plan(delay, duration):
            self._law.forget_last_step()
        return self._tell(u)

    def stop(self, u: Vector) -> Vector:
        """Return ``told`` (m,) that keeps the joints where they are told to be, with u beside."""
        motion = self._motion
        motion.told[:] = np.where(motion.positions, motion.told, 0.0)
        return self._tell(u)

    def stand(self, told: Vector) -> None:
        """Begin with drives that are ``told`` (k,) that, unless they were told something."""
        own = self._motion.told
        own[:] = np.where(np.isnan(own), told, own)
        self.told[self.actuators] = own

    def _begin(self, q: Vector, qd: Vector) -> None:
        """Let the commanded motion begin where the joints are, and drives be told no other."""
        motion = self._motion
        motion.q[:], motion.v[:] = q[motion.coordinates], qd[motion.coordinates]
        np.clip(motion.v, -motion.speed, motion.speed, out=motion.v)
        ahead = np.where(motion.positions, motion.q + _LAGS / motion.w * motion.v, motion.v)
        motion.told[:], motion.a[:] = np.clip(ahead, *self._own.bounds()), 0.0

    def _tell(self, u: Vector) -> Vector:
        self.told[:] = u
        self.told[self.actuators] = self._motion.told
        return self.told


def _force_response(
    model: CompiledModel, law: Controller, q: Vector, qd: Vector
) -> ForceResponse:
    """Return the :class:`ForceResponse` of a model, by what a law knows of it."""
    evaluate, n, u = model.evaluator(), model.n, np.zeros(model.m)
    drives, response, found = drives_of(model, evaluate.robot), law.response, evaluate.entry
    if model.positioned.any():
        given = {'drives': drives, 'command': u, 'h': evaluate.terms.h}
        found = entry(hold_common, evaluate=found, **given)
    return ForceResponse(
        evaluate=found,
        terms=evaluate.terms,
        drives=drives,
        signs=model.signs,
        response=np.zeros((2, n, n)) if response is None else response,
        known=int(response is not None),
        u=u,
        F=np.zeros(n),
        q=q,
        qd=qd,
    )


@kernel
def follow_motion(motion, q_out, qd_out, q, qd, passed):
    """
    Let the commanded motion pass on [s]; fill the state (n,) for the law from the measured one.

    Returns 1 where something else than the accelerations has changed it: a limit, or the measured
    position, from which it must not be too far.
    """
    changed = 0
    for j in range(len(q)):
        q_out[j], qd_out[j] = q[j], qd[j]
    for i in range(len(motion.q)):
        j, v, a = motion.coordinates[i], motion.v[i], motion.a[i]
        place, v = motion.q[i] + passed * (v + 0.5 * passed * a), v + passed * a
        far = _LAGS / motion.w[i] * motion.speed[i]
        low, high = max(motion.lower[i], q[j] - far), min(motion.upper[i], q[j] + far)
        if place > high:
            place, v, changed = high, min(v, max(qd[j], 0.0)), 1
        elif place < low:
            place, v, changed = low, max(v, min(qd[j], 0.0)), 1
        motion.measured[i], motion.q[i], motion.v[i] = q[j], place, v
        q_out[j], qd_out[j] = place, v
    return changed


@kernel
def plan_setpoints(motion, found, delay, duration):
    """
    Fill what drives are told, and the accelerations that ``found.u`` brings on average.

    Returns 1 where limits of velocities or positions do not allow them.
    """
    limited, tau, T = 0, 0.5 * motion.period + delay, motion.period
    for j in range(len(found.q)):
        found.q[j] += delay * found.qd[j]
    _accelerate(motion, found)
    for i in range(len(motion.q)):
        w, place, v = motion.w[i], motion.q[i], motion.v[i]
        slowed = _SLOWED * w
        low = max(-motion.speed[i], min(0.0, slowed * (motion.lower[i] - place)))
        high = min(motion.speed[i], max(0.0, slowed * (motion.upper[i] - place)))
        then = v + T * motion.a[i]
        if then > high or then < low:
            motion.a[i], limited = (min(max(then, low), high) - v) / T, 1
        a = motion.a[i]
        if motion.positions[i]:
            ahead = 1.0 / (w * w) + tau * (2.0 / w + 0.5 * tau)
            reach = motion.speed[i] * duration * (1.0 + 1e-9)
            told = place + (2.0 / w + tau) * v + ahead * a
            told = min(max(told, motion.told[i] - reach), motion.told[i] + reach)
            told = min(max(told, motion.lower[i]), motion.upper[i])
        else:
            told = v + (1.0 / w + tau) * a
            told += motion.correction[i] * (place - motion.measured[i])
            told = min(max(told, low), high)
        motion.told[i] = told
    return limited


@kernel
def _accelerate(motion, found):
    """Fill the mean accelerations of the joints over a period in which the force is held."""
    terms, F, response, qd = found.terms, found.F, found.response, found.qd
    run(found.evaluate, found.q, qd)
    for i in range(len(F)):
        F[i] = -terms.h[i]
    for k in range(len(found.u)):
        push = found.signs[k] * effort_of(found.drives, k, found.u[k])
        if push != 0.0:
            for i in range(len(F)):
                F[i] += terms.J[k, i] * push
    if not found.known and cholesky(terms.M) == 0:
        solve_lower(terms.M, F)
        solve_lower_transposed(terms.M, F)
    for i in range(len(motion.a)):
        j = motion.coordinates[i]
        if found.known:
            gained = dot(response[0, j], F) - dot(response[1, j], qd)
            motion.a[i] = gained / motion.period
        else:
            motion.a[i] = F[j]
