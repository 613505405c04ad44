# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `task` where limits keep a tip from following: the robot is slowed, and told of."""

import copy

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.phases import Phase, Program
from softrobot_dynamics.controllers.tasks.runaway import BLOCKED_FRACTION
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.piecewise import constant, sample
from softrobot_dynamics.references.tip_commands import TipTarget, with_tip_path
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.robots import compiled

PERIOD = 1e-3
UNMET, WEIGHT = 'unmet share of the tip', 'weight of later tasks'


def law(model, period=PERIOD, **given):
    """Return the law for a model, with parameters by name."""
    cls = CONTROLLERS.get('task')
    return cls(model, period=period, settings=cls.make_settings(model, None, **given))


def tip_of(made, q):
    """Return where the led tip is [m]."""
    index = made.model.body_names.index(made.controlled_tip)
    return sd.forward_kinematics(made.model, q=q)[index][:3, 3].copy()


def on_circle(model, made, circle):
    """Return a reference that leads the tip of a law along a circle."""
    planned = tip_circle(model, circle, samples=32).of(made.controlled).reference
    return with_tip_path(model, planned, circle, made.controlled_tip)


def greatest(model, qd):
    """Return the greatest speed (K,) of rates (K, n), in units of the coordinates."""
    return np.abs(qd / model.scales.units).max(axis=1)


def begun(model, **given):
    """Return a law that holds the outputs of a robot at rest, and that robot."""
    made, plant = law(model, **given), ActuatedSimulator(model)
    rest = np.zeros(model.n)
    made.follow(constant(made.outputs(plant.q, rest)[0]), 0.0, 0.0)
    made.start(plant.q, rest, 0.0, np.zeros(model.m))
    return made, plant


def go_on(made, plant, duration, t0=0.0):
    """Close a loop for a time; return rates (K, n), commands (K, m) and figures."""
    rates, commands, figures = [], [], []
    for k in range(round(duration / PERIOD)):
        command = made.compute(t0 + k * PERIOD, plant.q.copy(), plant.qd.copy())
        assert command.ok
        commands.append(command.u.copy())
        plant.step(commands[-1], PERIOD)
        rates.append(plant.qd.copy())
        figures.append(made.figures())
    return np.array(rates), np.array(commands), figures


def wanted(reference, t):
    """Return where the tip is to be [m]."""
    point = np.zeros((3, 3))
    cached(sample)(reference.path, float(t), point)
    return point[0]


@pytest.mark.parametrize(
    'name, most, end, duration',
    [  # before: 131 and 116, 98 and 69, 22 and 10, 68 and 0, 7 and 4
        ('pneumatic_arm', 8.0, 0.1, 5.0),
        ('hybrid_arm', 25.0, 2.0, 3.0),
        ('scalability', 8.0, 0.05, 3.0),
        ('soft_hand', 12.0, 0.1, 3.0),
        ('double_pendulum', 6.0, 0.5, 3.0),
    ],
)
def test_a_robot_whose_tip_is_led_beyond_its_reach_calms_down(name, most, end, duration):
    """A target half its length off leaves no coordinate faster than a bound, and slow ones."""
    model = compiled(name)
    made, plant = begun(model)
    go_on(made, plant, 1.0)
    length = model.scales.length
    goal = tip_of(made, model.q0) + 0.5 * length
    made.lead(TipTarget('', goal, None, 0.5, length), 1.0)
    rates, commands, figures = go_on(made, plant, duration, 1.0)
    speed = greatest(model, rates)
    assert speed.max() < most and speed[-500:].max() < end
    assert (commands >= model.lower).all() and (commands <= model.upper).all()
    assert max(each[WEIGHT] for each in figures) > 0.0


@pytest.mark.parametrize(
    'way, delay',
    [  # before: 37, 54, 145, 68 rad/s
        ((1.0, 1.0, 1.0), 2e-3),
        ((-1.0, 0.0, 1.0), 2e-3),
        ((-1.0, -1.0, 1.0), 0.0),
        ((-1.0, -1.0, 1.0), 5e-3),
    ],
)
def test_no_single_period_makes_a_light_part_fast(way, delay):
    """At 100 Hz a turntable, which its motor could spin within a period, stays slow."""
    model, period = compiled('pneumatic_arm'), 1e-2
    made, rest = law(model, period), np.zeros(model.n)
    goal = tip_of(made, model.q0) + 0.5 * model.scales.length * np.array(way)
    answer = made.compute

    def compute(t, q, qd):
        """Answer, after the order at 1 s."""
        if round(t / period) == 100:
            made.lead(TipTarget('', goal, None, 0.1, 0.5), t)
        return answer(t, q, qd)

    made.compute = compute
    reference = constant(made.outputs(model.q0, rest)[0])
    found = sd.closed_loop(model, made, reference, 4.0, plant=sd.Plant(delay=delay))
    speed = greatest(model, found.qd)
    assert found.ok.all() and speed.max() < 8.0 and speed[-100:].max() < 0.2


