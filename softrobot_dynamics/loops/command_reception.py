# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands to a simulated robot: which state they answer, and when they act; no threads."""

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.loops.command_timing import CommandTiming
from softrobot_dynamics.loops.contracts import CommandSource, SimulatedPlant
from softrobot_dynamics.loops.deadlines import Schedule
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.loops.simulated_drives import Answers, SimulatedDrives
from softrobot_dynamics.simulation.bus import Stretch


class StateStamps:
    """
    Stamps [ns] of the states of a simulated robot: the `epoch`, and simulated time since.

    `newest` is that of the present state, `published_stamp` that of the last one published (None:
    none now), which happened at the steady time `published` [ns]. `period` [ns] lies between two.
    """

    def __init__(self, epoch: int, rate: float) -> None:
        self.epoch = self.newest = epoch
        self.period = round(SECOND / rate)
        self.published_stamp: int | None = None
        self.published = now()

    def advance(self) -> None:
        """Go on to the next state."""
        self.newest += self.period

    def shift(self, time: int) -> None:
        """Let stamps be later by a time [ns]: it has passed without the robot."""
        self.epoch += time
        self.newest += time

    def include(self, stamp: int) -> bool:
        """Tell whether a stamp [ns] is that of a state here; a safe command has another."""
        return self.epoch <= stamp <= self.newest and not (stamp - self.epoch) % self.period


class CommandReception:
    """
    Takes the commands to a simulated robot as `reader` finds them in messages.

    They may come in parts, which act together once all answer a state, or else with the next step,
    with the last of the others. A robot that `waits` sets out under its first whole command.
    `schedule` says from when on they act; its `timeout` [periods] is an attribute, which may
    change.
    """

    def __init__(
        self, plant: SimulatedPlant, reader: CommandSource, stamps: StateStamps, schedule: Schedule
    ) -> None:
        self.drives = SimulatedDrives(plant, reader.places)
        self.timeout, self.waits = schedule.timeout, schedule.waits
        self.led = False  # whether the last command answered a state, or has no stamp
        self.clipped = False  # whether it was beyond limits
        safe = self.drives.release()
        self._timing = CommandTiming(schedule.timing, 1.0 / schedule.rate, safe, schedule.bus)
        self._reader, self._stamps, self._waits_first = reader, stamps, schedule.waits
        self._answers = Answers(len(reader.places))
        self._arrival_time: int | None = None  # when the last command did, steady clock [ns]
        # [s] into the period, of what waits for other parts
        self._partial_time: float | None = None

    @property
    def parts(self) -> int:
        """The number of parts."""
        return len(self._reader.places)

    @property
    def missing(self) -> int:
        """The number of parts that have not answered the state published last."""
        return len(self._answers.left)

    @property
    def oldest(self) -> float:
        """The stamp [ns] of the oldest state whose commands count."""
        return self._stamps.newest - self.timeout * self._stamps.period

    def silent(self) -> list[str]:
        """Return the names of the parts that do not come; none of commands that come whole."""
        return [name for k in self.drives.silent(self.oldest) if (name := self._reader.names[k])]

    def age(self, moment: int) -> int | None:
        """Return the age [ns] of the last command at a moment; None from two periods on."""
        if self._arrival_time is None:
            return None
        age = moment - self._arrival_time
        return age if age < 2 * self._stamps.period else None

    def expect_answers(self) -> None:
        """Wait for answers to a state that is published."""
        self._answers.begin()

    def receive(self, message: object, arrival: int, pace: float) -> bool:
        """
        Take a command as the one to apply; return whether all parts answer the last state now.

        It came at an `arrival` [ns]; `pace`: simulated time [s] that passes in one second, 0: any.
        MessageError for one that is wrong, or too late.
        """
        u, stamp = self._reader.read(message)
        stamps, part, ours = self._stamps, self._reader.part, self._stamps.include(stamp)
        self.led, self.clipped = ours or not stamp, False
        if ours:
            self._answers.accept(part, stamp, self.oldest)
        if self.waits and stamp and not ours:
            return False  # a safe command: nobody has seen the robot yet
        self.clipped = self.drives.take(u, stamps.newest, part)
        if stamp in (0, stamps.published_stamp):
            self._answers.left.discard(part)
        if self.waits:  # it sets out under its first command
            if not self.drives.commanded:
                return False
            self.waits = False
            self._timing.begin(self.drives.u)
        passed = (arrival - stamps.published) * (pace or 1.0)  # in simulated time
        self._arrival_time, complete = arrival, not self._answers.left
        if complete or self.parts == 1:
            self._timing.arrived(self.drives.u, passed * 1e-9)
            self._partial_time = None
        else:
            self._partial_time = passed * 1e-9
        return complete

    def stretches(self, forced: Vector | None) -> list[Stretch]:
        """
        Return the stretches of this period, each under one command, and begin the next period.

        Parts that wait for others act in it. ``forced`` (m,) acts in all of it instead, None: the
        commands.
        """
        if self._partial_time is not None:
            self._timing.arrived(self.drives.u, self._partial_time)
            self._partial_time = None
        if forced is not None:  # the drives' own doing, whatever there is on a bus
            self._timing.force(forced)
        return self._timing.finish_period()

    def restart(self) -> None:
        """Forget all commands."""
        self._partial_time, self.waits = None, self._waits_first
        self._timing.begin(self.drives.release())
