# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lengths of wound and curved routes beside integrals by scipy, through bodies of every kind."""

import numpy as np
from oracles.jets import Jet, jet, JETS
import pytest
from scipy.integrate import fixed_quad, quad
import softrobot_dynamics as sd
from softrobot_dynamics.checking.units import questions
from softrobot_dynamics.dynamics.derivatives import forward_dynamics_derivatives
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.model import length_quadrature as lengths_of_curves
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.differences import derivative_at_once, gradient
from support.robots import compiled

L, R = 0.3, 0.02
ROD = {'length': L, 'density': 1000.0, 'young_modulus': 1e5, 'damping': 0.05}
ROUND = {'type': 'circular', 'radius': R}
PARABOLA = {'basis': 'legendre', 'order': 2}
PIECES = {'basis': 'piecewise_constant', 'order': 2}
RUBBER = {'type': 'incompressible_neo_hookean', 'modulus': 1.8e5, 'damping': 0.05}
FIELDS = {
    'bend': {'x': {'s^2': 1.0}, 'z': {'x s': -2.0}}, 'stretch': {'z': {'s': 1.0}},
    'twist': {'x': {'y s': -1.0}, 'y': {'x s': 1.0}},
}  # fmt: skip
SOLID = {'type': 'neo_hookean', 'young_modulus': 1e5, 'poisson_ratio': 0.3}
BODIES = {
    'pcc': ({'type': 'pcc', 'radius': [R, 0.5 * R], **ROD}, [1.5, -0.4, 0.01]),
    'planar_cc': ({'type': 'planar_cc', 'radius': R, **ROD}, [1.3]),
    'cosserat': (
        {'type': 'cosserat', **ROD, 'section': ROUND, 'strains': dict.fromkeys(
            ('kappa_x', 'kappa_y', 'kappa_z', 'gamma_z'), PARABOLA)},
        [1.0, -0.5, 0.7, 4.0, 1.0, -1.0, 2.0, -3.0, 1.0, 0.03, 0.01, -0.02],
    ),
    'cosserat in pieces, one point each': (
        {'type': 'cosserat', **ROD, 'section': ROUND, 'quadrature': 1,
         'strains': {'kappa_y': PIECES, 'gamma_x': {'basis': 'legendre'}}},
        [4.0, -2.0, 3.0, 0.05],
    ),
    'lvp': (
        {'type': 'lvp', 'length': L, 'outer_radius': R, 'density': 960.0, 'material': RUBBER},
        None,
    ),
    'ritz': (
        {'type': 'ritz', 'length': L, 'radius': R, 'density': 1000.0, 'material': SOLID,
         'fields': FIELDS},
        [0.05, 0.02, 0.3],
    ),
}  # fmt: skip
OFFSETS = {
    'four': ({'radius': 0.015, 'turns': 4.0}, (0.0, 1.0)),
    'five': ({'radius': 0.015, 'phase': 0.3, 'turns': -5.0}, (0.0, 1.0)),
    'eight': ({'radius': 0.012, 'phase': 1.0, 'turns': 8.0}, (0.0, 1.0)),
    'part': ({'radius': 0.012, 'phase': 1.0, 'turns': 12.0}, (0.15, 0.85)),
    'powers': (
        {'x': [0.0, 0.2, -1.9, 6.4, -9.0, 4.3], 'y': [0.01, 0, 0, 0, 0, 0, 0, 0, 0, -0.01]},
        (0.0, 1.0),
    ),
}  # fmt: skip


def model_of(body, offsets=OFFSETS, **fields):
    """Return one body with a tendon along each route, and a chamber along the first."""

    def path(offset, span):
        return [{'body': 'b', 'offset': offset, 'span': list(span)}]

    routes = [{'name': name, 'type': 'tendon', 'path': path(*o)} for name, o in offsets.items()]
    chamber = {'name': 'c', 'type': 'chamber', 'path': path(*offsets['four']), 'area': 2e-4}
    robot = {
        'name': 'wound', 'gravity': [0.0, 0.0, 0.0], 'actuators': [*routes, chamber],
        'bodies': [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}], **fields,
    }  # fmt: skip
    return sd.compile_model(sd.load_robot(robot))


def strains_of(body, sigma, q):
    """Return kappa (3, K) and gamma (3, K) of a rod by the definitions of its coordinates."""
    zero = 0.0 * sigma
    if body.type_name == 'cosserat':
        xi = [zero + x for x in body.strain(sigma, q, NUMERIC)]
        return np.array(xi[:3]), np.array(xi[3:])
    bend_x, bend_y, elongation = [*q, 0.0, 0.0][:3]
    kappa = [zero - bend_y / L, zero + bend_x / L, zero]
    return np.array(kappa), np.array([zero, zero, zero + 1.0 + elongation / L])


