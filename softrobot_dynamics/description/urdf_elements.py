# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read elements and attributes of URDF as its specification and its parser urdfdom have them.

Each function appends to `problems` what is wrong, under the `place` of the joint or the link that
the element belongs to, and then returns what stands in for the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from softrobot_dynamics.errors import closest, MISSING, Problem
from softrobot_dynamics.schema.bounds import Bounds, hint, UNBOUNDED

Element: TypeAlias = Any  # of xml.etree.ElementTree, which has no public type for those of C
Problems: TypeAlias = list[Problem]

INERTIA_ATTRIBUTES = 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'
"""The attributes of <inertia>, which is the upper triangle, row by row."""

_XACRO_MARK = '${'
_EXPAND_XACRO = 'its value; expand the file first: xacro FILE > URDF'
_MIN_SIMILARITY = 0.8  # of words, at which one is a misspelling; extensions have up to 0.76
_CHILDREN: dict[str, tuple[str, ...]] = {  # of elements; others are extensions
    'robot': ('link', 'joint', 'material', 'transmission', 'gazebo'),
    'link': ('inertial', 'visual', 'collision'),
    'inertial': ('origin', 'mass', 'inertia'),
    'joint': (
        'origin', 'parent', 'child', 'axis', 'calibration', 'dynamics', 'limit', 'mimic',
        'safety_controller',
    ),
}  # fmt: skip
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    'robot': ('name',),
    'link': ('name',),
    'joint': ('name', 'type'),
    'origin': ('xyz', 'rpy'),
    'axis': ('xyz',),
    'parent': ('link',),
    'child': ('link',),
    'mass': ('value',),
    'inertia': INERTIA_ATTRIBUTES,
    'limit': ('lower', 'upper', 'effort', 'velocity'),
    'dynamics': ('damping', 'friction'),
    'mimic': ('joint', 'multiplier', 'offset'),
}


def refuse_misspelt(element: Element, place: str, problems: Problems) -> None:
    """
    Refuse tags and attributes that are near misses of those of URDF, in an element and below it.

    What resembles none of them belongs to another program, and is left to it.
    """
    for kind, known, found in (
        ('element', _CHILDREN.get(element.tag, ()), [child.tag for child in element]),
        ('attribute', _ATTRIBUTES.get(element.tag, ()), list(element.attrib)),
    ):
        for name in found:
            if name not in known and (meant := closest(name, known, _MIN_SIMILARITY)):
                words = f'an {kind} of <{element.tag}>{meant}: {", ".join(known)}'
                problems.append(Problem(place, name, words))
    for child in element:
        if child.tag in ('link', 'joint'):
            refuse_misspelt(child, f'{child.tag} {child.get("name")}', problems)
        elif child.tag in _CHILDREN or child.tag in _ATTRIBUTES:
            refuse_misspelt(child, place, problems)


def only(
    element: Element, tag: str, place: str, problems: Problems, needed: str = ''
) -> Element | None:
    """
    Return the one child of a tag, or None without one.

    Two are refused, and with words of what is ``needed`` its absence is.
    """
    found = element.findall(tag)
    if len(found) > 1:
        problems.append(Problem(f'{place}.{tag}', f'{len(found)} of them', f'one <{tag}>'))
    if not found and needed:
        problems.append(Problem(f'{place}.{tag}', MISSING, needed))
    return found[0] if found else None


def text(element: Element | None, name: str, place: str, problems: Problems, words: str) -> str:
    """Return an attribute that may not be empty; of no element ''."""
    if element is None:
        return ''
    value: str = element.get(name, '')
    if _XACRO_MARK in value:
        words = _EXPAND_XACRO
    if not value.strip() or _XACRO_MARK in value:
        problems.append(Problem(_path(element, name, place), _or_missing(value), words))
    return value


def number(
    element: Element,
    name: str,
    place: str,
    problems: Problems,
    bounds: Bounds = UNBOUNDED,
    default: float | None = None,
    remedy: str = '',
) -> float:
    """Return the number of an attribute, within bounds; without a default it has to be there."""
    given = element.get(name)
    if given is None and default is not None:
        return default
    value = MISSING if given is None else _as_number(given)
    if isinstance(value, float) and bounds.contain(value):
        return value
    magnitude = hint(value, bounds) if isinstance(value, float) else ''
    words = f'{bounds}{magnitude or ", finite"}{remedy}'
    words = _EXPAND_XACRO if given and _XACRO_MARK in given else words
    problems.append(Problem(_path(element, name, place), value, words))
    return 1.0 if default is None else default


def numbers(
    element: Element | None,
    name: str,
    place: str,
    problems: Problems,
    default: Sequence[float] = (0.0, 0.0, 0.0),
) -> list[float]:
    """Return the three numbers of an attribute; without it or the element, the default."""
    given = None if element is None else element.get(name)
    if given is None:
        return list(default)
    found = [_as_number(word) for word in given.split()]
    right = [x for x in found if isinstance(x, float) and UNBOUNDED.contain(x)]
    if len(right) == len(found) == 3:
        return right
    words = _EXPAND_XACRO if _XACRO_MARK in given else '3 finite numbers with blanks between them'
    problems.append(Problem(_path(element, name, place), given, words))
    return list(default)


def _path(element: Element, name: str, place: str) -> str:
    """Return the path of an attribute: joint elbow.limit.effort, link hand.name."""
    own = '' if element.tag in ('robot', 'link', 'joint') else f'.{element.tag}'
    return f'{place}{own}.{name}'


def _or_missing(value: str) -> object:
    return value or MISSING


def _as_number(word: str) -> float | str:
    """Return a word as a number, if it is one in XML, too."""
    try:
        return word if '_' in word else float(word)
    except ValueError:
        return word
