# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The estimator: how right it is, how sure it may be of that, and what it costs.

    python benchmarks/estimation.py                    all of it
    python benchmarks/estimation.py intervals --runs 500
    python benchmarks/estimation.py speed tip imu push contact loop settings

A camera sees the pose of the arm's tip with 1 mm and 1 degree of noise, encoders the lengths of
all cables with 0.2 mm, at 100 Hz each. ``intervals``: states and forces of seeded runs within
their 95 % intervals, when the initial state and the forces on every segment are drawn as the
estimator believes; ``speed``: a measurement, from call to return; ``tip``: the tip's velocity as
the arm follows changing tensions; ``push``: how soon 0.5 N at the tip are found, and false alarms
in minutes of noise; ``contact``: how near to where it acts a force of 1 N across the arm is found;
``loop``: a law on estimates and on true states, the robot being off;
``settings``: the same by what the estimator is told of disturbances.
"""

import argparse
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.instruments import Instruments
from softrobot_dynamics.references.piecewise import constant, spline

PERIOD = 1e-3  # [s] of commands
CABLES = [f't{k}' for k in range(1, 10)]
FADING, FORCE, MOMENT = 1.0, 0.05, 5e-4  # [s], [N], [N m] of what acts on every segment
ARM = {
    'sensors': [
        {'name': 'camera', 'type': 'pose', 'body': 'segment3'},
        {'name': 'cables', 'type': 'joint', 'names': CABLES, 'noise': 2e-4},
    ]
}
QUIET = {**ARM, 'disturbance': {'force': FORCE, 'moment': MOMENT, 'fading': FADING}}
CERTAIN = 1e-6  # chance, at one look, of a push that is none: below, it is believed
SUDDEN = {**QUIET, 'disturbance': {'force': FORCE, 'moment': MOMENT, 'fading': 0.2}}


def arm():
    """Return the shipped soft arm."""
    return sd.compile_model(sd.load_robot('pcc_arm'))


def tensions(t, phase):
    """Return tensions (9,) [N] that change smoothly, at most 8 N."""
    return 4.0 + 4.0 * np.sin(2.0 * np.pi * (0.5 * t + np.arange(9) / 9.0 + phase))


class Run:
    """A simulated arm and its sensors, and an estimator that hears of them."""

    def __init__(self, own, seed, pushed=True, known=False):
        self.own, self.model = own, own.model
        rng = self.rng = np.random.default_rng(seed)
        n = self.model.n
        x = np.zeros(2 * n) if known else own._prior[: 2 * n, : 2 * n] @ rng.standard_normal(2 * n)
        self.robot = sd.Simulator(self.model, q=x[:n], qd=x[n:])
        self.instruments = Instruments(self.model, own.settings.sensors, seed=seed + 1)
        self.phase, self.t, self.pushed = rng.uniform(), 0.0, pushed
        self.wrench = self._noise() if pushed else np.zeros((3, 6))
        own.begin(0.0, u=tensions(0.0, self.phase))

    def _noise(self):
        return self.rng.standard_normal((3, 6)) * np.repeat([MOMENT, FORCE], 3)

    def step(self, extra=None):
        """Measure, then go on by a period; return what became of measurements."""
        u = tensions(self.t, self.phase)
        robot = self.robot
        told = [
            self.own.measure(*reading)
            for reading in self.instruments.look(self.t, robot.q, robot.qd, u)
        ]
        self.own.command(self.t, u)
        loads = {
            body: [sd.Wrench(w, None, 'base')]
            for body, w in zip(self.model.body_names, self.wrench)
            if self.pushed
        }
        for body, load in (extra or {}).items():
            loads.setdefault(body, []).append(load)
        robot.step(u, PERIOD, loads or None)
        keep = np.exp(-PERIOD / FADING)
        if self.pushed:
            self.wrench = keep * self.wrench + np.sqrt(1.0 - keep**2) * self._noise()
        self.t += PERIOD
        return told

    def truth(self):
        """Return (q, qd, force) (3 n,) now."""
        q = self.robot.q
        jacobians = [
            sd.jacobian(self.model, q=q, body=b, frame='base') for b in self.model.body_names
        ]
        force = sum(J.T @ w for J, w in zip(jacobians, self.wrench))
        return np.concatenate([q, self.robot.qd, force])


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
    own = sd.Estimator(arm(), QUIET)
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
                model, 'pd_plus', constant(y), 1.0, parameters={'p': 4.0, 'd': 4.0}, ramp=0.3,
                plant=plant, estimator=sd.Estimator(model, {**QUIET, 'sensors': own}),
                sensors={'seed': 1},
            )  # fmt: skip
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


def push(options):
    """Print when a push is found, and how often one is that is none."""
    own, waits = sd.Estimator(arm(), SUDDEN), []
    for seed in range(options.pushes):
        run = Run(own, seed, pushed=False, known=True)
        angle = 2.0 * np.pi * run.rng.uniform()
        force = np.array([0.0, 0.0, 0.0, 0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0])
        load = {'segment3': sd.Wrench(force, None, 'base')}
        for _ in range(1000):
            run.step()
        while run.t < 1.5:
            if run.step(load) and own.push().chance < CERTAIN:
                break
        waits.append(run.t - PERIOD - 1.0)  # when what told it was measured
    print(
        f'0.5 N across the tip, {len(waits)} times: found after {1e3 * np.median(waits):.0f} ms'
        f' (median), {1e3 * np.max(waits):.0f} ms (longest)'
    )
    run, alarms, looks, least = Run(own, 1000, pushed=False, known=True), 0, 0, 1.0
    for _ in range(round(60.0 * options.minutes / PERIOD)):
        if run.step() and run.t > 0.5:
            chance = own.push().chance
            alarms, looks, least = alarms + (chance < CERTAIN), looks + 1, min(least, chance)
    print(
        f'{options.minutes:g} min of noise: {alarms} false alarms in {looks} looks,'
        f' least chance {least:.1e}'
    )


def contact(options):
    """Print how far from where it acts a force is found, and how far it is off."""
    own, model = sd.Estimator(arm(), SUDDEN), arm()
    ways, errors, spans = {'segment2': [], 'segment3': []}, [], []
    for seed in range(options.pushes):
        run = Run(own, seed, pushed=False, known=True)
        body, angle = f'segment{2 + seed % 2}', 2.0 * np.pi * run.rng.uniform()
        point = (0.0, 0.0, float(run.rng.uniform(0.02, 0.2)))
        force = np.array([0.0, 0.0, 0.0, np.cos(angle), np.sin(angle), 0.0])
        for _ in range(500):
            run.step()
        for _ in range(500):
            run.step({body: sd.Wrench(force, point, 'base')})
        begin = time.perf_counter()
        found = own.contact()
        spans.append(time.perf_counter() - begin)
        true = sd.frame(model, q=run.robot.q, body=body, point=point)[:3, 3]
        ways[body].append(np.linalg.norm(found.position - true))
        errors.append(np.linalg.norm(found.push.value - force[3:]))
    for body, own_ways in ways.items():
        print(
            f'1 N across {body}, {len(own_ways)} times: found {1e3 * np.median(own_ways):.0f} mm'
            f' from there (median), {1e3 * np.max(own_ways):.0f} mm at most'
        )
    print(
        f'forces are off by {np.median(errors):.2f} N (median);'
        f' one contact takes {1e3 * np.median(spans):.1f} ms'
    )


CHANGES = {
    'the model itself': {},
    'heavier by a fifth': {'density': '×1.2'},
    'stiffer by a fifth': {'young_modulus': '×1.2'},
}


class Circuit:
    """Tip errors of a law along changing tensions, of robots that the model is not."""

    def __init__(self):
        self.model = model = arm()
        times = np.linspace(0.0, 4.0, 9)
        q = np.array([sd.equilibrium(model, u=tensions(t, 0.0)).q for t in times])
        y = np.array([sd.actuation(model, q=x, qd=0 * x).coordinates for x in q])
        self.reference, self.ideal = spline(times, y), None
        self.ideal = self.tips(model)
        self.plants = {
            words: sd.compile_model(sd.vary(model.description, change)) if change else model
            for words, change in CHANGES.items()
        }

    def tips(self, plant, estimator=None):
        """Return where the tip was (K, 3) [m], after the reference was blended in."""
        run = sd.closed_loop(
            self.model, 'pfbl', self.reference, 4.0, parameters={'p': 100.0, 'd': 20.0}, ramp=1.0,
            plant=plant, estimator=estimator,
        )  # fmt: skip
        late = run.t > 1.5
        return np.array([sd.forward_kinematics(plant, q=x)[-1][:3, 3] for x in run.q[late]])

    def error(self, plant, estimator=None):
        """Return the error [mm], RMS."""
        off = self.tips(plant, estimator) - self.ideal
        return 1e3 * np.sqrt((off**2).sum(axis=1).mean())


def loop(options):
    """Print tip errors in closed loop, on estimates and on true states."""
    circuit = Circuit()
    loose = {'force': 0.2, 'moment': 2e-3, 'fading': 10.0}
    own = sd.Estimator(circuit.model, {**ARM, 'disturbance': loose})
    for words, plant in circuit.plants.items():
        print(
            f'{words:20s} tip error RMS {circuit.error(plant):.2f} mm on true states,'
            f' {circuit.error(plant, own):.2f} mm on estimates'
        )


def settings(options):
    """Print the same by what the estimator is told of the disturbance."""
    circuit = Circuit()
    for force in (0.05, 0.2, 1.0):
        for fading in (1.0, 10.0, 100.0):
            given = {'force': force, 'moment': 0.01 * force, 'fading': fading}
            own = sd.Estimator(circuit.model, {**ARM, 'disturbance': given})
            errors = [f'{w} {circuit.error(p, own):.2f} mm' for w, p in circuit.plants.items()]
            print(f'{force:g} N for {fading:g} s: {", ".join(errors)}')


PARTS = {
    'intervals': intervals,
    'speed': speed,
    'tip': tip,
    'imu': imu,
    'push': push,
    'contact': contact,
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
    parser.add_argument('--minutes', type=float, default=10.0, help='of noise')
    options = parser.parse_args()
    for name in options.parts:
        PARTS[name](options)


if __name__ == '__main__':
    main()
