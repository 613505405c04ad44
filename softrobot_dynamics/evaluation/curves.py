# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The curves of a demo in time: errors, then outputs and commands, of each quantity a panel."""

from collections.abc import Callable, Iterator, Sequence
import functools
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.evaluation.records import Run
from softrobot_dynamics.evaluation.report_contents import Report
from softrobot_dynamics.evaluation.units import by_quantity, shown
from softrobot_dynamics.viewing.matplotlib_surfaces import FAINT, INK, STYLE, TIP

PALETTE = (
    ('#8c2d04', '#d94801', '#fd9a4e'),
    ('#08519c', '#3182bd', '#85bcdb'),
    ('#005a32', '#31a354', '#94d18f'),
    ('#4a1486', '#807dba', '#b9b6d9'),
)
MAX_CURVE_POINTS = 1500
LEFT, RIGHT, BOTTOM, TOP = 0.515, 0.98, 0.07, 0.845  # of all panels, as shares of the figure
_LEGEND_WIDTH = 112  # characters of a legend in a line
# of a legend's line, and between panels, of the figure's height
_LEGEND_LINE_HEIGHT, _PANEL_GAP = 0.022, 0.018
_MIN_DRAWN_ERROR = 1e-6  # of the largest; smaller ones are drawn as this
_LABEL_POSITION = -0.075  # of labels, as a fraction of the panels' width
DASHED: dict[str, Any] = {'color': INK, 'lw': 0.8, 'ls': (0, (3, 3))}


class CurvePanel(NamedTuple):
    """One of the axes, one above the other."""

    draw: Callable[..., object]  # (axes)
    label: str
    names: tuple[str, ...] = ()  # in its legend, which stands above it


def draw_curves(figure: Figure, report: Report) -> None:
    """Draw the curves of a Report into the right half of a figure."""
    panels = [_error(report), *_outputs(report), *_commands(report)]
    heads = [_PANEL_GAP + _LEGEND_LINE_HEIGHT * _lines(panel.names) for panel in panels]
    height = (TOP - BOTTOM - sum(heads[1:])) / len(panels)
    top = TOP
    for panel, head in zip(panels, heads):
        top -= head if panel is not panels[0] else 0.0
        axes = figure.add_axes((LEFT, top - height, RIGHT - LEFT, height))
        top -= height
        panel.draw(axes)
        axes.set_ylabel(panel.label, **STYLE)
        axes.yaxis.set_label_coords(_LABEL_POSITION, 0.5)
        _style(axes, report, last=panel is panels[-1])
        if panel.names:
            _legend(axes, panel.names)


def _error(report: Report) -> CurvePanel:
    """Return the panel of the errors: of the tips, else of the outputs."""
    run, figures, controlled = report.run, report.figures, report.controlled
    units = {report.model.outputs[i].unit for i in controlled}
    if report.tips is not None:
        values, rms, unit, word = report.tips.errors, figures.tip_rms_m, 'm', 'tip error'
    else:
        errors, word = np.abs(run.y[:, controlled] - run.y_d), 'output error'
        rms, unit = figures.y_rms, ' or '.join(units)
        if len(units) > 1:
            errors, rms, unit = errors / report.output_ranges, figures.y_share, 'of its travel'
        values = np.fmax.reduce(errors, axis=1, initial=np.nan)
    factor, unit = shown(unit)
    rms = rms and factor * rms
    draw = functools.partial(_draw_error, run.t, factor * values, rms, unit)
    return CurvePanel(draw, f'{word}\n[{unit}]')


def _draw_error(t: Vector, values: Vector, rms: float | None, unit: str, axes: Axes) -> None:
    step = step_of(t)
    # a logarithm has no zero
    floor = _MIN_DRAWN_ERROR * np.nanmax(values, initial=0.0) or _MIN_DRAWN_ERROR
    axes.semilogy(t[::step], np.maximum(values[::step], floor), color=TIP, lw=1.2)
    low, high = axes.get_ylim()
    if high < 10.0 * low:  # a decade at least, or the ticks are no words to read
        axes.set_ylim(low / 3.0, 3.0 * high)
    decades = np.log10(axes.get_ylim()[1] / axes.get_ylim()[0])
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2.5 else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f'{value:g}'))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if rms:
        axes.axhline(rms, color=INK, lw=0.8, ls=(0, (4, 3)))
        axes.text(1.0, 1.03, f'dashed: RMS {rms:.2g} {unit}', transform=axes.transAxes,
                  ha='right', color=INK, fontsize=8)  # fmt: skip


