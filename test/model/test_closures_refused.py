# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What does not know of closed loops yet refuses a robot with closures by name."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import trajectory
from softrobot_dynamics.references.piecewise import constant
from support.closures import four_bar, model

ZERO = np.zeros(3)
STATE = {'q': ZERO, 'qd': ZERO}


def postures_of(robot):
    """Plan a circle of a tip."""
    wanted = trajectory({'reference.type': 'circle', 'reference.circle.body': 'crank'})
    return wanted.plan(robot, np.array([0]), robot.q0)


CALLS = {
    'control laws': lambda robot: CONTROLLERS.get('computed_torque')(robot, period=1e-3),
    'PD+': lambda robot: CONTROLLERS.get('pd_plus')(robot, period=1e-3),
    'estimators': lambda robot: sd.Estimator(
        robot,
        {
            'sensors': [
                {'name': 'j', 'type': 'joint', 'names': ['crank'], 'rate': 100.0, 'noise': 1e-3}
            ]
        },
    ),
    'observers of momentum': sd.MomentumObserver,
    'zero dynamics': lambda robot: sd.zero_dynamics(robot, q=ZERO),
    'derivatives of forward dynamics': lambda robot: sd.forward_dynamics_derivatives(
        robot, **STATE, u=[0.0]
    ),
    'wrenches that joints transmit': lambda robot: sd.inverse_dynamics(
        robot, **STATE, qdd=ZERO, joint_wrenches=True
    ),
    'planning': postures_of,
    'closed_loop': lambda robot: sd.closed_loop(robot, 'pfbl', constant(ZERO[:1]), 0.01),
}


@pytest.mark.parametrize('what', CALLS)
def test_robots_with_closures_are_refused_where_they_are_not_known(what):
    """Laws, estimators, derivatives and plans name the closure instead of leaving it out."""
    robot = model(four_bar)
    with pytest.raises(ArgumentError, match='a robot without closures') as caught:
        CALLS[what](robot)
    assert caught.value.value == ['loop']
