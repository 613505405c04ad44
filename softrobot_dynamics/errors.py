# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Every error that this library raises, with the wrong value and the expected one.

All are children of `SoftRobotError`, carry their arguments as attributes, and can be pickled,
so they cross from one process to another unharmed. They hold what was found as it is; their text
is short, whatever that may be, as it goes into logs: :func:`shown` and :func:`shortened`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from math import exp
from pathlib import Path
from reprlib import Repr
from typing import NamedTuple

from softrobot_dynamics.deprecation import former_names

_MAX_VALUE_LENGTH = 120  # characters of a value in an error's text
_MAX_NAME_LENGTH = 120  # also of a path
_MAX_TEXT_LENGTH = 240  # of a longer text
_MAX_PROBLEMS = 50  # that are written out
_MAX_LOG_LINE = 300  # characters

_SHORT_REPR = Repr()
_SHORT_REPR.maxstring = _SHORT_REPR.maxother = _SHORT_REPR.maxlong = 60
_SHORT_REPR.maxlevel = 3  # aliases make of a few lines of YAML what has no end
_SHORT_REPR.maxlist = _SHORT_REPR.maxtuple = _SHORT_REPR.maxdict = 8


class _Missing:
    """The value of a field that was not given."""

    def __repr__(self) -> str:
        return 'missing'

    def __reduce__(self) -> str:
        return 'MISSING'


MISSING = _Missing()


def shown(value: object) -> str:
    """Return `value` in few characters, arrays and their scalars as plain numbers."""
    try:
        plain = value.tolist() if hasattr(value, 'tolist') else value
        return shortened(_SHORT_REPR.repr(plain), _MAX_VALUE_LENGTH)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return f'a {type(value).__name__} too long to be written'


def shortened(words: str, most: int = _MAX_TEXT_LENGTH) -> str:
    """Return a text of at most ``most`` characters, its middle left out where it has more."""
    if len(words) <= most:
        return words
    gap = f' [... {len(words) - most} more ...] '
    end = (most - len(gap)) // 3
    return f'{words[: most - len(gap) - end]}{gap}{words[len(words) - end :]}'


def one_line(words: object, most: int = _MAX_NAME_LENGTH) -> str:
    """Return a name, a path or a text on one line of at most ``most`` characters."""
    text = shortened(str(words), most)
    return shortened(''.join(c if c.isprintable() else repr(c)[1:-1] for c in text), most)


def closest(name: object, known: Iterable[object], likeness: float = 0.6) -> str:
    """
    Return ' (did you mean ...?)' for the name of `known` most like `name`, or ''.

    The one name that continues `name`, of three letters or more, is most like it.
    """
    text, names = str(name)[:_MAX_NAME_LENGTH], [str(k) for k in known]
    longer = [each for each in names if each.startswith(text)] if len(text) > 2 else []
    near = longer if len(longer) == 1 else get_close_matches(text, names, 1, likeness)
    return f' (did you mean {one_line(near[0])}?)' if near else ''


class Problem(NamedTuple):
    """One wrong entry of a description."""

    path: str  # where it stands, e.g. bodies[1].body.length
    value: object  # what stands there; MISSING if nothing does
    expected: str  # what would be right, in words, with its unit

    def __str__(self) -> str:
        return f'{one_line(self.path)}: {shown(self.value)}, expected {shortened(self.expected)}'


class SoftRobotError(Exception):
    """The parent of every error of this library."""

    def in_one_line(self) -> str:
        """Return the text of the error on one line, as a log has it."""
        return one_line(self, _MAX_LOG_LINE)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        names = getattr(self, '__dataclass_fields__', ())
        return type(self), tuple(getattr(self, name) for name in names) or self.args


@dataclass(eq=False)
class CacheError(SoftRobotError):
    """The folder of compiled kernels is not safe to run code from."""

    folder: Path  # its path
    found: str  # what is wrong with it
    expected: str  # what would be right, and how to get there

    def __str__(self) -> str:
        return f'the kernel cache {one_line(self.folder)} {self.found}, expected {self.expected}'


