# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What numba looks up at every operation while it infers types, found fast.

Numba compares its flags at each of them, option by option through properties, and tries all that a
`+` may mean in turn, each time anew. That is more than a third of all that compilation takes. Here
the same flags are compared as dictionaries, and what an operation on plain numbers and arrays
means is kept: only while kernels of ours are compiled, and numba is as it was before and after.
"""

from collections.abc import Iterator
import contextlib
import functools
import operator
import threading
from typing import Any

from numba import types
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction

_OPERATORS = frozenset(x for x in vars(operator).values() if callable(x))
_PLAIN = types.Number, types.Boolean, types.Array, types.SliceType
_tried = BaseFunction.get_call_type


def _class(flags: Any) -> Any:
    return type(flags)


@functools.cache
def _defaults(cls: Any) -> dict[str, Any]:
    return {name: option.default for name, option in cls.options.items()}


def _values(self: Any) -> dict[str, Any]:
    """All options and their values, as ``TargetConfig.values``."""
    return {**_defaults(_class(self)), **self._values}


def _equal(self: Any, other: object) -> bool:
    """Tell whether all options are equal, as ``TargetConfig.__eq__``."""
    if self is other:
        return True
    return isinstance(other, TargetConfig) and _values(self) == _values(other)


@functools.cache
def _hash_of(cls: Any) -> int:
    return hash(tuple(sorted(cls.options)))


def _hash(self: Any) -> int:
    """Hash of the options' names, as that of ``TargetConfig``."""
    return _hash_of(_class(self))


def _call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call, as ``BaseFunction.get_call_type``."""
    if kws or self.typing_key not in _OPERATORS or not all(isinstance(a, _PLAIN) for a in args):
        return _tried(self, context, args, kws)
    known = self.__dict__.setdefault('_known', {})
    key = context, tuple(args), ConfigStack.top_or_none()
    if key not in known:
        known[key] = _tried(self, context, args, kws)
    return known[key]


_FAST: tuple[tuple[Any, str, Any], ...] = (
    (TargetConfig, 'values', _values),
    (TargetConfig, '__eq__', _equal),
    (TargetConfig, '__hash__', _hash),
    (BaseFunction, 'get_call_type', _call_type),
)
_OWN = tuple(getattr(cls, name) for cls, name, _ in _FAST)
_lock = threading.Lock()
_open = 0  # contexts


@contextlib.contextmanager
def fast_lookups() -> Iterator[None]:
    """Within this context numba looks up so, in all threads; contexts may lie within others."""
    _enter(1)
    try:
        yield
    finally:
        _enter(-1)


def _enter(step: int) -> None:
    global _open
    with _lock:
        _open += step
        for (cls, name, fast), own in zip(_FAST, _OWN):
            setattr(cls, name, fast if _open else own)
