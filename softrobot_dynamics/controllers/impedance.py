# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Impedance control: the tip yields like a spring and a damper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import functools
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.allocation import (
    allocate_commands,
    allocate_workspace,
    AllocationWorkspace,
)
from softrobot_dynamics.controllers.blending import sample_plan
from softrobot_dynamics.controllers.contract import register
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.output_commands import (
    add_output_forces,
    command_force,
    conclude,
    read_outputs,
)
from softrobot_dynamics.controllers.output_gains import output_gains, OutputGains
from softrobot_dynamics.controllers.sampled_data_law import SampledDataLaw, SampledDataSettings
from softrobot_dynamics.controllers.settings import kernel_settings
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.kernels.sums import dot, row_times
from softrobot_dynamics.recursion.frames import point_jacobian, point_position
from softrobot_dynamics.schema.fields import items, number, text, vector
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@dataclass(frozen=True)
class Impedance(SampledDataSettings):
    """Settings: impedance of the tip in the base frame, and how the rest of the robot is kept."""

    body: str = parameter(text(default=''), 'Body whose tip it is; empty: the last one')
    target: tuple[float, ...] = parameter(
        items(number('m'), default=()),
        'Where the spring pulls the tip to, base frame; empty: where it is when the law begins',
    )
    stiffness: tuple[float, ...] = parameter(
        vector('N/m', 3, default=(100.0, 100.0, 100.0)), 'Along the axes of the base frame'
    )
    damping: tuple[float, ...] = parameter(
        vector('N s/m', 3, default=(10.0, 10.0, 10.0)), 'Along the axes of the base frame'
    )
    p: Array = gain(
        'Gain on the error of y in motion that leaves the tip at rest, as in pd_plus',
        default=25.0,
        each='output',
    )
    d: Array = rate_gain('Gain on the error of its rate, likewise', default=10.0, each='output')

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield contradictory fields, as (name of the field, value, expected)."""
        if len(self.target) not in (0, 3):
            yield 'target', self.target, 'three numbers [m], or none'
        for name in ('stiffness', 'damping'):
            if min(getattr(self, name)) < 0.0:
                yield name, getattr(self, name), 'three numbers >= 0'


class TipWorkspace(NamedTuple):
    """The tip, and the arrays that the kernel works in."""

    body: int  # its index
    point: Vector  # (3,) the tip [m]
    jacobian: Vector  # (6 n,) its Jacobian, base frame, row by row
    posture: Vector  # (n,)
    X: Matrix  # (3, n)
    H: Matrix  # (3, 3)
    r: Vector  # (3,)
    bounds: Matrix  # (3, 3) lower and upper bounds, and zeros
    tip_force: Vector  # (3,) [N] that acts on the tip like the force of the posture
    allocation: AllocationWorkspace


ImpedanceKernelSettings = kernel_settings(
    'ImpedanceKernelSettings', Impedance, 'target', 'gains', 'tip'
)


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """One tick, see :class:`SampledDataLaw`."""
    terms, b, n, tip = fixed.terms, fixed.b, len(fixed.rest), settings.tip
    run(fixed.evaluate, q, fixed.rest)
    read_outputs(fixed, qd)
    sample_plan(plan, t, b.desired, b.blend)
    point_position(fixed.robot, tip.body, True, tip.bounds[2], tip.point)
    point_jacobian(fixed.robot, tip.body, True, tip.point, tip.jacobian)
    tip.posture[:] = 0.0
    add_output_forces(fixed, settings.gains, tip.posture)
    if not _leave_tip_alone(fixed, tip):
        return conclude(fixed, settings, q, qd, -1)
    for j in range(n):
        b.force[j] = terms.h[j] + tip.posture[j]
    for i in range(3):
        row = tip.jacobian[(3 + i) * n : (4 + i) * n]
        pull = settings.stiffness[i] * (settings.target[i] - tip.point[i])
        pull -= settings.damping[i] * dot(row, qd)
        for j in range(n):
            b.force[j] += pull * row[j]
    b.r[:] = 0.0
    return conclude(fixed, settings, q, qd, command_force(fixed, settings, b.force))


@kernel
def _leave_tip_alone(fixed, tip):
    """Remove from the posture's force (n,) the part that moves the tip; False if unknown."""
    n, posture, J = len(fixed.rest), tip.posture, tip.jacobian
    for i in range(3):
        X = tip.X[i]
        row_times(J[(3 + i) * n : (4 + i) * n], fixed.response[0], X)
        tip.r[i] = dot(X, posture)
        for j in range(i + 1):
            tip.H[i, j] = tip.H[j, i] = dot(X, J[(3 + j) * n : (4 + j) * n])
    low, high, zero, w = tip.bounds[0], tip.bounds[1], tip.bounds[2], tip.tip_force
    if not allocate_commands(tip.H, tip.r, low, high, zero, w, tip.allocation):
        return False
    for i in range(3):
        for j in range(n):
            posture[j] -= w[i] * J[(3 + i) * n + j]
    return True


