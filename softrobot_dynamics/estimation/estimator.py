# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimate the state of a robot, and the force on it, from commands and measurements."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked, checked_time
from softrobot_dynamics.dynamics.calls import jacobian
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.estimation.contact_places import MaterialPoint, places_along, places_near
from softrobot_dynamics.estimation.effort_measurements import EffortHistory
from softrobot_dynamics.estimation.estimates import Estimate, estimate_of, Innovation
from softrobot_dynamics.estimation.external_wrench import Contact, find_contact, fit_push, Push
from softrobot_dynamics.estimation.filter_state import FilterState, StatePredictor
from softrobot_dynamics.estimation.kalman_update import KalmanUpdate
from softrobot_dynamics.estimation.noise_covariance import initial_noise_covariance
from softrobot_dynamics.estimation.observability import Observability, observability
from softrobot_dynamics.estimation.priors import force_factor, initial_factor, tip_motion
from softrobot_dynamics.estimation.sensors.contract import BoundRobot
from softrobot_dynamics.estimation.servo_drives import require_estimable
from softrobot_dynamics.estimation.settings import EstimatorSource, load_estimator
from softrobot_dynamics.estimation.square_root_filter import covariance_of
from softrobot_dynamics.model.pickling import Pickleable

if TYPE_CHECKING:
    from softrobot_dynamics.dynamics.contacts import NearPoint
    from softrobot_dynamics.model.model import CompiledModel


class _Moment(NamedTuple):
    """Filter state after a measurement, by its sensor's number; None: the beginning."""

    state: FilterState
    sensor: int | None
    z: Vector
    accepted_at: float  # when most of a measurement was accepted last [s]


