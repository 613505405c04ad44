# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers of a robot file as parameters of a fit: bounds, scales, factors and shifts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.description.variation import numbers_at, vary
from softrobot_dynamics.errors import ArgumentError, DescriptionError

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

MAX_FACTOR = 1e3  # by which a number without bounds may change, if the robot file takes that
DIFFERENCE_STEP = 1e-6  # of x, which is relative or a fraction of a span
_BOUND_BISECTIONS = 30


class FitParameter(NamedTuple):
    """
    A number of a robot file, or one factor or shift of several that differ.

    ``relative``: it keeps its sign, and x is the logarithm of what it is multiplied by; else x is
    the number in spans of its bounds. ``deviation`` is how well the nominal one was known before,
    one standard deviation; infinite: not at all.
    """

    name: str  # as of `vary`
    nominal: float  # of the file; of a factor 1, of a shift 0
    lower: float
    upper: float
    factor: bool
    deviation: float = math.inf
    shift: bool = False

    @property
    def relative(self) -> bool:
        """Tell whether steps are factors."""
        return self.lower * self.upper > 0.0 and self.nominal * self.lower > 0.0

    def value(self, x: float) -> float:
        """Return the number, or factor, of an x."""
        if self.relative:
            return self.nominal * math.exp(x)
        return x * (self.upper - self.lower)

    def x(self, value: float) -> float:
        """Return the x of a number, or factor."""
        if self.relative:
            return math.log(value / self.nominal)
        return value / (self.upper - self.lower)

    def derivative(self, x: float) -> float:
        """Return the derivative of `value` by x."""
        return self.value(x) if self.relative else self.upper - self.lower

    def change(self, x: float) -> float | str:
        """Return the changes as `vary` takes them."""
        value = float(self.value(x))
        how = '×' if self.factor else '+=' if self.shift else ''
        return f'{how}{value!r}' if how else value


