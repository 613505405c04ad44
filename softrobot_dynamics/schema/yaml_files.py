# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read a YAML file as YAML 1.2 reads it, and refuse what PyYAML would pass over in silence."""

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any, ClassVar

from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.schema.parsing import join
import yaml

_CORE = {  # the scalars of YAML 1.2's core schema: 1e-3 is a number, on and off are texts
    'null': r'~|null|Null|NULL|',
    'bool': r'true|True|TRUE|false|False|FALSE',
    'int': r'[-+]?(?:0|[1-9][0-9]*)',
    'float': r'[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?'
    r'|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)',
    'merge': '<<',
}
_TAG = 'tag:yaml.org,2002:'


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
    yaml_constructors = {
        tag: yaml.SafeLoader.yaml_constructors[tag]
        for tag in (None, *(_TAG + kind for kind in 'null bool int float str seq map'.split()))
    }


for _kind, _pattern in _CORE.items():
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(f'(?:{_pattern})$'), None)


def read_yaml(path: Path) -> tuple[Any, list[Problem]]:
    """
    Return what the YAML file at `path` holds, and a list of `Problem` for its duplicate keys.

    DescriptionError if it cannot be read at all: no such file, a folder, not YAML.
    """
    try:
        loader = _Loader(path.expanduser().read_bytes())
        node = loader.get_single_node()
        problems = list(_duplicates(node, '', set()))  # before merge keys are resolved
        data = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise _unreadable(path, 'a YAML file', error.strerror) from error
    except (yaml.YAMLError, ValueError, RuntimeError) as error:
        raise _unreadable(path, 'YAML', ' '.join(str(error).split())) from error
    return data, problems


def _unreadable(path: Path, expected: str, reason: str | None) -> DescriptionError:
    problem = Problem('file', str(path), f'{expected} ({reason})')
    return DescriptionError((problem,), str(path))


def _duplicates(node: yaml.Node | None, path: str, seen: set[int]) -> Iterator[Problem]:
    """Yield a Problem for every key given twice; PyYAML silently keeps the last."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            yield from _duplicates(item, f'{path}[{i}]', seen)
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            here, line, known = join(path, key.value), key.start_mark.line + 1, str(key.value)
            if known in lines:
                yield Problem(
                    here, key.value, f'each key once: lines {lines[known]} and {line} have it'
                )
            lines.setdefault(known, line)
            yield from _duplicates(value, here, seen)
