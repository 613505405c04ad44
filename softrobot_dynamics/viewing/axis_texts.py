# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers and names of the axes of a picture in space, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d.axes3d import Axes3D
from softrobot_dynamics.annotations import Vector

_MAX_TRIES = 24  # of which each clears one overlap
_LABEL_STEP = 3.0  # [pt] by which the name of an axis moves away from numbers in one try
_TEXT_MARGIN = 1.5  # [pt] around each text
_ZOOM_FACTOR = 0.95  # in one try, where a text is outside the picture


class _Text(NamedTuple):
    """A number or the name of an axis, as drawn."""

    axis: Any
    number: float | None  # None: the name
    box: Bbox  # [px] with the room around it


def separate_texts(axes: Axes3D, aspect: Vector, zoom: float) -> None:
    """
    Take numbers away and move names until no text covers another, and all are in the picture.

    ``aspect`` (3,) and ``zoom`` are those of the box of the axes, whose limits and view are set.
    As an overlap is seen in pixels only, the figure is laid out for each try.
    """
    for _ in range(_MAX_TRIES):
        axes.figure.draw_without_rendering()
        texts = _texts(axes)
        if (pair := _overlapping(texts)) is not None:
            _clear(*pair, texts)
        elif not all(_inside(axes, text.box) for text in texts):
            zoom *= _ZOOM_FACTOR
            axes.set_box_aspect(aspect, zoom=zoom)
        else:
            return


def _texts(axes: Axes3D) -> list[_Text]:
    """Return the texts of all axes, numbers first."""
    names, numbers = [], []
    room = _TEXT_MARGIN * axes.figure.dpi / 72.0
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        low, high = sorted(axis.get_view_interval())
        names.append(_Text(axis, None, axis.label.get_window_extent().padded(room)))
        numbers += [
            _Text(axis, tick.get_loc(), tick.label1.get_window_extent().padded(room))
            for tick in axis.get_major_ticks()
            if low <= tick.get_loc() <= high and tick.label1.get_text()
        ]
    return [*numbers, *names]


def _overlapping(texts: Sequence[_Text]) -> tuple[_Text, _Text] | None:
    """Return the first two texts that cover each other."""
    for one, other in combinations(texts, 2):
        if one.box.overlaps(other.box):
            return one, other
    return None


def _clear(one: _Text, other: _Text, texts: Sequence[_Text]) -> None:
    """Move the later of two texts, a name, away from its axis, or take away a number of it."""
    if other.number is None:
        other.axis.labelpad += _LABEL_STEP
        return
    own = [text.number for text in texts if text.axis is other.axis and text.number is not None]
    if one.axis is other.axis:
        kept = own[::2]
    else:
        kept = [number for number in own if number != other.number]
    other.axis.set_ticks(kept)


def _inside(axes: Axes3D, box: Bbox) -> bool:
    """Tell whether a text is in the figure, and neither above nor to the right of the axes."""
    within: bool = box.x0 >= 0.0 and box.y0 >= 0.0 and box.x1 <= axes.bbox.x1
    return within and box.y1 <= axes.bbox.y1
