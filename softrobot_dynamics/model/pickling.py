# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Pickle and copy objects with compiled kernels: by their arguments and their arrays.

Addresses of kernels and arrays hold in one process only, so that an object is made anew from its
arguments, its kernels found in the cache. What it has gathered since then is copied into that:
arrays and plain attributes, found by the same way from attribute to attribute in both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
import copy
from dataclasses import is_dataclass
import functools
import inspect
from typing import Any, ClassVar

import numpy as np
from softrobot_dynamics.annotations import Array
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.binding import bound_arguments
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.recursion.passes import Robot

Path = tuple[Any, ...]
# integer arrays with a state; others are tables
COUNTERS = 'clock', 'module_range', 'next_part', 'candidates'
_PLAIN_TYPES = (int, float, str, type(None), np.generic, deque)


class Pickleable:
    """
    Base of objects that are pickled and copied as their arguments and their present state.

    A subclass says in :meth:`arguments` what it is made of. Attributes named in
    ``pickled_attributes`` are pickled as they are; :meth:`resume` prepares what depends on them.
    """

    pickled_attributes: ClassVar[tuple[str, ...]] = ()

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and the named arguments that make another one."""
        raise NotImplementedError

    def resume(self) -> None:
        """Recompute values that depend on attributes set from outside."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Pickle and copy by the arguments, attributes that are named, and numbers."""
        attributes = {name: getattr(self, name) for name in self.pickled_attributes}
        state = {'attributes': attributes, 'numbers': numbers_of(self)}
        return _make, (type(self), *self.arguments()), state

    def __copy__(self) -> Any:
        """Return another one with arrays of its own, for the same model."""
        model: Any = getattr(self, 'model', None)
        return copy.deepcopy(self, {id(model): model})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of another one that has the same arguments."""
        for name, value in state['attributes'].items():
            setattr(self, name, value)
        # not into the arrays of these, which are newer where it was yet to be taken up
        attributes = state['attributes'].values()
        own = {id(array) for value in attributes for array in _arrays_of(value)}
        restore(self, state['numbers'], own)
        self.resume()
        restore(self, state['numbers'], own)  # also to arrays that are there only now


def _make(kind: type[Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return an object of a kind by its arguments."""
    return kind(*args, **options)


def numbers_of(owner: object) -> dict[Path, Any]:
    """Return copies of arrays and plain attributes by the way to them, each once."""
    found: dict[Path, Any] = {}
    seen: dict[int, Any] = {}

    def visit(value: Any, path: Path) -> None:
        for name, child in _children(value).items():
            if _is_number(name, child):
                if id(child) not in seen or not isinstance(child, np.ndarray):
                    found[(*path, name)] = child.copy() if hasattr(child, 'copy') else child
            elif id(child) not in seen:
                visit(child, (*path, name))
            seen[id(child)] = child

    seen[id(owner)] = owner
    visit(owner, ())
    return found


def restore(
    owner: object, numbers: Mapping[Path, Any], untouched: Container[int] = frozenset()
) -> None:
    """
    Set arrays and plain attributes to those that :func:`numbers_of` found in an alike object.

    ``untouched``: the id of each array that stays as it is.
    """
    for path, value in numbers.items():
        parent: Any = owner
        for name in path[:-1]:
            parent = _children(parent).get(name)
        own = _children(parent).get(path[-1])
        if id(own) in untouched:
            continue
        if isinstance(own, np.ndarray) and isinstance(value, np.ndarray) and own is not value:
            if own.shape == value.shape and own.flags.writeable:
                own[...] = value
                continue
        if isinstance(parent, list):
            parent[path[-1]] = value
        elif hasattr(parent, '__dict__') and (own is None or _is_number(path[-1], own)):
            vars(parent)[path[-1]] = value.copy() if isinstance(value, deque) else value


def _arrays_of(value: Any) -> Iterator[Array]:
    """Yield the arrays in a dataclass, a tuple or a mapping, at any depth."""
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        yield from _arrays_of(vars(value))
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _arrays_of(each)
    elif isinstance(value, dict):
        yield from _arrays_of(tuple(value.values()))


def _is_number(name: Any, value: Any) -> bool:
    """Tell whether a value is an array of numbers, or plain."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in 'fb' or name in COUNTERS
    return isinstance(value, _PLAIN_TYPES)


def _children(value: Any) -> dict[Any, Any]:
    """Return the members of a value by name: attributes, fields, elements, kernel arguments."""
    if isinstance(value, (Entry, Robot, CompiledModel, type)) or is_dataclass(value):
        return {}
    if isinstance(value, functools.partial):
        return bound_arguments(value)
    if hasattr(value, '_fields'):
        return dict(zip(value._fields, value))
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return value
    outside = inspect.ismodule(value) or inspect.isroutine(value)
    return {} if outside else getattr(value, '__dict__', {})
