# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Robot files with other numbers and strains in place, everything else as it was written.

Comments stay, too. A number that the file leaves at its default gets an entry of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.description.naming import FieldName, FieldPath
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.variation import numbers_at
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.strains import orders_of
import yaml

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


def write_fitted(
    source: Path,
    output: Path,
    robot: RobotDescription,
    paths: Sequence[str],
    origin: Sequence[str],
) -> None:
    """
    Write a robot file with the numbers that another robot has at paths, as of `vary`.

    ``source`` is the file that it was made of, ``origin`` lines on where the numbers are from,
    which stand above it as comments. What was written is read again: ArgumentError, and no file,
    where it has not all numbers, see :func:`require_writable`.
    """
    made = _made(source, output, robot, paths, origin)
    made.replace(output.expanduser())


def require_writable(
    source: Path, output: Path, robot: RobotDescription, paths: Sequence[str]
) -> None:
    """
    Raise ArgumentError where `write_fitted` could not write such a robot's numbers.

    As where the source shares one entry among parts of which only one has another number, by an
    alias, or leaves out one in a list.
    """
    _made(source, output, robot, paths, ()).unlink()


def _made(
    source: Path,
    output: Path,
    robot: RobotDescription,
    paths: Sequence[str],
    origin: Sequence[str],
) -> Path:
    """Return a file beside the output that has all numbers; ArgumentError, and no file."""
    try:
        text = source.expanduser().read_text(encoding='utf-8')
    except OSError as error:
        raise ArgumentError('source', str(source), f'a robot file ({error.strerror})') from error
    text = _with_strains(text, robot)
    for path in paths:
        text = _completed(_replaced(text, path, robot), path, robot)
    head = ''.join(f'# {line}\n' for line in origin)
    output = output.expanduser()
    made = output.with_name(f'.{output.name}.part')
    try:
        made.write_text(f'{head}\n{text}' if head else text, encoding='utf-8')
    except OSError as error:
        words = f'a file to write ({error.strerror})'
        raise ArgumentError('output', str(output), words) from error
    try:
        load_robot(made)  # with the files that it names, from where it is
        if load_robot(made, folder=source.expanduser().parent).digest != robot.digest:
            expected = 'numbers that stand in the robot file, for each part its own'
            raise ArgumentError('fit', tuple(paths), expected)
    except BaseException:
        made.unlink()
        raise
    return made


def _replaced(text: str, path: str, robot: RobotDescription) -> str:
    """Return a robot file's text with the numbers of a robot where a path leads."""
    places: dict[int, tuple[int, float]] = {}
    for trail, node in _fields(yaml.compose(text, Loader=yaml.SafeLoader)):
        if FieldName(path).means(trail):
            for scalar, value in zip(_scalars(node), numbers_at(robot, str(trail))):
                if _number(scalar) != value:
                    places[scalar.start_mark.index] = scalar.end_mark.index, value
    for start in sorted(places, reverse=True):
        end, value = places[start]
        text = f'{text[:start]}{value!r}{text[end:]}'
    return text


def _completed(text: str, path: str, robot: RobotDescription) -> str:
    """Return a robot file's text with entries of their own for numbers left at their defaults."""
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    return _inserted(text, [(n, f'{key}: {v!r}') for n, key, v in _left_out(top, path, robot)])


def _inserted(text: str, entries: Sequence[tuple[yaml.Node, str]]) -> str:
    """Return a text with entries of their own in mappings, each after the mapping's first."""
    places = dict[int, list[str]]()
    for node, entry in dict.fromkeys(entries):
        first = node.value[min(1, len(node.value) - 1)][0].start_mark
        end = ', ' if node.flow_style else '\n' + ' ' * first.column
        places.setdefault(first.index, []).append(f'{entry}{end}')
    for start in sorted(places, reverse=True):
        text = text[:start] + ''.join(places[start]) + text[start:]
    return text


