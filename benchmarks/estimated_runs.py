# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""An arm, its sensors, and an estimator that hears of them; for `estimation.py`."""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors

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


def arm():
    """Return the shipped soft arm."""
    return sd.compile_model(sd.load_robot('pcc_arm'))


def tensions(t, phase):
    """Return tensions (9,) [N] that change smoothly, at most 8 N."""
    return 4.0 + 4.0 * np.sin(2.0 * np.pi * (0.5 * t + np.arange(9) / 9.0 + phase))


class Run:
    """A simulated arm and its sensors, and an estimator that hears of them."""

    def __init__(self, own, seed, pushed=True, known=False, plant=None):
        self.own, self.model = own, own.model if plant is None else plant
        rng = self.rng = np.random.default_rng(seed)
        n = self.model.n
        x = np.zeros(2 * n) if known else own._prior[: 2 * n, : 2 * n] @ rng.standard_normal(2 * n)
        self.robot = sd.Simulator(self.model, q=x[:n], qd=x[n:])
        self.instruments = SimulatedSensors(self.model, own.settings.sensors, seed=seed + 1)
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