def speed(body, offset, sigma, q):
    """Return |dr / d(s/L)| [m] of a curve at an offset in the sections."""
    if body.type_name in ('pcc', 'planar_cc', 'cosserat'):
        d, slope = (np.array(np.broadcast_arrays(*f(sigma), 0.0 * sigma)) for f in
                    (offset.at, offset.derivative))  # fmt: skip
        kappa, gamma = strains_of(body, sigma, q)
        return np.linalg.norm(L * (gamma + np.cross(kappa, d, axis=0)) + slope, axis=0)
    s = Jet(sigma, 1.0)
    x, y = offset.at(s, JETS)
    r = [jet(c) for c in body.position([x, y, L * s], list(q), JETS)]
    return np.sqrt(sum((0.0 * sigma + c.first) ** 2 for c in r))


def lengths(model, q):
    """
    Return the lengths by scipy's Gauss rule of many points, piece by piece; volumes.

    They are (m,) for q (n,), (..., m) for many q (..., n) at once, which takes hardly longer.
    """
    body, found = model.description.modules[0].body, []
    x = np.moveaxis(q[..., None], -2, 0)  # (n, ..., 1), beside points (100,)
    for entry in model.description.actuators:
        (passage,) = entry.actuator.path
        way, (first, last) = passage.offset, passage.span
        ends = [first, *(b for b in (1 / 3, 2 / 3) if first < b < last), last]
        total = sum(
            fixed_quad(lambda s: speed(body, way, s + 0.0 * x[0], x), a, b, n=100)[0]  # noqa: B023
            for a, b in zip(ends, ends[1:])
        )
        found.append(getattr(entry.actuator, 'area', 1.0) * total)
    return np.stack(found, -1)


def posture(model, q):
    """Return q, or one that a volume with modes can take."""
    if q is not None:
        return np.array(q)
    names = model.coordinate_names
    return np.array([0.03 if 'stretch' in n else 1.5 if 'bend' in n else 0.1 for n in names])


@pytest.fixture(scope='module', params=BODIES)
def wound(request):
    """Return a model, a posture, and how far coordinates go in differences."""
    body, q = BODIES[request.param]
    model = model_of(body)
    return model, posture(model, q), 0.1 * np.maximum(np.abs(posture(model, q)), 0.01)


def test_lengths_and_lever_arms_are_those_of_the_integral(wound):
    """Lengths y and lever arms dy/dq of wound tendons and chambers equal the integral."""
    model, q, reach = wound
    found, size = sd.actuation(model, q=q, qd=0.0 * q), lengths(model, 0.0 * q)
    wanted = lengths(model, q) - size
    assert np.abs(wanted / size).max() > 1e-3
    np.testing.assert_allclose(found.coordinates / size, wanted / size, rtol=0.0, atol=3e-10)

    def moved(t):  # along each coordinate, (K, n, m)
        return lengths(model, q + t[:, None, None] * np.diag(reach))

    change = derivative_at_once(moved, 0.05)  # (n, m)
    arms = found.jacobian * reach / size[:, None]
    np.testing.assert_allclose(arms, change.T / size[:, None], rtol=0.0, atol=3e-10)


def test_bias_and_derivatives_of_wound_routes_are_consistent(wound):
    """The bias is the rate of the lever arms, and derivatives by q equal differences."""
    model, q, reach = wound
    n, rates, size = model.n, reach, lengths(model, 0.0 * q)
    found = sd.actuation(model, q=q, qd=rates)

    def velocity(t):
        return sd.actuation(model, q=q + t[0] * rates, qd=rates).velocities

    bias = gradient(velocity, np.zeros(1), 0.02)[:, 0]
    np.testing.assert_allclose(found.bias / size, bias / size, rtol=0.0, atol=1e-9)
    u = np.ones(model.m)
    change = forward_dynamics_derivatives(model, q=q, qd=np.zeros(n), u=u).by_q
    free = forward_dynamics_derivatives(model, q=q, qd=np.zeros(n), u=0.0 * u).by_q

    def pushed(x):
        rest = np.zeros(n)
        own = [sd.forward_dynamics(model, q=x, qd=rest, u=each) for each in (u, 0.0 * u)]
        return own[0] - own[1]

    wanted = gradient(pushed, q, 0.02, reach)
    assert np.abs(change - free - wanted).max() < 1e-6 * np.abs(wanted).max()


def test_the_integral_is_that_of_adaptive_quadrature():
    """The reference integral and a robot equal scipy's quadrature for four turns."""
    model = model_of(*BODIES['pcc'][:1])
    q, body = np.array([1.5, 0.0, 0.01]), model.description.modules[0].body
    offset = model.description.actuators[0].actuator.path[0].offset
    value = [
        quad(lambda s, x=x: float(speed(body, offset, np.array([s]), x)[0]), 0, 1, epsabs=1e-13,
             limit=500)[0] for x in (0.0 * q, q)
    ]  # fmt: skip
    assert lengths(model, q)[0] == pytest.approx(value[1], rel=1e-13)
    assert sd.actuation(model, q=q, qd=q).coordinates[0] == pytest.approx(
        value[1] - value[0], abs=1e-12
    )


