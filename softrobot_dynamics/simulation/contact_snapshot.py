# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""State and contact forces of a simulator, handed from the thread that steps to another."""

from __future__ import annotations

from threading import Event
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.simulation.simulator import Simulator


class ContactReading(NamedTuple):
    """The state after a step, and the C contacts that pushed in it."""

    stamp: int  # [ns] of the state
    time: float  # [s] that has been simulated, by which obstacles move
    q: Vector  # (n,)
    qd: Vector  # (n,)
    pairs: Integers  # (C,) rows of the contact plan
    points: Matrix  # (C, 3) [m] base frame
    forces: Matrix  # (C, 3) [N] normal force and friction on the first of each pair, base frame


class ContactSnapshot:
    """
    Copies state and contact forces of a simulator on request.

    :meth:`request` is for the thread that reads; :meth:`take` for the one that steps, which looks
    at ``requested`` after a step: it copies into arrays that are there, and waits for nobody.
    Forces are those of steps of equal length.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.requested = False
        self._simulator, self._taken, self._stamp = simulator, Event(), 0
        self._time = 0.0
        self._q, self._qd = simulator.q.copy(), simulator.qd.copy()
        contact = simulator.contact
        self._sources = () if contact is None else (contact.force, contact.point, contact.pushes)
        self._copies = tuple(np.zeros_like(each) for each in self._sources)

    def take(self, stamp: int) -> None:
        """Copy what there is after a step, whose state has a stamp [ns]."""
        self._q[:], self._qd[:] = self._simulator.q, self._simulator.qd
        for copy, source in zip(self._copies, self._sources):
            copy[:] = source
        self._time = self._simulator.time
        self._stamp, self.requested = stamp, False
        self._taken.set()

    def request(self, patience: float) -> ContactReading | None:
        """Return the reading after the next step; None if there is none within so long [s]."""
        self._taken.clear()
        self.requested = True
        if not self._taken.wait(patience):
            return None
        q, qd = self._q.copy(), self._qd.copy()
        if not self._copies:
            none = np.zeros((0, 3))
            pairs = np.zeros(0, dtype=int)
            return ContactReading(self._stamp, self._time, q, qd, pairs, none, none)
        force, points, pushes = self._copies
        pairs = np.flatnonzero(force > 0.0)
        points, pushes = points[pairs], pushes[pairs]
        return ContactReading(self._stamp, self._time, q, qd, pairs, points, pushes)
