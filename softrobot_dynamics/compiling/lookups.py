# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What numba looks up at every operation while it infers types, found fast.

Numba compares its flags at each of them, option by option through properties, and tries all that a
`+` may mean in turn, each time anew. That is more than a third of all that compilation takes. Here
the same flags are compared as dictionaries, and what an operation on plain numbers and arrays
means is kept.
"""

import functools
import operator
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


def look_up_fast() -> None:
    """Let numba look up so."""
    TargetConfig.values, TargetConfig.__eq__ = _values, _equal
    TargetConfig.__hash__ = _hash
    BaseFunction.get_call_type = _call_type  # type: ignore[method-assign]  # on purpose
