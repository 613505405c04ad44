# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The picture of a study: errors along each factor, and each two factors against each other."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.evaluation.curves import DASHED, FAINT, INK, STYLE
from softrobot_dynamics.studies.factors import Factor
from softrobot_dynamics.studies.failure_boundaries import (
    counts,
    failure_boundaries,
    FailureBoundary,
)
from softrobot_dynamics.studies.study import Study
from softrobot_dynamics.studies.trial import FAILED, FAILED_RATIO

COLORS, MARKERS = ('#2a9d8f', '#e9a13b', '#c1272d'), ('o', 'o', 'X')  # of the STATES
DPI, PANEL_SIZE, MAX_FACTORS = 130, 3.1, 5  # [1/inch], side of a panel [inch], factors drawn
_RUN_OFFSET = 0.015  # of the range, at which runs are drawn beside a given value
_MIN_DRAWN_ERROR = 1e-4  # of the travel
_HEAD_HEIGHT, _LINE_HEIGHT = 0.85, 0.19  # [inch] for title and counts, for each line below them


def draw_study(study: Study, title: str, path: str | PathLike[str]) -> None:
    """Draw a study, with a title, into a PNG file: of many factors those that matter most."""
    found = failure_boundaries(study)
    chosen = _chosen(study, found)
    d = len(chosen)
    top = _HEAD_HEIGHT + _LINE_HEIGHT * len(found)
    width, height = (
        (7.0, 3.4 + top) if d == 1 else (PANEL_SIZE * d + 1.3, PANEL_SIZE * d + top + 0.6)
    )
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor='white')
    canvas = FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        d, d,
        left=0.75 / width, right=1.0 - 0.25 / width, bottom=0.55 / height,
        top=1.0 - top / height, wspace=0.32, hspace=0.3,
    )  # fmt: skip
    for row, i in enumerate(chosen):
        for column, j in enumerate(chosen[: row + 1]):
            axes = figure.add_subplot(grid[row, column])
            if row == column:
                _draw_errors(axes, study, i, found)
            else:
                _draw_pair(axes, study, j, i, label=column == 0)
            _finish(axes, study.factors[j], label=row in (column, d - 1))
    _write_words(figure, study, title, found, (width, height))
    canvas.print_png(path)


def _chosen(study: Study, found: tuple[FailureBoundary, ...]) -> list[int]:
    """Return the indices of the factors to draw, in their order: those with boundaries first."""
    sharp = {boundary.factor.name for boundary in found}
    order = sorted(range(len(study.factors)), key=lambda i: study.factors[i].name not in sharp)
    return sorted(order[:MAX_FACTORS])


def _draw_errors(axes: Axes, study: Study, i: int, found: tuple[FailureBoundary, ...]) -> None:
    """Draw the errors over one factor; runs without any at the top."""
    factor = study.factors[i].shown[0]
    ratios = np.nan_to_num(study.error_ratio, nan=np.inf)
    ratios = np.clip(ratios, _MIN_DRAWN_ERROR, 10.0 * FAILED_RATIO)
    _scatter(axes, study, _places(study, i), ratios)
    for boundary in found:
        if boundary.factor is study.factors[i]:
            _shade(
                axes, boundary, factor, COLORS[FAILED] if boundary.what == 'fails' else COLORS[1]
            )
    for share, words in ((study.tolerance, 'degraded'), (FAILED_RATIO, 'failed')):
        axes.axhline(share, **DASHED)
        place: dict[str, Any] = {
            'xy': (1.0, share),
            'xycoords': ('axes fraction', 'data'),
            'ha': 'right',
        }
        box = {'facecolor': 'white', 'alpha': 0.7, 'lw': 0, 'pad': 0.5}
        offset: dict[str, Any] = {'xytext': (0, 3), 'textcoords': 'offset points'}
        axes.annotate(words, **place, **offset, color=INK, fontsize=7, bbox=box, zorder=4)
    axes.set_yscale('log')
    axes.set_ylim(0.7 * _MIN_DRAWN_ERROR, 14.0 * FAILED_RATIO)
    axes.yaxis.set_major_formatter(lambda share, place: f'{100.0 * share:g}%')
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel('RMS error / travel', **STYLE)


def _shade(axes: Axes, boundary: FailureBoundary, factor: float, color: str) -> None:
    """Shade the range outside a boundary."""
    for start, end in ((-np.inf, boundary.low), (boundary.high, np.inf)):
        if np.isfinite(start) or np.isfinite(end):
            low, high = boundary.factor.low, boundary.factor.high
            span = factor * np.clip([start, end], low, high)
            axes.axvspan(*span, color=color, alpha=0.12, lw=0)


def _draw_pair(axes: Axes, study: Study, i: int, j: int, label: bool) -> None:
    """Draw the states over two factors."""
    _scatter(axes, study, _places(study, i), _places(study, j))
    if label:
        axes.set_ylabel(_label(study.factors[j]), **STYLE)


def _places(study: Study, i: int) -> Vector:
    """Return where the runs (N,) are drawn along a factor: beside each other on given values."""
    factor, values = study.factors[i], study.values[:, i]
    wide = _RUN_OFFSET * (factor.high - factor.low) if factor.values else 0.0
    beside = np.random.default_rng(i).uniform(-wide, wide, len(values))
    return factor.shown[0] * (values + beside)


def _scatter(axes: Axes, study: Study, x: Vector, y: Vector) -> None:
    size = float(np.clip(4000.0 / len(x), 7.0, 28.0))
    for state, (color, mark) in enumerate(zip(COLORS, MARKERS)):
        rows = study.state == state
        axes.scatter(x[rows], y[rows], s=size, c=color, marker=mark, lw=0, alpha=0.85, zorder=3)


def _finish(axes: Axes, factor: Factor, label: bool) -> None:
    if label:
        axes.set_xlabel(_label(factor), **STYLE)
    axes.tick_params(colors=INK, labelsize=8, length=2.5)
    axes.grid(color=FAINT, alpha=0.25, lw=0.5)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    for side in ('left', 'bottom'):
        axes.spines[side].set_color(FAINT)


def _label(factor: Factor) -> str:
    unit = factor.shown[1]
    return f'{factor.name} [{unit}]' if unit else factor.name


def _write_words(
    figure: Figure,
    study: Study,
    title: str,
    found: Sequence[FailureBoundary],
    size: tuple[float, float],
) -> None:
    """Write title, counts with the marks of the states, and the boundaries."""
    width, height = size
    x, y = 0.2 / width, 1.0 - 0.3 / height
    figure.text(x, y, title, color=INK, fontsize=11, fontweight='bold', va='center')
    handles = [
        Line2D([], [], color=color, marker=mark, ls='', ms=6, mew=0, label=f'{name}: {count}')
        for (name, count), color, mark in zip(counts(study).items(), COLORS, MARKERS)
    ]
    figure.legend(
        handles=handles, loc='center left', bbox_to_anchor=(x - 0.1 / width, y - 0.27 / height),
        ncols=3, fontsize=9, frameon=False, labelcolor=INK, handletextpad=0.1,
    )  # fmt: skip
    for k, boundary in enumerate(found):
        y_k = y - (0.5 + _LINE_HEIGHT * k) / height
        figure.text(x, y_k, boundary.in_words(), color=INK, fontsize=8.5, va='center')
