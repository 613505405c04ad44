# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tell whether a machine was too slow for the rate of a demo, and which rate to try."""

from collections.abc import Iterator

from softrobot_dynamics.evaluation.records import OVERDUE_MODES, Run

CANDIDATE_RATES = 1000.0, 500.0, 250.0, 100.0  # [Hz]
MAX_MISSED_FRACTION = 0.05  # of ticks without a command in time, with which a loop still holds
OVERLOADED = 'this machine did not keep up with'  # so begins the first lapse, if that is the cause
MIN_STATE_FRACTION = 0.95  # of the states that there should have been
_QUARTER_RATE_MISSED = 0.3  # fraction of missed ticks from which half the rate would not do


def overload(run: Run, expected: float) -> Iterator[str]:
    """Yield, in words, that the machine was too slow for the rate, if so, and what to do."""
    missed, rate = run.missed / max(1, run.ticks), 1.0 / run.period
    waited = run.missed and any(mode in lapse for lapse in run.lapses for mode in OVERDUE_MODES)
    few = len(run.t) < MIN_STATE_FRACTION * expected
    if run.live and len(run.t) and (missed >= MAX_MISSED_FRACTION or few or waited):
        factor = 4.0 if missed > _QUARTER_RATE_MISSED else 2.0
        lower = max(
            (x for x in CANDIDATE_RATES if x <= rate / factor),
            default=min(CANDIDATE_RATES[-1], rate / factor),
        )
        yield (
            f'{OVERLOADED} {rate:g} Hz: {missed:.1%} of the ticks had no command in time'
            f'{f", and there were {len(run.t)} of {expected} states" if few else ""};'
            f' try --rate {lower:g}, end other programs, or give the nodes real-time priority'
            ' (docs/realtime.md)'
        )
