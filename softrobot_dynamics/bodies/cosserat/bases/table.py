# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A user's own functions, by their values."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from softrobot_dynamics.annotations import Complaints, Math, Value, Values
from softrobot_dynamics.bodies.cosserat.bases.contract import Basis, register
from softrobot_dynamics.schema.fields import items, number


@register('table')
@dataclass(frozen=True)
class TableBasis(Basis):
    """
    phi_k has the row ``values[k]`` at the ``stations``, and is smooth between.

    A cubic spline without further conditions at its ends; a parabola or a straight line through
    three or two stations.
    """

    # s / L, from 0 to 1
    stations: tuple[float, ...] = items(number('-', at_least=0.0, at_most=1.0))
    values: tuple[tuple[float, ...], ...] = items(items(number('-')))

    def count(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def at(self, sigma: Value, math: Math) -> Values:
        """See :class:`~softrobot_dynamics.bodies.cosserat.bases.contract.Basis`."""
        begun = [1.0, *(math.step(sigma - s) for s in self.stations[1:-1]), 0.0]
        pieces = [here - after for here, after in zip(begun, begun[1:])]
        away = [sigma - s for s in self.stations[:-1]]
        return [
            sum(on * _cubic(c, x) for on, c, x in zip(pieces, rows, away))
            for rows in self._coefficients
        ]

    def validate(self) -> Complaints:
        """Yield wrong fields: stations that increase from 0 to 1, a value of each row at each."""
        stations = list(self.stations)
        if stations[0] != 0.0 or stations[-1] != 1.0 or sorted(set(stations)) != stations:
            yield 'stations', self.stations, 'numbers that increase from 0 to 1'
        for k, row in enumerate(self.values):
            if len(row) != len(stations):
                yield f'values[{k}]', row, f'{len(stations)} numbers, one per station'

    @cached_property
    def _coefficients(self) -> list[list[list[float]]]:
        """Coefficients of each function, piece by piece, highest power first."""
        from scipy.interpolate import CubicSpline  # late: scipy is slow to import

        spline = CubicSpline(self.stations, np.transpose(self.values))
        return spline.c.transpose(2, 1, 0).tolist()


def _cubic(c: Values, x: Value) -> Value:
    return ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
