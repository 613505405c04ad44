# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A plant of two masses and two motors with a control law, with nothing to compile."""

from dataclasses import dataclass
import functools
import sys
import time
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.actuators.contract import Quantity
from softrobot_dynamics.configuration import build
from softrobot_dynamics.configuration.command_parts import command_rows
from softrobot_dynamics.configuration.declared_parameters import configured_rows
from softrobot_dynamics.configuration.law_settings import settings_of
from softrobot_dynamics.configuration.state_topics import state_rows
from softrobot_dynamics.controllers import contract
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.dynamics.periodic_coordinates import FULL_TURN, PeriodicCoordinates
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from softrobot_dynamics.loops.state_validation import part_of, StateBounds, StateValidator
from softrobot_dynamics.model.servos import ServoTables
from softrobot_dynamics.references.feasibility import Planned
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

COORDINATES, ACTUATORS = ('x', 'y'), ('left', 'right')
PRETENSION = 0.5
GROWS_FROM = 1e5  # gain p from which the loop is said to be unstable
HEAVY, HARD = 15e-3, 4.0  # [s] that a command takes beyond this |q|
FASTEST = 10.0  # limits.velocity [m/s] of the robot `limited`
BOUNDS = StateBounds(COORDINATES, np.full(2, np.inf), np.ones(2))


class Description(NamedTuple):
    """A stand-in for a RobotDescription."""

    digest: str = 'two masses'
    modules: tuple = ()
    actuators: tuple = ()
    wire_fields: tuple = ('effort', 'effort')

    def coordinate_slices(self):
        """There are no modules."""
        return iter(())


class Model(NamedTuple):
    """A stand-in for a compiled model."""

    description: Description = Description()
    n: int = 2
    m: int = 2
    coordinate_names: tuple = COORDINATES
    actuator_names: tuple = ACTUATORS
    lower: np.ndarray = np.array([-10.0, -10.0])
    upper: np.ndarray = np.array([10.0, 10.0])
    rate_limit: np.ndarray = np.array([1e4, 1e4])
    sent_lower: np.ndarray = np.array([-10.0, -10.0])
    sent_upper: np.ndarray = np.array([10.0, 10.0])
    servos: ServoTables = ServoTables(*[np.zeros(0, dtype=int)] * 3, *[np.zeros(0)] * 5)
    commands: tuple = (Quantity('force', 'N'),) * 2
    outputs: tuple = (Quantity('displacement', 'm'),) * 2
    q0: np.ndarray = np.array([0.0, 0.0])
    qd0: np.ndarray = np.array([0.0, 0.0])
    body_names: tuple = ('cart',)
    scales: SimpleNamespace = SimpleNamespace(length=1.0, growth=0.1)  # [m], [1/s]


class Command(NamedTuple):
    """As controllers.contract.Command."""

    u: np.ndarray
    y: np.ndarray
    velocity: np.ndarray
    desired: np.ndarray
    unmet: np.ndarray
    saturated: int
    ok: bool


@dataclass(frozen=True)
class Gains(contract.Settings):
    """Two gains for each motor."""

    p: np.ndarray = parameter(
        number('1/s^2', at_least=0.0, at_most=1e6, default=100.0),
        'Gain on y',
        each='actuator',
        group='gains',
    )
    d: np.ndarray = parameter(
        number('1/s', at_least=0.0, at_most=1e5, default=20.0),
        'Gain on its rate',
        each='actuator',
        group='gains',
    )


class Controller(contract.Controller):
    """u = p (y_d - y) - d y' with y = q; slow on request beyond |q| = 4, not ok beyond 5."""

    type_name, Settings = 'two_masses', Gains

    def __init__(self):
        self.model, self.controlled = Model(), np.array([0, 1])
        self.reference, self.settings = np.zeros(2), None
        self.calls = []
        self._u = np.zeros(2)

    def use(self, settings):
        """Take new settings."""
        self.calls.append('use')
        self.settings = settings

    def follow(self, reference, t, ramp):
        """Take a new reference."""
        self.calls.append('follow')
        self.reference = reference

    def start(self, q, qd, t, u=None):
        """Begin at a state."""
        self.calls.append('start')

    def compute(self, t, q, qd):
        """Return the Command for a state."""
        s = self.settings
        if HARD < abs(q).max() < 5.0:
            time.sleep(HEAVY)
        self._u[:] = np.clip(s.p * (self.reference - q) - s.d * qd, s.lower, s.upper)
        desired = np.array([self.reference, np.zeros(2), np.zeros(2)])
        return Command(
            self._u, q.copy(), qd.copy(), desired, np.zeros(2), 0, bool((abs(q) < 5.0).all())
        )


