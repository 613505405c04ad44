# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A filter and momentum observers beside each other, on the same measured states."""

from dataclasses import dataclass, replace
import time

from estimated_runs import arm, tensions
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.sensors.contract import allocate, Observation, Sensor

PERIOD = 1e-3  # [s] of measurements and commands
TIMES = (0.005, 0.02, 0.1)  # [s] of observers
SETTLING = 0.4  # [s] before what is found counts
PATIENCE = 0.3  # [s] for a push to be found
FADINGS = (1.0, 10.0)  # [s] within which filters forget a force


@dataclass(frozen=True, kw_only=True)
class Rates(Sensor):
    """Rates of all coordinates (n,), with noise (n,)."""

    noise: tuple[float, ...]

    def read(self, value):
        """Return z."""
        return np.asarray(value, dtype=float)

    def bind(self, bound_robot):
        """Return what it is on a robot."""
        n = bound_robot.model.n
        observed = allocate(n, n)
        observed.H[:, n : 2 * n] = np.eye(n)

        def observe(q, qd, z):
            observed.predicted[:] = qd
            np.subtract(z, qd, out=observed.residual)

        return Observation(observe, observed, np.array(self.noise), np.arange(n + 1))


class Rigid:
    """A rigid arm under a law that makes its joints swing; encoders."""

    def __init__(self):
        self.model = sd.compile_model(sd.load_robot('ur10e'))
        self.body, self.sizes = 'wrist_3_link', (1.0, 3.0, 10.0, 30.0)
        names = list(self.model.coordinate_names)
        self.noise, self.rate_noise = np.full(6, 1e-4), np.full(6, 1e-3)
        encoders = {'name': 'encoders', 'type': 'joint', 'names': names, 'noise': 1e-4}
        self.given = {
            'sensors': [{**encoders, 'rate': 1.0 / PERIOD}],
            'disturbance': {'force': 5.0, 'moment': 0.5},
        }
        self.words = 'ur10e: encoders of 0.1 mrad; rates of 1 mrad/s, or by differences'

    def start(self, phase):
        """Return the first (q, qd)."""
        return self._motion(0.0, phase)[:2]

    def command(self, t, phase, q, qd):
        """Return u (m,) at a time [s] and a state."""
        r, rd, rdd = self._motion(t, phase)
        qdd = rdd + 20.0 * (rd - qd) + 100.0 * (r - q)
        return sd.inverse_dynamics(self.model, q=q, qd=qd, qdd=qdd)

    @staticmethod
    def _motion(t, phase):
        rates = np.array([1.0, 1.3, 1.7, 2.1, 2.5, 3.0])
        angle = rates * t + 2.0 * np.pi * phase + np.arange(6)
        return 0.5 * np.sin(angle), 0.5 * rates * np.cos(angle), -0.5 * rates**2 * np.sin(angle)

    def read(self, z):
        """Return what each sensor says of measured coordinates z (n,)."""
        return {'encoders': z}


class Soft:
    """The shipped soft arm under tensions that change; whatever tells its shape."""

    def __init__(self):
        self.model, self.body, self.sizes = arm(), 'segment3', (0.1, 0.3, 1.0, 3.0)
        names = self.model.coordinate_names
        self._long = np.array([name.endswith('elongation') for name in names])
        self.noise = np.where(self._long, 1e-4, 2e-3)
        self.rate_noise = 10.0 * self.noise
        sensors = [
            {
                'name': name,
                'type': 'joint',
                'names': [each for each, own in zip(names, which) if own],
                'noise': noise,
                'rate': 1.0 / PERIOD,
            }
            for name, which, noise in (('bends', ~self._long, 2e-3), ('lengths', self._long, 1e-4))
        ]
        force = {'force': 0.2, 'moment': 2e-3}
        self.given = {'sensors': sensors, 'disturbance': force}
        self.words = 'pcc_arm: bends of 2 mrad, lengths of 0.1 mm; rates of 10 times that a second'

    def start(self, phase):
        """Return the first (q, qd)."""
        return sd.equilibrium(self.model, u=tensions(0.0, phase)).q, np.zeros(9)

    def command(self, t, phase, q, qd):
        """Return u (m,) at a time [s] and a state."""
        return tensions(t, phase)

    def read(self, z):
        """Return what each sensor says of measured coordinates z (n,)."""
        return {'bends': z[~self._long], 'lengths': z[self._long]}


class Filter:
    """The estimator, on the measured coordinates, and on their rates if these are measured."""

    def __init__(self, rig, fading, rates):
        self.words, self._rig, self._rates = f'filter of {fading:g} s', rig, rates
        self.words += ', rates' * rates
        disturbance = {**rig.given['disturbance'], 'fading': fading}
        given = sd.load_estimator({**rig.given, 'disturbance': disturbance})
        if rates:
            own = Rates(name='rates', noise=tuple(rig.rate_noise), rate=1.0 / PERIOD)
            given = replace(given, sensors=(*given.sensors, own))
        self._own = sd.Estimator(rig.model, given)

    def begin(self, q, qd, u):
        """Begin at a known state, under u."""
        self._own.begin(0.0, q=q, qd=qd, u=u)

    def take(self, t, z, v, rate, u):
        """Take what is measured at t [s], under u until then."""
        self._own.command(t - PERIOD, u)
        for name, value in self._rig.read(z).items():
            self._own.measure(t, name, value)
        if self._rates:
            self._own.measure(t, 'rates', v)

    def push(self, q):
        """Return (force (3,), square) of the tip."""
        found = self._own.push(self._rig.body)
        return found.value, found.square


