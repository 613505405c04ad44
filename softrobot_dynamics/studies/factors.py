# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Factors of a study: numbers of the simulated robot, of the loop, and of its controller.

A number of the robot file is varied by factors, as 'young_modulus=0.7..1.3'; where it is zero, for
which a factor changes nothing, by the values themselves. All others are varied by their values.
A sample of the factors has a row of values for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import itertools
import math
import re
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.description.variation import vary
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.simulation import bus, sensing

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


LOOP_FACTORS = {'delay': 's'}  # of the loop itself, and their units
# what has others, by group
FAULT_GROUPS: Any = {bus.GROUP: bus.Bus, sensing.GROUP: sensing.Sensors}
# may begin the name of a parameter, and does where there are two
CONTROLLER_PREFIX = 'controller.'
_NUMBER_PATTERN = r'([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.,]*)'
_RANGE_PATTERN = re.compile(rf'\s*{_NUMBER_PATTERN}\s*\.\.\s*{_NUMBER_PATTERN}\s*')
_VALUE_PATTERN = re.compile(rf'\s*{_NUMBER_PATTERN}\s*')
_TIME_UNITS = {'': 1.0, 's': 1.0, 'ms': 1e-3, 'us': 1e-6, 'µs': 1e-6}
_EXPECTED_VALUES = 'a range such as 0.7..1.3 or 0..5ms, or values such as 0.8,1,1.2'
# of parameters of a controller that a loop without ROS has not
_NODE_PREFIXES = ('safe_', 'watchdog')


class Factor(NamedTuple):
    """One thing that is varied, in SI units or as a factor."""

    name: str
    group: str  # robot, loop, bus, sensors or controller
    unit: str  # of its values; '×': factors
    low: float
    high: float
    values: tuple[float, ...] = ()  # the only ones that it takes; none: all between low and high

    @property
    def path(self) -> str:
        """Its name where it belongs, without the word that says where that is."""
        known = self.group in FAULT_GROUPS or self.group == 'controller'
        return self.name.removeprefix(f'{self.group}.') if known else self.name

    @property
    def shown(self) -> tuple[float, str]:
        """(factor, unit) in which its values are shown."""
        return (1e3, 'ms') if self.unit == 's' and self.high < 0.1 else (1.0, self.unit)

    def in_words(self, value: float) -> str:
        """Return a value as it is shown, three digits of it."""
        factor, unit = self.shown
        number = f'{factor * value:.3g}'
        return f'{unit}{number}' if unit == '×' else f'{number} {unit}'.rstrip()

    def change(self, value: float) -> float | str:
        """Return a value as `vary` takes it."""
        return f'×{value!r}' if self.unit == '×' else value


def read_factors(
    given: Mapping[str, Any], description: RobotDescription, parameters: Mapping[str, Any]
) -> tuple[Factor, ...]:
    """
    Return the factors that are ``given``, {name: range or values}.

    A range is a text such as '0.7..1.3' or a pair of numbers, values are a text such as '0.8,1' or
    a list. ``parameters`` are the controller's, rows by name. UnknownNameError or ArgumentError
    for what cannot be varied, or not so.
    """
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError('vary', given, 'one or more names, each with its range or values')
    return tuple(_factor(str(name), text, description, parameters) for name, text in given.items())


def _factor(
    name: str, given: object, description: RobotDescription, parameters: Mapping[str, Any]
) -> Factor:
    """Return a factor by its name and the text of its values; ArgumentError."""
    group, unit = _place(name, description, parameters)
    numbers, ranges = _numbers(name, given, unit)
    low, high = min(numbers), max(numbers)
    if ranges and not numbers[0] < numbers[1]:
        raise ArgumentError(f'vary {name}', given, 'a range from a smaller to a greater number')
    if not ranges and len(set(numbers)) < len(numbers):
        raise ArgumentError(f'vary {name}', given, 'values that differ')
    return Factor(
        name=name,
        group=group,
        unit=unit,
        low=low,
        high=high,
        values=() if ranges else tuple(numbers),
    )


def _place(
    name: str, description: RobotDescription, parameters: Mapping[str, Any]
) -> tuple[str, str]:
    """Return (where, unit) of a name; UnknownNameError with all that there are."""
    if name in LOOP_FACTORS:
        return 'loop', LOOP_FACTORS[name]
    faults = {
        p.path: (where, p.unit if p.unit in ('s', 'Hz') else '')
        for where, kind in FAULT_GROUPS.items()
        for p in kind.parameters()
        if p.field['kind'] == 'double'
    }
    if name in faults:
        return faults[name]
    path = name.removeprefix(CONTROLLER_PREFIX)
    known = {
        path: row
        for path, row in parameters.items()
        if row.kind == 'double' and not path.startswith(_NODE_PREFIXES)
    }
    if path in known:
        return 'controller', known[path].unit
    try:
        zero = vary(description, {name: '×0.5'}).digest == description.digest
    except DescriptionError:  # half of it cannot be: then it is not zero
        zero = False
    except UnknownNameError as error:
        own = [CONTROLLER_PREFIX + path if path in LOOP_FACTORS else path for path in known]
        names = (*error.known, *LOOP_FACTORS, *faults, *own)
        raise UnknownNameError('number to vary', name, names) from None
    return 'robot', '' if zero else '×'


