# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stability under follower loads against closed forms and simulations."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import NotConvergedError
from support.differences import gradient
from support.robots import compiled, reaches
from support.scaled import Scale, SIZES

BECK, FREQUENCY = 20.0509, 11.0156  # of E I / L^2, and of (E I / rho A)^(1/2) / L^2
UNIT, SLENDER = Scale(), 1e-3  # radius by length of the thin columns


def column(scale=UNIT, radius=SLENDER, damping=0.0, order=6, strains=('kappa_x',), quadrature=60):
    """Return a clamped rod, of length, modulus and density one in units of the scale."""
    body = {
        'type': 'cosserat', 'length': scale.length, 'young_modulus': scale.modulus,
        'density': scale.density, 'poisson_ratio': 0.3, 'section_inertia': len(strains) > 1,
        'section': {'type': 'circular', 'radius': radius * scale.length}, 'quadrature': quadrature,
        'damping': damping * scale.time, 'strains': {
            name: {'basis': 'legendre', 'order': order} for name in strains
        },
    }  # fmt: skip
    bodies = [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}]
    robot = {'name': 'column', 'gravity': [0.0, 0.0, 0.0], 'bodies': bodies, 'actuators': []}
    return sd.compile_model(sd.load_robot(robot))


def thrust(share, scale=UNIT, radius=SLENDER, frame='body'):
    """Return a force of so many E I / L^2 along the rod, on its tip towards its base."""
    force = share * scale.force * np.pi * radius**4 / 4.0
    return {'rod': sd.Wrench([0.0, 0.0, 0.0, 0.0, 0.0, -force], None, frame)}


def rest(model, wrenches):
    """Return the equilibrium without commands."""
    return sd.equilibrium(model, u=np.zeros(model.m), wrenches=wrenches)


def rates(model, wrenches, q=None):
    """Return the eigenvalues [1/s] of the robot linearised at rest, with Im >= 0."""
    q = np.zeros(model.n) if q is None else q
    A = sd.linearise(model, q=q, qd=0.0 * q, u=np.zeros(model.m), wrenches=wrenches).A
    s = np.linalg.eigvals(A)
    s = s[s.imag >= 0.0]
    return s[np.argsort(s.real)]


def bisected(holds, low, high):
    """Return where between low and high something ceases to hold."""
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@pytest.mark.quick
def test_becks_column_flutters_where_two_frequencies_meet():
    """
    Beck's column flutters at 20.05 E I / L^2, where two frequencies meet (Beck 1952).

    The frequency there is 11.02 (E I / rho A)^(1/2) / L^2; both agree to 2e-4.
    """
    model, unit = column(), SLENDER / 2.0
    critical = bisected(lambda share: rest(model, thrust(share)).stable, 19.0, 21.0)
    assert critical == pytest.approx(BECK, rel=2e-4)
    below, above = (rates(model, thrust(critical * k)) for k in (0.9999, 1.0001))
    lowest = below[np.argsort(np.abs(below))][:2]
    assert np.abs(lowest.imag) / unit == pytest.approx(FREQUENCY, rel=1e-2)
    assert abs(lowest[0].imag - lowest[1].imag) < 0.02 * abs(lowest[0].imag)
    assert above.real.max() > 1e-3 * unit
    assert rest(model, thrust(1.0001 * critical)).growth == pytest.approx(
        above.real.max(), rel=1e-6
    )


def test_a_dead_load_buckles_the_column():
    """A dead load buckles the column at pi^2 / 4 E I / L^2 (Euler), without oscillation."""
    model = column()
    critical = bisected(lambda share: rest(model, thrust(share, frame='base')).stable, 2.0, 3.0)
    assert critical == pytest.approx(np.pi**2 / 4.0, rel=1e-6)
    beyond = thrust(1.01 * critical, frame='base')
    found, fastest = rest(model, beyond), rates(model, beyond)[-1]
    assert fastest.imag == 0.0 and found.growth == pytest.approx(fastest.real, rel=1e-6)
    assert found.stability == pytest.approx(-(fastest.real**2), rel=1e-6)


def ziegler(damping):
    """Return two massless links of 1 m on springs of 1 N m, with 2 kg and 1 kg at their ends."""
    bodies = []
    for k, mass in enumerate((2.0, 1.0)):
        joint = {'type': 'revolute', 'axis': [0.0, 1.0, 0.0], 'stiffness': 1.0, 'damping': damping}
        body = {'type': 'rigid', 'mass': mass, 'com': [0.0, 0.0, 1.0],
                'tip': {'xyz': [0.0, 0.0, 1.0]}}  # fmt: skip
        bodies.append({'name': f'link{k}', 'joint': joint, 'body': body})
    robot = {'name': 'ziegler', 'gravity': [0.0, 0.0, 0.0], 'bodies': bodies, 'actuators': []}
    return sd.compile_model(sd.load_robot(robot))


