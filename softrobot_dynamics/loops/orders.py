# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orders of the control loop: one immutable object, and the references in it."""

from enum import IntFlag
from typing import NamedTuple, TypeAlias

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.references.tip_commands import TipOrder, TipPathReference


class TakenOrders(IntFlag):
    """Orders that a tick took up, as a record holds them."""

    BEGAN = 1  # the law restarted
    TUNED = 2  # settings
    FOLLOWS = 4  # the reference of the parameters
    HOLDS = 8  # a hold of the present outputs
    LED = 16  # a reference by message


NO_ORDERS = TakenOrders(0)


class HoldOrder:
    """A reference: the outputs as they are when the order is taken up; new for every order."""


class RestTarget(NamedTuple):
    """A reference from the desired outputs when it is taken up, without a jump, to ``y``."""

    y: Vector  # (c,)
    duration: float  # [s]


class OneTimeReference(NamedTuple):
    """A reference that is followed once, when the order is taken up; after a restart, a hold."""

    reference: Reference | RestTarget | TipOrder


Followed: TypeAlias = Reference | TipPathReference | Program | HoldOrder | OneTimeReference
"""References that a law may be ordered to follow."""


class Orders(NamedTuple):
    """Orders for the loop; replaced whole."""

    settings: Settings  # gains and limits, for controller.use
    reference: Followed  # for controller.follow, or a HoldOrder
    ramp: float = 0.0  # time to blend it in [s]
    emergency: bool = False  # nothing but the safe command
