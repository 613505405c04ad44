# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The folder of a study: its facts, and a line for each run, written as it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import contextlib
import csv
import fcntl
import io
import json
import math
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.studies.trial import Experiment, Outcome, STATES

FACTS_FILE, RUNS_FILE = 'study.json', 'runs.csv'
# of the file, for the fields of an Outcome in their order; ``error_ratio`` is called share there
_OUTCOME_COLUMNS = 'state', 'share', 'tip_rms_m', 'saturated', 'unanswered', 'reason'
_RESERVED_COLUMNS = ('run', *_OUTCOME_COLUMNS)


class RunTable:
    """The runs that are done, {number: Outcome}, in a folder or, without one, in memory only."""

    def __init__(self, experiment: Experiment, file: TextIO | None = None) -> None:
        self.done: dict[int, Outcome] = {}
        self._experiment, self._file = experiment, file

    def add(self, number: int, outcome: Outcome) -> None:
        """Note a run; it is on its way to the disk when this returns."""
        self.done[number] = outcome
        if self._file is not None:
            values = self._experiment.values[number]
            self._file.write(_line([number, *map(float, values), *_values_of(outcome)]))
            self._file.flush()


@contextlib.contextmanager
def open_run_table(
    experiment: Experiment, folder: str | PathLike[str] | None
) -> Iterator[RunTable]:
    """
    Yield the :class:`RunTable` of an experiment, with the runs that are in the folder already.

    ArgumentError for a folder that cannot be written to, that holds another study, or that
    another process writes to.
    """
    if folder is None:
        yield RunTable(experiment)
        return
    path = Path(folder).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True)
        file = open(path / RUNS_FILE, 'a+', newline='', encoding='utf-8')
    except OSError as error:
        raise ArgumentError('output', str(folder), f'a folder to write to ({error})') from error
    with file:
        _lock(file, folder)
        _claim(path, experiment)
        found = RunTable(experiment, file)
        found.done |= _resume(file, experiment)
        yield found


def _lock(file: TextIO, folder: str | PathLike[str]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # gone with the process, however it ends
    except OSError as error:
        words = 'a folder that no other study is writing to'
        raise ArgumentError('output', str(folder), words) from error


def facts_of(experiment: Experiment) -> dict[str, Any]:
    """Return all that the runs depend on, as it is written down."""
    own, plant = experiment.description.digest, experiment.plant.digest
    parameters = {name: x for name, x in experiment.parameters.items() if not _is_nan(x)}
    return {
        'robot': experiment.robot,
        'digest of the robot file': experiment.description.digest,
        'digest of another plant': None if own == plant else plant,
        'parameters': json.loads(json.dumps(parameters)),
        'simulation': _simulated(experiment),
        'vary': [list(map(str, factor)) for factor in experiment.factors],
        'design': experiment.design,
        'runs': experiment.values.tolist(),
        'seconds': experiment.seconds,
        'tolerance': experiment.tolerance,
    }


def _simulated(experiment: Experiment) -> Any:
    """Return the parameters of the simulated robot in a file, None for none."""
    given = experiment.given
    said = {
        'bus': given.bus,
        'sensors': {k: np.asarray(x).tolist() for k, x in given.sensors.items()},
    }
    return {**said, **given.substep} if given.bus or given.sensors or given.substep else None


def _claim(path: Path, experiment: Experiment) -> None:
    """Write the facts of a study to its folder, or check that they are equal; ArgumentError."""
    facts, file = facts_of(experiment), path / FACTS_FILE
    try:
        before = json.loads(file.read_text(encoding='utf-8')) if file.exists() else None
    except ValueError as error:
        raise ArgumentError('output', str(path), f'a folder of this study ({error})') from error
    if before is None:
        file.write_text(json.dumps(facts, indent=1) + '\n', encoding='utf-8')
        return
    other = [name for name, value in facts.items() if before.get(name) != value]
    if other:
        words = f'an empty folder, or that of the same study: its {", ".join(other)} differ'
        raise ArgumentError('output', str(path), words)


def _resume(file: TextIO, experiment: Experiment) -> dict[int, Outcome]:
    """Return the runs in a file that is open, which ends with its last whole line from now on."""
    file.seek(0)
    text = file.read()
    whole = text[: text.rfind('\n') + 1]  # a process was killed while it wrote
    header = _line(
        ['run', *(factor.name for factor in experiment.factors), *_RESERVED_COLUMNS[1:]]
    )
    if whole != text or not whole:
        file.truncate(len(whole.encode()))
        if not whole:
            file.write(header)
            file.flush()
    rows = csv.DictReader(io.StringIO(whole))
    return {int(row['run']): _outcome(row) for row in rows}


def _outcome(row: dict[str, str]) -> Outcome:
    ratio, tip, saturated, unanswered = (float(row[name]) for name in _OUTCOME_COLUMNS[1:-1])
    state = STATES.index(row['state'])
    return Outcome(state, ratio, tip, saturated, unanswered, row['reason'])


def _values_of(outcome: Outcome) -> list[Any]:
    return [STATES[outcome.state], *outcome[1:]]


def _line(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerow(cells)
    return text.getvalue()


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
