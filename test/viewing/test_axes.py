# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Axes of pictures of robots in space."""

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import numpy as np
import pytest
from softrobot_dynamics.viewing.animation import DPI, SIZE
from softrobot_dynamics.viewing.matplotlib_surfaces import frame_space

SIZES = [
    (0.3, 0.1, 0.75), (0.06, 0.06, 0.6), (1.0, 1.0, 1.0), (0.8, 0.3, 0.2), (0.8, 0.8, 0.1),
    (0.1, 0.8, 0.8), (0.2, 0.5, 1.0), (1.0, 0.32, 0.32), (0.02, 0.02, 0.02), (0.31, 0.9, 0.31),
]  # fmt: skip


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('middle', [(0.0, 0.0, 0.0), (-0.123, 0.456, -0.789)])
def test_numbers_and_names_of_axes_do_not_overlap(size, middle):
    """Around robots slim, flat or cubic no text of an axis covers another or is cut off."""
    figure = Figure(figsize=SIZE, dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((-0.1, 0.07, 1.08, 0.86), projection='3d')
    half = 0.5 * np.array(size)
    frame_space(axes, np.array([middle - half, middle + half]))
    canvas.draw()
    boxes = []
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        texts = [axis.label, *(tick.label1 for tick in ticks)]
        boxes += [(text, text.get_window_extent()) for text in texts if text.get_text()]
    assert len(boxes) >= 6
    right, top = canvas.get_width_height()
    for text, box in boxes:
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= right and box.y1 <= top
        assert inside, text.get_text()
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.overlaps(b), (one.get_text(), other.get_text())