class Estimator(Pickleable):
    """
    A Kalman filter of a robot: commands and measurements in, state and force from outside out.

    It is an extended one: it predicts by steps of the simulator and their derivatives, and
    updates by the Jacobians of what the sensors measure, see :mod:`~.square_root_filter` and
    :mod:`~.kalman_update`. The external force (n,), generalized, stands also for errors of the
    model, but for shares by which all of its inertia, stiffness or damping may be off
    (``model_error``): these are estimated as the robot moves.

    ``given`` is a path to a YAML file, a mapping, a list of sensors, or EstimatorSettings, see
    :mod:`softrobot_dynamics.estimation.settings`. Measurements may come late and in any order: a
    late one counts as if it had come when it was true. Not for several threads.

    Attributes: ``model``; ``settings``. Raises DescriptionError, UnknownNameError and
    ArgumentError for wrong ones.
    """

    pickled_attributes = '_moments', '_ahead', '_commands', '_places'

    def __init__(self, model: CompiledModel, given: EstimatorSource) -> None:
        self.model, self.settings = model, load_estimator(given)
        require_estimable(model, self.settings)
        settings, there = self.settings, tip_motion(model, model.q0)
        force = force_factor(there, settings.disturbance)
        shares = settings.model_error.deviations
        self._prior = initial_factor(there, settings.initial, force, shares)
        self._predictor = StatePredictor(model, force, shares, settings)
        predictor = self._predictor
        robot = BoundRobot(model, predictor.differentiate, predictor.u)
        self._updates = [KalmanUpdate(sensor, robot, predictor.E) for sensor in settings.sensors]
        slowest = min(sensor.rate for sensor in settings.sensors)
        self._patience = 2.5 / slowest  # [s]: all have spoken
        self._numbers = {sensor.name: i for i, sensor in enumerate(settings.sensors)}
        self._efforts = {effort.name: effort for effort in settings.efforts}
        self._commands = EffortHistory(
            2.0 * settings.history, settings.efforts, model.actuator_names
        )
        self._places: list[MaterialPoint] = []
        self.begin(0.0)
        self._warm()

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments that make another estimator; copies and pickles keep its state."""
        return (self.model, self.settings), {}

    def begin(
        self,
        time: float,
        *,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        u: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
    ) -> None:
        """
        Restart at a time [s] near q and qd (n,), under u (m,) until another command is given.

        By default these are the robot's initial state and the admissible command nearest to zero,
        and the ``covariance`` (N, N) of q, qd, force and the three shares of the model's error, if
        there are any, is that of the settings. A share that was learned is forgotten.
        """
        model, n = self.model, self.model.n
        q = model.q0 if q is None else checked('q', q, (n,))
        qd = np.zeros(n) if qd is None else checked('qd', qd, (n,))
        nearest = np.clip(np.zeros(model.m), model.lower, model.upper)
        nearest[model.servos.actuators] = model.servos.resting(q)
        u = nearest if u is None else checked('u', u, (model.m,))
        size = len(self._prior)
        S = self._prior.copy() if covariance is None else _factor(covariance, size)
        x = np.concatenate([q, qd, np.zeros(size - 2 * n)])
        N = initial_noise_covariance(covariance_of(S), n)
        state = FilterState(checked_time('time', time), x, S, N)
        self._commands.begin(u)
        self._predictor.begin(q)
        self._moments = [_Moment(state, None, np.zeros(0), state.time)]
        self._ahead: tuple[float, Vector] | None = None

    def command(self, time: float, u: ArrayLike) -> None:
        """Tell that a command u (m,) acts from a time [s] on, until the next; ArgumentError."""
        u, time = checked('u', u, (self.model.m,)), checked_time('time', time)
        self._commands.add(time, u)
        if self._ahead is not None and time < self._ahead[0]:
            self._ahead = None

    def measure(self, time: float, sensor: str, value: ArrayLike) -> Innovation:
        """
        Take a measurement with a stamp [s]; return its :class:`Innovation`.

        It was true the ``delay`` of its sensor before. Commands that act until then must have been
        given. Of one of the ``efforts`` the accepted values count for commands from then on.
        Raises UnknownNameError, ArgumentError for a value that the sensor cannot give, and
        SimulationDivergedError where the state would no longer be a number: call ``begin`` then.
        """
        number = self._numbers.get(sensor)
        if number is None and sensor not in self._efforts:
            raise UnknownNameError('sensor', sensor, (*self._numbers, *self._efforts))
        source: Any = self._efforts[sensor] if number is None else self._updates[number].sensor
        z, time = source.read(value), checked_time('time', time) - source.delay
        place = bisect_right(self._moments, time, key=_time_of)
        gated = (0.0, 0, 0) if number is not None else self._commands.measure(time, sensor, z)
        if place == 0:
            return Innovation(sensor, time, 0.0, 0, 0, too_old=True, late=True)
        later = self._moments[place:]
        if later or (number is None and self._ahead is not None and time < self._ahead[0]):
            self._ahead = None
        del self._moments[place:]
        innovation = Innovation(sensor, time, *gated, too_old=False, late=bool(later))
        if number is not None:
            innovation = self._process(number, z, time)._replace(late=bool(later))
        for moment in later:
            if moment.sensor is not None:
                self._process(moment.sensor, moment.z, moment.state.time)
        if number is not None or later:
            self._ahead = None
        self._forget()
        return innovation

    def estimate(self, time: float, *, covariance: bool = False) -> Estimate:
        """
        Return the :class:`Estimate` at a time [s], by all measurements and commands until now.

        It rests on measurements that were true until then. Contact that is predicted is in its
        force, but not in the covariance of that. Raises ArgumentError for a time before what is
        kept, SimulationDivergedError.
        """
        time, n = checked_time('time', time), self.model.n
        x, P = self._at(time, covariance)
        x = x.copy()
        x[2 * n : 3 * n] += self._predictor.touch
        return estimate_of(time, x, n, P)

    def _at(self, time: float, covariance: bool = False) -> tuple[Vector, Matrix | None]:
        """Return x (N,) at a time [s], and its covariance (N, N) if it is asked for."""
        place = bisect_right(self._moments, time, key=_time_of)
        if place == 0:
            known = self._moments[0].state.time
            raise ArgumentError('time', time, f'a time from {known:g} s on')
        state = self._moments[place - 1].state
        if covariance:
            moved = self._predictor.predict(state.copy(), time, self._commands)
            return moved.x, covariance_of(moved.S)
        start, x = state.time, state.x.copy()
        newest = place == len(self._moments)
        if newest and self._ahead is not None and self._ahead[0] <= time:
            start, x = self._ahead
        self._predictor.predict_mean(x, start, time, self._commands)
        if newest:
            self._ahead = time, x
        return x, None

    def predicted(self, sensor: str, time: float | None = None) -> Array:
        """
        Return the value that a sensor should measure at a time [s], None: at the newest state.

        The time is when it is true, a stamp minus the sensor's ``delay``. Raises UnknownNameError,
        and as :meth:`estimate`.
        """
        number = self._numbers.get(sensor)
        if number is None:
            raise UnknownNameError('sensor', sensor, tuple(self._numbers))
        state, n = self._moments[-1].state, self.model.n
        x, at = state.x, state.time
        if time is not None:
            at = checked_time('time', time)
            x, _ = self._at(at)
        update = self._updates[number]
        self._predictor.set_state(x, at)
        self._predictor.u[:] = self._commands.at(at)
        observed = update.observation.observed
        update.observation.observe(x[:n], x[n : 2 * n], np.zeros(len(observed.predicted)))
        return update.sensor.value(observed.predicted)

    def push(
        self,
        body: str | None = None,
        *,
        point: ArrayLike | None = None,
        moment: bool = False,
        frame: str = 'base',
    ) -> Push:
        """
        Return the :class:`~.external_wrench.Push` there that explains the newest force best.

        It acts at a material point (3,) [m] of a body, None: at its tip; a force alone, or with a
        ``moment``; in the axes of the base or the 'body', see :func:`sd.jacobian`. The force was
        looked for since the newest measurement. Raises ArgumentError.
        """
        n, state = self.model.n, self._moments[-1].state
        J = jacobian(self.model, q=state.x[:n], body=body, point=point, frame=frame)
        force_slice = slice(2 * n, 3 * n)
        S, prior = state.S[force_slice], self._prior[force_slice, force_slice]
        force, still = state.x[force_slice], state.N[force_slice, force_slice]
        return fit_push(
            J if moment else J[3:], force, covariance_of(S), prior, still, self.model.scales.length
        )

    def contact(
        self, places: Sequence[MaterialPoint] | None = None, *, within: float | None = None
    ) -> Contact:
        """
        Return the :class:`~.external_wrench.Contact` whose force explains most of the newest one.

        ``places`` are bodies, each with a material point (3,) [m], None: its tip; by default
        those of :func:`~.contact_places.places_along`. The result is as fine as they are spaced.
        Where the model has an environment, points whose gap to it is at most ``within`` [m] at the
        estimated posture, by default 2 % of the robot's length, are tried before these, and the
        contact names the shape. Raises ArgumentError.
        """
        model, state = self.model, self._moments[-1].state
        x = state.x
        near: Sequence[NearPoint] = ()
        if places is None:
            self._places = self._places or places_along(model)
            places = self._places
            near = places_near(model, x[: model.n], state.time, within)
        return find_contact(model, x, self.push, places, near)

    def observability(
        self,
        *,
        u: ArrayLike | None = None,
        horizon: float = 0.5,
        sensors: Collection[str] | None = None,
    ) -> Observability:
        """
        Return the :class:`~.observability.Observability` at the newest posture, under u (m,).

        By default u is the command in force, and ``sensors``, names of one or more, are all.
        Raises ArgumentError, UnknownNameError, SingularMassError.
        """
        chosen = tuple(self._numbers if sensors is None else sensors)
        for each in chosen:
            if each not in self._numbers:
                raise UnknownNameError('sensor', each, tuple(self._numbers))
        if not chosen:
            raise ArgumentError('sensors', chosen, 'at least one sensor')
        model, state = self.model, self._moments[-1].state
        u = self._commands.at(state.time) if u is None else checked('u', u, (model.m,))
        self._predictor.set_state(state.x, state.time)
        self._predictor.u[:], q = u, state.x[: model.n]
        update = [self._updates[self._numbers[each]] for each in chosen]
        seen = [(b.sensor.rate, b.observation) for b in update]
        force_slice = slice(2 * model.n, 3 * model.n)
        force = self._prior[force_slice, force_slice]
        return observability(model, self._predictor.differentiate, seen, force, q, u, horizon)

    @property
    def time(self) -> float:
        """The time of the newest measurement [s]."""
        return self._moments[-1].state.time

    def _process(self, number: int, z: Vector, time: float) -> Innovation:
        """Predict the state at the time of a measurement, and update it by that."""
        update, (before, *_, accepted_at) = self._updates[number], self._moments[-1]
        ahead, mean = self._ahead, None
        if ahead is not None and ahead[0] <= time:  # most of the way has been gone already
            start, mean = ahead
            self._predictor.predict_mean(mean, start, time, self._commands)
        state = self._predictor.predict(before.copy(), time, self._commands, mean)
        state = state._replace(time=time)
        self._ahead = None
        self._predictor.set_state(state.x, time)
        self._predictor.u[:] = self._commands.at(time)
        update.observe(state, z)
        doubted = state.copy() if time - accepted_at > self._patience else None
        verdict, coarse = update.apply(state), 0.0
        if verdict.accepted > verdict.outliers:
            accepted_at = time
        elif verdict.outliers and doubted is not None:
            state, coarse = update.apply_inflated(doubted)
        self._moments.append(_Moment(state, number, z, accepted_at))
        square, numbers, outliers, _ = verdict
        return Innovation(
            update.sensor.name, time, square, numbers, outliers, False, False, coarse
        )

    def _forget(self) -> None:
        """Keep the past into which late measurements may still have to be inserted."""
        oldest = self.time - self.settings.history
        keep = bisect_right(self._moments, oldest, key=_time_of) - 1
        if keep > 0:
            del self._moments[:keep]

    def _warm(self) -> None:
        """Compile all that is called later."""
        step = self.settings.step
        for update in self._updates:
            predicted = update.observation.observed.predicted
            self._predictor.set_state(self._moments[-1].state.x)
            update.observation.observe(self.model.q0, self._predictor.qd, np.zeros(len(predicted)))
            z = predicted.copy()
            self._process(self._numbers[update.sensor.name], z, self.time + step)
        self.estimate(self.time + step)
        self.begin(0.0)


def _factor(covariance: ArrayLike, size: int) -> Matrix:
    """Return the lower factor of a covariance; ArgumentError if it is none."""
    P = checked('covariance', covariance, (size, size))
    try:
        factor = np.asarray(np.linalg.cholesky(P), dtype=float)
    except np.linalg.LinAlgError:
        raise ArgumentError('covariance', covariance, 'a positive definite matrix') from None
    return factor


def _time_of(moment: _Moment) -> float:
    return moment.state.time