def _outputs(report: Report) -> Iterator[CurvePanel]:
    """Yield the panels of the controlled outputs and where they should be."""
    names: tuple[str, ...] = ('$y_d$', '$y$')
    for quantity, own in by_quantity(report.model.outputs, report.controlled):
        factor, unit = shown(quantity.unit)
        draw = functools.partial(_draw_outputs, report, own, factor)
        yield CurvePanel(draw, f'{quantity.name}\n[{unit}]', names)
        names = ()


def _draw_outputs(report: Report, own: Sequence[int], factor: float, axes: Axes) -> None:
    run, step, colors = report.run, step_of(report.run.t), _colors(len(report.run.actuators))
    for i in own:
        y_d = run.y_d[::step, report.controlled.index(i)]
        axes.plot(run.t[::step], factor * run.y[::step, i], color=colors[i], lw=1.4)
        axes.plot(run.t[::step], factor * y_d, **DASHED)
    axes.plot([], [], label='$y_d$', **DASHED)
    axes.plot([], [], color=FAINT, lw=1.4, label='$y$')


def _commands(report: Report) -> Iterator[CurvePanel]:
    """Yield the panels of the commands."""
    actuators = report.run.actuators
    for quantity, own in by_quantity(report.model.commands, range(len(actuators))):
        factor, unit = shown(quantity.unit)
        draw = functools.partial(_draw_commands, report.run, own, factor)
        yield CurvePanel(draw, f'{quantity.name}\n[{unit}]', tuple(actuators[i] for i in own))


def _draw_commands(run: Run, own: Sequence[int], factor: float, axes: Axes) -> None:
    step, colors = step_of(run.t), _colors(len(run.actuators))
    for i in own:
        u, name = factor * run.u[::step, i], run.actuators[i]
        axes.plot(run.t[::step], u, color=colors[i], lw=1.2, label=name)


def _legend(axes: Axes, names: Sequence[str]) -> None:
    """Put the legend above the axes, to the right."""
    axes.legend(loc='lower right', bbox_to_anchor=(1.005, 0.99), ncol=_columns(names),
                frameon=False, fontsize=8, labelcolor=INK, handlelength=1.2, columnspacing=1.0,
                borderaxespad=0.0)  # fmt: skip


def _columns(names: Sequence[str]) -> int:
    """Return in how many columns of a legend there is room for names."""
    for columns in range(len(names), 1, -1):
        if _width(names, columns) <= _LEGEND_WIDTH:
            return columns
    return 1


def _lines(names: Sequence[str]) -> int:
    """Return how many lines the legend of names has."""
    return -(-len(names) // _columns(names))


def _width(names: Sequence[str], columns: int) -> int:
    """Return how wide a legend is in letters, six for each line and gap."""
    return sum(6 + max(map(len, part)) for part in np.array_split(names, columns))


def _style(axes: Axes, report: Report, last: bool) -> None:
    """Apply the common style to a curve's axes."""
    axes.set_xlim(0.0, report.run.t[-1] + report.run.period)
    axes.axvspan(0.0, min(report.ramp, report.run.t[-1]), color='#f1f4f7', zorder=0, lw=0)
    axes.grid(color='#e6ebef', lw=0.6)
    axes.set_axisbelow(True)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    for side in ('left', 'bottom'):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(labelsize=8, labelcolor=INK, color=FAINT, which='both', labelbottom=last)
    if last:
        axes.set_xlabel('time [s]', **STYLE)


def _colors(count: int) -> list[Any]:
    """Return `count` colours: triplets of one hue, as tendons come."""
    flat = [color for hue in PALETTE for color in hue]
    if count <= len(PALETTE):
        flat = [hue[1] for hue in PALETTE]
    return [flat[i % len(flat)] for i in range(count)]


def step_of(t: Vector) -> int:
    """Return how many ticks lie between two points of a curve over t (T,)."""
    return max(1, len(t) // MAX_CURVE_POINTS)
