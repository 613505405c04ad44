# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Several laws on one robot: each accounts for the others, and commands never jump."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.phases import Phase, Program, Timetable
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import constant, spline
from support.robots import compiled

PERIOD = 1e-3
TENDONS = ('t1', 't2', 't3')


def law_of(model, name, controlled, period=PERIOD, **parameters):
    law = CONTROLLERS.get(name)
    settings = law.make_settings(model, controlled, **parameters)
    return law(model, period=period, controlled=controlled, settings=settings)


def test_a_composition_of_one_law_is_that_law():
    """A composition of a single law sends the commands of that law."""
    model = compiled('pcc_arm')
    names, reference = model.actuator_names, constant(np.full(model.m, -1e-3))
    alone = sd.closed_loop(
        model, law_of(model, 'pfbl', names), reference, 0.05, start=sd.Start(ramp=0.02)
    )
    law = Composition([law_of(model, 'pfbl', names)])
    found = sd.closed_loop(model, law, reference, 0.05, start=sd.Start(ramp=0.02))
    for field in ('q', 'u', 'y_d', 'velocity_d'):
        assert np.array_equal(getattr(found, field), getattr(alone, field)), field


GOAL = -33.757e-3, 7.029e-3, -20.533e-3  # [m] where the soft arm rests under 20, 4 and 10 N


def hybrid(soft, duration, untold=False):
    """Return errors (K, 9) of motors, then tendons, and the run: an arm on its way, two soft."""
    model = compiled('hybrid_arm')
    motors = [n for n in model.actuator_names if n not in (*TENDONS, 'p')]
    law = Composition([soft(model), law_of(model, 'pfbl', motors, observer=1e-3)])
    if untold:  # the law of the motors believes that the tendons are slack
        law.laws[1].use(law.laws[1].settings.replace(feed_forward=np.zeros(model.m)))
    goal = np.array([*GOAL, 0.2, -0.1, -0.1, -0.1, 0.1, -0.2])
    way = spline([0.0, 0.6], np.array([0.0 * goal, goal]))
    inflate = law.settings.replace(feed_forward=np.eye(model.m)[-1] * 1e6)
    changes = [] if untold else [(0.4, inflate)]
    found = sd.closed_loop(
        model, sd.Law(law, changes=changes), way, duration, start=sd.Start(u=np.zeros(model.m))
    )
    assert found.ok.all()
    error = np.empty((len(found.t), 9))
    error[:, law.controlled] = found.y[:, law.controlled] - found.y_d
    return error, found


def test_two_laws_and_a_feed_forward_on_one_robot():
    """Motors follow while tendons pull, and no command jumps."""
    model = compiled('hybrid_arm')
    error, found = hybrid(lambda m: law_of(m, 'pd_plus', TENDONS, p=4.0, d=4.0), 2.5)
    assert np.abs(error[:, :5]).max() < 1e-4 and np.abs(error[:, 5]).max() < 1e-3  # [rad]
    assert np.abs(error[-1, 6:]).max() < 1.5e-3  # [m], of 34 mm: such gains are slow
    step = np.abs(np.diff(found.u, axis=0, prepend=0.0 * found.u[:1]))
    assert (step <= model.rate_limit * PERIOD * (1 + 1e-9)).all()
    assert found.u[399, -1] == 0.0 and found.u[-1, -1] == 1e6
    assert found.u[400, -1] == pytest.approx(model.rate_limit[-1] * PERIOD)


def test_a_law_accounts_for_the_forces_of_others():
    """A law that knows the tendons' forces is not pushed away by them."""
    error, found = hybrid(lambda m: law_of(m, 'pfbl', TENDONS), 1.2)
    assert np.abs(error[-1, 6:]).max() < 1e-5  # [m]
    untold, _ = hybrid(lambda m: law_of(m, 'pfbl', TENDONS), 1.2, untold=True)
    assert np.abs(untold[:, 3:5]).max() > 3.0 * np.abs(error[:, 3:5]).max()


