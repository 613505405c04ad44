# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of bodies and joints by their own coordinates, against many digits."""

import dataclasses

import mpmath
import numpy as np
from oracles import derivatives
from oracles.precise import PRECISE
import pytest
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.bodies.cosserat.body import Cosserat
from softrobot_dynamics.bodies.fem.body import ReducedFiniteElements
from softrobot_dynamics.bodies.lvp.body import LocallyVolumePreserving
from softrobot_dynamics.bodies.planar_cc import PlanarConstantCurvature
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.kernels import layout
from support.derivative_checks import assert_body_derivatives, assert_kinds, state
from support.generated import instance, instances
from support.kernel_calls import call

POINTS = 2  # that the oracle can wait for
SECTIONS = 10  # with which sums over a bent rod are exact to rounding


def with_derivatives(registry):
    """Parameters: all valid instances that have a kernel of derivatives."""
    made = [
        pytest.param(instance(registry, given), id=f'{name}-{i}')
        for name in registry.names()
        for i, given in enumerate(instances(registry, name))
    ]
    made = [p for p in made if p.values[0].coordinates() and p.values[0].derivatives_kernel()]
    others = Cosserat, LocallyVolumePreserving  # they have tests of their own
    return [p for p in made if not isinstance(p.values[0], others)]


def few(body):
    """Return a body with few of its material points, and these; all where a kernel has its own."""
    if isinstance(body, PlanarConstantCurvature):
        known, masses = dataclasses.replace(body, quadrature=SECTIONS).material_points()
        return body, [(derivatives.vector(x), mass) for x, mass in zip(known, masses)]
    known, masses = body.material_points()
    some = np.random.default_rng(1).permutation(len(masses))[:POINTS]

    class Few(type(body)):
        def material_points(self):
            return known[some], masses[some]

    made = few_of_mesh(Few, body, known[some]) if isinstance(body, ReducedFiniteElements) else Few
    fields = {f.name: getattr(body, f.name) for f in dataclasses.fields(body)}
    return made(**fields), [(derivatives.vector(known[i]), masses[i]) for i in some]


def few_of_mesh(cls, body, points):
    """Return a class of ``fem`` bodies with a formula: that next to these points (K, 3)."""
    precise = np.vectorize(mpmath.mpf, otypes=[object])
    fields = precise(body.fields_at(points))
    turned = precise(np.swapaxes(body.derivatives_at(points), 1, 2))

    class FewOfMesh(cls):
        def strain_quadrature(self):
            return self.derivatives_at(points), self.material_points()[1] / self.density

        def position(self, x, q, math):
            x = np.array(list(x), dtype=object)
            i = np.abs(points - x.astype(float)).sum(axis=1).argmin()
            return list(
                x + (fields[i] + turned[i] @ (x - derivatives.vector(points[i]))) @ np.array(q)
            )

    return FewOfMesh


@pytest.mark.parametrize('body', with_derivatives(BODIES))
def test_derivatives_of_bodies(body):
    """Derivatives of every body by q and by qd are exact."""
    assert_body_derivatives(*few(body))


@pytest.mark.parametrize('joint', with_derivatives(JOINTS))
def test_derivatives_of_joints(joint):
    """Derivatives of the twists of joints equal those of many digits."""
    n = len(joint.coordinates())
    q, qd, qdd = state(joint.coordinates(), 4)
    found = np.full(layout.force_derivatives_offset.py_func(n), np.nan)
    call(joint.derivatives_kernel(), 'P, q, qd, qdd, D', q, qd, qdd, found)
    before = joint.before
    with mpmath.workdps(derivatives.DIGITS):

        def frame(q):
            R, t = joint.motion(list(q), PRECISE)
            R, t = np.array(R, dtype=object).reshape(3, 3), np.array(list(t), dtype=object)
            return (before[:3, :3] @ R).ravel(), before[:3, :3] @ t + before[:3, 3]

        wanted = derivatives.twist_derivatives(frame, *map(derivatives.vector, (q, qd, qdd)))
    assert_kinds(found, wanted.astype(float), n, len(found))
