# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Parts of a controller that its parameters name, each a law on some of the actuators; no ROS.

Without phases there is one, which has no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
import math
from typing import Any, NamedTuple, TYPE_CHECKING, TypeAlias

from softrobot_dynamics.configuration.node_parameters import OF_CONTROLLER
from softrobot_dynamics.configuration.parameter_descriptions import misnamed, refuse
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.phases import controlled_actuators, Phase
from softrobot_dynamics.errors import ArgumentError, closest, DescriptionError, Problem
from softrobot_dynamics.references.contract import GROUP, Trajectory, trajectory

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.model.model import CompiledModel

NamedRobot: TypeAlias = 'RobotDescription | CompiledModel'
"""Description or model, which name the coordinates and actuators of a robot."""

PART_PARAMETERS = 'controller', 'controlled', f'{GROUP}.type'  # that each part has for itself
RAMP_TIME = f'{GROUP}.ramp_time'  # parameter that a part may have for itself
_EXPECTED_NAMES = 'names of letters, digits and _, none that a parameter of the node has'
_RESERVED_NAMES = {row.name.partition('.')[0] for row in OF_CONTROLLER} | {
    'commands',
    'limits',
    'delay',
    'joint_names',
    'states',
}


class LawPart(NamedTuple):
    """A law on some of the actuators, and the reference of their outputs."""

    name: str
    values: Mapping[str, Any]  # of the controller's parameters, its own by names without its own

    @property
    def law(self) -> Any:
        """The class of its law; UnknownNameError."""
        return CONTROLLERS.get(self.values['controller'])

    @property
    def trajectory(self) -> Trajectory:
        """The reference of its outputs; DescriptionError, UnknownNameError."""
        with self.named():
            return trajectory(self.values)

    def actuators(self, robot: NamedRobot) -> tuple[str, ...]:
        """Return the names of its actuators, of a model or a RobotDescription."""
        return tuple(self.values['controlled'] or robot.actuator_names)

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Report problems with its own parameters by their full names within this context."""
        try:
            yield
        except DescriptionError as error:
            problems = [
                p if p.path.startswith('limits.') else p._replace(path=self.full(p.path))
                for p in error.problems
            ]
            raise DescriptionError(tuple(problems), error.source) from error
        except ArgumentError as error:
            if not error.argument.startswith(GROUP):
                raise
            raise ArgumentError(self.full(error.argument), error.value, error.expected) from error

    def full(self, path: str) -> str:
        """Return the name that a parameter of its own has for the node."""
        return f'{self.name}.{path}' if self.name else path


def parts_of(values: Mapping[str, Any]) -> tuple[LawPart, ...]:
    """Return the :class:`LawPart` s of a controller's parameters, in the order of their phases."""
    if not values.get('phases'):
        return (LawPart('', values),)
    names = [name for phase in values['phases'] for name in values[f'{phase}.parts']]
    return tuple(LawPart(name, _within(values, name)) for name in dict.fromkeys(names))


def given_by(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of all references, by full names, as they were understood."""
    return {
        part.full(x): y for part in parts_of(values) for x, y in part.trajectory.given().items()
    }


def phases_of(values: Mapping[str, Any]) -> tuple[Phase, ...]:
    """Return the :class:`Phase` s of a controller's parameters, none for one law all the time."""
    parts = [part.name for part in parts_of(values)]
    return tuple(
        Phase(
            name,
            math.inf if math.isnan(values[f'{name}.duration']) else values[f'{name}.duration'],
            tuple(parts.index(part) for part in values[f'{name}.parts']),
        )
        for name in values.get('phases') or ()
    )


def require_phases(values: Mapping[str, Any]) -> None:
    """Raise DescriptionError for wrong entries of the parameter `phases`, or beside it."""
    names = values.get('phases') or ()
    problems = list(misnamed('phases', names, _EXPECTED_NAMES, _RESERVED_NAMES))
    for row in OF_CONTROLLER:
        if names and row.name in PART_PARAMETERS and values[row.name] != row.default:
            words = f'nothing where there are phases: each part has its own, as in arm.{row.name}'
            problems.append(Problem(row.name, values[row.name], words))
    refuse(problems)


def require_parts(values: Mapping[str, Any]) -> None:
    """Raise DescriptionError for phases that cannot be, or parts that have no good name."""
    problems: list[Problem] = []
    phases: tuple[str, ...] = values.get('phases') or ()
    for name in phases:
        parts, duration = values[f'{name}.parts'], values[f'{name}.duration']
        problems += misnamed(f'{name}.parts', parts, _EXPECTED_NAMES, _RESERVED_NAMES)
        if not parts:
            problems.append(Problem(f'{name}.parts', parts, 'the names of one or more parts'))
        if math.isnan(duration) and name != phases[-1]:
            problems.append(Problem(f'{name}.duration', duration, 'a number > 0 [s]'))
    refuse(problems)


def require_apart(robot: NamedRobot, values: Mapping[str, Any]) -> None:
    """Raise DescriptionError where a phase has two laws on an actuator, or there is no such."""
    problems: list[Problem] = []
    parts = {part.name: part.actuators(robot) for part in parts_of(values)}
    for name, actuators in parts.items():
        for each in actuators:
            if each not in robot.actuator_names:
                words = f'names of actuators{closest(each, robot.actuator_names)}'
                problems.append(Problem(f'{name}.controlled', each, words))
    for phase in values.get('phases') or ():
        owner: dict[str, str] = {}
        for name in values[f'{phase}.parts']:
            if taken := [each for each in parts[name] if each in owner]:
                words = f'{owner[taken[0]]} has {", ".join(taken)} already'
                words = f'parts with actuators of their own: {words}'
                if not values[f'{name}.controlled']:
                    words += f', and {name}.controlled is not set, which stands for all'
                problems.append(Problem(f'{phase}.parts', name, words))
            owner.update((each, name) for each in parts[name] if each not in owner)
    refuse(problems)


def controlled_of(robot: NamedRobot, values: Mapping[str, Any]) -> list[int]:
    """Return the indices of the actuators whose coordinates follow something, as the law has."""
    parts = parts_of(values)
    return controlled_actuators([(part.law, indices_of(robot, part)) for part in parts])


def blended_in(robot: NamedRobot, values: Mapping[str, Any]) -> dict[int, float]:
    """Return the times [s] from which outputs, by index, are no longer blended in."""
    begins: dict[int, float] = {}
    parts, t = parts_of(values), 0.0
    for phase in phases_of(values) or [Phase('', math.inf, (0,))]:
        for i in phase.laws:
            for k in indices_of(robot, parts[i]):
                begins.setdefault(k, t + parts[i].values[RAMP_TIME])
        t += phase.duration
    return begins


def indices_of(robot: NamedRobot, part: LawPart) -> list[int]:
    """Return the indices of the actuators of a part."""
    return [robot.actuator_names.index(name) for name in part.actuators(robot)]


def _within(values: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return the parameters as the law of a part has them."""
    start = f'{part}.'
    own = {x[len(start) :]: value for x, value in values.items() if x.startswith(start)}
    if math.isnan(own.get(RAMP_TIME, math.nan)):
        own[RAMP_TIME] = values[RAMP_TIME]
    return {**values, 'phases': (), **own}
