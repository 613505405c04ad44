# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Diagnostics of the estimation loop."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from softrobot_dynamics.loops.estimation_loop import EstimationLoop, MODES, RUNNING
from softrobot_dynamics.nodes.diagnostics import ERROR, OK, Report, WARN


def report_on(loop: EstimationLoop | None, model_error: Iterable[float]) -> Report:
    """
    Return the Report on a loop, None for an inactive one.

    ``model_error``: shares by which inertia, stiffness and damping are off, () if not estimated.
    """
    if loop is None:
        return OK, 'inactive', {}
    seconds, counts, refused = loop.statistics.recent()
    total = loop.statistics.counts
    squares = {name: sums.copy() for name, sums in loop.squares.items()}
    values = {
        'mode': MODES[loop.mode],
        'rate [Hz]': counts['ticks'] / seconds,
        'states': total['ticks'],
        'measurements': total['measurements'],
        'measurements a second': counts['measurements'] / seconds,
        'messages in which nothing was seen': total['unseen'],
        'outliers': total['outliers'],
        'late measurements': total['late'],
        'measurements far off': total['coarse'],
        'restarts': total['losses'],
        'collisions': total['collisions'],
        'silent sensors': ', '.join(loop.sensors.silent),
        'silent efforts': ', '.join(loop.efforts.silent),
        'sensors rejected': ', '.join(loop.sensors.rejected),
        'efforts rejected': ', '.join(loop.efforts.rejected),
        **{
            f'normalised innovation squared of {name}': float(s / k) if k else np.nan
            for name, (s, k) in squares.items()
        },
        'model error of inertia, stiffness, damping': ', '.join(
            f'{share:+.1%}' for share in model_error
        ),
        'update p50 / p99 / max [us]': loop.update_times.report(),
        'wake-up lateness p50 / p99 / max [us]': loop.lateness.report(),
        'last refusal': loop.statistics.last_refusal,
        **loop.statistics.refusals(),
    }
    return *_status(loop, refused, counts['coarse']), values


def _status(loop: EstimationLoop, refused: Counter[str], coarse: int) -> tuple[bytes, str]:
    """Return (level, message) of the estimation loop."""
    if loop.error is not None:
        return ERROR, f'the loop ended: {loop.error}'
    reports = [words for words in (loop.complaint(), loop.slowness()) if words]
    if loop.lacking and loop.mode != RUNNING:
        reports.append(f'no sensor observes {", ".join(loop.lacking)}')
    if coarse:
        words = 'measurements far off: sensors are wrong, or the model errs by more than'
        reports.append(f'{coarse} {words} `disturbance` allows')
    if refused:
        reports.append(f'messages refused; the last: {loop.statistics.last_refusal}')
    if loop.mode != RUNNING:
        return ERROR, '; '.join([f'{MODES[loop.mode]}: no states go out', *reports])
    return (WARN, '; '.join(reports)) if reports else (OK, MODES[loop.mode])
