# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Evaluate tracking: errors, times, whether the loop held and the robot followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.arguments import TIME_TOLERANCE
from softrobot_dynamics.evaluation.overload import (
    MAX_MISSED_FRACTION,
    MIN_STATE_FRACTION,
    overload,
)
from softrobot_dynamics.evaluation.records import Run
from softrobot_dynamics.evaluation.targets import tips_at
from softrobot_dynamics.evaluation.units import in_words
from softrobot_dynamics.references.contract import Targets
from softrobot_dynamics.viewing.shapes import reach_of

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MAX_RMS_RATIO = 0.04  # of the travel of a tip or output; with more it does not follow
_POINT_EXTENT = 1e-3  # of the robot's length; a smaller path is a point, and that length its size
_MIN_MOTION_RATIO = 1e-3  # of the travel during the ramp; from it on something moves
_MIN_TRAVEL_RATIO = 0.1  # of the longest of its kind, with which an actuator's errors are compared


class Task(NamedTuple):
    """Task of a run, c actuators following the reference, and how it is evaluated."""

    names: tuple[str, ...]  # of these actuators (c,)
    controlled: list[int]  # their indices (c,)
    kinds: tuple[Any, ...]  # (c,) what they are: the travels of those of one kind are compared
    units: tuple[Any, ...]  # of their y (c,)
    default_scales: Vector  # (c,) sizes that errors are relative to where nothing moves at all
    limits: tuple[Vector, Vector]  # of u: lower (c,), upper (c,)
    ramps: Vector  # (c,) [s] until references are blended in; until then errors do not count
    tolerance: float = MAX_RMS_RATIO


class Tips(NamedTuple):
    """Measured and desired positions of P tips, base frame."""

    points: Array  # (T, P, 3) [m]
    desired: Array  # (T, P, 3) [m]
    sizes: Vector  # (P,) [m] of the paths: a circle's is its diameter

    @property
    def distances(self) -> Matrix:
        """Distance (T, P) [m] of each tip from where it should be."""
        return np.linalg.norm(self.points - self.desired, axis=2)

    @property
    def errors(self) -> Vector:
        """Distance (T,) [m] of the tip that is farthest off."""
        return self.distances.max(axis=1, initial=0.0)


_QUANTILES = {'p50': 50, 'p99': 99, 'max': 100}


class Figures(NamedTuple):
    """The figures of a run; None where there is nothing to tell."""

    tip_rms_m: float | None  # [m] once the reference is blended in
    tip_peak_m: float | None
    tip_share: float | None  # RMS as a share of the path's size, of the tip with the largest
    y_rms: float | None  # of the controlled outputs, each in its unit; likewise
    y_peak: float | None
    y_share: float | None  # RMS as a share of its travel, of the output with the largest
    rate_hz: float | None  # of states
    # p50, p99, max: from a state leaving the simulation to its command there
    round_trip_us: dict[str, Any]
    missed_ticks: int  # states that had no command when the next one left
    ticks: int
    saturated_share: float | None  # of ticks with a command to a controlled actuator at a limit
    held: bool  # real time was held, and tips and outputs followed; a key of the file of figures
    lapses: tuple[str, ...]  # why not, in words
    command_timing: str | None = None  # from when on commands acted on the simulated robot
    bus_rate_hz: float = 0.0  # at which its drives took them, 0: at any time


def tips_of(run: Run, model: CompiledModel, targets: Targets) -> Tips | None:
    """Return the Tips of a run that was to follow Targets."""
    points = np.array([tips_at(model, targets.bodies, q) for q in run.q])
    wanted, sizes, length = targets.points(run.t), targets.sizes(), reach_of(model)
    sizes = np.where(sizes > _POINT_EXTENT * length, sizes, length)
    return Tips(points.reshape(wanted.shape), wanted, sizes)


def evaluate(
    run: Run,
    task: Task,
    *,
    tips: Tips | None = None,
    expected: float = 0,
    lapses: Sequence[str] = (),
) -> Figures:
    """
    Return the Figures of a Run.

    `task`: what it was to do; `tips`: Tips or None; `expected`: number of states there should be;
    `lapses`: in words, what else went wrong.
    """
    after, first = _after(run, task), _after(run, task).any(axis=1)
    outputs = np.abs(run.y[:, task.controlled] - run.y_d)
    outputs, travels = np.where(after, outputs, np.nan), travels_of(run, task)
    tip_shares = _shares(tips.distances[first], tips.sizes) if tips else np.zeros(0)
    shares = _shares(outputs, travels)
    trips = run.round_trip * 1e6
    lapses = (
        *([] if lapses else overload(run, expected)),
        *lapses,
        *_lapses(run, expected),
        *_strayed_tips(tip_shares, tips, task.tolerance),
        *_strayed_outputs(shares, travels, task),
    )
    tip_rms, tip_peak = _rms_and_peak(tips.errors[first]) if tips else (None, None)
    rms, peak = _rms_and_peak(np.fmax.reduce(outputs, axis=1, initial=np.nan))
    return Figures(
        tip_rms_m=tip_rms,
        tip_peak_m=tip_peak,
        tip_share=_largest(tip_shares),
        y_rms=rms,
        y_peak=peak,
        y_share=_largest(shares),
        rate_hz=_rate(run),
        round_trip_us={name: _quantile(trips, share) for name, share in _QUANTILES.items()},
        missed_ticks=run.missed,
        ticks=run.ticks,
        saturated_share=_mean(_at_a_limit(run.u[:, task.controlled], *task.limits)),
        held=not lapses,
        lapses=lapses,
        command_timing=run.timing,
        bus_rate_hz=run.bus_rate,
    )


