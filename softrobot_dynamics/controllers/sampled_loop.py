# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Whether a loop by a held command is stable: eigenvalues of one period, linearised at rest."""

import math
import threading

import numpy as np
from softrobot_dynamics.held_command import HeldCommand
from softrobot_dynamics.kernels.allocation import SINGULAR


class SampledLoop:
    """
    The loop of partial feedback linearization, for any thread, beside the one that runs it.

    ``controlled`` (c,) are the indices of the actuators whose coordinates are controlled.
    """

    def __init__(self, model, period, controlled):
        self._model, self._period, self._controlled = model, period, controlled
        self._held, self._lock = HeldCommand(model, period), threading.Lock()

    def growth(self, q, u, p, d):
        """
        Return the rate [1/s] at which the fastest motion about rest at q (n,) grows.

        Under the command u (m,), with gains p, d (m,): the logarithm of the largest eigenvalue of
        a period, by its length. Below zero for a loop that is stable at this rate, about zero
        where something rings undamped or turns freely; nan where the robot cannot be at q.
        """
        with self._lock:
            q, rest = np.array(q, dtype=float), np.zeros(self._model.n)
            self._held.begin(q, rest, np.array(u, dtype=float))
            law, (M, D, K) = self._held.lines.last.copy(), self._held.matrices()
        J = self._model.of_thread.evaluator(q, rest).J.copy()
        if not (np.isfinite(law).all() and np.isfinite(M).all()):
            return math.nan
        J = J[self._controlled]
        free, forced = _held_flow(M, D, K, J.T, self._period)
        closed = free + forced @ self._feedback(law, D, K, J, p, d)
        return math.log(np.abs(np.linalg.eigvals(closed)).max()) / self._period

    def _feedback(self, law, D, K, J, p, d):
        """Return dw (c, 2 n) of the law per change of (q, qd)."""
        (G, drift), T, k = law, self._period, self._controlled
        X = J @ G
        by_q = X @ K - T * p[k, None] * J
        by_qd = X @ D + J @ drift - T * d[k, None] * J
        S = X @ J.T
        scale = 1.0 / np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
        inverse = np.linalg.pinv(S * np.outer(scale, scale), SINGULAR, hermitian=True)
        return scale[:, None] * (inverse @ (scale[:, None] * np.hstack([by_q, by_qd])))


def _held_flow(M, D, K, A, period):
    """Return the flow of (q, qd) in a period (2 n, 2 n), and by a held command (2 n, m)."""
    from scipy.linalg import expm  # late: scipy is slow to import

    n, m = A.shape
    rates = np.linalg.solve(M, np.hstack([-K, -D, A]))
    flow = expm(period * np.block([[np.zeros((n, n)), np.eye(n), np.zeros((n, m))], [rates],
                                   [np.zeros((m, 2 * n + m))]]))  # fmt: skip
    return flow[: 2 * n, : 2 * n], flow[: 2 * n, 2 * n :]
