# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Several laws on one robot, each on actuators of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.controllers.contract import Command, Controller
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import Reference, select


@dataclass(frozen=True)
class Composed(Settings):
    """Limits of the robot, ``feed_forward`` of actuators without a law, and the laws' own."""

    laws: tuple[Any, ...] = ()  # Settings of each law, whose limits are not used

    def tuned_alike(self, other: Any) -> bool:
        """Tell whether all parameters of all laws are the same, limits aside."""
        pairs = zip(self.laws, other.laws, strict=True)
        return all(mine.tuned_alike(theirs) for mine, theirs in pairs)


class Composition(Controller):
    """
    Laws for one model and of one period, each for the actuators it controls; none for two.

    ``controlled``, and with them the coordinates of the reference, are those of the first law,
    then those of the second, and so on. Each law counts on what the others push with: those before
    it in this tick, those after it in the last one. So the law that has to make up for another
    comes after it. Actuators without a law get the ``feed_forward`` of the settings.

    ``settings`` are :class:`Composed` (default: the limits of the description, no feed-forward,
    the laws' own as they are). From then on the laws belong to the composition: what they are told
    comes from its settings. The growth of errors is not known for laws together.

    Raises ArgumentError for laws of other models or periods, and for actuators with two laws.
    """

    Settings = Composed
    type_name = 'composition'

    def __init__(self, laws: Sequence[Controller], settings: Composed | None = None) -> None:
        first = _require_compatible(laws)
        names = first.model.actuator_names
        controlled = [names[k] for law in laws for k in law.controlled]
        if settings is None:
            settings = self.make_settings(first.model)
            settings = settings.replace(laws=tuple(law.settings for law in laws))
        self.laws, ends = tuple(laws), np.cumsum([len(law.controlled) for law in laws])
        self._columns = [np.arange(end - len(law.controlled), end) for law, end in zip(laws, ends)]
        super().__init__(
            first.model, period=first.period, controlled=controlled, settings=settings
        )
        self._free = np.setdiff1d(np.arange(first.model.m), self.controlled)
        self._u, self._unmet = np.zeros(first.model.m), np.zeros(first.model.m)
        self._desired = np.zeros((3, len(controlled)))
        self._pushes = self._u.view()  # what laws read as their feed-forward: it changes in place
        self._pushes.flags.writeable = False
        self.use(settings)

    def use(self, settings: Composed) -> None:
        """Replace all settings, those of the laws too, from the next tick on. ArgumentError."""
        if len(settings.laws) != len(self.laws):
            words = f'settings of {len(self.laws)} laws'
            raise ArgumentError('settings.laws', len(settings.laws), words)
        self.settings = settings
        limits = {'lower': settings.lower, 'upper': settings.upper, 'rate': settings.rate}
        for law, own in zip(self.laws, settings.laws):
            law.use(own.replace(feed_forward=self._pushes, **limits))

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        self.last[:] = np.nan if u is None else u
        self._u[:] = self.settings.feed_forward if u is None else u
        for law in self.laws:
            law.start(q, qd, t, u)

    def follow(self, reference: Reference, t: float, ramp: float) -> None:
        """Let each law turn to its coordinates of a reference, see :meth:`Controller.follow`."""
        for law, columns in zip(self.laws, self._columns):
            law.follow(select(reference, columns), t, ramp)

    def desired(self, t: float) -> Matrix:
        """y_d, its rate and acceleration, (3, controlled), at time t [s]."""
        return np.hstack([law.desired(t) for law in self.laws])

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command` for the state (q, qd) at time t [s]; no law, no command."""
        low, high = self._reach()
        u, ok = self._u, True
        u[self._free] = np.clip(self.settings.feed_forward, low, high)[self._free]
        for law, columns in zip(self.laws, self._columns):
            command, own = law.compute(t, q, qd), law.controlled
            ok = ok and command.ok
            u[own], self._unmet[own] = command.u[own], command.unmet[own]
            self._desired[:, columns] = command.desired
        if ok:
            for each in (self, *self.laws):
                each.last[:] = u
        at_limit = ((u <= low) | (u >= high))[self.controlled]
        saturated = int(np.count_nonzero(at_limit))
        return Command(u, command.y, command.velocity, self._desired, self._unmet, saturated, ok)

    def restless(self, q: Vector) -> tuple[complex, ...]:
        """Return the growing rates that each law sees while the others push as they do."""
        return tuple(rate for law in self.laws for rate in law.restless(q))

    def warm(self) -> None:
        """Run every law once, so that no tick has to wait for the compiler."""
        for law in self.laws:
            law.warm()

    def _reach(self) -> tuple[Vector, Vector]:
        """Return the least and the greatest command of this tick (m,) each, by all limits."""
        s, known = self.settings, np.isfinite(self.last)
        step = np.where(known, s.rate * self.period, np.inf)
        last = np.where(known, self.last, 0.0)
        return np.clip(last - step, s.lower, s.upper), np.clip(last + step, s.lower, s.upper)


def _require_compatible(laws: Sequence[Controller]) -> Controller:
    """Return the first of laws that can run together; ArgumentError."""
    if not laws:
        raise ArgumentError('laws', list(laws), 'at least one law')
    owner: dict[str, int] = {}
    for i, law in enumerate(laws):
        if law.model is not laws[0].model:
            raise ArgumentError(f'laws[{i}].model', law.model, 'the very model of the first law')
        if law.period != laws[0].period:
            words = f'{laws[0].period} s, the period of the first law'
            raise ArgumentError(f'laws[{i}].period', law.period, words)
        for name in (law.model.actuator_names[k] for k in law.controlled):
            if name in owner:
                words = f'actuators without a law: laws[{owner[name]}] has {name} already'
                raise ArgumentError(f'laws[{i}].controlled', name, words)
            owner[name] = i
    return laws[0]
