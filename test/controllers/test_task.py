# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `task`: tips, levels, limits, live targets, distances."""

import math

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.tasks.settings import kinds
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.references.piecewise import constant, spline
from softrobot_dynamics.references.tip_commands import TipPathReference, TipTarget, TipTwist
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled
import yaml

PERIOD = 1e-3


def law(model, kind='task', controlled=None, **given):
    """Return a law for a model, with parameters by name."""
    cls = CONTROLLERS.get(kind)
    settings = cls.make_settings(model, controlled, **given)
    return cls(model, period=PERIOD, controlled=controlled, settings=settings)


def wide_open(model):
    """Return what takes the limits away."""
    free = np.full(model.m, np.inf)
    return {'lower': -free, 'upper': free, 'rate': free}


def begin(made, q, u=None):
    """Begin at rest at q, outputs to stay."""
    rest = np.zeros(len(q))
    made.follow(constant(made.outputs(q, rest)[0][made.controlled]), 0.0, 0.0)
    made.start(q, rest, 0.0, np.zeros(made.model.m) if u is None else u)


def tip(model, q):
    """Return where the last tip is [m], and its rotation."""
    T = sd.forward_kinematics(model, q=q)[-1]
    return T[:3, 3].copy(), T[:3, :3].copy()


def closed(made, plant, duration, t0=0.0, look=None):
    """Close a loop; return what ``look`` says of each state (by default the tip), and commands."""
    seen, commands = [], []
    for k in range(round(duration / PERIOD)):
        q, qd = plant.q.copy(), plant.qd.copy()
        seen.append(tip(made.model, q)[0] if look is None else look(q, qd))
        command = made.compute(t0 + k * PERIOD, q, qd)
        assert command.ok
        commands.append(command.u.copy())
        plant.step(commands[-1], PERIOD)
    return np.array(seen), np.array(commands)


@pytest.mark.parametrize('name', ['double_pendulum', 'pcc_arm'])
def test_outputs_alone_are_partial_feedback_linearization(name):
    """Without anything for the tip to do, the command is that of `pfbl` with the same gains."""
    model, rng = compiled(name), np.random.default_rng(4)
    q = model.q0 + 0.1 * rng.standard_normal(model.n) * model.scales.units
    qd = 0.3 * rng.standard_normal(model.n) * model.scales.units
    commands = []
    for made in (
        law(model, **wide_open(model), **{'outputs.p': 60.0, 'outputs.d': 13.0}),
        law(model, 'pfbl', **wide_open(model), p=60.0, d=13.0),
    ):
        made.start(q, qd, 0.0, np.full(model.m, 0.5))
        made.follow(constant(np.full(model.m, 0.01)), 0.0, 0.0)
        commands.append(made.compute(0.0, q, qd).u.copy())
    assert commands[0] == pytest.approx(commands[1], rel=1e-9)


def test_a_tip_follows_the_path_of_its_reference():
    """A path of the tip is followed to 0.05 mm, though outputs of level 2 are to stay."""
    model = compiled('pcc_arm')
    made, plant = law(model), Simulator(model)
    start = tip(model, model.q0)[0]
    way = start + np.array([[0.0, 0.0, 0.0], [0.03, 0.02, -0.01], [0.05, -0.02, -0.015]])
    path = spline([0.0, 0.5, 1.0], way)
    begin(made, model.q0)
    stay = constant(made.outputs(model.q0, np.zeros(model.n))[0])
    made.follow(TipPathReference(stay, made.controlled_tip, path), 0.0, 0.0)
    seen, commands = closed(made, plant, 1.2)
    wanted = np.array([made._course.arrays.path.current.coefficients[0, 0], way[-1]])
    assert wanted[0] == pytest.approx(start)
    assert np.linalg.norm(seen[-1] - way[-1]) < 5e-5
    assert np.linalg.norm(seen[500] - way[1]) < 5e-5
    assert (commands >= model.lower).all() and (commands <= model.upper).all()


