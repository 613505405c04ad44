# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of actuators: limits, sign, safe command, imperfections, parts of the robot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from softrobot_dynamics.actuators.supply import Supply
from softrobot_dynamics.annotations import Complaints, Matrix, Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.curves import Curve
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.registry import needed, Registry, required


@dataclass(frozen=True, kw_only=True)
class Imperfections:
    """
    Fields that every actuator has; by default the force is the command.

    A command u that arrives acts `delay` later. The first `dead_band` of it, up or down, is lost:
    what is left of u is u - dead_band or u + dead_band, or zero in between. The force f comes
    after that as lag df/dt = u - f. The simulated robot has them; laws do not look at them.
    """

    lag: float = number('s', at_least=0.0, default=0.0)
    delay: float = number('s', at_least=0.0, default=0.0)
    dead_band: float = number('unit of u', at_least=0.0, default=0.0)


ACTUATORS = Registry('actuator', 'softrobot_dynamics.actuators', 'softrobot_dynamics.actuators')
register = ACTUATORS.register


class Quantity(NamedTuple):
    """Name and unit of a number in reports and pictures."""

    name: str  # as 'tension'
    unit: str  # as 'N'; '' for a number without one


class CoordinateSegment(NamedTuple):
    """A coordinate of a joint, as a part of y."""

    joint: str
    coordinate: str = ''  # its name; a single one has none of its own


class FibreSegment(NamedTuple):
    """
    A function of a body's coordinates, as the length of a curve through it, as a part of y.

    Of a length also its ``curve``, and how often the points of the kernel were doubled.
    """

    body: str
    kernel: Kernel
    factor: float = 1.0  # of the function
    curve: Curve | None = None
    doublings: int = 0

    def hessians(self) -> Kernel | None:
        """Return the kernel of its Hessian, see ``Body.length_hessians``; None without."""
        return self.curve.hessians(self.doublings) if self.curve is not None else None

    def refined(self, doublings: int) -> 'FibreSegment':
        """Return the length of the same curve by another rule, see :class:`Curve`."""
        if self.curve is None:
            return self
        return self._replace(kernel=self.curve.kernel(doublings), doublings=doublings)


class LineSegment(NamedTuple):
    """The length of a straight line, as a part of y; points in a joint frame or a tip frame."""

    start_body: str
    start_at_tip: bool
    start: Sequence[float]  # (3,) [m]
    end_body: str
    end_at_tip: bool
    end: Sequence[float]  # (3,) [m]
    factor: float = 1.0  # of the length


class PointSegment(NamedTuple):
    """Distance of a point of a tip frame along a direction of the base frame, as a part of y."""

    body: str
    point: Sequence[float] | Vector  # (3,) [m], in the tip frame
    direction: Sequence[float] | Vector  # (3,) y per metre along x, y, z of the base frame


Segment: TypeAlias = CoordinateSegment | FibreSegment | LineSegment | PointSegment


class Cable(NamedTuple):
    """
    A cable that is held at its base end, and so a spring between there and the robot.

    Its tension at a command u is max(0, tension + stiffness (pull u + l(q) - l(0))), l being its
    length.
    """

    segments: Sequence[Segment]  # whose sum is l [m]
    pull: float  # [m] that it is drawn in per unit of u; negative: paid out
    stiffness: float  # [N/m] of the cable and of what holds it, in series
    tension: float  # [N] at u = 0 and q = 0; negative: slack by so much times the compliance


class Servo(NamedTuple):
    """
    The drive of a joint that takes positions or velocities, with a control loop of its own.

    Alone it moves the coordinate q by a law without overshoot: told a position s by
    q'' = w^2 (s - q) - 2 w q', told a velocity s by q'' = w (s - q').
    """

    joint: str
    coordinate: str  # its name; a single one has none of its own
    control_mode: str  # 'position' or 'velocity'
    rate: float  # w [1/s]


class FramePoint(NamedTuple):
    """A point of a joint frame or a tip frame."""

    body: str
    at_tip: bool
    point: Sequence[float]  # (3,) [m]


class Line(NamedTuple):
    """A straight part of a route."""

    start: FramePoint
    end: FramePoint
    segment: Segment | None  # what its length adds to y; None where that never changes


Stretch: TypeAlias = Line | Curve
"""A part of a route, from base to tip."""


