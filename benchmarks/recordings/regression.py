# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Gaussian processes of displacements: how much of a model's error any other map could explain.

Each fold is predicted from the others. Scale and noise are chosen for each fold by leaving others
out in turn, so that the rows that are judged choose nothing.
"""

import numpy as np

SCALES = 1e-3, 2e-3, 4e-3, 8e-3  # [m] of displacements
NOISES = 3e-3, 6e-3, 12e-3  # [m] of a coordinate of the tip
CHOOSING = 3  # one row in so many chooses scale and noise
BEFORE = 3.0  # weight of changes since the row before, beside displacements


def with_change(u):
    """Return displacements u (P, 9) [m], and their changes since the row before (P, 18)."""
    return np.hstack([u, BEFORE * np.diff(u, axis=0, prepend=u[:1])])


def predicted(left, features, fold):
    """
    Return what is left (P, 3) [m] of a model by fits to other folds, predicted by features.

    ``left`` (F, P, 3) [m]: measured less predicted in all rows, by the fit without each fold;
    ``features`` (P, n) [m]; ``fold`` (P,) of each row.
    """
    there = np.empty_like(left[0])
    for k, target in enumerate(left):
        others = fold != k
        known = features[others], target[others]
        few = slice(None, None, CHOOSING)
        scale, noise = _chosen(*(each[few] for each in known), fold[others][few])
        there[~others] = _posterior(*known, features[~others], scale, noise)
    return there


def _chosen(features, target, fold):
    """Return scale and noise [m] with the least error on folds that are left out in turn."""

    def cost(pair):
        errors = 0.0
        for k in np.unique(fold):
            out = fold == k
            known = features[~out], target[~out]
            errors += ((target[out] - _posterior(*known, features[out], *pair)) ** 2).sum()
        return errors

    return min(((scale, noise) for scale in SCALES for noise in NOISES), key=cost)


def _posterior(features, target, wanted, scale, noise):
    """Return the mean (W, 3) [m] at wanted (W, n), of a size as the target's (P, 3) [m]."""
    part = noise**2 / np.mean(target**2)
    covariance = _kernel(features, features, scale) + part * np.eye(len(features))
    return _kernel(wanted, features, scale) @ np.linalg.solve(covariance, target)


def _kernel(a, b, scale):
    """Return the squared exponential kernel (A, B) of features a (A, n) and b (B, n)."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
    return np.exp(-0.5 * np.maximum(squares, 0.0) / scale**2)
