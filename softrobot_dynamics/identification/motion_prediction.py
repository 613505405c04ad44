# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Predict the motion of a robot, and its derivatives by the numbers of its file.

The robot is simulated in steps, each under the mean of what its actuators make of the commands
meanwhile. By its numbers and the states it starts in, its state changes along with it as a linear
system does, ``M v' + D v + K x = -dr/dtheta, x' = v``, with the derivatives of the balance of
forces r half way in each interval, which is some steps from one measurement to the next. That is
made by the method of the simulator's own steps
(:mod:`softrobot_dynamics.simulation.integrators.exponential_step`, of one part). Only dr/dtheta,
one evaluation at a given state, is a difference.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from softrobot_dynamics.estimation.priors import tip_motion
from softrobot_dynamics.identification.equation_of_motion import (
    EquationOfMotion,
    EquationOfMotionDerivatives,
)
from softrobot_dynamics.identification.fit_parameters import FitParameters
from softrobot_dynamics.identification.motions import Motion, observed_along
from softrobot_dynamics.identification.time_grid import steps_of, time_grid_of, TimeGrid
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.model import compile_model, CompiledModel
from softrobot_dynamics.model.servos import require_forces
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.simulation.actuator_dynamics import ActuatorDynamics
from softrobot_dynamics.simulation.integrators.contract import Inputs
from softrobot_dynamics.simulation.integrators.exponential import ExponentialIntegrator
from softrobot_dynamics.simulation.integrators.exponential_step import (
    ONE_STEP_WEIGHT,
    TWO_STEPS_WEIGHT,
)
from softrobot_dynamics.simulation.rotation_vector_wrapping import wrapped_joints

MAX_SIMULATION_STEP = 1e-3  # [s]
MAX_SENSITIVITY_STEP = 4e-3  # [s] of the derivatives by the parameters
_RATE_SAMPLES = 5  # measurements of a coordinate that tell its rate
MIN_COORDINATE_SCALE = 1e-6  # of the largest scale of a coordinate


class _SimulatedMotion(NamedTuple):
    """A simulated motion: forces (E, m), (q, qd) at both ends of each step (E, 2, n)."""

    model: CompiledModel
    forces: Matrix
    begin: Array
    end: Array
    q: Matrix  # (T, n) at the instants
    points: Matrix  # (T, C) what is measured
    jacobians: Array  # (T, C, n)


