# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Setpoints of joint drives that take positions or velocities, made of the forces of a law.

The acceleration that a force would give the joint is integrated to a commanded motion, and the law
is asked for the next force where that has come to, beside the measured coordinates of all else: a
drive follows its setpoint, but late. So the lag of a drive is not in the loop of the law,
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
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.controllers.setpoint_kernels import (
    CommandedMotion,
    follow_motion,
    ForceResponse,
    MAX_LAG,
    plan_setpoints,
)
from softrobot_dynamics.model.cable_drives import cable_drives_of
from softrobot_dynamics.recursion.cable_drives import hold_common

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Command, Controller
    from softrobot_dynamics.model.model import CompiledModel

_MAX_EXTRAPOLATION = 5.0  # periods for which a commanded motion goes on by itself
_MAX_CORRECTION_RATE = 0.25  # of w, by which a velocity corrects a position
_MIN_CORRECTION_TIME = 10.0  # [periods] of that correction


class DriveSetpoints:
    """
    The commanded motion of those joints of a model whose drives take positions or velocities.

    ``sent`` (m,) are the commands: forces but for those joints. In a tick :meth:`follow` is
    called before the law, :meth:`advance` after it; :meth:`stop` where no law commands.
    ``actuators`` (k,) are the indices of their drives, ``resting``, a function of q (n,), returns
    their setpoints (k,) to stay there.
    """

    def __init__(self, model: CompiledModel, law: Controller) -> None:
        servos, k = model.servos, len(model.servos.actuators)
        self._own, self._law, self._t = servos, law, nan
        self.actuators, self.resting = servos.actuators, servos.resting
        self._motion = motion = CommandedMotion(
            coordinates=servos.coordinates,
            positions=servos.positions,
            w=servos.rate,
            lower=servos.lower,
            upper=servos.upper,
            speed=servos.speed,
            correction=1.0
            / (1.0 / (_MAX_CORRECTION_RATE * servos.rate) + _MIN_CORRECTION_TIME * law.period),
            **{name: np.zeros(k) for name in ('q', 'v', 'a', 'measured', 'measured_rate')},
            setpoints=np.full(k, nan),
            period=law.period,
        )
        self.sent = np.full(model.m, nan)
        self._q, self._qd = np.zeros((2, model.n))
        self._force_response = force_response = _force_response(model, law, self._q, self._qd)
        self._y, self._velocity = np.zeros((2, model.m))
        out = {'q_out': self._q, 'qd_out': self._qd}
        self._follow = cached(follow_motion, 'VECTOR, VECTOR, float64', motion=motion, **out)
        self._plan = cached(
            plan_setpoints, 'float64, float64', motion=motion, force_response=force_response
        )

    @property
    def initialised(self) -> bool:
        """Tell whether there is a set-point for every drive."""
        return bool(np.isfinite(self._motion.setpoints).all())

    def follow(self, t: float, q: Vector, qd: Vector, *, restart: bool) -> tuple[Vector, Vector]:
        """
        Return (q, qd), (n,) each, at which the law is asked at time t [s]: valid until the next.

        That is the measured state with the commanded motion in the place of its joints, which
        begins where they are upon a ``restart``.
        """
        passed, self._t = t - self._t, t
        if restart or not passed >= 0.0:
            self._begin(q, qd)
            passed = 0.0
        if self._follow(q, qd, min(passed, _MAX_EXTRAPOLATION * self._law.period)):
            self._law.forget_last_step()
        return self._q, self._qd

    def as_measured(self, command: Command) -> Command:
        """Return the law's Command with y and its rate where the joints are, not are to be."""
        motion, own = self._motion, self.actuators
        self._y[:], self._velocity[:] = command.y, command.velocity
        self._y[own] += motion.measured - motion.q
        self._velocity[own] += motion.measured_rate - motion.v
        return command._replace(y=self._y, velocity=self._velocity)

    def advance(self, u: Vector, duration: float) -> Vector:
        """Return ``sent`` (m,) for the law's force u (m,); limits count for a duration [s]."""
        delay = getattr(self._law.settings, 'delay', 0.0)
        self._force_response.u[:] = u
        if self._plan(float(delay), duration):
            self._law.forget_last_step()
        return self._with_setpoints(u)

    def stop(self, u: Vector) -> Vector:
        """Return ``sent`` (m,) that keeps the joints at their setpoints, with u beside."""
        motion = self._motion
        motion.setpoints[:] = np.where(motion.positions, motion.setpoints, 0.0)
        return self._with_setpoints(u)

    def initialise(self, setpoints: Vector) -> None:
        """Begin with ``setpoints`` (k,) of the drives that have none yet."""
        own = self._motion.setpoints
        own[:] = np.where(np.isnan(own), setpoints, own)
        self.sent[self.actuators] = own

    def _begin(self, q: Vector, qd: Vector) -> None:
        """Let the commanded motion, and the setpoints, begin where the joints are."""
        motion = self._motion
        motion.q[:], motion.v[:] = q[motion.coordinates], qd[motion.coordinates]
        np.clip(motion.v, -motion.speed, motion.speed, out=motion.v)
        ahead = motion.q + MAX_LAG / motion.w * motion.v
        motion.setpoints[:], motion.a[:] = np.where(motion.positions, ahead, motion.v), 0.0

    def _with_setpoints(self, u: Vector) -> Vector:
        self.sent[:] = u
        self.sent[self.actuators] = self._motion.setpoints
        return self.sent


def _force_response(model: CompiledModel, law: Controller, q: Vector, qd: Vector) -> ForceResponse:
    """Return the :class:`ForceResponse` of a model as a law knows it."""
    evaluate, n, u = model.evaluator(), model.n, np.zeros(model.m)
    drives, response, found = cable_drives_of(model, evaluate.robot), law.response, evaluate.entry
    if model.positioned.any():
        given = {'drives': drives, 'command': u, 'h': evaluate.terms.h}
        found = entry(hold_common, evaluate=found, **given)
    return ForceResponse(
        evaluate=found,
        terms=evaluate.terms,
        drives=drives,
        signs=model.signs,
        response=np.zeros((2, n, n)) if response is None else response,
        has_response=int(response is not None),
        u=u,
        F=np.zeros(n),
        q=q,
        qd=qd,
    )
