# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Replay a record of the controller: compute every command again; no ROS.

The law is made from the recorded parameters, begins with the recorded state and command, and gets
the recorded states and orders at their times. The same machine code on the same numbers gives the
same bits, so commands are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, cast, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration import build
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.loops.driver import Driver, LATE_SOLUTION, STATE_DELAY
from softrobot_dynamics.loops.orders import HoldOrder, Orders, TakenOrders
from softrobot_dynamics.loops.solution_thread import predictive_laws
from softrobot_dynamics.model.model import compile_model, CompiledModel
from softrobot_dynamics.recordings.reading import Recording

_REPLAYED_COLUMNS = 't', 'q', 'qd', 'u', 'mode', 'orders', 'u_before', 'log_time'
_EXPECTED_RECORDING = "a recording of the controller that holds the loop's orders"


class Difference(NamedTuple):
    """The first command that is another one."""

    tick: int  # row of the recording
    t: float  # [s]
    actuator: str
    recorded: float  # actuator unit
    computed: float


class Replay(NamedTuple):
    """Result of the replay of a recording."""

    ticks: int  # in it
    compared: int  # commands of the law that were computed again
    safe: int  # ticks that were answered by a safe command, which are not
    messages_since: float | None  # [s] from where what came by message was followed: not compared
    difference: Difference | None  # None: all that was compared is the same, bit for bit
    gap: float | None  # [s] from where the comparison ends, as the next tick was not recorded


def replay(
    recording: Recording,
    robot: str | PathLike[str] | dict[str, Any] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Replay:
    """
    Return the :class:`Replay` of a recording; ends at the first command that is another.

    ``robot`` is that of the recording, if it is not found by what it was called then. What came by
    message (trajectories, targets) is not in a recording: the comparison rests from there until
    the law begins anew with the parameters or a hold. It ends where ticks are missing, since the
    law's state depends on them. ``progress`` is told shares done, up to 1.

    ArgumentError for a recording of another node, of before orders were held, or of another robot;
    what the making of the law raises.
    """
    missing = [name for name in _REPLAYED_COLUMNS if name not in recording.columns]
    if missing or 'running' not in recording.facts.get('modes', ()) or not recording.parameters:
        found = f'{recording!r} without {", ".join(missing) or "parameters"}'
        raise ArgumentError('recording', found, _EXPECTED_RECORDING)
    description = load_robot(recording.facts['robot'] if robot is None else robot)
    description = build.known_to_laws(description, recording.parameters[0][1])
    if description.digest != recording.facts['digest']:
        words = 'the robot of the recording: its file has changed since'
        raise ArgumentError('robot', description.name, words)
    return _Player(recording, compile_model(description)).play(progress)


class _Player:
    """The driver of the law, and the orders that it is given, tick by tick."""

    def __init__(self, recording: Recording, model: CompiledModel) -> None:
        self._recording, self._model = recording, model
        moment, values = recording.parameters[0]
        self._values = {name: _number(value) for name, value in values.items()}
        which, due, came = LATE_SOLUTION
        notes = recording.parameters[1:]
        self._changes = [note for note in notes if due not in note[1]]
        law = build.law_of(model, self._values)
        law.warm()
        late = [note for _, note in notes if due in note]
        for place, each in enumerate(predictive_laws(law)):
            own = [x for x in late if x.get(which, 0) == place]  # 0: once there was but one
            each.replay_late({x[due]: _number(x[came]) for x in own})
        self._orders = Orders(law.settings, HoldOrder())
        self._driver = Driver(model, law, SafeCommand.of_model(model), self._orders)
        self._period = max(1, round(1e9 * recording.facts['period'])) * 1e-9
        self._run, self._plan = 0, cast(Any, None)
        self._led = self._restart = False

    def play(self, progress: Callable[[float], object] | None) -> Replay:
        """Replay all ticks."""
        data, compared, safe, led = self._recording, 0, 0, None
        running = data.facts['modes'].index('running')
        gaps = np.flatnonzero(np.diff(data.columns.get('tick', ())) != 1)
        end = int(gaps[0]) + 1 if len(gaps) else len(data)
        gap = float(data['t'][end - 1]) if len(gaps) else None
        for k in range(end):
            if progress is not None and k % 1000 == 0:
                progress(k / len(data))
            if data['mode'][k] != running:
                safe += 1
                continue
            t, q, qd = float(data['t'][k]), data['q'][k].copy(), data['qd'][k].copy()
            self._read_orders(k)
            if self._led:
                led = t if led is None else led
                continue
            u = self._command(t, q, qd)
            compared += 1
            if (u != data['u'][k]).any():
                difference = self._difference(k, t, u)
                return Replay(len(data), compared, safe, led, difference, gap)
        return Replay(len(data), compared, safe, led, None, gap)

    def _command(self, t: float, q: Vector, qd: Vector) -> Vector:
        driver, restart, self._restart = self._driver, self._restart, False
        command = driver.compute(self._orders, t, q, qd, restart=restart)
        driver.limit(driver.choose(command, q, t), self._period)
        return driver.limiter.last  # as recorded: forces, whatever drives of joints are told

    def _difference(self, k: int, t: float, u: Vector) -> Difference:
        recorded = self._recording['u'][k]
        i = int(np.flatnonzero(u != recorded)[0])
        name = self._model.actuator_names[i]
        return Difference(k, t, name, float(recorded[i]), float(u[i]))

    def _read_orders(self, k: int) -> None:
        """Set the orders to those that the loop applied in tick k."""
        taken_up = int(self._recording['orders'][k])
        if not taken_up:
            return
        self._read_changes(k)
        began = bool(taken_up & TakenOrders.BEGAN)
        if taken_up & TakenOrders.TUNED:
            self._driver.state_delay = self._values.get(STATE_DELAY, 0.0)
            settings = build.settings_for(self._model, self._values)
            self._orders = self._orders._replace(settings=settings)
        if taken_up & (TakenOrders.FOLLOWS | TakenOrders.HOLDS | TakenOrders.LED):
            # what is followed next is blended in from what came by message, unless the law begins
            self._led = bool(taken_up & TakenOrders.LED) or (self._led and not began)
        if taken_up & (TakenOrders.FOLLOWS | TakenOrders.HOLDS):
            reference, ramp = self._reference(taken_up), self._values['reference.ramp_time']
            self._orders = self._orders._replace(reference=reference, ramp=ramp)
        self._restart |= began
        if began:
            before, limiter = self._recording['u_before'][k], self._driver.limiter
            limiter.last[:], limiter.has_last = before, bool(np.isfinite(before).all())

    def _reference(self, taken_up: int) -> Any:
        """Return the new reference, a new object: that of the parameters, or a hold."""
        if taken_up & TakenOrders.HOLDS:
            return HoldOrder()
        restarted = not taken_up & TakenOrders.BEGAN and self._plan is not None
        if self._plan is None:
            self._plan = build.plan_of(self._model, self._values, self._model.q0).reference
        if not isinstance(self._plan, Program):
            return self._plan._replace()
        self._run += restarted or not self._run
        return self._plan._replace(run_id=self._run)

    def _read_changes(self, k: int) -> None:
        """Apply the parameters noted before the tick after k."""
        times = self._recording['log_time']
        end = times[k + 1] if k + 1 < len(times) else np.inf
        while self._changes and self._changes[0][0] < end:
            _, changed = self._changes.pop(0)
            if set(changed) != {STATE_DELAY}:
                self._plan = None
            self._values |= {name: _number(value) for name, value in changed.items()}


def _number(value: object) -> Any:
    return np.nan if value is None else value
