# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Join the records of the two nodes of a run tick by tick."""

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.loops.realtime import SECOND
from softrobot_dynamics.recordings.reading import read_recording, Recording

RUNNING, DRIVEN = 'running', 'driven by commands'  # the modes in which the loop is closed
OVERDUE_MODES = 'no valid state', 'the last command is too old'  # of a loop that was kept waiting
RECORD_FILES = ('simulation.mcap', 'controller.mcap')


class Run(NamedTuple):
    """A closed loop from the first state that the controller answered: T states, one a row."""

    coordinates: tuple[str, ...]  # names (n,)
    actuators: tuple[str, ...]  # names (m,)
    period: float  # between two states [s]
    t: Vector  # (T,) time of the reference [s]
    simulated: Vector  # (T,) that of the simulation [s], by which obstacles move
    q: Matrix  # (T, n)
    u: Matrix  # (T, m) as the simulation applied it
    y: Matrix  # (T, m); nan where the controller did not see the state
    y_d: Matrix  # (T, c) of the controlled actuators; nan likewise
    round_trip: Vector  # (T,) [s]; nan where no command came before the next state
    slipped: float  # [s] that the simulation lost by waking more than a period late
    lapses: tuple[str, ...]  # in words, modes of the two nodes in which the loop is not closed
    timing: str | None = None  # from when on commands act, of TIMINGS; None: it was not recorded
    bus_rate: float = 0.0  # [Hz] at which the drives take a command, 0: at any time
    ticks_without_state: int = 0  # ticks in which no state left that a command could have answered
    live: bool = True  # whether it ran in real time, so that a machine can be too slow for it

    @property
    def ticks(self) -> int:
        """The number of states that were to be answered."""
        return len(self.t) - self.ticks_without_state

    @property
    def missed(self) -> int:
        """The number of those that had no command in time."""
        return int(np.isnan(self.round_trip).sum()) - self.ticks_without_state


def read(folder: str | PathLike[str], duration: float | None = np.inf) -> Run:
    """Return the Run in a demo's folder, its first `duration` [s]; ArgumentError if none is."""
    try:
        simulation, controller = (read_recording(Path(folder) / name) for name in RECORD_FILES)
    except ArgumentError as error:
        words = f'a folder that `softrobot demo` has written its records to ({error})'
        raise ArgumentError('folder', str(folder), words) from error
    return join(simulation, controller, duration)


def join(simulation: Recording, controller: Recording, duration: float | None = np.inf) -> Run:
    """
    Return the Run of both nodes' Recordings, at most `duration` [s] of it.

    The stamps say which state a row of the controller's is about: exactly, or if it receives
    estimates, to half a period. There may be no row at all.
    """
    period = simulation.facts['period']
    mode = controller.facts['modes'].index(RUNNING)
    running = controller['stamp'][controller['mode'] == mode]
    first, last = running[[0, -1]].tolist() if len(running) else (0, -SECOND)
    end = min((last - first) / SECOND + 0.5 * period, duration - 0.5 * period)

    def within(recording: Recording) -> Any:
        """Return (times, columns) of the rows of a recording that are in the run."""
        t = (recording['stamp'] - first) / SECOND  # as the controller counts along the reference
        rows = (t > -0.5 * period) & (t < end)
        return t[rows], {name: values[rows] for name, values in recording.columns.items()}

    (t, seen), (_, said) = within(simulation), within(controller)
    late = seen['late']
    near = 0.5 * period * SECOND
    ticks_without_state = seen.get('asked', np.ones(len(late))) == 0
    y, y_d = (_matched(seen['stamp'], said['stamp'], said[name], near) for name in ('y', 'y_d'))
    return Run(
        coordinates=tuple(simulation.facts['coordinate_names']),
        actuators=tuple(simulation.facts['actuator_names']),
        period=period,
        t=t,
        simulated=seen['t'],
        q=seen['q'],
        u=seen['u'],
        y=y,
        y_d=y_d,
        round_trip=seen['round_trip'],
        slipped=float(late[late > period].sum()),
        lapses=(
            *_lapses(controller, said if len(running) else controller.columns, RUNNING),
            *_lapses(simulation, seen, DRIVEN),
        ),
        timing=simulation.facts.get('command_timing'),
        bus_rate=simulation.facts.get('bus_rate', 0.0),
        ticks_without_state=int((ticks_without_state & np.isnan(seen['round_trip'])).sum()),
    )


def _matched(stamps: Vector, own: Vector, values: Matrix, near: float) -> Any:
    """Return the row whose stamp of `own` is nearest to each of `stamps`, nan if none is near."""
    matched = np.full((len(stamps), values.shape[1]), np.nan)
    if len(own):
        order = np.argsort(own, kind='stable')
        after = np.searchsorted(own[order], stamps).clip(1, max(1, len(own) - 1))
        both = order[np.array([after - 1, np.minimum(after, len(own) - 1)])]
        off = np.abs(own[both] - stamps)
        rows = np.where(off[0] <= off[1], both[0], both[1])
        there = off.min(axis=0) < near
        matched[there] = values[rows[there]]
    return matched


def _lapses(
    recording: Recording, columns: Mapping[str, NDArray[Any]], wanted: str
) -> Iterator[str]:
    """Yield the modes other than the wanted one, from when on it had been reached, if it was."""
    modes, names = columns['mode'], recording.facts['modes']
    reached = np.flatnonzero(modes == names.index(wanted))
    for mode in np.unique(modes[reached[0] if len(reached) else 0 :]):
        if names[mode] != wanted:
            yield f'{recording.facts["node"]}: {names[mode]}'
