# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Splines of outputs: their values, smoothness and feasibility."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError, ExcessiveReferenceError
from softrobot_dynamics.references import feasibility
from softrobot_dynamics.references.contract import trajectory
from softrobot_dynamics.references.output_postures import hold_along
from softrobot_dynamics.references.piecewise import spline
from softrobot_dynamics.references.spline import Spline
from support.references import at

pytestmark = pytest.mark.quick

LENGTH, MASS = 0.5, 2.0
TIMES = (0.0, 0.7, 1.0, 2.4)


@pytest.fixture(scope='module')
def pendulum():
    """Return a bar on a motor of 12 N m, which turns at most at 4 rad/s, up to 2 rad."""
    bar = {'type': 'rigid', 'mass': MASS, 'com': [0.0, 0.0, -LENGTH]}
    inertia = {'ixx': 0.04, 'iyy': 0.04, 'izz': 0.04}
    joint = {'name': 'hinge', 'type': 'revolute', 'axis': [0.0, -1.0, 0.0],
             'limits': {'velocity': 4.0, 'position': [-2.0, 2.0]}}  # fmt: skip
    motor = {'name': 'motor', 'type': 'joint', 'joint': 'hinge', 'limits': [-12.0, 12.0]}
    bodies = [{'name': 'bar', 'joint': joint, 'body': {**bar, 'inertia': inertia}}]
    return sd.compile_model(
        sd.load_robot({'name': 'pendulum', 'bodies': bodies, 'actuators': [motor]})
    )


def test_two_values_give_the_polynomials_of_the_textbook():
    """Two values give 3 s^2 - 2 s^3, or 10 s^3 - 15 s^4 + 6 s^5 of least jerk."""
    for quintic, form in (
        (False, lambda s: 3.0 * s**2 - 2.0 * s**3),
        (True, lambda s: 10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5),
    ):
        reference = spline([0.0, 2.0], [[1.0], [4.0]], quintic=quintic)
        for s in np.linspace(0.0, 1.0, 9):
            assert at(reference, 2.0 * s)[0, 0] == pytest.approx(1.0 + 3.0 * form(s), abs=1e-12)


@pytest.mark.parametrize('periodic', [False, True])
@pytest.mark.parametrize('quintic, smooth', [(False, 2), (True, 4)])
def test_derivatives_are_continuous(quintic, smooth, periodic):
    """Two of a cubic spline, four of a quintic one; also from the end of a period to its start."""
    y = np.random.default_rng(3).normal(size=(4, 2))
    y[-1] = y[0] if periodic else y[-1]
    reference = spline(TIMES, y, periodic, quintic)
    pieces = [np.polynomial.Polynomial(c) for c in reference.coefficients[:, :, 0].T]
    length = np.diff(TIMES)
    pairs = list(zip(pieces, pieces[1:], length))
    pairs += [(pieces[-1], pieces[0], length[-1])] if periodic else []
    for order in range(smooth + 1):
        for before, after, duration in pairs:
            gap = before.deriv(order)(duration) - after.deriv(order)(0.0)
            assert abs(gap) < 1e-9 * 10.0**order
    for t, row in zip(TIMES, y):
        np.testing.assert_allclose(at(reference, t)[0], row, atol=1e-12)
    for t in () if periodic else (0.0, TIMES[-1]):
        rests = at(reference, t)[1 : 3 if quintic else 2]
        np.testing.assert_allclose(rests, 0.0, atol=1e-10)


def made(**given):
    """Return the reference of a node's parameters."""
    given = {f'reference.spline.{name}': value for name, value in given.items()}
    return trajectory({'reference.type': 'spline', **given})


def test_values_are_rows_of_the_controlled_outputs(pendulum):
    """Each row has a value per controlled output; wrong numbers and times are refused."""
    motion = made(times=[0, 1, 2], values=[0.1, 0.3, 0.2]).plan(pendulum, [0], pendulum.q0)
    assert [at(motion.reference, t)[0, 0] for t in (0, 1, 2)] == pytest.approx([0.1, 0.3, 0.2])
    with pytest.raises(ArgumentError, match='reference.spline.values'):
        made(times=[0, 1, 2], values=[0.1, 0.3]).plan(pendulum, [0], pendulum.q0)
    with pytest.raises(ArgumentError, match='the first ones again'):
        closed = made(times=[0, 1, 2], values=[0.1, 0.3, 0.2], periodic=True)
        closed.plan(pendulum, [0], pendulum.q0)
    for times in ([0.0], [0.0, 2.0, 1.0], [0.5, 1.0, 2.0], []):
        with pytest.raises(DescriptionError, match='reference.spline.times'):
            made(times=times, values=[0.1] * len(times))
    with pytest.raises(DescriptionError, match='reference.spline.times: .*3 or more'):
        made(times=[0.0, 1.0], values=[0.1, 0.1], periodic=True)


def test_demands_of_a_spline_are_checked_against_limits(pendulum):
    """Torque m g l sin(q) + (m l^2 + I) q'', speed and position are checked."""
    chosen, q = np.array([0]), np.zeros(1)

    def judged(end, duration):
        wanted = Spline((0.0, duration), (0.0, end), 'quintic', False)
        return feasibility.plan(pendulum, chosen, wanted, q).remarks

    assert judged(1.0, 2.0) == ()
    effort, speed = judged(1.5, 0.6)
    assert 'at t = 0.3' in speed and 'speed of hinge would have to be 4.68' in speed
    s = np.linspace(0.0, 1.0, 1001)
    angle = 1.5 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    acceleration = 1.5 / 0.6**2 * (60.0 * s - 180.0 * s**2 + 120.0 * s**3)
    torque = MASS * 9.81 * LENGTH * np.sin(angle) + (MASS * LENGTH**2 + 0.04) * acceleration
    said = float(effort.split('effort of hinge [N m] would have to be ')[1].split(',')[0])
    assert said == pytest.approx(torque[np.abs(torque).argmax()], rel=2e-3)
    with pytest.raises(ExcessiveReferenceError, match='position of hinge'):
        judged(2.5, 4.0)
    with pytest.raises(ExcessiveReferenceError):
        judged(1.5, 0.05)


def test_postures_along_a_spline_have_its_outputs_at_rest():
    """Postures along a spline of tendon lengths have these lengths and balanced forces."""
    arm = sd.compile_model(sd.load_robot('pcc_arm'))
    begin = sd.equilibrium(arm, u=np.full(arm.m, 8.0)).q
    end = sd.equilibrium(arm, u=np.linspace(2.0, 14.0, arm.m)).q
    y = [sd.actuation(arm, q=q, qd=0.0 * q).coordinates for q in (begin, end)]
    wanted = Spline((0.0, 2.0), tuple(np.concatenate(y)), 'cubic', False)
    motion = wanted.plan(arm, np.arange(arm.m), arm.q0)
    times, postures = hold_along(arm, np.arange(arm.m), motion.reference, arm.q0)
    for k in (0, 40, len(times) - 1):
        q, u = postures.q[k], postures.u[k]
        asked = at(motion.reference, times[k])[0]
        found = sd.actuation(arm, q=q, qd=0.0 * q).coordinates
        assert found == pytest.approx(asked, abs=1e-8) and postures.y[k] == pytest.approx(found)
        assert sd.forward_dynamics(arm, q=q, qd=0.0 * q, u=u) == pytest.approx(0.0, abs=1e-3)
    assert postures.q[-1] == pytest.approx(end, abs=1e-6)
    assert feasibility.plan(arm, np.arange(arm.m), wanted, arm.q0).remarks == ()
