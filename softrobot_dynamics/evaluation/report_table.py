# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The table of the report of a run: its figures in words."""

from __future__ import annotations

from collections.abc import Iterator

from softrobot_dynamics.evaluation.report_contents import Report
from softrobot_dynamics.evaluation.units import in_words
from softrobot_dynamics.loops.command_timing import timing_in_words


def rows(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the figures as (name, value in words)."""
    figures, model = report.figures, report.model
    if report.tips is not None:
        yield (
            'tip error, RMS and peak',
            _two(figures.tip_rms_m, figures.tip_peak_m, 'm') + _of_travel(figures.tip_share),
        )
    units = {model.outputs[i].unit for i in report.controlled}
    if len(units) == 1:
        errors = _two(figures.y_rms, figures.y_peak, *units)
        yield 'output error, RMS and peak', errors + _of_travel(figures.y_share)
    elif figures.y_share is not None:  # nothing to compare them by but the travel of each
        yield 'output error, RMS', f'{figures.y_share:.2%} of its travel'
    if report.unmeasured_outputs and figures.y_share is not None:
        yield 'not seen to follow', ', '.join(report.unmeasured_outputs)
    if report.plant:
        yield 'simulated robot', f'not as the model: {report.plant}'
    yield 'rate', _words(figures.rate_hz, '{:.1f} Hz')
    trip = figures.round_trip_us
    yield (
        'round trip p50 / p99 / max',
        ' / '.join(_words(x, '{:.0f}') for x in trip.values()) + ' us',
    )
    timing = figures.command_timing
    yield 'commands', '-' if timing is None else timing_in_words(timing, figures.bus_rate_hz)
    yield 'missed ticks', f'{figures.missed_ticks} of {figures.ticks}'
    yield 'ticks with a command at a limit', _words(figures.saturated_share, '{:.1%}')


def _words(value: float | None, form: str) -> str:
    return '-' if value is None else form.format(value)


def _of_travel(share: float | None) -> str:
    return '' if share is None else f' ({share:.2%} of its travel)'


def _two(first: float | None, second: float | None, unit: str) -> str:
    """Return two values of a unit in words."""
    if first is None or second is None:
        return 'none: no output followed a reference for long enough to be evaluated'
    return f'{in_words(first, unit)}, {in_words(second, unit)}'
