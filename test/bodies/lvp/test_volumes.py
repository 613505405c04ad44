# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadrature of bodies: the estimate of its error, the rule for a tolerance, meshes."""

from dataclasses import replace

import numpy as np
import pytest
from softrobot_dynamics.bodies.lvp.quadrature_accuracy import (
    converged_quadrature,
    quadrature_error,
)
from softrobot_dynamics.bodies.lvp.volumes import Cylinder
from softrobot_dynamics.errors import ArgumentError, DescriptionError, NotConvergedError
from softrobot_dynamics.kernels import layout
from support.cylinders import body_of, close, hollow, mapping, mesh_file, postures, robot, slab


def test_the_error_estimate_falls_with_refinement():
    """The estimate equals the error against the finest rule and falls as the rule is refined."""
    sample, body = postures(body_of(), 4, seed=16), body_of()
    errors = [
        quadrature_error(body_of(quadrature={'axial': a, 'radial': r, 'angular': c}), sample)
        for a, r, c in ((3, 1, 4), (6, 2, 8), (12, 4, 16))
    ]
    assert 1e-2 > errors[0] > 1e-3 and 1e-4 > errors[1] > 1e-6 and errors[2] < 1e-9
    truth = quadrature_error(body, sample, finest=Cylinder(16, 6, 24))
    assert errors[1] == pytest.approx(truth, rel=1e-2)
    assert quadrature_error(body, sample, finest=body.quadrature) == 0.0


def test_a_rule_is_found_for_a_tolerance():
    """The rule found for a tolerance keeps it and is not much finer than needed."""
    coarse = body_of(quadrature={'axial': 3, 'radial': 1, 'angular': 4})
    sample = postures(coarse, 3, seed=17)
    found = converged_quadrature(coarse, 1e-4, sample)
    assert quadrature_error(found, sample) < 1e-4 < quadrature_error(coarse, sample)
    assert len(found.material_points()[1]) < 150
    for rule in found.quadrature.coarser():
        fewer = replace(found, quadrature=rule)
        assert any(fewer.validate()) or quadrature_error(fewer, sample) > 0.5e-4
    with pytest.raises(NotConvergedError):
        converged_quadrature(coarse, 0.0, sample)
    with pytest.raises(ArgumentError, match='bend'):
        quadrature_error(coarse, [[0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])


def test_meshes_tend_to_the_product_rule(tmp_path):
    """Mass matrix, elastic and damping force of a mesh converge with the square of its size."""
    body, errors = body_of(), []
    (q, qd), n = postures(body, 2, seed=18), 8
    wanted = slab(body, q, qd)[layout.mass_offset(n) :]
    for count in (2, 4):
        rule = {'mesh': mesh_file(tmp_path, count, scale=1e-3), 'scale': 1e-3}
        found = slab(body_of(quadrature=rule), q, qd)[layout.mass_offset(n) :]
        parts = [0, n * n, n * n + n, n * n + 2 * n, n * n + 3 * n]
        errors.append([
            np.abs(found[a:b] - wanted[a:b]).max() / np.abs(wanted[a:b]).max()
            for a, b in zip(parts, parts[1:])
        ])  # fmt: skip
    assert max(errors[1]) < 0.05
    np.testing.assert_allclose(np.divide(*errors), 4.0, atol=1.2)


def test_a_mesh_has_an_estimate_too(tmp_path):
    """The error estimate of a mesh is that of the rule on its elements."""
    sample = postures(body_of(), 2, seed=19)
    path = mesh_file(tmp_path, 2)
    bodies = [body_of(quadrature={'mesh': path, 'order': order}) for order in (1, 2, 4)]
    first, second, fourth = (quadrature_error(body, sample) for body in bodies)
    assert 0.1 > first > second > fourth and fourth < 1e-4
    assert converged_quadrature(bodies[0], 1e-2, sample).quadrature.order > 1


def test_a_mesh_that_does_not_fit_is_refused(tmp_path):
    """A mesh in another unit, too long, inverted or empty is refused."""
    path, junk = mesh_file(tmp_path, 1, scale=1e-3), tmp_path / 'junk.vtu'
    junk.write_text('')
    cases = [
        (path, {}, 'its radius is 20 m, z from 0 to 100 m; see scale'),
        (mesh_file(tmp_path, 2, length=0.11), {}, 'z from 0 to 0.11 m; see scale'),
        (str(junk), {}, 'junk.vtu: a mesh file expected'),
        (path, {'scale': 0.0}, 'scale: 0.0, expected a number > 0'),
    ]
    for file, fields, words in cases:
        with pytest.raises(DescriptionError) as caught:
            robot(mapping(quadrature={'mesh': file, **fields}))
        (problem,) = caught.value.problems
        assert words in str(problem)


def test_hollow_rules_have_the_mass_of_the_wall():
    """A rule of any number of points has the wall's mass and no point in the cavity."""
    for axial in (3, 9):
        points, masses = hollow(quadrature={'axial': axial, 'radial': 1}).material_points()
        assert np.hypot(*points.T[:2]).min() > 0.012
        assert close(masses.sum(), np.array(960.0 * np.pi * (0.02**2 - 0.012**2) * 0.1), 1e-14)
