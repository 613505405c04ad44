# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Choose how numba is used: by its internals where they are tested, else by its public decorators.

``inner(**options)``, ``for_python(**options)`` and ``by_address(signature, **options)`` are
decorators of the same meaning in both. Either way kernels give the same numbers. It is imported,
and numba with it, when something is compiled.
"""

import numba
from softrobot_dynamics.compiling.numba_versions import is_tested, TESTED_RANGE
from softrobot_dynamics.compiling.warnings_once import warn_once
from softrobot_dynamics.errors import ArgumentError

if numba.config.DISABLE_JIT:
    raise ArgumentError(
        'NUMBA_DISABLE_JIT',
        numba.config.DISABLE_JIT,
        '0, or no such variable: kernels call each other by address, which takes compiled code',
    )
if is_tested(numba.__version__):
    from softrobot_dynamics.compiling.dispatchers import (
        by_address,
        for_python,
        inner,
        register_helpers,
    )
else:
    from softrobot_dynamics.compiling.public_dispatchers import (
        by_address,
        for_python,
        inner,
        register_helpers,
    )

    warn_once(
        'numba',
        f'numba {numba.__version__} is not one of the tested versions ({TESTED_RANGE}), so its '
        'internals are not used: kernels are compiled anew in every process, which takes longer, '
        f'and they run more slowly; their results are the same. Install {TESTED_RANGE} to change '
        'that',
    )

__all__ = ['by_address', 'for_python', 'inner', 'register_helpers']
