# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `predictive` on a robot that touches a wall."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.predictive.horizon import (
    allocate_horizon,
    COST,
    FIRST,
    ROLL_OUTS,
)
from softrobot_dynamics.controllers.predictive.implicit_step import NEWTON_TOLERANCE, single_step
from softrobot_dynamics.controllers.predictive.iteration import (
    iteration,
    MAX_ITERATION_WORK,
    MAX_TRIAL_WORK,
    MIN_ACCEPTED_FRACTION,
    NO_DESCENT,
    ROLLED_OUT,
)
from softrobot_dynamics.controllers.predictive.roll_out import roll_out_and_differentiate
from softrobot_dynamics.controllers.predictive.step_workspace import allocate_steps
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.references.piecewise import spline, values_at
from support.kernel_calls import by_address
from support.robots import compiled
import yaml

PERIOD, WALL, RADIUS = 2e-3, 0.6, 0.1
STIFFNESS = 5e3  # [N/m]


def beside_wall(friction=0.1, damping=None, **motion):
    """Return a double pendulum whose end, a ball, may touch a wall at x = 0.6 m."""
    robot = yaml.safe_load(shipped('robots')['double_pendulum'].read_text())
    ball = {'type': 'sphere', 'radius': RADIUS, 'centre': [0.0, 0.0, -1.0], 'friction': friction}
    robot['bodies'][-1] |= {'collision': ball | ({'damping': damping} if damping else {})}
    wall = {'type': 'plane', 'point': [WALL, 0.0, 0.0], 'normal': [-1.0, 0.0, 0.0]}
    wall |= {'name': 'wall', 'friction': friction, 'stiffness': STIFFNESS, **motion}
    robot |= {'environment': [wall], 'contact': {'slip': 0.02}}
    return sd.compile_model(sd.load_robot(robot))


def resting(model, push):
    """Return (q, u): the ball at rest, pressed on the wall by a ``push`` [N]."""
    q = np.array([0.0, np.arcsin(WALL - RADIUS)])  # bodies are 1 m long
    slope = np.array([1.0 + np.cos(q[1]), np.cos(q[1])])  # of the ball's x by q
    u = sd.inverse_dynamics(compiled('double_pendulum'), q=q, qd=0.0 * q, qdd=0.0 * q)
    u = u + push * slope
    return sd.equilibrium(model, u=u, q0=q + [0.0, 1e-3]).q, u


def stepping(model, h):
    """Return a function (x, u) of the next state, its derivatives, and the time (1,) it counts."""
    room, kept, _ = allocate_steps(model, 1, touching=True)
    kernel = single_step(room, kept)

    def step(x, u):
        kept.A[:], end = 0.0, np.zeros(2 * model.n)
        assert kernel(0, x, u, h, end, 1, 1, NEWTON_TOLERANCE) == 0
        return end, kept.F[0].copy()

    return step, room.time


def predicted(model, x, u, h, duration):
    """Return the state a duration [s] after x, by steps of h [s]."""
    step, _ = stepping(model, h)
    for _ in range(round(duration / h)):
        x, _ = step(x, u)
    return x


@pytest.mark.parametrize('friction', [0.0, 0.3])
def test_predicted_states_are_those_that_are_simulated_with_contact(friction):
    """A ball that presses on a wall moves as in the simulator, to the second order of a step."""
    model = beside_wall(friction, 0.2)
    q, u = resting(model, 20.0)
    x, u, duration = np.r_[q, 0.0 * q], u + [2.0, 5.0], 0.04
    plant = sd.Simulator(model, q=q, tolerance=1e-10)
    plant.step(u, duration)
    off = [
        np.abs(predicted(model, x, u, h, duration) - np.r_[plant.q, plant.qd])
        for h in (1e-3, 5e-4, 2.5e-4)
    ]
    assert off[-1][:2].max() < 1e-6 and off[-1].max() < 1e-4
    for coarse, fine in zip(off, off[1:]):
        assert coarse.max() > 3.5 * fine.max()
    free = predicted(compiled('double_pendulum'), x, u, 1e-3, duration)
    assert np.abs(free[:2] - plant.q).max() > 1e-3


