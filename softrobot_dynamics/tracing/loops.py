# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Kernels of a loop over the lanes of a block, whose arithmetic is traced and so differentiated.

A kernel that sums over points or nodes loops over coordinates itself, and leaves the arithmetic of
a point to such a loop. What a formula reads are symbols, of which
:func:`~softrobot_dynamics.tracing.differentiate.direction` says how they change.
"""

from collections.abc import Callable, Sequence
import inspect
import math
from types import FunctionType
from typing import Any, cast

from softrobot_dynamics.annotations import Value
from softrobot_dynamics.compiling.deferred import Deferred
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import lanes
from softrobot_dynamics.tracing.emit import Emitter, indented
from softrobot_dynamics.tracing.graph import as_node, Node, symbol

cross = lanes.cross.py_func  # of vectors of nodes


class LaneRows:
    """
    An array that is an argument of a traced loop: rows, a number for each lane, or numbers.

    What is read is what the array holds before the lane is written.
    """

    def __init__(self, name: str, width: int, reads: dict[str, Node]) -> None:
        self._name, self._width, self._reads = name, width, reads
        self.written: dict[str, Node] = {}

    def __getitem__(self, row: int) -> Node:
        """Return the symbol of a row."""
        return self._read(self._lane(row))

    def rows(self, first: int, count: int = 3) -> list[Node]:
        """Return the symbols of rows one after the other: by default of a vector."""
        return [self[first + i] for i in range(count)]

    def vectors(self, first: int, count: int = 3) -> list[list[Node]]:
        """Return the symbols of vectors one after the other: of one and two derivatives, say."""
        return [self.rows(first + 3 * i) for i in range(count)]

    def number(self, index: int) -> Node:
        """Return the symbol of a number that is the same in all lanes."""
        return self._read(f'{self._name}[{index}]')

    def write(self, first: int, *vectors: Sequence[Value]) -> None:
        """Write nodes to rows one after the other."""
        nodes = [as_node(x) for vector in vectors for x in vector]
        self.written |= {self._lane(first + i): node for i, node in enumerate(nodes)}

    def _lane(self, row: int) -> str:
        return f'{self._name}[{row * self._width} + k]'

    def _read(self, text: str) -> Node:
        return self._reads.setdefault(text, symbol('q', len(self._reads)))


def traced_loop(width: int) -> Callable[[Callable[..., None]], Any]:
    """
    Return a decorator: a formula of :class:`LaneRows`, ``width`` lanes each, becomes a kernel.

    The formula is run, and so traced, when something is compiled that calls the kernel.
    """

    def decorate(formula: Callable[..., None]) -> Deferred:
        return Deferred(formula, lambda f: cast(Deferred, kernel(_compiled(f, width))).made)

    return decorate


def _compiled(formula: Callable[..., None], width: int) -> FunctionType:
    """Return the function of arrays that is traced from a formula of rows."""
    name, place = formula.__name__, {'__name__': formula.__module__, 'math': math}
    exec(compile(_source(formula, width), f'<traced {name}>', 'exec'), place)
    function: FunctionType = place[name]  # type: ignore[assignment]  # what the source defines
    return function


def _source(formula: Callable[..., None], width: int) -> str:
    names, reads = list(inspect.signature(formula).parameters), dict[str, Node]()
    arguments = [LaneRows(name, width, reads) for name in names]
    formula(*arguments)
    written = {place: node for rows in arguments for place, node in rows.written.items()}
    code = Emitter(written.values())
    # a tuple of more symbols than are used costs nothing: the compiler removes them
    read = f'q = ({", ".join(reads)},)'
    stored = [f'{place} = {code.name(node)}' for place, node in written.items()]
    return '\n'.join(
        [
            f'def {formula.__name__}({", ".join(names)}):',
            f'    for k in range({width}):',
            indented([read, *code.call, *stored], 8),
        ]
    )
