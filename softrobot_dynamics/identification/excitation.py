# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Excitation: commands over time, within the limits, that make parameters identifiable.

A sweep raises one command after the other, slowly, to a share of its limit and takes it back:
postures at rest, nearly. A multisine moves all at once, each by frequencies of its own, so that
what each does can be told apart, with phases that keep the peaks low [Schroeder 1970].
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, NotConvergedError, SimulationDivergedError
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

KINDS = ('sweep', 'multisine')
SAMPLE_RATE = 50.0  # [Hz]; between samples there are cubic splines
_USED_RATE_FRACTION = 0.9  # of a rate limit: splines between samples need the rest
_USED_RANGE_FRACTION = 0.99  # of the way between limits: splines go a little beyond the samples
_FADE_FRACTION = 0.1  # of the duration, in which a multisine fades in and out
_MAX_TRIALS = 6  # each with half the amplitude of the one before


class Excitation(NamedTuple):
    """Commands u (K, m) in actuator units, at times t (K,) [s]; ``shares`` (m,) of the limits."""

    t: Vector
    u: Matrix
    shares: Vector


def excite(
    model: CompiledModel,
    kind: str = 'sweep',
    *,
    duration: float = 60.0,
    share: float = 0.3,
    low: float = 0.1,
    high: float = 2.0,
) -> Excitation:
    """
    Return an :class:`Excitation` of a robot, which it has survived in simulation.

    It begins and ends at no command, or the least there is. ``share`` of the way from there to
    the limits is used; less where a rate limit allows no more, and half of it as long as in
    simulation a joint leaves its limits or a body turns inside out. ``low``, ``high`` [Hz]: the
    frequencies of a multisine. ArgumentError: of actuators without limits, for a ``duration`` [s]
    with too few frequencies, and where the robot does not stay within its limits in any trial, as
    one that falls.
    """
    if kind not in KINDS:
        raise ArgumentError('kind', kind, f'one of {", ".join(KINDS)}')
    if not 0.0 < share <= 1.0:
        raise ArgumentError('share', share, 'a share of the limits, > 0 and at most 1')
    if not 1.0 <= duration <= 3600.0:
        raise ArgumentError('duration', duration, '1 to 3600 s')
    for name, lower, upper in zip(model.actuator_names, model.lower, model.upper):
        if not np.isfinite(upper - lower):
            raise ArgumentError('robot', name, f'limits of {name} in the robot file')
    t = np.arange(round(duration * SAMPLE_RATE) + 1) / SAMPLE_RATE
    shape = _sweep(model, t) if kind == 'sweep' else _multisine(model, t, low, high)
    rest, rates = _rest(model), np.abs(np.gradient(shape, t, axis=0)).max(axis=0)
    shares = np.minimum(share, _USED_RATE_FRACTION * model.rate_limit / np.maximum(rates, 1e-300))
    for _ in range(_MAX_TRIALS):
        u = rest + shares * shape
        trouble = _failure(model, t, u)
        if not trouble:
            return Excitation(t, u, shares)
        shares = 0.5 * shares
    words = f'one that stays within its limits; {trouble}'
    raise ArgumentError('robot', model.description.name, words)


def _rest(model: CompiledModel) -> Vector:
    """Return no command, or the least that there is, (m,)."""
    return np.clip(np.zeros(model.m), model.lower, model.upper)


def _ways(model: CompiledModel) -> tuple[Vector, Vector]:
    """Return how far commands go up and, negative, down from rest, (m,) each."""
    rest = _rest(model)
    return model.upper - rest, model.lower - rest


def _sweep(model: CompiledModel, t: Vector) -> Matrix:
    """Return one command after the other, up and, where it goes there, down again, (K, m)."""
    ups, downs = _ways(model)
    turns = [(k, way) for k in range(model.m) for way in (ups[k], downs[k]) if way]
    shape, each = np.zeros((len(t), model.m)), t[-1] / max(len(turns), 1)
    for turn, (k, way) in enumerate(turns):
        within = np.clip(t / each - turn, 0.0, 1.0)
        shape[:, k] += way * _fade_in_and_out(2.0 * within)
    return shape


def _multisine(model: CompiledModel, t: Vector, low: float, high: float) -> Matrix:
    """Return all commands at once, each of its own frequencies, (K, m)."""
    if not 0.0 < low < high <= 0.2 * SAMPLE_RATE:
        raise ArgumentError(
            'low, high', (low, high), f'0 < low < high <= {0.2 * SAMPLE_RATE:g} Hz'
        )
    first, last = int(np.ceil(low * t[-1])), int(high * t[-1])
    if last - first + 1 < model.m:
        needed = model.m / (high - low)
        raise ArgumentError('duration', t[-1], f'{needed:.3g} s or more: a frequency each')
    ups, downs = _ways(model)
    shape = np.empty((len(t), model.m))
    for k in range(model.m):
        lines = np.arange(first + k, last + 1, model.m) / t[-1]
        phases = -np.pi * np.arange(len(lines)) * np.arange(1, len(lines) + 1) / len(lines)
        waves = np.cos(2.0 * np.pi * lines * t[:, None] + phases).sum(axis=1)
        waves *= _USED_RANGE_FRACTION / np.abs(waves).max()
        shape[:, k] = 0.5 * (ups[k] + downs[k]) + 0.5 * (ups[k] - downs[k]) * waves
    return _fade_in_and_out(t / (_FADE_FRACTION * t[-1]), 1.0 / _FADE_FRACTION)[:, None] * shape


def _fade_in_and_out(x: Vector, end: float = 2.0) -> Vector:
    """Return a quintic from 0 at x = 0 to 1 at 1, 1 until end - 1, and the way back, of x (K,)."""
    x = np.clip(np.minimum(x, end - x), 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)


def _failure(model: CompiledModel, t: Vector, u: Matrix) -> str:
    """Return in words why the robot cannot be moved by commands u (K, m) over time, or ''."""
    try:
        q = equilibrium(model, command=u[0], q0=model.q0).q
    except NotConvergedError:
        q = model.q0
    simulator = ActuatedSimulator(model, q=q)
    simulator.begin_under(u[0])
    for moment, now, then in zip(t, u, u[1:]):
        try:
            simulator.step(0.5 * (now + then), 1.0 / SAMPLE_RATE)
        except SimulationDivergedError as error:
            return f't = {moment:.2f} s: {error}'
        for name, x, lower, upper in zip(
            model.coordinate_names, simulator.q, model.q_lower, model.q_upper
        ):
            if not lower <= x <= upper:
                ends = f'{lower:g} to {upper:g}'
                return f'at t = {moment:.2f} s {name} would be {x:.3g}, limits {ends}'
        fast = np.abs(simulator.qd) > model.qd_limit
        if fast.any():
            name = model.coordinate_names[int(np.argmax(fast))]
            return f'at t = {moment:.2f} s {name} would be too fast'
    return ''
