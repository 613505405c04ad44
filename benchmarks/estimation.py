# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The estimator: how right it is, how sure it may be of that, and what it costs.

    python benchmarks/estimation.py                    all of it
    python benchmarks/estimation.py intervals --runs 500
    python benchmarks/estimation.py speed tip imu push contact gauges momentum loop settings
    python benchmarks/estimation.py push --pushes 100 --sizes 0.3 0.5 1 3
    python benchmarks/estimation.py loop --sensors

A camera sees the pose of the arm's tip with 1 mm and 1 degree of noise, encoders the lengths of
all cables with 0.2 mm, at 100 Hz each. ``intervals``: states and forces of seeded runs within
their 95 % intervals, when the initial state and the forces on every segment are drawn as the
estimator believes; ``speed``: a measurement, from call to return; ``tip``: the tip's velocity as
the arm follows changing tensions; ``push``: how soon forces at the tip are found, and false alarms
in minutes of noise; ``contact``: how near to where it acts a force of 1 N across the arm is found;
``gauges``: what noise of load cells does if it is known, and if not;
``momentum``: the filter and momentum observers on the same states;
``loop``: a law on estimates and on true states, the robot being off;
``settings``: the same by what the estimator is told of disturbances.
"""

import argparse
import time

from estimated_gauges import gauges
from estimated_loop import LEARNED, loop, settings
from estimated_momentum import momentum
from estimated_pushes import contact, push
from estimated_runs import ARM, arm, PERIOD, QUIET, Run, tensions
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.references.piecewise import constant


def intervals(options):
    """Print the share of true values within intervals, and normalised squares."""
    own, hits, nees, nis = sd.Estimator(arm(), QUIET), [], [], []
    for seed in range(options.runs):
        run = Run(own, seed)
        for _ in range(round(options.span / PERIOD)):
            told = run.step()
            nis += [(each.square, each.numbers) for each in told if run.t > 0.1]
        found = own.estimate(run.t, covariance=True)
        x = np.concatenate([found.q, found.qd, found.force])
        error = x - run.truth()
        hits.append(np.abs(error) < 1.959964 * np.sqrt(np.diag(found.covariance)))
        nees.append(error @ np.linalg.solve(found.covariance, error))
    n, shares = own.model.n, np.array(hits).mean(axis=0)
    squares, counts = np.array(nis).sum(axis=0)
    print(f'{options.runs} runs of {options.span:g} s, within 95 % intervals:')
    for name, part in (('q', shares[:n]), ('qd', shares[n : 2 * n]), ('force', shares[2 * n :])):
        low, high = part.min(), part.max()
        print(f'  {name:6s} {part.mean():6.1%}, coordinates from {low:.1%} to {high:.1%}')
    print(f'  normalised error squared {np.mean(nees):.2f} for {3 * n} numbers')
    print(
        f'  normalised innovation squared {squares / counts:.4f} for each of {counts:.0f} numbers'
    )


def speed(options):
    """Print what measurements cost."""
    own = sd.Estimator(arm(), {**QUIET, 'model_error': LEARNED if options.learned else {}})
    run, times, heads = Run(own, 0), {}, []
    for _ in range(round(10.0 / PERIOD)):
        u = tensions(run.t, run.phase)
        for reading in run.instruments.look(run.t, run.robot.q, run.robot.qd, u):
            begin = time.perf_counter()
            own.measure(*reading)
            times.setdefault(reading.sensor, []).append(time.perf_counter() - begin)
        own.command(run.t, u)
        begin = time.perf_counter()
        own.estimate(run.t)
        heads.append(time.perf_counter() - begin)
        run.robot.step(u, PERIOD)
        run.t += PERIOD
    both = np.sum([times[name] for name in times], axis=0)
    rows = {**times, 'all sensors of 10 ms': both, 'estimate, each 1 ms': heads}
    for name, values in rows.items():
        p50, p99 = 1e6 * np.percentile(values, [50, 99])
        print(f'{name:22s} p50 {p50:6.0f} us, p99 {p99:6.0f} us, of {len(values)}')
    fit = sd.ShapeFit(own.model, ARM)
    values, u = (
        {r.sensor: r.value for r in run.instruments.look(run.t + 1, run.robot.q, run.robot.qd, u)},
        u,
    )
    spans = []
    q = fit(values, u=u).q
    for _ in range(300):
        begin = time.perf_counter()
        fit(values, u=u, q0=q + 0.02)
        spans.append(time.perf_counter() - begin)
    p50, p99 = 1e3 * np.percentile(spans, [50, 99])
    print(f'{"posture at rest":22s} p50 {p50:6.2f} ms, p99 {p99:6.2f} ms, of {len(spans)}')


def tip(options):
    """Print the error of the tip's velocity."""
    own, errors, speeds = sd.Estimator(arm(), QUIET), [], []
    for seed in range(5):
        run = Run(own, seed, pushed=False)
        for k in range(round(4.0 / PERIOD)):
            run.step()
            if run.t > 0.5 and k % 10 == 0:
                found = own.estimate(run.t)
                J = sd.jacobian(own.model, q=run.robot.q, frame='base')[3:]
                true = J @ run.robot.qd
                there = sd.jacobian(own.model, q=found.q, frame='base')[3:] @ found.qd
                errors.append(there - true)
                speeds.append(np.linalg.norm(true))
    sizes = np.linalg.norm(errors, axis=1)
    print(
        f'tip velocity: error {1e2 * np.sqrt((sizes**2).mean()):.2f} cm/s RMS,'
        f' 99 % below {1e2 * np.percentile(sizes, 99):.2f}, at {1e2 * np.mean(speeds):.1f} cm/s'
    )


