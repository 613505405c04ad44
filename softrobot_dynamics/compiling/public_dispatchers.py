# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compile kernels with the public decorators of numba alone, for versions that are not tested.

The counterpart of :mod:`.dispatchers`. Every function is made ready to be called from Python,
slices are counted as references, and no machine code is kept for other processes.
"""

from collections.abc import Callable
from typing import Any

from numba import cfunc, njit

_PRIVATE_OPTIONS = {'_nrt'}  # of numba, not in its documentation


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a function that compiled functions call: ``numba.njit``."""
    return njit(**_public(options))


def for_python(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a function that Python calls: ``numba.njit``."""
    return njit(**_public(options))


def by_address(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a function that is called by its ``address``: ``numba.cfunc``."""
    return cfunc(signature, **_public(options))


def register_helpers() -> None:
    """Do nothing: no machine code is kept that would call them."""


def _public(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _PRIVATE_OPTIONS}
