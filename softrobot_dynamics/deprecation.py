# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Attributes that have another name now are read by the former one for one release."""

from collections.abc import Callable
from typing import TypeVar
import warnings

C = TypeVar('C')


def former_names(**names: str) -> Callable[[type[C]], type[C]]:
    """
    Return a class decorator by which attributes are read by former names: former='name'.

    That gives a DeprecationWarning. Constructors take the new names only, as kernels do.
    """

    def add(cls: type[C]) -> type[C]:
        for former, name in names.items():
            setattr(cls, former, _former(former, name))
        return cls

    return add


def _former(former: str, name: str) -> property:
    """Return a property that reads an attribute by its former name."""

    def read(instance: object) -> object:
        words = f'{type(instance).__name__}.{former} is {name} now; the former name goes'
        warnings.warn(f'{words} with the next release', DeprecationWarning, stacklevel=2)
        return getattr(instance, name)

    return property(read)