def test_servos_led_beyond_reach_from_their_circle_come_to_rest():
    """Arms of position drives, on their way already, end without swinging."""
    model = compiled('servo_arm')
    made = law(model)
    circle = Circle(made.controlled_tip, (0.0, 0.0, 0.364), (0.0, 0.0, 1.0), 0.06, 5.0)
    goal, answer = tip_of(made, model.q0) + 0.5 * model.scales.length, made.compute

    def compute(t, q, qd):
        """Answer, after the order at 1 s."""
        if round(t / PERIOD) == 1000:
            made.lead(TipTarget('', goal, None, 0.5, model.scales.length), t)
        return answer(t, q, qd)

    made.compute = compute
    reference, start = on_circle(model, made, circle), sd.Start(ramp=2.0)
    found = sd.closed_loop(model, made, reference, 6.0, start=start)
    assert greatest(model, found.qd[-2000:]).max() < 0.2  # 4.6 before


@pytest.mark.parametrize('case', ['halved', 'pushed'])
def test_an_arm_that_is_held_back_finds_back_to_its_circle(case):
    """With half its limits, or after a push of half its weight, the tip is on it to 0.02 mm."""
    model = compiled('pneumatic_arm')
    ring = Circle('tip', (0.045, 0.0, 0.25), (0.0, 0.0, 1.0), 0.025, 5.0)
    made, given = law(model), {}
    if case == 'halved':
        s = made.settings
        made.use(s.replace(lower=0.5 * s.lower, upper=0.5 * s.upper, rate=0.5 * s.rate))
    else:
        force = 4.9 * float(model.scales.carried.max())
        push = {'tip': sd.Wrench([0.0, 0.0, 0.0, force, 0.0, 0.0], frame='base')}
        given['wrenches'] = lambda t: push if 3.0 <= t < 3.2 else None
    reference, plant = on_circle(model, made, ring), sd.Plant(model, **given)
    found = sd.closed_loop(model, made, reference, 6.0, start=sd.Start(ramp=2.0), plant=plant)
    error = [
        np.linalg.norm(tip_of(made, found.q[k]) - wanted(reference, found.t[k]))
        for k in range(5500, 6000, 20)
    ]
    assert greatest(model, found.qd).max() < 10.0  # 125, 131 before
    assert max(error) < 2e-5
    assert made.figures()[WEIGHT] == 0.0 and made.warning == ''


def test_a_tip_that_comes_back_within_reach_is_led_as_before():
    """Beyond reach the warning tells of it; a target within reach is then reached to 0.1 %."""
    model = compiled('double_pendulum')
    made, plant = begun(model)
    go_on(made, plant, 1.0)
    here, length = tip_of(made, plant.q), model.scales.length
    beyond = here + 0.5 * length * np.array([-1.0, 1.0, -1.0])
    made.lead(TipTarget('', beyond, None, 0.5, length), 1.0)
    assert made.warning == ''
    figures = go_on(made, plant, 3.0, 1.0)[2]
    assert figures[-1][WEIGHT] == 1.0 and BLOCKED_FRACTION < figures[-1][UNMET] <= 1.0
    words = f'tip cannot follow: limits leave {figures[-1][UNMET]:.0%} of its request unmet'
    assert made.warning == words
    made.lead(TipTarget('', here, None, 2.0, length), 4.0)
    figures = go_on(made, plant, 5.0, 4.0)[2]
    assert figures[-1][WEIGHT] == 0.0 and made.warning == ''
    assert np.linalg.norm(tip_of(made, plant.q) - here) < 1e-3 * length