class Observer:
    """A momentum observer, on measured rates or on differences."""

    def __init__(self, rig, span, differences):
        self._rig, self._differences, self.N = rig, differences, None
        self.words = f'observer of {1e3 * span:g} ms, {"differences" if differences else "rates"}'
        self._own, self.forces = sd.MomentumObserver(rig.model, time=span), []

    def begin(self, q, qd, u):
        """Begin at a known state."""
        self._own.begin(0.0, q, qd)
        self.forces = []

    def take(self, t, z, v, rate, u):
        """Take what is measured at t [s], under u until then."""
        self.forces.append(self._own(t, z, rate if self._differences else v, u))

    def push(self, q):
        """Return (force (3,), square) of the tip."""
        if self.N is None:
            return np.zeros(3), 0.0
        J = sd.jacobian(self._rig.model, q=q, body=self._rig.body, frame='base')[3:]
        weighed = np.linalg.solve(self.N, np.vstack([J, self._own.force]).T)
        b, V = J @ weighed[:, 3], J @ weighed[:, :3]
        value = np.linalg.solve(V, b)
        return value, b @ value


class Run:
    """One robot that moves, and all that look at it."""

    def __init__(self, rig, all_, seed):
        self.rig, self.all, self.rng = rig, all_, np.random.default_rng(seed)
        self.phase, self.t = self.rng.uniform(), 0.0
        q, qd = rig.start(self.phase)
        self.robot = sd.Simulator(rig.model, q=q, qd=qd)
        self.z, u = q.copy(), rig.command(0.0, self.phase, q, qd)
        for each in all_:
            each.begin(q, qd, u)

    def step(self, load=None, spans=None):
        """Go on by a period, and measure."""
        rig, robot, rng = self.rig, self.robot, self.rng
        u = rig.command(self.t, self.phase, robot.q, robot.qd)
        robot.step(u, PERIOD, load)
        self.t += PERIOD
        z = robot.q + rig.noise * rng.standard_normal(len(rig.noise))
        v = robot.qd + rig.rate_noise * rng.standard_normal(len(rig.noise))
        rate, self.z = (z - self.z) / PERIOD, z
        for each in self.all:
            begin = time.perf_counter()
            each.take(self.t, z, v, rate, u)
            if spans is not None:
                spans[each.words].append(time.perf_counter() - begin)


def momentum(options):
    """Print how soon pushes are found with no false alarm, how noisy forces are, what it costs."""
    for rig in (Rigid(), Soft()):
        print(rig.words)
        observers = [Observer(rig, t, d) for d in (True, False) for t in TIMES]
        all_ = [*(Filter(rig, t, False) for t in FADINGS), *observers[: len(TIMES)]]
        all_ += [*(Filter(rig, t, True) for t in FADINGS), *observers[len(TIMES) :]]
        _learn(rig, observers, options)
        spans = {each.words: [] for each in all_}
        least, sizes, looks = _noise(rig, all_, options, spans)
        waits = {size: _waits(rig, all_, least, size, options) for size in rig.sizes}
        for each in all_:
            own = np.array([waits[size][each.words] for size in rig.sizes])
            told = ', '.join(
                f'{size:g} N {1e3 * np.median(w):.0f} ms ({np.isfinite(w).mean():.0%})'
                for size, w in zip(rig.sizes, own)
            )
            print(
                f'  {each.words:30s} force off by {sizes[each.words]:.3g} N RMS; median until'
                f' found (share): {told}; {1e6 * np.median(spans[each.words]):.0f} us',
                flush=True,
            )
        print(f'  no false alarm in {looks} looks of each')


def _learn(rig, observers, options):
    """Let observers know of what covariance their forces are where nothing pushes."""
    run = Run(rig, observers, options.first + 10_000)
    for _ in range(round(30.0 / PERIOD)):
        run.step()
    for each in observers:
        forces = np.array(each.forces)[round(SETTLING / PERIOD) :]
        each.N = forces.T @ forces / len(forces)


def _noise(rig, all_, options, spans):
    """Return the least square that is no false alarm, and the size of forces that are none."""
    run, looks = Run(rig, all_, options.first + 20_000), 0
    most, sums = {each.words: 0.0 for each in all_}, {each.words: 0.0 for each in all_}
    for _ in range(round(60.0 * options.minutes / PERIOD)):
        run.step(spans=spans)
        if run.t < SETTLING:
            continue
        looks += 1
        for each in all_:
            value, square = each.push(run.z)
            most[each.words] = max(most[each.words], square)
            sums[each.words] += value @ value
    return most, {words: np.sqrt(total / looks) for words, total in sums.items()}, looks


def _waits(rig, all_, least, size, options):
    """Return after which times [s] pushes across the tip are found, by each; inf: not at all."""
    waits = {each.words: [] for each in all_}
    for seed in range(options.pushes):
        run = Run(rig, all_, options.first + seed)
        force = run.rng.standard_normal(3)
        force *= size / np.linalg.norm(force)
        load = {rig.body: sd.Wrench(np.concatenate([np.zeros(3), force]), None, 'base')}
        for _ in range(round(SETTLING / PERIOD)):
            run.step()
        open_ = {each.words: each for each in all_}
        while open_ and run.t < SETTLING + PATIENCE:
            run.step(load)
            for words, each in list(open_.items()):
                if each.push(run.z)[1] > least[words]:
                    waits[words].append(run.t - SETTLING)
                    del open_[words]
        for words in open_:
            waits[words].append(np.inf)
    return waits
