# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A body whose deformation a neural network has learned from samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import functools
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import (
    Array,
    Complaints,
    FrameFormula,
    Math,
    Matrix,
    Value,
    Values,
    Vector,
)
from softrobot_dynamics.bodies.contract import Body, register
from softrobot_dynamics.bodies.frames import frame_of_points
from softrobot_dynamics.bodies.learned.layer_derivatives import (
    derivatives_scratch,
    layers_derivatives,
)
from softrobot_dynamics.bodies.learned.layers import (
    layers_length,
    layers_scratch,
    layers_terms,
    layers_values,
)
from softrobot_dynamics.bodies.learned.networks import derivatives, Layer, Network, read_network
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.kernels.quadrature import rod_points
from softrobot_dynamics.materials.contract import Material, MATERIALS
from softrobot_dynamics.schema.fields import file, integer, items, member, number, profile
from softrobot_dynamics.tracing import traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.emit import BLOCK
from softrobot_dynamics.tracing.graph import SYMBOLIC
from softrobot_dynamics.tracing.programs import TracedKernel


@register('learned')
@dataclass(frozen=True)
class Learned(Body):
    """
    p = x + (x3 / L) (N(x, q) - N(x, 0)), N a multilayer perceptron from a file of weights.

    So the base section is clamped and the body undeformed at q = 0, whatever the weights. Length,
    coordinates and their names are the file's. Elasticity is that of a ``material``, or a constant
    ``stiffness_matrix`` in units of the coordinates, with ``damping`` [s] times it; else there is
    none. The material points are those of a rod with circular sections.
    """

    weights: Network = file(read_network, expected='a file of weights (.npz)')
    radius: tuple[float, float] = profile('m')
    density: float = number('kg/m^3', above=0.0)
    material: Material | None = member(MATERIALS, default=None)
    stiffness_matrix: tuple[tuple[float, ...], ...] | None = items(
        items(number('force per coordinate')), default=None
    )
    damping: float = number('s', at_least=0.0, default=0.0)
    quadrature: int = integer(at_least=1, default=9)  # with the tip 30 points: one block

    @property
    def length(self) -> float:
        """Length [m], the file's."""
        return self.weights.length

    def validate(self) -> Complaints:
        """Yield a stiffness that is no matrix of this body, and elasticity said twice."""
        n, K = len(self.coordinates()), self.stiffness_matrix
        if self.material is not None and K is not None:
            yield 'stiffness_matrix', K, 'either a material or a stiffness_matrix'
        elif self.material is not None and self.damping:
            yield 'damping', self.damping, "none beside a material, which has its own 'damping'"
        elif K is not None and not _is_stiffness(K, n):
            words = f'a symmetric matrix ({n}, {n}) without negative eigenvalue'
            yield 'stiffness_matrix', K, words

    def coordinates(self) -> tuple[str, ...]:
        """Return the names in the file."""
        return self.weights.coordinates

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Return the position by formula, the oracle of the kernels."""
        share, rest = x[2] / self.length, self.weights(x, [0.0] * len(q), math)
        moved = self.weights(x, q, math)
        return [x[i] + share * (moved[i] - rest[i]) for i in range(3)]

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Frame of the centre and two points of the rim of the last section [P, (5)-(7)]."""
        o, a, b = (self.position(x, q, math) for x in self._tip_points().tolist())
        return frame_of_points(o, a, b, math)

    def material_points(self) -> tuple[Matrix, Vector]:
        """See :func:`softrobot_dynamics.kernels.quadrature.rod_points`."""
        return rod_points(self.length, self.radius, self.density, self.quadrature, True)

    def stiffness(self) -> Matrix:
        """Return the constant matrix, zero without one."""
        K = self.stiffness_matrix
        return super().stiffness() if K is None else np.array(K)

    def energy(self, F: Sequence[Values], math: Math) -> Value | None:
        """Return the material's, if there is one."""
        return self.material and self.material.energy(F, math)

    def viscosity(self) -> Value | None:
        """Return the material's, if there is one."""
        return self.material and self.material.viscosity()

    def kernel(self) -> Kernel:
        """See :class:`Body`; compiled once for all networks of an activation and a material."""
        return self._sums('terms', layers_terms, layers_scratch)

    def derivatives_kernel(self) -> Kernel:
        """See :class:`Body`; compiled as rarely, the numbers are those of the terms."""
        return self._sums('derivatives', layers_derivatives, derivatives_scratch)

    def _sums(
        self,
        function: str,
        emit: Callable[..., TracedKernel],
        scratch: Callable[[int, int, int], int],
    ) -> Kernel:
        """Return a kernel of sums over the material points; before them those of the tip."""
        points, masses = self.material_points()
        points = np.concatenate([self._tip_points(), points])
        masses = np.concatenate([np.zeros(3), masses])
        symbolic, constants = self._symbolic()
        traced = _traced(emit, self.weights.activation, symbolic.material)
        directions = np.zeros((0, 3)) if self.material is None else np.eye(3)
        numbers: list[Sequence[float] | Vector] = [
            self._matrices(),
            [self.density, self.viscosity() or 0.0],
            traced.tables.numbers(constants),
        ]
        cloud = masses, points, directions
        return self._kernel_of(traced, function, cloud, numbers, scratch)

    def fibre_kernel(self, points: Matrix, gradients: Matrix, weights: Vector) -> Kernel:
        """See :class:`Body`."""
        along = np.column_stack([gradients, np.ones(len(points))])[None]
        traced = _traced(layers_length, self.weights.activation)
        cloud = weights, np.asarray(points), along
        return self._kernel_of(traced, 'length', cloud, [], layers_scratch)

    def points_kernel(self, points: Matrix) -> Kernel:
        """See :class:`Body`."""
        traced = _traced(layers_values, self.weights.activation)
        cloud = np.ones(len(points)), points, np.eye(3)[:2]
        return self._kernel_of(traced, 'values', cloud, [], layers_scratch)

    def _tip_points(self) -> Matrix:
        L, r = self.length, self.radius[1]
        return np.array([[0.0, 0.0, L], [r, 0.0, L], [0.0, r, L]])

    def _kernel_of(
        self,
        traced: TracedKernel,
        function: str,
        cloud: tuple[Vector, Matrix, Any],
        numbers: Sequence[Sequence[float] | Vector],
        scratch: Callable[[int, int, int], int],
    ) -> Kernel:
        """Kernel of a cloud: weights (K,), points (K, 3) and directions (T, 3 or (K, 3)) there."""
        weights, points, directions = cloud
        n, layers = len(self.coordinates()), _layers(self.weights)
        network = _network_numbers(layers)
        directions = np.array([np.broadcast_to(t, points.shape) for t in directions])
        table = _table(
            self.weights, layers, weights, points, directions.reshape(-1, *points.shape)
        )
        rows = 1 + (1 + len(directions)) * (4 + int(network[2]))
        header = [n, len(table) // (rows * BLOCK), len(network)]
        module = load_module(traced.source, f'{self.type_name}_{function}')
        parameters = np.concatenate([header, network, *numbers, table])
        room = scratch(n, len(directions), int(network[1]))
        return Kernel(module.__name__, function, parameters, room)


def _is_stiffness(rows: Sequence[Sequence[float]], n: int) -> bool:
    """Tell whether rows are a symmetric positive semidefinite matrix (n, n)."""
    if [len(row) for row in rows] != [n] * n:
        return False
    K = np.array(rows)
    return np.array_equal(K, K.T) and np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max()


def _layers(network: Network) -> list[Layer]:
    """
    Weights and shifts of all layers as arrays, the scales of x and q included.

    Layers are filled up to multiples of four by units that do nothing, see ``linear_layer``.
    """
    layers, before = [], 0
    for W, b in network.layers:
        W = np.array(W)
        after = -len(W) % 4
        layers.append((np.pad(W, ((0, after), (0, before))), np.pad(b, (0, after))))
        before = after
    W, b = layers[0]
    return [(W / np.concatenate([network.x_scale, network.q_scale]), b), *layers[1:]]


def _network_numbers(layers: Sequence[Layer]) -> Vector:
    """Flat: layers, most units, units of each layer; W0 of q; W and b of the others."""
    sizes = [len(b) for _, b in layers]
    parts = [np.ravel(part) for layer in layers[1:] for part in layer]
    return np.concatenate([[len(sizes), max(sizes), *sizes], layers[0][0][:, 3:].ravel(), *parts])


def _table(
    network: Network, layers: Sequence[Layer], weights: Vector, points: Matrix, directions: Array
) -> Vector:
    """
    Table of values that depend on x alone, flat, for directions (T, K, 3); padded, weight 0.

    Rows: weights; then s and c of p = c + s N(x, q), and the same of dp/dt for each direction;
    then the first layer's part of x and its derivative along each direction.
    """
    W, b = layers[0]
    first = [points @ W[:, :3].T + b, *(directions @ W[:, :3].T)]
    rest = _rest(network.activation, layers[1:], first)
    s = points[:, 2:] / network.length
    rows = [np.reshape(weights, (-1, 1)), s, points - s * rest[0]]
    for t, rest_t in zip(directions, rest[1:]):
        s_t = t[:, 2:] / network.length
        rows += [s_t, t - s_t * rest[0] - s * rest_t]
    columns = np.hstack([*rows, *first])
    padding = np.repeat(columns[-1:], -len(columns) % BLOCK, axis=0)
    padding[:, 0] = 0.0
    columns = np.concatenate([columns, padding]).T
    return columns.reshape(len(columns), -1, BLOCK).transpose(1, 0, 2).ravel()


def _rest(activation: str, layers: Sequence[Layer], first: list[Matrix]) -> list[Matrix]:
    """N(x, 0) (K, 3) and its derivatives along directions, from those of the first layer."""
    value, gradient = derivatives(activation)[:2]
    for W, b in layers:
        f, f1 = traversal.evaluate([value, gradient], {('q', 0): first[0]}, NUMERIC)
        first = [f @ W.T + b, *(f1 * t @ W.T for t in first[1:])]
    return [each[:, :3] for each in first]


@functools.cache
def _traced(
    emit: Callable[..., TracedKernel], activation: str, material: Material | None = None
) -> TracedKernel:
    """Return the emitted source for a material with symbols for its numbers, or none."""
    if material is None:
        return emit(derivatives(activation))
    return emit(derivatives(activation), lambda F: material.energy(F, SYMBOLIC))
