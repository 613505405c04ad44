# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Name the code of an inlined function after all that it depends on.

That is its source, the files that its module imports from, and the types of its arguments. Numba
names functions by a counter instead, by which another process may have named another one.
"""

import functools
import hashlib
import sys
from types import FunctionType
from typing import Any

from numba import types
from softrobot_dynamics.compiling.sources import digest_of, EMITTED_PREFIX, file_of, KNOWN_PACKAGES

_PLAIN_TYPES = types.Number, types.Boolean, types.NoneType, types.Omitted, types.RawPointer


@functools.cache
def code_name(function: FunctionType, arguments: tuple[Any, ...]) -> str | None:
    """
    Return the name of a function's code for arguments of some types of numba.

    It is None for what no other process could find by its import path, or know the types of.
    """
    sources = _sources_of(function)
    described = [_described(each) for each in arguments]
    if sources is None or None in described:
        return None
    facts = '\0'.join([function.__module__, function.__qualname__, *map(str, described)])
    return hashlib.sha256(sources + facts.encode()).hexdigest()[:24]


def _sources_of(function: FunctionType) -> bytes | None:
    """Return a digest of the files that a function depends on; None if that cannot be told."""
    name = function.__module__
    module = sys.modules.get(name)
    found = getattr(module, function.__name__, None)
    if getattr(found, 'py_func', None) is not function or function.__closure__:
        return None
    return _digest_of_imports(name)


@functools.cache
def _digest_of_imports(module: str) -> bytes | None:
    if module.startswith(EMITTED_PREFIX):
        return b''
    own = getattr(sys.modules[module], '__file__', None)
    known = module == '__main__' or module.partition('.')[0] in KNOWN_PACKAGES
    if known or file_of(module) != (own,):
        return None
    source = f'from softrobot_dynamics.compiling.jit import OPTIONS\nimport {module}\n'
    return digest_of(source, EMITTED_PREFIX)


def _described(kind: Any) -> str | None:
    """Return what tells a type from all others, as their names do not; None if nothing does."""
    if isinstance(kind, types.BaseTuple):
        parts = [_described(each) for each in kind.types]
        own = getattr(kind, 'instance_class', tuple)
        if None in parts or not _is_importable(own):
            return None
        return f'{own.__module__}.{own.__name__}{getattr(own, "_fields", ())}{parts}'
    if isinstance(kind, types.Array):
        return repr(kind) if isinstance(kind.dtype, (types.Number, types.Boolean)) else None
    if isinstance(kind, types.CPointer):
        inner = _described(kind.dtype)
        return inner and f'pointer to {inner}'
    return repr(kind) if isinstance(kind, _PLAIN_TYPES) else None


def _is_importable(kind: type) -> bool:
    """Tell whether other processes find a class by its import path."""
    module = kind.__module__
    return module != '__main__' and getattr(sys.modules.get(module), kind.__name__, None) is kind
