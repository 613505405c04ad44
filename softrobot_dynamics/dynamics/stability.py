# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stability of a robot at rest, from its stiffness, damping and mass there."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Matrix, Vector

MASSLESS = (
    1e-10  # squared frequency of the slowest coordinate over one that counts as without mass
)
DEPENDENT = 1e-5  # size of a combination of outputs that cannot move, of one that can
GROWTH = 1e-7  # rate that is rounding, of the fastest one


def entries(own: Vector) -> Matrix:
    """Return the sizes (n, n) of a matrix's entries by those on its diagonal (n,): no units."""
    root: Vector = np.sqrt(np.abs(own))
    return np.outer(root, root)


class Stability(NamedTuple):
    """The smallest squared angular frequency [1/s^2], and what follows from all of them."""

    smallest: float
    stands: bool  # nothing pushes the robot away
    stable: bool  # nor does any oscillation about the posture grow


class Linearised(NamedTuple):
    """
    M x'' + D x' + K x = 0 about a posture at rest.

    Entries K_ij are good to the root of ``noise``_i ``noise``_j, which has the unit of both.
    """

    K: Matrix  # (n, n)
    D: Matrix  # (n, n)
    M: Matrix  # (n, n)
    noise: Vector  # (n,)

    def stability(self) -> Stability:
        """
        Return the :class:`Stability`: the smallest eigenvalue of K x = mu M x, its real part.

        In coordinates of mixed units eigenvalues of K alone mean nothing; those relative to M
        have one unit, and are the same in any coordinates. The robot stands if none is negative
        beyond noise; zero, a turntable that may be anywhere, is well. Loads that turn with a body
        make K asymmetric, and oscillations may grow (flutter), with the damping there is.
        """
        squares, X = self.modes()
        lowest = -((np.sqrt(self.noise) @ np.abs(X[:, 0])) ** 2)
        if (
            np.abs(self.K - self.K.T) <= entries(self.noise) + 1e-9 * entries(np.diag(self.K))
        ).all():
            stands = bool(squares[0] >= lowest)
            return Stability(float(squares[0]), stands, stands)
        K, D = X.T @ self.K @ X, X.T @ self.D @ X  # M is the identity now
        found = np.linalg.eigvals(K)
        pushed = found.real[np.abs(found.imag) <= 1e-9 * np.abs(found).max()] < lowest
        zero = np.zeros_like(K)
        rates = np.linalg.eigvals(np.block([[zero, np.eye(len(K))], [-K, -D]]))
        grows = rates.real.max() > GROWTH * np.abs(rates).max()
        stands = not pushed.any()
        return Stability(float(found.real.min()), stands, bool(stands and not grows))

    def modes(self) -> tuple[Vector, Matrix]:
        """
        Return mu (n,), increasing, and X (n, n): X' K X = diag(mu), X' M X = 1, K symmetrised.

        What has next to no mass gets some, so little that the slowest modes do not feel it.
        """
        K, M = 0.5 * (self.K + self.K.T), self.M
        stiff, own = np.abs(np.diag(K)), np.diag(M)
        bears = (own > 0.0) & (stiff > 0.0)
        slowest = (stiff[bears] / own[bears]).min() if bears.any() else 1.0
        M = M + np.diag(MASSLESS / slowest * stiff)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-300))
        M = scale[:, None] * M * scale + 1e-13 * np.eye(len(K))
        lower = np.linalg.inv(np.linalg.cholesky(M))
        mu, X = np.linalg.eigh(lower @ (scale[:, None] * K * scale) @ lower.T)
        return mu, scale[:, None] * (lower.T @ X)

    def held(self, J: Matrix) -> NDArray[np.complex128]:
        """
        Return the eigenvalues (2 (n - c),) [1/s] of what is left while outputs are held.

        J (c, n) are the gradients of outputs that forces along them hold where they are; outputs
        that depend on each other count once. Fastest growth first.
        """
        unit = np.linalg.inv(np.linalg.cholesky(self.M)).T  # rates of equal inertia: no units
        rows = J @ unit
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        _, sizes, V = np.linalg.svd(rows)
        free = unit @ V[int((sizes > DEPENDENT).sum()) :].T
        K, D = free.T @ self.K @ free, free.T @ self.D @ free  # M is the identity now
        rates = np.linalg.eigvals(np.block([[np.zeros_like(K), np.eye(len(K))], [-K, -D]]))
        return rates[np.argsort(-rates.real)]
