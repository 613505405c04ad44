# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure which rate this machine holds, before a demo begins.

What the nodes compute in a tick is measured here, on one thread: the law, a step of the
simulation, the filter if there is one, and a message over DDS. A ring of bare processes
(`rate_probe.py`) then computes as long, at the nodes' priority, and counts the late ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import json
import socket
import subprocess
import time
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.compiling.processes import script_command
from softrobot_dynamics.demo import rate_probe
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.evaluation.overload import CANDIDATE_RATES
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.processor_placement import fit_on_one

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.estimation.estimator import Estimator
    from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

MAX_LATE_FRACTION = 0.02  # of ticks, up to which a rate is held; a demo fails at 0.05
_MIN_SECONDS, _MIN_TICKS = 0.3, 60  # of the measurement at one rate
_TIMED_CALLS, _WARM_UP_CALLS = 40, 5  # and how many of the first are left out
_RING_TIMEOUT = 120.0  # [s], on a machine that has much else to do


class HeldRate(NamedTuple):
    """The rate that this machine holds."""

    rate: float  # [Hz] the highest of those tried with few late ticks, or the lowest of all
    late: float  # share of its ticks that were late
    tried: tuple[tuple[float, float], ...]  # (rate [Hz], share of late ticks), one after the other

    def in_words(self) -> str:
        """Return the result in words."""
        if self.late > MAX_LATE_FRACTION:
            return (
                f'this machine holds no rate, as other programs keep it busy: the demo runs at'
                f' {self.rate:g} Hz, where {self.late:.0%} of the ticks of a bare loop were late'
            )
        higher = [f'{late:.1%} at {rate:g} Hz' for rate, late in self.tried[:-1]]
        words = f'the demo runs at {self.rate:g} Hz'
        if not higher:
            return words
        return f'{words}, the highest rate this machine holds: late ticks were {", ".join(higher)}'


def held(work: Sequence[float], rates: Sequence[float] = CANDIDATE_RATES) -> HeldRate:
    """
    Return the highest of some falling `rates` [Hz] that processes hold that compute so long.

    `work` [s] is what each of them computes in a tick, first the one that keeps the time.
    Raises SoftRobotError if they do not answer.
    """
    with _ring(work, rates) as asking:
        try:
            output, complaint = asking.communicate(timeout=_RING_TIMEOUT)
            tried = tuple((rate, share) for rate, share in json.loads(output))
        except (subprocess.TimeoutExpired, ValueError) as error:
            asking.kill()
            reason = error if isinstance(error, subprocess.TimeoutExpired) else complaint
            words = f'no rate could be measured ({reason}): give one, as by --rate {rates[-1]:g}'
            raise SoftRobotError(words) from None
    return HeldRate(*tried[-1], tried)


@contextlib.contextmanager
def _ring(work: Sequence[float], rates: Sequence[float]) -> Iterator[subprocess.Popen[str]]:
    """Start the processes of a ring; yield the one that measures; end all."""
    processors, started = realtime.processors(), []
    if share_one(work, rates[0]):
        processors = processors[-1:]
    with contextlib.ExitStack() as stack:
        own = [stack.enter_context(socket.socket(type=socket.SOCK_DGRAM)) for _ in work]
        for each in own:
            each.bind(('127.0.0.1', 0))
        for k, each in reversed(list(enumerate(own))):
            settings = {
                'socket': each.fileno(),
                'next': own[(k + 1) % len(own)].getsockname()[1],
                'work': round(work[k] * rate_probe.SECOND),
                'processor': processors[(k + 1) % len(processors)] if processors else None,
                'rates': rates if k == 0 else (),
                'seconds': _MIN_SECONDS,
                'ticks': _MIN_TICKS,
                'late': MAX_LATE_FRACTION,
                'realtime': realtime.__file__,
            }
            process = subprocess.Popen(
                script_command(rate_probe.__file__, json.dumps(settings)),
                pass_fds=[each.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is for the parent, which ends them
            )
            started.append(process)
            stack.callback(_end, process)
        yield started[-1]


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def work_of(
    law: Controller,
    simulator: ActuatedSimulator,
    estimator: Estimator | None,
    message: float,
    period: float,
) -> tuple[float, ...]:
    """
    Return the computing times of simulation, estimator (None: none) and law in a tick [s].

    `message` [s] is added to each, for one message that it sends or hears.
    """
    model = law.model
    q, qd = model.q0, np.zeros(model.n)
    u = np.clip(np.zeros(model.m), model.lower, model.upper)
    law.start(q, qd, 0.0, None)
    found = [
        used(lambda: simulator.step(u, period)),
        *(
            []
            if estimator is None
            else [used(lambda: estimator.estimate(period, covariance=True))]
        ),
        used(lambda: law.compute(0.0, q, qd)),
    ]
    simulator.reset()
    return tuple(each + message for each in found)


def share_one(work: Sequence[float], rate: float) -> bool:
    """
    Return whether simulation and controller that compute so long [s] at a rate [Hz] share one.

    With an estimator each node has a processor of its own: the estimator keeps time by itself.
    """
    return len(work) == 2 and fit_on_one(work, 1.0 / rate)


def used(call: Callable[[], object], clock: Callable[[], int] = time.thread_time_ns) -> float:
    """Return how long a call uses the processor [s], by a clock [ns]: the median of some."""
    times = []
    for _ in range(_TIMED_CALLS):
        began = clock()
        call()
        times.append(clock() - began)
    return float(np.median(times[_WARM_UP_CALLS:])) / rate_probe.SECOND
