# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write the figures of a run as JSON, and its ticks as CSV."""

from __future__ import annotations

from collections.abc import Sequence
import csv
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from softrobot_dynamics.evaluation.records import Run
from softrobot_dynamics.evaluation.tracking import Figures, Tips


def write_json(path: Path, figures: Figures) -> None:
    """Write the Figures as JSON; None becomes null."""
    text = json.dumps(figures._asdict(), indent=2, allow_nan=False)
    path.write_text(text + '\n', encoding='utf-8')


def write_csv(
    path: str | PathLike[str], run: Run, controlled: Sequence[int], tips: Tips | None = None
) -> None:
    """Write one line for every tick, in SI units and the units of the actuators."""
    names = [run.actuators[i] for i in controlled]
    columns = {
        't': run.t,
        **{f'q/{name}': q for name, q in zip(run.coordinates, run.q.T)},
        **{f'u/{name}': u for name, u in zip(run.actuators, run.u.T)},
        **{f'y/{name}': y for name, y in zip(run.actuators, run.y.T)},
        **{f'y_d/{name}': y for name, y in zip(names, run.y_d.T)},
        **({} if tips is None else _tip_columns(tips)),
        'round_trip': run.round_trip,
    }
    with open(path, 'w', newline='', encoding='utf-8') as file:
        csv.writer(file).writerow(columns)
        np.savetxt(file, np.column_stack(list(columns.values())), fmt='%.9g', delimiter=',')


def _tip_columns(tips: Tips) -> dict[str, Any]:
    """Return the tips by name: tip/x, ..., or tip1/x, ... where there are several."""
    several = tips.points.shape[1] > 1
    columns = {
        f'tip{i + 1 if several else ""}/{axis}': values
        for i, points in enumerate(tips.points.transpose(1, 2, 0))
        for axis, values in zip('xyz', points)
    }
    return {**columns, 'tip_error': tips.errors}
