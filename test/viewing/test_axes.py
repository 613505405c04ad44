# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Axes of pictures of robots in space."""

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import numpy as np
import pytest
from softrobot_dynamics.viewing.animation import DPI, SIZE
from softrobot_dynamics.viewing.matplotlib_surfaces import frame_space


@pytest.mark.parametrize('size', [(0.3, 0.1, 0.75), (0.06, 0.06, 0.6), (1.0, 1.0, 1.0)])
def test_numbers_and_names_of_axes_do_not_overlap(size):
    """Around a slim robot or a cubic one no number or name of an axis covers another."""
    figure = Figure(figsize=SIZE, dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((-0.1, 0.07, 1.08, 0.86), projection='3d')
    frame_space(axes, np.array([[0.0, 0.0, -size[2]], [size[0], size[1], 0.0]]))
    canvas.draw()
    boxes = []
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        texts = [axis.label, *(tick.label1 for tick in ticks)]
        boxes += [(text, text.get_window_extent()) for text in texts if text.get_text()]
    assert len(boxes) >= 6
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        slim = a.shrunk(0.8, 0.8), b.shrunk(0.8, 0.8)
        assert not slim[0].overlaps(slim[1]), (one.get_text(), other.get_text())
