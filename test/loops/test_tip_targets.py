# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Points, poses and twists by message for laws that lead a tip themselves; no ROS."""

from types import SimpleNamespace

import numpy as np
import pytest
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.tip_targets import TargetOrders
from support.robots import compiled

VALUES = {'target.time': 0.1, 'target.speed': 0.5, 'target.patience': 0.2}


def vector(x=0.0, y=0.0, z=0.0):
    """Return a message with three numbers."""
    return SimpleNamespace(x=x, y=y, z=z)


def message(body='', **fields):
    """Return a stamped message."""
    return SimpleNamespace(header=SimpleNamespace(frame_id=body), **fields)


def pose():
    """Return a PoseStamped."""
    turn = SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
    return message(pose=SimpleNamespace(position=vector(0.5), orientation=turn))


def twist(linear, angular):
    """Return a TwistStamped."""
    return message(twist=SimpleNamespace(linear=linear, angular=angular))


@pytest.fixture
def orders():
    """Return a function that returns the TargetOrders of a law for a robot."""

    def made(kind, **given):
        model, cls = compiled('double_pendulum'), CONTROLLERS.get(kind)
        law = cls(model, period=2e-3, settings=cls.make_settings(model, None, **given))
        return TargetOrders(SimpleNamespace(model=model, controller=law))

    return made


def test_a_law_that_cannot_turn_its_tip_refuses_orders_to_turn_it(orders):
    """Poses and angular velocities are refused as messages, before the loop takes them up."""
    own = orders('predictive', tip='tip')
    order = own.lead(message(point=vector(0.5, 0.0, -1.0)), VALUES).reference
    assert order.point == pytest.approx([0.5, 0.0, -1.0]) and order.body == 'lower_bar'
    assert own.lead(twist(vector(0.1), vector()), VALUES).reference.linear[0] == 0.1
    for wrong in (pose(), twist(vector(0.1), vector(z=0.3))):
        with pytest.raises(MessageError, match='takes a point, or a linear velocity alone'):
            own.lead(wrong, VALUES)
    assert orders('task').lead(pose(), VALUES).reference.rotation == pytest.approx(np.eye(3))
