# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What came out of a run: errors, times, and whether the loop held."""

import csv
import json
import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.demo.targets import tips_at

MOST_MISSED = 0.05  # share of ticks without a command in time with which a loop still holds
LEAST_STATES = 0.95  # share of the states that there should have been


class Tips(NamedTuple):
    """Where P tips were and should have been, base frame."""

    points: np.ndarray  # (T, P, 3) [m]
    wanted: np.ndarray  # (T, P, 3) [m]

    @property
    def errors(self):
        """Distance (T,) [m] of the tip that is farthest off."""
        distances = np.linalg.norm(self.points - self.wanted, axis=2)
        return distances.max(axis=1, initial=0.0)


class Figures(NamedTuple):
    """The figures of a run; None where there is nothing to tell."""

    tip_rms_m: float | None  # [m] once the reference is blended in
    tip_peak_m: float | None
    y_rms: float | None  # of the controlled outputs [m or rad], likewise
    y_peak: float | None
    rate_hz: float | None  # of states
    round_trip_us: dict  # p50, p99, max: from a state leaving the simulation to its command there
    missed_ticks: int  # states that had no command when the next one left
    ticks: int
    saturated_share: float | None  # of ticks with a command at a limit
    held: bool
    lapses: tuple  # why not, in words


def tips_of(run, model, targets):
    """Return the Tips of a run that was to follow Targets."""
    points = np.array([tips_at(model, targets.bodies, q) for q in run.q])
    wanted = targets.points(run.t)
    return Tips(points.reshape(wanted.shape), wanted)


def judge(run, *, controlled, limits, ramp, tips=None, expected=0, lapses=()):
    """
    Return the Figures of a Run.

    `controlled` (c,): indices of the actuators that follow the reference; `limits`: (lower (m,),
    upper (m,)); `ramp` [s]: until then errors do not count; `tips`: Tips or None; `expected`:
    number of states there should be; `lapses`: in words, what else went wrong.
    """
    after = run.t >= ramp - 0.5 * run.period
    tip_errors = np.full(len(run.t), np.nan) if tips is None else tips.errors
    y_errors = np.abs(run.y[:, controlled] - run.y_d).max(axis=1, initial=0.0)
    trips = run.round_trip * 1e6
    lapses = (*lapses, *_lapses(run, expected))
    return Figures(
        *_rms_and_peak(tip_errors[after]),
        *_rms_and_peak(y_errors[after]),
        _rate(run),
        {'p50': _quantile(trips, 50), 'p99': _quantile(trips, 99), 'max': _quantile(trips, 100)},
        int(np.isnan(run.round_trip).sum()),
        len(run.t),
        _mean(((run.u <= limits[0] + 1e-9) | (run.u >= limits[1] - 1e-9)).any(axis=1)),
        not lapses,
        lapses,
    )


def nothing(lapses):
    """Return the Figures where nothing was recorded."""
    trips = {'p50': None, 'p99': None, 'max': None}
    return Figures(None, None, None, None, None, trips, 0, 0, None, False, tuple(lapses))


def write_json(path, figures):
    """Write the Figures for machines; what is None becomes null."""
    text = json.dumps(figures._asdict(), indent=2, allow_nan=False)
    path.write_text(text + '\n', encoding='utf-8')


def write_csv(path, run, controlled, tips=None):
    """Write one line for every tick, in SI units and the units of the actuators."""
    names = [run.actuators[i] for i in controlled]
    columns = {
        't': run.t,
        **{f'q/{name}': q for name, q in zip(run.coordinates, run.q.T)},
        **{f'u/{name}': u for name, u in zip(run.actuators, run.u.T)},
        **{f'y/{name}': y for name, y in zip(run.actuators, run.y.T)},
        **{f'y_d/{name}': y for name, y in zip(names, run.y_d.T)},
        **({} if tips is None else _tip_columns(tips)),
        'round_trip': run.round_trip,
    }
    with open(path, 'w', newline='', encoding='utf-8') as file:
        csv.writer(file).writerow(columns)
        np.savetxt(file, np.column_stack(list(columns.values())), fmt='%.9g', delimiter=',')


def _tip_columns(tips):
    """Return the tips by name: tip/x, ..., or tip1/x, ... where there are several."""
    several = tips.points.shape[1] > 1
    columns = {
        f'tip{i + 1 if several else ""}/{axis}': values
        for i, points in enumerate(tips.points.transpose(1, 2, 0))
        for axis, values in zip('xyz', points)
    }
    return {**columns, 'tip_error': tips.errors}


def _lapses(run, expected):
    """Yield, in words, why the loop did not hold."""
    if not len(run.t):
        yield 'no state was answered'
        return
    yield from run.lapses
    if not (np.isfinite(run.q).all() and np.isfinite(run.u).all()):
        yield 'a state or a command is not a number'
    missed = np.isnan(run.round_trip).mean()
    if missed >= MOST_MISSED:
        yield f'{missed:.1%} of the ticks had no command in time'
    if len(run.t) < LEAST_STATES * expected:
        yield f'only {len(run.t)} of {expected} states'


def _rate(run):
    passed = len(run.t) * run.period + run.slipped
    return len(run.t) / passed if passed else None


def _rms_and_peak(errors):
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        return None, None
    return math.sqrt(np.mean(errors**2)), float(errors.max())


def _quantile(values, percent):
    values = values[np.isfinite(values)]
    return float(np.percentile(values, percent)) if len(values) else None


def _mean(values):
    return float(np.mean(values)) if len(values) else None
