# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Groups of arguments of a closed loop: its law, start, plant and feedback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, KW_ONLY
from typing import Any

from numpy.typing import ArrayLike
from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.dynamics.wrenches import Wrenches
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.bounds import is_number
from softrobot_dynamics.simulation.bus import make_bus

_MAX_TIME = 1e6  # [s] of a run: a billion ticks at 1 kHz


@dataclass(frozen=True, eq=False)
class Law:
    """
    The law of a closed loop, and how its settings change on the way.

    A law that is given by name is made with its parameters and limits; one that has been made
    already has its own, and takes ``changes`` only. ArgumentError names the field.
    """

    kind: Controller | str
    """A law for the model, or the name of one: ``'pfbl'``, ``'pd_plus'`` ..."""

    _: KW_ONLY

    controlled: Sequence[str] | None = None
    """Names of the actuators whose outputs follow the reference; None: all."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The law's parameters and limits by name, as ``{'p': 100.0, 'd': 20.0}``."""

    period: float | None = None
    """Time from one tick to the next [s]; None: 1 ms."""

    changes: Iterable[tuple[float, Settings]] = ()
    """Pairs (time [s], Settings): what the law is to use from then on."""

    def __post_init__(self) -> None:
        require_mapping('parameters', self.parameters)
        if isinstance(self.kind, Controller):
            given = {'controlled': self.controlled, 'period': self.period}
            for name, value in {**given, 'parameters': self.parameters or None}.items():
                if value is not None:
                    raise ArgumentError(name, value, 'nothing, as the controller has its own')
        elif not isinstance(self.kind, str):
            raise ArgumentError('controller', self.kind, 'a law, or the name of one')
        if self.period is not None:
            require_time('period', self.period)


@dataclass(frozen=True, eq=False, kw_only=True)
class Start:
    """Start of a closed loop; by default at the plant's initial state, without a ramp."""

    q: ArrayLike | None = None
    """Coordinates (n,) of the plant; None: its initial ones."""

    qd: ArrayLike | None = None
    """Their rates (n,); None: its initial ones."""

    u: ArrayLike | None = None
    """Command (m,) until the first of the law arrives, actuator units; None: the safe one."""

    ramp: float = 0.0
    """Time in which the law turns to the reference whenever it begins [s]."""

    def __post_init__(self) -> None:
        require_time('ramp', self.ramp)


@dataclass(frozen=True, eq=False)
class Plant:
    """The simulated robot of a closed loop, the way of commands to it, and external wrenches."""

    model: CompiledModel | None = None
    """
    Its model; None: the law's. It has the bodies of the law's model, possibly more, and the same
    actuators, with their lag, delay, dead band, slack and friction. If its coordinates have other
    names, the law receives those coordinates of its own model that fit best, see
    :class:`~softrobot_dynamics.simulation.reconstruction.Reconstruction`.
    """

    _: KW_ONLY

    delay: float = 0.0
    """Time from when a state is received until the command that answers it arrives [s]."""

    bus: Mapping[str, Any] = field(default_factory=dict)
    """
    When drives take the newest command that has arrived: fields of
    :class:`~softrobot_dynamics.simulation.bus.Bus` by name, as ``{'rate': 100.0, 'phase': 2e-3}``
    in Hz and s; empty: as it arrives.
    """

    wrenches: Callable[[float], Wrenches | None] | None = None
    """
    A function of time [s] that returns the wrenches from outside, as ``sd.forward_dynamics`` takes
    them: taken in the middle of every stretch of time in which the command is the same.
    """

    substep: float = 5e-4
    """Longest step of the simulator [s]."""

    tolerance: float | None = None
    """Relative error of the simulator, which then chooses its steps; None: steps are fixed."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, CompiledModel | None):
            raise ArgumentError('plant', self.model, 'a compiled model')
        require_time('delay', self.delay)
        require_mapping('bus', self.bus)
        make_bus(self.bus)
        if self.wrenches is not None and not callable(self.wrenches):
            raise ArgumentError('wrenches', self.wrenches, 'a function of time [s]')


@dataclass(frozen=True, eq=False, kw_only=True)
class Feedback:
    """Measured states of the plant for the law; by default each at once and exact."""

    sensors: Mapping[str, Any] = field(default_factory=dict)
    """
    Fields of :class:`~softrobot_dynamics.simulation.sensing.Sensors` by name, as
    ``{'noise': 1e-3, 'delay': 2e-3, 'seed': 1}``. Without a new state the last command stays.
    """

    estimator: Estimator | None = None
    """
    An estimator for the law's model, whose estimates the law receives instead: its sensors measure
    the plant at their rates, with their noise and delay; ``sensors`` may then have a ``seed`` and
    a ``dropout``. It begins at the start or, if the plant has other coordinates, at the model's
    initial state.
    """

    def __post_init__(self) -> None:
        require_mapping('sensors', self.sensors)
        if self.estimator is not None and not isinstance(self.estimator, Estimator):
            raise ArgumentError('estimator', type(self.estimator), 'an Estimator')


def require_time(name: str, value: object) -> None:
    """Raise ArgumentError unless a value is a time >= 0 [s] that a run may take."""
    if not (is_number(value) and 0.0 <= float(value) <= _MAX_TIME):
        raise ArgumentError(name, value, f'a time >= 0 [s] and at most {_MAX_TIME:g}')


def require_mapping(name: str, value: object) -> None:
    """Raise ArgumentError unless a value has fields by name."""
    if not isinstance(value, Mapping):
        raise ArgumentError(name, value, 'values by name')
