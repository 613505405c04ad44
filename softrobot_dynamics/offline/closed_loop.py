# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A law and a simulated robot in closed loop, tick by tick as the nodes do it, and much faster.

In every tick the state that is heard is answered by the law; where it finds no command, by the
safe one, after which it begins anew. What goes out keeps the limits of the rates, and is held for
a period from when it arrives, ``delay`` after the state it answers was heard; or, with a ``bus``,
from a cycle of it to the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
import math
from numbers import Real
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import Controller, CONTROLLERS
from softrobot_dynamics.controllers.limiting import Limiter
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.controllers.safe import SafeCommand
from softrobot_dynamics.dynamics.arguments import ROUNDING
from softrobot_dynamics.dynamics.wrenches import Wrenches
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.instruments import EstimatedSensing, Instruments
from softrobot_dynamics.offline.progress import Pace, Progress
from softrobot_dynamics.offline.robot import LateRobot, SAFE
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.simulation.actuation import ActuatedSimulator
from softrobot_dynamics.simulation.bus import make_bus
from softrobot_dynamics.simulation.reconstruction import reconstruction
from softrobot_dynamics.simulation.sensing import make_sensors, Measured, Sensing, Sensors

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

PERIOD = 1e-3  # [s] of a law that is given by name
_LONGEST = 1e6  # [s] of a run: a billion ticks at 1 kHz


class ClosedLoop(NamedTuple):
    """
    What was seen, wanted and sent in K ticks, c outputs being controlled; a row for each tick.

    The first tick is at time zero, the last one at the end: its command is no longer acted on.
    """

    t: Vector  # (K,) [s]
    q: Matrix  # (K, n) the robot's state, of the plant's n
    qd: Matrix  # (K, n)
    u: Matrix  # (K, m) the command that was sent, actuator units
    y: Matrix  # (K, m) actuation coordinates as the law saw them, nan where it failed
    velocity: Matrix  # (K, m) their rates
    y_d: Matrix  # (K, c) what they should be, of the controlled ones
    velocity_d: Matrix  # (K, c)
    unmet: Matrix  # (K, m) acceleration asked for that the limits do not allow
    saturated: Array  # (K,) number of commands at a limit
    ok: Array  # (K,) False: no command of the law's, the safe one; without a state the last one
    q_heard: Matrix  # (K, n) the state that was answered, of the model's n; nan: none was heard
    qd_heard: Matrix  # (K, n)


