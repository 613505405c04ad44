# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Inputs of a simulated robot by topics: external wrenches, and initial states."""

from __future__ import annotations

from typing import Protocol, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import out_of_range
from softrobot_dynamics.dynamics.wrenches import Wrench, Wrenches
from softrobot_dynamics.errors import MessageError, SimulationDivergedError, SoftRobotError
from softrobot_dynamics.loops.message_contracts import Stamped, StateMessage, VectorMessage
from softrobot_dynamics.simulation.simulator import Simulator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_EXPECTED_FRAME = 'BODY or BODY X Y Z, optionally followed by the word base'


class WrenchFields(Protocol):
    """A geometry_msgs/Wrench."""

    force: VectorMessage
    torque: VectorMessage


class WrenchMessage(Stamped, Protocol):
    """A geometry_msgs/WrenchStamped."""

    wrench: WrenchFields


class ExternalWrenches:
    """
    The wrenches in force on a robot, from geometry_msgs/WrenchStamped.

    The frame_id says where: `BODY`, at the tip; `BODY X Y Z`, at the material point (X, Y, Z) [m].
    The axes are the body's there, as the message has it, or with the word `base` behind those of
    the base. A push is in force until there is another one at the same place; zeros end it.
    """

    def __init__(self, model: CompiledModel) -> None:
        self._bodies = model.body_names
        self._wrenches: dict[tuple[str, ...], tuple[str, Wrench]] = {}

    def clear(self) -> None:
        """Forget all of them."""
        self._wrenches.clear()

    def read(self, message: WrenchMessage) -> Wrenches | None:
        """Return the wrenches in force from now on, None if there are none; or MessageError."""
        words = tuple(message.header.frame_id.split())
        body, point, frame = self._place(words)
        moment, force = message.wrench.torque, message.wrench.force
        value = np.array([moment.x, moment.y, moment.z, force.x, force.y, force.z])
        if not np.isfinite(value).all():
            raise MessageError(f'not a number: {value.tolist()}, expected finite ones')
        self._wrenches.pop(words, None)
        if value.any():
            self._wrenches[words] = body, Wrench(value, point, frame)
        wrenches: dict[str, list[Wrench]] = {}
        for name, wrench in self._wrenches.values():
            wrenches.setdefault(name, []).append(wrench)
        return wrenches or None

    def _place(self, words: tuple[str, ...]) -> tuple[str, Vector | None, str]:
        """Return body, point or None, and frame; MessageError."""
        frame = 'base' if words[1:] and words[-1] == 'base' else 'body'
        own = words[: len(words) - (frame == 'base')]
        if not own or own[0] not in self._bodies:
            what = f'frame_id: {own[:1]}, expected a body, one of {self._bodies}'
            raise MessageError(f'wrong name: {what}')
        if len(own) == 1:
            return own[0], None, frame
        try:
            point = np.array([float(each) for each in own[1:]])
        except ValueError:
            point = np.zeros(0)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise MessageError(
                f'wrong name: frame_id: {" ".join(words)!r}, expected {_EXPECTED_FRAME}'
            )
        return own[0], point, frame


class InitialStateReader:
    """
    States to begin at, from sensor_msgs/JointState; not every coordinate has to be named.

    One that a robot cannot be in, or from which it cannot make a step of a `period` [s], is
    refused: `trial` is a simulator of its own that shows that.
    """

    def __init__(self, model: CompiledModel, trial: Simulator, period: float) -> None:
        self._model, self._trial, self._period = model, trial, period
        self._rest = np.clip(np.zeros(model.m), model.lower, model.upper)

    def read(self, message: StateMessage) -> tuple[Vector, Vector]:
        """Return (q, qd), each (n,), initial where a coordinate is not named; MessageError."""
        q, qd = self._named(message)
        with np.errstate(all='ignore'):
            for name, words in out_of_range(self._model, q):
                raise _out_of_range(name, f'{self._value(q, name)}, expected {words}')
        try:
            self._trial.reset(q, qd)
            self._trial.step(self._rest, self._period)
        except SimulationDivergedError as error:
            names = self._model.coordinate_names
            name = names[int(np.argmax(np.abs(qd)))] if qd.any() else error.coordinate
            words = f'at {self._value(q, name)} with the rate {self._value(qd, name)}'
            expected = f'a state from which the robot can move on for {self._period:g} s'
            raise _out_of_range(name, f'{words}, expected {expected}') from None
        except SoftRobotError as error:
            raise MessageError(f'out of range: the robot cannot start there ({error})') from None
        return q, qd

    def _value(self, values: Vector, name: str) -> str:
        """Return in words the one of values (n,) that a coordinate has."""
        return f'{values[self._model.coordinate_names.index(name)]:.6g}'

    def _named(self, message: StateMessage) -> tuple[Vector, Vector]:
        """Return the state of a message by the names of its coordinates; MessageError."""
        model, names = self._model, list(message.name)
        unknown = [name for name in names if name not in model.coordinate_names]
        if unknown or len(set(names)) < len(names):
            words = f'{unknown or names}, expected different ones of {model.coordinate_names}'
            raise MessageError(f'wrong name: {words}')
        q, qd = model.q0.copy(), model.qd0.copy()
        columns = [model.coordinate_names.index(name) for name in names]
        for what, state in (('position', q), ('velocity', qd)):
            values = np.array(getattr(message, what))
            words = f'{what}: {values.tolist()}, expected a number for each name'
            if len(values) not in (0, len(names)):
                raise MessageError(f'wrong size: {words}')
            if not np.isfinite(values).all():
                raise MessageError(f'not a number: {words}')
            if len(values):
                state[columns] = values
        if names and not len(message.position) and not len(message.velocity):
            words = 'position and velocity: [], expected a number for each name in one of them'
            raise MessageError(f'wrong size: {words}')
        return q, qd


def _out_of_range(name: str, words: str) -> MessageError:
    return MessageError(f'out of range: {name}: {words}')
