# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Arguments of `sd.closed_loop` as they were before they were grouped.

They go on working for one release, with a warning; then this file and `former` go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
import warnings

from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.offline.arguments import Feedback, Law, Plant, Start

_Group: TypeAlias = Feedback | Law | Plant | Start
_ARGUMENT_GROUPS: dict[str, tuple[type[_Group], dict[str, str]]] = {
    'controller': (Law, {x: x for x in ('controlled', 'parameters', 'period', 'changes')}),
    'start': (Start, {'q0': 'q', 'qd0': 'qd', 'u0': 'u', 'ramp': 'ramp'}),
    'plant': (Plant, {x: x for x in ('delay', 'bus', 'wrenches', 'substep', 'tolerance')}),
    'feedback': (Feedback, {x: x for x in ('sensors', 'estimator')}),
}
"""{argument: (its group, {former argument: field of the group})}."""


def grouped(arguments: dict[str, Any], former: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return arguments of `closed_loop` with the former ones among them, each in its group.

    Warns of those, once a call. TypeError for unknown ones; ArgumentError for a group that is
    given beside former arguments that belong to it.
    """
    known = {x for _, names in _ARGUMENT_GROUPS.values() for x in names}
    if unknown := [name for name in former if name not in known]:
        raise TypeError(f'closed_loop() got an unexpected keyword argument {unknown[0]!r}')
    found, ways = dict(arguments), []
    for argument, (group, names) in _ARGUMENT_GROUPS.items():
        chosen = {name: former[name] for name in names if name in former}
        if not chosen:
            continue
        if isinstance(found[argument], group):
            expected = f'none beside {argument}, which is a {group.__name__} with that field'
            raise ArgumentError(next(iter(chosen)), next(iter(chosen.values())), expected)
        found[argument] = _make(group, found[argument], names, chosen)
        hint = ', '.join(f'{names[name]}=...' for name in chosen)
        ways.append(f'{argument}=sd.{group.__name__}({hint})')
    if former:
        words = f'arguments of sd.closed_loop are grouped: instead of {", ".join(former)}'
        warnings.warn(
            f'{words} give {", ".join(ways)}; the former arguments go on working for one release',
            FutureWarning,
            stacklevel=3,
        )
    return found


def _make(
    group: Callable[..., _Group],
    first: object,
    names: Mapping[str, str],
    chosen: Mapping[str, Any],
) -> _Group:
    """Return a group with chosen former arguments; None stood for the default of each."""
    given = {names[name]: value for name, value in chosen.items() if value is not None}
    positional = [first] if group is Law or first is not None else []
    return group(*positional, **given)
