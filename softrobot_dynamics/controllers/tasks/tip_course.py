# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The course of the tip that a law leads: along a path, to live targets, or by twists.

Live targets and twists begin where the tip is to be at the moment, without a jump of the velocity,
and have always as many pieces: arrays of kernels change in place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.contract import BlendedReference, sample_plan
from softrobot_dynamics.references.piecewise import braking, constant, hermite, Reference, sample
from softrobot_dynamics.references.rotations import between, turned
from softrobot_dynamics.references.tip_commands import (
    LEVER_RATIO,
    MAX_LEAD,
    tip_course,
    TipTarget,
    TipTwist,
    within_lead,
)

NONE, PATH, LIVE = 0.0, 1.0, 2.0


class CourseArrays(NamedTuple):
    """The course of a tip for kernels, and what they fill."""

    mode: Vector  # (2,) NONE, PATH or LIVE: of the position, of the orientation
    path: BlendedReference  # of three coordinates [m]
    live: Reference  # of six: position [m], turn [rad] from ``rotation``; base frame
    start: Vector  # (1,) time zero of the live one [s]
    rotation: Vector  # (9,) rotation, row by row
    sample: Matrix  # (3, 6) filled: value, rate, acceleration
    point: Matrix  # (3, 3) scratch
    spare: Matrix  # (3, 3) scratch


@kernel
def sample_course(course, t):
    """Fill ``course.sample`` at time t [s]; returns 1 for a position, plus 2 for a rotation."""
    mode = course.mode
    if mode[0] == LIVE or mode[1] == LIVE:
        sample(course.live, t - course.start[0], course.sample)
    if mode[0] == PATH:
        sample_plan(course.path, t, course.point, course.spare)
        for i in range(3):
            for j in range(3):
                course.sample[i, j] = course.point[i, j]
    return (1 if mode[0] != NONE else 0) + (2 if mode[1] != NONE else 0)


class TipState(NamedTuple):
    """A tip as it moves, base frame."""

    point: Vector  # (3,) [m]
    rotation: Matrix  # (3, 3)
    twist: Vector  # (6,) angular first [rad/s, m/s]


class TipCourse:
    """Course of one tip; ``arrays`` are those of kernels, new ones where a path is another."""

    def __init__(self, length: float) -> None:
        self._lever = LEVER_RATIO * length
        live = hermite([0.0, 1.0, 2.0, 3.0], np.zeros((4, 6)), np.zeros((4, 6)))
        rest = constant(np.zeros(3))
        self._sample = cached(sample)
        self.arrays = CourseArrays(
            mode=np.zeros(2),
            path=BlendedReference(rest, rest, 0.0, 0.0),
            live=live,
            start=np.zeros(1),
            rotation=np.eye(3).ravel(),
            sample=np.zeros((3, 6)),
            point=np.zeros((3, 3)),
            spare=np.zeros((3, 3)),
        )

    @property
    def leads(self) -> bool:
        """True if there is anything for the tip to follow."""
        return bool(self.arrays.mode.any())

    @property
    def live(self) -> bool:
        """True if messages lead the tip."""
        return bool((self.arrays.mode == LIVE).any())

    def stop(self) -> None:
        """Lead the tip nowhere."""
        self.arrays.mode[:] = NONE

    def follow(self, path: Reference, t: float, ramp: float, now: TipState) -> None:
        """Lead the position along a path (3 coordinates) whose time zero is t, within a ramp."""
        before = braking(self._state(t, now)[0][:, :3], 0.0, ramp)
        arrays = self.arrays
        self.arrays = arrays._replace(path=BlendedReference(before, path, float(t), float(ramp)))
        arrays.mode[:] = PATH, NONE

    def begin(self, t: float, now: TipState) -> None:
        """Begin anew at t [s] where the tip is: a path is turned to from there."""
        path = self.arrays.path
        if self.arrays.mode[0] == PATH:
            self.stop()
            self.follow(path.current, t, path.ramp, now)

    def lead(self, order: TipTarget | TipTwist, t: float, now: TipState) -> None:
        """Turn to a live target or twist at t [s], when the tip is as in ``now``."""
        state, rotation = self._state(t, now)
        if isinstance(order, TipTwist):  # else it would take as long to come back to the tip
            turn = between(now.rotation, rotation)
            state[0, :3] = within_lead(state[0, :3], now.point, self._lever)
            if (angle := math.hypot(*turn)) > MAX_LEAD:
                rotation = turned(now.rotation, MAX_LEAD / angle * turn)
        course = tip_course(order, state, rotation, self._lever)
        arrays = self.arrays
        arrays.live.breaks[:] = course.breaks
        arrays.live.coefficients[:] = course.coefficients
        arrays.start[0], arrays.rotation[:] = t, rotation.ravel()
        turns = isinstance(order, TipTwist) or order.rotation is not None
        arrays.mode[:] = LIVE, LIVE if turns else NONE

    def resting(self, now: TipState) -> CourseArrays:
        """Return the arrays of a course that leads as much of the tip, and stays where it is."""
        other = TipCourse(self._lever)
        other.lead(
            TipTwist('', np.zeros(3), np.zeros(3), 1.0), 0.0, now._replace(twist=np.zeros(6))
        )
        other.arrays.mode[:] = np.where(self.arrays.mode == NONE, NONE, LIVE)
        return other.arrays

    def _state(self, t: float, now: TipState) -> tuple[Matrix, Matrix]:
        """Return (value, rate, acceleration (3, 6), the turn being 0; rotation (3, 3))."""
        arrays, out, rotation = self.arrays, np.zeros((3, 6)), now.rotation
        live, point = np.zeros((3, 6)), np.zeros((3, 3))
        self._sample(arrays.live, float(t - arrays.start[0]), live)
        out[0, :3], out[1] = now.point, np.roll(now.twist, 3)
        if arrays.mode[0] == LIVE:
            out[:, :3] = live[:, :3]
        elif arrays.mode[0] == PATH:
            cached(sample_plan)(arrays.path, float(t), point, np.zeros((3, 3)))
            out[:, :3] = point
        if arrays.mode[1] == LIVE:  # rates of a turn are angular velocities where it is small
            rotation = turned(arrays.rotation.reshape(3, 3), live[0, 3:])
            out[1:, 3:] = live[1:, 3:]
        return out, rotation