def test_it_begins_with_the_command_in_force():
    """After a start the rate limits of every law count from the command in force."""
    model = compiled('pcc_arm')
    names, u = model.actuator_names, np.full(model.m, 5.0)
    law = Composition([law_of(model, 'pfbl', names[:5]), law_of(model, 'feed_forward', names[5:])])
    assert law.controlled.tolist() == [0, 1, 2, 3, 4]  # what is told its command follows nothing
    law.follow(constant(np.full(5, -1e-3)), 0.0, 0.1)
    law.start(model.q0, np.zeros(model.n), 0.0, u)
    sent = law.compute(0.0, model.q0, np.zeros(model.n)).u
    assert (np.abs(sent - u) <= model.rate_limit * PERIOD * (1 + 1e-9)).all()
    assert sent[5:] == pytest.approx(u[5:] - model.rate_limit[5:] * PERIOD)
    state = law.desired(0.0)
    assert state[0] == pytest.approx(law.outputs(model.q0, np.zeros(model.n))[0][:5], abs=1e-12)


def test_laws_that_cannot_run_together_are_refused():
    """Laws that cannot run together are refused with the reason."""
    model = compiled('pcc_arm')
    a, b = model.actuator_names[:2], model.actuator_names[1:]
    first = law_of(model, 'feed_forward', a)
    with pytest.raises(ArgumentError, match=rf'laws\[1\].controlled.*{b[0]}'):
        Composition([first, law_of(model, 'feed_forward', b)])
    with pytest.raises(ArgumentError, match=r'laws\[1\].period'):
        Composition([first, law_of(model, 'feed_forward', b[1:], period=2e-3)])
    with pytest.raises(ArgumentError, match='at least one law'):
        Composition([])
    law = Composition([first])
    with pytest.raises(ArgumentError, match=r'settings.laws'):
        law.use(law.settings.replace(laws=()))


def test_a_bad_state_leaves_nothing_behind():
    """After a non-finite state no law reads non-finite forces of another one."""
    model = compiled('pcc_arm')
    names, rest = model.actuator_names, np.zeros(model.n)
    parts = names[:5], names[5:]
    law, twin = (Composition([law_of(model, 'pfbl', own) for own in parts]) for _ in range(2))
    for each in (law, twin):
        each.start(model.q0, rest, 0.0, np.full(model.m, 5.0))
        assert each.compute(0.0, model.q0, rest).ok
    bad = np.where(np.arange(model.n) == 3, np.nan, model.q0)
    refused = law.compute(PERIOD, bad, rest)
    assert not refused.ok and np.isfinite(refused.u).all()
    found, wanted = (each.compute(2 * PERIOD, model.q0, rest) for each in (law, twin))
    assert found.ok and found.u == pytest.approx(wanted.u, rel=1e-3)
    assert all(np.array_equal(own.last, law.last) for own in law.laws)


def test_laws_together_grow_as_they_do_in_a_simulated_period():
    """The reported growth of composed laws is that of a simulated period."""
    model = compiled('pcc_arm')
    names, u = model.actuator_names, np.full(model.m, 5.0)
    for name in ('pfbl', 'pd_plus'):
        alone = law_of(model, name, names)
        whole = Composition([law_of(model, name, names)])
        for off in (0.0, 0.2):
            wanted = alone.growth(model.q0, u, alone.settings, off)
            assert whole.growth(model.q0, u, whole.settings, off) == pytest.approx(wanted, 1e-3)
    halves = Composition([law_of(model, 'pfbl', own) for own in (names[:3], names[3:])])
    grows = halves.growth(model.q0, u, halves.settings)
    motion = sd.closed_loop(
        model, halves, constant(np.zeros(9)), 1.5, start=sd.Start(q=model.q0 + 1e-3)
    )
    error = np.linalg.norm(motion.q - motion.q[-1], axis=1)
    rate = np.log(error[1000] / error[600]) / 0.4  # [1/s] of what is left in the end
    assert grows == pytest.approx(rate, rel=0.1)