def test_a_pose_is_reached_in_position_and_orientation():
    """A rigid arm's tip comes to a pose, and its joints keep their ranges and speeds."""
    model = compiled('ur10e')
    q = np.array([0.2, -1.2, 1.4, -0.6, 1.2, 0.3])
    made, plant = law(model), Simulator(model, q=q)
    begin(made, q)
    goal = tip(model, q + np.array([0.3, 0.1, -0.2, 0.4, -0.3, 0.5]))
    made.lead(TipTarget('', *goal, 0.5, 0.5), 0.0)
    speeds, _ = closed(made, plant, 2.5, look=lambda q, qd: np.abs(qd))
    place, rotation = tip(model, plant.q)
    assert np.linalg.norm(place - goal[0]) < 1e-5
    assert math.acos(min(1.0, 0.5 * np.trace(rotation.T @ goal[1]) - 0.5)) < 1e-4
    assert (speeds.max(axis=0) <= model.qd_limit + 1e-6).all()


def test_a_target_on_the_way_changes_the_velocity_without_a_jump():
    """A new target during the motion lets neither the tip's velocity nor commands jump."""
    model = compiled('double_pendulum')
    q = np.array([0.3, 0.5])
    made, plant = law(model, **{'outputs.level': 2}), Simulator(model, q=q)
    begin(made, q)
    goal = tip(model, q + 0.3)[0]
    made.lead(TipTarget('', goal, None, 0.4, 1e3), 0.0)
    first, before = closed(made, plant, 0.2)
    made.lead(TipTarget('', tip(model, q - 0.2)[0], None, 0.6, 1e3), 0.2)
    second, after = closed(made, plant, 1.5, t0=0.2)
    steps = np.diff(np.concatenate([first, second]), axis=0) / PERIOD
    assert np.abs(steps).max() > 0.5  # it is under way
    assert np.abs(np.diff(steps, axis=0)).max() < 0.05
    assert np.abs(after[0] - before[-1]).max() < 0.2 * np.abs(np.diff(before, axis=0)).max() + 2.0
    assert np.linalg.norm(second[-1] - tip(model, q - 0.2)[0]) < 1e-4


def test_a_twist_moves_the_tip_until_it_is_out_of_date():
    """Twists that keep coming move the tip at their velocity; without more it comes to rest."""
    model = compiled('ur10e')
    q = np.array([0.2, -1.2, 1.4, -0.6, 1.2, 0.3])
    made, plant = law(model), Simulator(model, q=q)
    begin(made, q)
    velocity, seen = np.array([0.05, -0.02, 0.03]), []
    for k in range(10):
        made.lead(TipTwist('', velocity, np.zeros(3), 0.2), 0.05 * k)
        seen.append(closed(made, plant, 0.05, t0=0.05 * k)[0])
    seen = np.concatenate(seen)
    assert (seen[-1] - seen[-101]) / 0.1 == pytest.approx(velocity, abs=5e-4)
    later = closed(made, plant, 1.0, t0=0.5)[0]
    assert later[-1] == pytest.approx(later[-300], abs=1e-5)
    gone = later[-1] - seen[-1]
    assert gone == pytest.approx((0.15 + 0.05) * velocity, abs=2e-3)


def test_levels_come_one_after_the_other():
    """A posture of level 2 does not disturb a tip of level 1; of one level they share."""
    model = compiled('double_pendulum')
    q, errors = np.array([0.5, 0.6]), []
    for level in (1, 2):
        levels = {'outputs.level': 0, 'position.level': 1, 'posture.level': level}
        made, plant = law(model, **levels, **wide_open(model)), Simulator(model, q=q)
        begin(made, q)
        goal = tip(model, q + 0.2)[0]
        made.lead(TipTarget('', goal, None, 0.2, 10.0), 0.0)
        errors.append(np.linalg.norm(closed(made, plant, 2.5)[0][-1] - goal))
    assert errors[1] < 1e-6 < 1e-3 < errors[0]


