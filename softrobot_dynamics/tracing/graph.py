# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Expression graph, recorded by the tracer while a kinematics formula runs.

A formula is ordinary Python. Called with :class:`Node` arguments instead of numbers it builds a
directed acyclic graph. Equal expressions are one node (hash-consing), so shared subexpressions
are found for free, and trivial algebra (x + 0, x * 1, constant folding) is done on construction.
"""

import functools
import hashlib
import math
from typing import Any, cast, NoReturn, TypeAlias
import weakref

from softrobot_dynamics.annotations import Math, Value

Symbol: TypeAlias = tuple[str, int]
"""An input of a formula: a kind of inputs, and the number of one of them."""

_INTERNED: weakref.WeakValueDictionary[int, 'Node'] = weakref.WeakValueDictionary()

UNARY = ('neg', 'sqrt', 'exp', 'log', 'sin', 'cos', 'tan', 'sinh', 'cosh', 'tanh')


class Node:
    """
    One operation of a traced formula; use Python arithmetic and :data:`SYMBOLIC` on it.

    ``op`` names the operation, ``args`` holds its operands and ``value`` its constant data: a
    float for ``constant``, ``(kind, index)`` for ``symbol``, the exponent for ``power`` and the
    order k for ``stumpff``. ``key`` is the same number for the same expression in every process.
    """

    __slots__ = ('op', 'args', 'value', 'key', '__weakref__')
    op: str
    args: tuple['Node', ...]
    value: Any
    key: int

    def __repr__(self) -> str:
        inner = ', '.join(map(repr, self.args))
        return f'{self.op}({inner})' if self.value is None else f'{self.op}[{self.value}]({inner})'

    def __reduce__(self) -> tuple[Any, ...]:
        return _intern, (self.op, self.args, self.value)

    def __add__(self, other: Value) -> 'Node':
        return add(self, as_node(other))

    def __radd__(self, other: Value) -> 'Node':
        return add(as_node(other), self)

    def __sub__(self, other: Value) -> 'Node':
        return subtract(self, as_node(other))

    def __rsub__(self, other: Value) -> 'Node':
        return subtract(as_node(other), self)

    def __mul__(self, other: Value) -> 'Node':
        return multiply(self, as_node(other))

    def __rmul__(self, other: Value) -> 'Node':
        return multiply(as_node(other), self)

    def __truediv__(self, other: Value) -> 'Node':
        return divide(self, as_node(other))

    def __rtruediv__(self, other: Value) -> 'Node':
        return divide(as_node(other), self)

    def __neg__(self) -> 'Node':
        return negate(self)

    def __pos__(self) -> 'Node':
        return self

    def __pow__(self, exponent: Value) -> 'Node':
        return power(self, exponent)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            'a kinematics formula cannot branch on a traced value; '
            'write one expression that holds everywhere'
        )

    __float__ = __bool__

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Node) else self.__bool__()

    __hash__ = object.__hash__


def _intern(op: str, args: tuple[Node, ...] = (), value: object = None) -> Node:
    text = f'{op} {value!r} ' + ' '.join(str(arg.key) for arg in args)
    key = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=12).digest(), 'big')
    node = _INTERNED.get(key)
    if node is None:
        node = Node()
        node.op, node.args, node.value, node.key = op, args, value, key
        _INTERNED[key] = node
    return node


def constant(value: float) -> Node:
    """Return the node of a number."""
    return _intern('constant', (), float(value))


@functools.cache
def symbol(kind: str, index: int) -> Node:
    """Return the node of an input: ``kind`` groups inputs (``'q'``), ``index`` numbers them."""
    return _intern('symbol', (), (kind, index))


def symbols(kind: str, count: int) -> list[Node]:
    """Return the nodes of all inputs of a kind."""
    return [symbol(kind, index) for index in range(count)]


def as_node(value: Node | float) -> Node:
    """Return ``value`` itself if it is a node, else the constant node of a number."""
    return value if isinstance(value, Node) else constant(value)


def is_constant(node: Node, value: float | None = None) -> bool:
    """Tell whether a node is a constant, and, if given, that constant."""
    return node.op == 'constant' and (value is None or node.value == value)


def add(a: Node, b: Node) -> Node:
    """Return the node of a + b."""
    if is_constant(a) and is_constant(b):
        return constant(a.value + b.value)
    if is_constant(a, 0.0):
        return b
    if is_constant(b, 0.0):
        return a
    if b.op == 'neg':
        return subtract(a, b.args[0])
    if a.op == 'neg':
        return subtract(b, a.args[0])
    return _intern('add', (a, b) if a.key <= b.key else (b, a))


def subtract(a: Node, b: Node) -> Node:
    """Return the node of a - b."""
    if is_constant(a) and is_constant(b):
        return constant(a.value - b.value)
    if is_constant(b, 0.0):
        return a
    if is_constant(a, 0.0):
        return negate(b)
    if a is b:
        return constant(0.0)
    if b.op == 'neg':
        return add(a, b.args[0])
    return _intern('sub', (a, b))


def multiply(a: Node, b: Node) -> Node:
    """Return the node of a * b; constants are gathered in front, signs pulled out."""
    if is_constant(b):
        a, b = b, a
    if is_constant(a):
        if is_constant(b):
            return constant(a.value * b.value)
        if a.value == 0.0:
            return constant(0.0)
        if a.value == 1.0:
            return b
        if a.value == -1.0:
            return negate(b)
        if b.op == 'mul' and is_constant(b.args[0]):
            return multiply(constant(a.value * b.args[0].value), b.args[1])
        return _intern('mul', (a, b))
    if a.op == 'neg':
        return negate(multiply(a.args[0], b))
    if b.op == 'neg':
        return negate(multiply(a, b.args[0]))
    return _intern('mul', (a, b) if a.key <= b.key else (b, a))


def divide(a: Node, b: Node) -> Node:
    """Return the node of a / b."""
    if is_constant(b):
        return (
            multiply(constant(1.0 / b.value), a)
            if _is_exact_inverse(b.value)
            else (constant(a.value / b.value) if is_constant(a) else _intern('div', (a, b)))
        )
    if is_constant(a, 0.0):
        return a
    if a.op == 'neg':
        return negate(divide(a.args[0], b))
    return _intern('div', (a, b))


def _is_exact_inverse(value: float) -> bool:
    return value != 0.0 and math.frexp(value)[0] in (0.5, -0.5)


def negate(a: Node) -> Node:
    """Return the node of -a."""
    if is_constant(a):
        return constant(-a.value)
    if a.op == 'neg':
        return a.args[0]
    if a.op == 'sub':
        return subtract(a.args[1], a.args[0])
    return _intern('neg', (a,))


def power(a: Node, exponent: float) -> Node:
    """Return the node of a ** number; small whole exponents become products."""
    if isinstance(exponent, Node):
        if not is_constant(exponent):
            raise TypeError('the exponent of ** must be a number; write exp(b * log(a))')
        exponent = exponent.value
    if exponent == 0:
        return constant(1.0)
    if exponent == 0.5:
        return unary('sqrt', a)
    if exponent < 0:
        return divide(constant(1.0), power(a, -exponent))
    if exponent == int(exponent) and exponent <= 16:
        half = power(a, int(exponent) // 2)
        square = multiply(half, half)
        return multiply(square, a) if int(exponent) % 2 else square
    return (
        constant(a.value**exponent) if is_constant(a) else _intern('power', (a,), float(exponent))
    )


def unary(op: str, a: Value) -> Node:
    """Apply one of :data:`UNARY` to a node or number."""
    a = as_node(a)
    if op == 'neg':
        return negate(a)
    if is_constant(a):
        return constant(getattr(math, op)(a.value))
    return _intern(op, (a,))


def arctan2(y: Value, x: Value) -> Node:
    """Angle of the point (x, y) [rad]."""
    y, x = as_node(y), as_node(x)
    if is_constant(y) and is_constant(x):
        return constant(math.atan2(y.value, x.value))
    return _intern('arctan2', (y, x))


def stumpff(k: int, z: Value) -> Node:
    """
    Stumpff function c_k(z) = sum_j (-z)^j / (k + 2 j)!; c_0(t^2) = cos t, c_1(t^2) = sin t / t.

    Entire in z, so that rotations need no special case at zero. ``k`` is a whole number >= 0.
    """
    z = as_node(z)
    if is_constant(z, 0.0):
        return constant(1.0 / math.factorial(k))
    return _intern('stumpff', (z,), int(k))


def step(a: Value) -> Node:
    """Return the node that is 1 where a > 0, else 0: for formulas in pieces. It is constant."""
    a = as_node(a)
    return constant(a.value > 0.0) if is_constant(a) else _intern('step', (a,))


def positive(a: Value) -> Node:
    """Return the node that is a where a > 0, else NaN: for what cannot be without, as a length."""
    a = as_node(a)
    return a if is_constant(a) and a.value > 0.0 else _intern('positive', (a,))


def cubic(a: Value) -> Node:
    """Largest root w of w^3 - w = a, for |a| < 2 / (3 sqrt 3); smooth, 1 at a = 0."""
    a = as_node(a)
    return constant(1.0) if is_constant(a, 0.0) else _intern('cubic', (a,))


class Symbolic:
    """The ``math`` a formula sees while it is traced: the functions it may call."""

    pi = math.pi
    step = staticmethod(step)
    number = staticmethod(constant)
    stumpff = staticmethod(stumpff)
    arctan2 = staticmethod(arctan2)
    cubic = staticmethod(cubic)
    positive = staticmethod(positive)


def _define(op: str) -> Any:
    def function(a: Value) -> Node:
        return unary(op, a)

    function.__name__ = op
    function.__doc__ = f'{op} of a traced value.'
    return staticmethod(function)


for _op in UNARY:
    if _op != 'neg':
        setattr(Symbolic, _op, _define(_op))

SYMBOLIC = cast(Math, Symbolic())
