# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Piecewise polynomials y_d(t), which all references become and compiled code samples."""

from collections.abc import Sequence
from math import factorial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel

INSTANT_DURATION = 1e-3  # [s] of a turn that shall take no time: a tick of the usual loop


Indices: TypeAlias = Sequence[int] | Integers
"""Of actuators, or of outputs."""


class Reference(NamedTuple):
    """
    A piecewise polynomial for m coordinates, held at both ends or repeated.

    On [breaks[k], breaks[k + 1]] coordinate i is sum_p coefficients[p, k, i] (t - breaks[k])^p.
    Each period begins where the one before ends, which is ``drift`` beyond its own beginning: a
    joint that turns on and on comes back to where it was, but 2 pi farther.
    """

    breaks: Vector  # (K + 1,) [s]
    coefficients: Array  # (6, K, m)
    period: float  # [s]; 0: not repeated
    drift: Vector  # (m,) by which y grows in a period


@kernel
def sample(reference, t, out):
    """Fill out (3, m) with y_d, its rate and its acceleration at time t [s]."""
    breaks, coefficients = reference.breaks, reference.coefficients
    for i in range(out.shape[1]):
        out[0, i] = out[1, i] = out[2, i] = 0.0
    periods = 0.0
    if reference.period > 0.0:
        periods = (t - breaks[0]) // reference.period
        t = breaks[0] + (t - breaks[0]) % reference.period
    moving = breaks[0] <= t <= breaks[-1]
    t = min(max(t, breaks[0]), breaks[-1])
    k = min(max(np.searchsorted(breaks, t, side='right') - 1, 0), len(breaks) - 2)
    s = t - breaks[k]
    for i in range(out.shape[1]):
        for p in range(5, -1, -1):
            out[2, i] = out[2, i] * s + 2.0 * out[1, i]
            out[1, i] = out[1, i] * s + out[0, i]
            out[0, i] = out[0, i] * s + coefficients[p, k, i]
        out[0, i] += periods * reference.drift[i]
        if not moving:
            out[1, i] = out[2, i] = 0.0


def constant(y: ArrayLike) -> Reference:
    """Return the reference that stays at y (m,)."""
    y = np.asarray(y, dtype=float)
    coefficients = np.zeros((6, 1, len(y)))
    coefficients[0, 0] = y
    return Reference(np.array([0.0, 1.0]), coefficients, 0.0, np.zeros(len(y)))


def cubic_spline(times: ArrayLike, values: ArrayLike, periodic: bool) -> Any:
    """Return scipy's CubicSpline of values (K, ...) at times (K,) [s], at rest at its ends."""
    from scipy.interpolate import CubicSpline  # late: scipy is slow to import

    return CubicSpline(times, values, axis=0, bc_type='periodic' if periodic else 'clamped')


def spline(
    times: ArrayLike, y: ArrayLike, periodic: bool = False, quintic: bool = False
) -> Reference:
    """
    Return the cubic spline through y (K, m) at times (K,) [s]; at rest at its ends.

    A periodic one repeats; where its last row is not the first it drifts by as much each time. A
    quintic one has four continuous derivatives instead of two, and no acceleration at its ends.
    """
    times, y = np.asarray(times, dtype=float), np.asarray(y, dtype=float)
    drift, period = (y[-1] - y[0], times[-1] - times[0]) if periodic else (0.0 * y[0], 0.0)
    rate = drift / period if periodic else drift
    ahead = (times - times[0])[:, None] * rate
    rest = y - ahead
    if periodic:
        rest[-1] = rest[0]
    coefficients = np.zeros((6, len(times) - 1, y.shape[1]))
    if quintic:
        fitted = _quintic_spline(times, rest, periodic)
        coefficients[:] = [fitted(times[:-1], p) / factorial(p) for p in range(6)]
    else:
        coefficients[:4] = cubic_spline(times, rest, periodic).c[::-1]
    coefficients[0] += ahead[:-1]
    coefficients[1] += rate
    return Reference(times, coefficients, float(period), drift)


def _quintic_spline(times: Vector, values: Matrix, periodic: bool) -> Any:
    """Return scipy's BSpline of values (K, m) at times (K,) [s], at rest at its ends."""
    from scipy.interpolate import make_interp_spline  # late: scipy is slow to import

    rest = [(order, np.zeros(values.shape[1])) for order in (1, 2)]
    ends = 'periodic' if periodic else (rest, rest)
    return make_interp_spline(times, values, k=5, bc_type=ends)


def stands(reference: Reference) -> bool:
    """Tell whether a reference stays where it is."""
    places = reference.coefficients[0]
    return not reference.coefficients[1:].any() and bool((places == places[0]).all())