def test_coordinates_stay_within_their_ranges():
    """A tip that is led beyond the range of a coordinate leaves it at its limit, by 1e-3."""
    model = compiled('double_pendulum')
    q, upper = np.array([0.3, 0.5]), 0.7
    name = model.coordinate_names[1]
    limits = np.where(np.array(model.coordinate_names) == name, upper, 1e6)
    made = law(model, **{'coordinates.upper': limits}, **wide_open(model))
    plant = Simulator(model, q=q)
    begin(made, q)
    made.lead(TipTarget('', tip(model, np.array([0.3, 1.3]))[0], None, 0.3, 100.0), 0.0)
    angles = closed(made, plant, 2.0, look=lambda q, qd: q[1])[0]
    assert upper - 0.01 < angles.max() < upper + 1e-3 and not made.relaxed


def test_a_tip_keeps_its_speed_limit():
    """A target that asks for more speed than the tip may have is reached at that speed."""
    model = compiled('pcc_arm')
    made, plant = law(model, **{'tip_speed.most': 0.1}, rate=1e6), Simulator(model)
    begin(made, model.q0)
    goal = tip(model, model.q0)[0] + np.array([0.05, -0.02, -0.015])
    made.lead(TipTarget('', goal, None, 0.1, 1e3), 0.0)
    seen = closed(made, plant, 1.5)[0]
    speeds = np.linalg.norm(np.diff(seen, axis=0), axis=1) / PERIOD
    assert 0.09 < speeds.max() < 0.105
    assert np.linalg.norm(seen[-1] - goal) < 1e-3


def beside(*obstacles):
    """Return pcc_arm with rods for shapes among obstacles, which its model knows."""
    data = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    for body in data['bodies']:
        body['collision'] = {'type': 'rod'}
    return sd.compile_model(sd.surround(sd.load_robot(data), {'environment': list(obstacles)}))


@pytest.mark.parametrize('seed', range(3))
def test_distances_from_obstacles_are_kept(seed):
    """Led to targets within obstacles, the arm keeps its clearance to 0.1 mm."""
    rng, around = np.random.default_rng(seed), 2.0 * np.pi * (np.arange(3) + 0.2 * seed) / 3
    model = beside(
        *({'name': f's{i}', 'type': 'sphere', 'radius': 0.025,
           'centre': [0.1 * np.cos(a), 0.1 * np.sin(a), 0.56]} for i, a in enumerate(around))
    )  # fmt: skip
    made = law(model, **{'distances.clearance': 2e-3, 'tip_speed.most': 0.4})
    plant, gaps = Simulator(compiled('pcc_arm')), []
    begin(made, model.q0)
    for k in range(4):
        a = around[k % 3]
        goal = np.array([0.1 * np.cos(a), 0.1 * np.sin(a), rng.uniform(0.55, 0.57)])
        made.lead(TipTarget('', goal, None, 0.1, 0.4), 0.6 * k)
        found, commands = closed(made, plant, 0.6, 0.6 * k, lambda q, qd: nearest(model, q))
        gaps.append(found.min())
    assert -1e-4 < min(gaps) - 2e-3 < 3e-3  # kept, and needed