def imu(options):
    """Print errors of the tip with inertial units on all segments and without, in closed loop."""
    model = arm()
    plant = sd.compile_model(sd.vary(model.description, {'density': '×1.1'}))
    cables, camera = ARM['sensors'][1], {**ARM['sensors'][0], 'rate': 30.0, 'delay': 0.02}
    units = [
        {'name': f'imu{k}', 'type': 'imu', 'body': f'segment{k}', 'rate': 200.0} for k in (1, 2, 3)
    ]
    q = sd.equilibrium(model, u=np.tile([3.0, 1.0, 1.0], 3)).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    for words, sensors in (('cables', [cables]), ('camera', [camera])):
        for more, own in ((' alone', sensors), (' and units', sensors + units)):
            run = sd.closed_loop(
                model,
                sd.Law('pd_plus', parameters={'p': 4.0, 'd': 4.0}),
                constant(y),
                1.0,
                start=sd.Start(ramp=0.3),
                plant=plant,
                feedback=sd.Feedback(
                    estimator=sd.Estimator(model, {**QUIET, 'sensors': own}), sensors={'seed': 1}
                ),
            )
            places, speeds = [], []
            for k in range(100, len(run.t), 10):
                J = sd.jacobian(plant, q=run.q[k], frame='base')[3:]
                there, true = (sd.forward_kinematics(plant, q=x)[-1][:3, 3] for x in
                               (run.q_heard[k], run.q[k]))  # fmt: skip
                places.append(there - true)
                speeds.append(J @ (run.qd_heard[k] - run.qd[k]))
            place, speed = (np.sqrt((np.square(e).sum(axis=1)).mean()) for e in (places, speeds))
            print(f'{words + more:18s} tip {1e3 * place:.2f} mm, {1e2 * speed:.2f} cm/s RMS')
    own = sd.Estimator(model, {**QUIET, 'sensors': units})
    own.begin(0.0)
    times = []
    for k in range(1, 2001):
        begin = time.perf_counter()
        own.measure(5e-3 * k, 'imu1', [[0.0, 0.0, 0.0], [0.0, 0.0, -9.81]])
        times.append(time.perf_counter() - begin)
    p50, p99 = 1e6 * np.percentile(times, [50, 99])
    print(f'{"one unit, each 5 ms":22s} p50 {p50:6.0f} us, p99 {p99:6.0f} us, of {len(times)}')


PARTS = {
    'intervals': intervals,
    'speed': speed,
    'tip': tip,
    'imu': imu,
    'push': push,
    'contact': contact,
    'gauges': gauges,
    'momentum': momentum,
    'loop': loop,
    'settings': settings,
}


def main():
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('parts', nargs='*', default=list(PARTS), metavar='part')
    parser.add_argument('--runs', type=int, default=500)
    parser.add_argument('--span', type=float, default=0.5, help='of a run [s]')
    parser.add_argument('--pushes', type=int, default=20)
    parser.add_argument('--sensors', action='store_true', help='in the loop, finer ones, too')
    parser.add_argument('--learned', action='store_true', help='in speed, errors of the model')
    parser.add_argument('--seeds', type=int, default=1, help='of the noise, in the loop')
    parser.add_argument('--sizes', type=float, nargs='+', default=[0.5], help='of pushes [N]')
    parser.add_argument('--first', type=int, default=0, help='seed of pushes and of noise')
    parser.add_argument('--minutes', type=float, default=10.0, help='of noise')
    options = parser.parse_args()
    for name in options.parts:
        PARTS[name](options)


if __name__ == '__main__':
    main()
