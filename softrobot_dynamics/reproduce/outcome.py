# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Result of a system: checks against something independent, remarks, data."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]  # shapes and units are in the docstrings
Tell: TypeAlias = Callable[[str], AbstractContextManager[object]]


class Check(NamedTuple):
    """The difference of a result from an independent one."""

    what: str
    error: float
    tolerance: float  # reproduced up to this error
    unit: str  # of both; '' relative to the largest entry
    against: str  # what is independent

    @property
    def holds(self) -> bool:
        """Tell whether the error is a number within the tolerance."""
        return math.isfinite(self.error) and self.error <= self.tolerance

    def in_words(self) -> str:
        """Return error, tolerance, and what it was compared with."""
        unit = f' {self.unit}' if self.unit else ''
        verdict = '' if self.holds else 'NO: '
        return f'{verdict}{self.error:.2g}{unit} (at most {self.tolerance:g}), {self.against}'


class SystemResult(NamedTuple):
    """Result of a system; ``data`` holds numbers, texts, arrays, and mappings of such."""

    checks: tuple[Check, ...]
    remarks: tuple[str, ...]  # what differs from the text, and what the text leaves open
    data: dict[str, Any]

    @property
    def holds(self) -> bool:
        """Tell whether all checks hold."""
        return all(check.holds for check in self.checks)


def quietly(words: str) -> AbstractContextManager[None]:
    """Report no progress."""
    return nullcontext()


def difference(found: ArrayLike, wanted: ArrayLike) -> float:
    """Return the largest difference of arrays, relative to the largest entry wanted."""
    one, other = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    return float(np.abs(one - other).max() / np.abs(other).max())


def as_json(value: object) -> object:
    """Return data, or a SystemResult, as values that JSON can hold."""
    if isinstance(value, SystemResult):
        checks = [{**check._asdict(), 'holds': check.holds} for check in value.checks]
        return as_json({**value._asdict(), 'holds': value.holds, 'checks': checks})
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
