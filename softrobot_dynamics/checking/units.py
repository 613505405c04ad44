# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find numbers of a robot file that are probably not in SI units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.recursion.constants import TINY

if TYPE_CHECKING:
    from softrobot_dynamics.bodies.contract import Body
    from softrobot_dynamics.description.robot import RobotDescription


class UsualRange(NamedTuple):
    """The usual range of a field."""

    low: float
    high: float
    unit: str


USUAL_RANGES = {
    'young_modulus': UsualRange(1e3, 1e12, 'Pa'),
    'shear_modulus': UsualRange(300.0, 5e11, 'Pa'),
    'density': UsualRange(50.0, 25e3, 'kg/m^3'),
    'length': UsualRange(1e-3, 10.0, 'm'),
    'radius': UsualRange(1e-4, 2.0, 'm'),
    'outer_radius': UsualRange(1e-4, 2.0, 'm'),
    'mass': UsualRange(0.0, 1e4, 'kg'),
    'damping': UsualRange(0.0, 10.0, 's'),
}
"""Of the fields of bodies and their materials."""


MAX_OFFSET_RATIO = 2.0  # of the section's reach, for a tendon's distance from the axis
SECTION_COUNT = 33  # places where that is evaluated


def questions(robot: RobotDescription) -> Iterator[str]:
    """Yield, in words, each number of a RobotDescription that is not as it usually is."""
    for module in robot.modules:
        for owner in (module.body, getattr(module.body, 'material', None)):
            for name, usual in USUAL_RANGES.items():
                for value in _numbers(getattr(owner, name, None)):
                    if not usual.low <= value <= usual.high:
                        yield (
                            f'{module.name}: {name} = {value:g} {usual.unit}?'
                            f' usual is {usual.low:g} to {usual.high:g}'
                        )
    yield from _offsets(robot)
    size = float(np.linalg.norm(robot.gravity))
    if size and not 1.0 <= size <= 30.0:
        yield f'gravity: {size:g} m/s^2? usual is 9.81, or none'


def _offsets(robot: RobotDescription) -> Iterator[str]:
    """Yield each curve through a body that runs far outside of its sections."""
    bodies = {module.name: module.body for module in robot.modules}
    for entry in robot.actuators:
        for path in getattr(entry.actuator, 'paths', dict)().values():
            for passage in (p for p in path if p.points is None):
                outside = _outside(passage, bodies[passage.body])
                if outside is not None:
                    yield (
                        f'{entry.name}: runs {outside[0]:.3g} m beside the axis of {passage.body}?'
                        f' its section there reaches {outside[1]:.3g} m'
                    )


def _outside(passage: Any, body: Body) -> tuple[float, float] | None:
    """Return how far [m] a curve is off the axis and the section reaches, where it is worst."""
    sigma = np.linspace(passage.span[0], passage.span[1], SECTION_COUNT)
    off = np.hypot(*np.broadcast_arrays(*passage.offset.at(sigma), sigma)[:2])
    reach = np.array([np.linalg.norm(body.outline(s), axis=1).max() for s in sigma])
    worst = int(np.argmax(off / np.maximum(reach, TINY)))
    return (off[worst], reach[worst]) if off[worst] > MAX_OFFSET_RATIO * reach[worst] else None


def _numbers(value: object) -> list[float]:
    """Return the numbers in a field: one, or base and tip; none of any other value."""
    try:
        return np.unique(np.asarray(value, dtype=float)).tolist() if value is not None else []
    except (TypeError, ValueError):
        return []
