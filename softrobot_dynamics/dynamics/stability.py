# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stability of a robot at rest, from its stiffness, damping and mass there."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.eigenvalues import Complex, ENTRY_ACCURACY, Pencil

DEPENDENT_OUTPUT_RATIO = 1e-5  # size of a combination of outputs that cannot move, of one that can
# of a coordinate's inertia, or of what would bring it to the slowest rate
_MIN_INERTIA_RATIO = 1e-12


def entries(own: Vector) -> Matrix:
    """Return the sizes (n, n) of a matrix's entries by those on its diagonal (n,): no units."""
    root: Vector = np.sqrt(np.abs(own))
    return np.outer(root, root)


class Stability(NamedTuple):
    """The smallest squared angular frequency [1/s^2], and the stability of all motions."""

    smallest: float
    stands: bool  # nothing pushes the robot away
    stable: bool  # nor does any oscillation about the posture grow
    growth: float  # [1/s] of the fastest motion away from it; 0 of a stable robot


class Linearised(NamedTuple):
    """
    M x'' + D x' + K x = 0 about a posture at rest.

    Entries K_ij are good to the root of ``noise[i] noise[j]``, which has the unit of both.
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
        and Chetaev); zero is allowed: a turntable may rest anywhere. Loads that turn with a body
        make K asymmetric. Then motions of the damped robot decide: it stands if none grows
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
        steady = np.abs(growing.imag) <= ENTRY_ACCURACY * np.abs(growing)
        undamped = self.pencil._replace(D=np.zeros_like(self.K)).slow_eigenvalues()
        smallest = float(-(undamped**2).real.max())
        growth = float(growing.real.max(initial=0.0))
        return Stability(smallest, not steady.any(), not len(growing), growth)

    def modes(self) -> tuple[Vector, Matrix]:
        """
        Return mu (n,), increasing, and X (n, n): X' K X = diag(mu), X' M X = 1, K symmetrised.

        They are those of M x = w (K + shift M) x, mu = 1 / w - shift, in which the slowest have
        the least errors. What has no mass gets so little that no other mode feels it.
        """
        K, shift = 0.5 * (self.K + self.K.T), self.pencil.slow_rate() ** 2
        own = np.diag(self.M) + np.abs(np.diag(K)) / shift
        M = self.M + _MIN_INERTIA_RATIO * np.diag(np.where(own > 0.0, own, 1.0))
        while (lower := _inverse_factor(K + shift * M)) is None:
            shift *= 10.0  # it leaves the posture faster than that
            if not np.isfinite(shift):
                raise np.linalg.LinAlgError('a mass matrix that is not positive definite')
        w, Y = np.linalg.eigh(lower @ M @ lower.T)
        w = np.maximum(w[::-1], np.finfo(float).eps ** 2 * w[-1])
        X = lower.T @ Y[:, ::-1] / np.sqrt(w)
        mu = np.einsum('ik,ij,jk->k', X, K, X)
        order = np.argsort(mu)
        return mu[order], X[:, order]

    def held(self, J: Matrix) -> Complex:
        """
        Return the eigenvalues (2 (n - c),) [1/s] of the zero dynamics, while outputs are held.

        J (c, n) are the gradients of outputs that forces along them hold where they are; outputs
        that depend on each other count once. Fastest growth first.
        """
        rows = J @ np.linalg.inv(np.linalg.cholesky(self.M)).T  # rates of equal inertia: no units
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        count = int((np.linalg.svd(rows, compute_uv=False) > DEPENDENT_OUTPUT_RATIO).sum())
        unit = 1.0 / self.pencil.sizes(self.pencil.slow_rate())
        rows = J * unit
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        free = unit[:, None] * np.linalg.svd(rows)[2][count:].T
        M, D, K = (free.T @ each @ free for each in (self.M, self.D, self.K))
        return Pencil(M, D, K, np.zeros(len(M))).eigenvalues()

    def errors(self, X: Matrix) -> Vector:
        """Return the errors (k,) [1/s^2] of mu of modes X (n, k), of X' M X = 1, by rounding."""
        own = ENTRY_ACCURACY * np.abs(np.diag(self.K))
        found: Vector = (np.sqrt(self.noise) @ np.abs(X)) ** 2 + own @ X**2
        return found

    def _conservative(self) -> bool:
        """Tell whether K is symmetric but for its rounding, and D takes energy of all motions."""
        size = entries(self.noise) + ENTRY_ACCURACY * entries(np.diag(self.K))
        D = 0.5 * (self.D + self.D.T)
        scaled = D / np.maximum(entries(np.diag(D)), 1e-300)
        takes = np.linalg.eigvalsh(scaled)[0] >= -ENTRY_ACCURACY * len(D)
        return bool((np.abs(self.K - self.K.T) <= size).all() and takes)


def _inverse_factor(A: Matrix) -> Matrix | None:
    """Return the inverse of the Cholesky factor of A (n, n), scaled meanwhile; or None."""
    own = np.diag(A)
    if not (own > 0.0).all():
        return None
    unit = 1.0 / np.sqrt(own)
    try:
        factor = np.linalg.cholesky(unit[:, None] * A * unit)
    except np.linalg.LinAlgError:
        return None
    return np.linalg.inv(factor) * unit