class MotionPredictor:
    """
    Predicts the measurements of a :class:`Motion` for z: numbers x (p,), then free states.

    These are (q, qd) at each start but one at rest, as how far they move the robot [m], rates at
    the pace of its :class:`~softrobot_dynamics.model.scales.Scales`, so that they have one
    unit. ``step`` and ``grid_step`` [s]: the longest of the simulation, and of what follows by z.
    Not for several threads. ArgumentError for a robot whose coordinates are exchanged in motion.
    """

    def __init__(
        self,
        parameters: FitParameters,
        motion: Motion,
        step: float = MAX_SIMULATION_STEP,
        grid_step: float = MAX_SENSITIVITY_STEP,
    ) -> None:
        self.parameters, self.motion = parameters, motion
        for name, value in (('step', step), ('grid_step', grid_step)):
            if not 0.0 < value < math.inf:
                raise ArgumentError(name, value, 'a time > 0 [s]')
        self._steps, self._step = steps_of(motion, step), step
        self._grid = time_grid_of(motion, self._steps, grid_step)
        self._free = motion.starts[int(motion.rest) :]
        self._rest: Vector | None = None
        self._last: tuple[bytes, _SimulatedMotion] | None = None
        self._n = parameters.description.n
        self._p = len(parameters.each)
        model = compile_model(parameters.description)
        require_tree(model, 'fits are')
        if wrapped_joints(model):
            expected = (
                'a robot without spherical and free joints, whose rotation vectors are wrapped'
            )
            raise ArgumentError('robot', parameters.description.name, expected)
        scales = tip_motion(model, model.q0).scales
        moved = np.maximum(scales, MIN_COORDINATE_SCALE * scales.max())
        self._moved = np.array([moved, moved / model.scales.pace])  # by q and qd

    @property
    def bounds(self) -> Matrix:
        """Return the least and the largest z, (2, p + 2 n S)."""
        free = np.full(2 * self._n * len(self._free), np.inf)
        return np.hstack([self.parameters.bounds, [-free, free]])

    def begin(self, x: Vector) -> Vector:
        """
        Return the z that a fit starts with: the states of a motion that goes on from its start.

        That is at rest, or in the robot file's initial state. Coordinates of the robot are where
        they were measured, and as fast as a parabola through what was measured next.
        """
        if not len(self._free):
            return x
        model = compile_model(self.parameters.robot(x))
        forces = self._forces(model)
        begin, _ = self._run(model, forces, None)
        states = begin[self._steps.first[self._free]]
        names = [each.name for each in self.motion.coordinates]
        for j, name in enumerate(model.coordinate_names):
            if name in names:
                self._measured_states(names.index(name), states[:, :, j])
        return np.r_[x, (states * self._moved).ravel()]

    def _measured_states(self, column: int, states: Matrix) -> None:
        """Put values and rates (S, 2) of a coordinate where it was measured soon enough."""
        times, values = self.motion.times, self.motion.values[:, column]
        seen = np.flatnonzero(np.isfinite(values))
        for state, start in zip(states, self._free):
            near = seen[seen >= start][:_RATE_SAMPLES]
            if len(near) == _RATE_SAMPLES:
                since = times[near] - times[start]
                state[:] = np.polynomial.polynomial.polyfit(since, values[near], 2)[:2]

    def points(self, z: Vector) -> Matrix:
        """Return the predicted measurements (T, C), NaN at instants without; raises."""
        return self._seen(z).points

    def derivatives(self, z: Vector) -> Array:
        """Return the derivatives of `points` by z, (T, C, p + 2 n S)."""
        seen, p, n = self._seen(z), self._p, self._n
        F = len(self._grid.lengths)
        own, direct = np.zeros((F + 1, n, p)), np.zeros((*seen.points.shape, p))
        balance, forces = EquationOfMotionDerivatives(seen.model), self._mean_forces(seen.forces)
        at = [*_half_way(seen, self._grid, forces), self._at_rest(seen)]
        before = [balance.residual(*each) for each in at]
        K, D, M = map(np.array, zip(*(self._matrices(balance, each) for each in at)))
        for k in range(p):
            robot, step = self.parameters.beside(z[:p], k)
            model = compile_model(robot)
            u = [*forces, seen.forces[0]]
            if robot.actuators != seen.model.description.actuators:
                others = self._forces(model)
                u = [*self._mean_forces(others), others[0]]
            other = EquationOfMotion(model)
            for i, (q, qd, qdd, _) in enumerate(at):
                own[i, :, k] = (before[i] - other.residual(q, qd, qdd, u[i])) / step
            direct[..., k] = (observed_along(model, self.motion, seen.q)[0] - seen.points) / step
        rest = seen.model.scales.solve(K[-1], own[-1])
        change = self._sensitivities(K[:-1], D[:-1], M[:-1], own[:-1], rest)
        derivatives = np.einsum('tcn,tnz->tcz', seen.jacobians, change)
        derivatives[..., :p] += direct
        return derivatives

    def _mean_forces(self, forces: Matrix) -> Matrix:
        """Return the means in each interval (F, m) of forces in each step (E, m)."""
        h, grid = self._steps.lengths[:, None], self._grid
        means: Matrix = np.add.reduceat(h * forces, grid.first) / grid.lengths[:, None]
        return means

    def _sensitivities(self, K: Array, D: Array, M: Array, own: Array, rest: Matrix) -> Array:
        """Return the derivatives of q at instants that count by z, (T, n, p + 2 n S)."""
        grid, g = self._grid, L_STABLE_GAMMA * self._grid.lengths[:, None, None]
        inverse, T = np.linalg.inv(M + g * (D + g * K)), len(self.motion)
        found = np.zeros((T, self._n, self._p + 2 * self._n * len(self._free)))
        ends = [*self.motion.starts[1:], T]
        for s, (start, end) in enumerate(zip(self.motion.starts, ends)):
            columns, x, v = self._beginning(s, rest)
            push = np.zeros_like(x)
            within = (start <= grid.instants) & (grid.instants < end)
            rows, places = grid.instants[within], grid.places[within]
            for row, place, following in zip(rows, places, [*places[1:], places[-1]]):
                found[row][:, columns] = x
                for i in range(place, following):
                    push[:, : self._p] = own[i]
                    x, v = _move(M[i], K[i], inverse[i], g[i, 0, 0], push, x, v)
        return found

    def _beginning(self, start: int, rest: Matrix) -> tuple[Integers, Matrix, Matrix]:
        """Return which of z count from a start on, and how q and qd (n, .) there depend on it."""
        n, p, free = self._n, self._p, start - int(self.motion.rest)
        if free < 0:
            return np.arange(p), rest, np.zeros_like(rest)
        x, v = np.zeros((2, n, p + 2 * n))
        x[:, p : p + n], v[:, p + n :] = (np.diag(1.0 / moved) for moved in self._moved)
        return np.r_[:p, p + 2 * n * free : p + 2 * n * (free + 1)], x, v

    def _matrices(
        self, balance: EquationOfMotionDerivatives, at: tuple[Vector, ...]
    ) -> tuple[Matrix, ...]:
        q, qd, qdd, u = at
        K, D = balance.by_state(q, qd, qdd, u)
        return K, D, balance.M.copy()

    def _at_rest(self, seen: _SimulatedMotion) -> tuple[Vector, Vector, Vector, Vector]:
        zero = np.zeros(self._n)
        return seen.begin[0, 0].copy(), zero, zero, seen.forces[0]

    def _seen(self, z: Vector) -> _SimulatedMotion:
        key = np.asarray(z, dtype=float).tobytes()
        if self._last is None or self._last[0] != key:
            model = compile_model(self.parameters.robot(z[: self._p]))
            forces = self._forces(model)
            states = z[self._p :].reshape(-1, 2, self._n) / self._moved
            begin, end = self._run(model, forces, states)
            q = np.vstack([begin[:, 0], end[-1:, 0]])[self._steps.first]
            observed = observed_along(model, self.motion, q)
            self._last = key, _SimulatedMotion(model, forces, begin, end, q, *observed)
        return self._last[1]

    def _forces(self, model: CompiledModel) -> Matrix:
        """Return the mean efforts of the actuators under the commands in each step, (E, m)."""
        require_forces(model, 'identification')
        # air of a limited supply fills chambers as they are at q0: forces before motions
        actuation, commands = ActuatorDynamics(model), self.motion.commands[self._steps.row]
        if actuation.direct:
            return commands
        forces = np.zeros_like(commands)
        for k, (u, h) in enumerate(zip(commands, self._steps.lengths)):
            for force, duration in actuation.mean_forces(u, h, h, model.q0):
                forces[k] += duration / h * force
        return forces

    def _run(
        self, model: CompiledModel, forces: Matrix, states: Array | None
    ) -> tuple[Array, Array]:
        """Return (q, qd) at both ends of each step (E, 2, n); ``states``: None, as it goes on."""
        inputs = Inputs(model, commanded=True, touching=True)
        fixed = ExponentialIntegrator(model, self._step, inputs, has_friction=True)
        q, qd = model.q0.copy(), model.qd0.copy()
        if self.motion.rest:
            near = model.q0 if self._rest is None else self._rest
            q[:] = equilibrium(model, command=forces[0], q0=near).q
            qd[:], self._rest = 0.0, q.copy()
        fixed.reset(q)
        anew = {} if states is None else dict(zip(self._steps.first[self._free], states))
        begin = np.empty((len(forces), 2, self._n))
        end = np.empty_like(begin)
        for k, h in enumerate(self._steps.lengths):
            if k in anew:
                q[:], qd[:] = anew[k]
                fixed.reset(q)
            begin[k] = q, qd
            inputs.take(forces[k])
            if fixed.advance(inputs.force, q, qd, h, False):
                raise SimulationDivergedError(self._steps.starts[k], _first_diverged(model, fixed))
            end[k] = q, qd
        return begin, end


