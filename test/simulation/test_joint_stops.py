# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Position limits of joints as stops of the simulated robot."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.integrators.contract import INTEGRATORS
from softrobot_dynamics.simulation.joint_stops import complementary

MASS, CENTRE, INERTIA = 1.3, 0.4, 0.05  # kg, m, kg m^2 about the centre
ABOUT_JOINT = INERTIA + MASS * CENTRE**2
every_kind = pytest.mark.parametrize('kind', INTEGRATORS.names())


def link(name, limits=None, length=0.8, scale=1.0, restitution=0.0, **joint):
    """Return a module: a link that hangs along -z and turns about y."""
    joint = {'type': 'revolute', 'name': name, 'axis': [0.0, 1.0, 0.0], **joint}
    if limits is not None:
        joint['limits'] = {'position': limits, 'restitution': restitution}
    turning = dict.fromkeys(('ixx', 'iyy', 'izz'), INERTIA * scale)
    inertia = {**turning, 'ixy': 0.0, 'ixz': 0.0, 'iyz': 0.0}
    com = [0.0, 0.0, -CENTRE]
    body = {'type': 'rigid', 'mass': MASS * scale, 'com': com, 'inertia': inertia}
    body['tip'] = {'xyz': [0.0, 0.0, -length], 'rpy': [0.0, 0.0, 0.0]}
    return {'name': f'{name}_link', 'joint': joint, 'body': body}


def compiled(*modules, actuators=(), gravity=-9.81, **more):
    """Return the model of a robot of modules, gravity along z."""
    robot = {'name': 'r', 'gravity': [0.0, 0.0, gravity], 'bodies': list(modules), **more}
    return sd.compile_model(sd.load_robot({**robot, 'actuators': list(actuators)}))


@functools.cache
def pendulum(low=0.3, high=3.0, driven=True):
    """Return a pendulum that would swing to 0 and beyond, but for a stop at ``low``."""
    motor = {'name': 'motor', 'type': 'joint', 'joint': 'j'}
    return compiled(link('j', [low, high]), actuators=[motor] * driven)


@functools.cache
def double_pendulum(limits, scale=1.0):
    """Return two links, the second of which has the stops ``limits``."""
    return compiled(link('a'), link('b', None if limits is None else list(limits), scale=scale))


def simulator(model, kind='exponential', **options):
    """Return a Simulator by a kind of integrator, with a tolerance where it keeps one."""
    tolerance = 1e-9 if INTEGRATORS.get(kind).keeps_tolerance else None
    return sd.Simulator(model, integrator=kind, tolerance=tolerance, **options)


def energy(model, robot):
    """Return kinetic, potential and elastic energy of a simulated robot [J]."""
    still = sd.potential_energy(model, q=robot.q) + sd.elastic_energy(model, q=robot.q)
    return sd.kinetic_energy(model, q=robot.q, qd=robot.qd) + still


@every_kind
def test_a_pendulum_falls_onto_its_stop_when_a_free_one_would_be_there_and_stays(kind):
    """A pendulum reaches its stop at the time of a free one, keeps no energy, and rests there."""
    model, start = pendulum(), 1.2
    robot = simulator(model, kind, q=[start])
    weight = MASS * 9.81 * CENTRE
    angle = np.linspace(0.3, start, 200_001)[:-1]
    middle = 0.5 * (angle[1:] + angle[:-1])  # the end is singular, and taken exactly
    speed = np.sqrt(2.0 * weight / ABOUT_JOINT * (np.cos(middle) - np.cos(start)))
    rest = start - angle[-1]
    last = np.sqrt(2.0 * rest / (weight / ABOUT_JOINT * np.sin(start)))
    instant = ((angle[1] - angle[0]) / speed).sum() + last
    before = np.floor(instant / 1e-3) * 1e-3 - 1e-3
    robot.step([0.0], before)
    fallen = weight * (np.cos(robot.q[0]) - np.cos(start))
    assert robot.q[0] > 0.3
    assert 0.5 * ABOUT_JOINT * robot.qd[0] ** 2 == pytest.approx(fallen, rel=1e-4)
    robot.step([0.0], instant + 1e-3 - before)
    assert robot.q[0] == 0.3 and robot.qd[0] == 0.0
    for _ in range(50):
        robot.step([0.0], 1e-3)
        assert robot.q[0] == 0.3 and robot.qd[0] == 0.0
    assert robot.stop_forces[0] == pytest.approx(weight * np.sin(0.3), rel=1e-12)