@dataclass(eq=False)
class DescriptionError(SoftRobotError):
    """A robot description has wrong entries; `problems` holds all of them."""

    problems: tuple[Problem, ...]  # of Problem
    source: str = 'robot description'  # the file, if there is one

    def __post_init__(self) -> None:
        self.problems = tuple(self.problems)

    def __str__(self) -> str:
        count = len(self.problems)
        source, plural = one_line(self.source, _MAX_TEXT_LENGTH), 's' if count != 1 else ''
        head = f'{source}: {count} problem{plural}'
        lines = [f'  {problem}' for problem in self.problems[:_MAX_PROBLEMS]]
        more = [f'  ... and {count - _MAX_PROBLEMS} more'] if count > _MAX_PROBLEMS else []
        return '\n'.join([head, *lines, *more])

    def in_one_line(self, most: int = _MAX_LOG_LINE) -> str:
        """Return source and problems on one line, as a log has it: as many as ``most`` hold."""
        head = f'{one_line(self.source)}: '
        text, left = f'{head}{self.problems[0] if self.problems else ""}', len(self.problems) - 1
        for problem in self.problems[1:]:
            if len(text) + len(words := f'; {problem}') > most:
                break
            text, left = text + words, left - 1
        return f'{text}; and {left} more' if left > 0 else text


@dataclass(eq=False)
class UnknownNameError(SoftRobotError):
    """A name that nothing has; `known` lists those that something has."""

    kind: str  # what was looked for: body, joint, controller, robot, ...
    name: object
    known: tuple[object, ...]

    def __post_init__(self) -> None:
        self.known = tuple(self.known)

    def __str__(self) -> str:
        known = one_line(', '.join(map(str, self.known)), _MAX_TEXT_LENGTH) or 'none'
        return (
            f'unknown {self.kind} {shown(self.name)}{closest(self.name, self.known)};'
            f' known: {known}'
        )


@dataclass(eq=False)
class ArgumentError(SoftRobotError):
    """A function was called with an argument it cannot use."""

    argument: str
    value: object
    expected: str

    def __str__(self) -> str:
        return (
            f'argument {one_line(self.argument)}: {shown(self.value)},'
            f' expected {shortened(self.expected)}'
        )


@dataclass(eq=False)
class UnstableLoopError(SoftRobotError):
    """With these gains errors would grow, at this rate of control."""

    growth: float  # [1/s]
    period: float  # [s]

    def __str__(self) -> str:
        return (
            f'gains: the largest discrete-time eigenvalue at {1e3 * self.period:g} ms would be'
            f' {exp(self.growth * self.period):.5f}, errors would grow e-fold in'
            f' {1.0 / self.growth:.3g} s; expected an eigenvalue of at most 1: lower the gains or'
            f' raise the rate'
        )


@dataclass(eq=False)
class UnstableZeroDynamicsError(SoftRobotError):
    """The zero dynamics of a robot are unstable: held outputs leave a motion that grows."""

    rates: tuple[complex, ...]  # [1/s] those that grow, fastest first

    def __str__(self) -> str:
        each = [f'{x.real:.3g}{f"{x.imag:+.3g}i" if x.imag else ""}' for x in self.rates]
        rates = shortened(', '.join(each))
        return (
            f'unstable zero dynamics: with the controlled outputs held constant the robot leaves'
            f' its posture, with growth rates of {rates} 1/s; expected none above 0: choose'
            ' another posture or other outputs, or set allow_unstable'
        )


@dataclass(eq=False)
class SingularMassError(SoftRobotError):
    """The mass matrix is singular: nothing has inertia along some coordinates."""

    coordinates: tuple[str, ...]  # their names; or names of some that only together move nothing

    def __post_init__(self) -> None:
        self.coordinates = tuple(self.coordinates)

    def __str__(self) -> str:
        return (
            f'singular mass matrix: nothing has inertia along'
            f' {shortened(", ".join(self.coordinates))};'
            ' expected a mass that these coordinates move (of a thin rod: section_inertia: true),'
            ' or a robot without them'
        )


@dataclass(eq=False)
class OpenLoopError(SoftRobotError):
    """A closure that cannot be closed, or that leaves the robot no freedom to move."""

    closure: str  # its name
    gap: float  # [m] between the frames, in directions that it closes
    angle: float  # [rad]
    expected: str  # in words

    def __str__(self) -> str:
        apart = [f'{x:.3g} {unit}' for x, unit in ((self.gap, 'm'), (self.angle, 'rad')) if x]
        found = f' is open by {" and ".join(apart)}' if apart else ''
        return f'closure {one_line(self.closure)}{found}; expected {shortened(self.expected)}'


