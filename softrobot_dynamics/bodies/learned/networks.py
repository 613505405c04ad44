# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Multilayer perceptrons N(x, q), and the .npz files that hold their weights.

An archive holds plain arrays, no pickled object, so that any framework can write it:

==================  ==========  ==================================================================
``format``          ()          1
``length``          ()          of the body [m]
``activation``      ()          text, one of :data:`ACTIVATIONS`
``x_scale``         (3,)        what material coordinates are divided by [m]
``q_scale``         (n,)        what generalized coordinates are divided by, in their units
``coordinates``     (n,)        text, optional: their names; default q1, q2, ...
``W0``, ``b0``      (h0, 3+n)   first layer, of (x, q): W0 v + b0, then the activation; b0 (h0,)
``W1``, ``b1``, …   (h1, h0)    further layers; the last has 3 rows [m] and no activation
==================  ==========  ==================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
import functools
from os import PathLike
from typing import Any, TypeAlias
import zipfile

import numpy as np
from softrobot_dynamics.annotations import Array, Math, Value, Values
from softrobot_dynamics.errors import ArgumentError, closest, MISSING, Problem
from softrobot_dynamics.schema.fields import NAME_PATTERN
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.tracing import graph
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.graph import Node, SYMBOLIC

Layer: TypeAlias = tuple[Any, Any]  # weights (rows, columns) and shifts (rows,)
FORMAT = 1
FILE_FIELDS = 'format', 'length', 'activation', 'x_scale', 'q_scale', 'coordinates'
ACTIVATIONS = {
    'tanh': lambda z, math: math.tanh(z),
    'sin': lambda z, math: math.sin(z),
    'silu': lambda z, math: z / (1.0 + math.exp(-z)),
    'softplus': lambda z, math: math.log(1.0 + math.exp(z)),
}
"""Formulas that may follow a hidden layer, by name; all of them smooth."""


