# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Diagnostics of the simulation loop."""

from collections import Counter

from softrobot_dynamics.loops.simulation_loop import DIVERGED, SimulationLoop, TIMED_OUT
from softrobot_dynamics.nodes import record_contents
from softrobot_dynamics.nodes.diagnostics import ERROR, OK, Report, WARN


def report_on(loop: SimulationLoop | None, acting: str, reset: str) -> Report:
    """
    Return the Report on a loop, None for one that has not started.

    ``acting`` says in words when commands act, ``reset`` is the name of the service that restarts
    the simulation.
    """
    if loop is None:
        return OK, 'starting', {}
    seconds, counts, refused = loop.statistics.recent()
    total = loop.statistics.counts
    return *_status(loop, counts, refused, reset), {
        'mode': loop.mode_in_words(),
        'commands': acting,
        'rate [Hz]': counts['ticks'] / seconds,
        'ticks': total['ticks'],
        'missed ticks': total['missed'],
        'ticks under the safe command': total['safe'],
        'slips': total['slips'],
        'paused': loop.paused,
        'real-time factor asked for': loop.pace,
        'slipped [ms]': loop.deadlines.slipped * 1e-6,
        'round trip p50 / p99 / max [us]': loop.round_trips.report(),
        'state to next state p50 / p99 / max [us]': loop.work.report(),
        'wake-up lateness p50 / p99 / max [us]': loop.lateness.report(),
        'commands beyond a limit': total['clipped'],
        'command time-outs': total['timeouts'],
        'steps whose forces of contact missed their law': loop.unsettled,
        'last refusal': loop.statistics.last_refusal,
        **loop.statistics.refusals(),
    }


def _status(
    loop: SimulationLoop, counts: Counter[str], refused: Counter[str], reset: str
) -> tuple[bytes, str]:
    """Return the level and its reason."""
    mode = loop.mode_in_words()
    if loop.mode == DIVERGED:
        remedy = f'ros2 service call {reset} std_srvs/srv/Trigger restarts it'
        return ERROR, f'stopped: {loop.error}; {remedy}'
    if loop.error is not None:
        return ERROR, f'the loop ended: {loop.error!r}'
    if loop.mode == TIMED_OUT:
        return WARN, mode
    if refused:
        return WARN, f'messages refused; the last: {loop.statistics.last_refusal}'
    if words := record_contents.words(loop.record):
        return WARN, words
    if words := loop.slowness():
        return WARN, words
    if counts['slips']:
        return WARN, f'woke more than a period late {counts["slips"]} times'
    return OK, mode