def _at_a_limit(u: Matrix, lower: Vector, upper: Vector) -> Any:
    span = upper - lower
    near = TIME_TOLERANCE * np.where(np.isfinite(span), span, 0.0)
    return ((u <= lower + near) | (u >= upper - near)).any(axis=1)


def _after(run: Run, task: Task) -> Any:
    """Tell of each row and output whether its reference was blended in (T, c)."""
    return run.t[:, None] >= task.ramps - 0.5 * run.period


def unmeasured_outputs(run: Run, task: Task) -> tuple[str, ...]:
    """Return the names of the outputs that followed nothing, or not for long enough to tell."""
    seen = (_after(run, task) & np.isfinite(run.y_d)).any(axis=0)
    return tuple(name for name, yes in zip(task.names, seen) if not yes)


def travels_of(run: Run, task: Task) -> Any:
    """
    Return the travel of each output (c,), in its own unit, with which its errors are compared.

    That is how far its reference goes once it is blended in, or where none of its kind moves then
    to speak of, during the ramp; at least a tenth of what the farthest of its kind does, or
    `default_scales` if none moves at all.
    """
    travels = np.array(task.default_scales, dtype=float)
    for kind in set(task.kinds):
        own = [i for i, other in enumerate(task.kinds) if other == kind]
        least = 1e-9 * np.nan_to_num(task.default_scales[own], posinf=0.0).max()
        for rows in (run.y_d, np.where(_after(run, task), run.y_d, np.nan)):
            rows = rows[:, own]
            spans = _spans(rows)
            if spans.max() > least:
                travels[own] = np.maximum(spans, _MIN_TRAVEL_RATIO * spans.max())
                least = _MIN_MOTION_RATIO * spans.max()
    return travels


def _spans(rows: Matrix) -> Any:
    """Return how far each column of (T, k) goes, 0 for what is rounding."""
    low, high = (f.reduce(rows, axis=0, initial=np.nan) for f in (np.fmin, np.fmax))
    spans = np.nan_to_num(high - low)
    return np.where(spans > 1e-9 * np.fmax(np.abs(low), np.abs(high)), spans, 0.0)


def _shares(errors: Matrix, sizes: Vector) -> Any:
    """Return the RMS of errors (T, k) as shares of sizes (k,); nan where there are none."""
    seen = np.isfinite(errors)
    squares = np.sum(np.where(seen, errors, 0.0) ** 2, axis=0)
    counts = seen.sum(axis=0)
    return np.where(counts, np.sqrt(squares / np.maximum(counts, 1)), np.nan) / sizes


def _strayed_tips(shares: Vector, tips: Tips | None, tolerance: float) -> Iterator[str]:
    """Yield, in words, the tip that does not follow, if one does not."""
    if tips is not None and (shares > tolerance).any():
        k = np.nanargmax(shares)
        yield (
            f'the tip does not follow: RMS {shares[k] * tips.sizes[k] * 1e3:.3g} mm,'
            f' {shares[k]:.1%} of its path of {tips.sizes[k] * 1e3:.3g} mm;'
            f' at most {tolerance:.1%} is asked'
        )


def _strayed_outputs(shares: Vector, travels: Vector, task: Task) -> Iterator[str]:
    """Yield, in words, the output that follows least, if one does not."""
    if (shares > task.tolerance).any():
        k = np.nanargmax(shares)
        yield (
            f'the output of {task.names[k]} does not follow: RMS'
            f' {in_words(shares[k] * travels[k], task.units[k])}, {shares[k]:.1%} of'
            f' {in_words(travels[k], task.units[k])};'
            f' at most {task.tolerance:.1%} is asked'
        )


def _largest(shares: Vector) -> float | None:
    return float(np.nanmax(shares)) if np.isfinite(shares).any() else None


def nothing(lapses: Iterable[str]) -> Figures:
    """Return the Figures where nothing was recorded."""
    trips = {'p50': None, 'p99': None, 'max': None}
    absent: Any = [None] * 7
    return Figures._make([*absent, trips, 0, 0, None, False, tuple(lapses), None, 0.0])


def _lapses(run: Run, expected: float) -> Iterator[str]:
    """Yield, in words, why the loop did not hold."""
    if not len(run.t):
        yield 'no state was answered by the law'
        yield from run.lapses
        return
    yield from run.lapses
    if not (np.isfinite(run.q).all() and np.isfinite(run.u).all()):
        yield 'a state or a command is not a number'
    missed = run.missed / max(1, run.ticks)
    if missed >= MAX_MISSED_FRACTION and not run.live:
        yield f'{missed:.1%} of the ticks had no command in time'
    if len(run.t) < MIN_STATE_FRACTION * expected:
        yield f'only {len(run.t)} of {expected} states'


def _rate(run: Run) -> float | None:
    passed = len(run.t) * run.period + run.slipped
    return len(run.t) / passed if passed else None


def _rms_and_peak(errors: Vector) -> tuple[float | None, float | None]:
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        return None, None
    return math.sqrt(np.mean(errors**2)), float(errors.max())


def _quantile(values: Vector, percent: float) -> float | None:
    values = values[np.isfinite(values)]
    return float(np.percentile(values, percent)) if len(values) else None


def _mean(values: NDArray[np.bool_]) -> float | None:
    return float(np.mean(values)) if len(values) else None