class RobotParts(Protocol):
    """Queries of an actuator about a robot's bodies."""

    def body(self, name: str) -> Body:
        """Return a body by name."""

    def rigidly_joined(self, first: str, second: str) -> bool:
        """Tell whether ``second`` stands on the tip of ``first`` by a joint that does not move."""


class Actuator(Imperfections):
    """
    One actuator: a frozen dataclass of the YAML fields, made by `schema.fields`.

    Each kind has the fields `limits`, (low, high), and `rate_limit`, in its own unit and units/s.
    u times the rate of y is a power, as virtual work has it: so u in Pa goes with y in m^3. All
    have the fields of :class:`Imperfections`, too.

    What is commanded is that u, but where ``positioned``: there it is how far cables are drawn in,
    see :meth:`cables`, and `limits`, `rate_limit` are those of that. u is then the tension of the
    first cable less that of the second, if there are two.

    Laws ask those with a :attr:`servo` for a force u, too, within `limits`; what is sent to the
    drive is made of that, see :mod:`softrobot_dynamics.controllers.setpoints`.
    """

    limits: tuple[float, float]
    rate_limit: float
    type_name: ClassVar[str]

    friction = 0.0  # coefficient of friction along the route [-]
    supply: Supply | None = None  # of air, where y is the volume it fills and u its pressure
    sign = 1  # of the column of A: nu = sign (dy/dq)^T u
    safe = 'zero'
    """
    The command when there is no other: zero; hold, the last command; gravity, the force that
    carries the weight, led to zero; pretension, a small pull; or a number, in the unit of u.
    """

    def within(self, body: str) -> 'Actuator | None':
        """Return the part within one body, as an actuator of that body; None if there is none."""
        return None

    @property
    def goes_slack(self) -> bool:
        """Tell whether its force on the simulated robot is never below zero."""
        return False

    @property
    def positioned(self) -> bool:
        """Tell whether its command is a position that it holds, not a force."""
        return False

    @property
    def safe_command(self) -> Any:
        """Return the kind of safe command of this actuator, its `safe`."""
        return self.safe

    @required
    def validate_against(
        self, bodies: Mapping[str, Body | None], joints: Mapping[str, Joint | None]
    ) -> Complaints:
        """
        Yield fields that contradict the robot, as (path below this actuator, value, expected).

        `bodies` and `joints` hold the robot's by name, in its order, None for each that is wrong
        in itself. Names in `reference` fields are known to be among them.
        """
        raise NotImplementedError

    @required
    def segments(self, parts: RobotParts) -> Sequence[Segment]:
        """Return the segments that y is the sum of; `parts` offers the robot's bodies by name."""
        raise NotImplementedError

    def cables(self, parts: RobotParts) -> Sequence[Cable]:
        """Return the one or two cables of one that is ``positioned``, else none."""
        return ()

    @needed
    def route(self, parts: RobotParts) -> Sequence[Stretch]:
        """Return the parts of the way along which it rubs, from base to tip; if friction > 0."""
        raise NotImplementedError

    def curve(self, bodies: Mapping[str, Body], count: int) -> Sequence[tuple[str, Matrix]]:
        """
        Yield the route to be drawn, body by body: (body, material points (K, 3) [m]).

        ``count`` points of each turn of a curve through a body. Here nothing.
        """
        return ()

    def command_limits(self, joints: Mapping[str, Joint]) -> tuple[float, float]:
        """Return (low, high), the limits of this actuator on a robot with `joints` by name."""
        return self.limits

    @required
    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return the :class:`Quantity` s that u and y are, on a robot with `joints` by name."""
        raise NotImplementedError

    def commanded(self, joints: Mapping[str, Joint]) -> Quantity:
        """Return the :class:`Quantity` that a command is."""
        return self.quantities(joints)[0]

    def effort_limits(self, joints: Mapping[str, Joint]) -> tuple[float, float]:
        """Return (low, high), the limits of u."""
        return self.command_limits(joints)

    @property
    def servo(self) -> Servo | None:
        """Model of a drive that takes positions or velocities of a joint; None for forces."""
        return None

    @property
    def wire_field(self) -> str:
        """Return the field of a sensor_msgs/JointState that its commands stand in."""
        return 'effort'

    def wire_name(self, name: str) -> str:
        """Return the name that messages give this actuator, which the description calls `name`."""
        return name
