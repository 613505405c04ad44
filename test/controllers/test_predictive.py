# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `predictive` in closed loops."""

import threading

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration import build
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.predictive.schedule import FIRST_PLAN_TIME, PlanSchedule
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.loops.driver import Driver
from softrobot_dynamics.loops.orders import Orders
from softrobot_dynamics.loops.solution_thread import SolutionThread, solve_beside
from softrobot_dynamics.references.circle import Circle
from softrobot_dynamics.references.piecewise import constant, spline
from softrobot_dynamics.references.setpoint import SetPoint
from softrobot_dynamics.references.tip_commands import tip_path_reference, TipTarget, TipTwist
from support import joint_drives
from support.robots import compiled
import yaml

PERIOD = 2e-3
GOAL = np.array([0.8, -0.3])
SERVO_GOAL = np.array([0.4, -0.3, 0.2, 0.5])  # [rad] of the motors of servo_arm
GENTLE = {'output_weight': 100.0}  # commands stay within their limits


def law(model, controlled=None, kind='predictive', period=PERIOD, **given):
    """Return a law for a model, with parameters."""
    cls = CONTROLLERS.get(kind)
    settings = cls.make_settings(model, controlled, **given)
    return cls(model, period=period, controlled=controlled, settings=settings)


def settled(made, plant=None, duration=1.5, goal=GOAL, **options):
    """Return a closed loop that is led to a goal."""
    reference, start = constant(goal), sd.Start(ramp=0.5)
    plant = sd.Plant(plant, **options) if plant is not None or options else None
    return sd.closed_loop(made.model, made, reference, duration, start=start, plant=plant)


def test_outputs_settle_at_their_goal_within_the_limits():
    """Outputs come to rest where the reference is, by commands within limits and rate limits."""
    model = compiled('double_pendulum')
    rate = np.full(2, 400.0)
    found = settled(law(model, rate=rate))
    assert found.ok.all() and found.y[-1] == pytest.approx(GOAL, abs=1e-3)
    assert (found.u >= model.lower).all() and (found.u <= model.upper).all()
    assert np.abs(np.diff(found.u, axis=0)).max() <= 400.0 * PERIOD * (1.0 + 1e-9)


def heavier(model):
    """Return a plant of a double pendulum that is a fifth heavier."""
    return sd.compile_model(sd.vary(model.description, {'mass': '×1.2'}))


def test_what_the_model_lacks_leaves_no_offset():
    """A plant a fifth heavier is led as exactly as the model; not so without the observer."""
    model = compiled('double_pendulum')
    plant = heavier(model)
    with_it, without = (
        np.abs(settled(law(model, observer=x), plant).y[-1] - GOAL).max() for x in (0.02, 0.0)
    )
    assert with_it < 1e-3 and without > 5.0 * with_it


def test_a_known_delay_is_made_up_for():
    """Commands that are late by a known time leave a tenth of the overshoot of an unknown one."""
    model = compiled('double_pendulum')
    errors = []
    for known in (0.0, 0.01):
        found = settled(law(model, delay=known), delay=0.01)
        errors.append(np.abs(found.y - found.y_d)[found.t > 0.5].max())
    assert errors[1] < 0.5 * errors[0]


def test_a_tip_is_led_round_a_circle():
    """The tip itself follows a circle to a hundredth of its radius, without planned postures."""
    model = compiled('double_pendulum')
    tip = model.body_names[-1]
    circle = Circle(
        body=tip, center=(0.9, 0.0, -1.2), normal=(0.0, -1.0, 0.0), radius=0.2, period=1.0
    )
    reference = tip_path_reference(model, tip, circle)
    found = sd.closed_loop(model, law(model, tip=tip), reference, 1.5, start=sd.Start(ramp=0.5))
    places = np.array([sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in found.q])
    off = np.linalg.norm(places - circle.targets().points(found.t)[:, 0], axis=1)
    assert found.ok.all() and off[found.t > 1.0].max() < 2e-3
    assert np.isnan(found.y_d).all()