@pytest.mark.parametrize('seed', [25, 36])
def test_distances_from_many_obstacles_are_kept(seed):
    """Among ten obstacles that leave little room, slow cables keep the arm clear to 0.1 mm."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < 10:
        place = np.append(rng.uniform(-0.2, 0.2, 2), rng.uniform(0.3, 0.6))
        if np.hypot(*place[:2]) > 0.08 and all(math.dist(place, x) > 0.06 for x in found):
            found.append(place.tolist())
    ball = {'type': 'sphere', 'radius': 0.025}
    model = beside(*({'name': f's{i}', 'centre': x, **ball} for i, x in enumerate(found)))
    given = {'distances.clearance': 2e-3, 'tip_speed.most': 0.4, 'momentum.level': 3}
    made, plant, gaps = law(model, **given), Simulator(compiled('pcc_arm')), []
    begin(made, model.q0)
    rng = np.random.default_rng([seed, 1])
    for k in range(2):
        goal = np.append(rng.uniform(-0.15, 0.15, 2), rng.uniform(0.5, 0.6))
        made.lead(TipTarget('', goal, None, 0.1, 0.4), 0.5 * k)
        gaps += list(closed(made, plant, 0.5, 0.5 * k, lambda q, qd: nearest(model, q))[0])
    assert min(gaps) > 2e-3 - 1e-4


def test_contacts_press_with_less_than_a_force():
    """A tip that is led into a wall presses on it with the greatest force at most, and nearly."""
    data, q = yaml.safe_load(shipped('robots')['double_pendulum'].read_text()), [0.3, 0.5]
    surface = {'friction': 0.0, 'stiffness': 4e3}
    ball = {'type': 'sphere', 'centre': [0, 0, -1.0], 'radius': 0.03, **surface}
    data['bodies'][-1]['collision'] = [ball]
    place = tip(compiled('double_pendulum'), np.array(q))[0]
    wall = {'type': 'plane', 'point': [place[0] + 0.08, 0, 0], 'normal': [-1.0, 0.0, 0.0]}
    around = {'environment': [{'name': 'wall', **wall, **surface}]}
    model = sd.compile_model(sd.surround(sd.load_robot(data), around))
    made = law(model, **{'distances.order': 0, 'contact_force.most': 5.0})
    plant = Simulator(model, q=np.array(q))
    begin(made, plant.q)
    made.lead(TipTarget('', place + [0.15, 0.0, 0.0], None, 0.5, 10.0), 0.0)
    forces = closed(made, plant, 2.5, look=lambda q, qd: sd.contacts(model, q=q).force.sum())[0]
    assert 2.0 < forces[-1] <= forces.max() < 5.0 and not made.relaxed  # 250 N without


def test_ways_ahead_are_those_of_a_command_that_stays():
    """Predicted displacements equal those of the robot under a held command to 3 per cent."""
    model = beside({'name': 'ball', 'type': 'sphere', 'radius': 0.02, 'centre': [0.2, 0.2, 0.5]})
    made, plant = law(model), Simulator(compiled('pcc_arm'))
    begin(made, model.q0)
    made.lead(TipTarget('', np.array([0.1, 0.05, 0.55]), None, 0.1, 0.4), 0.0)
    closed(made, plant, 0.3)
    made.compute(0.3, plant.q, plant.qd)
    ahead, q, held = made._work.prediction, plant.q.copy(), np.abs(made._buffers.favoured)
    ticks = 2**ahead.doublings
    for k in range(len(ahead.displacement)):
        for _ in range(ticks):
            plant.step(held, PERIOD)
        way = plant.q - q
        assert ahead.displacement[k] == pytest.approx(way, abs=0.03 * np.abs(way).max() + 1e-5), k


def nearest(model, q):
    """Return the least distance [m] between surfaces that are near, else the greatest known."""
    found = sd.contacts(model, q=q).gap
    return found[0] if len(found) else 1.0


def test_bounds_that_cannot_be_kept_are_named():
    """An arm that begins too near to a wall, without force to leave, says by which bound."""
    model = beside(
        {'name': 'wall', 'type': 'plane', 'point': [0.03, 0, 0], 'normal': [-1.0, 0.0, 0.0]}
    )
    made = law(model, upper=1e-6, **{'distances.clearance': 0.05})
    begin(made, model.q0)
    made.compute(0.0, model.q0, np.zeros(model.n))
    assert set(made.relaxed) == {'distances'} and made.relaxed['distances'] > 1e-3


def test_a_law_of_a_composition_leads_its_tip():
    """In a composition the law `task` is led as on its own, and its bounds are reported."""
    model = compiled('double_pendulum')
    own = law(model)
    together = Composition([own])
    assert together.controlled_tip == own.controlled_tip and together.relaxed == {}
    plant = Simulator(model, q=np.array([0.3, 0.5]))
    begin(together, plant.q)
    goal = tip(model, np.array([0.4, 0.6]))[0]
    closed(together, plant, 0.01)
    together.lead(TipTarget('', goal, None, 0.3, 10.0), 0.01)
    assert np.linalg.norm(closed(together, plant, 1.5, 0.01)[0][-1] - goal) < 1e-4


@pytest.mark.quick
def test_what_is_wrong_is_named():
    """Wrong bodies, targets and ranges are refused by the names of their parameters."""
    model = compiled('pcc_arm')
    make = CONTROLLERS.get('task').make_settings
    for name, value, words in (
        ('position.body', 'elbow', r"task.position.body.*'elbow'.*one of"),
        ('position.target', [0.1, 0.2], r'task.position.target.*three numbers'),
        ('posture.target', [0.1], r'task.posture.target.*9 numbers'),
        ('coordinates.lower', 2e6, r'task.coordinates.lower.*not above'),
        ('distances.reach', -1.0, r'task.distances.reach'),
    ):
        with pytest.raises(DescriptionError, match=words):
            make(model, **{name: value})
    assert {kind.type_name for kind in kinds()} >= {'position', 'outputs', 'distances'}


def test_only_the_led_tip_takes_orders():
    """A target for another body is refused with the one that is led; other laws lead none."""
    model = compiled('pcc_arm')
    order = TipTarget('segment1', np.zeros(3), None, 0.1, 1.0)
    with pytest.raises(ArgumentError, match='segment3, whose tip is led'):
        law(model).lead(order, 0.0)
    with pytest.raises(ArgumentError, match='pfbl leads no tip'):
        law(model, 'pfbl').lead(order, 0.0)


def test_a_hold_after_messages_begins_where_the_outputs_are():
    """After a live target the outputs are held where they are, without a jump of the command."""
    model = compiled('pcc_arm')
    made, plant = law(model), Simulator(model)
    begin(made, model.q0)
    made.lead(TipTarget('', tip(model, model.q0)[0] + [0.05, 0.0, -0.01], None, 0.3, 1.0), 0.0)
    _, before = closed(made, plant, 1.0)
    y = made.outputs(plant.q, plant.qd)[0]
    made.follow(constant(y), 1.0, 0.5)
    _, after = closed(made, plant, 1.5, t0=1.0)
    assert np.abs(after[0] - before[-1]).max() <= 0.4 + 1e-9  # the rate limit
    assert np.abs(made.outputs(plant.q, plant.qd)[0] - y).max() < 1e-3


def test_the_same_states_and_orders_give_the_same_commands():
    """Two laws that hear the same states and orders send the same bits."""
    model, found = compiled('double_pendulum'), []
    for _ in range(2):
        made, plant = law(model), Simulator(model, q=np.array([0.3, 0.5]))
        begin(made, plant.q)
        made.lead(TipTarget('', tip(model, np.array([0.5, 0.4]))[0], None, 0.2, 5.0), 0.0)
        found.append(closed(made, plant, 0.3)[1])
    assert np.array_equal(*found)


def test_an_obstacle_that_moves_is_kept_clear_of():
    """An arm that hangs at rest gives way to a ball that comes at 60 mm/s, by its clearance."""
    ball = {'name': 'ball', 'type': 'sphere', 'radius': 0.025, 'centre': [0.1, 0.0, 0.55],
            'motion': {'velocity': [-0.06, 0.0, 0.0]}}  # fmt: skip
    model, larger = (beside(ball | {'radius': 0.025 + x}) for x in (0.0, 0.02))  # seen from afar
    late = 0.5  # [s] the motion begins by so much later than the law
    made = law(model, **{'distances.clearance': 2e-3, 'distances.motion_start': late})
    plant, gaps = Simulator(compiled('pcc_arm')), []
    begin(made, model.q0)
    for k in range(2500):
        q, qd = plant.q.copy(), plant.qd.copy()
        if k % 5 == 0:
            gap = sd.contacts(larger, q=q, t=k * PERIOD - late).gap
            gaps.append(gap[0] + 0.02 if len(gap) else 1.0)
        command = made.compute(k * PERIOD, q, qd)
        assert command.ok
        plant.step(command.u.copy(), PERIOD)
    assert 2e-3 - 1e-4 < min(gaps) < 0.02


def test_a_tip_that_is_chosen_live_is_not_led_as_the_one_before():
    """Another body for the position goes nowhere at once; its target is approached in the ramp."""
    model = compiled('pcc_arm')
    made, plant = law(model), Simulator(model)
    begin(made, model.q0)
    made.lead(TipTarget('', tip(model, model.q0)[0] + [0.05, 0.0, -0.01], None, 0.3, 1.0), 0.0)
    _, before = closed(made, plant, 1.0)
    given = {'position.body': 'segment2'}
    made.use(CONTROLLERS.get('task').make_settings(model, None, **given))
    _, after = closed(made, plant, 0.5, t0=1.0)
    assert made.controlled_tip == 'segment2' and not made._course.leads
    assert np.abs(np.diff(np.concatenate([before[-1:], after]), axis=0)).max() < 0.05
    made.lead(TipTarget('segment2', tip(model, plant.q)[0], None, 0.3, 1.0), 1.5)


def test_a_pose_is_of_the_tip_whose_position_is_led():
    """A twist of zero leaves a bent arm at rest, also where it leads the tip of a middle body."""
    model = compiled('pcc_arm')
    u = np.zeros(model.m)
    u[[0, 3, 6]] = 8.0
    q = sd.equilibrium(model, u=u).q
    made, plant = law(model, **{'position.body': 'segment2'}), Simulator(model, q=q)
    begin(made, q, u)
    made.lead(TipTwist('', np.zeros(3), np.zeros(3), 0.2), 0.0)
    speeds = closed(made, plant, 0.5, look=lambda q, qd: np.abs(qd / model.scales.units).max())[0]
    assert speeds.max() < 0.02
    make = CONTROLLERS.get('task').make_settings
    with pytest.raises(DescriptionError, match='task.orientation.body.*as that of position'):
        make(model, **{'position.body': 'segment2', 'orientation.body': 'segment3'})


def test_a_range_is_kept_however_fast_it_may_be_approached():
    """No tick oversteps a range, though a rate of approach would have it reached sooner."""
    model = compiled('double_pendulum')
    q, upper, worst = np.array([0.3, 0.5]), 0.7, []
    limits = np.array([1e6, upper])
    for fastest in (1e3, 1e4):
        given = {'coordinates.upper': limits, 'coordinates.approach': fastest}
        made, plant = law(model, **given, **wide_open(model)), Simulator(model, q=q)
        begin(made, q)
        made.lead(TipTarget('', tip(model, np.array([0.3, 1.3]))[0], None, 0.1, 100.0), 0.0)
        worst.append(closed(made, plant, 0.5, look=lambda q, qd: q[1])[0].max())
    assert worst[1] == worst[0] < upper + 5e-3


def test_ranges_beyond_those_of_the_robot_are_refused():
    """A least value above the joint's greatest leaves no range, and is refused by its name."""
    make, model = CONTROLLERS.get('task').make_settings, compiled('ur10e')
    words = 'task.coordinates.lower: 7.*range of shoulder_pan_joint in the robot file'
    with pytest.raises(DescriptionError, match=words):
        make(model, **{'coordinates.lower': 7.0})
    with pytest.raises(DescriptionError, match='task.coordinates.upper: -3.5.*elbow_joint'):
        make(model, **{'coordinates.upper': -3.5})


def test_a_target_that_is_set_with_a_state_that_is_no_number_is_followed_after_it():
    """No error, no command for that state, and the target counts from the next one on."""
    model = compiled('double_pendulum')
    q, zero = np.array([0.3, 0.5]), np.zeros(2)
    made, plant = law(model), Simulator(model, q=q)
    begin(made, q)
    made.follow(made.stay(q, zero), 0.0, 0.5)
    assert made.compute(0.0, q, zero).ok
    goal = tip(model, q + 0.1)[0]
    made.use(CONTROLLERS.get('task').make_settings(model, **{'position.target': goal.tolist()}))
    assert not made.compute(PERIOD, np.array([np.nan, 0.5]), zero).ok
    made.start(q, zero, 2 * PERIOD, np.zeros(2))
    assert np.linalg.norm(closed(made, plant, 1.5, 2 * PERIOD)[0][-1] - goal) < 1e-3
