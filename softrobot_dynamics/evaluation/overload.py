# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tell whether a machine was too slow for the rate of a demo, and which rate to try."""

from collections.abc import Iterator

from softrobot_dynamics.evaluation.records import LATE, Run

RATES = 1000.0, 500.0, 250.0, 100.0  # [Hz] to choose from
MOST_MISSED = 0.05  # share of ticks without a command in time with which a loop still holds
OVERLOADED = 'this machine did not keep up with'  # so begins the first lapse, if that is the cause
LEAST_STATES = 0.95  # share of the states that there should have been
_MANY_MISSED = 0.3  # from where half the rate would not do


def overload(run: Run, expected: float) -> Iterator[str]:
    """Yield, in words, that the machine was too slow for the rate, if so, and what to do."""
    missed, rate = run.missed / max(1, run.ticks), 1.0 / run.period
    waited = run.missed and any(mode in lapse for lapse in run.lapses for mode in LATE)
    few = len(run.t) < LEAST_STATES * expected
    if run.live and len(run.t) and (missed >= MOST_MISSED or few or waited):
        factor = 4.0 if missed > _MANY_MISSED else 2.0
        lower = max(
            (x for x in RATES if x <= rate / factor), default=min(RATES[-1], rate / factor)
        )
        yield (
            f'{OVERLOADED} {rate:g} Hz: {missed:.1%} of the ticks had no command in time'
            f'{f", and there were {len(run.t)} of {expected} states" if few else ""};'
            f' try --rate {lower:g}, end other programs, or give the nodes real-time priority'
            ' (docs/realtime.md)'
        )
