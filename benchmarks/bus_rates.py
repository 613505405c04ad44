# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Find the `delay` to set for a law whose drives take commands at another rate than states come.

    python benchmarks/bus_rates.py                                   pcc_arm, drives at 100 Hz
    python benchmarks/bus_rates.py trimmed_helicoid --bus 50 --rates 1000 200

The shipped gains and reference, off line. A line for each rate of the law, and of the states that
it hears, and each `delay` that it is told of: nothing, half of what the bus's period is longer
than the law's, half the bus's period, all of it. RMS of what is left of the errors of the
controlled outputs, as a share of the way, the largest of them; for a bus whose instants are a
tenth, half and nine tenths of the shorter period after a state. inf: the robot diverged; nan: the
law had no command any more.
"""

import argparse

from closed_loop_offline import shipped_task
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.errors import SimulationDivergedError

PHASES = 0.1, 0.5, 0.9  # shares of the shorter period
BLEND = 1.0  # [s] more than the ramp, after which errors count
LONGEST = 0.01  # [s] that a law may be told
STEP = 0.01  # [s] at which errors are looked at


def error(task, rate, known, bus, options):
    """Return the largest share of the way that is left of an error, inf if the loop diverged."""
    model, names, gains, ramp, reference = task
    try:
        run = sd.closed_loop(
            model,
            sd.Law(
                'pfbl',
                controlled=names,
                parameters={**gains, 'delay': known, 'observer': options.observer},
                period=1.0 / rate,
            ),
            reference,
            options.duration,
            start=sd.Start(ramp=ramp),
            plant=sd.Plant(delay=options.delay, bus=bus),
        )
    except SimulationDivergedError:
        return np.inf
    chosen = [model.actuator_names.index(name) for name in names]
    rows = np.flatnonzero(run.t > ramp + BLEND)[:: max(1, round(rate * STEP))]
    states = zip(run.q[[0, *rows]], run.qd[[0, *rows]])
    y = [sd.actuation(model, q=q, qd=qd).coordinates[chosen] for q, qd in states]
    first, y = y[0], np.array(y[1:])
    columns = [np.interp(run.t[rows], run.t + known, column) for column in run.y_d.T]
    wanted = np.array(columns).T  # y_d is that of the moment in which the command should act
    way = max(np.ptp(wanted, axis=0).max(), np.abs(wanted[-1] - first).max())
    return np.sqrt(((y - wanted) ** 2).mean(axis=0)).max() / way


def measure(name, options):
    """Print a line for each rate and delay."""
    task, slow = shipped_task(name), 1.0 / options.bus if options.bus else 0.0
    print(f'{name}, drives at {options.bus:g} Hz' if slow else f'{name}, drives at any time')
    for rate in options.rates:
        period = 1.0 / rate
        told = {0.0, 0.5 * max(0.0, slow - period), 0.5 * slow, slow}
        for known in sorted(round(options.delay + each, 6) for each in told):
            if known > LONGEST:
                continue
            buses = [{'rate': options.bus, 'phase': x * min(period, slow)} for x in PHASES]
            found = [error(task, rate, known, bus, options) for bus in buses if slow]
            found = found or [error(task, rate, known, {}, options)]
            shares = ' '.join(f'{share:8.2%}' for share in found)
            print(f'  law {rate:6g} Hz, told {known * 1e3:5.2f} ms: {shares}', flush=True)


def main():
    """Print a table for each robot."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', default=['pcc_arm'])
    parser.add_argument('--bus', type=float, default=100.0, help='[Hz]; 0: none')
    parser.add_argument('--rates', type=float, nargs='+', default=[1000.0, 200.0, 100.0])
    parser.add_argument('--delay', type=float, default=0.0, help='until commands arrive [s]')
    parser.add_argument('--observer', type=float, default=np.nan, help='[s]')
    parser.add_argument('--duration', type=float, default=6.0, help='[s]')
    options = parser.parse_args()
    for name in options.robots:
        measure(name, options)


if __name__ == '__main__':
    main()
