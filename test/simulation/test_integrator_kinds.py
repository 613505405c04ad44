# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The contract of every registered integrator, here or in a package of a user's."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.errors import (
    ArgumentError,
    MissingMethodError,
    SimulationDivergedError,
    UnknownNameError,
)
from softrobot_dynamics.simulation.integrators.contract import Integrator, INTEGRATORS, register
from support.robots import compiled

pytestmark = pytest.mark.quick

DURATION = 0.05  # [s]
every_kind = pytest.mark.parametrize('kind', INTEGRATORS.names())


def simulator(kind, substep=1e-4, **given):
    """Return a pendulum in motion by an integrator, with a tolerance if it keeps one."""
    tolerance = 1e-9 if INTEGRATORS.get(kind).keeps_tolerance else None
    model, given = compiled('double_pendulum'), {'q': [0.8, -0.5], 'qd': [1.0, 2.0], **given}
    return sd.Simulator(model, integrator=kind, substep=substep, tolerance=tolerance, **given)


def reference(u, wrenches=None):
    """Return the state (2, n) at the end by another integrator, of the forward dynamics."""
    model = compiled('double_pendulum')

    def rate(t, x):
        qdd = sd.forward_dynamics(model, q=x[:2], qd=x[2:], u=u, wrenches=wrenches)
        return np.concatenate([x[2:], qdd])

    start = [0.8, -0.5, 1.0, 2.0]
    return solve_ivp(rate, (0.0, DURATION), start, rtol=1e-10, atol=1e-12).y[:, -1].reshape(2, 2)


@every_kind
@pytest.mark.parametrize('wrench', [None, [0.0, 0.0, 0.2, 1.0, -2.0, 0.0]])
def test_it_solves_the_equation_of_motion(kind, wrench):
    """A pendulum under torques moves as scipy has it, with errors that shrink with the step."""
    u, errors = np.array([0.4, -0.2]), []
    body = compiled('double_pendulum').body_names[-1]
    wrenches = wrench and {body: wrench}
    for substep in (1e-3, 2.5e-4):
        robot = simulator(kind, substep)
        for _ in range(10):
            robot.step(u, DURATION / 10, wrenches)
        errors.append(np.abs([robot.q, robot.qd] - reference(u, wrenches)).max())
    assert errors[1] < 5e-3
    assert errors[1] < 0.35 * errors[0] or errors[0] < 1e-8


@every_kind
def test_it_counts_time_and_steps(kind):
    """A call passes its duration in steps no longer than allowed; `once` makes one of them."""
    robot = simulator(kind, 1e-3)
    stepper, force = robot._stepper, np.zeros(2)
    q, qd = robot.q.copy(), robot.qd.copy()
    assert stepper.advance(force, q, qd, 4.5e-3, False) == 0
    assert stepper.clock.elapsed[0] == pytest.approx(4.5e-3, rel=1e-12)
    assert stepper.clock.steps[0] >= 5
    assert stepper.advance(force, q, qd, 4.5e-3, True) == 0
    assert stepper.clock.steps[0] == 1 and 0.0 < stepper.clock.elapsed[0] <= 1e-3


@every_kind
def test_equal_inputs_give_equal_states(kind):
    """Two runs with equal inputs, a reset between them, end in the same state bit by bit."""
    robot, ends = simulator(kind, 1e-3), []
    for _ in range(2):
        robot.reset([0.8, -0.5], [1.0, 2.0])
        robot.step([0.3, 0.1], 0.02)
        ends.append(robot.q.tolist() + robot.qd.tolist())
    assert ends[0] == ends[1]


@every_kind
def test_a_state_that_is_no_number_is_never_handed_out(kind):
    """Where a step cannot be made the last good state stays, and an error is raised."""
    robot = simulator(kind, 1e-3, qd=[1e160, -1e160])
    with pytest.raises(SimulationDivergedError):
        robot.step(np.zeros(2), 0.01)
    assert np.isfinite(robot.q).all() and np.isfinite(robot.qd).all()


def test_an_integrator_is_refused_by_name_or_tolerance():
    """An unknown name, or a tolerance that does not fit, is refused with what would be right."""
    model = compiled('double_pendulum')
    with pytest.raises(UnknownNameError, match='integrator .eulr.; known: .*exponential'):
        sd.Simulator(model, integrator='eulr')
    with pytest.raises(ArgumentError, match='tolerance.*None.*rosenbrock controls its error'):
        sd.Simulator(model, integrator='rosenbrock')
    with pytest.raises(ArgumentError, match='exponential has a fixed step size'):
        sd.Simulator(model, integrator='exponential', tolerance=1e-6)
    with pytest.raises(MissingMethodError, match='Idle has no method bind'):
        register('idle')(type('Idle', (Integrator,), {}))


def test_the_default_depends_on_the_tolerance():
    """Without a name the simulator takes exponential, and with a tolerance rosenbrock."""
    model = compiled('double_pendulum')
    for kind, given in (('exponential', {}), ('rosenbrock', {'tolerance': 1e-6})):
        ends = []
        for named in ({}, {'integrator': kind}):
            robot = sd.Simulator(model, q=[0.8, -0.5], **given, **named)
            robot.step([0.3, 0.1], 0.01)
            ends.append(robot.q.tolist())
        assert ends[0] == ends[1]
