# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What the two nodes of a demo recorded, joined tick by tick."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.errors import ArgumentError

RUNNING, DRIVEN = 'running', 'driven by commands'  # the modes in which the loop is closed
FILES = ('simulation.npz', 'controller.npz')


class Run(NamedTuple):
    """A closed loop from the first state that the controller answered: T states, one a row."""

    coordinates: tuple  # names (n,)
    actuators: tuple  # names (m,)
    period: float  # between two states [s]
    t: np.ndarray  # (T,) time of the reference [s]
    q: np.ndarray  # (T, n)
    u: np.ndarray  # (T, m) as the simulation applied it
    y: np.ndarray  # (T, m); nan where the controller did not see the state
    y_d: np.ndarray  # (T, c) of the controlled actuators; nan likewise
    round_trip: np.ndarray  # (T,) [s]; nan where no command came before the next state
    slipped: float  # [s] that the simulation lost by waking more than a period late
    lapses: tuple  # in words, modes of the two nodes in which the loop is not closed


def read(folder, duration=np.inf):
    """Return the Run in a demo's folder, its first `duration` [s]; ArgumentError if none is."""
    try:
        simulation, controller = (_columns(Path(folder) / name) for name in FILES)
    except (OSError, ValueError) as error:
        words = f'a folder that `softrobot demo` has written its records to ({error})'
        raise ArgumentError('folder', str(folder), words) from error
    return join(simulation, controller, duration)


def join(simulation, controller, duration=np.inf):
    """
    Return the Run of both nodes' columns by name, at most `duration` [s] of it.

    The stamps say which state a row of the controller's is about. There may be no row at all.
    """
    period = float(simulation['period'])
    running = np.flatnonzero(_in_mode(controller, RUNNING))
    first, last = (controller['stamp'][running[[0, -1]]]) if len(running) else (0.0, -1.0)
    t = np.round((simulation['stamp'] - first) / period) * period
    end = min(last - first + 0.5 * period, duration - 0.5 * period)
    rows = np.flatnonzero((t > -0.5 * period) & (t < end))
    seen = np.round((controller['stamp'] - first) / period) * period
    seen = np.flatnonzero((seen > -0.5 * period) & (seen < end))
    simulation, controller = _rows(simulation, rows), _rows(controller, seen)
    late = simulation['late']
    return Run(
        tuple(map(str, simulation['coordinate_names'])),
        tuple(map(str, simulation['actuator_names'])),
        period,
        t[rows],
        simulation['q'],
        simulation['u'],
        *(_matched(controller, simulation, name) for name in ('y', 'y_d')),
        simulation['round_trip'],
        float(late[late > period].sum()),
        (*_lapses('controller', controller, RUNNING), *_lapses('simulation', simulation, DRIVEN)),
    )


def _columns(path):
    with np.load(path) as file:
        return dict(file)


def _rows(columns, rows):
    """Return the columns with some rows only, and what is no column as it is."""
    count = len(columns['stamp'])
    return {
        name: values[rows] if np.ndim(values) and _is_column(name, values, count) else values
        for name, values in columns.items()
    }


def _is_column(name, values, count):
    return len(values) == count and name not in ('modes', 'coordinate_names', 'actuator_names')


def _in_mode(columns, mode):
    return columns['mode'] == list(columns['modes']).index(mode)


def _matched(controller, simulation, name):
    """Return a column of the controller's for every state of the simulation, nan where none."""
    matched = np.full((len(simulation['stamp']), controller[name].shape[1]), np.nan)
    if len(controller['stamp']) and len(matched):
        places = np.searchsorted(
            simulation['stamp'], controller['stamp'] - 0.5 * float(simulation['period'])
        )
        matched[places] = controller[name]
    return matched


def _lapses(node, columns, wanted):
    """Yield the modes other than the wanted one, from when on it had been reached."""
    modes = columns['mode'].astype(int)
    reached = np.flatnonzero(_in_mode(columns, wanted))
    for mode in np.unique(modes[reached[0] :]) if len(reached) else ():
        name = str(columns['modes'][mode])
        if name != wanted:
            yield f'{node}: {name}'