def test_a_route_has_the_points_that_its_curve_needs():
    """Straight routes have the body's points, wound ones more; each states its error."""
    offsets = {'four': ([0.01, 0.0], (0.0, 1.0)), 'eight': OFFSETS['eight']}
    model = model_of(BODIES['pcc'][0], offsets)
    points = [s.points for s in model.samplings]
    assert points[0] == points[2] == 10 and points[1] >= 40
    assert all(0.0 <= s.error <= 1e-10 for s in model.samplings)
    for name in ('pcc_arm', 'pneumatic_arm', 'scalability'):
        assert {s.points for s in compiled(name).samplings} == {10}


@pytest.mark.parametrize('phase', [3.14159265, 3.1415926535897931, 1.5707963, 1e-9, 1e-5])
@pytest.mark.parametrize('kind', ['pcc', 'cosserat', 'lvp'])
def test_a_straight_route_at_a_rounded_angle_is_measured_as_any_other(kind, phase):
    """A lever arm of nearly zero about one axis asks for no postures of a thousand turns."""
    offsets = {
        'four': ({'radius': 0.015, 'phase': phase}, (0.0, 1.0)),
        'eight': ({'radius': 0.015, 'phase': 0.7}, (0.0, 1.0)),
    }
    rounded, usual = (s.points for s in model_of(BODIES[kind][0], offsets).samplings[:2])
    assert rounded <= 2 * usual


def test_routes_are_looked_at_once_for_robots_that_differ_in_stiffness(monkeypatch):
    """Robots of another stiffness have the same points at once; one of another length has not."""
    looked_at, converged = [], lengths_of_curves._converged
    monkeypatch.setattr(lengths_of_curves, '_known', {})
    monkeypatch.setattr(
        lengths_of_curves, '_converged', lambda *given: looked_at.append(1) or converged(*given)
    )
    body, offsets = BODIES['pcc'][0], {'four': OFFSETS['four']}
    first = model_of(body, offsets).samplings
    count = len(looked_at)
    assert model_of({**body, 'young_modulus': 1e6}, offsets).samplings == first
    assert len(looked_at) == count > 0
    model_of({**body, 'length': 1.1 * L}, offsets)
    assert len(looked_at) > count


def test_a_route_that_no_rule_can_measure_is_refused(monkeypatch):
    """A route with too many windings is refused with its body, windings and error."""
    monkeypatch.setattr(lengths_of_curves, 'MAX_CURVE_POINTS', 512)
    offsets = {'four': ({'radius': 0.0149, 'turns': 300.0}, (0.0, 1.0))}
    with pytest.raises(DescriptionError, match=r'through b: .*300.*winds less.*512 points'):
        model_of(BODIES['pcc'][0], offsets)


@pytest.mark.parametrize('turns', [8192.0, -1e6])
def test_windings_that_every_rule_would_sample_at_the_same_phase_are_refused(turns):
    """A curve of 8192 turns is refused: all rules of 2^k points give the same wrong length."""
    offsets = {'four': ({'radius': 0.015, 'turns': turns}, (0.0, 1.0))}
    with pytest.raises(DescriptionError, match=r'offset.turns: .* <= 500'):
        model_of(BODIES['pcc'][0], offsets)


def test_an_offset_far_outside_of_the_section_draws_a_question():
    """An offset far outside of the section, as by a wrong unit, draws a question."""
    for offset, asked in (([0.15, 0.0], True), ([0.0, -0.05], True), ([0.015, 0.01], False)):
        for paths in ({'x': [offset[0]], 'y': [offset[1]]}, offset):
            model = model_of(BODIES['pcc'][0], {'four': (paths, (0.0, 0.2))})
            found = [each for each in questions(model.description) if 'beside the axis' in each]
            assert bool(found) == asked
            assert all('four: runs' in f or 'c: runs' in f for f in found)


@pytest.mark.parametrize('scale', [1e-3, 1e2])
def test_a_robot_of_another_size_has_as_many_points(scale):
    """Lengths and lever arms scale with the robot; the number of points does not."""
    body = {**BODIES['pcc'][0], 'length': L * scale, 'radius': R * scale}
    offsets = {'four': ({'radius': 0.015 * scale, 'turns': 4.0}, (0.0, 1.0))}
    large, small = model_of(body, offsets), model_of(BODIES['pcc'][0], {'four': OFFSETS['four']})
    assert [s.points for s in large.samplings] == [s.points for s in small.samplings]
    q = np.array([1.5, -0.4, 0.01])
    wanted = sd.actuation(small, q=q, qd=q).coordinates[0]
    q[2] *= scale
    assert sd.actuation(large, q=q, qd=q).coordinates[0] == pytest.approx(scale * wanted)
