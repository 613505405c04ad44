# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Facts about source files that several tests ask for: imports, definitions, docstrings.

A process parses each source once, however many tests ask. It keeps these facts alone: the syntax
trees of all files would take hundreds of megabytes.
"""

import ast
import functools
from typing import NamedTuple

IMPORTS = ast.Import, ast.ImportFrom
DEFINITIONS = ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
BLOCKS = 'body', 'orelse', 'finalbody', 'handlers', 'cases'
"""Fields of a statement in which there are others; expressions contain no statements."""


class Definition(NamedTuple):
    """A class or a function."""

    name: str
    is_class: bool  # else a function
    docstring: str  # without space around it; '' if there is none
    parameters: tuple  # of a function: (name, syntax tree of the annotation or None)


class Syntax(NamedTuple):
    """A source file, as far as tests ask about it."""

    docstring: str
    imports: tuple  # syntax trees of the statements that import, wherever they are
    top_imports: tuple  # those that are not part of another statement
    definitions: tuple  # every Definition, wherever it is
    top_definitions: tuple  # those that are not part of another statement
    names: frozenset  # of definitions, and what the module and its classes assign; of members A.b


def syntax_of(path):
    """Return the :class:`Syntax` of a file."""
    return _syntax(path.read_text(encoding='utf-8'))


def imported_names(node):
    """Return the dotted names that a statement imports: modules, and what from a module."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f'{node.module}.{alias.name}' for alias in node.names]


@functools.cache
def _syntax(text):
    """Return the :class:`Syntax` of a source: once for copies of a file, as installed ones are."""
    module = ast.parse(text)
    imports, definitions, names = [], [], set(_assigned(module))
    for node in _statements(module):
        if isinstance(node, IMPORTS):
            imports.append(node)
        elif isinstance(node, DEFINITIONS):
            definitions.append(node)
            names.add(node.name)
            if isinstance(node, ast.ClassDef):
                members = {each.name for each in node.body if isinstance(each, DEFINITIONS)}
                names |= {f'{node.name}.{name}' for name in members.union(_assigned(node))}
    return Syntax(
        docstring=_docstring(module),
        imports=tuple(imports),
        top_imports=tuple(x for x in module.body if isinstance(x, IMPORTS)),
        definitions=tuple(map(_definition, definitions)),
        top_definitions=tuple(_definition(x) for x in module.body if isinstance(x, DEFINITIONS)),
        names=frozenset(names),
    )


def _statements(module):
    """Return the nodes of all statements of a module."""
    found = [module]
    for node in found:  # which grows meanwhile
        for block in BLOCKS:
            found += getattr(node, block, ())
    return found


def _assigned(node):
    """Yield the names that the statements of a module or a class assign to."""
    for each in node.body:
        for target in (*getattr(each, 'targets', ()), getattr(each, 'target', None)):
            if target is not None:
                yield from (x.id for x in ast.walk(target) if isinstance(x, ast.Name))


def _definition(node):
    parameters, is_class = (), isinstance(node, ast.ClassDef)
    if not is_class:
        given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        parameters = tuple((each.arg, each.annotation) for each in given)
    return Definition(node.name, is_class, _docstring(node), parameters)


def _docstring(node):
    return (ast.get_docstring(node, clean=False) or '').strip()