@pytest.mark.parametrize('friction', [0.0, 0.3])
def test_derivatives_of_a_step_know_contact(friction):
    """Derivatives of a step in contact equal differences to 0.4 %, by the curvature left out."""
    model, h = beside_wall(friction, 0.2), 5e-3
    q, u = resting(model, 20.0)
    (step, _), z = stepping(model, h), np.r_[q, 0.0 * q, u + [2.0, 5.0]]
    _, found = step(z[:4], z[4:])
    for i, e in enumerate(1e-7 * np.eye(6)):
        there, back = z + e, z - e
        slope = (step(there[:4], there[4:])[0] - step(back[:4], back[4:])[0]) / 2e-7
        assert found[:, i] == pytest.approx(slope, abs=4e-3 * np.abs(found).max())


@pytest.mark.parametrize('speed', [3.0, 6.0])
def test_steps_that_touch_have_derivatives_of_their_own(speed):
    """However old others may be: where the ball meets the wall earlier than before, or later."""
    model, h, count = beside_wall(0.1, 0.2), 5e-3, 12
    p = allocate_horizon(model, count, touching=True)
    p.renewal[0] = 4.0
    roll, arguments, cost = by_address(roll_out_and_differentiate, p=p), np.zeros(6), np.zeros(1)
    arguments[:3] = -1, h, count
    touched = []
    for v in (4.0, speed):
        p.now.x[0] = 0.0, 0.4, 0.0, v
        roll(arguments, cost)
        assert cost[0] < np.inf
        touched.append(p.touched[:count] > 0.0)
        p.trial.x[:] = p.now.x
    exact = [stepping(model, h)[0](x, u)[1] for x, u in zip(p.now.x, p.now.u)]
    off = np.array([np.abs(F - own).max() / np.abs(own).max() for F, own in zip(p.steps.F, exact)])
    assert touched[0].any() and touched[1].any() and (touched[0] != touched[1]).any()
    assert off[touched[0] | touched[1]].max() < 0.01
    assert off[~touched[1]].max() > 0.01  # those of before


def test_work_is_bounded_and_the_next_iteration_begins_with_a_smaller_share():
    """A whole move that takes too long is given up, the commands remain; the next one gains."""
    model, count, h = beside_wall(), 20, 1e-2
    p = allocate_horizon(model, count, touching=True)
    p.weights.output[:], p.weights.effort[:], p.weights.change[:] = 3e4, 1e-3, 1e-6
    p.limits.rate[:], p.aims.y[:] = np.inf, [-0.6, -1.5]
    p.now.x[0, 2:] = -1.4, 2.0
    solve = iteration(p)
    assert solve(-1, h, count, 1, 0.0) == NO_DESCENT
    assert p.report[ROLL_OUTS] == 1.0 and p.report[FIRST] == MIN_ACCEPTED_FRACTION
    assert (p.now.u[:count] == 0.0).all()
    first = p.report[COST]
    assert solve(-1, h, count, 1, 0.0) == ROLLED_OUT
    assert p.report[ROLL_OUTS] == 1.0 and p.report[COST] < 0.9 * first
    assert p.step.work[0] < (MAX_ITERATION_WORK + MAX_TRIAL_WORK) * count


def test_a_wall_that_moves_is_where_it_will_be():
    """A wall that comes nearer pushes the ball as in the simulator, by the time of the steps."""
    speed, duration = 0.2, 0.05
    model = beside_wall(0.0, 0.2, motion={'velocity': [-speed, 0.0, 0.0]})
    q, u = resting(beside_wall(0.0, 0.2), 20.0)
    plant = sd.Simulator(model, q=q, tolerance=1e-9)
    plant.step(u, duration)
    (step, time), x = stepping(model, 5e-4), np.r_[q, 0.0 * q]
    for _ in range(100):
        x, _ = step(x, u)
    assert time[0] == pytest.approx(duration) and x[:2] == pytest.approx(plant.q, abs=1e-5)
    ball = np.sin(x[0]) + np.sin(x[0] + x[1])
    assert ball < WALL - RADIUS - duration * speed + 5e-3


