# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orders of the control loop: one immutable object, and the references in it."""

from enum import IntFlag
from typing import Any, NamedTuple

from softrobot_dynamics.annotations import Vector


class Took(IntFlag):
    """What a tick took up, as a record holds it."""

    BEGAN = 1  # the law began anew
    TUNED = 2  # settings
    FOLLOWS = 4  # what the parameters say
    HOLDS = 8  # the outputs as they are
    LED = 16  # what came by message


class HoldOrder:
    """A reference: the outputs as they are when the order is taken up; new for every order."""


class Once(NamedTuple):
    """A reference that is followed when the order is taken up; whatever begins anew, holds."""

    reference: Any


class Toward(NamedTuple):
    """A reference: from what is wanted when it is taken up, without a jump, to rest at ``y``."""

    y: Vector  # (c,)
    duration: float  # [s]


class Orders(NamedTuple):
    """What the loop shall do; replaced whole."""

    settings: Any  # gains and limits, for controller.use
    reference: Any  # for controller.follow, Once or not, or a Hold
    ramp: float = 0.0  # time to blend it in [s]
    emergency: bool = False  # nothing but the safe command