def closed_loop(
    model: CompiledModel,
    controller: Controller | str,
    reference: Reference | Program,
    duration: float,
    *,
    controlled: Iterable[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    period: float | None = None,
    plant: CompiledModel | None = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    u0: ArrayLike | None = None,
    ramp: float = 0.0,
    delay: float = 0.0,
    bus: Mapping[str, Any] | None = None,
    sensors: Mapping[str, Any] | None = None,
    wrenches: Callable[[float], Wrenches | None] | None = None,
    changes: Iterable[tuple[float, Any]] = (),
    estimator: Estimator | None = None,
    substep: float = 5e-4,
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> ClosedLoop:
    """
    Let a law control a simulated robot for a ``duration`` [s]; return the :class:`ClosedLoop`.

    ``controller`` is a law for the ``model``, or the name of one, which is then made with the
    ``controlled`` actuators (default: all), its ``parameters`` and limits by name, and a
    ``period`` [s] (default: 1 ms). It turns to the ``reference`` within ``ramp`` [s]; for a
    Composition that may be a Program, phase after phase.

    ``plant`` is the robot that is simulated (default: the model), with its bodies, maybe more, and
    the same actuators, whose lag, delay, dead band, slack and friction it has. If its coordinates
    are others, by name, the law hears its own that fit them best, see
    :class:`~softrobot_dynamics.simulation.reconstruction.Reconstruction`. It sets out at ``q0``,
    ``qd0`` (n,) (default: its initial state), under the command ``u0`` (m,) (default: the safe
    one) until the first of the law arrives. ``wrenches``, a function of time [s], act on it from
    outside, as ``sd.forward_dynamics`` takes them: taken in the middle of every stretch of time
    in which the command is the same. ``substep`` and ``tolerance`` are the simulator's.

    ``delay`` [s] passes from when a state is heard until the command that answers it acts; or,
    with a ``bus``, fields of :class:`~softrobot_dynamics.simulation.bus.Bus` by name such as
    ``{'rate': 100.0, 'phase': 2e-3}``, until it waits for the drives to take the newest.
    ``sensors`` are fields of :class:`~softrobot_dynamics.simulation.sensing.Sensors` by name, such
    as ``{'noise': 1e-3, 'delay': 2e-3, 'seed': 1}`` (default: states are heard at once, exact);
    while none is heard, the last command stays. With an ``estimator`` for the model the law hears
    its estimates instead: its sensors measure on the plant, at their rates, with their noise and
    delay; ``sensors`` may then have a ``seed`` and a ``dropout``. It begins at ``q0``, ``qd0`` or,
    where the plant's coordinates are others, at the model's initial state. ``changes`` are
    pairs (time [s], Settings) that the law is to use from then on. ``progress`` is called now and
    then with the time that has come and the duration [s] (default: a line on stderr, if that is
    a terminal).

    Raises ArgumentError, DescriptionError and UnknownNameError for a wrong bus or sensors,
    SimulationDivergedError, and what the law raises.
    """
    law = _law(model, controller, controlled, parameters, period)
    _require_reference(law, reference)
    plant = model if plant is None else plant
    seen = reconstruction(model, plant)
    robot = LateRobot(plant, law.period, _number('delay', delay), make_bus(bus or {}), wrenches)
    options = {'substep': substep, 'tolerance': tolerance}
    robot.set_out(ActuatedSimulator(robot.model, q=q0, qd=qd0, **options), u0)
    driver = _Driver(law, reference, _number('ramp', ramp), sorted(changes, key=lambda c: c[0]))
    driver.limiter.last[:], driver.limiter.known = robot.u, u0 is not None
    given = make_sensors(model.coordinate_names, sensors or {})
    sensing: Any = Sensing(given, model.n, law.period, seen)
    if estimator is not None:
        sensing = _estimated(estimator, model, robot, given, sensors or {})
        known = seen is None
        sensing.begin(robot.u, q0 if known else None, qd0 if known else None, delay)
    return _run(driver, robot, sensing, _number('duration', duration), progress)


def _run(
    driver: _Driver, robot: LateRobot, sensing: Any, duration: float, progress: Progress | None
) -> ClosedLoop:
    """Go from tick to tick."""
    law, show = driver.law, Pace(progress, duration)
    ticks = round(duration / law.period)
    found = _allocate(law, robot.model.n, ticks + 1)
    for k in range(ticks + 1):
        t, simulator = k * law.period, robot.simulator
        heard = sensing.hear(t, simulator.q, simulator.qd)
        u, command = driver.answer(heard) if heard else (driver.limiter.last, None)
        _note(found, k, t, simulator, u, command)
        if heard:
            found.q_heard[k], found.qd_heard[k] = heard.q, heard.qd
        if k < ticks:
            sensing.told(t, u)
            robot.step(t, u)
        show(t)
    return found


class _Driver:
    """What answers states: the law, the safe command where it fails, the limits of rates."""

    def __init__(self, law: Controller, reference: Any, ramp: float, changes: Any) -> None:
        model = law.model
        self.law, self._turn, self._changes = law, (reference, ramp), deque(changes)
        self._safe, self._rate_limit = SafeCommand.of_model(model), model.rate_limit
        self._safe.choose(*SAFE)
        self.limiter = Limiter(model.lower, model.upper)
        self._safe_since: Any = None
        self._running = False

    def answer(self, state: Measured) -> tuple[Vector, Any]:
        """Return what is sent, valid until the next call, and the law's Command or None."""
        t, q, qd = state
        law, reference, ramp = self.law, *self._turn
        while self._changes and t >= self._changes[0][0] - ROUNDING * law.period:
            law.use(self._changes.popleft()[1])
        if not self._running:
            law.follow(reference, t, ramp)
            law.start(q, qd, t, self._in_force())
        command = law.compute(t, q, qd)
        self._running = command.ok and math.isfinite(command.u @ command.u)
        if self._running:
            self._safe_since = None
            return self.limiter.bring(command.u, law.settings.rate, law.period)[0], command
        if self._safe_since is None:
            self._safe_since = t
            self._safe.begin(q, self._in_force())
        u = self._safe.at(t - self._safe_since)
        return self.limiter.bring(u, self._rate_limit, law.period)[0], None

    def _in_force(self) -> Any:
        return self.limiter.last if self.limiter.known else None


def _law(model: Any, controller: Any, controlled: Any, parameters: Any, period: Any) -> Any:
    """Return the law that is given, or made of its name; ArgumentError."""
    if isinstance(controller, Controller):
        if controller.model is not model:
            raise ArgumentError('controller', type(controller), 'a law for this very model')
        given = {'controlled': controlled, 'parameters': parameters, 'period': period}
        for name, value in given.items():
            if value is not None:
                raise ArgumentError(name, value, 'nothing, as the controller has its own')
        return controller
    law: Any = CONTROLLERS.get(controller)
    period = PERIOD if period is None else _number('period', period)
    settings = law.make_settings(model, controlled, **(parameters or {}))
    return law(model, period=period, controlled=controlled, settings=settings)


def _require_reference(law: Controller, reference: Any) -> None:
    count = len(law.controlled)
    if isinstance(reference, Program) and isinstance(law, Composition):
        return
    if not isinstance(reference, Reference) or reference.coefficients.shape[2] != count:
        raise ArgumentError('reference', reference, f'a Reference of {count} coordinates')


def _estimated(
    estimator: Any, model: Any, robot: LateRobot, given: Sensors, named: Mapping[str, Any]
) -> EstimatedSensing:
    """Return what hears an estimator's states; ArgumentError for what it does not know."""
    if not isinstance(estimator, Estimator) or estimator.model is not model:
        raise ArgumentError('estimator', type(estimator), 'an Estimator for this very model')
    others = sorted(set(named) - {'seed', 'dropout'})
    if others:
        expected = 'a seed and a dropout: with an estimator, its own sensors have noise and delay'
        raise ArgumentError('sensors', others, expected)
    own, seed = estimator.settings, given.seed
    instruments = Instruments(
        robot.model, own.sensors, efforts=own.efforts, seed=seed, dropout=given.dropout
    )
    return EstimatedSensing(estimator, instruments, lambda: robot.simulator.acting)


def _number(name: str, value: Any) -> float:
    """Return a time >= 0 that a run may take; ArgumentError."""
    seconds: Any = value if isinstance(value, Real) else -1.0
    if not 0.0 <= seconds <= _LONGEST:
        raise ArgumentError(name, value, f'a time >= 0 [s] and at most {_LONGEST:g}')
    return float(value)


def _allocate(law: Controller, of_plant: int, count: int) -> ClosedLoop:
    """Return arrays of so many rows, where nothing is noted nan; the plant's coordinates."""
    n, m, c = law.model.n, law.model.m, len(law.controlled)
    columns = {
        'q': of_plant,
        'qd': of_plant,
        'q_heard': n,
        'qd_heard': n,
        'u': m,
        'y': m,
        'velocity': m,
        'y_d': c,
        'velocity_d': c,
    }
    return ClosedLoop(
        t=np.empty(count),
        **{name: np.full((count, width), np.nan) for name, width in columns.items()},
        unmet=np.full((count, m), np.nan),
        saturated=np.zeros(count, dtype=int),
        ok=np.zeros(count, dtype=bool),
    )


def _note(found: ClosedLoop, k: int, t: float, robot: Any, u: Vector, command: Any) -> None:
    """Fill a row; ``command`` is the law's, None where it had none."""
    found.t[k], found.q[k], found.qd[k], found.u[k] = t, robot.q, robot.qd, u
    if command is not None:
        found.y[k], found.velocity[k] = command.y, command.velocity
        found.y_d[k], found.velocity_d[k] = command.desired[0], command.desired[1]
        found.unmet[k], found.saturated[k], found.ok[k] = command.unmet, command.saturated, True
