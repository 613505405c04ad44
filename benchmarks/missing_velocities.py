# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
States without velocities: ways to estimate them from positions, compared in closed loop.

    python benchmarks/missing_velocities.py
    python benchmarks/missing_velocities.py --robot ur10e --rates 500 125 --seconds 6

The shipped controller's parameters and reference, without ROS. For each rate of states and each
fault of the positions: RMS error of the controlled outputs as a share of their way, and in
brackets the RMS change of the commands from tick to tick as a share of their range.

`difference`: backward difference, first-order low pass. `line W`: straight line through the newest
W positions, state at its centre, half a window late, which the law is told as `delay`; `line end`:
the same line's slope as the present velocity, the law being told nothing. `parabola W`: parabola
through W positions, its end. `alpha-beta`: tracker with the given fading.
"""

import argparse
from collections import deque
from unittest import mock

from closed_loop_offline import BLEND, shipped_task
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.errors import SimulationDivergedError
from softrobot_dynamics.offline import closed_loop as offline
from softrobot_dynamics.references.inverse_statics import actuation_coordinates
from softrobot_dynamics.simulation.sensing import Measured

FAULTS = {
    'exact': {},
    'noise 1e-4': {'noise': 1e-4},
    'noise 3e-4': {'noise': 3e-4},
    'steps 3e-4': {'resolution': 3e-4},
}


class Difference:
    """Backward difference with a first-order low pass of a time constant [s]."""

    def __init__(self, time):
        self._time, self._last, self.delay = time, None, lambda T: 0.0

    def __call__(self, q, T):
        if self._last is None:
            self._last, self._qd = q, np.zeros_like(q)
        self._qd = self._qd + T / (T + self._time) * ((q - self._last) / T - self._qd)
        self._last = q
        return q, self._qd


class Fit:
    """Least squares through the newest positions: of a degree, at a share of the window."""

    def __init__(self, size, degree, place, present=False):
        self._size, self._degree, self._place, self._present = size, degree, place, present
        late = (1.0 - place) * (size - 1)
        self._kept, self.delay = deque(maxlen=size), lambda T: 0.0 if present else late * T

    def __call__(self, q, T):
        self._kept.append(q)
        while len(self._kept) < self._size:
            self._kept.append(q)
        x = (np.arange(self._size) - self._place * (self._size - 1)) * T
        base = np.linalg.pinv(np.vander(x, self._degree + 1, increasing=True))
        fit = base @ np.array(self._kept)
        return (q if self._present else fit[0]), fit[1]


class AlphaBeta:
    """Critically damped tracker that fades by a share in each step."""

    def __init__(self, fading):
        self._a, self._b = 1.0 - fading**2, (1.0 - fading) ** 2
        self._q, self.delay = None, lambda T: 0.0

    def __call__(self, q, T):
        if self._q is None:
            self._q, self._qd = q, np.zeros_like(q)
        ahead = self._q + T * self._qd
        self._q = ahead + self._a * (q - ahead)
        self._qd = self._qd + self._b / T * (q - ahead)
        return self._q, self._qd


WAYS = {
    'measured': None,
    'difference 0': lambda: Difference(0.0),
    'difference 2 ms': lambda: Difference(2e-3),
    'line 3': lambda: Fit(3, 1, 0.5),
    'line 5': lambda: Fit(5, 1, 0.5),
    'line 9': lambda: Fit(9, 1, 0.5),
    'line 17': lambda: Fit(17, 1, 0.5),
    'line end 5': lambda: Fit(5, 1, 0.5, present=True),
    'parabola 5': lambda: Fit(5, 2, 1.0),
    'parabola 9': lambda: Fit(9, 2, 1.0),
    'alpha-beta 0.6': lambda: AlphaBeta(0.6),
    'alpha-beta 0.8': lambda: AlphaBeta(0.8),
}


class Estimated:
    """A Sensing of which the law hears positions only."""

    def __init__(self, sensing, way, period):
        self._sensing, self._way, self._period = sensing, way, period
        self.take_command = sensing.take_command

    def sense(self, stamp, q, qd):
        heard = self._sensing.sense(stamp, q, qd)
        return heard and Measured(heard.stamp, *self._way(heard.q.copy(), self._period))


def run(task, way, rate, faults, seconds):
    """Return (RMS error, RMS change of the commands), shares; nan if the loop diverges."""
    model, names, gains, ramp, reference = task
    period, original = 1.0 / rate, offline._heard
    made = way and way()
    known = min(made.delay(period), 0.01) if made else 0.0
    law = sd.Law('pfbl', controlled=names, parameters={**gains, 'delay': known}, period=period)

    def heard(*given):
        return Estimated(original(*given), made, period) if made else original(*given)

    with mock.patch.object(offline, '_heard', heard):
        try:
            run = sd.closed_loop(
                model, law, reference, seconds,
                start=sd.Start(ramp=ramp), feedback=sd.Feedback(sensors=faults),
            )  # fmt: skip
        except SimulationDivergedError:
            return np.nan, np.nan
    late = run.t > ramp + BLEND
    chosen = [model.actuator_names.index(each) for each in names]
    y = np.array([actuation_coordinates(model, q) for q in run.q])[:, chosen]
    y_d = np.transpose([np.interp(run.t, run.t + known, column) for column in run.y_d.T])
    errors = (y - y_d)[late]
    ways = np.maximum(np.ptp(y_d[late], axis=0), np.abs(y_d[-1] - y[0]))
    steps = np.diff(run.u[late], axis=0) / np.ptp(run.u, axis=0).max()
    return np.sqrt((errors**2).mean(axis=0)).max() / ways.max(), np.sqrt((steps**2).mean())


def main():
    """Print a table for each rate."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--robot', default='pcc_arm')
    parser.add_argument('--rates', type=float, nargs='+', default=[1000.0, 500.0, 125.0])
    parser.add_argument('--seconds', type=float, default=6.0)
    options = parser.parse_args()
    task = shipped_task(options.robot)
    for rate in options.rates:
        print(f'\n{options.robot}, {rate:g} Hz')
        print(f'{"":18}' + ''.join(f'{name:>24}' for name in FAULTS))
        for name, way in WAYS.items():
            cells = [run(task, way, rate, f, options.seconds) for f in FAULTS.values()]
            print(f'{name:18}' + ''.join(f'{e:>14.2e} ({s:.1e})' for e, s in cells), flush=True)


if __name__ == '__main__':
    main()
