# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Numba's compiler flags, compared fast.

While it infers types, numba looks each operation up by its flags, and compares these option by
option through properties: a quarter of all that compilation takes. Here the same comparison is one
of dictionaries.
"""

import functools
from typing import Any

from numba.core.targetconfig import TargetConfig


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


def compare_fast() -> None:
    """Let numba compare its flags so."""
    TargetConfig.values = _values
    TargetConfig.__eq__ = _equal
    TargetConfig.__hash__ = _hash
