# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Drives of a simulated robot: they apply the last command or, left alone, the safe one."""

from collections.abc import Sequence

import numpy as np
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.contracts import SimulatedPlant

_MIN_STAMP = -(2**63)  # before all others


class SimulatedDrives:
    """
    The commands that the drives of a `plant` apply; stamps are in simulated time [ns].

    `u` (m,) is the last command taken, within the limits of the robot. It may come in parts, whose
    `places` are those in u: then that of each part taken last.
    """

    def __init__(
        self, plant: SimulatedPlant, places: Sequence[Integers | slice] = (slice(None),)
    ) -> None:
        self._simulator, self._safe = plant.simulator, plant.safe
        lower, upper = plant.model.sent_lower, plant.model.sent_upper
        self._parts = [(own, lower[own], upper[own]) for own in places]
        self._servos = plant.model.servos
        self.u = np.zeros(plant.model.m)
        self._taken = [_MIN_STAMP] * len(places)  # in the period of which state, of each part
        self._safe_since: int | None = None
        self._stay = self._servos.resting(self._simulator.q)  # (k,) of drives of joints

    def take(self, u: Vector, stamp: int, part: int = 0) -> bool:
        """
        Take the commands u (k,) of a part in the period of a state.

        Return whether they were beyond limits.
        """
        own, lower, upper = self._parts[part]
        self._taken[part] = stamp
        if isinstance(own, slice):
            within = np.minimum(np.maximum(u, lower), upper, out=self.u[own])
        else:
            within = self.u[own] = np.minimum(np.maximum(u, lower), upper)
        return bool((within != u).any())

    @property
    def commanded(self) -> bool:
        """Tell whether a command was taken, of every part."""
        return min(self._taken) > _MIN_STAMP

    def silent(self, stamp: float) -> list[int]:
        """Return the parts of which none was taken after a stamp."""
        return [part for part, taken in enumerate(self._taken) if taken <= stamp]

    def commanded_since(self, stamp: float) -> bool:
        """Return whether a command was taken after a stamp, of every part: it counts, then."""
        if min(self._taken) <= stamp:
            return False
        self._safe_since = None
        return True

    def begin_safe(self, stamp: int) -> bool:
        """Fix the safe command if it has not begun; return whether it takes over from commands."""
        if self._safe_since is not None:
            return False
        self._safe_since = stamp
        commanded = self.commanded
        self._safe.begin(self._simulator.q, self.u if commanded else None)
        own = self._servos.actuators
        resting = self._servos.resting(self._simulator.q)
        self._stay = self._servos.stopped(self.u[own] if commanded else resting)
        return commanded

    def safe_command(self, stamp: int) -> Vector:
        """Return the safe command (m,) at a stamp: nobody drives the robot, its weight is held."""
        since = self._safe_since if self.commanded else None
        passed = 0 if since is None else stamp - since
        return self._stopped(self._stay, passed * 1e-9)

    def release(self) -> Vector:
        """Forget all commands; return the safe command (m,) of a robot that nobody drives yet."""
        self._taken, self._safe_since = [_MIN_STAMP] * len(self._taken), None
        self._safe.begin(self._simulator.q, None)
        self._stay = self._servos.resting(self._simulator.q)
        return self._stopped(self._stay, 0.0)

    def _stopped(self, stay: Vector, elapsed: float) -> Vector:
        """Return the safe command (m,), where drives of joints keep their setpoints (k,)."""
        u = self._safe.holding(self._simulator.q, self._simulator.qd, elapsed)
        u[self._servos.actuators] = stay
        return u


class Answers:
    """
    The states of a simulated robot that commands, in a number of parts, have answered.

    `left` are the parts that have not answered the state published last.
    """

    def __init__(self, parts: int) -> None:
        self._every, self._answered = frozenset(range(parts)), [0] * parts
        self.left = set(self._every)

    def begin(self) -> None:
        """Wait for answers to a state that is published."""
        self.left.update(self._every)

    def accept(self, part: int, stamp: int, oldest: float) -> None:
        """
        Record an answer to the state with a stamp [ns].

        MessageError if it is older than the oldest that counts, or a later one was answered.
        """
        if stamp < oldest:
            raise MessageError('stale: it answers a state that is too old')
        if stamp <= self._answered[part]:
            raise MessageError('out of order: a later state has been answered already')
        self._answered[part] = stamp
