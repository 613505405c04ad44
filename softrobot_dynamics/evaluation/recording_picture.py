# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The picture of one recording of any node: its columns over time."""

from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation.curves import INK, MAX_CURVE_POINTS, PALETTE, STYLE
from softrobot_dynamics.evaluation.units import shown
from softrobot_dynamics.recordings.reading import Recording

WIDTH, HEIGHT, DPI = 10.0, 1.9, 120  # of a panel [inch], [1/inch]
_COLOURS = tuple(colour for column in zip(*PALETTE) for colour in column)
_LINE_STYLES = '-', (0, (4, 1.5)), (0, (1, 1))  # besides colours, for who reads in grey
_MAX_LEGEND_NAMES = 12


class _Panel(NamedTuple):
    label: str
    names: Sequence[str]
    values: Matrix  # (T, k)
    desired: Matrix | None = None  # (T, k)
    peaks: bool = False  # of what is between two points drawn, the largest is


def draw_recording(recording: Recording, path: str | PathLike[str]) -> None:
    """
    Draw a Recording into a PNG file: outputs and what they should be, commands, coordinates.

    ArgumentError for one without a tick.
    """
    if not len(recording):
        raise ArgumentError('recording', repr(recording), 'one with at least one tick')
    panels = _panels(recording)
    figure = Figure(figsize=(WIDTH, 0.6 + HEIGHT * len(panels)), dpi=DPI, layout='constrained')
    canvas = FigureCanvasAgg(figure)
    rows = np.unique(np.linspace(0, len(recording) - 1, MAX_CURVE_POINTS).astype(int))
    t = _time(recording)[rows]
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, panel in zip(axes, panels):
        _draw(ax, t, panel, rows)
    axes[-1].set_xlabel('t [s]', **STYLE)
    facts = recording.facts
    whole = '' if recording.complete else ', cut short'
    words = f'{facts.get("robot")}: {facts.get("node")}, {len(recording)} ticks{whole}'
    figure.suptitle(words, color=INK, fontsize=11)
    canvas.print_png(path)


def _time(recording: Recording) -> Vector:
    """Return seconds since the first tick: the stamps go on where `t` begins anew."""
    stamp = recording['stamp']
    seconds: Vector = (stamp - stamp[0]) * 1e-9
    return seconds


def _panels(recording: Recording) -> list[_Panel]:
    facts, columns = recording.facts, recording.columns
    actuators = list(facts['actuator_names'])
    found = []
    if 'y' in columns:
        followed = [actuators.index(name) for name in facts.get('controlled', actuators)]
        desired = np.full(columns['y'].shape, np.nan)
        desired[:, followed] = columns['y_d']
        units = facts.get('output_units', [''] * len(actuators))
        found += _by_unit('y', actuators, units, columns['y'], desired)
    units = facts.get('command_units', [''] * len(actuators))
    found += _by_unit('u', actuators, units, columns['u'])
    found.append(_Panel('q', facts['coordinate_names'], columns['q']))
    times = [name for name in ('round_trip', 'late') if name in columns]
    if times:
        values = 1e3 * np.column_stack([columns[name] for name in times])
        names = [name.replace('_', ' ') for name in times]
        found.append(_Panel('[ms]', names, values, peaks=True))
    return found


def _by_unit(
    label: str,
    names: Sequence[str],
    units: Sequence[str],
    values: Matrix,
    desired: Matrix | None = None,
) -> list[_Panel]:
    """Return a panel for each unit."""
    found = []
    for unit in dict.fromkeys(units):
        own = [i for i, each in enumerate(units) if each == unit]
        factor, word = shown(unit)
        led = None if desired is None else factor * desired[:, own]
        rows = factor * values[:, own]
        found.append(_Panel(f'{label} [{word}]', [names[i] for i in own], rows, led))
    return found


def _draw(ax: Axes, t: Vector, panel: _Panel, rows: Integers) -> None:
    """Draw a panel; its legend stands beside it."""
    values = np.fmax.reduceat(panel.values, rows) if panel.peaks else panel.values[rows]
    for i, name in enumerate(panel.names):
        colour = _COLOURS[i % len(_COLOURS)]
        style = _LINE_STYLES[i // 4 % len(_LINE_STYLES)]
        label = name if i < _MAX_LEGEND_NAMES else None
        ax.plot(t, values[:, i], color=colour, ls=style, lw=1.1, label=label)
        if panel.desired is not None:
            ax.plot(t, panel.desired[rows, i], color=INK, lw=0.6, ls=(0, (3, 3)))
    ax.set_ylabel(panel.label, **STYLE)
    ax.tick_params(labelsize=8, colors=INK)
    ax.spines[['top', 'right']].set_visible(False)
    if panel.names:
        legend = {'loc': 'center left', 'bbox_to_anchor': (1.0, 0.5), 'fontsize': 7}
        more = len(panel.names) - _MAX_LEGEND_NAMES
        ax.legend(**legend, frameon=False, title=f'and {more} more' if more > 0 else None)