@register('impedance')
class TipImpedance(SampledDataLaw[Impedance]):
    """
    The tip of a body gives way to forces like a spring and a damper between it and a target.

    What holds the robot (gravity, springs at rest) is cancelled; the force on the tip is
    K (x_d - x) - D x' in the base frame, by the transpose of its Jacobian. At rest a force F
    moves the tip by F / K. What is left to choose is kept near y_d by gains like those of
    :class:`~softrobot_dynamics.controllers.pd_plus.PdPlus`, as far as that leaves the tip alone:
    Khatib, A unified approach for motion and force control of robot manipulators, IEEE J.
    Robotics and Automation 3 (1987), with the response to a held force in place of M^-1.
    """

    Settings, KernelSettings = Impedance, ImpedanceKernelSettings
    tick, needs_poses, needs_forces = staticmethod(tick), True, True

    @classmethod
    def make_settings(
        cls, model: CompiledModel, controlled: Sequence[str] | None = None, **given: Any
    ) -> Any:
        """Return the law's settings, see :meth:`Controller.make_settings`."""
        settings = super().make_settings(model, controlled, **given)
        if settings.body and settings.body not in model.body_names:
            words = 'one of ' + ', '.join(model.body_names)
            problem = Problem('impedance.body', settings.body, words)
            raise DescriptionError((problem,), 'parameters')
        return settings

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        self._first = forward_kinematics(self.model, q=q)[:, :3, 3]
        super().start(q, qd, t, u)

    @functools.cached_property
    def _first(self) -> Matrix:
        """The tips (bodies, 3) [m] where the law began."""
        return forward_kinematics(self.model, q=self.model.q0)[:, :3, 3]

    @functools.cached_property
    def _gains(self) -> OutputGains:
        return output_gains(self.model, self.controlled)

    def prepared(self, settings: Impedance, q: Vector | None) -> dict[str, Any]:
        """
        Return the target of the tip, by default its place at q (n,), and the kernel's workspace.

        That are the :class:`.GainMatrices` of p and d, and the :class:`TipWorkspace`.
        """
        names, n = self.model.body_names, self.model.n
        body = names.index(settings.body or names[-1])
        home = self._first if q is None else forward_kinematics(self.model, q=q)[:, :3, 3]
        given = settings.target if settings.target and q is None else home[body]
        tip = TipWorkspace(
            body=body,
            point=np.zeros(3),
            jacobian=np.zeros(6 * n),
            posture=np.zeros(n),
            X=np.zeros((3, n)),
            H=np.zeros((3, 3)),
            r=np.zeros(3),
            bounds=np.array([[-np.inf] * 3, [np.inf] * 3, [0.0] * 3]),
            tip_force=np.zeros(3),
            allocation=allocate_workspace(3),
        )
        gains = self._gains.matrices(settings.p, settings.d)
        return {'target': np.array(given, dtype=float), 'gains': gains, 'tip': tip}
