# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Functions compiled by numba whose machine code is kept in the kernel cache.

Instead of numba's own files, which block every start once they are damaged, or the disk is full.
One file holds the code for one signature; its name says of which module, and so of which sources.
"""

from collections.abc import Callable
import functools
import hashlib
from pathlib import Path
import pickle
from typing import Any

from numba import njit
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from softrobot_dynamics.compiling import folder
from softrobot_dynamics.compiling.lookups import fast_lookups


def for_python(types: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator: as ``numba.njit``, for a function of an emitted module.

    Compiled at the first call, or at once for arguments of given ``types``.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        program: Any = njit(**options)(function)
        program._cache = MachineCode(function)
        program.compile = _fast(program.compile)  # asked by numba at the first call
        if types is not None:
            program.compile(types)
        return program

    return compiled


def by_address(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator: as ``numba.cfunc``, for a function of an emitted module."""

    def compiled(function: Callable[..., Any]) -> Any:
        program: Any = CFunc(function, normalize_signature(signature), locals={}, options=options)
        program._cache = MachineCode(function)
        _fast(program.compile)()
        return program

    return compiled


def _fast(compile_it: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compile_it)
    def compiled(*arguments: Any) -> Any:
        with fast_lookups():
            return compile_it(*arguments)

    return compiled


class MachineCode(NullCache):
    """What numba asks for machine code of a function before it compiles, and gives it after."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f'{function.__module__}.{function.__qualname__}'

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was saved for a signature; None if there is nothing that can be used."""
        target_context.refresh()
        path = self._path(sig)
        content = folder.read(path) if path else None
        if content is None:
            return None
        try:
            saved, payload = pickle.loads(content)
            found = CompileResult._rebuild(target_context, *payload)
        except (ImportError, AttributeError):  # a class of an argument has moved since
            return None
        return found if saved == repr(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled for a signature."""
        path = self._path(sig)
        if path and not data.library.has_dynamic_globals:  # addresses of this process
            folder.write(path, dumps((repr(sig), data._reduce())))

    def _path(self, sig: Any) -> Path | None:
        """Return the file of a signature; None without a folder."""
        own, digest = folder.own_folder(), hashlib.sha256(repr(sig).encode()).hexdigest()[:16]
        return own and own / f'{self._name}-{digest}.nbc'
