# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fit the network of a `learned` body to sampled deformations."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.bodies.learned.networks import ACTIVATIONS, derivatives, Layer, Network
from softrobot_dynamics.bodies.learned.samples import Samples
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.tracing import traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC

# Levenberg-Marquardt; beyond the maximum no step improves
INITIAL_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-3, 1e-14, 1e10
MIN_DIAGONAL_RATIO = 1e-10  # of the largest diagonal entry; for weights without effect
MIN_RELATIVE_DECREASE = 1e-6  # of the mean square error; with less the fit has converged
MAX_JACOBIAN_ENTRIES = 4_000_000  # held in memory for one third of the Jacobian


class Training(NamedTuple):
    """Options of a fit by Levenberg and Marquardt's method, from random weights."""

    iterations: int = 200  # steps at most
    decay: float = 1e-6  # of the mean square weight, added to the cost: for a smooth network
    held_out: float = 0.2  # share of the postures that is kept from the fit, to judge it
    seed: int = 0  # of the weights in the beginning

    def validate(self) -> None:
        """Raise ArgumentError for an option that cannot be."""
        for name, least in (('iterations', 1), ('seed', 0), ('decay', 0)):
            if not getattr(self, name) >= least:
                raise ArgumentError(name, getattr(self, name), f'a number >= {least}')
        if not 0.0 < self.held_out < 1.0:
            raise ArgumentError('held_out', self.held_out, 'a share between 0 and 1')


_DEFAULT = Training()


class Errors(NamedTuple):
    """Distances between positions sampled and fitted."""

    rms: float  # [m]
    largest: float  # [m]


class Fit(NamedTuple):
    """A fitted network, and how good it is."""

    network: Network
    fitted: Errors  # on the samples that it was fitted to
    held_out: Errors  # on postures q that it has not seen
    count: int  # type: ignore[assignment]  # of samples held out; hides the tuple's own
    iterations: int
    converged: bool  # False: more iterations may make it better


def fit(
    samples: Samples,
    hidden: Sequence[int] = (16, 16),
    *,
    activation: str = 'tanh',
    length: float | None = None,
    training: Training = _DEFAULT,
    progress: Callable[[int, float], object] | None = None,
) -> Fit:
    """
    Return the :class:`Fit` of p = x + (x3 / L) (N(x, q) - N(x, 0)) to :class:`Samples`.

    ``hidden``: units of each hidden layer; ``length``: L [m], default the largest x3. The mean
    square error, relative to the mean square motion, is minimised as the ``training`` says. Its
    decay of weights keeps gradients smooth between samples; noisy ones need more. Postures are the
    different q. ``progress(step, rms)`` [m] is called after each step. Raises ArgumentError.
    """
    length = _checked(samples, hidden, activation, length)
    training.validate()
    rng = np.random.default_rng(training.seed)
    seen, unseen = _split(samples.q, training.held_out, rng)
    problem = _Problem(samples, seen, length, tuple(hidden), activation, training.decay)
    start = problem.start(rng)
    weights, steps, converged = _minimise(problem, start, training.iterations, progress)
    network = problem.network(weights, samples.coordinates)
    fitted, others = (errors_of(network, samples, rows) for rows in (seen, unseen))
    return Fit(
        network=network,
        fitted=fitted,
        held_out=others,
        count=int(unseen.sum()),
        iterations=steps,
        converged=converged,
    )


def errors_of(network: Network, samples: Samples, rows: slice | Integers = slice(None)) -> Errors:
    """Return the :class:`Errors` of a network's positions on some of the samples."""
    x, q, p = (array[rows].T for array in samples[:3])
    moved, rest = network(x, q, NUMERIC), network(x, 0.0 * q, NUMERIC)
    found = x + x[2] / network.length * (np.array(moved) - np.array(rest))
    distances = np.linalg.norm(found - p, axis=0)
    return Errors(float(np.sqrt(np.mean(distances**2))), float(distances.max()))