@dataclass(frozen=True)
class FitParameters:
    """A robot, and the numbers of it that may change; x (p,) are all of them."""

    description: RobotDescription
    each: tuple[FitParameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names (p,)."""
        return tuple(p.name for p in self.each)

    @property
    def start(self) -> Vector:
        """Return x (p,) of the robot file, moved into the bounds."""
        given = np.array([p.x(p.nominal) for p in self.each])
        return np.clip(given, *self.bounds)

    @property
    def bounds(self) -> Matrix:
        """Return the least and the largest x, (2, p)."""
        ends = [sorted((p.x(p.lower), p.x(p.upper))) for p in self.each]
        return np.array(ends, dtype=float).reshape(-1, 2).T.copy()

    @property
    def known(self) -> tuple[int, ...]:
        """Return which (k,) were known before."""
        return tuple(i for i, p in enumerate(self.each) if math.isfinite(p.deviation))

    def off(self, x: Vector) -> Vector:
        """Return how far these are from the nominal ones (k,), in deviations."""
        known = ((self.each[i], x[i]) for i in self.known)
        return np.array([(p.value(v) - p.nominal) / p.deviation for p, v in known])

    def off_derivatives(self, x: Vector) -> Matrix:
        """Return the derivatives of `off` by x, (k, p)."""
        derivatives = np.zeros((len(self.known), len(x)))
        for row, i in zip(derivatives, self.known):
            row[i] = self.each[i].derivative(x[i]) / self.each[i].deviation
        return derivatives

    def robot(self, x: Vector) -> RobotDescription:
        """Return the robot of an x (p,); DescriptionError where there is none."""
        return vary(self.description, {p.name: p.change(v) for p, v in zip(self.each, x)})

    def beside(self, x: Vector, k: int) -> tuple[RobotDescription, float]:
        """Return the robot with x_k a little changed, within its bounds, and by how much."""
        step = DIFFERENCE_STEP if x[k] + DIFFERENCE_STEP <= self.bounds[1, k] else -DIFFERENCE_STEP
        return self.robot(np.r_[x[:k], x[k] + step, x[k + 1 :]]), step

    def changed(self) -> RobotDescription:
        """Return a robot in which each number is a little other than the robot file's."""
        x = self.start
        return self.robot(x + [self.beside(x, k)[1] for k in range(len(x))])

    def only(self, names: Sequence[str]) -> FitParameters:
        """Return those of these names, the others as in the robot file."""
        return FitParameters(self.description, tuple(p for p in self.each if p.name in names))


def read_parameters(description: RobotDescription, texts: Sequence[str]) -> FitParameters:
    """
    Return the parameters that texts name: 'young_modulus', 'segment1.density=900..1200'.

    Names are those of `vary`; one that means several numbers is one parameter, the number of all
    if they are equal, else what multiplies them, or is added where the bounds hold 0, as of
    't4/t5/t6.path.phase=-0.3..0.3'. Bounds are such numbers, factors or shifts; without any,
    a thousandth and a thousandfold of the file's, as far as the file takes that. 'density=+-50',
    or 'density=900..1200+-50': the file's number, of a factor 1, was known before to such a
    standard deviation. Raises ArgumentError, UnknownNameError, DescriptionError for bounds that a
    robot cannot have.
    """
    if not texts:
        raise ArgumentError('fit', texts, 'names of numbers in the robot file: young_modulus')
    each = tuple(_parameter(description, text.strip()) for text in texts)
    names = [p.name for p in each]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError('fit', name, 'each name once')
    return FitParameters(description, each)


def _parameter(description: RobotDescription, text: str) -> FitParameter:
    name, _, said = (part.strip() for part in text.partition('='))
    ends, about, spread = (part.strip() for part in said.partition('+-'))
    numbers = numbers_at(description, name)
    differ = any(number != numbers[0] for number in numbers)
    given = bool(ends or ('=' in text and not about))
    lower, upper = _range(text, ends) if given else (1.0, 1.0)
    shift = differ and lower < 0.0 < upper  # no factor changes signs
    factor = differ and not shift
    nominal = 1.0 if factor else 0.0 if shift else numbers[0]
    if not given and (nominal == 0.0 or not math.isfinite(nominal)):
        raise ArgumentError('fit', text, f'bounds, {name}=A..B, as the file has {nominal:g}')
    if not given:
        lower, upper = sorted(
            _reach(description, name, nominal, end) for end in (1 / MAX_FACTOR, MAX_FACTOR)
        )
    deviation = _deviation(text, spread) if about else math.inf
    parameter = FitParameter(name, nominal, lower, upper, factor, deviation, shift)
    for end in parameter.x(lower), parameter.x(upper):
        vary(description, {name: parameter.change(end)})  # refuses what a robot cannot have
    return parameter


def _deviation(text: str, spread: str) -> float:
    """Return the number of +-D."""
    try:
        deviation = float(spread)
    except ValueError:
        deviation = math.nan
    if not 0.0 < deviation < math.inf:
        raise ArgumentError('fit', text, 'NAME=+-D or NAME=A..B+-D with a deviation D > 0')
    return deviation


def _range(text: str, ends: str) -> tuple[float, float]:
    """Return the two numbers of A..B."""
    try:
        lower, upper = map(float, ends.split('..'))
    except ValueError:
        lower, upper = math.nan, math.nan
    if not (lower < upper and math.isfinite(lower) and math.isfinite(upper)):
        raise ArgumentError('fit', text, 'NAME, or NAME=A..B with finite numbers A < B')
    return lower, upper


def _reach(description: RobotDescription, name: str, nominal: float, far: float) -> float:
    """Return the number farthest from the nominal one, at most ``far`` times, that can be."""

    def possible(share: float) -> bool:
        try:
            vary(description, {name: f'×{far**share!r}'})
        except DescriptionError:
            return False
        return True

    if possible(1.0):
        return nominal * far
    low, high = 0.0, 1.0
    for _ in range(_BOUND_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if possible(middle) else (low, middle)
    return nominal * far**low
