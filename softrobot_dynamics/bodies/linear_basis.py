# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base of bodies whose position is linear in q: one compiled kernel for any number of them."""

from collections.abc import Callable, Sequence
import functools
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Array, Complaints, Matrix, Vector
from softrobot_dynamics.bodies import linear_basis_derivatives
from softrobot_dynamics.bodies import linear_basis_kernels as linear_basis
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.kernels import weak_form_derivatives
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.tracing import graph, traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import BLOCK
from softrobot_dynamics.tracing.graph import Node, SYMBOLIC
from softrobot_dynamics.tracing.programs import HEADER
from softrobot_dynamics.tracing.stress import moduli_function, stress_function


class LinearBasis(Body):
    """
    A body p = x + sum_j Phi_j(x) q_j; a subclass writes :meth:`position` as any body does.

    The fields Phi are evaluated once, so compiling takes the same time for 4 coordinates and 40.
    One whose fields are not formulas overrides :meth:`fields_at` and :meth:`derivatives_at`
    instead. A strain energy may be any: it is traced as a function of F alone, once for each
    material.
    """

    def fields_at(self, points: Matrix) -> Array:
        """Fields (K, 3, n) at material points (K, 3) [m]."""
        columns, n = _fields(self), len(self.coordinates())
        values = _evaluate([node for column in columns for node in column], points)
        return values.reshape(n, 3, -1).transpose(2, 1, 0)

    def derivatives_at(self, points: Matrix) -> Array:
        """Return d Phi_a / d x_b [1/m] of the fields at points, (K, n, 3, 3)."""
        columns, n = _fields(self), len(self.coordinates())
        by_x = [
            node
            for column in columns
            for row in zip(*(tangent(column, {('x', b): 1.0}) for b in range(3)))
            for node in row
        ]
        return np.moveaxis(_evaluate(by_x, points).reshape(n, 3, 3, -1), -1, 0)

    def tip_points(self) -> tuple[Matrix, Array]:
        """Material points o, a, b (3, 3) [m] of the tip frame, and their fields (3, 3, n)."""
        points = self.length * np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
        return points, self.fields_at(points)

    def validate(self) -> Complaints:
        """Yield a material that has a stress where nothing is deformed."""
        material = getattr(self, 'material', None)
        if material is not None and not _rests(material):
            yield 'material', material.type_name, 'a material without stress at rest'

    def strain_quadrature(self) -> tuple[Array, Vector]:
        """Gradients of the fields (K, n, 3, 3) and volumes (K,) [m^3], for a strain energy."""
        points, masses = self.material_points()
        return self.derivatives_at(points), masses / self.density

    def stretch(self, q: Vector) -> float:
        """Return the smallest det dp/dx where :meth:`strain_derivatives` are known."""
        F = np.eye(3) + np.einsum(
            'kjab,j->kab', self.strain_derivatives, np.asarray(q, dtype=float)
        )
        return float(np.linalg.det(F).min())

    @functools.cached_property
    def strain_derivatives(self) -> Array:
        """Derivatives of the fields (K, n, 3, 3) at material points."""
        return self.derivatives_at(self.material_points()[0])

    def kernel(self) -> Kernel:
        """See :class:`Body`; the numbers of :mod:`.linear_basis_kernels`."""
        n = len(self.coordinates())
        scratch = int(linear_basis.inertial_scratch.py_func(n))
        if self._has_energy():
            scratch = max(scratch, 27 * BLOCK)
            return self._kernel_of_stress('terms', stress_function, _TERMS, scratch)
        return Kernel(linear_basis.__name__, 'linear_terms', self._linear_numbers(), scratch)

    def derivatives_kernel(self) -> Kernel | None:
        """See :class:`Body`; the numbers are those of the terms."""
        scratch = int(
            linear_basis_derivatives.derivatives_scratch.py_func(len(self.coordinates()))
        )
        if self._has_energy():
            scratch = max(
                scratch, weak_form_derivatives.stress_rows.py_func(len(self.coordinates())) * BLOCK
            )
            return self._kernel_of_stress('derivatives', moduli_function, _DERIVATIVES, scratch)
        numbers = self._linear_numbers()
        return Kernel(linear_basis_derivatives.__name__, 'linear_derivatives', numbers, scratch)

    def _has_energy(self) -> bool:
        return self._symbolic()[0].energy(np.eye(3).tolist(), SYMBOLIC) is not None

    def _linear_numbers(self) -> Vector:
        """Numbers that do without a strain energy."""
        matrices = np.ravel(self.stiffness()), np.ravel(self.damping_matrix())
        return np.concatenate([self._inertial_numbers(), *matrices])

    def _kernel_of_stress(
        self, function: str, trace: Callable[..., Any], template: str, scratch: int
    ) -> Kernel:
        """Return the kernel of a template that calls the traced stress."""
        n, (symbolic, constants) = len(self.coordinates()), self._symbolic()
        source, tables = trace(lambda F: symbolic.energy(F, SYMBOLIC))
        derivatives, volumes = self.strain_quadrature()
        table = _blocked(volumes, derivatives.reshape(len(volumes), -1))
        blocks = len(table) // ((1 + 9 * n) * BLOCK)
        own = [self.viscosity() or 0.0, blocks], tables.numbers(constants), table
        source = HEADER + source + template.format(block=BLOCK, scalars=len(tables.scalars))
        module = load_module(source, f'linear_basis_{function}')  # of any body of the material
        numbers = np.concatenate([self._linear_numbers(), *own])
        return Kernel(module.__name__, function, numbers, scratch)

    def fibre_kernel(self, points: Matrix, derivatives: Array, weights: Vector) -> Kernel:
        """See :class:`Body`; the tangent of the curve is linear in q."""
        along = np.column_stack([derivatives, np.ones(len(points))])
        moved = np.einsum('kjab,kb->kja', self.derivatives_at(np.asarray(points)), along)
        return fibre_kernel(weights, along, moved)

    def points_kernel(self, points: Matrix) -> Kernel:
        """See :class:`Body`; the fields and their derivatives there, once for all."""
        return values_kernel(points, self.fields_at(points), self.derivatives_at(points))

    def _inertial_numbers(self) -> Vector:
        """Return the moments of the fields, and the tip, that the kernel of terms reads."""
        points, masses = self.material_points()
        fields = np.concatenate([points[:, :, None], self.fields_at(points)], axis=2)
        rows = (np.sqrt(masses)[:, None, None] * fields).reshape(len(masses), -1)
        m = fields.shape[2]
        second = rows.T @ rows
        second = 0.5 * (second + second.T).reshape(3, m, 3, m)  # to the last bit symmetric
        tip, moved = self.tip_points()
        tip = np.concatenate([tip[:, :, None], moved], axis=2)
        tip[1:] -= tip[0]
        return np.concatenate(
            [
                [m - 1, masses.sum()],
                np.einsum('k,kcm->mc', masses, fields).ravel(),
                second.transpose(1, 0, 2, 3).ravel(),
                np.einsum('aiaj->ij', second)[1:, 1:].ravel(),
                tip.transpose(2, 0, 1).ravel(),
            ]
        )


