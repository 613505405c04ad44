# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of sensors: a value z that depends on the state of a robot, with its noise.

A kind is one file. Its values are what a user has, as a pose (4, 4); `read` checks them and
makes a row of numbers z. On a robot it becomes an :class:`Observation`: compiled, it says what z
should be at a state, what is missing from that, and how that changes with the state. A kind also
declares the ROS messages that its values come in, by the name of their type and their fields, so
that the nodes can receive them, and publish those of a simulated robot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Complaints, Integers, Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import Problem
from softrobot_dynamics.estimation.sensors.message_sources import MessageSource
from softrobot_dynamics.estimation.sensors.messages import Message, MessageFields
from softrobot_dynamics.schema.fields import name, nested, number
from softrobot_dynamics.schema.parsing import custom, Problems
from softrobot_dynamics.schema.registry import needed, Registry, require_methods, required

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SENSORS = Registry('sensor', 'softrobot_dynamics.estimation.sensors', 'softrobot_dynamics.sensors')
T = TypeVar('T', bound='Sensor')


def register(name: str) -> Callable[[type[T]], type[T]]:
    """
    Return a class decorator that enters a kind as `name`, as :meth:`Registry.register`.

    A kind with a ``message_type`` has to read and write such messages.
    """

    def enter(cls: type[T]) -> type[T]:
        if cls.message_type:
            require_methods(cls, 'from_message', 'to_message')
        return SENSORS.register(name)(cls)

    return enter


@former_names(still='at_rest')
class BoundRobot(NamedTuple):
    """The robot that a sensor is bound to."""

    model: CompiledModel
    differentiate: Differentiator  # with the estimated force from outside
    u: Vector  # (m,) the command in force, actuator units; whoever binds keeps it up to date
    at_rest: bool = False  # whatever holds the robot there


class Observed(NamedTuple):
    """Results of an observation, for k numbers of z that are independent of each other."""

    predicted: Vector  # z as it should be
    residual: Vector  # (k,) what z is more than that; NaN where nothing was seen
    H: Matrix  # (k, 3 n) derivatives of the prediction by q, qd and force; also NaN


class Observation(NamedTuple):
    """A sensor on a robot with n coordinates."""

    observe: Callable[..., Any]  # (q (n,), qd (n,), z) fills `observed`
    observed: Observed
    noise: Vector  # (k,) standard deviations of the residual
    starts: Integers  # (G + 1,) rows of G parts that are right or wrong as a whole, the last k


def deviation(unit: str, size: int, default: float | None, optional: bool = False) -> Any:
    """
    Return the field of a standard deviation, a number or one for each of ``size``.

    If ``optional`` it may be None: of what is not measured.
    """
    expected = f'a number > 0 or {size} of them [{unit}]'
    expected += ', or null: not measured' if optional else ''

    def read(value: object, path: str, problems: Problems) -> tuple[float, ...] | None:
        if value is None and optional:
            return None
        try:
            numbers = np.broadcast_to(np.asarray(value, dtype=float), (size,))
        except (TypeError, ValueError):
            numbers = np.zeros(1)
        if isinstance(value, bool) or not (np.isfinite(numbers) & (numbers > 0.0)).all():
            problems.append(Problem(path, value, expected))
            return None
        return tuple(float(x) for x in numbers)

    every = None if default is None else (default,) * size
    return custom(read, expected=expected, unit=unit, default=every)


@dataclass(frozen=True, kw_only=True)
class Sensor:
    """
    Base of all sensors: subclass it as a frozen dataclass and ``@register`` a name.

    A value is as old as ``delay`` [s] at its stamp. ``gate`` is the probability with which a right
    value passes: beyond that quantile of chi squared it is taken for an outlier. It is wide, as a
    push that is larger than the disturbance moves what is measured, too, and is to be seen by it.
    ``rate`` [Hz] is how often values are expected, and simulated.

    ``message_type`` names the ROS messages on the topic ``sensors/NAME``, as
    'geometry_msgs/PoseStamped': a type with a header, whose stamp is the time of the measurement.
    :meth:`from_message` and :meth:`to_message` read and write their fields; no module of a sensor
    imports ROS. A kind without a ``message_type`` can be used from Python only.

    ``message`` says in which other topic, type and frame a driver publishes the value, see
    :class:`~.message_sources.MessageSource`. A kind whose value is a pose or points says so by
    its ``content``; of the others a message may have another topic and clock.
    """

    type_name: ClassVar[str]
    message_type: ClassVar[str] = ''
    content: ClassVar[str] = ''

    name: str = name()
    delay: float = number('s', at_least=0.0, at_most=10.0, default=0.0)
    gate: float = number('-', above=0.0, at_most=1.0, default=1.0 - 1e-9)
    rate: float = number('Hz', above=0.0, default=100.0)
    message: MessageSource | None = nested(MessageSource, default=None)

    @property
    def tracked(self) -> int:
        """The number of bodies or markers that a value is about."""
        return 1

    def complaints(self) -> Complaints:
        """Yield (field, value, expected) for wrong entries of the ``message``."""
        if self.message is not None:
            given = self.content, self.tracked, self.message_type
            for field, value, expected in self.message.complaints(*given):
                yield f'message.{field}', value, expected

    @required
    def read(self, value: ArrayLike) -> Vector:
        """Return z of a value, NaN where nothing was seen; ArgumentError."""
        raise NotImplementedError

    @required
    def value(self, z: Vector) -> Array:
        """Return the value of z, as :meth:`read` takes it."""
        raise NotImplementedError

    @needed
    def from_message(self, message: Message) -> ArrayLike:
        """
        Return the value in a message, which :meth:`read` then checks; MessageError.

        Its header is read elsewhere.
        """
        raise NotImplementedError

    @needed
    def to_message(self, value: Array) -> MessageFields:
        """Return the fields of the message of a value, as :meth:`value` returns it."""
        raise NotImplementedError

    def message_entries(self) -> int:
        """
        Return how many entries the arrays of a message have, 0 if the type has a fixed size.

        A message with much more than these is refused before anything in it is looked at.
        """
        return 0

    def add_noise(self, z: Vector, error: Vector) -> Vector:
        """Return z that is off by an error (k,): a residual of that size."""
        return z + error

    @required
    def bind(self, bound_robot: BoundRobot) -> Observation:
        """Return the :class:`Observation` on a robot; UnknownNameError, ArgumentError."""
        raise NotImplementedError


def allocate(k: int, n: int, size: int | None = None) -> Observed:
    """Return an :class:`Observed` of k numbers, z having ``size`` ones, of n coordinates."""
    return Observed(np.zeros(k if size is None else size), np.zeros(k), np.zeros((k, 3 * n)))
