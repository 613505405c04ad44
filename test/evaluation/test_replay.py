# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A replay computes the commands of a recorded loop again, without ROS."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration import build
from softrobot_dynamics.controllers.limiting import Limiter
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.evaluation.replay import replay
from softrobot_dynamics.loops.driver import Driver, STATE_DELAY
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.loops.orders import TakenOrders as T
from softrobot_dynamics.recordings.reading import Recording
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled

FILE = """
/**:
  controller:
    ros__parameters:
      controller: pd_plus
      rate: 500.0
      pd_plus: {p: 30.0, d: 8.0}
      limits: {shoulder: {rate: 900.0}, elbow: {rate: 900.0}}
      reference: {type: setpoint, setpoint: [0.6, -0.4]}
"""
BEGINS = T.BEGAN | T.TUNED | T.FOLLOWS
ORDERS = {0: BEGINS, 20: T.TUNED, 40: T.HOLDS, 60: T.LED, 80: T.FOLLOWS, 110: BEGINS}
SAFE = range(100, 110)  # ticks that the safe command answers
GAINS = {'pd_plus.p': 55.0}  # from tick 20 on
PERIOD = 2e-3


@pytest.fixture
def recording(tmp_path):
    """Return the recording of a loop that is tuned, holds, is is led, and begins again."""
    path = tmp_path / 'controller.yaml'
    path.write_text(FILE)
    model = compiled('double_pendulum')
    own = sd.load_controller(path, model)
    law, goal, values = own.law, own.plan(), dict(own.parameters)
    limiter, robot, known = Limiter(model.lower, model.upper), Simulator(model), False
    rows = {name: [] for name in ('t', 'q', 'qd', 'u', 'mode', 'orders', 'u_before')}
    for k in range(130):
        t, q, qd = k * PERIOD, robot.q.copy(), robot.qd.copy()
        before, took = limiter.last.copy() if known else np.full(model.m, np.nan), ORDERS.get(k, 0)
        if took & T.TUNED:
            gains = 55.0 if k >= 20 else 30.0
            law.use(law.settings.replace(p=np.full(2, gains)))
        if took & (T.FOLLOWS | T.HOLDS | T.LED):
            y = law.outputs(q, qd)[0] if took & T.HOLDS else [0.2, 0.1]
            law.follow(goal if took & T.FOLLOWS else constant(y), t, values['reference.ramp_time'])
        if took & T.BEGAN:
            law.start(q, qd, t, before if known else None)
        u = np.zeros(model.m) if k in SAFE else law.compute(t, q, qd).u
        u, known = limiter.apply(u, law.settings.rate, PERIOD)[0].copy(), True
        row = t, q, qd, u, int(k not in SAFE), int(took), before
        for name, value in zip(rows, row):
            rows[name].append(value)
        robot.step(u, PERIOD)
    columns = {name: np.array(values) for name, values in rows.items()}
    columns['log_time'] = np.arange(130) * 2_000_000
    description = model.description
    facts = {'robot': 'double_pendulum', 'digest': description.digest, 'period': PERIOD,
             'modes': ['safe', 'running']}  # fmt: skip
    return Recording(columns, facts, ((0, values), (39_000_000, GAINS)), True)


def test_a_replay_takes_up_what_the_loop_took_up(recording):
    """Gains, holds and restarts are replayed bit for bit, but for what follows a message."""
    assert np.diff(recording['u'], axis=0).max() == pytest.approx(900.0 * PERIOD)  # rates limit
    found = replay(recording)
    assert found.difference is None
    assert (found.ticks, found.safe, found.compared, found.messages_since) == (
        130,
        10,
        80,
        60 * PERIOD,
    )


def test_a_replay_applies_the_delay_of_states(recording):
    """The replay gives the law the delay of 6 ms that states had in the recording."""
    model = compiled('double_pendulum')
    values = recording.parameters[0][1]
    law, robot, states = build.law_of(model, values), Simulator(model), []
    law.warm()
    driver = Driver(model, law, SafeCommand.of_model(model), Orders(law.settings, HoldOrder()))
    orders = driver.current_orders._replace(
        reference=build.plan_of(model, values, model.q0).reference
    )
    orders = orders._replace(ramp=values['reference.ramp_time'])
    for k in range(130):
        states.append((robot.q.copy(), robot.qd.copy()))
        if k == 30:
            driver.expect_delay(6e-3)
        t, (q, qd) = k * PERIOD - driver.state_delay, states[k - 3 * (k >= 30)]
        before = driver.last_command
        recording['u_before'][k] = np.nan if before is None else before
        command = driver.compute(orders, t, q, qd, restart=k == 0)
        driver.limit(driver.choose(command, q, t), PERIOD)
        row = {'t': t, 'q': q, 'qd': qd, 'u': driver.last_command, 'mode': 1}
        for name, value in (row | {'orders': int(driver.taken_up)}).items():
            recording[name][k] = value
        robot.step(driver.last_command, PERIOD)

    def found(*told):
        """Return the Replay with what is told by the way."""
        told = (recording.parameters[0], *told)
        return replay(Recording(recording.columns, recording.facts, told, True))

    same = found((61_000_000, {STATE_DELAY: 6e-3}))
    assert same.difference is None and same.compared == 130
    assert found().difference.tick == 30


def test_a_replay_ends_where_ticks_are_missing(recording):
    """Commands after a gap are not compared, since they depend on the missing ticks."""
    recording.columns['tick'] = np.arange(130)
    kept = [k for k in range(130) if not 50 <= k < 57]
    columns = {name: values[kept] for name, values in recording.columns.items()}
    found = replay(Recording(columns, recording.facts, recording.parameters, True))
    whole = replay(recording)
    assert found.difference is None and found.gap == 49 * PERIOD and whole.gap is None
    assert found.ticks == 123 and found.compared < whole.compared


@pytest.mark.parametrize('row', [0, 25, 45, 110, 112])
def test_a_replay_names_the_first_other_command(recording, row):
    """A command that differs in its last bit is found, and named."""
    recording['u'][row, 1] = np.nextafter(recording['u'][row, 1], np.inf)
    found = replay(recording).difference
    assert (found.tick, found.actuator) == (row, 'elbow') and found.recorded != found.computed