def _first_diverged(model: CompiledModel, fixed: ExponentialIntegrator) -> str:
    wrong = np.flatnonzero(~np.isfinite(fixed.terms.h))
    return model.coordinate_names[wrong[0] if len(wrong) else 0]


def _half_way(
    seen: _SimulatedMotion, grid: TimeGrid, forces: Matrix
) -> list[tuple[Vector, Vector, Vector, Vector]]:
    """Return (q, qd, qdd, u) half way in each interval."""
    begin, end = seen.begin[grid.first], seen.end[grid.last]
    middle, qdd = 0.5 * (begin + end), (end - begin)[:, 1] / grid.lengths[:, None]
    return list(zip(middle[:, 0].copy(), middle[:, 1].copy(), qdd.copy(), forces))


def _move(
    M: Matrix, K: Matrix, inverse: Matrix, g: float, push: Matrix, x: Matrix, v: Matrix
) -> tuple[Matrix, Matrix]:
    """Move linear states (n, c) by a step, of one and of two of backward Euler's method."""
    once = _settle(M, K, inverse, g, push, x, v)
    twice = _settle(M, K, inverse, g, push, *once)
    return TWO_STEPS_WEIGHT * twice[0] + ONE_STEP_WEIGHT * once[0], TWO_STEPS_WEIGHT * twice[
        1
    ] + ONE_STEP_WEIGHT * once[1]


def _settle(
    M: Matrix, K: Matrix, inverse: Matrix, g: float, push: Matrix, x: Matrix, v: Matrix
) -> tuple[Matrix, Matrix]:
    then = inverse @ (M @ v + g * (push - K @ x))
    return x + g * then, then