def _with_strains(text: str, robot: RobotDescription) -> str:
    """Return a robot file's text whose rods have the strains of a robot's, of their orders."""
    numbers, entries = dict[int, tuple[int, int]](), []
    top = _entries(yaml.compose(text, Loader=yaml.SafeLoader))
    for part, module in zip(_members(top.get('bodies')), robot.modules):
        node = _entries(_entries(part).get('body')).get('strains')
        for name, order in orders_of(module.body).items() if node is not None else ():
            given = _entries(node).get(name)
            if given is None:
                entries.append((node, f'{name}: {{basis: legendre, order: {order}}}'))
            elif (at := _entries(given).get('order')) is not None and _number(at) != order:
                numbers[at.start_mark.index] = at.end_mark.index, order
            elif at is None and order and 'basis' in _entries(given):
                entries.append((given, f'order: {order}'))
    if numbers:
        for start in sorted(numbers, reverse=True):
            text = f'{text[:start]}{numbers[start][1]}{text[numbers[start][0] :]}'
        return _with_strains(text, robot)
    return _inserted(text, entries)


def _left_out(
    top: yaml.Node | None, path: str, robot: RobotDescription
) -> Iterator[tuple[yaml.Node, str, float]]:
    """Yield mappings that lack the number of a path which the robot's part has, and the number."""
    entries = _entries(top)
    for part, module in zip(_members(entries.get('bodies')), robot.modules):
        own = _entries(part)
        joint = module.joint.described
        yield from _lacking(own.get('joint'), joint, FieldPath((module.joint_name,)), path)
        yield from _lacking(own.get('body'), module.body, FieldPath((module.name,)), path)
    for part, named in zip(_members(entries.get('actuators')), robot.actuators):
        yield from _lacking(part, named.actuator, FieldPath((named.name,)), path)


def _lacking(
    node: yaml.Node | None, part: Any, trail: FieldPath, path: str
) -> Iterator[tuple[yaml.Node, str, float]]:
    entries = _entries(node)
    for field in fields(part) if entries else ():
        key, value, here = field.name, getattr(part, field.name), trail.to(field.name)
        if is_dataclass(value):
            yield from _lacking(entries.get(key), value, here, path)
        elif isinstance(value, float) and key not in entries and value != field.default:
            if FieldName(path).means(here):
                yield node, key, value


def _fields(robot: yaml.Node | None) -> Iterator[tuple[FieldPath, yaml.Node]]:
    """Yield the names before and of each field of joints, bodies and actuators, and its node."""
    top = _entries(robot)
    for part in _members(top.get('bodies')):
        entries = _entries(part)
        name, joint = _text(entries.get('name')), entries.get('joint')
        yield from _below(joint, FieldPath((_text(_entries(joint).get('name')) or name,)))
        yield from _below(entries.get('body'), FieldPath((name,)))
    for part in _members(top.get('actuators')):
        yield from _below(part, FieldPath((_text(_entries(part).get('name')),)))


def _below(node: yaml.Node | None, trail: FieldPath) -> Iterator[tuple[FieldPath, yaml.Node]]:
    for key, value in _entries(node).items():
        here = trail.to(key)
        if isinstance(value, yaml.MappingNode):
            yield from _below(value, here)
        elif any(isinstance(each, yaml.MappingNode) for each in _members(value)):
            for each in _members(value):
                yield from _below(each, trail.within(key, _text(_entries(each).get('body'))))
        elif trail.lists and key == 'offset':  # [x, y], in short
            yield from zip((here.to('x'), here.to('y')), _members(value))
        else:
            yield here, value


def _scalars(node: yaml.Node) -> list[yaml.Node]:
    """Return all numbers of a number, or of a list of such or of lists."""
    if isinstance(node, yaml.SequenceNode):
        return [scalar for each in node.value for scalar in _scalars(each)]
    return [node]


def _number(node: yaml.Node) -> float | None:
    try:
        return float(_text(node))
    except ValueError:
        return None


def _entries(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the entries of a mapping, those merged into it first."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    merged = [value for key, value in pairs if key.value == '<<']
    found = {}
    for each in merged:
        for one in reversed(_members(each) or [each]):
            found.update(_entries(one))
    found.update({str(key.value): value for key, value in pairs if key.value != '<<'})
    return found


def _members(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ''
