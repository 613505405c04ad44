# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Interfaces of the loops: inboxes, outputs, records, plants.

Protocols: the nodes and tests have classes of their own that fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TYPE_CHECKING, TypeVar

from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.controllers.contract import Command, Controller
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.loops.message_contracts import Sending, Stamp
from softrobot_dynamics.loops.state_validation import StateValidator
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.simulation.sensing import Measured
from softrobot_dynamics.simulation.simulator import Simulator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MessageT = TypeVar('MessageT', covariant=True)

# What brings and takes away messages


class MessageInbox(Protocol[MessageT]):
    """The newest message of one topic, for one thread; times in ns."""

    def wait(self, timeout: int) -> MessageT | None:
        """Return the newest message, None after a time-out or a `wake`; or MessageError."""

    def sent(self) -> Sending:
        """Return when, and by whom, the message that was returned last was sent."""

    def age(self) -> int:
        """Return how long the message that was returned last had been here by now [ns]."""

    def rest(self) -> None:
        """Make the next wait ignore messages for as long as the last one was processed."""

    def wake(self) -> None:
        """End the wait under way, or the next one; for any thread."""


class LoopOutput(Protocol):
    """Takes the events of any loop."""

    def entered(self, mode: str, before: str, healthy: bool) -> object:
        """Report that the loop changed its mode; ``healthy``: it works as it should in it."""

    def refused(self, error: MessageError) -> object:
        """Report why a message was refused."""

    def failed(self, event: str, error: BaseException) -> object:
        """Report a failure, an ``event`` in words; it may happen in every tick."""

    def ended(self, event: str, error: BaseException) -> object:
        """Report the ``event``, in words, with which a loop has ended."""


class ControlOutput(LoopOutput, Protocol):
    """Takes commands and reports of a control loop."""

    def command(self, u: Vector, stamp: Stamp | None) -> object:
        """Send u (m,), with the stamp of the state it answers, None for the present."""

    def report(self, stamp: Stamp, command: Command) -> object:
        """Publish the outputs and references of a Command."""

    def phase(self, name: str) -> object:
        """Report the phase that has begun."""

    def moved(self) -> object:
        """Log that the robot was moved by something else, and the law restarted."""

    def waiting(self, passed: int, last_refusal: str, *parts: str) -> object:
        """
        Report missing states, `passed` [ns] since the last valid one or the start.

        Of these `parts`, if they come in parts.
        """

    def flush(self) -> object:
        """Wait until readers have the last command, for a while."""


class SimulationOutput(LoopOutput, Protocol):
    """Takes states of a simulation loop."""

    def time(self, stamp: int) -> object:
        """Publish the time [ns], if anybody counts on it."""

    def state(self, q: Vector, qd: Vector, stamp: int) -> object:
        """
        Publish the state (q, qd), (n,) each, at a stamp [ns].

        False: a part of it that no command answers.
        """

    def slipped(self, late: int) -> object:
        """Report that all deadlines were shifted by `late` [ns]."""

    def slow(self, words: str) -> object:
        """Report that the machine is too slow, with a remedy."""


class EstimationOutput(LoopOutput, Protocol):
    """Takes states and reports of an estimation loop; stamps are in ns."""

    def state(self, q: Vector, qd: Vector, stamp: int) -> object:
        """Publish the state (q, qd), (n,) each, at a stamp."""

    def report(self, estimator: Estimator, stamp: int, epoch: int) -> object:
        """Publish covariance, push and model error of an Estimator begun at an epoch [ns]."""

    def collided(self, body: str, size: float, still: bool) -> object:
        """Request a stop of the robot, as a force [N] on a body is too large, ``still`` or now."""

    def far_off(self, sensor: str, coarse: float) -> object:
        """Report that a measurement is used with a multiple of its noise."""

    def lost(self, why: str) -> object:
        """Report why no states are published any more."""

    def slow(self, words: str) -> object:
        """Report that time passes at another pace than expected, with a remedy."""


class CommandSource(Protocol):
    """
    Reads commands in messages of the type that an inbox brings.

    They may come in parts: then a message has those of some of the actuators.
    """

    @property
    def names(self) -> Sequence[str]:
        """The names of the parts; one without a name for commands that come whole."""

    @property
    def places(self) -> Sequence[Integers | slice]:
        """Places of the commands of each part in u (m,)."""

    @property
    def part(self) -> int:
        """The part that was read last."""

    def read(self, message: Any, /) -> tuple[Vector, int]:
        """Return (commands of a part (k,), stamp [ns]); or MessageError."""


class StateSensing(Protocol):
    """The measured states of a simulated robot."""

    @property
    def answered(self) -> bool:
        """Tell whether commands carry the stamps of these states."""

    def begin(self) -> object:
        """Restart."""

    def sense(self, stamp: int, q: Vector, qd: Vector) -> Measured | None:
        """Take the robot's next state; return the newest measured one, None if none is new."""


class TickRecord(Protocol):
    """A file with a row for each tick."""

    @property
    def path(self) -> object: ...

    @property
    def lost(self) -> int:
        """The number of ticks that could not be written."""

    @property
    def error(self) -> Exception | None:
        """The error that ended the writing; None if there was none."""

    def __len__(self) -> int: ...

    def wait_for_room(self) -> None:
        """Wait until there is room for a tick; for loops that do not run in real time."""

    def close(self) -> None:
        """Write the rest."""

    def note(self, parameters: Mapping[str, Any]) -> None:
        """Record changed parameters."""

    def add(self, moment: int, stamp: int, *values: Any) -> object:
        """Append a tick at a moment of the steady clock, about the state with a stamp [ns]."""


# Plants


class StepSnapshot(Protocol):
    """Copies data of a simulation after a step for another thread."""

    requested: bool

    def take(self, stamp: int) -> None:
        """Copy it, of a state with this stamp [ns]."""


class SimulatedPlant(Protocol):
    """A robot as a simulation loop uses it."""

    @property
    def model(self) -> CompiledModel: ...

    @property
    def simulator(self) -> Simulator: ...

    @property
    def safe(self) -> SafeCommand: ...


class ControlledPlant(Protocol):
    """A robot and its law, as a control loop and its monitors use them."""

    @property
    def model(self) -> CompiledModel: ...

    @property
    def controller(self) -> Controller: ...

    @property
    def safe(self) -> SafeCommand: ...

    @property
    def hold(self) -> Callable[[Vector, Vector], Reference]:
        """A function of (q, qd) that returns the reference to stay there."""

    @property
    def validator(self) -> Callable[[], StateValidator]: ...

    @property
    def growth(self) -> Callable[..., float]:
        """A function of (q, u, Settings, share off the model, place): rate [1/s] of errors."""

    @property
    def unstable_zero_dynamics(self) -> Callable[[Vector], tuple[complex, ...]]:
        """A function of q: growing rates [1/s] of the zero dynamics."""
