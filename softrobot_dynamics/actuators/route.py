# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A path as a chain of stretches from base to tip: where each points to, and how long it is."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from softrobot_dynamics.actuators.contract import (
    FramePoint,
    LineSegment,
    MaterialPoint,
    Parts,
    Segment,
    Stretch,
)

CELLS = 8  # stretches along a body; with its ends 30 points, which kernels take in one block
_STEP = 1e-4  # of s/L, of the differences that give directions


def chain(path: Sequence[Any], parts: Parts) -> list[Stretch]:
    """Return the :class:`Stretch` es of Passages, with the straight lines between them."""
    found = list(_along(path[0], parts))
    for last, this in pairwise(path):
        found += [_between(last, this, parts), *_along(this, parts)]
    return found


def _along(passage: Any, parts: Parts) -> Iterator[Stretch]:
    """Yield cells along a soft body, and its ends; or the lines between points of a rigid one."""
    body = passage.body
    if passage.points is not None:
        for start, end in pairwise(passage.points):
            yield _straight(FramePoint(body, False, start), FramePoint(body, False, end), None)
        return
    first, last = passage.span
    yield _tangent(passage, parts, first, None)
    for a, b in pairwise(np.linspace(first, last, CELLS + 1).tolist()):
        length = passage.segment(parts.body(body), (a, b))
        yield _tangent(passage, parts, 0.5 * (a + b), length)
    yield _tangent(passage, parts, last, None)


def _between(last: Any, this: Any, parts: Parts) -> Stretch:
    """Return the straight line from one passage's exit to the next one's entry."""
    start, end = FramePoint(last.body, *last.end(-1)), FramePoint(this.body, *this.end(0))
    rigid = parts.rigidly_joined(last.body, this.body)
    return _straight(start, end, None if rigid else LineSegment(*start, *end))


def _straight(start: FramePoint, end: FramePoint, segment: Segment | None) -> Stretch:
    return Stretch((start, end, end), (-1.0, 1.0, 0.0), segment)


def _tangent(passage: Any, parts: Parts, sigma: float, segment: Segment | None) -> Stretch:
    """Return a stretch that points as the path does at s/L, by the parabola through points."""
    middle = min(max(sigma, _STEP), 1.0 - _STEP)
    t = (sigma - middle) / _STEP
    at = middle + _STEP * np.array([-1.0, 0.0, 1.0])
    s = at * parts.body(passage.body).length
    places = np.column_stack([*np.broadcast_arrays(*passage.offset.at(at), s)])
    points = tuple(MaterialPoint(passage.body, tuple(p)) for p in places.tolist())
    return Stretch(points, (t - 0.5, -2.0 * t, t + 0.5), segment)
