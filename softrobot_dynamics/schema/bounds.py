# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The values that a number may have.

Beside the bounds of each there is one for the magnitude of all, in whatever unit: products of a
few such numbers, and their inverses, are finite.
"""

import math
from numbers import Real
from typing import cast, NamedTuple, SupportsFloat, TypeGuard

MAX_MAGNITUDE = 1e20  # of a finite number
MIN_MAGNITUDE = 1e-30  # of a number that may not be negative, unless it is 0


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


class Bounds(NamedTuple):
    """Bounds of a number."""

    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    below: float | None = None
    infinite: bool = False  # infinity, but never NaN, is allowed too

    def contain(self, x: float) -> bool:
        """Tell whether the number `x`, as a float, is one of these."""
        try:
            x = float(x)
        except OverflowError:  # a whole number beyond 1e308
            return False
        return (
            self.measurable(x)
            and (self.above is None or x > self.above)
            and (self.at_least is None or x >= self.at_least)
            and (self.at_most is None or x <= self.at_most)
            and (self.below is None or x < self.below)
        )

    def measurable(self, x: float) -> bool:
        """Tell whether the magnitude of `x` is one that a number may have."""
        if math.isinf(x):
            return self.infinite
        smallest = MIN_MAGNITUDE if self.above == 0.0 or self.at_least == 0.0 else 0.0
        return x == 0.0 or smallest <= abs(x) <= MAX_MAGNITUDE

    def closed(self) -> tuple[float, float]:
        """Return (least, greatest) number, infinities where there are none."""
        least = -math.inf if self.at_least is None else self.at_least
        most = math.inf if self.at_most is None else self.at_most
        if self.above is not None:
            least = max(least, math.nextafter(self.above, math.inf))
        if self.below is not None:
            most = min(most, math.nextafter(self.below, -math.inf))
        return least, most

    def __str__(self) -> str:
        signs = zip(('>', '>=', '<=', '<'), self[:4])
        words = [f'{sign} {bound:g}' for sign, bound in signs if bound is not None]
        return ' '.join(['a number', ' and '.join(words)]).rstrip()


UNBOUNDED = Bounds()


def hint(value: object, bounds: Bounds) -> str:
    """Explain what is easily overlooked: text, what is not finite, or an absurd magnitude."""
    try:
        x = float(cast(SupportsFloat, value))
    except (TypeError, ValueError, OverflowError):
        return ''
    if isinstance(value, str):
        return ', not text (plain PyYAML reads 1e-3 as text: write 1.0e-3)'
    if not math.isfinite(x):
        return ', finite'
    if bounds.measurable(x):
        return ''
    unlimited = ', or .inf' if bounds.infinite else ''
    return f', of a magnitude from {MIN_MAGNITUDE:g} to {MAX_MAGNITUDE:g}{unlimited}'