@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
@every_kind
def test_a_pendulum_bounces_as_high_as_its_restitution_says(kind, restitution):
    """Each bounce begins with e times the speed, so e^2 of the energy, of the fall before it."""
    model = compiled(link('j', [0.3, 3.0], restitution=restitution))
    robot = simulator(model, kind, q=[1.2])
    lowest = -MASS * 9.81 * CENTRE * np.cos(0.3)
    expected, tops, rising = energy(model, robot) - lowest, [], False
    for _ in range({0.0: 1000, 0.5: 2000, 1.0: 2500}[restitution]):  # until it rests, or 3 bounces
        robot.step([], 1e-3)
        assert robot.q[0] >= 0.3
        if rising and robot.qd[0] <= 0.0:
            tops.append(energy(model, robot) - lowest)
        rising = robot.qd[0] > 0.0
    if restitution == 0.0:
        assert not tops and robot.q[0] == 0.3 and robot.qd[0] == 0.0
    for k, top in enumerate(tops[:3], start=1):
        assert top == pytest.approx(expected * restitution ** (2 * k), rel=2e-3)
    if restitution == 0.5:  # bounces get shorter, until they would end within a sub-step
        assert len(tops) > 3 and robot.q[0] == 0.3 and robot.qd[0] == 0.0
    if restitution == 1.0:
        assert len(tops) >= 3


def test_bounces_within_one_long_step_are_those_of_many_short_ones():
    """Steps as long as a bounce are shortened under a tolerance, with the motion of short ones."""
    model = compiled(link('j', [0.3, 3.0], restitution=0.7))
    robots = [simulator(model, 'rosenbrock', q=[1.2]) for _ in range(2)]
    robots[0].step([], 2.0)
    for _ in range(2000):
        robots[1].step([], 1e-3)
    assert robots[0].q[0] == pytest.approx(robots[1].q[0], abs=1e-4) and robots[0].q[0] > 0.31


@pytest.mark.parametrize('rates', [[3.0, 2.0], [4.0, -4.0], [-1.0, 4.0]])
def test_stops_that_are_met_at_once_add_no_energy(rates):
    """Two joints of e = 1 and 0 at their stops, one of them perhaps leaving, gain no energy."""
    joints = link('a', [-0.5, 0.7], restitution=1.0), link('b', [-0.4, 0.6])
    model = compiled(*joints)
    robot = simulator(model)
    robot.reset([0.7, 0.6], rates)
    last = energy(model, robot)
    for _ in range(1000):
        robot.step([], 1e-3)
        now = energy(model, robot)
        assert now <= last + 1e-5 * abs(last)
        last = now


def test_coordinates_of_a_joint_have_a_restitution_each():
    """A universal joint takes one number for both, or one by coordinate; others are refused."""

    def robot(restitution):
        joint = {'type': 'universal', 'name': 'j'}
        joint['limits'] = {'position': [-1.0, 1.0], 'restitution': restitution}
        return compiled({**link('j'), 'joint': joint})

    assert robot(0.4).restitution.tolist() == [0.4, 0.4]
    assert robot({'ry': 0.4}).restitution.tolist() == [0.0, 0.4]
    with pytest.raises(DescriptionError, match='restitution.*1.5'):
        robot(1.5)


@every_kind
def test_a_joint_leaves_its_stop_freely_and_as_one_without_would(kind):
    """Pushed away, it moves as a pendulum without stops that starts there."""
    robot, free = simulator(pendulum(), kind, q=[0.3]), simulator(pendulum(-9.0, 9.0), kind)
    robot.step([0.0], 0.02)
    free.reset(robot.q)
    robot.step([4.0], 0.1)
    free.step([4.0], 0.1)
    assert robot.q[0] > 0.31 and not robot.stop_forces.any()
    np.testing.assert_allclose(robot.q, free.q, rtol=1e-6)
    np.testing.assert_allclose(robot.qd, free.qd, rtol=1e-6)


