# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Eigenvalues of M x'' + D x' + K x = 0, and the error that rounding leaves in each of them.

The quadratic eigenvalue problem (s^2 M + s D + K) x = 0 of a stiff, damped robot has eigenvalues
that differ by ten and more powers of ten: vibrations of a thin rod at 1e2 1/s beside shear that
damping holds back at 1e11 1/s. So its slow ones are found first, as the large eigenvalues of the
inverse of a shifted companion matrix, and those near the imaginary axis are refined one by one:
in coordinates scaled for the size of s, the smallest singular value of s^2 M + s D + K is the
backward error of s, and its singular vectors y, x are left and right eigenvectors, with which to
first order an error E of the matrices moves s by y* E x / y* (2 s M + D) x. Nothing depends on
the units of coordinates. Tisseur, Meerbergen, The quadratic eigenvalue problem, SIAM Review 43
(2001), Sec. 4.2 and 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.recursion.constants import TINY

Complex = NDArray[np.complex128]

ENTRY_ACCURACY = 1e-10  # of entries, beside those of the diagonal: accuracy of derivatives
CERTAINTY_FACTOR = 10.0  # times its error: growth beyond that is certain
_MIN_GROWTH_RATIO = 1e-12  # of an eigenvalue's size; growth below is below any error
# of the slowest: inverse rate whose sign rounding leaves
_MIN_INVERSE_RATIO = 1e3 * np.finfo(float).eps
_NEWTON_ITERATIONS = 6
_SHIFT_RATIO = 2.7  # of the slowest coordinate's rate; not 1, which a single coordinate may have


class Pencil(NamedTuple):
    """s^2 M + s D + K; entries K_ij are good to the root of ``noise[i] noise[j]``."""

    M: Matrix  # (n, n)
    D: Matrix  # (n, n)
    K: Matrix  # (n, n)
    noise: Vector  # (n,)

    def slow_rate(self) -> float:
        """Return the rate [1/s] of the slowest coordinate, were it alone; 1 if none has one."""
        M, D, K = (np.abs(np.diag(each)) for each in self[:3])
        root = np.sqrt(np.outer(M, M))
        stiff = np.divide(np.abs(self.K), root, out=np.zeros_like(root), where=root > 0.0)
        each = np.sqrt(stiff.max(axis=1)), _ratio(D, M), _ratio(K, D)
        return next((float(x[x > 0.0].min()) for x in each if (x > 0.0).any()), 1.0)

    def sizes(self, rate: float) -> Vector:
        """Return the roots (n,) of what each coordinate alone has in it at a rate [1/s]."""
        M, D, K = (np.abs(np.diag(each)) for each in self[:3])
        return np.sqrt(np.maximum(rate**2 * M + rate * D + K, TINY))

    def growing(self) -> Complex:
        """
        Return the eigenvalues (k,) [1/s] with Im >= 0 and a growth beyond their errors.

        Fastest growth first.
        """
        s = self.slow_eigenvalues()
        s, errors = self.refined(s[(s.real > _MIN_GROWTH_RATIO * np.abs(s)) & (s.imag >= 0.0)])
        s = s[s.real > CERTAINTY_FACTOR * errors]
        return s[np.argsort(-s.real)]

    def eigenvalues(self) -> Complex:
        """Return all (2 n,) eigenvalues [1/s] of a pencil with a regular M, largest first."""
        n = len(self.M)
        if not n:
            return np.zeros(0, dtype=complex)
        slow = self.slow_eigenvalues()
        rates = -np.linalg.solve(self.M, np.hstack([self.K, self.D]))
        fast = np.linalg.eigvals(np.vstack([np.eye(2 * n)[n:], rates]))
        fast = fast[np.argsort(np.abs(fast))[len(slow) :]]  # they lose nothing to rounding
        s = np.concatenate([slow, fast])
        return s[np.argsort(-s.real)]

    def slow_eigenvalues(self) -> Complex:
        """
        Return all eigenvalues [1/s] but for those that are faster by more than rounding lets see.

        They are shift - 1 / w, w being those of (shift - A)^-1, and A the companion matrix for
        (shift x, v), in coordinates scaled to equal size at the shift.
        """
        shift = _SHIFT_RATIO * self.slow_rate()
        unit = 1.0 / self.sizes(shift)
        M, D, K = (unit[:, None] * each * unit for each in self[:3])
        whole = shift**2 * M + shift * D + K
        whole += np.diag(1.0 * (np.diag(whole) == 0.0))  # what has no inertia and no stiffness
        x, v, k = np.hsplit(np.linalg.solve(whole, np.hstack([shift * M + D, shift * M, K])), 3)
        w = np.linalg.eigvals(np.block([[x, v], [-k / shift, v]])).astype(complex)
        seen = np.abs(w) > _MIN_INVERSE_RATIO * len(w) * np.abs(w).max(initial=0.0)
        return shift - 1.0 / w[seen]

    def refined(self, s: Complex) -> tuple[Complex, Vector]:
        """Return eigenvalues (k,) near s (k,), by Newton's method, and their errors (k,) [1/s]."""
        best, errors = s.copy(), np.full(len(s), np.inf)
        for _ in range(_NEWTON_ITERATIONS if len(s) else 0):
            step, found = self._newton(s)
            better = found < errors
            best[better], errors[better] = s[better], found[better]
            if not better.any():
                break
            s = np.where(np.isfinite(step), s - step, s)
        return best, errors

    def _newton(self, s: Complex) -> tuple[Complex, Vector]:
        """Return by how much (k,) values s (k,) are off, and the errors that they would have."""
        size = np.maximum(np.abs(s), _MIN_GROWTH_RATIO * self.slow_rate())
        unit = 1.0 / np.array([self.sizes(rate) for rate in size])
        scale, s, size = unit[:, :, None] * unit[:, None], s[:, None, None], size[:, None, None]
        Y, backward, X = np.linalg.svd(scale * (s**2 * self.M + s * self.D + self.K))
        y, x, backward = Y[:, :, -1].conj(), X[:, -1].conj(), backward[:, -1]
        derivative = _form(y, scale * (2.0 * s * self.M + self.D), x)
        parts = size**2 * np.abs(self.M) + size * np.abs(self.D) + np.abs(self.K)
        y, x, noise = np.abs(y), np.abs(x), unit * np.sqrt(self.noise)
        error = backward + ENTRY_ACCURACY * _form(y, 1.0 + scale * parts, x).real
        error += (y * noise).sum(axis=1) * (x * noise).sum(axis=1)
        derivative = np.where(derivative == 0.0, TINY, derivative)
        with np.errstate(over='ignore'):
            return backward / derivative, error / np.abs(derivative)


def _form(y: Complex | Matrix, A: Complex | Matrix, x: Complex | Matrix) -> Complex:
    """Return y A x (k,) of rows y, x (k, n) and matrices A (k, n, n)."""
    return np.einsum('ki,kij,kj->k', y, A, x)


def _ratio(over: Vector, under: Vector) -> Vector:
    return np.divide(over, under, out=np.zeros(len(over)), where=under > 0.0)