def fibre_kernel(weights: Vector, along: Matrix, moved: Array) -> Kernel:
    """Kernel of a curve whose tangent is ``along`` (K, 3) plus q_j times ``moved`` (K, n, 3)."""
    n = moved.shape[1]
    table = _blocked(weights, np.hstack([along, moved.reshape(len(along), -1)]))
    numbers = np.concatenate([[n, len(table) // ((4 + 3 * n) * BLOCK)], table])
    return Kernel(linear_basis.__name__, 'fibre_length', numbers, 9 * BLOCK)


def values_kernel(points: Matrix, fields: Array, derivatives: Array) -> Kernel:
    """Kernel of points x (K, 3) [m] that move by fields (K, 3, n) with gradients (K, n, 3, 3)."""
    count, _, n = fields.shape
    still = np.zeros((count, 1, 3, 3))  # of each point, by coordinate: p, dp/dx1, dp/dx2
    still[:, 0, 0], still[:, 0, 1, 0], still[:, 0, 2, 1] = points, 1.0, 1.0
    moved = np.stack([fields.swapaxes(1, 2), derivatives[..., 0], derivatives[..., 1]], axis=2)
    rows = np.concatenate([still, moved], axis=1).reshape(count, -1)
    table = _blocked(np.ones(count), rows).reshape(-1, 10 + 9 * n, BLOCK)[:, 1:]
    return Kernel(linear_basis.__name__, 'values', np.append([n, len(table)], table))


def _fields(body: Body) -> list[list[Node]]:
    """Nodes of dp/dq_j, three for each coordinate, which must not depend on q."""
    n = len(body.coordinates())
    x, q = graph.symbols('x', 3), graph.symbols('q', n)
    position = [graph.as_node(c) for c in body.position(x, q, SYMBOLIC)]
    columns = [tangent(position, {('q', j): 1.0}) for j in range(n)]
    order = traversal.topological([node for column in columns for node in column])
    if any('q' in kinds for kinds in traversal.symbol_kinds(order).values()):
        raise TypeError(f'the position of a {body.type_name} body is not linear in q')
    return columns


def _evaluate(nodes: Sequence[Node], points: Matrix) -> Matrix:
    """Values (nodes, K) at points (K, 3)."""
    symbols = {('x', i): column for i, column in enumerate(np.asarray(points, dtype=float).T)}
    values = traversal.evaluate(nodes, symbols, NUMERIC)
    return np.array([np.broadcast_to(value, len(points)) for value in values])


def _blocked(weights: Vector, rows: Matrix) -> Vector:
    """Flat table, per block of points the weights (K,), then each column of ``rows`` (K, R)."""
    padding = -len(weights) % BLOCK
    rows = np.concatenate([rows, np.repeat(rows[-1:], padding, axis=0)])
    weights = np.concatenate([weights, np.zeros(padding)])
    table = np.column_stack([weights, rows]).T
    return table.reshape(len(table), -1, BLOCK).transpose(1, 0, 2).ravel()


def _rests(material: Material) -> bool:
    """Tell whether the stress of a material vanishes, next to its stiffness, where F = 1."""
    F = graph.symbols('F', 9)
    energy = graph.as_node(material.energy([F[:3], F[3:6], F[6:]], SYMBOLIC))
    stress = [tangent([energy], {('F', i): 1.0})[0] for i in range(9)]
    stiffness = tangent(stress, {('F', 0): 1.0})
    rest = {('F', i): np.eye(3).flat[i] for i in range(9)}
    values = traversal.evaluate([*stress, *stiffness], rest, NUMERIC)
    return np.abs(values[:9]).max() <= 1e-9 * np.abs(values[9:]).max()


_TERMS = """
from softrobot_dynamics.kernels.layout import bias_offset
from softrobot_dynamics.bodies.linear_basis_kernels import inertial_numbers, linear_terms
from softrobot_dynamics.kernels.weak_form import add_forces, deformation, viscous_stress


@kernel
def terms(P, q, qd, w, W, S):
    n = int(P[0])
    linear_terms(P, q, qd, w, W, S)
    T = P[inertial_numbers(n) + 2 * n * n:]
    viscosity, blocks = T[0], int(T[1])
    P = T[2:2 + {scalars}]
    T = T[2 + {scalars}:]
    size = (1 + 9 * n) * {block}
    first = bias_offset(n) + n
    elastic, damping = W[first:first + n], W[first + n:first + 2 * n]
    S = S[:27 * {block}]
    for block in range(blocks):
        weight = T[block * size:block * size + {block}]
        G = T[block * size + {block}:(block + 1) * size]
        deformation(n, G, q, qd, S)
        stress(P, weight, S[:9 * {block}], S[18 * {block}:])
        viscous_stress(viscosity, weight, S)
        add_forces(n, G, S, elastic, damping)
"""

_DERIVATIVES = """
from softrobot_dynamics.bodies.linear_basis_kernels import inertial_numbers
from softrobot_dynamics.bodies.linear_basis_derivatives import linear_derivatives
from softrobot_dynamics.kernels.weak_form import deformation
from softrobot_dynamics.kernels.weak_form_derivatives import (
    add_stress_derivatives, CHANGES, MODULI, stress_rows, STRESS)


@kernel
def derivatives(P, q, qd, qdd, motion, D, S):
    n = int(P[0])
    linear_derivatives(P, q, qd, qdd, motion, D, S)
    T = P[inertial_numbers(n) + 2 * n * n:]
    viscosity, blocks = T[0], int(T[1])
    P = T[2:2 + {scalars}]
    T = T[2 + {scalars}:]
    size = (1 + 9 * n) * {block}
    S = S[:stress_rows(n) * {block}]
    for block in range(blocks):
        weight = T[block * size:block * size + {block}]
        G = T[block * size + {block}:(block + 1) * size]
        deformation(n, G, q, qd, S)
        moduli(P, weight, S[:9 * {block}], S[STRESS * {block}:])
        for k in range(n):
            change = S[(CHANGES + 9 * k) * {block}:(CHANGES + 9 * k + 9) * {block}]
            apply_moduli(S[MODULI * {block}:], G[9 * k * {block}:9 * (k + 1) * {block}], change)
        add_stress_derivatives(n, viscosity, weight, G, G[:0], S, D)
"""
