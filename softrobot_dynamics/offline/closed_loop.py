# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A law and a simulated robot in closed loop, tick by tick as the nodes do it, and much faster.

In every tick the law answers the state that it receives. If it finds no command, the safe command
is sent and the law restarts. Commands keep their rate limits. Each is held for a period from its
arrival, ``delay`` after its state was received; with a ``bus``, from one bus cycle to the next.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import Command, Controller, CONTROLLERS
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensor_simulation import EstimatedSensing, SimulatedSensors
from softrobot_dynamics.loops.driver import Driver
from softrobot_dynamics.loops.orders import Orders
from softrobot_dynamics.offline.arguments import Feedback, Law, Plant, require_time, Start
from softrobot_dynamics.offline.delayed_plant import DelayedPlant, SAFE_COMMAND
from softrobot_dynamics.offline.former_arguments import grouped
from softrobot_dynamics.offline.progress import Progress, ProgressReporter
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.references.tip_commands import TipPathReference
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.bus import make_bus
from softrobot_dynamics.simulation.reconstruction import Reconstruction, reconstruction
from softrobot_dynamics.simulation.sensing import make_sensors, Measured, Sensing

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

DEFAULT_PERIOD = 1e-3  # [s] of a law that is given by name


@former_names(told='commands_sent')
class ClosedLoop(NamedTuple):
    """
    States, references and commands of K ticks with c controlled outputs; a row for each tick.

    The first tick is at time zero, the last one at the end: its command is no longer acted on.
    """

    t: Vector  # (K,) [s]
    q: Matrix  # (K, n) the robot's state, of the plant's n
    qd: Matrix  # (K, n)
    u: Matrix  # (K, m) the command that was sent, actuator units; see ``commands_sent``
    y: Matrix  # (K, m) actuation coordinates as the law saw them, nan where it failed
    velocity: Matrix  # (K, m) their rates
    y_d: Matrix  # (K, c) what they should be, of the controlled ones
    velocity_d: Matrix  # (K, c)
    unmet: Matrix  # (K, m) acceleration asked for that the limits do not allow
    saturated: Array  # (K,) number of commands at a limit
    ok: Array  # (K,) False: no command of the law's, the safe one; without a state the last one
    q_heard: Matrix  # (K, n) the state that was answered, of the model's n; nan: none was heard
    qd_heard: Matrix  # (K, n)
    commands_sent: Matrix  # (K, m) u; of drives that take positions or velocities those


def closed_loop(
    model: CompiledModel,
    controller: Controller | str | Law,
    reference: Reference | Program,
    duration: float,
    *,
    start: Start | None = None,
    plant: CompiledModel | Plant | None = None,
    feedback: Feedback | None = None,
    progress: Progress | None = None,
    **former: Any,
) -> ClosedLoop:
    """
    Simulate a law and a robot in closed loop for a ``duration`` [s]; return :class:`ClosedLoop`.

    ``controller`` is a law for the ``model``, the name of one, or a :class:`Law` with more to say:
    ``sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0}, period=5e-3)``. It follows the
    ``reference``; for a Composition that may be a Program, phase after phase.

    ``start`` says where the robot sets out and how long the law takes to turn to the reference:
    ``sd.Start(q=q0, u=u0, ramp=0.5)``. ``plant`` is the robot that is simulated, a model or a
    :class:`Plant` with what is between the law and it: ``sd.Plant(delay=1e-3, wrenches=push)``
    (default: the model, without delay). ``feedback`` is what the law receives of its states:
    ``sd.Feedback(sensors={'noise': 1e-3})`` (default: each at once, exact). ``progress`` is called
    now and then with the time that has come and the duration [s] (default: a line on stderr, if
    that is a terminal).

    ``former``: fields of these groups as arguments of their own (``q0``, ``qd0``, ``u0`` of the
    start), as they were before; with a FutureWarning, and for one release.

    Raises ArgumentError, DescriptionError and UnknownNameError for a wrong bus or sensors,
    SimulationDivergedError, and what the law raises.
    """
    given = {'controller': controller, 'start': start, 'plant': plant, 'feedback': feedback}
    choice, start, plant, feedback = _groups(**(grouped(given, former) if former else given))
    law = _law(model, choice)
    _require_reference(law, reference)
    require_time('duration', duration)
    seen = reconstruction(model, plant.model or model)
    robot = _robot(plant, law, start)
    driver = _driver(law, reference, start, robot)
    sensing = _heard(feedback, law, robot, seen, start, float(plant.delay))
    return _run(
        driver, sorted(choice.changes, key=itemgetter(0)), robot, sensing, duration, progress
    )


def _groups(
    controller: Controller | str | Law,
    start: Start | None,
    plant: CompiledModel | Plant | None,
    feedback: Feedback | None,
) -> tuple[Law, Start, Plant, Feedback]:
    """Return the groups of arguments of a loop, with defaults; ArgumentError."""
    law = controller if isinstance(controller, Law) else Law(controller)
    plant = plant if isinstance(plant, Plant) else Plant(plant)
    start, feedback = start or Start(), feedback or Feedback()
    for name, group, kind in (('start', start, Start), ('feedback', feedback, Feedback)):
        if not isinstance(group, kind):
            raise ArgumentError(name, group, f'a {kind.__name__}')
    return law, start, plant, feedback


class _StateSource(Protocol):
    """Source of the states for the law: a Sensing, or one by an estimator."""

    def sense(self, stamp: float, q: Vector, qd: Vector) -> Measured | None: ...

    def take_command(self, stamp: float, u: Vector) -> None: ...


