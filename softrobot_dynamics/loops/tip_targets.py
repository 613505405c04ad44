# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Points and poses for a tip, one after the other, by topics; another process finds postures.

Each takes some milliseconds of Python, which in the node's own process would hold up the
loop again and again. The process starts with the first point and ends with the node, however that
ends.
"""

from __future__ import annotations

import contextlib
import pickle
import select
import sys
from typing import Any, Protocol

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.errors import ArgumentError, MessageError, SoftRobotError
from softrobot_dynamics.loops.contracts import ControlledPlant
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.message_contracts import Stamped, VectorMessage
from softrobot_dynamics.loops.orders import OneTimeReference, RestTarget
from softrobot_dynamics.loops.planning import (
    binary_stdout,
    PlanningProcess,
    start_planning_process,
)
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.references.feasibility import LIMITED
from softrobot_dynamics.references.tip_commands import (
    QUINTIC_PEAK_RATE,
    TipOrder,
    TipTarget,
    TipTwist,
)
from softrobot_dynamics.references.tip_following import ReachableTip, TipFollower
from softrobot_dynamics.schema.quaternions import read_orientation

# [s] without a point, after which the next one is approached like any reference
NEW_MOTION_PAUSE = 0.5
ANSWER_TIMEOUT = 30.0  # [s], the start of the process and a compilation included
# of the robot's length, [rad], from a pose at which the tip is there
POSITION_TOLERANCE, ROTATION_TOLERANCE = 1e-3, 0.01
_QUATERNION_TOLERANCE = 0.01  # of the length from 1: people type them, too

Goal = tuple[Vector, Matrix | None]  # point [m], rotation of the tip's axes, base frame


class TargetMessage(Stamped, Protocol):
    """A geometry_msgs/PointStamped, or PoseStamped, which has a ``pose`` instead."""

    point: VectorMessage


class TargetOrders:
    """Turns targets of tips into orders; for the thread that holds `Parameters.lock`."""

    def __init__(self, plant: ControlledPlant) -> None:
        self._model, self._controlled = plant.model, plant.controller.controlled
        self._law = plant.controller
        self._process: PlanningProcess | None = None
        self._body = ''
        self._last = self._arrive = 0.0  # [s] of the last point, and when it is to be reached

    def order(
        self, message: TargetMessage, loop: ControlLoop, values: dict[str, Any]
    ) -> tuple[OneTimeReference, str]:
        """
        Return (the reference for a PointStamped or PoseStamped, a remark or '').

        `values` are those of the parameters. MessageError for what is neither; SoftRobotError
        where there is no posture, or no process.
        """
        body, goal = self._read(message)
        q, _ = loop.place()
        if q is None:
            raise MessageError('stale: there is no state yet')
        moment, before = now() * 1e-9, loop.orders.reference
        going = isinstance(before, OneTimeReference) and isinstance(before.reference, RestTarget)
        restart = not going or body != self._body
        place, distance = self._ask(body, goal, q, restart)
        if restart or moment > self._last + NEW_MOTION_PAUSE:
            self._arrive = moment + values['reference.ramp_time']
        self._body, self._last = body, moment
        duration = max(
            values['target.time'], QUINTIC_PEAK_RATE * distance / values['target.speed']
        )
        duration = max(duration, self._arrive - now() * 1e-9)
        reachable = (
            place.position_error < POSITION_TOLERANCE * self._model.scales.length
            and place.rotation_error < ROTATION_TOLERANCE
        )
        remark = '' if reachable else _out_of_reach(body, goal[0], place)
        return OneTimeReference(RestTarget(place.y[self._controlled], duration)), remark

    def lead(self, message: Any, values: dict[str, Any]) -> OneTimeReference:
        """
        Return the order for a law that leads a tip: by a PointStamped, PoseStamped, TwistStamped.

        MessageError for what is neither, and for another tip.
        """
        controlled_tip = self._law.controlled_tip
        body = message.header.frame_id or controlled_tip
        if body != controlled_tip:
            raise MessageError(f'wrong name: {body!r}; the law leads the tip of {controlled_tip}')
        if hasattr(message, 'twist'):
            twist = message.twist
            linear, angular = _point(twist.linear), _point(twist.angular)
            return self._acceptable(TipTwist(body, linear, angular, values['target.patience']))
        _, (point, rotation) = self._read(message)
        time, speed = values['target.time'], values['target.speed']
        return self._acceptable(TipTarget(body, point, rotation, time, speed))

    def _acceptable(self, order: TipOrder) -> OneTimeReference:
        """Return an order that the law can follow; MessageError."""
        try:
            self._law.require_order(order)
        except ArgumentError as error:
            raise MessageError(f'not now: the law takes {error.expected}') from error
        return OneTimeReference(order)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with self._process:  # closes its pipes
                pass
            self._process = None

    def _read(self, message: TargetMessage) -> tuple[str, Goal]:
        """Return (name of the body, (point (3,), rotation (3, 3) or None)); MessageError."""
        names = self._model.body_names
        body = message.header.frame_id or names[-1]
        if body not in names:
            raise MessageError(f'wrong name: {body!r} is no body; there are {", ".join(names)}')
        if not hasattr(message, 'pose'):
            return body, (_point(message.point), None)
        pose = message.pose
        return body, (
            _point(pose.position),
            read_orientation(pose.orientation, _QUATERNION_TOLERANCE),
        )

    def _ask(self, body: str, goal: Goal, q: Vector, restart: bool) -> tuple[ReachableTip, float]:
        """Return (the Place for a goal, the way there [m]) from the process; SoftRobotError."""
        try:
            if self._process is None:
                self._process = start_planning_process(__name__)
                self._process.say(pickle.dumps(self._model.description))
            self._process.say(pickle.dumps((body, goal, q, restart)))
            answers = self._process.answers
            if not select.select([answers], [], [], ANSWER_TIMEOUT)[0]:
                raise TimeoutError(f'no answer within {ANSWER_TIMEOUT:g} s')
            answer = pickle.load(answers)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            process, late = self._process, isinstance(error, TimeoutError)
            self.close()
            reason = str(error) if late or process is None else process.reason()
            raise SoftRobotError(f'the process for targets has ended ({reason})') from error
        if isinstance(answer, SoftRobotError):
            raise answer
        place: tuple[ReachableTip, float] = answer
        return place


def _out_of_reach(body: str, point: Vector, place: ReachableTip) -> str:
    where = ', '.join(f'{x:.3f}' for x in point)
    distance = f'{place.position_error * 1e3:.3g} mm'
    if place.rotation is not None:
        distance += f' and {np.degrees(place.rotation_error):.3g} deg'
        where = f'the pose at ({where})'
    else:
        where = f'({where})'
    return f'{LIMITED}: {where} m is out of reach of {body}, which goes to {distance} from it'


def _point(point: VectorMessage) -> Vector:
    """Return a Point as (3,) [m]; MessageError."""
    values = np.array([point.x, point.y, point.z])
    if not np.isfinite(values).all():
        raise MessageError('not a number: the point holds nan or inf')
    return values


class _Answers:
    """State of the planning process."""

    def __init__(self, description: RobotDescription) -> None:
        self._model = compile_model(description)
        self._follower: TipFollower | None = None

    def answer(self, body: str, goal: Goal, q: Vector, restart: bool) -> Any:
        """Return (Place, how far the tip is from it [m]), or the error."""
        try:
            if restart or self._follower is None:
                self._follower = None
                self._follower = TipFollower(self._model, body, q)
            return self._follower.follow(*goal), self._follower.distance_from(q)
        except SoftRobotError as error:
            return error


def main() -> None:
    """Answer requests from standard input on standard output, until the former is closed."""
    with binary_stdout() as output, contextlib.suppress(EOFError, KeyboardInterrupt):
        answers = _Answers(pickle.load(sys.stdin.buffer))
        while True:
            output.write(pickle.dumps(answers.answer(*pickle.load(sys.stdin.buffer))))
            output.flush()
