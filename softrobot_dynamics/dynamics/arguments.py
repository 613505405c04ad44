# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check arguments of calls: a wrong one raises an ArgumentError with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.schema.bounds import is_number

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

TIME_TOLERANCE = 1e-9  # [s], or of a period or duration: by so much times differ by rounding

_FLOAT = np.dtype(float)


def checked(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return ``value`` as a contiguous float64 array of ``shape``, finite; or ArgumentError."""
    try:
        usual = type(value) is np.ndarray and value.dtype is _FLOAT  # as in every loop
        array = np.ascontiguousarray(value if usual else _real(value), dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(name, value, f'numbers of shape {shape}') from None
    if array.shape != shape:
        raise ArgumentError(name, value, f'shape {shape}, not {array.shape}')
    if not finite(array):
        raise ArgumentError(name, value, 'finite numbers')
    return array


def _real(value: ArrayLike) -> Array:
    """
    Return an array of real numbers as one, or raise TypeError.

    numpy would convert text and booleans, drop imaginary parts and ignore masks.
    """
    found = np.asanyarray(value)
    kind = found.dtype.kind
    if kind == 'O' and not all(is_number(number) for number in found.flat):
        raise TypeError
    if kind not in 'fiuO' or (isinstance(found, np.ma.MaskedArray) and found.mask.any()):
        raise TypeError
    return found


def checked_time(name: str, value: float) -> float:
    """Return a finite time [s] as a float, or ArgumentError."""
    if not (is_number(value) and math.isfinite(value)):
        raise ArgumentError(name, value, 'a finite time [s]')
    return float(value)


def checked_rows(name: str, value: ArrayLike, width: int) -> Matrix:
    """Return ``value`` as :func:`checked` does, of shape (K, width) with any K > 0."""
    count = len(value) if np.iterable(value) else 0
    if not count:
        raise ArgumentError(name, value, f'numbers of shape (K, {width}), K > 0')
    return checked(name, value, (count, width))


def finite(array: Array) -> bool:
    """Tell whether all numbers of an array are finite."""
    # quick, but large squares may be infinite, and for long arrays BLAS wakes all its threads
    if array.size < 1000 and math.isfinite(np.vdot(array, array)):
        return True
    return bool(np.isfinite(array).all())


def body_index(model: CompiledModel, body: str | None, name: str = 'body') -> int:
    """Index of a body by name ('tip' or None: the last one); ArgumentError if unknown."""
    if body is None or (body == 'tip' and 'tip' not in model.body_names):
        return len(model.body_names) - 1
    if body not in model.body_names:
        raise ArgumentError(name, body, 'one of ' + ', '.join(model.body_names))
    return model.body_names.index(body)


def checked_point(point: ArrayLike | None) -> Vector | None:
    """Return a material point (3,) as :func:`checked` does; None, for the tip, as it is."""
    return None if point is None else checked('point', point, (3,))


def require_frame(point: Array | None, result: Array, name: str = 'point') -> None:
    """Raise ArgumentError for a material point at which the body has no frame."""
    if not finite(result):
        raise ArgumentError(name, point, 'a material point at which the body has a frame')


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """Return ``value``, one of the texts ``known``; or ArgumentError."""
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(name, value, 'one of ' + ', '.join(known))
    return value


def require_finite(model: CompiledModel, q: Vector, result: Array) -> None:
    """Raise ArgumentError for q, naming what it puts out of range, unless results are finite."""
    if finite(result):
        return
    problems = [f'; {words}' for _, words in out_of_range(model, q)]
    raise ArgumentError('q', q, f'a posture that the bodies can represent{"".join(problems)}')


def out_of_range(model: CompiledModel, q: Vector) -> Iterator[tuple[str, str]]:
    """Yield (largest coordinate, reason) of each joint and body that q (n,) puts out of range."""
    for module, of_joint, of_body in model.description.coordinate_slices():
        parts = (module.joint_name, module.joint, of_joint), (module.name, module.body, of_body)
        for name, part, own in parts:
            words = part.explain(q[own]) if hasattr(part, 'explain') else None
            if words:
                worst = own.start + int(np.argmax(np.abs(q[own])))
                yield model.coordinate_names[worst], f'{name}: {words}'
