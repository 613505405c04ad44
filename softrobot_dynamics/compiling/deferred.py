# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What numba makes of functions, made when something is compiled that uses it.

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

    ``py_func`` is the function as it was written, ``made`` what ``decorate`` has made of it.
    """

    def __init__(
        self, function: Callable[..., Any], decorate: Callable[[Callable[..., Any]], Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._decorate = function, decorate

    def __call__(self, *arguments: Any) -> Any:
        """Call what is made of the function."""
        return self.made(*arguments)

    @functools.cached_property
    def made(self) -> Any:
        """What numba has made of the function."""
        return self._decorate(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """The type of what is made of the function, which numba asks objects for by this name."""
        from softrobot_dynamics.compiling.compiler import type_of

        return type_of(self.made)