@former_names(what='operation')
@dataclass(eq=False)
class NotConvergedError(SoftRobotError):
    """An iteration stopped before its residual was small enough."""

    operation: str  # that did not converge, or the solution that was not found
    iterations: int
    residual: float
    share: float | None = None  # of the load that was balanced, if it was ramped
    reason: str = ''  # why not more of it, in words

    def __str__(self) -> str:
        after = f'{self.iterations} iterations'
        if self.share is None:
            text = f'{self.operation} did not converge in {after}: residual {self.residual:.3g}'
            return f'{text}; {shortened(self.reason)}' if self.reason else text
        text = (
            f'no {self.operation} found: {self.share:.4g} of the load was balanced after {after},'
            f' the residual under the full load is {self.residual:.3g}'
        )
        return f'{text}; beyond that share: {shortened(self.reason)}' if self.reason else text


@dataclass(eq=False)
class InfeasibleReferenceError(SoftRobotError):
    """A reference asks for a point that no admissible actuation can hold."""

    time: float  # [s]
    point: tuple[float, ...]  # (x, y, z) [m], base frame
    actuators: tuple[str, ...]  # names of those at a limit
    distance: float  # from the point to the nearest one that can be held [m]

    def __post_init__(self) -> None:
        self.point = tuple(self.point)
        self.actuators = tuple(self.actuators)

    def __str__(self) -> str:
        point = ', '.join(f'{x:.4g}' for x in self.point)
        names = shortened(', '.join(self.actuators)) or 'no actuator'
        return (
            f'reference at t = {self.time:.4g} s: no admissible actuation holds the point'
            f' ({point}) m; the nearest that can be held is {self.distance:.3g} m away,'
            f' with {names} at the limit'
        )


@dataclass(eq=False)
class ReferenceJumpError(SoftRobotError):
    """The postures found for a closed path jump, or do not come back to the first."""

    time: float  # [s]; that of the whole path where it does not close
    coordinate: str  # the one that jumps most
    jump: float  # its jump [unit of the coordinate]
    actuator: str
    change: float  # of the actuator's coordinate y [its unit]

    def __str__(self) -> str:
        return (
            f'reference at t = {self.time:.4g} s: the postures found would jump, {self.coordinate}'
            f' by {self.jump:.4g} and y of {self.actuator} by {self.change:.4g}; another path,'
            f' narrower or wider limits of that joint, or another initial posture may do'
        )


@dataclass(eq=False)
class ExcessiveReferenceError(SoftRobotError):
    """A reference asks for more than a robot is built for."""

    time: float  # [s]
    quantity: str  # what of whom: effort of t1, speed of elbow, ...
    value: float  # that is asked for [unit of the quantity]
    lower: float  # its limits
    upper: float

    def __str__(self) -> str:
        return (
            f'reference at t = {self.time:.4g} s: {self.quantity} would have to be'
            f' {self.value:.4g}, with limits {self.lower:.4g} to {self.upper:.4g}'
        )


@dataclass(eq=False)
class SimulationDivergedError(SoftRobotError):
    """A simulated coordinate is no longer a number."""

    time: float  # [s]
    coordinate: str
    reason: str = ''  # in words, where a joint or body cannot be where it came to

    def __str__(self) -> str:
        text = f'simulation diverged at t = {self.time:.6g} s in {self.coordinate}'
        return f'{text}: {self.reason}' if self.reason else text


@dataclass(eq=False)
class MissingMethodError(SoftRobotError):
    """A class of a user's own does not have a method that its kind needs."""

    owner: str  # name of the class
    method: str  # name of the method
    purpose: str  # the first line of what it is to do

    def __str__(self) -> str:
        return f'{self.owner} has no method {self.method}, which it needs: {self.purpose}'


@dataclass(eq=False)
class MessageError(SoftRobotError):
    """A received message was refused; the reason is short, however long the message."""

    reason: str

    def __post_init__(self) -> None:
        self.reason = shortened(self.reason)

    def __str__(self) -> str:
        return f'message refused: {self.reason}'


@former_names(what='operation', by='requested_by')
@dataclass(eq=False)
class CancelledError(SoftRobotError):
    """Work that takes long was ended before it was done."""

    operation: str
    requested_by: str  # who wanted it to end

    def __str__(self) -> str:
        return f'{self.operation} was cancelled by {self.requested_by}'


@dataclass(eq=False)
class MeshError(SoftRobotError):
    """A mesh that cannot be used; `elements` holds the rows of wrong elements, if it is they."""

    source: str  # the file
    reason: str
    elements: tuple[int, ...] = ()

    def __str__(self) -> str:
        first = ', '.join(map(str, self.elements[:5])) + (', ...' if self.elements[5:] else '')
        rows = f' (elements {first})' if first else ''
        return f'mesh {one_line(self.source, _MAX_TEXT_LENGTH)}: {shortened(self.reason)}{rows}'
