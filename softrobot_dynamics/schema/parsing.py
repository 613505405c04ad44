# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read mappings into dataclasses whose fields carry a parser, and collect every problem found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
from itertools import islice
from os import PathLike
import re
from typing import Any, cast, TypeAlias, TypeVar

from softrobot_dynamics.errors import closest, MISSING, Problem

MAX_REPORTED_KEYS = 50  # wrong entries of one kind; whoever has more has another file in mind


class Problems(list[Problem]):
    """
    The problems found so far, and facts of the whole description that fields need.

    `names` holds what `reference` fields may name, by kind; `folder` is where the paths of `file`
    fields start, that of the robot file ('': the working folder).
    """

    def __init__(self, found: Iterable[Problem] = (), folder: str | PathLike[str] = '') -> None:
        super().__init__(found)
        self.names: dict[str, list[str]] = {}
        self.folder = folder


T = TypeVar('T')
Parser: TypeAlias = Callable[[Any, str, Problems], Any]
"""(value, path, problems) -> converted value; appends a Problem for whatever is wrong."""


def custom(
    read: Parser,
    *,
    expected: str | None = None,
    unit: str | None = None,
    default: object = MISSING,
    **known: Any,
) -> Any:
    """
    Return a field read by `read(value, path, problems)`; `expected` says what it accepts.

    `known` is what else is known of its values, for `parameters`: kind, bounds, choices, size.
    """
    expected = expected or getattr(read, 'expected', 'a value')
    metadata = {'parser': read, 'expected': expected, 'unit': unit, 'default': default, **known}
    given: dict[str, Any] = {} if default is MISSING else {'default': default}
    return dataclasses.field(metadata=metadata, **given)


def reader(field: dataclasses.Field[Any]) -> Parser:
    """Return the function (value, path, problems) -> converted value of a field made here."""
    return field.metadata['parser']


def parse(
    cls: type, mapping: object, path: str, problems: Problems, ignore: Sequence[str] = ()
) -> Any:
    """
    Read `mapping` into the dataclass `cls`, or return None and append every problem found.

    Keys in `ignore` are the caller's. If all fields are right and `cls` has a method
    `validate()`, which yields (field path, value, expected), it is asked as well.
    """
    if not isinstance(mapping, dict):
        problems.append(Problem(path, mapping, mapping_of(cls)))
        return None
    before = len(problems)
    _refuse_unknown(_known(cls), mapping, path, problems, ignore)
    values = {}
    for key, field in _known(cls).items():
        value = mapping.get(key, MISSING)
        if value is MISSING or (value is None and field.default is None):
            if field.default is dataclasses.MISSING:
                problems.append(Problem(join(path, key), MISSING, field.metadata['expected']))
        else:
            values[key] = reader(field)(value, join(path, key), problems)
    if len(problems) > before:
        return None
    return validated(cls(**values), mapping, path, problems)


def join(path: str, key: object) -> str:
    """Return the path of the entry `key` of the mapping at `path`; '' is the mapping itself."""
    return '.'.join(filter(None, (path, str(key))))


def entry(mapping: object, path: str, otherwise: object) -> Any:
    """Return the entry at `path` below `mapping`, as it was written, else `otherwise`."""
    for key in re.findall(r'[^.[\]]+', path):
        try:
            mapping = cast(Any, mapping)[key if isinstance(mapping, dict) else int(key)]
        except (LookupError, TypeError, ValueError):
            return otherwise
    return mapping


def mapping_of(cls: type) -> str:
    """Return in words the mapping that `cls` is read from."""
    return f'a mapping of {", ".join(_known(cls))}'


def validated(instance: T, mapping: object, path: str, problems: Problems) -> T | None:
    """Return `instance`, made of `mapping`, if its `validate()` yields nothing, else None."""
    wrong = [
        Problem(join(path, key), entry(mapping, key, value), expected)
        for key, value, expected in getattr(instance, 'validate', tuple)()
    ]
    problems.extend(wrong)
    return None if wrong else instance


def _refuse_unknown(
    known: Iterable[str],
    mapping: Mapping[Any, object],
    path: str,
    problems: Problems,
    ignore: Sequence[str],
) -> None:
    """Report keys that are no field."""
    allowed = [*ignore, *known]
    for key in islice((key for key in mapping if key not in allowed), MAX_REPORTED_KEYS):
        words = f'one of the fields {", ".join(allowed)}{closest(key, allowed)}'
        problems.append(Problem(join(path, key), mapping[key], words))


def _known(cls: type) -> dict[str, dataclasses.Field[Any]]:
    return {f.name: f for f in dataclasses.fields(cls) if 'parser' in f.metadata}