def test_what_presses_less_than_the_weight_stays_and_what_presses_more_leaves():
    """The stop bears the weight's moment less the torque, down to nothing, and never pulls."""
    weight = MASS * 9.81 * CENTRE * np.sin(0.3)
    robot = simulator(pendulum(), q=[0.3])
    for share in (-1.0, 0.0, 0.5, 0.99):
        robot.step([share * weight], 5e-3)
        assert robot.q[0] == 0.3
        assert robot.stop_forces[0] == pytest.approx((1.0 - share) * weight, rel=1e-9)
    robot.step([1.01 * weight], 5e-3)
    assert robot.q[0] > 0.3 and robot.stop_forces[0] == 0.0


@pytest.mark.parametrize('scale', [1.0, 1e3, 1e-4], ids=['equal', 'heavy tip', 'light tip'])
@every_kind
def test_an_impact_changes_all_rates_as_the_impulse_at_the_stop_does(kind, scale):
    """M dqd = J^T p at the stop of the second joint, whatever the ratio of inertias."""
    model = double_pendulum((-0.5, 0.5), scale)
    robot, free = (simulator(each, kind) for each in (model, double_pendulum(None, scale)))
    for each in (robot, free):
        each.reset([0.4, 0.49], [0.3, 2.0])
    while free.q[1] < 0.5:
        robot.step([], 1e-4)
        free.step([], 1e-4)
    assert robot.q[1] == pytest.approx(0.5, abs=1e-5) and abs(robot.qd[1]) < 1e-2
    still = np.zeros(2)
    _, M = sd.mass_inertial_inverse_dynamics(model, q=robot.q, qd=still, qdd=still)
    e = np.array([0.0, 1.0])
    response = np.linalg.solve(M, e)
    after = free.qd - response * (e @ free.qd) / (e @ response)
    np.testing.assert_allclose(robot.qd, after, atol=1e-2)
    assert abs(after[0] - free.qd[0]) > 0.1 or scale < 1.0  # so that it says something


@every_kind
def test_no_impact_and_no_rest_at_stops_adds_energy(kind):
    """A double pendulum that falls onto stops of both joints never gains energy."""
    model = compiled(link('a', [-0.5, 0.7]), link('b', [-0.4, 0.6]))
    robot = simulator(model, kind, q=[0.69, -0.2], qd=[-3.0, 4.0])
    last, met = energy(model, robot), np.zeros(2, dtype=bool)
    for _ in range(1500):
        robot.step([], 1e-3)
        now = energy(model, robot)
        assert now <= last + 1e-7
        assert (robot.q >= model.q_lower).all() and (robot.q <= model.q_upper).all()
        met |= np.minimum(robot.q - model.q_lower, model.q_upper - robot.q) < 1e-3
        last = now
    assert met.all()


def test_stops_that_are_not_met_change_nothing_bit_for_bit():
    """A robot with limits that it does not reach moves as one without, to the last bit."""
    limited, free = double_pendulum((-2.0, 2.0)), double_pendulum(None)
    robots = [sd.Simulator(model, q=[0.5, -0.3], qd=[1.0, 0.0]) for model in (limited, free)]
    for _ in range(300):
        for robot in robots:
            robot.step([], 1e-3)
    assert robots[0].q.tolist() == robots[1].q.tolist()
    assert robots[0].qd.tolist() == robots[1].qd.tolist()
    assert robots[0].substeps == robots[1].substeps


def test_a_long_step_holds_what_is_beyond_its_stop_on_the_way_only():
    """A joint that would be back within its limits when a long period ends has met its stop."""
    robot = simulator(pendulum(-0.3, 3.0), q=[1.0])
    free = simulator(pendulum(-9.0, 9.0), q=[1.0])
    robot.step([0.0], 1.5)
    free.step([0.0], 1.5)
    amplitude = energy(pendulum(-0.3, 3.0), robot) + MASS * 9.81 * CENTRE * np.cos(0.3)
    assert amplitude == pytest.approx(0.0, abs=1e-3 * MASS * 9.81 * CENTRE)
    assert abs(robot.q[0] - free.q[0]) > 0.1


