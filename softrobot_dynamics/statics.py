# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Equilibria: postures under given actuation, and the actuation that holds given points.

Both are Newton iterations on the static residual ID(q, 0, 0) - A(q) u [P, (55)], in compiled code
that releases the GIL, so that a controller keeps its rate while a new reference is prepared.
"""

from typing import NamedTuple

import numpy as np

from softrobot_dynamics.actuation import allocate_terms, evaluate_terms
from softrobot_dynamics.dynamics import actuation, body_index, checked, forward_kinematics
from softrobot_dynamics.errors import ArgumentError, InfeasibleReferenceError, NotConvergedError
from softrobot_dynamics.frames import point_jacobian, point_position, poses
from softrobot_dynamics.kernels.jit import kernel

DIFFERENCE = 1e-6       # step of the central differences, relative to 1 rad or 1 m
MAX_ITERATIONS = 100
_RESIDUAL = 1e-10       # of the forces at play


class Equilibrium(NamedTuple):
    """A posture at rest: q (n,), the residual force left [N, N m], and the Newton iterations."""

    q: np.ndarray
    residual: float
    iterations: int


class Postures(NamedTuple):
    """Postures that hold a path: q (K, n), u (K, m) in actuator units, y (K, m)."""

    q: np.ndarray
    u: np.ndarray
    y: np.ndarray


@kernel
def residual(joint_terms, body_terms, lengths, robot, terms, signs, q, u, r):
    """Static residual r (n,) = ID(q, 0, 0) - A(q) u; the size of the forces in it is returned."""
    evaluate_terms(joint_terms, body_terms, lengths, robot, q, terms.zero, terms)
    size = 0.0
    for i in range(len(q)):
        total = terms.h[i]
        size = max(size, abs(total))
        for a in range(len(u)):
            part = terms.J[a, i] * signs[a] * u[a]
            total -= part
            size = max(size, abs(part))
        r[i] = total
    return size


@kernel
def tangent(joint_terms, body_terms, lengths, robot, terms, signs, q, u, K, low):
    """Stiffness K (n, n) = d residual / dq at (q, u), by central differences; ``low`` (n,) scratch."""
    n = len(q)
    for j in range(n):
        x = q[j]
        q[j] = x - DIFFERENCE
        residual(joint_terms, body_terms, lengths, robot, terms, signs, q, u, low)
        q[j] = x + DIFFERENCE
        residual(joint_terms, body_terms, lengths, robot, terms, signs, q, u, K[j])
        q[j] = x
        for i in range(n):
            K[j, i] = (K[j, i] - low[i]) / (2.0 * DIFFERENCE)
    for j in range(n):
        for i in range(j):
            K[i, j], K[j, i] = K[j, i], K[i, j]


def equilibrium(model, *, u, q0=None):
    """Return the :class:`Equilibrium` under constant actuation u (m,), found from q0 (n,).

    Newton's method with a line search; ``q0`` is the description's initial posture unless given.
    Raises ArgumentError, or NotConvergedError with the residual where it stopped.
    """
    u = checked('u', u, (model.m,))
    q = checked('q0', model.q0 if q0 is None else q0, (model.n,)).copy()
    run = _Residual(model)
    size, r = run(q, u)
    for iteration in range(MAX_ITERATIONS):
        error = np.abs(r).max()
        if error <= _RESIDUAL * max(size, 1e-3):
            return Equilibrium(q, error, iteration)
        step = np.linalg.lstsq(run.tangent(q, u), -r, rcond=1e-12)[0]
        step *= min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
        for scale in 0.5 ** np.arange(12):
            size, trial = run(q + scale * step, u)
            if np.linalg.norm(trial) < (1.0 - 1e-4 * scale) * np.linalg.norm(r):
                break
        else:
            if error <= 1e3 * _RESIDUAL * max(size, 1e-3):  # rounding
                return Equilibrium(q, error, iteration)
            raise NotConvergedError('equilibrium', iteration, error)
        q, r = q + scale * step, trial
    raise NotConvergedError('equilibrium', MAX_ITERATIONS, np.abs(r).max())


class _Residual:
    """The residual and its tangent of one model, with their workspace."""

    def __init__(self, model):
        self._n, self._signs = model.n, model.signs
        self._robot, self._terms = model.robot(), allocate_terms(model.n, model.m)
        self._residual, self._tangent = model.program(residual), model.program(tangent)

    def __call__(self, q, u):
        r = np.empty(self._n)
        size = self._residual(self._robot, self._terms, self._signs, q, u, r)
        return size, r

    def tangent(self, q, u):
        """Stiffness (n, n)."""
        K = np.empty((self._n, self._n))
        self._tangent(self._robot, self._terms, self._signs, q.copy(), u, K, np.empty(self._n))
        return K


# Holding points: minimise |u|^2 over (q, u) subject to statics, points and limits. Limits enter by
# a logarithmic barrier, so that u stays strictly inside them and depends smoothly on the points;
# the points enter by a stiff penalty, so that a point out of reach yields the nearest one.

BARRIER = 1e-4          # final weight of the logarithms
RESERVE = 0.02          # share of each actuator's range left to feedback at both limits
STIFFNESS = 1e8         # penalty of the points [1/m^2]: an offset of some 1e-8 m
REACHED = 1e-5          # farther than this from its point, a posture does not hold it [m]


@kernel
def newton(joint_terms, body_terms, lengths, robot, terms, signs, bodies, z, lower, upper, unit,
           target, barrier, stiffness, iterations):
    """Improve z = (q, u), in place, by Newton steps on the conditions of optimality.

    ``bodies`` (P,) index the tips that shall be at ``target`` (P, 3) [m]; ``lower``, ``upper``
    bound z (n + m,), infinite where there is no limit; ``unit`` scales u. Returns (error of the
    points [m], relative static residual, last step).
    """
    n, m, P = len(terms.h), len(signs), len(bodies)
    N, c = n + m, n + 3 * P
    KKT, rhs = np.zeros((N + c, N + c)), np.zeros(N + c)
    K, low, r = np.empty((n, n)), np.empty(n), np.empty(n)
    p, J6, origin = np.empty(3), np.empty((6, n)), np.zeros(3)
    error = static = change = np.inf
    for _ in range(iterations):
        q, u = z[:n], z[n:]
        tangent(joint_terms, body_terms, lengths, robot, terms, signs, q, u, K, low)
        size = residual(joint_terms, body_terms, lengths, robot, terms, signs, q, u, r)
        poses(robot)
        KKT[:, :] = 0.0
        error = static = 0.0
        for i in range(n):
            static = max(static, abs(r[i]) / max(size, 1e-9))
            rhs[N + i] = -r[i]
            for j in range(n):
                KKT[N + i, j] = KKT[j, N + i] = K[i, j]
            for a in range(m):
                KKT[N + i, n + a] = KKT[n + a, N + i] = -terms.J[a, i] * signs[a]
        for b in range(P):
            point_position(robot, bodies[b], True, origin, p)
            point_jacobian(robot, bodies[b], True, p, J6)
            for x in range(3):
                k = N + n + 3 * b + x
                rhs[k] = target[b, x] - p[x]
                error = max(error, abs(rhs[k]))
                KKT[k, k] = -1.0 / stiffness
                for j in range(n):
                    KKT[k, j] = KKT[j, k] = J6[3 + x, j]
        for i in range(N):
            gradient, curvature = 0.0, 1e-9
            if i >= n:
                gradient, curvature = z[i] / unit ** 2, 1.0 / unit ** 2
            if lower[i] > -np.inf:
                gradient -= barrier / (z[i] - lower[i])
                curvature += barrier / (z[i] - lower[i]) ** 2
            if upper[i] < np.inf:
                gradient += barrier / (upper[i] - z[i])
                curvature += barrier / (upper[i] - z[i]) ** 2
            rhs[i], KKT[i, i] = -gradient, curvature
        step = np.linalg.solve(KKT, rhs)
        scale, change = 1.0, 0.0
        for i in range(N):
            if i < n:
                scale = min(scale, 0.3 / max(abs(step[i]), 1e-300))
            if step[i] < 0.0 and lower[i] > -np.inf:
                scale = min(scale, 0.95 * (lower[i] - z[i]) / step[i])
            if step[i] > 0.0 and upper[i] < np.inf:
                scale = min(scale, 0.95 * (upper[i] - z[i]) / step[i])
        for i in range(N):
            z[i] += scale * step[i]
            change = max(change, abs(step[i]) / (1.0 if i < n else unit))
        if not change < 1e100:
            return np.inf, np.inf, np.inf
        if change < 1e-9 and scale == 1.0:
            break
    return error, static, change


def hold_points(model, *, bodies, times, points, q0=None):
    """Return the :class:`Postures` in which tips stay at given points with the least |u|^2.

    ``bodies`` (P names) whose tips shall be at ``points`` (K, P, 3) [m], base frame, at ``times``
    (K,) [s]; consecutive points should be close to each other. The search starts from ``q0`` (n,),
    by default the description's initial posture. Every u is strictly inside its limits.

    Raises ArgumentError, InfeasibleReferenceError for the first point that no admissible u can
    hold with the :data:`RESERVE`, NotConvergedError if the search fails for another reason.
    """
    indices = np.array([body_index(model, body) for body in bodies], dtype=np.int64)
    points = checked('points', points, (len(times), len(bodies), 3))
    search = _Search(model, indices, model.q0 if q0 is None else checked('q0', q0, (model.n,)))
    search.approach(points[0], times[0])
    solutions = np.array([search.reach(target, t) for t, target in zip(times, points)])
    q, u = solutions[:, :model.n], solutions[:, model.n:]
    return Postures(q, u, np.array([actuation_coordinates(model, each) for each in q]))


def actuation_coordinates(model, q):
    """Actuation coordinates y (m,) at q (n,)."""
    return actuation(model, q=q, qd=np.zeros(model.n)).coordinates


class _Search:
    """Newton's method along a path of targets, each solved from the one before."""

    def __init__(self, model, bodies, q0):
        self._model, self._bodies = model, bodies
        self._robot, self._terms = model.robot(), allocate_terms(model.n, model.m)
        self._newton = model.program(newton)
        half = 0.5 * (model.upper - model.lower)
        reserve = np.where(np.isfinite(half), 2.0 * RESERVE * half, 0.0)
        self._lower = np.concatenate([model.q_lower, model.lower + reserve])
        self._upper = np.concatenate([model.q_upper, model.upper - reserve])
        self._unit = float(np.median(half[np.isfinite(half)])) if np.isfinite(half).any() else 1.0
        self._z = np.concatenate([q0, np.zeros(model.m)])
        self._z = _inside(self._z, self._lower, self._upper, 0.01)

    def approach(self, target, time):
        """Move from where the tips are to the first target, softly at first."""
        frames = forward_kinematics(self._model, q=self._z[:self._model.n])
        start = frames[self._bodies, :3, 3]
        for share in np.linspace(0.1, 1.0, 10):
            self._solve(start + share * (target - start), 1e-2, 1e4, 20)
        for barrier in (1e-2, 1e-3, BARRIER):
            self._solve(target, barrier, STIFFNESS, MAX_ITERATIONS)

    def reach(self, target, time):
        """Return z that holds a target, or raise for the reason why there is none."""
        error, static, change = self._solve(target, BARRIER, STIFFNESS, MAX_ITERATIONS)
        if error < REACHED and static < 1e-7 and change < 1e-5:
            return self._z.copy()
        error, static, change = self._solve(target, BARRIER, 1e4, 5 * MAX_ITERATIONS)
        if error < REACHED or static > 1e-3:
            raise NotConvergedError(f'posture at t = {time:.4g} s', MAX_ITERATIONS, static)
        raise InfeasibleReferenceError(time, target[0], self._at_limits(), error)

    def _solve(self, target, barrier, stiffness, iterations):
        model = self._model
        return self._newton(self._robot, self._terms, model.signs, self._bodies, self._z,
                            self._lower, self._upper, self._unit, np.ascontiguousarray(target),
                            barrier, stiffness, iterations)

    def _at_limits(self):
        """Names of the actuators within 1 % of their range of the reserve at a limit."""
        model = self._model
        u = self._z[model.n:]
        near = (RESERVE + 0.01) * (model.upper - model.lower)
        return [name for name, x, low, high, gap in zip(
            model.actuator_names, u, model.lower, model.upper, near)
            if x - low < gap or high - x < gap]


def _inside(z, lower, upper, share):
    """Move z strictly inside its bounds, by a share of the range where it has two."""
    gap = np.where(np.isfinite(upper - lower), share * (upper - lower), share)
    return np.clip(z, lower + gap, upper - gap)
