# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The filter against textbook matrices: a Kalman filter in plain numpy on a linear robot."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import chi2
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.estimation.innovation_gate import ACCEPTED, OUTLIER, UNMEASURED
from softrobot_dynamics.estimation.priors import force_factor, initial_factor, tip_motion
from softrobot_dynamics.estimation.square_root_filter import allocate_update, update

pytestmark = pytest.mark.quick

STEP, FADING = 1e-3, 0.7


def carriages():
    """Return a linear robot: two masses with springs and dampers on a rail, the first pushed."""
    slide = {'type': 'prismatic', 'axis': [1.0, 0.0, 0.0], 'stiffness': 80.0, 'damping': 0.6}
    inertia = {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}
    body = {'type': 'rigid', 'mass': 0.8, 'com': [0, 0, 0], 'inertia': inertia}
    names = 'first', 'second'
    bodies = [{'name': x, 'joint': {'name': f'{x}_slide', **slide}, 'body': body} for x in names]
    motor = {'name': 'push', 'type': 'joint', 'joint': 'first_slide'}
    given = {'name': 'carriages', 'gravity': [0, 0, -9.81], 'bodies': bodies, 'actuators': [motor]}
    return sd.compile_model(sd.load_robot(given))


def estimator(model, sensors, **options):
    """Return an estimator with these sensors, by mappings."""
    given = {'disturbance': {'force': 2.0, 'fading': FADING}, 'step': STEP, 'substep': STEP}
    return sd.Estimator(model, {'sensors': sensors, **given, **options})


class Textbook:
    """A Kalman filter with covariances, in plain numpy; matrices of the linear robot by hand."""

    def __init__(self, P, force):
        M, m, k, d = np.array([[1.6, 0.8], [0.8, 0.8]]), 2, 80.0, 0.6
        A, B = np.zeros((6, 6)), np.zeros((6, 1))
        A[:2, 2:4] = np.eye(m)
        A[2:4] = np.linalg.solve(M, np.hstack([-k * np.eye(m), -d * np.eye(m), np.eye(m)]))
        B[2:4, 0] = np.linalg.solve(M, [1.0, 0.0])
        whole = expm(STEP * np.block([[A, B], [np.zeros((1, 7))]]))
        keep = np.exp(-STEP / FADING)
        self.F, self.G = np.diag([1, 1, 1, 1, keep, keep]) @ whole[:6, :6], whole[:6, 6]
        self.Q = np.zeros((6, 6))
        self.Q[4:, 4:] = 0.5 * (1.0 - keep**2) * force @ force.T
        self.x, self.P = np.zeros(6), P

    def move(self, u):
        """Go on by a step under u [N]."""
        self.x = self.F @ self.x + self.G * u
        early = self.Q / np.exp(-2.0 * STEP / FADING)
        self.P = self.F @ (self.P + early) @ self.F.T + self.Q

    def correct(self, z, H, R):
        """Take a measurement; return its normalised innovation squared."""
        e, C = z - H @ self.x, H @ self.P @ H.T + R
        K = self.P @ H.T @ np.linalg.inv(C)
        self.x, self.P = self.x + K @ e, self.P - K @ C @ K.T
        return e @ np.linalg.solve(C, e)


def textbook(model, own):
    """Return the Textbook that begins as an estimator does."""
    there = tip_motion(model, model.q0)
    force = force_factor(there, own.settings.disturbance)
    S = initial_factor(there, own.settings.initial, force, np.zeros(0))
    return Textbook(S @ S.T, force)


def test_it_is_the_kalman_filter_of_a_linear_robot():
    """State, covariance and innovations equal a Kalman filter's for half a second."""
    model = carriages()
    noise, H = 2e-3, np.eye(6)[1:2]
    own = estimator(
        model,
        [
            {
                'name': 'ruler',
                'type': 'joint',
                'names': ['second_slide'],
                'noise': noise,
                'gate': 1.0,
            }
        ],
    )
    book, rng = textbook(model, own), np.random.default_rng(3)
    own.begin(0.0, u=[0.0])
    for k in range(500):
        u = float(np.sin(0.02 * k))
        own.command(k * STEP, [u])
        book.move(u)
        if k % 10 == 9:
            z = rng.normal(0.05 * (k > 200), noise, 1)
            expected = book.correct(z, H, np.array([[noise**2]]))
            found = own.measure((k + 1) * STEP, 'ruler', z)
            assert found.square == pytest.approx(expected, rel=2e-3, abs=1e-4)
    found = own.estimate(500 * STEP, covariance=True)
    spread = np.sqrt(np.diag(book.P))
    x = np.concatenate([found.q, found.qd, found.force])
    assert np.abs((x - book.x) / spread).max() < 2e-3
    assert np.abs(found.covariance - book.P).max() < 2e-3 * np.abs(book.P).max()
    assert np.abs((found.covariance - book.P) / np.outer(spread, spread)).max() < 5e-3