PHASES = Phase('one', 0.1, (0,)), Phase('both', 0.2, (0, 1)), Phase('other', 1.0, (1, 2))


def phased(model, **options):
    """Return a composition of three phases, and what its laws follow: one has no goal."""
    names = model.actuator_names
    owners = names[:3], names[3:6], names[:3]
    laws = [law_of(model, name, own) for name, own in zip(('pfbl', 'pd_plus', 'pfbl'), owners)]
    goals = spline([0.0, 0.1], np.array([[0.0] * 3, [-2e-3] * 3])), constant([-1e-3] * 3), None
    return Composition(laws, phases=PHASES), Program(goals, **options)


@pytest.mark.quick
def test_a_timetable_goes_on_with_the_tick_of_its_time():
    """A phase ends with the tick of its time despite rounding; the last phase never ends."""
    table = Timetable([Phase('a', 0.1, (0,)), Phase('b', 0.2, (1,)), Phase('c', 0.1, (0,))])
    table.enter(0, 0.0)
    names = []
    for k in range(1000):
        table.advance(k * PERIOD)
        names.append(table.phase.name)
    assert [names.index(name) for name in 'abc'] == [0, 100, 300] and names[-1] == 'c'
    table.enter(0, 7 * PERIOD)
    table.advance(306 * PERIOD)
    assert table.laws == (1,)
    table.advance(307 * PERIOD)
    assert table.phase.name == 'c'
    table.enter(0, 0.0)
    table.stop()
    table.advance(1.0)
    assert table.phase.name == 'a'


def test_phases_change_laws_without_a_jump():
    """Each law starts with its phase, and y_d and commands never jump."""
    model = compiled('pcc_arm')
    law, program = phased(model)
    found = sd.closed_loop(
        model, law, program, 0.5, start=sd.Start(ramp=0.05, u=np.full(model.m, 2.0))
    )
    assert found.ok.all() and law.phase == 'other'
    at_work = np.isfinite(found.y_d)
    assert law.controlled.tolist() == [0, 1, 2, 3, 4, 5]
    assert at_work[:, :3].all() and not at_work[:100, 3:].any() and at_work[100:, 3:].all()
    assert np.abs(found.y_d[99, :3] + 2e-3).max() < 1e-5  # has come to its goal
    assert found.y_d[100, 3:] == pytest.approx(found.y[100, 3:6], abs=1e-12)  # begins where it is
    assert found.y_d[-1, 3:] == pytest.approx(np.full(3, -1e-3), abs=1e-12)
    held = found.y[300, :3]  # the third law holds what it finds
    assert found.y_d[300, :3] == pytest.approx(held, abs=1e-12)
    for y_d in (found.y_d[:, :3], found.y_d[100:, 3:]):
        assert np.abs(np.diff(y_d, axis=0)).max() < 1e-4
    steps = np.abs(np.diff(found.u, axis=0, prepend=np.full((1, model.m), 2.0)))
    assert (steps <= model.rate_limit * PERIOD * (1 + 1e-9)).all()


def test_phases_stop_until_a_new_program_begins():
    """A plain reference or a new start stops the phases until a new program begins."""
    model = compiled('pcc_arm')
    law, program = phased(model, run_id=1)
    q, rest, u = model.q0, np.zeros(model.n), np.full(model.m, 2.0)

    def go(first, last):
        for k in range(first, last):
            assert law.compute(k * PERIOD, q, rest).ok

    law.follow(program, 0.0, 0.05)
    law.start(q, rest, 0.0, u)
    go(0, 150)
    assert law.phase == 'both'
    law.start(q, rest, 0.15, u)  # as after a pause without states
    go(150, 600)
    assert law.phase == 'both'
    assert law.desired(0.6)[0] == pytest.approx(law.outputs(q, rest)[0][:6], abs=1e-9)
    law.follow(program._replace(run_id=2), 0.6, 0.05)
    go(600, 650)
    assert law.phase == 'one'
    law.follow(constant(np.full(6, -1e-3)), 0.65, 0.05)
    go(650, 1200)
    assert law.phase == 'one'
    assert law.desired(1.2)[0, :3] == pytest.approx(np.full(3, -1e-3))
    assert np.isnan(law.desired(1.2)[0, 3:]).all()


