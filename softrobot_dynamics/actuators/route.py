# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A path as a chain of curves through bodies and straight lines, from base to tip."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from softrobot_dynamics.actuators.contract import (
    FramePoint,
    Line,
    LineSegment,
    RobotParts,
    Stretch,
)
from softrobot_dynamics.actuators.routing import Passage


def chain(path: Sequence[Any], parts: RobotParts) -> list[Stretch]:
    """Return the curves of Passages, with the straight lines between them."""
    found = list(_along(path[0], parts))
    for last, this in pairwise(path):
        found += [_between(last, this, parts), *_along(this, parts)]
    return found


def _along(passage: Passage, parts: RobotParts) -> Iterator[Stretch]:
    """Yield the curve through a soft body, or the lines between points of a rigid one."""
    body = passage.body
    if passage.points is None:
        yield passage.through(parts.body(body))
        return
    for start, end in pairwise(passage.points):
        yield Line(FramePoint(body, False, start), FramePoint(body, False, end), None)


def _between(last: Passage, this: Passage, parts: RobotParts) -> Line:
    """Return the straight line from one passage's exit to the next one's entry."""
    start, end = FramePoint(last.body, *last.end(-1)), FramePoint(this.body, *this.end(0))
    rigid = parts.rigidly_joined(last.body, this.body)
    return Line(start, end, None if rigid else LineSegment(*start, *end))