@pytest.mark.quick
@pytest.mark.parametrize(
    'damping, critical',
    [(0.0, 3.5 - np.sqrt(2.0)), (1e-3, 41 / 28 + 5e-7), (0.3, 41 / 28 + 0.045)],
)
def test_zieglers_pendulum_flutters(damping, critical):
    """Ziegler's pendulum flutters under a follower load, with damping at a third of it."""
    model = ziegler(damping)

    def pushed(share):
        return {'link1': [0.0, 0.0, 0.0, 0.0, 0.0, -share]}

    found = bisected(lambda share: rest(model, pushed(share)).stable, 1.0, 2.5)
    assert found == pytest.approx(critical, rel=1e-4)
    below, above = (rest(model, pushed(k * critical)) for k in (0.99, 1.01))
    assert below.growth == 0.0 and above.growth > 0.0
    assert above.growth == pytest.approx(
        rates(model, pushed(1.01 * critical)).real.max(), rel=1e-6
    )


ALL = tuple(f'{kind}_{axis}' for kind in ('kappa', 'gamma') for axis in 'xyz')


@pytest.mark.parametrize('radius', [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize('scale', SIZES)
def test_a_damped_rod_flutters_at_any_size(scale, radius):
    """A damped rod flutters from 11 E I / L^2 on, at rates that scale with its size."""
    model = column(scale, radius, 4e-3 / radius, 3, ALL, 14)
    growth = []
    for share in (9.0, 14.0, 18.0, 30.0):
        found = rest(model, thrust(share, scale, radius))
        assert found.stable == (share < 10.0)
        growth.append(found.growth * scale.time / radius)
    assert growth == pytest.approx([0.0, 0.00918, 0.0561, 3.37], rel=0.02)


def test_growth_is_that_of_the_simulated_rod():
    """A steel rod with rates up to 2e11 1/s grows in simulation as predicted."""
    scale = Scale(0.6, 200e9, 7870.0)
    model = column(scale, 8e-4 / 0.6, 0.004 / scale.time, 4, ALL, 14)
    push = thrust(30.0, scale, 8e-4 / 0.6)
    found, sizes = rest(model, push), []
    period = 2.0 * np.pi / rates(model, push, found.q)[-1].imag
    robot = sd.Simulator(model, q=found.q + 1e-9, substep=2e-4)
    for _ in range(4):
        robot.step(np.zeros(0), period, push)
        sizes.append(np.abs(robot.q - found.q).max())
    assert not found.stable
    assert np.log(sizes[3] / sizes[2]) / period == pytest.approx(found.growth, rel=0.01)


def turned(model, wrenches):
    """Return what differences of forward dynamics say of the fastest growth [1/s] at rest."""
    found = rest(model, wrenches)
    zero, u = np.zeros(model.n), np.zeros(model.m)

    def acceleration(q, qd):
        return sd.forward_dynamics(model, q=q, qd=qd, u=u, wrenches=wrenches)

    by_q = gradient(
        lambda q: acceleration(q, zero), found.q, reach=reaches(model.coordinate_names)
    )
    by_qd = gradient(lambda qd: acceleration(found.q, qd), zero)
    A = np.block([[np.zeros_like(by_q), np.eye(model.n)], [by_q, by_qd]])
    return found, np.linalg.eigvals(A).real.max()


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain'])
def test_arms_that_are_pushed_along_their_tips(name):
    """Stability and growth are those of differences of forward dynamics, below and above."""
    model, verdicts = compiled(name), set()
    weight = np.abs(sd.gravity_force(model, q=np.zeros(model.n) + 0.1)).max()
    for share in (0.1, 1.0, 10.0, 30.0, 100.0):
        push = {model.body_names[-1]: [0.0, 0.0, 0.0, 0.3 * share * weight, 0.0, -share * weight]}
        try:
            found, growth = turned(model, push)
        except NotConvergedError:
            continue
        verdicts.add(found.stable)
        assert found.stable == (growth < 1e-6)
        assert found.growth == pytest.approx(max(growth, 0.0), rel=1e-4, abs=1e-6)
    assert verdicts == {True, False}


@pytest.mark.quick
def test_a_turntable_beside_a_follower_load_is_stable():
    """Free rotation and an undamped column below its load do not count as growth."""
    free = {'type': 'revolute', 'axis': [0.0, 0.0, 1.0]}
    plate = {'type': 'rigid', 'mass': 3.0, 'inertia': dict.fromkeys(('ixx', 'iyy', 'izz'), 0.7)}
    links = [
        {'name': f'link{k}', 'joint': {'type': 'revolute', 'axis': [0.0, 1.0, 0.0],
                                       'stiffness': 1.0},
         'body': {'type': 'rigid', 'mass': 1.0, 'com': [0.0, 0.0, 1.0],
                  'tip': {'xyz': [0.0, 0.0, 1.0]}}}
        for k in range(2)
    ]  # fmt: skip
    bodies = [{'name': 'plate', 'joint': free, 'body': plate}, *links]
    robot = {'name': 'turntable', 'gravity': [0.0, 0.0, 0.0], 'bodies': bodies, 'actuators': []}
    model = sd.compile_model(sd.load_robot(robot))
    for q in (0.0, 0.3, 2.0):
        found = sd.equilibrium(
            model, u=[], q0=[q, 0.0, 0.0], wrenches={'link1': [0.0, 0.0, 0.0, 0.0, 0.0, -1.5]}
        )
        assert found.stable and found.growth == 0.0
