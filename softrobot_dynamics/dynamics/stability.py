# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stability of a robot at rest, from its stiffness, damping and mass there."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.eigenvalues import ACCURACY, Complex, Pencil

DEPENDENT = 1e-5  # size of a combination of outputs that cannot move, of one that can
_LEAST = 1e-14  # of a coordinate's inertia, or of what would bring it to the slowest rate: none


def entries(own: Vector) -> Matrix:
    """Return the sizes (n, n) of a matrix's entries by those on its diagonal (n,): no units."""
    root: Vector = np.sqrt(np.abs(own))
    return np.outer(root, root)


class Stability(NamedTuple):
    """The smallest squared angular frequency [1/s^2], and what follows from all motions."""

    smallest: float
    stands: bool  # nothing pushes the robot away
    stable: bool  # nor does any oscillation about the posture grow
    growth: float  # [1/s] of the fastest motion away from it; 0 of a stable robot


class Linearised(NamedTuple):
    """
    M x'' + D x' + K x = 0 about a posture at rest.

    Entries K_ij are good to the root of ``noise``_i ``noise``_j, which has the unit of both.
    """

    K: Matrix  # (n, n)
    D: Matrix  # (n, n)
    M: Matrix  # (n, n)
    noise: Vector  # (n,)

    @property
    def pencil(self) -> Pencil:
        """Its quadratic eigenvalue problem."""
        return Pencil(self.M, self.D, self.K, self.noise)

    def stability(self) -> Stability:
        """
        Return the :class:`Stability`.

        In coordinates of mixed units eigenvalues of K alone mean nothing; those of K x = mu M x
        have one unit, and are the same in any coordinates. Where K is symmetric and D takes
        energy, the robot stands, and is stable, if none is negative beyond noise (Kelvin, Tait
        and Chetaev); zero, a turntable that may be anywhere, is well. Loads that turn with a body
        make K asymmetric. Then motions of the damped robot tell: it stands if none grows
        steadily, and is stable if no oscillation grows either (flutter), beyond what rounding
        does to it (:meth:`~.eigenvalues.Pencil.growing`).
        """
        squares, X = self.modes()
        if self._conservative():
            stands = bool(squares[0] >= -self.errors(X[:, :1])[0])
            growing = np.array([]) if stands else self.pencil.growing()
            growth = float(growing.real.max(initial=0.0))
            return Stability(float(squares[0]), stands, stands, growth)
        growing = self.pencil.growing()
        steady = np.abs(growing.imag) <= ACCURACY * np.abs(growing)
        smallest = float(self._squares().real.min())
        growth = float(growing.real.max(initial=0.0))
        return Stability(smallest, not steady.any(), not len(growing), growth)

    def modes(self) -> tuple[Vector, Matrix]:
        """
        Return mu (n,), increasing, and X (n, n): X' K X = diag(mu), X' M X = 1, K symmetrised.

        They are those of M x = w (K + shift M) x, mu = 1 / w - shift, in which the slowest have
        the least errors. What has no mass gets so little that no other mode feels it.
        """
        K, shift = 0.5 * (self.K + self.K.T), self.pencil.slow_rate() ** 2
        M = self.M + _LEAST * np.diag(np.diag(self.M) + np.abs(np.diag(K)) / shift)
        while True:
            unit = 1.0 / Pencil(M, 0.0 * M, K, self.noise).sizes(np.sqrt(shift))
            scaled, inert = (unit[:, None] * each * unit for each in (K + shift * M, M))
            try:
                lower = np.linalg.inv(np.linalg.cholesky(scaled))
                break
            except np.linalg.LinAlgError:  # it leaves the posture faster than that
                shift *= 10.0
        w, Y = np.linalg.eigh(lower @ inert @ lower.T)
        w = np.maximum(w[::-1], np.finfo(float).eps ** 2 * w[-1])
        X = unit[:, None] * (lower.T @ Y[:, ::-1]) / np.sqrt(w)
        mu = np.einsum('ik,ij,jk->k', X, K, X)
        order = np.argsort(mu)
        return mu[order], X[:, order]

    def held(self, J: Matrix) -> Complex:
        """
        Return the eigenvalues (2 (n - c),) [1/s] of what is left while outputs are held.

        J (c, n) are the gradients of outputs that forces along them hold where they are; outputs
        that depend on each other count once. Fastest growth first.
        """
        rows = J @ np.linalg.inv(np.linalg.cholesky(self.M)).T  # rates of equal inertia: no units
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        count = int((np.linalg.svd(rows, compute_uv=False) > DEPENDENT).sum())
        unit = 1.0 / self.pencil.sizes(self.pencil.slow_rate())
        rows = J * unit
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        free = unit[:, None] * np.linalg.svd(rows)[2][count:].T
        M, D, K = (free.T @ each @ free for each in (self.M, self.D, self.K))
        return Pencil(M, D, K, np.zeros(len(M))).eigenvalues()

    def errors(self, X: Matrix) -> Vector:
        """Return the errors (k,) [1/s^2] of mu of modes X (n, k), of X' M X = 1, by rounding."""
        own = ACCURACY * np.abs(np.diag(self.K))
        found: Vector = (np.sqrt(self.noise) @ np.abs(X)) ** 2 + own @ X**2
        return found

    def _conservative(self) -> bool:
        """Tell whether K is symmetric but for its rounding, and D takes energy of all motions."""
        size = entries(self.noise) + ACCURACY * entries(np.diag(self.K))
        D = 0.5 * (self.D + self.D.T)
        scaled = D / np.maximum(entries(np.diag(D)), 1e-300)
        takes = np.linalg.eigvalsh(scaled)[0] >= -ACCURACY * len(D)
        return bool((np.abs(self.K - self.K.T) <= size).all() and takes)

    def _squares(self) -> Complex:
        """Return the eigenvalues [1/s^2] of K x = mu M x, but for the fastest; K as it is."""
        rate = self.pencil.slow_rate()
        unit = 1.0 / self.pencil.sizes(rate)
        K, M = (unit[:, None] * each * unit for each in (self.K, self.M))
        w = np.linalg.eigvals(np.linalg.solve(K + rate**2 * M, M)).astype(complex)
        seen = np.abs(w) > len(w) * np.finfo(float).eps * np.abs(w).max(initial=0.0)
        return 1.0 / w[seen] - rate**2