def test_a_goal_that_changes_turns_its_law_alone():
    """A new reference changes its own law only, and phases go on."""
    model = compiled('pcc_arm')
    law, program = phased(model, run_id=1)
    q, rest = model.q0, np.zeros(model.n)
    law.follow(program, 0.0, 0.05)
    law.start(q, rest, 0.0, np.full(model.m, 2.0))
    law.compute(0.0, q, rest)
    before = law.laws[0].plan
    law.follow(program._replace(references=(program.references[0], constant([-3e-3] * 3), None)),
               0.001, 0.05)  # fmt: skip
    for k in range(1, 250):
        assert law.compute(k * PERIOD, q, rest).ok
    assert law.phase == 'both' and law.laws[0].plan is before
    assert law.desired(0.249)[0, 3:] == pytest.approx(np.full(3, -3e-3))


def test_a_known_delay_is_compensated_once():
    """Composed laws act on one predicted state, and a single law as it does alone."""
    model, goal = compiled('pcc_arm'), constant(np.full(9, -1e-3))
    names, plant = model.actuator_names, sd.Plant(delay=2e-3)
    options = {'start': sd.Start(u=np.full(9, 2.0), ramp=0.02), 'plant': plant}
    alone = law_of(model, 'pfbl', names, delay=2e-3)
    wanted = sd.closed_loop(model, alone, goal, 0.05, **options)
    law = Composition([law_of(model, 'pfbl', names, delay=9e-3)])  # that is not its own to say
    law.use(law.settings.replace(delay=2e-3))
    found = sd.closed_loop(model, law, goal, 0.05, **options)
    assert np.array_equal(found.u, wanted.u)


@pytest.mark.parametrize('phases, words', [
    ((), 'at least one phase'),
    ((Phase('a', 0.0, (0,)),), r'phases\[0\].duration'),
    ((Phase('a', 1.0, (0,)), Phase('b', 1.0, (0, 3))), r'phases\[1\].laws'),
    ((Phase('a', 1.0, ()),), r'phases\[0\].laws'),
    ((Phase('a', 1.0, (0, 2)),), r'laws\[2\].controlled'),
])  # fmt: skip
def test_impossible_phases_are_refused(phases, words):
    """Phases of no laws, unknown laws or impossible durations are refused."""
    model = compiled('pcc_arm')
    names = model.actuator_names
    laws = [law_of(model, 'feed_forward', own) for own in (names[:3], names[3:], names[:2])]
    with pytest.raises(ArgumentError, match=words):
        Composition(laws, phases=phases)


def test_a_program_for_other_laws_is_refused():
    """A program with references for other laws is refused."""
    model = compiled('pcc_arm')
    law, _ = phased(model)
    with pytest.raises(ArgumentError, match='references of 3 laws'):
        law.follow(Program((None, None)), 0.0, 0.0)


def test_names_that_are_not_one_for_each_law_are_refused():
    """Two laws with one name, or a name too few, are refused; without names they are counted."""
    model = compiled('pcc_arm')
    law, _ = phased(model)
    assert law.names == ('laws[0]', 'laws[1]', 'laws[2]')
    for names in (('a', 'b'), ('a', 'b', 'a')):
        with pytest.raises(ArgumentError, match='3 names, each once'):
            Composition(law.laws, phases=law.phases, names=names)