def sliding(model, **given):
    """Return (closed loop, greatest forces (T,) [N], errors along the wall (T,) [m])."""
    cls, tip = CONTROLLERS.get('predictive'), model.body_names[-1]
    settings = cls.make_settings(model, None, tip=tip, **given)
    made = cls(model, period=PERIOD, settings=settings)
    q = np.array([0.0, 0.4])
    begin = sd.forward_kinematics(model, q=q)[-1][:3, 3]
    goals = [begin, [0.53, 0.0, -1.85], [0.53, 0.0, -1.7]]
    way = spline([0.0, 0.6, 1.4], goals, quintic=True)
    u = sd.inverse_dynamics(compiled('double_pendulum'), q=q, qd=0.0 * q, qdd=0.0 * q)
    found = sd.closed_loop(model, made, way, 1.6, start=sd.Start(q=q, u=u, ramp=0.1))
    forces = [sd.contacts(model, q=x).force.max(initial=0.0) for x in found.q]
    places = np.array([sd.forward_kinematics(model, q=x)[-1][:3, 3] for x in found.q])
    return found, np.array(forces), np.abs(places - values_at(way, found.t))[:, 2]


def test_a_ball_slides_along_a_wall_at_a_bounded_force():
    """Led behind a wall it slides along by 5 N at most and 1 mm beside its path; not without."""
    model = beside_wall()
    for given, least, most, off in (
        ({'contact': True, 'contact_force': 5.0}, 3.0, 6.0, 1e-3),
        ({'contact': True, 'contact_force': 20.0}, 15.0, 24.0, 3e-3),
    ):
        found, force, error = sliding(model, **given)
        late = found.t > 0.8
        assert found.ok.all() and force.max() < most and np.median(force[late]) > least
        assert error[late].max() < off
    found, force, error = sliding(model)
    assert force.max() > 24.0 and error[found.t > 0.8].max() > 5e-3


@pytest.mark.parametrize('touching', [True, False])
def test_forces_that_the_model_lacks_are_learnt_where_nothing_touches(touching):
    """An impact that a step does not resolve is no force that acts on and on."""
    model, cls = beside_wall(), CONTROLLERS.get('predictive')
    q, u = resting(model, 20.0)
    q = q - [0.0, 0.0 if touching else 0.1]
    settings = cls.make_settings(model, None, contact=True, interval=PERIOD)
    made = cls(model, period=PERIOD, settings=settings)
    made.start(q, 0.0 * q, 0.0, u)
    for k, speed in enumerate((0.0, 0.05)):  # the latter is not predicted
        assert made.compute(k * PERIOD, q, np.array([0.0, speed])).ok
    assert made.planner.disturbance.any() == (not touching)


def test_a_limit_that_is_set_as_the_law_runs_counts_from_then_on():
    """The limit may be set while the law runs; whether contact acts may not, and stays."""
    model = beside_wall()
    q, u = resting(model, 20.0)
    cls = CONTROLLERS.get('predictive')
    settings = cls.make_settings(model, None, contact=True)
    made, plant = cls(model, period=PERIOD, settings=settings), sd.Simulator(model, q=q)
    made.follow(made.stay(q + [0.0, 0.02], 0.0 * q), 0.0, 0.0)
    made.start(q, 0.0 * q, 0.0, u)
    forces = []
    for k in range(400):
        if k == 200:
            made.use(made.settings.replace(contact=False, contact_force=4.0))
            assert made.settings.contact
        command = made.compute(k * PERIOD, plant.q, plant.qd)
        assert command.ok
        plant.step(command.u, PERIOD)
        forces.append(sd.contacts(model, q=plant.q).force.max(initial=0.0))
    assert forces[199] > 8.0 and 2.0 < forces[-1] < 5.0, forces[::20]


def test_contact_is_refused_where_nothing_may_touch_and_its_limit_without_it():
    """`contact`, and its force limit without it, are refused by name where they have no effect."""
    cls, model = CONTROLLERS.get('predictive'), compiled('double_pendulum')
    with pytest.raises(DescriptionError, match=r'predictive\.contact\b'):
        cls.make_settings(model, None, contact=True)
    with pytest.raises(DescriptionError, match=r'predictive\.contact_force'):
        cls.make_settings(model, None, contact_force=5.0)
