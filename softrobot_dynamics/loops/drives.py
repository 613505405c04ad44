# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Drives of a simulated robot: they apply the last command or, left alone, the safe one."""

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.loops.contracts import SimulatedPlant


class SimulatedDrives:
    """
    What the drives of a `plant` apply; stamps are in simulated time [ns].

    `u` (m,) is the last command taken, within the limits of the robot.
    """

    def __init__(self, plant: SimulatedPlant) -> None:
        self._simulator, self._safe = plant.simulator, plant.safe
        self._lower, self._upper = plant.model.told_lower, plant.model.told_upper
        self._servos = plant.model.servos
        self.u = np.zeros(plant.model.m)
        self._taken: int | None = None  # in the period of which state, None: there was none
        self._safe_since: int | None = None
        self._stay = self._servos.resting(self._simulator.q)  # (k,) of drives of joints

    def take(self, u: Vector, stamp: int) -> bool:
        """Take a command u (m,) in the period of a state; return whether it was beyond limits."""
        np.minimum(np.maximum(u, self._lower), self._upper, out=self.u)
        self._taken = stamp
        return bool((self.u != u).any())

    def commanded_since(self, stamp: float) -> bool:
        """Return whether a command was taken after a stamp: it counts, then."""
        if self._taken is None or self._taken <= stamp:
            return False
        self._safe_since = None
        return True

    def begin_safe(self, stamp: int) -> bool:
        """Fix the safe command if it has not begun; return whether it takes over from commands."""
        if self._safe_since is not None:
            return False
        self._safe_since = stamp
        commanded = self._taken is not None
        self._safe.begin(self._simulator.q, self.u if commanded else None)
        own = self._servos.actuators
        resting = self._servos.resting(self._simulator.q)
        self._stay = self._servos.stopped(self.u[own] if commanded else resting)
        return commanded

    def safe_command(self, stamp: int) -> Vector:
        """Return the safe command (m,) at a stamp: nobody drives the robot, its weight is held."""
        since = stamp if self._taken is None or self._safe_since is None else self._safe_since
        return self._stopped(self._stay, (stamp - since) * 1e-9)

    def release(self) -> Vector:
        """Forget all commands; return the safe command (m,) of a robot that nobody drives yet."""
        self._taken = self._safe_since = None
        self._safe.begin(self._simulator.q, None)
        self._stay = self._servos.resting(self._simulator.q)
        return self._stopped(self._stay, 0.0)

    def _stopped(self, stay: Vector, elapsed: float) -> Vector:
        """Return the safe command (m,), where drives of joints keep what they are told (k,)."""
        u = self._safe.holding(self._simulator.q, self._simulator.qd, elapsed)
        u[self._servos.actuators] = stay
        return u