@dataclass(frozen=True)
class Network:
    """A perceptron N(x, q) [m] of a body's material points x (3) [m] and coordinates q (n)."""

    length: float  # of the body [m]
    coordinates: tuple[str, ...]  # names (n,)
    activation: str
    x_scale: tuple[float, ...]  # (3,) [m]
    q_scale: tuple[float, ...]  # (n,)
    layers: tuple[Layer, ...]  # of (rows of W, b), first to last

    def __call__(self, x: Values, q: Values, math: Math) -> Values:
        """Return N (3 values) [m] of x (3) and q (n), numbers or arrays or symbols."""
        values = [v / scale for v, scale in zip((*x, *q), self.x_scale + self.q_scale)]
        for i, (W, b) in enumerate(self.layers):
            if i > 0:
                values = [ACTIVATIONS[self.activation](z, math) for z in values]
            values = [_affine(row, shift, values) for row, shift in zip(W, b)]
        return values

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of the file."""
        layers: dict[str, Array] = {}
        for i, (W, b) in enumerate(self.layers):
            layers |= {f'W{i}': np.array(W), f'b{i}': np.array(b)}
        return {
            'format': np.array(FORMAT),
            'length': np.array(self.length),
            'activation': np.array(self.activation),
            'coordinates': np.array(self.coordinates),
            'x_scale': np.array(self.x_scale),
            'q_scale': np.array(self.q_scale),
            **layers,
        }


def _affine(row: Sequence[float], shift: float, values: Values) -> Value:
    return sum((weight * value for weight, value in zip(row, values)), shift)


@functools.cache
def derivatives(activation: str) -> tuple[Node, ...]:
    """Nodes of an activation of the symbol ('q', 0) and of its first three derivatives."""
    z = graph.symbol('q', 0)
    nodes = [graph.as_node(ACTIVATIONS[activation](z, SYMBOLIC))]
    for _ in range(3):
        nodes += tangent(nodes[-1:], {z.value: 1.0})
    return tuple(nodes)


def write_network(file: str | PathLike[str], network: Network) -> None:
    """Write a :class:`Network` into an .npz file; ArgumentError if that cannot be done."""
    try:
        with open(file, 'wb') as stream:
            np.savez(stream, **network.arrays())
    except OSError as error:
        raise ArgumentError('file', str(file), f'one to write to ({error.strerror})') from error


def read_network(file: str | PathLike[str], path: str, problems: Problems) -> Network | None:
    """
    Return the :class:`Network` in a file of weights, or None and append every problem found.

    A problem's path is that of the field, ``path``, and the name of the array.
    """
    arrays = read_arrays(file, path, problems)
    if arrays is None:
        return None
    check = _Archive(arrays, path, problems)
    before = len(problems)
    network = check.network()
    return network if len(problems) == before else None


def read_arrays(file: str | PathLike[str], path: str, problems: Problems) -> Any:
    """Return {name: array} of an .npz archive, or None and append a Problem."""
    try:
        with open(file, 'rb') as stream:
            if not zipfile.is_zipfile(stream):
                raise ValueError('it is no zip archive')
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = getattr(error, 'strerror', None) or ' '.join(str(error).split())
        problems.append(Problem(path, str(file), f'an .npz archive of arrays ({reason})'))
        return None


class _Archive:
    """The arrays of a file while they are being checked."""

    def __init__(self, arrays: dict[str, Any], path: str, problems: Problems) -> None:
        self._arrays, self._path, self._problems = arrays, path, problems

    def network(self) -> Network:
        """Return the Network of the arrays; it is meaningful if there were no problems."""
        self._choice('format', (FORMAT,))
        activation = self._choice('activation', tuple(ACTIVATIONS))
        length = self._numbers('length', (), 'a number > 0 [m]', above=0.0)
        x_scale = self._numbers('x_scale', (3,), '3 numbers > 0 [m]', above=0.0)
        q_scale = self._numbers('q_scale', (None,), 'numbers > 0, one per coordinate', above=0.0)
        n = 0 if q_scale is None else len(q_scale)
        names = self._names(n) if n else ()
        count = self._count()
        self._refuse_unknown(count)
        layers = self._layers(3 + n, count) if n else ()
        return Network(length, names, activation, x_scale, q_scale, layers)

    def _count(self) -> int:
        """Return the number of layers, at least two, by the W that is last."""
        last = [i for i in range(len(self._arrays)) if f'W{i}' in self._arrays]
        return max([1, *last]) + 1

    def _layers(self, width: int, count: int) -> Any:
        """Return (W, b) of layers, up to one that is wrong; ``width``: number of inputs."""
        layers, why = [], f'as x and q are {width} numbers'
        for i in range(count):
            height = 3 if i == count - 1 else None
            words = f'finite numbers of shape ({height or "rows"}, {width}), {why}'
            W = self._numbers(f'W{i}', (height, width), words)
            if W is None:
                break
            width, why = len(W), f'as W{i} has {len(W)} rows'
            b = self._numbers(f'b{i}', (width,), f'finite numbers of shape ({width},), {why}')
            layers.append((W, b))
        return tuple(layers)

    def _numbers(
        self, name: str, shape: tuple[int | None, ...], expected: str, above: float = -np.inf
    ) -> Any:
        """Return an array as nested tuples of floats; None in ``shape`` is any size but 0."""
        array = self._arrays.get(name, MISSING)
        if array is MISSING or array.dtype.kind not in 'fiu':
            return self._wrong(name, MISSING if array is MISSING else array.dtype.name, expected)
        fits = array.ndim == len(shape) and array.size > 0
        if not fits or any(b not in (a, None) for a, b in zip(array.shape, shape)):
            return self._wrong(name, array.shape, expected)
        if not (np.isfinite(array) & (array > above)).all():
            return self._wrong(name, array, expected)
        return _tuples(array.astype(float).tolist())

    def _choice(self, name: str, known: Sequence[Any]) -> Any:
        array = self._arrays.get(name, MISSING)
        value = array.item() if array is not MISSING and array.ndim == 0 else array
        if isinstance(value, (int, str)) and value in known:
            return value
        words = f'one of {", ".join(map(str, known))}{closest(value, known)}'
        return self._wrong(name, value, words if len(known) > 1 else str(known[0]))

    def _names(self, n: int) -> tuple[str, ...]:
        array = self._arrays.get('coordinates')
        if array is None:
            return tuple(f'q{j + 1}' for j in range(n))
        names = tuple(array.tolist()) if array.ndim == 1 and array.dtype.kind == 'U' else ()
        if len(names) != n or len(set(names)) < n or not all(map(NAME_PATTERN.fullmatch, names)):
            self._wrong('coordinates', array, f'{n} different names, one per entry of q_scale')
        return names

    def _refuse_unknown(self, count: int) -> None:
        known = {*FILE_FIELDS, *(f'{kind}{i}' for kind in 'Wb' for i in range(count))}
        for name in sorted(set(self._arrays) - known):
            words = f'no such array: known are {", ".join(sorted(known))}'
            self._wrong(name, np.shape(self._arrays[name]), words)

    def _wrong(self, name: str, value: object, expected: str) -> None:
        self._problems.append(Problem(f'{self._path}:{name}', value, expected))


def _tuples(nested: object) -> Any:
    return tuple(map(_tuples, nested)) if isinstance(nested, list) else nested
