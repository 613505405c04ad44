# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A ControlLoop on the linear plant whose clock a test moves."""

import numpy as np
from sensor_msgs.msg import JointState
from softrobot_dynamics.configuration import declared_parameters
from softrobot_dynamics.configuration.law_settings import settings_of
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.state_validation import FOLLOWS, StateValidator
from softrobot_dynamics.nodes.messaging.message_values import stamped
from support.linear_plant import BOUNDS, controlled, Controller, COORDINATES, Model
from support.loops import Clock, Outlet, PERIOD, Record

WATCHDOG = 50 * PERIOD
ROWS = (
    *declared_parameters.controller_rows(),
    *declared_parameters.configured_rows(Controller, Model()),
)
VALUES = {row.name: row.default for row in ROWS}


def state(q=(0.0, 0.0), stamp=0, names=COORDINATES):
    """Return a state message."""
    message = JointState(name=list(names), position=list(q), velocity=[0.0] * len(q))
    message.header.stamp = stamped(stamp)
    return message


class Accepting(StateValidator):
    """Accepts the first state, and of later ones all that are in order: they may jump."""

    def __init__(self):
        super().__init__(BOUNDS._replace(unit=np.full(2, 1e-300)))

    def check(self, q, qd, stamp, arrival):
        """As StateValidator.check."""
        if not self._accepted.count:
            self._accepted.begin(q, qd, stamp, arrival)
            return FOLLOWS
        return super().check(q, qd, stamp, arrival)


class Control:
    """A control loop, driven by the test."""

    def __init__(self, monkeypatch, validator=Accepting, rate_limit=None, parts=None, **changes):
        self.clock, self.publisher = Clock(monkeypatch), Outlet()
        self.plant = controlled(VALUES)._replace(validator=validator)
        if rate_limit is not None:
            model = self.plant.model._replace(rate_limit=rate_limit)
            self.plant = self.plant._replace(model=model)
        settings = settings_of(Controller, self.plant.model, None, VALUES)
        self.loop = ControlLoop(
            self.plant,
            self.clock,
            parts or StateReader(COORDINATES),
            self.publisher,
            Orders(settings, HoldOrder())._replace(**changes),
            period=PERIOD,
            watchdog=WATCHDOG,
            record=Record(),
        )
        self.loop._due = self.clock.time + WATCHDOG

    def go(self, message=None, after=PERIOD):
        """Let the loop wait once, with a message underway or none."""
        if message is not None:
            self.clock.bring(message, after)
        self.loop._cycle()
        return self.publisher.commands[-1][0] if self.publisher.commands else None