def _run(
    driver: Driver,
    changes: list[tuple[float, Settings]],
    robot: DelayedPlant,
    sensing: _StateSource,
    duration: float,
    progress: Progress | None,
) -> ClosedLoop:
    """Simulate all ticks."""
    law, show, orders = driver.law, ProgressReporter(progress, duration), driver.current_orders
    ticks = round(duration / law.period)
    found = _allocate(law, robot.model.n, ticks + 1)
    for k in range(ticks + 1):
        t, simulator, command = k * law.period, robot.simulator, None
        if heard := sensing.sense(t, simulator.q, simulator.qd):
            while changes and heard.stamp >= changes[0][0] - TIME_TOLERANCE * law.period:
                orders = orders._replace(settings=changes.pop(0)[1])
            _, command = driver.answer(orders, *heard, law.period)
            found.q_heard[k], found.qd_heard[k] = heard.q, heard.qd
        _note(found, k, t, simulator, driver, command)
        if k < ticks:
            sensing.take_command(t, driver.sent)
            robot.step(t, driver.sent)
        show(t)
    return found


def _law(model: CompiledModel, choice: Law) -> Controller:
    """Return the law that is chosen, made if it has only a name; ArgumentError."""
    if isinstance(choice.kind, Controller):
        if choice.kind.model is not model:
            expected = 'a law made for this model object'
            raise ArgumentError('controller', type(choice.kind), expected)
        return choice.kind
    law: type[Controller] = CONTROLLERS.get(choice.kind)
    period = DEFAULT_PERIOD if choice.period is None else float(choice.period)
    settings = law.make_settings(model, choice.controlled, **choice.parameters)
    return law(model, period=period, controlled=choice.controlled, settings=settings)


def _require_reference(law: Controller, reference: Reference | Program) -> None:
    count = law.reference_width
    if isinstance(reference, Program) and isinstance(law, Composition):
        return
    if isinstance(reference, TipPathReference):
        reference = reference.outputs
    if not isinstance(reference, Reference) or reference.coefficients.shape[2] != count:
        raise ArgumentError('reference', reference, f'a Reference of {count} coordinates')


def _robot(plant: Plant, law: Controller, start: Start) -> DelayedPlant:
    """Return the simulated robot, about to set out."""
    model = plant.model or law.model
    bus = make_bus(plant.bus)
    robot = DelayedPlant(model, law.period, float(plant.delay), bus, plant.wrenches)
    options = {'substep': plant.substep, 'tolerance': plant.tolerance}
    robot.set_out(ActuatedSimulator(model, q=start.q, qd=start.qd, **options), start.u)
    return robot


def _driver(
    law: Controller, reference: Reference | Program, start: Start, robot: DelayedPlant
) -> Driver:
    """Return the driver, with the command in force at the start."""
    safe = SafeCommand.of_model(law.model)
    safe.choose(*SAFE_COMMAND)
    orders = Orders(law.settings, reference, float(start.ramp))
    driver = Driver(law.model, law, safe, orders)
    u = robot.u.copy()
    if start.u is not None:
        u[:] = start.u
    driver.limiter.last[:], driver.limiter.has_last = u, start.u is not None
    driver.initialise_setpoints(robot.u)
    return driver


def _heard(
    feedback: Feedback,
    law: Controller,
    robot: DelayedPlant,
    seen: Reconstruction | None,
    start: Start,
    delay: float,
) -> _StateSource:
    """Return the source of the states for the law, its commands being late by a delay [s]."""
    model, estimator = law.model, feedback.estimator
    if estimator is None:
        sensors = make_sensors(model.coordinate_names, feedback.sensors)
        return Sensing(sensors, model.n, law.period, seen)
    sensing = _estimated(estimator, model, robot, feedback)
    q, qd = (start.q, start.qd) if seen is None else (None, None)
    sensing.begin(robot.u, q, qd, delay)
    return sensing


def _estimated(
    estimator: Estimator, model: CompiledModel, robot: DelayedPlant, feedback: Feedback
) -> EstimatedSensing:
    """Return the source of an estimator's states; ArgumentError for unsupported arguments."""
    if estimator.model is not model:
        expected = 'an Estimator made for this model object'
        raise ArgumentError('estimator', type(estimator), expected)
    given = make_sensors(model.coordinate_names, feedback.sensors)
    others = sorted(set(feedback.sensors) - {'seed', 'dropout'})
    if others:
        expected = 'a seed and a dropout: with an estimator, its own sensors have noise and delay'
        raise ArgumentError('sensors', others, expected)
    own, seed = estimator.settings, given.seed
    instruments = SimulatedSensors(
        robot.model, own.sensors, efforts=own.efforts, seed=seed, dropout=given.dropout
    )
    simulator = robot.simulator
    return EstimatedSensing(
        estimator, instruments, lambda: simulator.acting, lambda: simulator.contact_force
    )


def _allocate(law: Controller, of_plant: int, count: int) -> ClosedLoop:
    """Return arrays of so many rows, where nothing is noted nan; the plant's coordinates."""
    n, m, c = law.model.n, law.model.m, len(law.controlled)
    columns = {
        'q': of_plant,
        'qd': of_plant,
        'q_heard': n,
        'qd_heard': n,
        'u': m,
        'commands_sent': m,
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


def _note(
    found: ClosedLoop,
    k: int,
    t: float,
    robot: ActuatedSimulator,
    driver: Driver,
    command: Command | None,
) -> None:
    """Fill a row; ``command`` is the law's, None where it had none."""
    found.t[k], found.q[k], found.qd[k] = t, robot.q, robot.qd
    found.u[k], found.commands_sent[k] = driver.limiter.last, driver.sent
    if command is not None:
        found.y[k], found.velocity[k] = command.y, command.velocity
        found.y_d[k], found.velocity_d[k] = command.desired[0], command.desired[1]
        found.unmet[k], found.saturated[k], found.ok[k] = command.unmet, command.saturated, True