@pytest.mark.parametrize(
    'name, way, cause',
    [
        ('pcc_arm', (0.5, 0.5, 0.5), 'limits leave 100% of its request unmet'),
        ('double_pendulum', (0.0, 2.0, 0.0), 'out of reach, near a singularity, or held by other'),
    ],
)
def test_a_tip_that_stays_short_of_its_target_is_told_of(name, way, cause):
    """At rest nothing slows the robot; the warning tells, and ends once the target is reached."""
    model = compiled(name)
    made, plant = begun(model)
    here, length = tip_of(made, plant.q), model.scales.length
    made.lead(TipTarget('', here + length * np.array(way), None, 0.5, length), 0.0)
    figures = go_on(made, plant, 3.0)[2]
    assert made.warning.startswith(f'tip cannot follow: {cause}')
    assert figures[-1][WEIGHT] == 0.0
    made.lead(TipTarget('', here, None, 1.0, length), 3.0)
    go_on(made, plant, 4.0, 3.0)
    assert made.warning == ''
    assert np.linalg.norm(tip_of(made, plant.q) - here) < 1e-3 * length


def test_a_tip_on_its_way_is_not_told_of():
    """A tip that limits of rates slow for seconds, but that comes closer, reaches its target."""
    model = compiled('planar_cc_chain')
    made, plant = begun(model)
    here, length = tip_of(made, plant.q), model.scales.length
    posture = sd.equilibrium(model, u=0.25 * model.upper).q
    made.use(made.settings.replace(rate=0.02 * made.settings.rate))
    index = model.body_names.index(made.controlled_tip)
    goal = sd.forward_kinematics(model, q=posture)[index][:3, 3]
    made.lead(TipTarget('', goal, None, 0.05, 100.0 * length), 0.0)
    answer, warnings, limited = made.compute, set(), 0

    def compute(t, q, qd):
        """Answer, and note what the law says of it."""
        nonlocal limited
        command = answer(t, q, qd)
        warnings.add(made.warning)
        limited += made.figures()[UNMET] > BLOCKED_FRACTION
        return command

    made.compute = compute
    go_on(made, plant, 6.0)
    assert warnings == {''} and limited > 3000
    assert np.linalg.norm(goal - here) > 0.1 * length
    assert np.linalg.norm(tip_of(made, plant.q) - goal) < 1e-3 * length


@pytest.mark.parametrize(
    'name, center, period', [('pcc_arm', (0.0, 0.0, 0.55), 0.8), ('ur10e', (-0.7, -0.3, 0.5), 0.8)]
)
def test_a_fast_circle_is_no_runaway(name, center, period):
    """On fast circles later levels never count, though limits are met on that of cables."""
    model = compiled(name)
    made, weights = law(model), []
    circle = Circle(made.controlled_tip, center, (0.0, 0.0, 1.0), 0.1, period)
    reference, answer = on_circle(model, made, circle), made.compute

    def compute(t, q, qd):
        """Answer, and note the weight."""
        command = answer(t, q, qd)
        weights.append(made.figures()[WEIGHT])
        return command

    made.compute = compute
    found = sd.closed_loop(model, made, reference, 3.0, start=sd.Start(ramp=1.0))
    assert found.ok.all() and max(weights) == 0.0


def test_laws_of_a_composition_warn():
    """A composition has the warnings of the law at work, and not of the one before."""
    model = compiled('double_pendulum')
    made = Composition(
        [law(model), law(model)], phases=[Phase('a', 1.0, (0,)), Phase('b', 1.0, (1,))]
    )
    rest, plant = constant(np.zeros(model.m)), ActuatedSimulator(model)
    made.follow(Program((rest, rest), ramps=(0.0, 0.0)), 0.0, 0.0)
    made.start(plant.q, plant.qd, 0.0, np.zeros(model.m))
    made.lead(TipTarget('', tip_of(made, model.q0) + 1.0, None, 0.2, 5.0), 0.0)
    go_on(made, plant, 0.9)
    assert made.warning.startswith('laws[0]: tip cannot follow')
    go_on(made, plant, 0.2, 0.9)
    assert made.phase == 'b' and made.warning == ''


def test_a_copy_goes_on_alike_while_the_robot_is_slowed():
    """Weight and course of a law go over to its copy: both send the same bits."""
    model, sent = compiled('double_pendulum'), []
    made, plant = begun(model)
    made.lead(TipTarget('', tip_of(made, model.q0) + 1.0, None, 0.2, 5.0), 0.0)
    figures = go_on(made, plant, 0.3)[2]
    assert 0.0 < figures[-1][WEIGHT] < 1.0
    q, qd = plant.q.copy(), plant.qd.copy()
    for each in (copy.copy(made), made):
        assert each.figures() == figures[-1]
        other = ActuatedSimulator(model, q=q.copy(), qd=qd.copy())
        sent.append(go_on(each, other, 0.3, 0.3)[1])
    assert np.array_equal(*sent)
