# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A replay of several predictive laws takes up the late solutions of each when they came."""

import numpy as np
import pytest
from softrobot_dynamics.configuration import build
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.evaluation.replay import replay
from softrobot_dynamics.loops.driver import Driver, LATE_SOLUTION
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.loops.solution_thread import predictive_laws
from softrobot_dynamics.recordings.reading import Recording
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled

PERIOD, TICKS, LATE = 2e-3, 120, 3  # [s], -, ticks
FILE = """
/**:
  controller:
    ros__parameters:
      rate: 500.0
      phases: [both]
      both: {parts: [upper, lower]}
      upper:
        controller: predictive
        controlled: [shoulder]
        reference: {type: setpoint, setpoint: [0.6]}
      lower:
        controller: predictive
        controlled: [elbow]
        reference: {type: setpoint, setpoint: [-0.4]}
"""


@pytest.fixture
def recording(tmp_path):
    """Return the recording of two laws, of which the second one's solutions are all late."""
    path = tmp_path / 'controller.yaml'
    path.write_text(FILE)
    model, now = compiled('double_pendulum'), [0.0]
    values, _ = controller_values(model.description, [path])
    law, robot = build.law_of(model, values), Simulator(model)
    law.warm()
    laws = predictive_laws(law)
    planner = laws[1].planner

    def submit(request):
        """Solve a request at once; the answer is seen late."""
        plan, come = planner.solve(request), request.t + request.lead + (LATE - 0.5) * PERIOD
        return lambda: plan if now[0] >= come else None

    laws[1].solve_beside(submit)
    driver = Driver(model, law, SafeCommand.of_model(model), Orders(law.settings, HoldOrder()))
    reference = build.plan_of(model, values, model.q0).reference._replace(run_id=1)
    orders = driver.current_orders._replace(
        reference=reference, ramp=values['reference.ramp_time']
    )
    names = 't', 'q', 'qd', 'u', 'mode', 'orders', 'u_before'
    rows, notes = {name: [] for name in names}, [(0, values)]
    for k in range(TICKS):
        now[0] = t = k * PERIOD
        q, qd = robot.q.copy(), robot.qd.copy()
        before = driver.last_command
        before = np.full(model.m, np.nan) if before is None else before.copy()
        command = driver.compute(orders, t, q, qd, restart=k == 0)
        u = driver.limit(driver.choose(command, q, t), PERIOD)[0].copy()
        for name, value in zip(names, (t, q, qd, u, 1, int(driver.taken_up), before)):
            rows[name].append(value)
        for place, each in enumerate(laws):
            if (late := each.schedule.late_solution) is not None:
                notes.append((k * 2_000_000, dict(zip(LATE_SOLUTION, (place, *late)))))
                each.schedule.late_solution = None
        robot.step(u, PERIOD)
    columns = {name: np.array(values) for name, values in rows.items()}
    columns['log_time'] = np.arange(TICKS) * 2_000_000
    facts = {'robot': 'double_pendulum', 'digest': model.description.digest, 'period': PERIOD,
             'modes': ['safe', 'running']}  # fmt: skip
    return Recording(columns, facts, tuple(notes), True)


def test_late_solutions_of_one_law_are_not_taken_for_another_s(recording):
    """Two laws, of which one is late, are replayed bit for bit; not so if the other were late."""
    found = replay(recording)
    assert found.difference is None and found.compared == TICKS
    which = LATE_SOLUTION[0]
    notes = recording.parameters
    assert len(notes) > 5 and all(note[which] == 1 for _, note in notes[1:])
    wrong = (notes[0], *((t, note | {which: 0}) for t, note in notes[1:]))
    again = Recording(recording.columns, recording.facts, wrong, True)
    assert replay(again).difference is not None
