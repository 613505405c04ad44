# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read a YAML file as YAML 1.2 does, and refuse errors that PyYAML ignores.

All YAML is read here. What a file may hold is bounded, aliases counted as if they were written
out, so that one by somebody who means harm costs neither time nor memory: here, and wherever its
content is walked through afterwards.
"""

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any, ClassVar

from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.schema.parsing import join, MAX_REPORTED_KEYS
import yaml

_CORE_SCHEMA = {  # the scalars of YAML 1.2's core schema: 1e-3 is a number, on and off are texts
    'null': r'~|null|Null|NULL|',
    'bool': r'true|True|TRUE|false|False|FALSE',
    'int': r'[-+]?(?:0|[1-9][0-9]*)',
    'float': r'[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?'
    r'|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)',
    'merge': '<<',
}
_TAG_PREFIX = 'tag:yaml.org,2002:'


MAX_FILE_SIZE = 4_000_000  # [bytes]
MAX_ENTRIES = 50_000  # mappings, lists, keys and values; a humanoid's robot file has 5,000
MAX_DEPTH = 50  # levels of mappings and lists within each other
_TOO_DEEP = f'at most {MAX_DEPTH} levels within each other'

_Parser: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # that of C is six times as fast


class _BoundError(ValueError):
    """A file exceeds a bound; the error names it."""


class _BoundedComposer(yaml.composer.Composer):
    """Makes nodes from the parser's events, and counts them."""

    _depth = _entries = 0

    def compose_node(self, parent: yaml.Node | None, index: yaml.Node | int | None) -> Any:
        """Return the node that comes next, all that is in it included."""
        self._depth, before = self._depth + 1, self._entries
        here = self.peek_event().start_mark.line + 1
        alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._entries += self._sizes.get(id(node), 1) if alias else 1
        if not alias:
            self._sizes[id(node)] = self._entries - before
        if self._entries > MAX_ENTRIES:
            words = f'at most {MAX_ENTRIES} entries, aliases written out (line {here} goes beyond)'
            raise _BoundError(words)
        self._depth -= 1
        return node

    def compose_sequence_node(self, anchor: str | None) -> Any:
        """Return the list that comes next."""
        self._refuse_depth()
        return super().compose_sequence_node(anchor)

    def compose_mapping_node(self, anchor: str | None) -> Any:
        """Return the mapping that comes next."""
        self._refuse_depth()
        return super().compose_mapping_node(anchor)

    def _refuse_depth(self) -> None:
        if self._depth > MAX_DEPTH:
            line = self.peek_event().start_mark.line + 1
            raise _BoundError(f'{_TOO_DEEP} (line {line})')


class _Loader(_BoundedComposer, _Parser):
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
    yaml_constructors = {
        tag: yaml.SafeLoader.yaml_constructors[tag]
        for tag in (
            None,
            *(_TAG_PREFIX + kind for kind in 'null bool int float str seq map'.split()),
        )
    }

    def __init__(self, content: bytes) -> None:
        _Parser.__init__(self, content)
        _BoundedComposer.__init__(self)
        self._sizes: dict[int, int] = {}  # entries in a node that is complete, by its identity


for _kind, _pattern in _CORE_SCHEMA.items():
    _Loader.add_implicit_resolver(_TAG_PREFIX + _kind, re.compile(f'(?:{_pattern})$'), None)


def read_yaml(path: Path) -> tuple[Any, list[Problem]]:
    """
    Return the contents of the YAML file at `path`, and a list of `Problem` for its duplicate keys.

    DescriptionError if it cannot be read at all: no such file, a folder, not YAML, too much of it.
    """
    try:
        with open(path.expanduser(), 'rb') as file:
            content = file.read(MAX_FILE_SIZE + 1)
        if len(content) > MAX_FILE_SIZE:
            raise _BoundError(f'a file of at most {MAX_FILE_SIZE // 1_000_000} MB')
        loader = _Loader(content)
        node = loader.get_single_node()
        # before merge keys are resolved
        problems = list(_duplicates(node, '', {}))[:MAX_REPORTED_KEYS]
        data = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise _unreadable(path, 'a YAML file', error.strerror) from error
    except _BoundError as error:
        raise _too_much(path, str(error)) from error
    except (yaml.YAMLError, ValueError, RuntimeError) as error:
        if 'nesting depth' in str(error):  # found by the parser of C, which looks ahead
            raise _too_much(path, _TOO_DEEP) from error
        raise _unreadable(path, 'YAML', ' '.join(str(error).split())) from error
    return data, problems


def _unreadable(path: Path, expected: str, reason: str | None) -> DescriptionError:
    problem = Problem('file', str(path), f'{expected} ({reason})')
    return DescriptionError((problem,), str(path))


def _too_much(path: Path, words: str) -> DescriptionError:
    return DescriptionError((Problem('file', str(path), f'YAML with {words}'),), str(path))


def _duplicates(node: yaml.Node | None, path: str, done: dict[int, bool]) -> Iterator[Problem]:
    """
    Yield a Problem for every key given twice; PyYAML silently keeps the last.

    `done` says of each node met, by its identity, whether all in it was: _BoundError for one that
    is met again within itself.
    """
    if id(node) in done:  # an alias
        if not done[id(node)]:
            raise _BoundError(f'no alias within what it stands for ({path})')
        return
    done[id(node)] = False
    if isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            yield from _duplicates(item, f'{path}[{i}]', done)
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            here, line, known = join(path, key.value), key.start_mark.line + 1, str(key.value)
            if known in lines:
                yield Problem(
                    here, key.value, f'each key once: lines {lines[known]} and {line} have it'
                )
            lines.setdefault(known, line)
            yield from _duplicates(value, here, done)
    done[id(node)] = True
