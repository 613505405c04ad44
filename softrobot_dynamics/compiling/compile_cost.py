# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Predict how long kernels take to compile, relative to each other.

Two parts of the compiler take time. LLVM inlines: it optimises a function again at every place
that calls it. Numba translates a function once in a process, however often it is called. So the
cost of a kernel is the number of syntax nodes of its function and of all that it calls, counted
at each call, where a loop, of which LLVM makes several, counts for more; and a number of nodes for
each of these functions, unless a kernel before has called it. It is read from the text of the
sources; nothing is imported for it.
"""

import ast
from collections.abc import Iterator, Mapping, Set
import functools
from typing import NamedTuple

from softrobot_dynamics.compiling.sources import file_of, KNOWN_PACKAGES

# With these, processor times by cost of kernels of 1 s and more, of three robots and three laws,
# differ least (standard deviation: a factor 1.2).
_LOOP_NODES = 200
_FUNCTION_NODES = 2000
_Place = tuple[str, str]  # dotted name of a module, name of a function in it


class _Module(NamedTuple):
    """Definitions and imports of a module, by the names that its functions use."""

    functions: dict[str, ast.FunctionDef]
    imported: dict[str, _Place]


class KernelSize(NamedTuple):
    """The code that is compiled for a kernel."""

    nodes: int  # of its function and of all that it calls, counted at each call
    functions: frozenset[_Place]  # all of these


def kernel_size(name: str, sources: Mapping[str, str]) -> KernelSize:
    """
    Return the :class:`KernelSize` of the emitted module of a name.

    ``sources`` has its source, and those of the emitted modules that it imports, by name.
    """
    count = _Count(sources)
    nodes = max((count.total((name, each)) for each in count.module(name).functions), default=1)
    return KernelSize(nodes, count.functions())


def costs_of(kernels: Mapping[str, KernelSize], known: Set[_Place]) -> dict[str, int]:
    """
    Return the costs [syntax nodes] of kernels by name, in the order in which to compile them.

    Those that take long are first. A function counts where it is called first, and not at all if
    it is ``known``: called by kernels that this process has compiled before, or linked from the
    cache.
    """
    costs, seen = dict[str, int](), set(known)
    for name in sorted(kernels, key=lambda name: _alone(kernels[name]), reverse=True):
        nodes, functions = kernels[name]
        costs[name] = nodes + _FUNCTION_NODES * len(functions - seen)
        seen |= functions
    return costs


def _alone(kernel: KernelSize) -> int:
    """Return the cost of a kernel in a process of its own."""
    return kernel.nodes + _FUNCTION_NODES * len(kernel.functions)


class _Count:
    """Counts the syntax nodes of what emitted modules, given by their ``sources``, call."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources, self._totals = sources, dict[_Place, int]()

    def module(self, name: str) -> _Module:
        """Return the module of a dotted name; an empty one if it is not followed."""
        source = self._sources.get(name)
        return _parsed(source) if source is not None else _module_of(name)

    def total(self, place: _Place) -> int:
        """Return the nodes of a function and, for each call, those of what it calls."""
        if place not in self._totals:
            self._totals[place] = 0  # of a function that calls itself
            name, function = place
            module = self.module(name)
            if function in module.functions:
                size, uses = _size(module.functions[function])
                found = (self._found(name, module, use) for use in uses)
                self._totals[place] = size + sum(self.total(each) for each in found if each)
            elif function in module.imported:
                self._totals[place] = self.total(module.imported[function])
        return self._totals[place]

    def functions(self) -> frozenset[_Place]:
        """Return the places of all functions that were counted."""
        return frozenset(filter(self._defines, self._totals))

    def _defines(self, place: _Place) -> bool:
        """Tell whether a function is defined at a place, not only imported there."""
        name, function = place
        return function in self.module(name).functions

    def _found(self, name: str, module: _Module, use: tuple[str, str]) -> _Place | None:
        """Return the place of a (name, attribute of it or '') that a function of a module uses."""
        used, attribute = use
        if used in module.functions and not attribute:
            return name, used
        if used not in module.imported:
            return None
        origin = module.imported[used]
        return ('.'.join(origin), attribute) if attribute else origin


@functools.cache
def _size(function: ast.FunctionDef) -> tuple[int, tuple[tuple[str, str], ...]]:
    """Return (nodes of a function, (name, attribute or '') of all that it uses)."""
    nodes = list(ast.walk(function))
    loops = sum(isinstance(node, (ast.For, ast.While)) for node in nodes)
    return len(nodes) + _LOOP_NODES * loops, tuple(_uses(nodes, function.name))


def _uses(nodes: list[ast.AST], own: str) -> Iterator[tuple[str, str]]:
    """Yield (name, attribute or '') of the names among nodes, but for a function's own."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != own:
            yield node.id, ''


@functools.cache
def _module_of(name: str) -> _Module:
    """Return the module of a dotted name; an empty one if numba or Python brings it."""
    files = () if name.partition('.')[0] in KNOWN_PACKAGES else file_of(name)
    if not files:
        return _Module({}, {})
    with open(files[0], encoding='utf-8') as file:
        return _parsed(file.read())


@functools.cache
def _parsed(source: str) -> _Module:
    """Return the module of a source."""
    functions, imported = dict[str, ast.FunctionDef](), dict[str, _Place]()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                imported[alias.asname or alias.name] = node.module, alias.name
    return _Module(functions, imported)