def _minimise(
    problem: '_Problem',
    weights: Vector,
    iterations: int,
    progress: Callable[[int, float], object] | None,
) -> tuple[Vector, int, bool]:
    """
    Levenberg and Marquardt: (J^T J + damping diag) step = -J^T r, damped more after a failure.

    Return weights, steps done, and whether steps stopped making a difference.
    """
    from scipy.linalg import cho_factor, cho_solve  # late: scipy is slow to import

    damping, error = INITIAL_DAMPING, problem.error(weights)
    for step in range(iterations):
        H, g = problem.normal_equations(weights)
        scale = H.diagonal() + MIN_DIAGONAL_RATIO * H.diagonal().max()
        before = error
        while error == before and damping < MAX_DAMPING:
            moved = weights - cho_solve(cho_factor(H + np.diag(damping * scale)), g)
            trial = problem.error(moved)
            better = trial < error
            damping = max(damping * (0.2 if better else 4.0), MIN_DAMPING)
            if better:
                weights, error = moved, trial
        if progress is not None:
            progress(step + 1, problem.rms(weights, error))
        if before - error <= MIN_RELATIVE_DECREASE * before:
            return weights, step + 1, True
    return weights, iterations, False


class _Problem:
    """The residuals of a fit as a function of all weights, flat."""

    def __init__(
        self,
        samples: Samples,
        rows: slice | Integers,
        length: float,
        hidden: tuple[int, ...],
        activation: str,
        decay: float = 0.0,
    ) -> None:
        x, q, p = (array[rows] for array in samples[:3])
        self._x_scale = _scale(np.vstack([samples.x, [[0.0, 0.0, length]]]), length)
        self._q_scale = _scale(samples.q, 1.0)
        self._x, self._q = x / self._x_scale, q / self._q_scale
        self.unit = np.sqrt(np.mean((p - x) ** 2)) or 1.0  # of residuals [m]
        self._share, self._target = x[:, 2:] / length, (p - x) / self.unit
        self._length, self._activation, self._decay = length, activation, decay
        sizes = [3 + q.shape[1], *hidden, 3]
        self._shapes = list(zip(sizes[1:], sizes))
        self.size = sum(rows * columns + rows for rows, columns in self._shapes)
        parts = -(-len(x) * self.size // MAX_JACOBIAN_ENTRIES)
        self._chunks = np.array_split(np.arange(len(x)), min(parts, len(x)))

    def start(self, rng: np.random.Generator) -> Vector:
        """Return random weights, so scaled that values neither grow nor fade; shifts zero."""
        parts = []
        for rows, columns in self._shapes:
            parts += [rng.normal(0.0, columns**-0.5, rows * columns), np.zeros(rows)]
        return np.concatenate(parts)

    def error(self, weights: Vector) -> float:
        """Mean square of all residuals (S, 3), and of the weights, as far as they count."""
        layers = self._layers(weights)
        squares = (np.sum(self._forward(layers, rows)[0] ** 2) for rows in self._chunks)
        return sum(squares) / self._target.size + self._decay * np.mean(weights**2)

    def rms(self, weights: Vector, error: float) -> float:
        """Root mean square distance [m] of which the error is made."""
        return self.unit * np.sqrt(3.0 * (error - self._decay * np.mean(weights**2)))

    def normal_equations(self, weights: Vector) -> tuple[Matrix, Vector]:
        """J^T J (P, P) and J^T r (P,) of all residuals, the weights among them."""
        share, layers = self._decay * self._target.size / self.size, self._layers(weights)
        H, g = share * np.eye(self.size), share * weights
        for rows in self._chunks:
            residual, values, gradients = self._forward(layers, rows)
            J = self._jacobian(layers, rows, values, gradients)
            H += J.T @ J
            g += J.T @ residual.T.ravel()
        return H, g

    def network(self, weights: Vector, names: tuple[str, ...]) -> Network:
        """Return the Network of flat weights, in metres."""
        layers = self._layers(weights)
        W, b = layers.pop()
        layers.append((self.unit * W, self.unit * b))
        names = names or tuple(f'q{j + 1}' for j in range(len(self._q_scale)))
        scales = tuple(self._x_scale.tolist()), tuple(self._q_scale.tolist())
        rows = tuple((tuple(map(tuple, W.tolist())), tuple(b.tolist())) for W, b in layers)
        return Network(self._length, names, self._activation, *scales, rows)

    def _forward(self, layers: Sequence[Layer], rows: Integers) -> Any:
        """Residuals (R, 3); inputs and gradients of each layer, at (x, q) and then at (x, 0)."""
        x, q = self._x[rows], self._q[rows]
        values, gradients = [np.vstack([np.hstack([x, q]), np.hstack([x, 0.0 * q])])], []
        for i, (W, b) in enumerate(layers):
            if i > 0:
                nodes = derivatives(self._activation)[:2]
                values[-1], gradient = traversal.evaluate(nodes, {('q', 0): values[-1]}, NUMERIC)
                gradients.append(gradient)
            values.append(values[-1] @ W.T + b)
        moved, rest = np.split(values.pop(), 2)
        return self._share[rows] * (moved - rest) - self._target[rows], values, gradients

    def _jacobian(
        self,
        layers: Sequence[Layer],
        rows: Integers,
        values: Sequence[Matrix],
        gradients: Sequence[Matrix],
    ) -> Matrix:
        """Jacobian (3 R, P) of residuals by back-propagation, one component after another."""
        count, result = len(rows), []
        for component in np.eye(3):
            back = np.kron([[1.0], [-1.0]], self._share[rows] * component)
            parts: list[Array] = []
            for i in range(len(layers) - 1, -1, -1):
                each = (back[:, :, None] * values[i][:, None, :]).reshape(2, count, -1)
                parts[:0] = [each.sum(axis=0), back.reshape(2, count, -1).sum(axis=0)]
                if i > 0:
                    back = (back @ layers[i][0]) * gradients[i - 1]
            result.append(np.hstack(parts))
        return np.vstack(result)

    def _layers(self, weights: Vector) -> list[tuple[Matrix, Vector]]:
        layers, first = [], 0
        for rows, columns in self._shapes:
            W = weights[first : first + rows * columns].reshape(rows, columns)
            first += rows * columns
            layers.append((W, weights[first : first + rows]))
            first += rows
        return layers


def _checked(
    samples: Samples, hidden: Sequence[int], activation: str, length: float | None
) -> float:
    """Return the length; raise ArgumentError for samples or options that cannot be fitted."""
    sizes = {name: len(getattr(samples, name)) for name in 'xqp'}
    if len(set(sizes.values())) > 1:
        raise ArgumentError('samples', sizes, 'as many rows in x, q and p')
    n = samples.q.shape[1]
    if samples.coordinates and len(samples.coordinates) != n:
        raise ArgumentError('coordinates', samples.coordinates, f'{n} names, one per column of q')
    if activation not in ACTIVATIONS:
        raise ArgumentError('activation', activation, 'one of ' + ', '.join(ACTIVATIONS))
    if not hidden or min(hidden) < 1:
        raise ArgumentError('hidden', tuple(hidden), 'numbers >= 1, one per hidden layer')
    largest = float(samples.x[:, 2].max())
    length = largest if length is None else float(length)
    if not 0.0 < length or largest > length * (1.0 + 1e-9) or samples.x[:, 2].min() < 0.0:
        words = 'a length > 0 [m] with x3 of all samples between 0 and it'
        raise ArgumentError('length', length, words)
    return length


def _split(q: Matrix, share: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return masks (S,) of the samples to fit and of those to hold out, by their postures."""
    postures, which = np.unique(q, axis=0, return_inverse=True)
    if len(postures) < 2:
        raise ArgumentError('q', postures, 'samples in several postures, some to be held out')
    count = min(max(1, round(share * len(postures))), len(postures) - 1)
    unseen = np.isin(which.ravel(), rng.permutation(len(postures))[:count])
    return ~unseen, unseen


def _scale(values: Matrix, otherwise: float) -> Vector:
    """Return the largest magnitude of each column, `otherwise` where there is nothing else."""
    largest = np.abs(values).max(axis=0)
    return np.where(largest > 0.0, largest, otherwise)