def _numbers(name: str, given: object, unit: str) -> tuple[list[float], bool]:
    """Return (numbers in the unit, whether they are the ends of a range); ArgumentError."""
    pairs, ranges = _pairs(given)
    units = _TIME_UNITS if unit == 's' else {'': 1.0, unit: 1.0}
    try:
        numbers = [float(number) * units[own] for number, own in pairs]
    except (ValueError, KeyError, TypeError):
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        of = {'×': ', factors of what is in the robot file', '': ''}.get(unit, f' [{unit}]')
        raise ArgumentError(f'vary {name}', given, f'{_EXPECTED_VALUES}{of}')
    return numbers, ranges


def _pairs(given: object) -> tuple[list[tuple[Any, str]], bool]:
    """Return ([(number, its unit)], whether they are the ends of a range)."""
    if not isinstance(given, str):
        values = given if isinstance(given, Sequence) else [given]
        return [(value, '') for value in values], isinstance(given, tuple) and len(values) == 2
    ends = _RANGE_PATTERN.fullmatch(given)
    parts = [ends[1] + ends[2], ends[3] + ends[4]] if ends else given.split(',')
    found = [_VALUE_PATTERN.fullmatch(part) for part in parts]
    last = found[-1][2] if found[-1] else ''  # stands for the others, too: 0..5ms
    return [(one[1], one[2] or last) if one else ('', '') for one in found], bool(ends)


DEFAULT_RUNS = 100


def _sobol(count: int, factors: int, seed: int) -> Matrix:
    from scipy.stats import qmc  # late: scipy is slow to import

    power = math.ceil(math.log2(count))  # only so many are balanced
    return qmc.Sobol(factors, seed=seed).random_base2(power)[:count]


def _latin(count: int, factors: int, seed: int) -> Matrix:
    from scipy.stats import qmc

    return qmc.LatinHypercube(factors, seed=seed).random(count)


def _random(count: int, factors: int, seed: int) -> Matrix:
    return np.random.default_rng(seed).random((count, factors))


DESIGNS: dict[str, Callable[[int, int, int], Matrix]] = {
    'sobol': _sobol,
    'latin': _latin,
    'random': _random,
}
"""(runs, factors, seed) -> (runs, factors) in [0, 1)."""
GRID_DESIGN = 'grid'


class RunSampling(NamedTuple):
    """
    Choice of the runs of a study and their values.

    ``design`` is one of DESIGNS, or 'grid' for every combination of given values; by default
    'grid' where all factors have such, else 'sobol'. The same ``seed`` gives the same values.
    """

    runs: int | None = None  # default: DEFAULT_RUNS, or those of the grid
    seed: int = 0
    design: str | None = None


DEFAULT_SAMPLING = RunSampling()


def sample(factors: Sequence[Factor], sampling: RunSampling) -> tuple[str, Matrix]:
    """
    Return (name of the design, values (N, d) of the d factors in N runs).

    UnknownNameError, ArgumentError.
    """
    runs, seed, design = sampling
    given = all(factor.values for factor in factors)
    design = design or (GRID_DESIGN if given and runs is None else 'sobol')
    if design == GRID_DESIGN:
        return design, _grid(factors, runs)
    if design not in DESIGNS:
        raise UnknownNameError('design', design, (*DESIGNS, GRID_DESIGN))
    count = _whole('runs', DEFAULT_RUNS if runs is None else runs, 1)
    unit = DESIGNS[design](count, len(factors), _whole('seed', seed, 0))
    return design, np.column_stack([_scaled(f, column) for f, column in zip(factors, unit.T)])


def _grid(factors: Sequence[Factor], runs: int | None) -> Matrix:
    for factor in factors:
        if not factor.values:
            raise ArgumentError(f'vary {factor.name}', 'a range', 'values, for a grid')
    points = np.array(list(itertools.product(*(factor.values for factor in factors))))
    if runs not in (None, len(points)):
        raise ArgumentError('runs', runs, f'{len(points)}, the points of the grid, or None')
    return points


def _scaled(factor: Factor, unit: Matrix) -> Matrix:
    """Return values of a factor (N,) for numbers in [0, 1)."""
    if factor.values:
        return np.array(factor.values)[(unit * len(factor.values)).astype(int)]
    return factor.low + unit * (factor.high - factor.low)


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ArgumentError(name, value, f'a whole number >= {least}')
    return value