class Faulty(StateValidator):
    """A judge with a fault of its own: it raises beyond |q| = 3."""

    def check(self, q, qd, stamp, arrival):
        """As StateValidator.check."""
        if abs(q).max() > 3.0:
            raise ZeroDivisionError('a fault of the judge')
        return super().check(q, qd, stamp, arrival)


class Simulator:
    """Unit masses on springs with friction; diverge beyond |q| = 100. One may have a fault."""

    faulty, unsettled, contact = False, 0, None

    def __init__(self):
        self.time, self.q, self.qd = 0.0, np.zeros(2), np.zeros(2)

    def reset(self, q=None, qd=None):
        """Go back to the start, or elsewhere."""
        self.__init__()
        self.q[:], self.qd[:] = 0.0 if q is None else q, 0.0 if qd is None else qd

    def prepare(self, wrenches):
        """Do nothing."""

    def step(self, u, dt, wrenches=None):
        """Advance by dt [s]; a wrench pushes both masses by the first number of its force."""
        if self.faulty and abs(self.q).max() > 3.0:
            raise ZeroDivisionError('a fault of the simulator')
        push = sum(each.value[3] for listed in (wrenches or {}).values() for each in listed)
        self.qd += dt * (u + push - self.qd - 0.4 * self.q)
        self.q += dt * self.qd
        self.time += dt
        if not (abs(self.q) < 100.0).all():
            raise SimulationDivergedError(self.time, 'x')


def safe():
    """Return the safe command: a pretension for both."""
    command = SafeCommand(
        ('pretension', 'pretension'),
        Model().lower,
        Model().upper,
        lambda q: np.zeros(2),
        lambda q: np.eye(2),
    )
    command.choose('auto', PRETENSION, 1.0)
    return command


def controlled(values, declare=list):
    """Return what the controller node runs."""
    _load(values)
    controller = Controller()
    fastest = FASTEST if values['robot'] == 'limited' else np.inf
    bounds = BOUNDS._replace(velocity=np.full(2, fastest))
    if values['robot'] == 'round':
        bounds = bounds._replace(turns=PeriodicCoordinates(np.array([FULL_TURN, 0.0])))
    validator = Faulty if values['robot'] == 'faulty' else StateValidator
    rows = configured_rows(controller, controller.model, values['controlled'])
    declare([*state_rows(values), *command_rows(values), *rows])
    return build.Controlled(
        controller.model,
        controller,
        safe(),
        functools.partial(settings_of, controller, controller.model, None),
        _reference,
        lambda q, qd: q.copy(),
        lambda y, q, time: [],
        lambda indices=(): validator(part_of(bounds, indices) if indices else bounds),
        lambda q, u, settings, off=0.0: 50.0 * (settings.p.max() - GROWS_FROM) / GROWS_FROM,
        lambda q: (2.5 + 1.5j,) if values['robot'] == 'restless' else (),
    )


def simulated(values):
    """Return what the simulation node runs."""
    _load(values)
    simulator = Simulator()
    simulator.faulty = values.get('robot') == 'faulty'
    return build.Simulated(Model(), simulator, safe(), Model(), Simulator())


def _load(values):
    if values.get('robot') == 'slow':
        time.sleep(600.0)


def _reference(values, q, job):
    if values['reference.type'] == 'hold':
        return Planned(None)
    if values['reference.type'] == 'path':  # one that is never ready
        job.run(time.sleep, 600.0)
    y = np.array(values['reference.setpoint'])
    if y.shape != (2,) or (abs(y) > 4.0).any():
        raise ArgumentError(
            'reference.setpoint', values['reference.setpoint'], 'two numbers within 4'
        )
    return Planned(y)


if __name__ == '__main__':
    from softrobot_dynamics.nodes import controller, simulation

    argv = [sys.argv[0], *sys.argv[2:]]
    sys.exit(
        controller.main(argv, controlled)
        if sys.argv[1] == 'controller'
        else simulation.main(argv, simulated)
    )