def test_messages_lead_the_tip():
    """The tip that is led goes to a live target, and on by a twist; turns are refused."""
    model = compiled('double_pendulum')
    tip, q = model.body_names[-1], model.q0.copy()
    made, plant = law(model, tip=tip), sd.Simulator(model)
    assert made.controlled_tip == tip
    made.follow(made.stay(q, 0.0 * q), 0.0, 0.0)
    made.start(q, 0.0 * q, 0.0)
    begun = made.desired(0.0)[0]
    goal = begun + [0.1, 0.0, 0.05]
    place = lambda: sd.forward_kinematics(model, q=plant.q)[-1][:3, 3]  # noqa: E731
    for k in range(900):
        if k == 0:
            made.lead(TipTarget('', goal, None, 0.5, 1.0), 0.0)
        if k == 500:
            assert np.linalg.norm(place() - goal) < 5e-3
            made.lead(TipTwist(tip, np.array([-0.1, 0.0, 0.0]), np.zeros(3), 0.5), k * PERIOD)
        plant.step(made.compute(k * PERIOD, plant.q, plant.qd).u, PERIOD)
    assert goal[0] - place()[0] == pytest.approx(0.05, abs=0.01)
    with pytest.raises(ArgumentError, match='linear velocity alone'):
        made.lead(TipTarget(tip, goal, np.eye(3), 0.5, 1.0), 2.0)
    with pytest.raises(ArgumentError, match='whose tip is led'):
        made.lead(TipTarget('elsewhere', goal, None, 0.5, 1.0), 2.0)


def test_twists_lead_the_tip_ahead_by_a_little_only():
    """A joystick that was held beyond the reach acts at once when it turns back."""
    model = compiled('double_pendulum')
    tip, q = model.body_names[-1], model.q0.copy()
    made = law(model, tip=tip)
    made.follow(made.stay(q, 0.0 * q), 0.0, 0.0)
    made.start(q, 0.0 * q, 0.0)
    here = made.desired(0.0)[0]
    for k in range(20):  # the robot cannot follow: it stays
        made.lead(TipTwist(tip, np.array([1.0, 0.0, 0.0]), np.zeros(3), 0.2), 0.1 * k)
        made.compute(0.1 * k, q, 0.0 * q)
    ahead = np.linalg.norm(made.desired(2.0)[0] - here)
    assert 0.05 < ahead < model.scales.length / 30.0 + 0.1 + 1e-9


def test_references_of_outputs_and_of_other_tips_are_refused_for_a_tip():
    """A reference that does not lead the tip of the law is refused by name."""
    model = compiled('double_pendulum')
    with pytest.raises(ArgumentError, match='reference.type'):
        tip_path_reference(model, model.body_names[-1], SetPoint())
    with pytest.raises(ArgumentError, match='reference.circle.body'):
        tip_path_reference(model, model.body_names[-1], Circle(body=model.body_names[0]))


