# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Safe commands for when there is no state, no solution, an emergency, or at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics import calls
from softrobot_dynamics.errors import SoftRobotError, UnknownNameError

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MODES = ('auto', 'zero', 'pretension', 'hold', 'gravity', 'brake')
_BRAKING_TIME = 0.1  # [s] in which drives that see the robot move take its momentum from it


class SafeCommand:
    """
    The safe command of every actuator, from the moment it is needed on.

    The mode of an actuator: `zero`; `pretension`, the same small pull on every tendon; `hold`, the
    last command; `gravity`, the torque that carries the robot's weight in its last known posture,
    led to zero within `ramp` seconds; `brake`, the same torque, which stays. `auto` takes what
    the kind of the actuator says, which may be a number, too; so does an actuator for which the
    mode makes no sense: pretension is for those that say so, gravity for all others. Under
    `brake`, what is no joint holds its last command, and tendons their pretension. Always within
    the limits.

    Drives that take positions or velocities of joints brake by themselves, whatever the mode: see
    :class:`~softrobot_dynamics.controllers.setpoints.DriveSetpoints`. Here is the force that they
    bear.

    Parameters: `defaults` (m), the mode or number that suits each actuator; `lower`, `upper`
    (m,); `gravity`, a function of q (n,) that returns g (n,); `matrix`, one that returns dnu/du
    (n, m); `inertia`, one that returns M (n, n), None where no drive brakes.
    """

    def __init__(
        self,
        defaults: Sequence[Any],
        lower: Vector,
        upper: Vector,
        gravity: Callable[[Vector], Vector],
        matrix: Callable[[Vector], Matrix],
        inertia: Callable[[Vector], Matrix] | None = None,
    ) -> None:
        self._defaults = tuple(defaults)
        self._lower, self._upper = np.array(lower, dtype=float), np.array(upper, dtype=float)
        self._gravity, self._matrix, self._inertia = gravity, matrix, inertia
        self.choose('auto', 0.0, 1.0)
        self.begin(None, None)

    @classmethod
    def of_model(cls, model: CompiledModel) -> 'SafeCommand':
        """Return the safe command of a compiled model, with everything it calls compiled."""
        safe = cls(
            [entry.actuator.safe_command for entry in model.description.actuators],
            model.lower,
            model.upper,
            lambda q: calls.gravity_force(model, q=q),
            lambda q: calls.actuation(model, q=q, qd=np.zeros(model.n)).matrix,
            lambda q: model.per_thread.evaluator(q, np.zeros(model.n)).M,
        )
        safe.begin(model.q0, None)
        safe.holding(model.q0, np.zeros(model.n), 0.0)
        return safe

    def choose(self, mode: str, pretension: float, ramp: float) -> None:
        """Set the mode, the pretension [actuator unit] and the ramp [s], for the next `begin`."""
        if mode not in MODES:
            raise UnknownNameError('safe command', mode, MODES)
        self._chosen = (
            tuple(_suitable(mode, default) for default in self._defaults),
            float(pretension),
            float(ramp),
        )

    def begin(self, q: Vector | None, u: Vector | None) -> None:
        """
        Fix the command that `at` returns from now on.

        `q` (n,) is the last valid state, None if there was none (no gravity torque then); `u` (m,)
        the last command, None if there was none (zero is held then).
        """
        modes, pretension, self._ramp = self._chosen
        self._base = np.array([0.0 if isinstance(mode, str) else mode for mode in modes])
        self._bearing = np.array([mode in ('gravity', 'brake') for mode in modes], dtype=bool)
        self._fading = np.array([mode == 'gravity' for mode in modes], dtype=bool)
        self._base[[mode == 'pretension' for mode in modes]] = pretension
        if u is not None:
            held = np.array([mode == 'hold' for mode in modes], dtype=bool)
            self._base[held] = np.asarray(u)[held]
        if q is not None and self._bearing.any():
            self._base[self._bearing] = self._weight(np.array(q, dtype=float))
        self._base = self._limited(self._base)

    def at(self, elapsed: float) -> Vector:
        """Return u (m,), `elapsed` seconds after `begin`."""
        return self._faded(self._base, elapsed)

    def holding(self, q: Vector, qd: Vector, elapsed: float) -> Vector:
        """
        Return u (m,) of drives that know the present q and qd (n,), `elapsed` [s] after `begin`.

        `gravity` and `brake` are then the weight in the present posture, and a braking force: of
        the momentum along the actuators a share of 1/e is left after 0.1 s. A torque that stays
        what it was in the posture of `begin` does work on a robot that leaves it, without end.
        """
        u = self._base
        if self._bearing.any():
            u = u.copy()
            u[self._bearing] = self._weight(q, qd)
        return self._faded(u, elapsed)

    def _faded(self, u: Vector, elapsed: float) -> Vector:
        share = min(1.0, max(0.0, 1.0 - elapsed / self._ramp)) if self._ramp > 0.0 else 0.0
        return self._limited(np.where(self._fading, share * u, u))

    def _weight(self, q: Vector, qd: Vector | None = None) -> Any:
        """
        Return the efforts of the actuators that carry the weight at q (n,), if they can.

        With rates qd (n,), and to brake: dp/dt = -p / T of the momentum p along them.
        """
        try:
            matrix, force = self._matrix(q)[:, self._bearing], self._gravity(q)
            if qd is not None and self._inertia is not None:
                along = matrix @ np.linalg.lstsq(matrix, qd, rcond=None)[0]
                force = force - self._inertia(q) @ along / _BRAKING_TIME
        except SoftRobotError:  # a posture the model cannot represent has no known weight
            return np.zeros(np.count_nonzero(self._bearing))
        if not np.isfinite(force).all():
            return np.zeros(np.count_nonzero(self._bearing))
        return np.linalg.lstsq(matrix, force, rcond=None)[0]

    def _limited(self, u: Vector) -> Vector:
        return np.minimum(np.maximum(u, self._lower), self._upper)


def _suitable(mode: str, default: str | float) -> Any:
    if mode == 'auto' or default == 'brake':
        return default
    if mode == 'brake':
        return {'gravity': 'brake', 'zero': 'hold'}.get(str(default), default)
    pulls = default in ('pretension', 'hold')  # and what is told positions
    meaningless = {'pretension': default != 'pretension', 'gravity': pulls}
    return default if meaningless.get(mode) else mode
