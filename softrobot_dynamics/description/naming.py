# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Name the numbers of a robot, wherever in a description or a robot file they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class FieldPath(NamedTuple):
    """
    The names on the way to a field, and those of them that a name has to say to mean it.

    The latter are names of lists: what a tendon's `path` holds is not meant by 'segment1.radius'.
    """

    names: tuple[str, ...]
    lists: tuple[str, ...] = ()

    def to(self, name: str) -> FieldPath:
        """Return the trail to a field of what is here."""
        return FieldPath((*self.names, name), self.lists)

    def within(self, name: str, part: str) -> FieldPath:
        """Return the trail to a part, by its name, of a list that is a field of what is here."""
        return FieldPath((*self.names, name, part), (*self.lists, name))

    def __str__(self) -> str:
        return '.'.join(self.names)


class FieldName:
    """A field's name as of `vary`, names before it, and after it places in the list it holds."""

    def __init__(self, text: str) -> None:
        names, self._places = text.split('.'), list[int]()
        while len(names) > 1 and names[-1].isdecimal():
            self._places.insert(0, int(names.pop()))
        self._names = [name.split('/') for name in names]  # any one of each

    def means(self, trail: FieldPath) -> bool:
        """Tell whether it leads to a field: by its name and some of those before, in order."""
        rest, (*before, name) = iter(trail.names[:-1]), self._names
        said = all(any(each in names for names in before) for each in trail.lists)
        in_order = all(any(each in names for each in rest) for names in before)
        return said and trail.names[-1] in name and in_order

    def fits(self, value: object) -> bool:
        """Tell whether a field's value has something at the places."""
        for place in self._places:
            if not isinstance(value, (list, tuple)) or place >= len(value):
                return False
            value = value[place]
        return True

    def changed(self, value: object, change: Callable[[float], float]) -> Any:
        """Return a field's value with the numbers at the places changed, all below them."""
        return _changed(value, change, self._places)


def _changed(value: Any, change: Callable[[float], float], places: Sequence[int]) -> Any:
    if not isinstance(value, (list, tuple)):
        return change(value)
    return [
        _changed(each, change, places[1:]) if i in (places[:1] or (i,)) else each
        for i, each in enumerate(value)
    ]
