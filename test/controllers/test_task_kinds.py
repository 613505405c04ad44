# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contract of tasks and bounds: every registered kind, users' own included."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.tasks.contract import BOUNDS, TASKS
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.references.tip_commands import TipTarget
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled

PERIOD = 1e-3
OFF = {f'{kind}.level': 0 for kind in TASKS.names()} | {f'{k}.order': 0 for k in BOUNDS.names()}


def law(model, **given):
    """Return the law `task` with wide limits, and only those tasks and bounds that are given."""
    free, cls = np.full(model.m, np.inf), CONTROLLERS.get('task')
    limits = {'lower': -free, 'upper': free, 'rate': free}
    settings = cls.make_settings(model, **{**OFF, **limits, 'observer': 0.0, **given})
    return cls(model, period=PERIOD, settings=settings)


def begun(model, q, qd, **given):
    """Return a law that has begun at a state: outputs and tip are to stay near."""
    made = law(model, **given)
    made.follow(constant(made.outputs(q, qd)[0] + 1e-3), 0.0, 0.0)
    made.start(q, qd, 0.0, np.zeros(model.m))
    T = sd.forward_kinematics(model, q=q)[-1]
    made.lead(TipTarget('', T[:3, 3] + 1e-3, T[:3, :3], 0.1, 1.0), 0.0)
    return made


def rows(made):
    """Return the workspace of a law, whose rows its last tick has filled."""
    return made._work


@pytest.mark.parametrize('kind', TASKS.names())
def test_a_task_alone_is_done_within_a_period(kind):
    """After a simulated period the rates of a task are what its rows ask for, to 2 %."""
    model = compiled('double_pendulum')
    q, qd = np.array([0.4, -0.7]), np.array([0.8, -0.5])
    made = begun(model, q, qd, **{f'{kind}.level': 1})
    command = made.compute(0.03, q, qd)
    work, plant = rows(made), Simulator(model, q=q, qd=qd, tolerance=1e-9)
    assert command.ok and len(work.aim) > 0 and (work.levels.level == 1).any()
    plant.step(command.u.copy(), PERIOD)
    wanted = work.aim - work.J @ qd
    gained = work.J @ (plant.qd - qd)
    left = work.J @ np.linalg.lstsq(work.J, wanted, rcond=1e-6)[0]  # as far as can be
    assert gained == pytest.approx(left, abs=0.02 * np.abs(left).max() + 1e-9)
    assert np.abs(left).max() > 0.0


@pytest.mark.parametrize('kind', BOUNDS.names())
def test_a_bound_allows_to_stand_still(kind):
    """At rest within its limits no bound asks for motion, and no command is without an answer."""
    model = compiled('double_pendulum')
    q = np.array([0.4, -0.7])
    made = begun(model, q, 0.0 * q, **{f'{kind}.order': 2, 'posture.level': 1})
    assert made.compute(0.0, q, 0.0 * q).ok and not made.relaxed
    work = rows(made)
    assert (work.lower <= 0.0).all() and (work.upper >= 0.0).all()


@pytest.mark.parametrize('registry', [TASKS, BOUNDS], ids=['tasks', 'bounds'])
def test_parameters_are_named_by_their_kind(registry):
    """Every field of a kind is a parameter `task.<kind>.<field>` of the law, with a default."""
    known = {p.path for p in CONTROLLERS.get('task').parameters()}
    for name in registry.names():
        own = registry.get(name).parameters()
        assert own and {p.path for p in own} <= known
        assert all(p.path == f'task.{p.name}' and p.name.startswith(f'{name}.') for p in own)
        registry.get(name)()
