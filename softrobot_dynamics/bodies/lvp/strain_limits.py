# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Limits of the strains of a locally volume preserving body, beyond which it would fold."""

from collections.abc import Sequence
from math import pi

import numpy as np
from softrobot_dynamics.annotations import Value, Vector

CHECKED_STATIONS = np.linspace(0.0, 1.0, 65)  # s/L
"""Values of s / L at which strains are checked."""


def violated_limit(
    s: Value, strains: Sequence[Vector], outer: Vector | float, inner: float
) -> str | None:
    """
    Return in words the limit that strains (7, K) at points s (K,) [m] violate, or None.

    Of a cylinder with the radii ``outer`` and ``inner`` [m].
    """
    kx, ky, kz, _, _, stretch, source = strains
    if not stretch.min() > 0.0:
        return f'stretch: a length factor of {stretch.min():.3g}, it must stay > 0'
    if not inner**2 + source.min() >= 0.0:
        return f'source: {source.min():.3g} m^2 closes the cavity, {inner:.3g} m wide'
    bend, radius = np.hypot(kx, ky), np.sqrt(outer**2 + source)
    most = 0.98 * stretch**1.5 / (np.sqrt(3.0) * radius)
    i = np.argmax(bend / most)
    if not bend[i] <= most[i]:
        return (
            f'bend: a curvature of {bend[i]:.4g} 1/m at s = {s[i]:.3g} m; the inner side of a bend'
            f' folds beyond {most[i]:.4g} 1/m where the radius is {radius[i]:.3g} m'
        )
    rate = np.sqrt(bend**2 + kz**2)
    turn = 0.5 * (rate[1:] + rate[:-1]) @ np.diff(s)
    return f'turn: by {turn:.3g} rad, at most 2 pi' if not turn <= 2.0 * pi else None
