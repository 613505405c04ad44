# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `task` on shipped robots, near singularities, and beside other laws."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.phases import Phase, Program
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.piecewise import constant, hermite
from softrobot_dynamics.references.tip_commands import (
    TipPathReference,
    TipTarget,
    TipTwist,
    with_tip_path,
)
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.joint_drives import with_joint_drives
from support.robots import compiled

PERIOD = 1e-3


def law(model, kind='task', **given):
    """Return a law for a model, with parameters by name."""
    cls = CONTROLLERS.get(kind)
    return cls(model, period=PERIOD, settings=cls.make_settings(model, None, **given))


def tip(model, q):
    """Return where the last tip is [m]."""
    return sd.forward_kinematics(model, q=q)[-1][:3, 3].copy()


def resting(model, share):
    """Return a state of rest (q, u): a share of the greatest commands, of joints a posture."""
    if (model.lower < 0.0).all() and not model.positioned.any():
        return model.q0 + share * model.scales.units, np.zeros(model.m)
    u = share * np.where(model.lower < 0.0, 0.3, 1.0) * model.upper
    return sd.equilibrium(model, u=u).q, u


def under_way(model, made, q, u, duration, t0=0.0, plant=None):
    """Close a loop from rest; return the simulator, and the commands (K, m)."""
    if plant is None:
        plant = ActuatedSimulator(model, q=q.copy())
        plant.begin_under(u)
    commands = []
    for k in range(round(duration / PERIOD)):
        command = made.compute(t0 + k * PERIOD, plant.q.copy(), plant.qd.copy())
        assert command.ok
        commands.append(command.u.copy())
        plant.step(commands[-1], PERIOD)
    return plant, np.array(commands)


def begun(model, q, u, **given):
    """Return a law that holds outputs where a robot is at rest."""
    made, rest = law(model, **given), np.zeros(model.n)
    made.follow(constant(made.outputs(q, rest)[0]), 0.0, 0.0)
    made.start(q, rest, 0.0, u)
    return made


@pytest.mark.quick
@pytest.mark.parametrize(
    'name', ['double_pendulum', 'toy', 'ur10e', 'tree', 'planar_cc_chain', 'servo_arm', 'pcc_arm']
)
def test_a_shipped_robot_comes_to_a_place_of_its_tip(name):
    """Rigid and soft robots lead the tip to where it rests under other commands, to 1 mm."""
    model = compiled(name)
    (q, u), (there, _) = resting(model, 0.2), resting(model, 0.4)
    made = begun(model, q, u)
    goal = tip(model, there)
    made.lead(TipTarget('', goal, None, 0.3, 5.0), 0.0)
    plant, commands = under_way(model, made, q, u, 1.0)
    assert np.linalg.norm(goal - tip(model, q)) > 2e-3
    assert np.linalg.norm(goal - tip(model, plant.q)) < 1e-3 and not made.relaxed
    assert (commands >= model.lower).all() and (commands <= model.upper).all()


def test_an_arm_on_a_turntable_does_not_spin_where_its_chambers_are_at_their_limits():
    """Led along a circle from rest, where no chamber can pull, the turntable stays slow."""
    model = compiled('pneumatic_arm')
    center, normal = (0.045, 0.0, 0.25), (0.0, 0.0, 1.0)
    ring = Circle('tip', center, normal, 0.025, 5.0)
    made = law(model)
    planned = tip_circle(model, ring, samples=32).of(made.controlled).reference
    reference = with_tip_path(model, planned, ring, made.controlled_tip)
    found = sd.closed_loop(model, made, reference, 1.5, start=sd.Start(ramp=2.0))
    assert found.ok.all() and (found.saturated > 0).sum() > 100
    assert np.abs(found.qd / model.scales.units).max() < 5.0  # 139 in strict levels


