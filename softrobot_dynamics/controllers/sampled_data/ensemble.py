# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check the stability of several laws that run together, as one sampled loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers.sampled_data.loop_stability import (
    Answer,
    NO_LATENESS,
    SampledLoop,
)
from softrobot_dynamics.model.cable_drives import Conversion

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.sampled_data.delayed_loop import Lateness
    from softrobot_dynamics.model.model import CompiledModel

# over the laws, and the relative change at which they agree on what each applies
MAX_SWEEPS, SWEEP_TOLERANCE = 50, 1e-9


class Ensemble:
    """
    ``laws`` on disjoint actuators, each told the forces of the others, for any thread.

    They are Controllers. Those before a law have pushed in the same tick, those after it in the
    last one. That is what they keep from one tick to the next, beside what each keeps for itself.
    """

    def __init__(self, model: CompiledModel, period: float, laws: Sequence[Any]) -> None:
        self._signs, self._own = model.signs, [law.controlled for law in laws]
        self._predicting = [hasattr(law, 'observed') for law in laws]
        self._controlled = np.concatenate(self._own)
        sizes = [len(self._controlled), *(law.memory_size for law in laws)]
        self._conversion = Conversion(model)
        self._ends = np.cumsum(sizes)[:-1]
        self._sampled = SampledLoop(model, period, self._controlled, sum(sizes))
        self._laws = [law.law_at_rest(self._sampled.extrapolation) for law in laws]

    def growth(
        self,
        q: Vector,
        u: Vector,
        settings: Sequence[Any],
        uncertainty: float,
        lateness: Lateness = NO_LATENESS,
    ) -> float:
        """
        Return the rate [1/s] at which errors would grow, see :meth:`Controller.growth`.

        ``settings`` are those of each law, ``lateness`` as of :meth:`SampledLoop.growth`. nan if
        one of the laws cannot say.
        """
        laws = self._laws
        if None in laws:
            return math.nan

        def together(q: Vector, u: Vector) -> Answer:
            """Return the answer of all laws at rest at q under u."""
            applied = u.copy()
            answers = [
                law(q, u, own.replace(feed_forward=applied))  # an array that changes in place
                for law, own in zip(laws, settings)
                if law is not None
            ]
            return self._answer(answers, q, applied)

        return self._sampled.growth(q, u, together, uncertainty, lateness)

    def _answer(self, answers: list[Callable[..., Any]], q: Vector, applied: Vector) -> Answer:
        """Return all answers as one; ``applied`` (m,) becomes what all do at rest at q (n,)."""
        chosen, rest = self._controlled, np.zeros(len(q))
        empty = np.zeros(self._sampled.size)
        for _ in range(MAX_SWEEPS):
            before = applied.copy()
            self._round(answers, q, rest, empty, applied)
            if not np.abs(applied - before).max() > SWEEP_TOLERANCE * np.abs(applied).max():
                break
        settled = applied.copy()

        def answer(
            q: Vector, qd: Vector, memory: Vector, reached: Vector | None = None
        ) -> tuple[Any, Vector]:
            """Return (forces, memory a period later) of all laws at a state."""
            applied[:] = settled
            applied[chosen] += memory[: len(chosen)]
            kept = self._round(answers, q, qd, memory, applied, reached)
            changed = applied[chosen] - settled[chosen]
            efforts = self._conversion.efforts(q, applied)
            return self._signs[chosen] * efforts[chosen], np.concatenate([changed, *kept])

        return answer

    def _round(
        self,
        answers: Sequence[Answer],
        q: Vector,
        qd: Vector,
        memory: Vector,
        applied: Vector,
        reached: Vector | None = None,
    ) -> Any:
        """Let every law answer once and push; return what each keeps."""
        kept = []
        parts = np.split(memory, self._ends)[1:]
        for answer, own, part, hears in zip(answers, self._own, parts, self._predicting):
            w, after = answer(q, qd, part, reached) if hears else answer(q, qd, part)
            efforts = self._conversion.efforts(q, applied)
            efforts[own] = self._signs[own] * w
            applied[own] = self._conversion.commands(q, efforts)[own]
            kept.append(after)
        return kept
