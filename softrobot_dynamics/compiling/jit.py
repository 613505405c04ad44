# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compile kernels: the one place that decides on numba's options.

``kernel``: no fastmath beyond fused multiply-add, so that NaN stays NaN and a check for it is not
optimised away; division by zero gives inf as in numpy; the GIL is released; without numba's
runtime, which counts references of every slice passed on, atomically. So what would allocate does
not compile: kernels fill arrays that they are given, copy by ``linalg.copy``, and return no
arrays.
``inlined``: the same for what is small, called often, or called within a loop over points.
``reduction``: full fastmath, which lets the compiler reorder sums over quadrature points and
thereby vectorise them; only for plain sums.
``summing``: emitted loops that compute what they add up. They may be reordered as well, but NaN
stays NaN.

All of them are compiled for compiled callers only: into what is linked into these, and no further.
What lets Python or C call a function, and machine code that nobody would run, cost time. A call
from Python compiles them once more. `benchmarks/compiling.py` says what each of these gains.

Numba's cache would not notice an edited callee. What Python calls is emitted into a module that is
named after all its sources instead (:mod:`softrobot_dynamics.compiling.cache`), and so is the code
for compiled callers (:mod:`softrobot_dynamics.compiling.code_names`), which other processes link.
"""

from collections.abc import Callable
import os
from types import FunctionType
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.deferred import Deferred

if os.environ.get('NUMBA_DISABLE_JIT'):  # it is refused
    from softrobot_dynamics.compiling import compiler  # noqa: F401

OPTIONS = {'nogil': True, '_nrt': False, 'error_model': 'numpy', 'fastmath': {'contract'}}

P = ParamSpec('P')
R = TypeVar('R', covariant=True)


class Compiled(Protocol[P, R]):
    """A function that is compiled, and ``py_func``, the same in Python."""

    __name__: str
    py_func: FunctionType

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it as it was written."""


def inner(**options: Any) -> Callable[[Callable[P, R]], Compiled[P, R]]:
    """Return a decorator: as ``numba.njit`` with these options, but for compiled callers."""

    def decorate(function: Callable[P, R]) -> Any:
        """Return numba's dispatcher of a function."""
        from softrobot_dynamics.compiling import compiler

        return compiler.inner(**options)(function)

    return lambda function: Deferred(function, decorate)  # type: ignore[return-value]


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a deferred function that stands for the intrinsic of the same name.

    It is in :mod:`.address_intrinsics` or :mod:`.python_intrinsics`.
    """

    def find(function: Callable[..., Any]) -> Any:
        """Return the intrinsic, which imports numba."""
        from softrobot_dynamics.compiling import address_intrinsics, python_intrinsics

        name = function.__name__
        return getattr(address_intrinsics, name, None) or getattr(python_intrinsics, name)

    return Deferred(function, find)


kernel = inner(**OPTIONS)
inlined = inner(forceinline=True, **OPTIONS)
reduction = inner(**{**OPTIONS, 'fastmath': True})
summing = inner(**{**OPTIONS, 'fastmath': {'contract', 'reassoc'}})


class Kernel(NamedTuple):
    """
    A compiled function by its import path, the numbers it reads and the scratch it needs.

    Equal ``module`` and ``function`` mean the same code, and so the same address.
    """

    module: str
    function: str
    parameters: Vector
    scratch: int = 0