def test_a_place_out_of_reach_leaves_an_arm_calm():
    """An arm that cannot get longer does not swing, led to a place 3 mm beyond its end."""
    model = compiled('servo_arm')
    q, u = resting(model, 0.0)
    made = begun(model, q, u)
    goal = tip(model, q) + [0.0, 0.0, 3e-3]
    made.lead(TipTarget('', goal, None, 0.3, 1.0), 0.0)
    plant, _ = under_way(model, made, q, u, 1.0)
    assert np.linalg.norm(tip(model, plant.q) - goal) < 4e-3  # 50 mm if the task does not fade
    assert np.abs(plant.qd / model.scales.units).max() < 0.05


def test_outputs_of_the_same_level_keep_a_finger_calm_beyond_its_reach():
    """A finger whose tendons saturate stops short of its target, if outputs are of level 1."""
    model = compiled('soft_hand')
    q, body = model.q0.copy(), 'index2'
    bodies = {'position.body': body, 'orientation.body': body}
    made = begun(model, q, None, **bodies, **{'outputs.level': 1})
    goal = sd.forward_kinematics(model, q=q)[model.body_names.index(body)][:3, 3] + [0.02, 0.02, 0]
    made.lead(TipTarget('', goal, None, 0.5, 0.3), 0.0)
    plant, _ = under_way(model, made, q, np.zeros(model.m), 1.0)
    assert np.abs(plant.qd / model.scales.units).max() < 0.3  # 10, if of level 2


def test_a_joystick_at_the_end_of_reach_acts_at_once_when_it_turns_back():
    """Twists lead a tip ahead by a little only, so that it turns with them."""
    model = compiled('servo_arm')
    q, u = resting(model, 0.0)
    made, plant, places = begun(model, q, u), None, []
    for k in range(16):  # sideways beyond its length for a second, then back
        twist = np.array([0.4 if k < 10 else -0.4, 0.0, 0.0])
        made.lead(TipTwist('', twist, np.zeros(3), 0.3), 0.1 * k)
        plant, _ = under_way(model, made, q, u, 0.1, 0.1 * k, plant)
        places.append(tip(model, plant.q)[0])
    assert places[9] - places[7] < 0.04 < places[7]  # it is at the end of its reach: 0.08 m free
    assert places[13] < places[9] - 0.05


def test_bounds_and_levels_of_a_robot_of_position_drives_hold():
    """Servos that are told positions turn no faster than they may, whatever is asked for."""
    model = compiled('servo_arm')
    q, u = resting(model, 0.1)
    made = begun(model, q, u, **{'posture.level': 3, 'momentum.level': 4})
    made.lead(TipTarget('', tip(model, q) + [0.1, 0.05, -0.05], None, 0.01, 1e3), 0.0)
    _, commands = under_way(model, made, q, u, 0.5)
    step = np.abs(np.diff(commands, axis=0, prepend=u[None]))
    assert (step <= model.rate_limit * PERIOD * (1.0 + 1e-9)).all()
    assert (step >= 0.9 * model.rate_limit * PERIOD).any()  # it would go faster


@pytest.mark.parametrize('command', ['position', 'velocity'])
def test_joints_whose_drives_take_setpoints_lead_a_tip(command):
    """A rigid arm that is told positions or velocities brings its tip along a path, to 2 mm."""
    model = sd.compile_model(sd.load_robot(with_joint_drives('ur10e', command)))
    q = np.array([0.2, -1.2, 1.4, -0.6, 1.2, 0.3])
    here = tip(model, q)
    goal = here + [0.08, -0.05, 0.06]
    points = np.array([here, goal, goal])
    path = hermite([0.0, 0.6, 1.2], points, 0.0 * points, 0.0 * points)
    y = model.per_thread.evaluator(q, 0.0 * q).y - model.y0
    reference = TipPathReference(constant(y), model.body_names[-1], path)
    found = sd.closed_loop(model, 'task', reference, 1.2, start=sd.Start(q=q))
    assert found.ok.all()
    assert np.linalg.norm(tip(model, found.q[-1]) - goal) < 2e-3
    assert (np.abs(found.qd) <= model.qd_limit * 1.001).all()


