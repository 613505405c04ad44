# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compile kernels with the public decorators of numba alone, for versions that are not tested.

The counterpart of :mod:`.dispatchers`. Every function becomes machine code of its own, slices are
counted as references, and no machine code is kept for other processes.
"""

from collections.abc import Callable
import functools
from typing import Any

from numba import cfunc, njit
from numba.extending import register_jitable
from softrobot_dynamics.compiling.numba_types import type_of

_PRIVATE_OPTIONS = {'_nrt'}  # of numba, not in its documentation


class RegisteredFunction:
    """A function as numba compiles it, but not for Python until Python calls it."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self._options = function, options
        register_jitable(**options)(function)

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    @functools.cached_property
    def _for_python(self) -> Any:
        return njit(**self._options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """Type of the function; numba asks objects for it by this name."""
        return type_of(self.py_func)


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function that compiled functions call: ``register_jitable``.

    If Python calls it, it is compiled once more.
    """
    return functools.partial(RegisteredFunction, options=_public(options))


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
