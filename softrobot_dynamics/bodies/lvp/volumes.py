# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadrature rules of volumes as a robot file gives them, and how good they are."""

from dataclasses import dataclass, replace
import functools
from importlib import import_module

import numpy as np
from softrobot_dynamics.bodies.meshes import read_tetrahedra
from softrobot_dynamics.errors import ArgumentError, MeshError, NotConvergedError
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.quadrature import annulus_points, cylinder_points, gauss_legendre
from softrobot_dynamics.schema.fields import custom, file, integer, number
from softrobot_dynamics.schema.parsing import parse

MOST = 100_000  # points of a rule that a search tries


@dataclass(frozen=True)
class Cylinder:
    """The product rule, see :func:`softrobot_dynamics.kernels.quadrature.cylinder_points`."""

    axial: int = integer(at_least=2, default=6)
    radial: int = integer(at_least=1, default=2)
    angular: int = integer(at_least=4, default=8)

    def points(self, length, outer, inner):
        """Points (K, 3) [m] and volumes (K,) [m^3] between two radii [m]."""
        return cylinder_points(length, outer, inner, self.axial, self.radial, self.angular)

    def sections(self, length, outer, inner):
        """Stations (S,) [m], their weights [m], points (K, 2) [m] of a section, areas [m^2]."""
        section = annulus_points(outer, inner, self.radial, self.angular)
        return *gauss_legendre(self.axial, 0.0, length), *section

    def finer(self):
        """Return the rules with half as many points again, rounded up, in one direction each."""
        return [
            replace(self, **{name: (3 * getattr(self, name) + 1) // 2})
            for name in ('axial', 'radial', 'angular')
        ]

    def coarser(self):
        """Return the rules with one point less in one direction each, as far as there are any."""
        return [
            replace(self, **{name: getattr(self, name) - 1})
            for name, least in (('axial', 2), ('radial', 1), ('angular', 4))
            if getattr(self, name) > least
        ]

    def misfit(self, length, outer, inner):
        """Yield nothing: a cylinder fits."""
        return ()


@dataclass(frozen=True)
class Tetrahedra:
    """A rule on a mesh of the body at rest: from z = 0 to its length, about the z axis."""

    mesh: str = file(expected='a mesh file')
    scale: float = number('m', above=0.0, default=1.0)  # the unit of the file
    order: int = integer(at_least=1, default=1)  # of polynomials that are integrated exactly

    def points(self, length, outer, inner):
        """Points (K, 3) [m] and volumes (K,) [m^3]; MeshError if there are none."""
        return _read(self.mesh, self.scale).quadrature(self.order)

    def finer(self):
        """Return the rule of the next order but one."""
        return [replace(self, order=self.order + 2)]

    def coarser(self):
        """Return the rule of the next lower order."""
        return [replace(self, order=self.order - 1)] if self.order > 1 else []

    def misfit(self, length, outer, inner):
        """Yield (field, value, expected) if the mesh cannot be read or is not in the cylinder."""
        try:
            points = _read(self.mesh, self.scale).points
        except MeshError as error:
            yield 'mesh', self.mesh, f'a mesh of tetrahedra ({error})'
            return
        radius, slack = np.hypot(points[:, 0], points[:, 1]).max(), 1e-6 * length
        low, high = points[:, 2].min(), points[:, 2].max()
        if low < -slack or high > length + slack or radius > outer + slack:
            found = f'its radius is {radius:.4g} m, z from {low:.4g} to {high:.4g} m'
            yield 'mesh', self.mesh, f'a mesh within length and outer_radius: {found}; see scale'


def volume_rule():
    """Return the field of a rule: {axial, radial, angular}, or {mesh, scale, order}."""

    def read(value, path, problems):
        cls = Tetrahedra if isinstance(value, dict) and 'mesh' in value else Cylinder
        return parse(cls, value, path, problems)

    expected = '{axial, radial, angular}, or {mesh, scale, order}'
    return custom(read, expected=expected, default=Cylinder())


@functools.cache
def _read(path, scale):
    return read_tetrahedra(path, scale)


def quadrature_error(body, postures, rates=None, finest=None):
    """
    Estimate the error of a body's quadrature: relative to a finer rule, the largest on a sample.

    ``body`` has a field ``quadrature`` of this module; ``postures`` (S, n) and ``rates`` (S, n),
    by default equal to them, are coordinates and velocities that it can take. Compared are, each
    relative to its largest entry in the sample, the inertia, the coupling and the mass matrix, and
    the bias, elastic and damping forces. ``finest`` is the rule to compare with, by default one
    twice as fine in every direction. Raises ArgumentError for a posture the body cannot take.
    """
    postures = np.atleast_2d(np.asarray(postures, dtype=float))
    rates = postures if rates is None else np.atleast_2d(np.asarray(rates, dtype=float))
    finest = _twice(body.quadrature) if finest is None else finest
    wanted = _slabs(replace(body, quadrature=finest), postures, rates)
    return _difference(body, _slabs(body, postures, rates), wanted)


def converged_quadrature(body, tolerance, postures, rates=None):
    """
    Return the body with a coarse rule whose :func:`quadrature_error` is below ``tolerance``.

    Starts from the body's own rule and refines, step by step, the direction that gains most; then
    takes points away again wherever the error stays below the tolerance. Raises NotConvergedError
    if that takes more than 100 000 points.
    """
    postures = np.atleast_2d(np.asarray(postures, dtype=float))
    rates = postures if rates is None else np.atleast_2d(np.asarray(rates, dtype=float))
    error, steps = quadrature_error(body, postures, rates), 0
    while not error < tolerance:
        finer = [replace(body, quadrature=rule) for rule in body.quadrature.finer()]
        if max(len(each.material_points()[1]) for each in finer) > MOST:
            raise NotConvergedError('quadrature', steps, error)
        own = _slabs(body, postures, rates)
        gains = [_difference(body, own, _slabs(each, postures, rates)) for each in finer]
        body, steps = finer[int(np.argmax(gains))], steps + 1
        error = quadrature_error(body, postures, rates)
    return _trimmed(body, tolerance, postures, rates)


def _trimmed(body, tolerance, postures, rates):
    """Take away points, most first, while the errors to two finer rules stay below."""
    finest = _twice(body.quadrature)

    def is_good(each):
        if any(each.validate()):
            return False
        rules = finest, None
        return all(quadrature_error(each, postures, rates, f) < tolerance for f in rules)

    while True:
        coarser = [replace(body, quadrature=rule) for rule in body.quadrature.coarser()]
        coarser.sort(key=lambda each: len(each.material_points()[1]))
        found = next(filter(is_good, coarser), None)
        if found is None:
            return body
        body = found


def _twice(rule):
    for i in range(len(rule.finer())):
        rule = rule.finer()[i].finer()[i]
    return rule


def _slabs(body, postures, rates):
    """Slabs (S, size) of a body's kernel, its joint frame turning."""
    n, kernel = len(body.coordinates()), body.kernel()
    function = getattr(import_module(kernel.module), kernel.function)
    W, S = np.zeros((len(postures), layout.body_size.py_func(n))), np.zeros(kernel.scratch)
    for q, qd, slab in zip(postures, rates, W):
        function(kernel.parameters, q, qd, np.array([0.3, -0.5, 0.7]), slab, S)
        if not np.isfinite(slab).all():
            raise ArgumentError('postures', q, body.explain(q) or 'what the body can take')
    return W


def _difference(body, found, wanted):
    n = len(body.coordinates())
    parts = [
        layout.inertia_offset.py_func(n), layout.coupling_offset.py_func(n),
        layout.mass_offset.py_func(n), layout.bias_offset.py_func(n),
        layout.bias_offset.py_func(n) + n, layout.bias_offset.py_func(n) + 2 * n,
        layout.body_size.py_func(n),
    ]  # fmt: skip
    return max(
        np.abs(found[:, a:b] - wanted[:, a:b]).max() / (np.abs(wanted[:, a:b]).max() or 1.0)
        for a, b in zip(parts, parts[1:])
    )