@pytest.mark.parametrize(
    'given, path',
    [
        ({'horizon': 1.0, 'knot': 0.01}, 'predictive.horizon'),
        ({'horizon': 0.1, 'interval': 0.06}, 'predictive.interval'),
        ({'horizon': 0.05, 'knot': 0.1}, 'predictive.knot'),
        ({'clearance': 0.01}, 'predictive.clearance.*nothing of this robot may touch'),
        ({'knot': 0.0}, 'predictive.knot'),
        ({'tip_weight': -1.0}, 'predictive.tip_weight'),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given, path):
    """A horizon of too many steps, or too short for the interval, is refused by its name."""
    with pytest.raises(DescriptionError, match=path):
        law(compiled('double_pendulum'), **given)


def test_an_unknown_tip_is_refused():
    """A tip of no body of the robot is refused."""
    with pytest.raises(DescriptionError, match='predictive.tip.*upper_bar, lower_bar'):
        law(compiled('double_pendulum'), tip='nobody')


def test_margins_that_leave_no_range_are_refused():
    """Soft limits that lie beyond each other are refused by the joint that has the least range."""
    robot = yaml.safe_load(shipped('robots')['double_pendulum'].read_text())
    robot['bodies'][1]['joint']['limits'] = {'position': [-0.1, 0.7]}
    make = CONTROLLERS.get('predictive').make_settings
    model = sd.compile_model(sd.load_robot(robot))
    with pytest.raises(DescriptionError, match='predictive.margin.*half of the range of elbow'):
        make(model, margin=0.41)
    assert make(model, margin=0.39).margin == 0.39


@pytest.mark.parametrize(
    'interval, period, ticks',
    [(0.005, 2e-3, 2), (0.005, 1e-3, 5), (0.0035, 1e-3, 3), (0.0015, 1e-3, 1), (0.004, 0.01, 1)],
)
def test_the_interval_is_rounded_to_periods_halves_down(interval, period, ticks):
    """Solutions are rather made too often than too seldom, and diagnostics say how often."""
    made = law(compiled('double_pendulum'), period=period, interval=interval)
    made.start(made.model.q0, np.zeros(2), 0.0)
    made.compute(0.0, made.model.q0, np.zeros(2))
    assert made.schedule.due_at == pytest.approx(ticks * period)
    assert made.figures()['interval of solutions [ms]'] == pytest.approx(1e3 * ticks * period)


def test_the_horizon_is_rounded_to_knots_halves_down():
    """Two and a half knots are two, and three and a half are three."""
    model = compiled('double_pendulum')
    assert [law(model, horizon=x, knot=0.01).settings.steps for x in (0.025, 0.035)] == [2, 3]


def test_an_arm_stops_short_of_a_wall_and_closer_by_a_smaller_clearance():
    """A goal behind a wall leaves the gap that is asked for, also one that is set as it runs."""
    robot = yaml.safe_load(shipped('robots')['double_pendulum'].read_text())
    end = {'type': 'sphere', 'radius': 0.1, 'centre': [0.0, 0.0, -1.0]}
    robot['bodies'][-1] = {**robot['bodies'][-1], 'collision': end}
    plain = sd.compile_model(sd.load_robot(robot))
    tip = sd.forward_kinematics(plain, q=GOAL)[-1][:3, 3]
    begin = sd.forward_kinematics(plain, q=plain.q0)[-1][:3, 3]
    across = (begin - tip) / np.linalg.norm(begin - tip)
    point = tip + 0.15 * across
    wall = {'name': 'wall', 'type': 'plane', 'point': point.tolist(), 'normal': across.tolist()}
    model = sd.compile_model(sd.surround(plain.description, {'environment': [wall]}))
    made, gaps = law(model, clearance=0.05, distance_weight=1e7, **GENTLE), []
    for clearance in (0.05, 0.02):
        made.use(made.settings.replace(clearance=clearance))
        found = settled(made, plain)
        late = found.q[found.t > 0.5]
        places = np.array([sd.forward_kinematics(plain, q=q)[-1][:3, 3] for q in late])
        gaps.append(((places - point) @ across - 0.1).min())
    assert gaps == pytest.approx([0.05, 0.02], abs=1e-3)


@pytest.mark.parametrize('command', ['position', 'velocity'])
def test_joints_whose_drives_take_setpoints_follow(command):
    """A link that is told positions or velocities by a slow drive stays on a cubic to 0.4 mrad."""
    model = joint_drives.compiled(command, 10.0)
    way = spline(np.array([0.0, 1.0]), np.array([[0.0], [1.0]]))
    found = sd.closed_loop(model, law(model), way, 1.5, start=sd.Start(q=np.zeros(1), ramp=0.0))
    assert found.ok.all() and np.abs(found.q - found.y_d).max() < 4e-4


def test_tendons_that_take_positions_are_planned_within_their_limits():
    """Outputs of tendons come to their goal by positions within limits and rate limits."""
    model = compiled('servo_arm')
    begin, end = (sd.equilibrium(model, command=u).q for u in (np.zeros(4), SERVO_GOAL))
    y = model.evaluator()(end, 0.0 * end).y - model.y0
    start = sd.Start(q=begin, u=np.zeros(4), ramp=0.3)
    found = sd.closed_loop(model, law(model), constant(y), 1.5, start=start)
    assert found.ok.all()
    assert np.abs(found.y[-1] - y).max() < 2e-5 < 0.1 * np.abs(found.y[0] - y).max()
    assert (np.abs(found.u) <= 3.0).all()
    assert np.abs(np.diff(found.u, axis=0)).max() <= 12.0 * PERIOD * (1.0 + 1e-9)


def test_outputs_that_cannot_be_held_do_not_move_the_others():
    """A tendon of hybrid_arm that would have to push misses its output; all others hold theirs."""
    model = compiled('hybrid_arm')
    made = law(model)
    stay = made.stay(model.q0, np.zeros(model.n))
    found = sd.closed_loop(model, made, stay, 1.5, start=sd.Start(ramp=0.5))
    off = np.abs(found.y[-1] - found.y_d[-1]) / np.abs(model.scales.outputs).max(axis=1)
    assert found.ok.all() and np.abs(found.qd[-1] / model.scales.units).max() < 0.1
    pushing = off > 0.01
    assert pushing.sum() == 1 and found.u[-1, pushing] == 0.0
    assert off[~pushing].max() < 1e-3


def test_new_settings_count_at_once_and_a_jump_of_the_goal_does_not_step_the_command():
    """A law that takes over begins with the command in force; weights may change as it runs."""
    model = compiled('double_pendulum')
    made, q, zero = law(model), model.q0, np.zeros(2)
    u = np.array([5.0, -3.0])
    made.follow(constant(GOAL), 0.0, 0.5)
    made.start(q, zero, 0.0, u)
    assert made.compute(0.0, q, zero).u == pytest.approx(u)
    made.use(made.settings.replace(output_weight=10.0, horizon=0.1))
    for k in range(1, 8):
        command = made.compute(k * PERIOD, q, zero)
    assert command.ok and len(made.schedule.now.u) == 10


def test_a_state_that_is_no_number_gets_no_command():
    """Nan for a state gives no valid command, and the next good state one again."""
    model = compiled('double_pendulum')
    made, q, zero = law(model), model.q0, np.zeros(2)
    made.start(q, zero, 0.0)
    for k in range(6):
        assert made.compute(k * PERIOD, q, zero).ok
    assert not made.compute(6 * PERIOD, np.full(2, np.nan), zero).ok
    made.start(q, zero, 7 * PERIOD)
    assert all(made.compute(k * PERIOD, q, zero).ok for k in range(7, 30))


def test_in_phases_it_goes_beside_other_laws():
    """With one joint of its own it follows while another law has the other joint."""
    model = compiled('double_pendulum')
    first, second = model.actuator_names
    both = Composition([law(model, [first]), law(model, [second], 'pfbl', observer=0.01)])
    found = settled(both)
    assert found.ok.all() and found.y[-1] == pytest.approx(GOAL, abs=5e-3)


def test_commands_of_other_laws_are_predicted_as_they_are():
    """A plan holds the joint of another law at its command, which was another in the beginning."""
    model = compiled('double_pendulum')
    first, second = model.actuator_names
    own = law(model, [first])
    found = settled(Composition([own, law(model, [second], 'pfbl', observer=0.01)]))
    plan = own.schedule.now
    assert abs(found.u[-1, 1] - found.u[0, 1]) > 1.0
    assert plan.u[:, 1] == pytest.approx(np.full(len(plan.u), found.u[-1, 1]), rel=1e-2)


def test_figures_of_two_parts_that_plan_are_told_apart():
    """Each part has its own figures and failure, by its name; a single one has them without."""
    model = compiled('double_pendulum')
    first, second = model.actuator_names
    parts = [law(model, [first], interval=0.02), law(model, [second], interval=0.03)]
    both = Composition(parts, names=('upper', 'lower'))
    assert settled(both, duration=0.2).ok.all()
    found, interval = both.figures(), 'interval of solutions [ms]'
    assert (found[f'upper: {interval}'], found[f'lower: {interval}']) == pytest.approx((20, 30))
    for name, part in zip(both.names, parts):
        own = part.figures()
        assert own['solutions'] > 5 and {key: found[f'{name}: {key}'] for key in own} == own
    assert len(found) == 2 * len(own) and found['upper: solutions'] != found['lower: solutions']
    parts[1].schedule.lost = True
    assert both.failure.startswith('lower: no plan covers')
    alone = Composition([law(model)], names=('arm',))
    assert alone.figures().keys() == own.keys()


def test_a_tip_in_phases_is_refused():
    """Where there are phases outputs follow references, and a tip is refused by name."""
    values = {
        'phases': ('a',),
        'reference.ramp_time': 1.0,
        'a.parts': ('p',),
        'a.duration': np.nan,
        'p.controller': 'predictive',
        'p.controlled': (),
        'p.predictive.tip': 'tip',
    }
    with pytest.raises(DescriptionError, match='p.predictive.tip'):
        build.settings_for(compiled('double_pendulum'), values)


def run(made, states, beside=None):
    """Return the commands of a law at states, one after the other."""
    made.start(*np.split(states[0], 2), 0.0)
    made.follow(constant(GOAL), 0.0, 0.2)
    found = []
    for k, x in enumerate(states):
        found.append(made.compute(k * PERIOD, x[:2].copy(), x[2:].copy()).u.copy())
        if beside is not None:
            beside(k)
    return np.array(found)


@pytest.fixture
def states():
    """Return states of a run (K, 4)."""
    found = settled(law(compiled('double_pendulum')), duration=0.1)
    return np.hstack([found.q, found.qd])


def test_solutions_in_a_thread_are_those_of_the_loop(states):
    """Solutions beside the loop that are in time give the same commands, bit by bit."""
    model = compiled('double_pendulum')
    expected, made = run(law(model), states), law(model)
    (thread,) = solve_beside(made)
    came = threading.Event()

    def wait(k):
        while made.schedule.waiting and made._poll() is None:
            came.wait(1e-3)

    assert np.array_equal(run(made, states, wait), expected)
    counts = made.solutions
    assert counts.late_ticks == 0 and made.figures()['solutions'] == counts.solved_count > 10
    thread.close()


class Slow(SolutionThread):
    """A thread whose answers are seen only after some looks."""

    looks = 0

    def submit(self, request):
        """Have a request solved; every fifth answer is not there at first."""
        poll = super().submit(request)
        self.looks += 1
        left = [3 if self.looks % 5 == 0 else 0]

        def late():
            while poll() is None:
                pass
            left[0] -= 1
            return None if left[0] >= 0 else poll()

        return late


def test_late_solutions_are_bridged_counted_and_replayed(states):
    """While a solution is late the plan before goes on; by the times noted a replay is exact."""
    model, notes = compiled('double_pendulum'), {}
    made = law(model, **GENTLE)
    thread = Slow(made.planner)
    made.solve_beside(thread.submit)

    def note(k):
        if made.schedule.late_solution is not None:
            due, came = made.schedule.late_solution
            notes[due], made.schedule.late_solution = came, None

    found = run(made, states, note)
    thread.close()
    assert made.solutions.late_ticks > 3 and notes and np.isfinite(found).all()
    again = law(model, **GENTLE)
    again.replay_late(notes)
    assert np.array_equal(run(again, states), found)
    assert not np.array_equal(run(law(model, **GENTLE), states), found)


class Delayed:
    """Solves at once; each answer is seen some periods after it is due."""

    def __init__(self, planner, late):
        self.planner, self.late, self.t = planner, late, 0.0

    def submit(self, request):
        """Have a request solved."""
        plan = self.planner.solve(request)
        come = request.t + request.lead + (self.late - 0.5) * PERIOD
        return lambda: plan if self.t >= come else None


@pytest.fixture(scope='module')
def loaded_arm():
    """Return a plant: pcc_arm a fifth heavier and stiffer, with a fifth of its mass at the tip."""
    robot = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    load = {'type': 'rigid', 'mass': 0.16, 'com': [0.0, 0.0, 0.0]}
    robot['bodies'].append({'name': 'load', 'joint': {'type': 'fixed'}, 'body': load})
    changes = {'density': '×1.2', 'young_modulus': '×1.2'}
    return sd.compile_model(sd.vary(sd.load_robot(robot), changes))


@pytest.mark.parametrize('late, most', [(1, 3e-4), (3, 6e-4), (10, 2e-3)])
def test_late_solutions_cost_little_where_the_model_is_off(loaded_arm, late, most):
    """A tip stays on a fast circle though each solution is late and the plant is not the model."""
    model = compiled('pcc_arm')
    made = law(model, tip='segment3', interval=4e-3)
    solver, answer = Delayed(made.planner, late), made.compute
    made.solve_beside(solver.submit)

    def compute(t, q, qd):
        solver.t = t
        return answer(t, q, qd)

    made.compute = compute
    circle = Circle(body='segment3', period=1.0)
    reference, u = tip_path_reference(model, 'segment3', circle), np.ones(model.m)
    start = sd.Start(q=sd.equilibrium(model, u=u).q, u=u, ramp=1.0)
    found = sd.closed_loop(model, made, reference, 2.5, start=start, plant=loaded_arm)
    tips = np.array([sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in found.q])
    off = np.linalg.norm(tips - circle.targets().points(found.t)[:, 0], axis=1)
    assert found.ok.all() and made.solutions.late_ticks > 200
    assert off[found.t > 1.5].max() < most


def test_the_mean_command_counts_commands_by_how_long_they_were_in_force():
    """A command that stood for two periods, as a tick was missed, counts twice."""
    schedule = PlanSchedule(PERIOD, np.zeros(1))
    for k, u in ((0, 1.0), (1, 2.0), (3, 5.0)):
        schedule.sent.append((k * PERIOD, np.array([u])))
    assert schedule.mean(PERIOD, 4 * PERIOD) == pytest.approx(3.0)
    assert schedule.mean(1.5 * PERIOD, 3.5 * PERIOD) == pytest.approx(2.75)
    assert schedule.mean(-PERIOD, PERIOD) == pytest.approx(0.5)


class Stalling:
    """Solves at once, but a solution that is asked for as it hangs comes only when it goes on."""

    def __init__(self, planner):
        self.planner, self.hangs, self.asked = planner, False, 0

    def submit(self, request):
        """Have a request solved."""
        self.asked += 1
        plan, held = self.planner.solve(request), self.hangs
        return lambda: None if held and self.hangs else plan


class Driven:
    """A law that a driver asks at states that stay, as the node and a replay do."""

    def __init__(self, made, reference=GOAL):
        self.law, model = made, made.model
        orders = Orders(made.settings, constant(reference))._replace(ramp=0.2)
        self.driver, self.orders = Driver(model, made, SafeCommand.of_model(model), orders), orders
        self.driver.limiter.has_last = True  # a command of zero was in force
        self.q, self.ticks, self.notes = model.q0, [], {}

    def go(self, times, record=True):
        """Answer the state at times [s]; return those with a command of the law."""
        ran = []
        for t in times:
            anew, before = not self.driver.running, self.driver.limiter.last.copy()
            u, command = self.driver.answer(self.orders, t, self.q, 0.0 * self.q, PERIOD)
            if command is not None:
                ran.append(t)
                self.ticks.append((t, anew, before, u.copy()))
            if (late := self.law.schedule.late_solution) is not None:
                self.notes[late[0]], self.law.schedule.late_solution = late[1], None
        return ran


def ticks(begin, end):
    """Return the times of ticks [s]."""
    return [k * PERIOD for k in range(round(begin / PERIOD), round(end / PERIOD))]


def test_a_solver_that_hangs_leaves_the_safe_command_once_the_plan_is_over_until_it_goes_on():
    """
    Without an answer the plan goes on to its end; then there is no command, and a reason.

    The late answer, whose plan is over, is not used. The law begins anew once a solution covers
    the present time, and a replay of the ticks it answered gives the same commands, bit by bit.
    """
    model = compiled('double_pendulum')
    made = law(model, **GENTLE)
    solver = Stalling(made.planner)
    made.solve_beside(solver.submit)
    driven = Driven(made)
    assert driven.go(ticks(0.0, 0.3)) == ticks(0.0, 0.3)
    solver.hangs = True
    ran = driven.go(ticks(0.3, 1.0))
    horizon = made.settings.horizon
    assert horizon - 0.01 < ran[-1] - 0.3 < horizon + 0.01 and len(ran) == len(set(ran))
    asked = solver.asked
    assert driven.go(ticks(1.0, 3.0)) == [] and driven.driver.in_safe_command
    assert solver.asked == asked and 'no plan covers' in made.failure
    solver.hangs = False
    ran = driven.go(ticks(3.0, 3.3))
    assert 3.0 < ran[0] < 3.05 and ran == ticks(ran[0], 3.3) and made.failure == ''
    again = Driven(law(model, **GENTLE))
    again.law.replay_late(driven.notes)
    for t, anew, before, u in driven.ticks:
        if anew:
            again.driver.running, again.driver.limiter.last[:] = False, before
        again.go([t])
        assert np.array_equal(again.ticks[-1][3], u), t


@pytest.mark.parametrize('first', [0.0, 0.3])
def test_a_solver_that_fails_for_good_leaves_the_safe_command(first):
    """Solutions that all fail from some time on, or from the first, end in the safe command."""
    made = law(compiled('double_pendulum'), **GENTLE)
    solve = made.planner.solve
    made.planner.solve = lambda request: solve(request)._replace(ok=request.t < first)
    driven = Driven(made)
    ran = driven.go(ticks(0.0, 3.0))
    allowed = first + made.settings.horizon if first else FIRST_PLAN_TIME
    assert ran == ticks(0.0, ran[-1] + PERIOD) and ran[-1] == pytest.approx(allowed, abs=0.02)
    assert driven.driver.in_safe_command and made.figures()['failed solutions'] > 100


def test_a_solver_that_raises_leaves_the_safe_command_until_it_solves_again():
    """An error of the solver is raised once and makes the robot safe; then the law begins anew."""
    made = law(compiled('double_pendulum'), **GENTLE)
    broken = [True]

    def submit(request):
        answer = None if broken[0] else made.planner.solve(request)

        def poll():
            if answer is None:
                raise RuntimeError('solver')
            return answer

        return poll

    made.solve_beside(submit)
    made.start(made.model.q0, np.zeros(2), 0.0)
    found = []
    for t in ticks(0.0, 0.1):
        broken[0] = t < 0.05
        try:
            found.append(made.compute(t, made.model.q0, np.zeros(2)).ok)
        except RuntimeError:
            found.append(None)
    assert found.count(None) > 3 and None not in found[30:]
    assert True not in found[found.index(None) : 25] and all(found[35:])


def test_ticks_that_are_not_exactly_in_time_have_a_command(states):
    """A plan that is taken up less than half a period early is followed from its beginning."""
    made = law(compiled('double_pendulum'))
    made.start(*np.split(states[0], 2), 0.0)
    rng = np.random.default_rng(0)
    for k, x in enumerate(states):
        t = (k + rng.uniform(-0.4, 0.4)) * PERIOD
        assert made.compute(t, x[:2].copy(), x[2:].copy()).ok


def test_ticks_that_come_a_little_early_get_the_same_commands(states):
    """A tick that is a tenth of a microsecond early changes commands by as little as that."""
    found = []
    for early in (0.0, 1e-7):
        made = law(compiled('double_pendulum'), **GENTLE)
        made.start(*np.split(states[0], 2), 0.0)
        made.follow(constant(GOAL), 0.0, 0.2)
        times = PERIOD * np.arange(len(states)) - early * (np.arange(len(states)) % 2)
        pairs = zip(times, states)
        found.append([made.compute(t, x[:2].copy(), x[2:].copy()).u.copy() for t, x in pairs])
    commands = np.array(found)
    moved = np.abs(np.diff(commands[0], axis=0)).max()
    assert np.abs(commands[0] - commands[1]).max() < 1e-4 * moved


def test_a_request_that_begins_anew_takes_the_place_of_those_not_begun():
    """Restarts of the law do not queue up solutions that nobody waits for."""
    made, solved = law(compiled('double_pendulum')), []
    begun, going = threading.Event(), threading.Event()
    solve = made.planner.solve

    def slow(request):
        begun.set()
        going.wait(10.0)
        solved.append(request.t)
        return solve(request)

    made.planner.solve = slow
    (thread,) = solve_beside(made)
    for t in range(20):
        made.start(made.model.q0, np.zeros(2), float(t))
        made.compute(float(t), made.model.q0, np.zeros(2))
        assert begun.wait(10.0)
    going.set()
    poll, found = made._poll, None
    while found is None:
        found = poll()
    thread.close()
    assert solved == [0.0, 19.0] and found.ok
