# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Values for the fields of messages: stamps, and arrays of numbers."""

from __future__ import annotations

from array import array

from builtin_interfaces.msg import Time
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.loops.message_fields import SECOND


def stamped(nanoseconds: int) -> Time:
    """Return the stamp message of a time [ns]."""
    return Time(sec=nanoseconds // SECOND, nanosec=nanoseconds % SECOND)


def doubles(values: Vector) -> array[float]:
    """Return numbers as the array that a field of type double[] takes without a copy by number."""
    return array('d', values.tobytes())
