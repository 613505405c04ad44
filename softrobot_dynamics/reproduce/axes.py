# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Axes that the figures of systems share; needs no matplotlib until it is given some."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, PURPLE = '#08519c', '#d94801', '#31a354', '#4a1486'
LINE_STYLES = (BLUE, '-'), (ORANGE, '--'), (GREEN, '-.'), (PURPLE, ':')
"""Colours and styles of curves, told apart in greyscale by the style."""


def head(axes: Axes, title: str) -> None:
    """Write the title at the left, and the legend beside it, above everything drawn."""
    axes.set_title(title, loc='left')
    count = len(axes.get_legend_handles_labels()[1])
    if count:
        axes.legend(
            loc='lower right', bbox_to_anchor=(1.02, 0.98), ncols=count, borderaxespad=0.0,
            handlelength=1.8, columnspacing=1.0,
        )  # fmt: skip
