# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Diagnostics of the control loop."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.realtime import now, SECOND
from softrobot_dynamics.loops.stability_check import StabilityCheck
from softrobot_dynamics.loops.state_monitoring import estimation, StateMonitor
from softrobot_dynamics.loops.watchdog import FAILED, MODES, RUNNING, TIMED_OUT
from softrobot_dynamics.nodes import record_contents
from softrobot_dynamics.nodes.diagnostics import ERROR, OK, Report, WARN


def report_on(loop: ControlLoop | None, watch: StateMonitor, growth: StabilityCheck) -> Report:
    """Return the Report on a loop, None for an inactive one, by its monitors."""
    if loop is None:
        return OK, 'inactive', {}
    seconds, counts, refused = loop.statistics.recent()
    total, ticks = loop.statistics.counts, max(1, counts['ticks'])
    age = np.nan if loop.last_valid is None else (now() - loop.last_valid) * 1e-6
    unmet = float(np.abs(loop.command.unmet).max()) if loop.command is not None else 0.0
    words = growth.monitor(loop), loop.held(), loop.driver.law.warning
    odd = [*watch.check(loop, bool(refused)), *filter(None, words)]
    return *_status(loop, counts, refused, odd), {
        'mode': MODES[loop.mode],
        **({'phase': loop.phase} if loop.phase else {}),
        'rate [Hz]': counts['ticks'] / seconds,
        'ticks': total['ticks'],
        'missed ticks': total['missed'],
        'overrun ticks': total['overruns'],
        'state age [ms]': age,
        **_parts(loop),
        'velocities': estimation(loop) or 'measured',
        'stamps behind this clock [s]': watch.offset(loop),
        'stamp to command [ms]': watch.delay(loop) * 1e3,
        'state to command p50 / p99 / max [us]': loop.round_times.report(),
        'computation p50 / p99 / max [us]': loop.compute_times.report(),
        **loop.driver.law.figures(),
        'saturated share': counts['saturated'] / ticks,
        'unmet acceleration': unmet,
        **{f'exceeded {name}': x for name, x in loop.driver.law.relaxed.items()},
        'growth of errors [1/s]': growth.last,
        'growth if the model is off [1/s]': growth.last_of_changed_model,
        'watchdog trips': total['timeouts'],
        'failures': total['failures'],
        'last refusal': loop.statistics.last_refusal,
        **loop.statistics.refusals(),
    }


def _parts(loop: ControlLoop) -> dict[str, object]:
    """Return rate and age of the parts of the states, if they come in parts."""
    values: dict[str, object] = {}
    for part in getattr(loop.states, 'parts', ()):
        step, came = part.steps.median(), part.stream.arrival
        values[f'rate of {part.name} [Hz]'] = SECOND / step if step else np.nan
        values[f'age of {part.name} [ms]'] = (now() - came) * 1e-6 if came else np.nan
        values['delay of whole states [ms]'] = loop.states.delay * 1e-6
    return values


def _status(
    loop: ControlLoop, counts: Counter[str], refused: Counter[str], odd: Sequence[str]
) -> tuple[bytes, str]:
    """Return (level, message) of the control loop."""
    if loop.error is not None:
        return ERROR, f'the loop ended: {loop.error}'
    mode, running = MODES[loop.mode], loop.mode == RUNNING
    if loop.mode in (TIMED_OUT, FAILED):
        why = odd if loop.mode == TIMED_OUT else []  # of states that do not come
        return ERROR, '; '.join([f'{mode}: the safe command is sent', *why])
    reports = [] if running else [mode]  # before all that is odd: a stop is what matters
    failed = counts['failures'] or counts['timeouts']
    if failed:
        reports.append('the safe command was sent for a while')
    reports += odd
    if refused:
        reports.append(f'messages refused; the last: {loop.statistics.last_refusal}')
    if words := record_contents.words(loop.record):
        reports.append(words)
    if not reports:
        return OK, mode
    return ERROR if failed else WARN, '; '.join(reports)
