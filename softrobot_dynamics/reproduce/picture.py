# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The figure of a system as a PNG file, in one style, told apart in greyscale too."""

from collections.abc import Callable
from os import PathLike
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 130
STYLE = {
    'font.size': 9.0, 'axes.titlesize': 9.0, 'axes.grid': True, 'grid.color': '#dddddd',
    'axes.axisbelow': True, 'axes.spines.top': False, 'axes.spines.right': False,
    'legend.frameon': False, 'legend.fontsize': 8.0, 'figure.constrained_layout.use': True,
    'lines.linewidth': 1.4,
}  # fmt: skip


def draw_system(
    draw: Callable[[Figure, dict[str, Any]], None], data: dict[str, Any], path: str | PathLike[str]
) -> None:
    """Write a PNG file of the figure that a system's ``draw`` makes of its data."""
    with rc_context(STYLE):
        figure = Figure(dpi=DPI, facecolor='white')
        canvas = FigureCanvasAgg(figure)
        draw(figure, data)
        canvas.print_png(path, metadata={'Software': None})
