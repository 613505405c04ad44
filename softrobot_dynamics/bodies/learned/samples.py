# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sampled deformations of a body, and the file that they come in."""

from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.learned.networks import read_arrays
from softrobot_dynamics.errors import DescriptionError, MISSING, Problem
from softrobot_dynamics.schema.parsing import Problems


class Samples(NamedTuple):
    """S samples of the position of a material point, p = f(x, q)."""

    x: Matrix  # (S, 3) material points, their places at rest [m]
    q: Matrix  # (S, n) coordinates
    p: Matrix  # (S, 3) positions [m]
    coordinates: tuple[str, ...] = ()  # names (n,), or none


def read_samples(file: str | PathLike[str]) -> Samples:
    """
    Return the :class:`Samples` in an .npz archive of x (S, 3), q (S, n) and p (S, 3).

    An array `coordinates` of n names is optional. DescriptionError tells what is wrong.
    """
    problems = Problems()
    arrays = read_arrays(file, 'file', problems)
    if arrays is not None:
        for name, columns in (('x', 3), ('q', None), ('p', 3)):
            array = arrays.get(name, np.zeros(0))
            if not _is_table(array, columns):
                words = f'finite numbers of shape (S, {columns or "n"})'
                problems.append(Problem(name, array.shape if name in arrays else MISSING, words))
    if problems:
        raise DescriptionError(tuple(problems), str(file))
    names = tuple(np.ravel(arrays.get('coordinates', ())).tolist())
    x, q, p = (arrays[name].astype(float) for name in 'xqp')
    return Samples(x, q, p, names)


def _is_table(array: NDArray[Any], columns: int | None) -> bool:
    return (
        array.ndim == 2
        and array.size > 0
        and columns in (None, array.shape[1])
        and array.dtype.kind in 'fiu'
        and bool(np.isfinite(array).all())
    )
