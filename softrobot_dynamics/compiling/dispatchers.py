# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Decorators that make functions callable: by compiled functions, by Python, and by their address.

Each returns one of numba's dispatchers, extended; :mod:`.public_dispatchers` has the same
decorators with numba's own. Machine code is kept by :mod:`.machine_code`.
"""

from collections.abc import Callable
import functools
from typing import Any

from numba import njit
from softrobot_dynamics.compiling.code_names import code_name
from softrobot_dynamics.compiling.lowering.internals import (
    CFunc,
    CompileResult,
    cpu_target,
    CPUDispatcher,
    normalize_signature,
)
from softrobot_dynamics.compiling.lowering.pipeline import (
    CFunctionCompiler,
    InlinedCompiler,
    KernelCompiler,
)
from softrobot_dynamics.compiling.machine_code import InlinedBitcode, MachineCode, ObjectCode

_FOR_COMPILED_CALLERS = {'nopython': True, 'no_cpython_wrapper': True, 'no_cfunc_wrapper': True}


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function that compiled functions call: ``numba.njit`` for these.

    If Python calls it, it is compiled once more.
    """
    given = {**options, **_FOR_COMPILED_CALLERS}
    return functools.partial(InlinedFunction, targetoptions=given, pipeline_class=NamedCompiler)


def for_python(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function of an emitted module that Python calls: ``numba.njit``.

    It is compiled at the first call. Its machine code is kept in the kernel cache.
    """
    return lambda function: CachedFunction(function, {'nopython': True, **options})


def by_address(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function of an emitted module that is called by its ``address``.

    As ``numba.cfunc``. Its machine code is kept in the kernel cache.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        """Return the function, compiled now."""
        program = CachedCFunction(function, signature, options)
        program.compile()
        return program

    return compiled


class NamedCompiler(InlinedCompiler):
    """Compiler of inlined functions that are named after all that their code depends on."""

    def lasting_name(self, func: Callable[..., Any]) -> str | None:
        """Return the name of the code of a function."""
        return code_name(func, tuple(self.state.args))


class InlinedFunction(CPUDispatcher):
    """A function as numba compiles it, but not for Python until Python calls it."""

    def __init__(
        self, function: Callable[..., Any], targetoptions: dict[str, Any], **others: Any
    ) -> None:
        super().__init__(function, targetoptions=targetoptions, **others)
        self._cache = InlinedBitcode(function, targetoptions)

    def add_overload(self, cres: CompileResult) -> None:
        """Keep the compiled code for compiled callers."""
        self.overloads[cres.signature.args] = cres

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    @functools.cached_property
    def _for_python(self) -> Any:
        options = self.targetoptions.items()
        own = {name: value for name, value in options if name not in _FOR_COMPILED_CALLERS}
        return njit(**own)(self.py_func)


class CachedFunction(CPUDispatcher):
    """A function that Python calls; its machine code is in the kernel cache."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = {**options, 'no_cfunc_wrapper': True}  # only Python calls it
        super().__init__(function, targetoptions=options, pipeline_class=KernelCompiler)
        self._cache = MachineCode(function)


class CachedCFunction(CFunc):
    """A function that is called by its address; its machine code is in the kernel cache."""

    def __init__(
        self, function: Callable[..., Any], signature: Any, options: dict[str, Any]
    ) -> None:
        super().__init__(
            function,
            normalize_signature(signature),
            locals={},
            options=options,
            pipeline_class=CFunctionCompiler,
        )
        self._cache = ObjectCode(function)


def register_helpers() -> None:
    """Have LLVM find the functions of numba and Python that machine code may call."""
    cpu_target.target_context  # noqa: B018 (making it registers them)