def test_errors_by_noise_alone_match_the_formula():
    """Without forces the errors follow the filter's own matrices and gains."""
    model, noise, H = carriages(), 2e-3, np.eye(6)[1:2]
    ruler = {'name': 'ruler', 'type': 'joint', 'names': ['second_slide'], 'noise': noise}
    own, R = estimator(model, [{**ruler, 'gate': 1.0}]), np.array([[noise**2]])
    book = textbook(model, own)
    own.begin(0.0, u=[0.0])
    N = book.P.copy()
    N[4:], N[:, 4:] = 0.0, 0.0
    for k in range(300):
        book.move(0.0)
        N = book.F @ N @ book.F.T
        if k % 10 == 9:
            K = book.P @ H.T @ np.linalg.inv(H @ book.P @ H.T + R)
            book.correct(np.zeros(1), H, R)
            N = (np.eye(6) - K @ H) @ N @ (np.eye(6) - K @ H).T + K @ R @ K.T
            own.measure((k + 1) * STEP, 'ruler', [0.0])
    found, spread = own._moments[-1].state.N, np.sqrt(np.diag(N))
    assert np.abs((found - N) / np.outer(spread, spread)).max() < 1e-2
    assert np.array_equal(found, found.T) and np.linalg.eigvalsh(book.P - N).min() > -1e-12


def test_late_and_mixed_up_measurements_count_as_if_they_were_in_order():
    """Late measurements in any order give the same state; too old ones are left out."""
    model = carriages()
    sensors = [
        {'name': 'ruler', 'type': 'joint', 'names': ['second_slide'], 'noise': 2e-3},
        {
            'name': 'eye',
            'type': 'markers',
            'points': [{'body': 'first'}],
            'noise': 1e-3,
            'delay': 0.03,
        },
    ]
    own, rng = estimator(model, sensors), np.random.default_rng(5)
    values = [(0.01 * k, 'ruler', [rng.normal(0.0, 2e-3)]) for k in range(1, 20)]
    values += [(0.015 * k + 0.03, 'eye', [rng.normal(0.0, 1e-3, 3)]) for k in range(1, 12)]
    rank = {'ruler': 0.0, 'eye': 0.03}
    values.sort(key=lambda value: value[0] - rank[value[1]])
    results = []
    for order in (range(len(values)), rng.permutation(len(values))):
        own.begin(0.0)
        for k in range(40):
            own.command(5e-3 * k, [0.3 * k % 1.0])
        told = [own.measure(*values[i]) for i in order]
        results.append((own.estimate(0.2, covariance=True), told))
    (first, told), (second, mixed) = results
    assert not any(each.late for each in told) and any(each.late for each in mixed)
    for a, b in zip(first[1:5], second[1:5]):
        assert np.abs(a - b).max() < 1e-9 * np.abs(a).max()
    own.measure(1.0, 'ruler', [0.0])
    before = own.estimate(1.0)
    assert own.measure(0.1, 'ruler', [0.0]).too_old
    assert np.array_equal(own.estimate(1.0).q, before.q)


def test_parts_of_a_value_are_gated_one_by_one():
    """An outlier and a missing part are left out, and the other parts correct the state."""
    rng = np.random.default_rng(1)
    N, starts = 6, np.array([0, 1, 3, 4])
    S, H = np.tril(rng.normal(size=(N, N))) + 3.0 * np.eye(N), rng.normal(size=(4, N))
    noise, residual = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 50.0, -70.0, np.nan])
    gates = chi2.ppf(0.99, np.diff(starts))
    work, x = allocate_update(residual, H, noise, starts, gates), np.zeros(N)
    P, own = S @ S.T, S.copy()
    assert cached(update, w=work)(own, x) == 0
    assert work.verdicts.tolist() == [ACCEPTED, OUTLIER, UNMEASURED]
    h = H[:1]
    C = h @ P @ h.T + noise[0] ** 2
    assert x == pytest.approx((P @ h.T / C)[:, 0] * 0.5, rel=1e-12)
    assert own @ own.T == pytest.approx(P - P @ h.T @ h @ P / C, rel=1e-11)
    assert np.array_equal(own, np.tril(own))
    C = H[1:3] @ P @ H[1:3].T + np.diag(noise[1:3] ** 2)
    assert work.squares[1] == pytest.approx(residual[1:3] @ np.linalg.solve(C, residual[1:3]))
