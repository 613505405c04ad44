# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Functions that are decorated for numba no sooner than something is compiled that uses them.

To import numba takes longer than all else that a start with a full kernel cache needs, and each
function that it decorates takes time as well. So modules of kernels hold :class:`Deferred`, and
import no numba themselves.
"""

from collections.abc import Callable
import functools
from typing import Any


class Deferred:
    """
    A function that is decorated for numba when numba, or a call from Python, asks for it.

    ``py_func`` is the function as it was written, ``made`` the result of ``decorate``.
    """

    def __init__(
        self, function: Callable[..., Any], decorate: Callable[[Callable[..., Any]], Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._decorate = function, decorate

    def __call__(self, *arguments: Any) -> Any:
        """Call the dispatcher."""
        return self.made(*arguments)

    @functools.cached_property
    def made(self) -> Any:
        """The dispatcher or the intrinsic that numba has made of the function."""
        return self._decorate(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """Type of the dispatcher or the intrinsic; numba asks objects for it by this name."""
        from softrobot_dynamics.compiling.numba_types import type_of

        return type_of(self.made)