def test_a_switch_to_the_law_and_back_is_bumpless():
    """A path of outputs by pfbl, then task, then pfbl takes the commands of pfbl alone."""
    model = compiled('pcc_arm')
    u = np.full(model.m, 4.0)
    q = sd.equilibrium(model, u=u).q
    first = law(model, 'pfbl')
    y = first.outputs(q, np.zeros(model.n))[0]
    far = 5e-3 * np.linspace(-1.0, 1.0, model.m)
    t = np.array([0.0, 0.15, 0.3, 0.45])[:, None]
    way = y + (8.0 * t**2 - 10.0 * t**3) * far
    rate, bend = (16.0 * t - 30.0 * t**2) * far, (16.0 - 60.0 * t) * far
    parts = [hermite(t[: 4 - i, 0], way[i:], rate[i:], bend[i:]) for i in range(3)]
    phases = [Phase(name, 0.15, (i,)) for i, name in enumerate(('a', 'b', 'c'))]
    sent = []
    for kinds in (('pfbl', 'task', 'pfbl'), ('pfbl', 'pfbl', 'pfbl')):
        made = Composition([law(model, kind, observer=0.0) for kind in kinds], phases=phases)
        made.follow(Program(tuple(parts), ramps=(0.0, 0.0, 0.0)), 0.0, 0.0)
        made.start(q, np.zeros(model.n), 0.0, u)
        sent.append(under_way(model, made, q, u, 0.44)[1])
    step = np.abs(np.diff(sent[0], axis=0))
    assert np.abs(sent[0] - sent[1]).max() < 1e-6 * np.abs(sent[1]).max()
    own = np.abs(np.diff(sent[1], axis=0))
    for switch in (150, 300):
        assert (step[switch - 1] <= own[switch - 1] + 1e-5).all()
    assert (step <= model.rate_limit * PERIOD * (1.0 + 1e-9)).all() and own.max() > 1e-3


def test_a_led_tip_is_handed_on_without_a_jump():
    """A law that takes over from a moving tip begins within a tick's change of the command."""
    model = compiled('pcc_arm')
    u = np.full(model.m, 4.0)
    q = sd.equilibrium(model, u=u).q
    made = begun(model, q, u)
    made.lead(TipTarget('', tip(model, q) + [0.04, 0.0, -0.01], None, 0.4, 1.0), 0.0)
    plant, commands = under_way(model, made, q, u, 0.2)
    other = law(model, 'pfbl')
    other.follow(constant(made.outputs(plant.q, plant.qd)[0]), 0.2, 0.5)
    other.start(plant.q, plant.qd, 0.2, commands[-1])
    after = under_way(model, other, q, u, 1.0, 0.2, plant)[1]
    step = np.abs(after[0] - commands[-1])
    assert (step <= model.rate_limit * PERIOD * (1.0 + 1e-9)).all()
    assert np.abs(plant.qd / model.scales.units).max() < 1e-2  # 1.2 on the way


def test_a_state_that_is_no_number_leaves_nothing_behind():
    """After it there is no command, the tip takes orders, and the law goes on as a fresh one."""
    model = compiled('double_pendulum')
    q, rest, sent = np.array([0.3, 0.5]), np.zeros(2), []
    goal = tip(model, q + 0.1)
    for broken in (False, True):
        made = begun(model, q, np.zeros(2))
        made.compute(0.0, q, rest)
        if broken:
            assert not made.compute(PERIOD, np.array([np.nan, 0.5]), rest).ok
            made.lead(TipTarget('', goal, None, 0.3, 10.0), PERIOD)
        made.follow(constant(made.outputs(q, rest)[0]), 0.01, 0.0)
        made.start(q, rest, 0.01, np.zeros(2))
        made.lead(TipTarget('', goal, None, 0.3, 10.0), 0.01)
        sent.append(under_way(model, made, q, np.zeros(2), 0.2, 0.01)[1])
    assert np.array_equal(*sent)
