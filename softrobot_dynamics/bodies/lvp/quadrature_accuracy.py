# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimate the quadrature error of a volume; choose the coarsest rule that is good enough."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.lvp.volumes import Cylinder, Tetrahedra
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.calls import invoke
from softrobot_dynamics.errors import ArgumentError, NotConvergedError
from softrobot_dynamics.kernels import layout

MAX_POINTS = 100_000  # of a rule that a search tries


def quadrature_error(
    body: Body,
    postures: ArrayLike,
    rates: ArrayLike | None = None,
    finest: Cylinder | Tetrahedra | int | None = None,
) -> float:
    """
    Estimate the error of a body's quadrature: relative to a finer rule, the largest on a sample.

    ``body`` has a field ``quadrature`` of ``volumes``; ``postures`` (S, n) and ``rates`` (S, n),
    by default equal to them, are coordinates and velocities that it can take. Compared are, each
    relative to its largest entry in the sample, the inertia, the coupling and the mass matrix, and
    the bias, elastic and damping forces. ``finest`` is the rule to compare with, by default one
    twice as fine in every direction. Raises ArgumentError for a posture the body cannot take.
    """
    postures = np.atleast_2d(np.asarray(postures, dtype=float))
    rates = postures if rates is None else np.atleast_2d(np.asarray(rates, dtype=float))
    finest = _twice(body.quadrature) if finest is None else finest
    wanted = _slabs(_with_rule(body, finest), postures, rates)
    return _difference(body, _slabs(body, postures, rates), wanted)


def converged_quadrature(
    body: Body, tolerance: float, postures: ArrayLike, rates: ArrayLike | None = None
) -> Any:
    """
    Return the body with a coarse rule whose :func:`quadrature_error` is below ``tolerance``.

    Starts from the body's own rule and refines, step by step, the direction that gains most; then
    takes points away again wherever the error stays below the tolerance. Raises NotConvergedError
    if that takes more than 100 000 points.
    """
    postures = np.atleast_2d(np.asarray(postures, dtype=float))
    rates = postures if rates is None else np.atleast_2d(np.asarray(rates, dtype=float))
    error, steps = quadrature_error(body, postures, rates), 0
    while not error < tolerance:
        finer = [_with_rule(body, rule) for rule in body.quadrature.finer()]
        if max(len(each.material_points()[1]) for each in finer) > MAX_POINTS:
            raise NotConvergedError('quadrature', steps, error)
        own = _slabs(body, postures, rates)
        gains = [_difference(body, own, _slabs(each, postures, rates)) for each in finer]
        body, steps = finer[int(np.argmax(gains))], steps + 1
        error = quadrature_error(body, postures, rates)
    return _trimmed(body, tolerance, postures, rates)


def _trimmed(body: Body, tolerance: float, postures: Matrix, rates: Matrix) -> Any:
    """Take away points, most first, while the errors to two finer rules stay below."""
    finest = _twice(body.quadrature)

    def is_good(each: Body) -> bool:
        """Tell whether a body is valid, and its errors to both finer rules are small enough."""
        if any(getattr(each, 'validate', tuple)()):
            return False
        rules = finest, None
        return all(quadrature_error(each, postures, rates, f) < tolerance for f in rules)

    while True:
        coarser = [_with_rule(body, rule) for rule in body.quadrature.coarser()]
        coarser.sort(key=lambda each: len(each.material_points()[1]))
        found = next(filter(is_good, coarser), None)
        if found is None:
            return body
        body = found


def _with_rule(body: Body, rule: object) -> Body:
    """Return the body with another rule of quadrature."""
    fields: dict[str, Any] = {'quadrature': rule}  # which not every body has
    return replace(body, **fields)


def _twice(rule: Cylinder | Tetrahedra) -> Any:
    """Return a rule that is refined twice in each direction."""
    for i in range(len(rule.finer())):
        rule = rule.finer()[i].finer()[i]
    return rule


def _slabs(body: Body, postures: Matrix, rates: Matrix) -> Matrix:
    """Slabs (S, size) of a body's kernel, its joint frame turning."""
    n, kernel = len(body.coordinates()), body.kernel()
    compiled = address(kernel.module, kernel.function, 'P, q, qd, w, W, S')
    W, S = np.zeros((len(postures), layout.slab(n).size)), np.zeros(kernel.scratch)
    P, w = np.ascontiguousarray(kernel.parameters), np.array([0.3, -0.5, 0.7])
    for q, qd, slab in zip(np.ascontiguousarray(postures), np.ascontiguousarray(rates), W):
        invoke(compiled, P, q, qd, w, slab, S)
        if not np.isfinite(slab).all():
            raise ArgumentError('postures', q, body.explain(q) or 'what the body can take')
    return W


def _difference(body: Body, found: Matrix, wanted: Matrix) -> float:
    """Return the largest difference of two sets of slabs, each part relative to its largest."""
    n = len(body.coordinates())
    at = layout.slab(n)
    parts = [at.inertia, at.coupling, at.mass, at.bias, at.elastic, at.damping, at.size]
    return max(
        np.abs(found[:, a:b] - wanted[:, a:b]).max() / (np.abs(wanted[:, a:b]).max() or 1.0)
        for a, b in zip(parts, parts[1:])
    )