def alike(one: object, other: object) -> bool:
    """Tell whether two references, or None, are the same."""
    if not (isinstance(one, tuple) and isinstance(other, tuple) and type(one) is type(other)):
        return one is other
    return all(  # some hold others
        alike(mine, theirs) if isinstance(mine, Reference) else np.array_equal(mine, theirs)
        for mine, theirs in zip(one, other)
    )


def values_at(reference: Reference, times: ArrayLike) -> Matrix:
    """Return y_d (T, m) at times (T,) [s]."""
    from scipy.interpolate import PPoly  # late: scipy is slow to import

    breaks, t = reference.breaks, np.asarray(times, dtype=float)
    laps = np.zeros(len(t))
    if reference.period:
        laps, rest = np.divmod(t - breaks[0], reference.period)
        t = breaks[0] + rest
    curve = PPoly(reference.coefficients[::-1], breaks)
    y: Matrix = curve(np.clip(t, breaks[0], breaks[-1])) + laps[:, None] * reference.drift
    return y


def braking(state: Matrix, t: float, duration: float) -> Reference:
    """
    Return the reference that comes to rest from ``state`` (3, m) at t within ``duration``.

    ``state`` holds y_d, its rate and acceleration; the quintic continues all three.
    """
    y, v, a = np.asarray(state, dtype=float)
    T = float(duration) or INSTANT_DURATION
    end = 0.5 * v * T + a * T * T / 12.0  # where it stops, relative to y
    return hermite([t, t + T], [y, y + end], [v, 0.0 * v], [a, 0.0 * a])


def reaching(state: Matrix, y: ArrayLike, duration: float) -> Reference:
    """
    Return the reference that from ``state`` at time zero comes to rest at y (m,).

    ``state`` (3, m) holds y_d, its rate and acceleration; the quintic continues all three.
    """
    m = np.shape(state)[1]
    reference = Reference(np.zeros(2), np.zeros((6, 1, m)), 0.0, np.zeros(m))
    turn(reference, 0.0, state, y, duration)
    return reference


def turn(reference: Reference, t: float, state: Matrix, y: ArrayLike, duration: float) -> None:
    """
    Make a reference of one piece :func:`reaching` y from ``state`` at t [s] on, in place.

    For the thread that samples it: a law that follows it already need not be told, which takes
    time.
    """
    T = duration or INSTANT_DURATION
    at, v, a = state
    coefficients, (vT, aT) = reference.coefficients[:, 0], (v * T, a * (T * T))
    gap = y - at
    coefficients[0], coefficients[1], coefficients[2] = at, v, 0.5 * a
    coefficients[3] = (10.0 * gap - 6.0 * vT - 1.5 * aT) / T**3
    coefficients[4] = (-15.0 * gap + 8.0 * vT + 1.5 * aT) / T**4
    coefficients[5] = (6.0 * gap - 3.0 * vT - 0.5 * aT) / T**5
    reference.breaks[0], reference.breaks[1] = t, t + T


def hermite(
    times: ArrayLike, y: ArrayLike, rates: ArrayLike, accelerations: ArrayLike | None = None
) -> Reference:
    """
    Return the reference with given y, rates and accelerations (K, m each) at times (K,) [s].

    Pieces are quintic, and without accelerations cubic, whose accelerations may jump.
    """
    times, y, v = (np.asarray(each, dtype=float) for each in (times, y, rates))
    T, gap = np.diff(times)[:, None], np.diff(y, axis=0)
    coefficients = np.zeros((6, len(times) - 1, y.shape[1]))
    coefficients[0], coefficients[1] = y[:-1], v[:-1]
    if accelerations is None:
        coefficients[2] = (3.0 * gap / T - 2.0 * v[:-1] - v[1:]) / T
        coefficients[3] = (v[:-1] + v[1:] - 2.0 * gap / T) / T**2
    else:
        a, b = (T * T * x for x in (np.asarray(accelerations)[:-1], np.asarray(accelerations)[1:]))
        v, w = T * v[:-1], T * v[1:]
        coefficients[2] = 0.5 * a / T**2
        coefficients[3] = (20.0 * gap - 8.0 * w - 12.0 * v + b - 3.0 * a) / (2.0 * T**3)
        coefficients[4] = (-30.0 * gap + 14.0 * w + 16.0 * v - 2.0 * b + 3.0 * a) / (2.0 * T**4)
        coefficients[5] = (12.0 * gap - 6.0 * w - 6.0 * v + b - a) / (2.0 * T**5)
    return Reference(times, coefficients, 0.0, np.zeros(y.shape[1]))


def select(reference: Reference, indices: Indices) -> Reference:
    """Return the reference of some of the coordinates, by index."""
    return reference._replace(
        coefficients=reference.coefficients[:, :, indices].copy(), drift=reference.drift[indices]
    )
