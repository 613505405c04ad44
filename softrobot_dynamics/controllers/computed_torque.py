# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Computed torque: error dynamics that the gains give to every coordinate of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, matrix_at, run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.acceleration_law import (
    accelerate_outputs,
    AccelerationLaw,
    AccelerationSettings,
)
from softrobot_dynamics.controllers.blending import sample_plan
from softrobot_dynamics.controllers.contract import register
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.output_commands import read_outputs
from softrobot_dynamics.controllers.settings import controlled_names, kernel_settings
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.kernels.linalg import copy, solve_general
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.terms import Terms

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MAX_NEWTON_ITERATIONS = 20
OUTPUT_TOLERANCE = 1e-10  # distance from y_d, relative to the effect of a unit of a coordinate


@dataclass(frozen=True)
class ComputedTorqueSettings(AccelerationSettings):
    """Settings: gains of the coordinates."""

    p: Array = gain('Gain on the error of q', each='coordinate')
    d: Array = rate_gain('Gain on the error of its rate', each='coordinate')


class Posture(NamedTuple):
    """The desired posture, and the arrays to compute it."""

    evaluate: Entry  # of the terms there
    terms: Terms
    q: Vector  # (n,) nan: not known yet
    qd: Vector  # (n,)
    qdd: Vector  # (n,)
    rest: Vector  # (n,) zeros
    J: Matrix  # (n, n) scratch
    units: Vector  # (n,) of coordinates, see softrobot_dynamics.model.scales


ComputedTorqueKernelSettings = kernel_settings(
    'ComputedTorqueKernelSettings', ComputedTorqueSettings, 'posture'
)


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """One tick, see :class:`.SampledDataLaw`."""
    terms, b, posture = fixed.terms, fixed.b, settings.posture
    sample_plan(plan, t, b.desired, b.blend)
    if not _solve_posture(fixed, posture, q):
        return -1
    run(fixed.evaluate, q, qd)
    read_outputs(fixed, qd)
    for j in range(len(q)):
        b.force[j] = (
            posture.qdd[j]
            + settings.d[j] * (posture.qd[j] - qd[j])
            + settings.p[j] * (posture.q[j] - q[j])
        )
    for i in range(len(b.acceleration)):
        k = fixed.controlled[i]
        b.acceleration[i] = dot(terms.J[k], b.force) + terms.bias[k]
    return accelerate_outputs(fixed, settings, q, qd, t)


@kernel
def _solve_posture(fixed, posture, q):
    """Find the posture of y_d from the last one, or from q (n,), and its rates; False if none."""
    b, terms, controlled = fixed.b, posture.terms, fixed.controlled
    if not posture.q[0] == posture.q[0]:
        copy(q, posture.q)
    for _ in range(MAX_NEWTON_ITERATIONS):
        run(posture.evaluate, posture.q, posture.rest)
        for i in range(len(controlled)):
            k = controlled[i]
            b.r[i] = b.desired[0, i] - (terms.y[k] - fixed.y0[k])
        if not _scale(fixed, posture):
            break
        far = 0.0
        for i in range(len(b.r)):
            far = max(far, abs(b.r[i]))
        if far <= OUTPUT_TOLERANCE:
            return _solve_rates(fixed, posture)
        if solve_general(posture.J, matrix_at(b.r, len(b.r), 1)) != 0:
            break
        for j in range(len(q)):
            posture.q[j] += posture.units[j] * b.r[j]
    posture.q[0] = np.nan
    return False


@kernel
def _solve_rates(fixed, posture):
    """Fill qd and qdd of the posture from those of y_d; False if it is singular."""
    b, terms, controlled = fixed.b, posture.terms, fixed.controlled
    copy(b.desired[1], b.r)
    if not (_scale(fixed, posture) and solve_general(posture.J, matrix_at(b.r, len(b.r), 1)) == 0):
        return False
    _unscale(posture, b.r, posture.qd)
    run(posture.evaluate, posture.q, posture.qd)
    for i in range(len(controlled)):
        b.r[i] = b.desired[2, i] - terms.bias[controlled[i]]
    if not (_scale(fixed, posture) and solve_general(posture.J, matrix_at(b.r, len(b.r), 1)) == 0):
        return False
    _unscale(posture, b.r, posture.qdd)
    return True


@kernel
def _unscale(posture, x, out):
    """Fill out (n,) with a change x (n,) of coordinates in their units."""
    for j in range(len(out)):
        out[j] = posture.units[j] * x[j]


@kernel
def _scale(fixed, posture):
    """
    Copy J there by changes in units, rows scaled to one, and scale b.r (n,) alike.

    False if a row is zero.
    """
    b, terms = fixed.b, posture.terms
    for i in range(len(b.r)):
        row, size = terms.J[fixed.controlled[i]], 0.0
        for j in range(len(row)):
            size = max(size, abs(row[j]) * posture.units[j])
        if not 0.0 < size < np.inf:
            return False
        b.r[i] /= size
        for j in range(len(row)):
            posture.J[i, j] = row[j] * posture.units[j] / size
    return True


@register('computed_torque')
class ComputedTorque(AccelerationLaw[ComputedTorqueSettings]):
    """
    q'' = q_d'' + d (q_d' - q') + p (q_d - q) for all coordinates of a fully actuated robot.

    q_d is the posture whose outputs are y_d, followed from tick to tick by Newton's method; what
    :mod:`.pfbl` does in the outputs happens here in the configuration, with gains for each
    coordinate. As many outputs have to be controlled as there are coordinates, each independent
    of the others. Commands are held for a period, which is taken into account, and what the model
    has wrong is made up for, as in ``pfbl``. Where y_d has no posture there is no command.
    """

    Settings, KernelSettings = ComputedTorqueSettings, ComputedTorqueKernelSettings
    tick = staticmethod(tick)

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        require_tree(model, 'control laws are')
        names = controlled_names(model, options.get('controlled'))
        if len(names) != model.n:
            expected = f'as many actuators as there are coordinates, {model.n}'
            raise ArgumentError('controlled', names, expected)
        self._postures = tuple(_allocate(model) for _ in range(2))  # of the loop, and aside of it
        super().__init__(model, **options)

    def prepared(self, settings: ComputedTorqueSettings, q: Vector | None) -> dict[str, Any]:
        """Return the entries of the base class, and the :class:`Posture` to work in."""
        posture = self._postures[q is not None]
        if q is not None:
            posture.q[:] = q
        return {**super().prepared(settings, q), 'posture': posture}

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        self._postures[0].q[:] = np.nan
        super().start(q, qd, t, u)


def _allocate(model: CompiledModel) -> Posture:
    """Return a :class:`Posture` that is not known yet."""
    evaluate, n = Evaluator(model, with_mass=False), model.n
    return Posture(
        evaluate=evaluate.entry,
        terms=evaluate.terms,
        q=np.full(n, np.nan),
        qd=np.zeros(n),
        qdd=np.zeros(n),
        rest=np.zeros(n),
        J=np.zeros((n, n)),
        units=model.scales.units,
    )
