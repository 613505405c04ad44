# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
How we compile: the one place that decides on numba's options.

``kernel``: no fastmath beyond fused multiply-add, so that NaN stays NaN and a check for it is not
optimised away; division by zero gives inf as in numpy; the GIL is released; without numba's
runtime, whose atomic reference counts of every slice passed on would take half of the time. So
what would allocate does not compile: kernels fill arrays that they are given, copy by
``linalg.copy``, and return no arrays.
``inlined``: the same for what is small, called often, or called within a loop over points.
``reduction``: full fastmath, which lets the compiler reorder sums over quadrature points and
thereby vectorise them (three to four times faster); only for plain sums.
``SUMS``: options of emitted loops that compute what they add up. They may be reordered as well,
but NaN stays NaN.

Neither caches by itself: a cached caller would not notice an edited callee. What Python calls is
emitted into a folder named after all sources instead (:mod:`softrobot_dynamics.kinematics.cache`).
"""

from typing import NamedTuple

from numba import njit
import numpy as np

OPTIONS = {'nogil': True, '_nrt': False, 'error_model': 'numpy', 'fastmath': {'contract'}}

kernel = njit(**OPTIONS)
inlined = njit(forceinline=True, **OPTIONS)
reduction = njit(**{**OPTIONS, 'fastmath': True})
SUMS = {**OPTIONS, 'fastmath': {'contract', 'reassoc'}}


class Kernel(NamedTuple):
    """
    A compiled function by its import path, the numbers it reads and the scratch it needs.

    Equal ``module`` and ``function`` mean the same code, and so the same address.
    """

    module: str
    function: str
    parameters: np.ndarray
    scratch: int = 0
