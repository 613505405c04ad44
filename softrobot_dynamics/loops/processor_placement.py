# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Processors of simulation and controller: one for both where their work leaves room, or two.

Their work is a chain, from a state to its command to the next state. On one processor the chain
runs without a pause in which the kernel lets other processes in; so fewer commands come late. But
the chain has to fit into a period. All times are in [ns] unless they say otherwise.
"""

from collections.abc import Sequence

from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.simulation_loop import DRIVEN, SimulationLoop

SHARED_LOAD = 0.7  # of a period, up to which what both compute is given one processor
MAX_CHAIN_LOAD = 0.85  # of a period, for the whole chain on it, messages included
_MEASURED_TICKS = 200  # that show how long the work takes


def fit_on_one(work: Sequence[float], period: float) -> bool:
    """Return whether nodes that compute so long in each period [s] shall share a processor."""
    return sum(work) <= SHARED_LOAD * period


class SharedProcessor:
    """
    The processor on which a simulation begins, beside its controller.

    `processor` is its number, None if the simulation has no priority, or shares none: then nothing
    is ever decided.
    """

    def __init__(self, processor: int | None) -> None:
        self._processor, self._said = processor, False

    def decide(self, loop: SimulationLoop) -> str | None:
        """
        Leave the processor if the work of `loop` and its controller does not fit on it.

        Returns in words what was decided; None if nothing new was. To be called now and then.
        """
        counts = loop.statistics.counts
        answered, missed = counts['answered'], counts['missed']
        waiting = loop.mode != DRIVEN or answered + missed < _MEASURED_TICKS
        if self._processor is None or loop.pace == 0.0 or waiting:
            return None
        period = loop.period / loop.pace
        work = loop.work.median() or period
        measured = f'{work * 1e-6:.2f} of {period * 1e-6:g} ms from a state to the next one'
        if missed <= answered and work <= MAX_CHAIN_LOAD * period:
            if self._said:
                return None
            self._said = True
            return f'simulation and controller share processor {self._processor}: {measured}'
        self._processor, other = None, realtime.own_processor()
        if other is None:
            return None
        realtime.move_to(other)
        return f'simulation and controller now have a processor each: {measured} on a shared one'
