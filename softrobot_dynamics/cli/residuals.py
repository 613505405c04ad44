# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Draw the residuals of markers and coordinates, for `softrobot identify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.identification.fitting import Data, Identification, of_markers
from softrobot_dynamics.identification.motions import Motion
from softrobot_dynamics.identification.validation import Validation


def draw(found: Identification, validation: Validation | None, path: Path) -> None:
    """Draw residuals of markers and coordinates: of robot file, fit and cross-validation."""
    data = found.data
    t = data.times if isinstance(data, Motion) else np.arange(len(data))
    style, cross = ('-', '-') if isinstance(data, Motion) else ('o', 'x')
    unseen: list[Any] = [None] * len(_sizes(data, found.all_residuals))
    if validation:
        unseen = [size for _, size in _sizes(data, validation.all_residuals)]
    each = found.all_initial_residuals, found.all_residuals
    panels = list(zip(*(_sizes(data, residuals) for residuals in each), unseen))
    figure = Figure(figsize=(8.0, 1.0 + 1.8 * len(panels)), layout='constrained')
    rows: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, ((name, before), (_, fit), missed) in zip(rows, panels):
        axes.plot(t, before, style, color='0.75', label='robot file')
        axes.plot(t, fit, style, color='C0', label='fit')
        if missed is not None:
            axes.plot(t, missed, cross, color='C3', label='not seen')
        axes.set(ylabel=name, ylim=(0.0, None))
    rows[0].legend(ncols=3, frameon=False, loc='lower center', bbox_to_anchor=(0.5, 1.0))
    if isinstance(data, Motion):
        rows[-1].set_xlabel('time [s]')
    else:
        rows[-1].set_xticks(t, data.names, rotation=90 * (len(data) > 12))
        rows[-1].set_xlabel('posture')
    figure.savefig(path, dpi=120)


def _sizes(data: Data, residuals: Matrix) -> list[tuple[str, Vector]]:
    """Return name and sizes (P,) of the residuals of each marker and coordinate."""
    far = np.linalg.norm(of_markers(data, residuals), axis=-1)
    others = residuals[:, 3 * len(data.markers) :]
    found = [(f'{each.name} [mm]', 1e3 * far[:, k]) for k, each in enumerate(data.markers)]
    return found + [(c.name, np.abs(others[:, j])) for j, c in enumerate(data.coordinates)]