@every_kind
def test_a_soft_arm_on_a_joint_at_its_stop_swings_on_and_the_joint_stays(kind):
    """The soft arm's impact comes later than that of its base: stiff bodies make no chatter."""
    rod = {
        'type': 'pcc', 'length': 0.3, 'radius': 0.02, 'density': 1000.0,
        'young_modulus': 1e6, 'poisson_ratio': 0.5, 'damping': 0.05,
    }  # fmt: skip
    joint = {'type': 'revolute', 'name': 'j', 'axis': [0.0, 1.0, 0.0], 'armature': 1e-3}
    joint['limits'] = {'position': [-0.2, 1.0]}
    model = compiled({'name': 'rod', 'joint': joint, 'body': rod}, gravity=9.81)
    start = np.zeros(model.n)
    start[0] = 0.0
    robot = simulator(model, kind, q=start, qd=np.eye(model.n)[0] * -3.0)
    last, bounced = energy(model, robot), 0.0
    for _ in range(400):
        robot.step([], 1e-3)
        now = energy(model, robot)
        assert robot.q[0] >= -0.2 and now <= last + 1e-6
        last = now
        bounced = max(bounced, np.abs(robot.q[1:]).max())
    assert bounced > 0.01


def test_forces_from_outside_and_a_payload_press_against_a_stop():
    """The stop bears what wrenches and a carried mass add to the weight."""
    robot = sd.Simulator(pendulum(), q=[0.3], carrier='j_link')
    robot.carry(2.0)
    push = sd.Wrench([0.0, 0.0, 0.0, -1.0, 0.0, 0.0], frame='base')
    robot.step([0.0], 2e-3, {'j_link': push})
    moment = 9.81 * np.sin(0.3) * (MASS * CENTRE + 2.0 * 0.8) + 0.8 * np.cos(0.3)
    assert robot.q[0] == 0.3
    assert abs(robot.stop_forces[0] - moment) < 1e-9 * moment or (
        robot.stop_forces[0] == pytest.approx(moment - 1.6 * np.cos(0.3))
    )


@pytest.mark.parametrize('q, words', [([0.29], '0.3'), ([3.1], '3')])
def test_a_posture_outside_of_the_limits_is_refused_by_name(q, words):
    """A simulation cannot begin beyond a stop: the error has the joint, the value, the limits."""
    with pytest.raises(ArgumentError, match=f'j.*{q[0]}.*{words}'):
        sd.Simulator(pendulum(), q=q)
    with pytest.raises(ArgumentError, match='j: 0.0, .*`initial` of the robot file'):
        sd.Simulator(pendulum())
    robot = sd.Simulator(pendulum(), q=[0.5])
    with pytest.raises(ArgumentError, match='j'):
        robot.reset(q)
    assert robot.q[0] == 0.5


@pytest.mark.parametrize('name', ['ur10e', 'hybrid_arm', 'soft_hand'])
def test_shipped_robots_that_fall_without_torque_end_at_their_stops_or_within(name):
    """With no command the arm falls, stays within all limits and does not gain energy."""
    model = sd.compile_model(sd.load_robot(name))
    robot = ActuatedSimulator(model, q=model.q0)
    u = np.clip(np.zeros(model.m), model.lower, model.upper)
    first, low, high = energy(model, robot), model.q_lower, model.q_upper
    for _ in range(1000):
        robot.step(u, 1e-3)
        assert (robot.q >= low).all() and (robot.q <= high).all()
    assert energy(model, robot) <= first + 1e-3 * abs(first)


def test_what_is_complementary_is_found():
    """Random problems are solved: x >= 0, w = A x + b >= 0, x w = 0."""
    random = np.random.default_rng(3)
    for k in (1, 2, 5, 9):
        for _ in range(20):
            half, b = random.normal(size=(k, k)), random.normal(size=k)
            A = half @ half.T + 0.01 * np.eye(k)
            x = complementary(A, b)
            w = A @ x + b
            assert (x >= 0.0).all() and w.min() > -1e-9
            assert abs(x @ w) < 1e-9 * (1.0 + x.max() ** 2)
