# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A picture of what markers are off by, posture by posture, for `softrobot identify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
import numpy as np
from softrobot_dynamics.annotations import Array
from softrobot_dynamics.identification.fitting import Identification
from softrobot_dynamics.identification.validation import Validation


def draw(found: Identification, validation: Validation | None, path: Path) -> None:
    """Draw distances [mm] of markers, by posture: robot file, fit, and on postures not seen."""
    markers, names = found.postures.markers, found.postures.names
    figure = Figure(figsize=(8.0, 1.0 + 1.8 * len(markers)), layout='constrained')
    rows: Any = figure.subplots(len(markers), 1, sharex=True, squeeze=False)[:, 0]
    for k, (axes, marker) in enumerate(zip(rows, markers)):
        axes.plot(_distance(found.before[:, k]), 'o', color='0.75', label='robot file')
        axes.plot(_distance(found.residuals[:, k]), 'o', color='C0', label='fit')
        if validation:
            unseen = _distance(validation.residuals[:, k])
            axes.plot(unseen, 'x', color='C3', label='posture not seen')
        axes.set(ylabel=f'{marker.name} [mm]', ylim=(0.0, None))
    rows[0].legend(ncols=3, frameon=False, loc='lower center', bbox_to_anchor=(0.5, 1.0))
    rows[-1].set_xticks(np.arange(len(names)), names, rotation=90 * (len(names) > 12))
    rows[-1].set_xlabel('posture')
    figure.savefig(path, dpi=120)


def _distance(residuals: Array) -> Array:
    """Return lengths (P,) [mm] of residuals (P, 3) [m]."""
    return 1e3 * np.linalg.norm(residuals, axis=-1)
