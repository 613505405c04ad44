# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Publish the states, commands and log lines of the loops."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
import traceback
from types import MappingProxyType
from typing import Any, TYPE_CHECKING

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3, WrenchStamped
import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.configuration.command_parts import CommandPart
from softrobot_dynamics.controllers.contract import Command
from softrobot_dynamics.errors import MessageError, SoftRobotError
from softrobot_dynamics.estimation.efforts import Effort
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensors.contract import Sensor
from softrobot_dynamics.loops.message_fields import cause_of, SECOND
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.loops.statistics import Throttle
from softrobot_dynamics.nodes.messaging import messages
from softrobot_dynamics.nodes.messaging.codec import Encoder
from softrobot_dynamics.nodes.messaging.command_messages import carries_stamp, said_on, writer_of
from softrobot_dynamics.nodes.messaging.measurements import MeasurementWriter, TOPIC
from softrobot_dynamics.nodes.messaging.quality import publisher
from softrobot_dynamics.nodes.messaging.state_messages import PartPublishers
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.state_topics import StatePart

_ACKNOWLEDGED = SECOND // 2  # [ns] for readers to have a last command
_REPORTS = QoSProfile(depth=1)
_CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_ANSWER = SECOND // 10  # [ns] for an answer, after which one asks again
_THROTTLE = 1.0  # [s] between two logs from the same line
_WAITING = 10 * SECOND  # [ns] between two that states are missed


class _LogPublisher:
    """What every loop has to say; `changed` is called when there is more to say of its mode."""

    def __init__(self, node: Node, changed: Callable[[], None]) -> None:
        self._node, self._logger, self._changed = node, node.get_logger(), changed
        self._publishers: list[Any] = []
        self._throttle, self._alarmed = Throttle(), False

    def entered(self, mode: str, before: str, well: bool) -> None:
        """Say that the loop changed its mode; a warning, unless all is and was well."""
        warn = self._alarmed or not well
        self._say((mode, before), f'{mode} (before: {before})', warn=warn)
        self._alarmed = not well
        self._changed()

    def refused(self, error: MessageError) -> None:
        """Say why a message was refused."""
        self._say(cause_of(error), str(error))

    def _say(
        self,
        cause: object,
        words: str | Callable[[], str],
        interval: int = SECOND,
        warn: bool = True,
    ) -> None:
        """Log at most once in an interval [ns] and cause; a line costs a loop much."""
        held = self._throttle.passes(cause, now(), interval)
        if held is None:
            return
        words = words() if callable(words) else words
        if held:
            words += f'; {held} more like that since the last line'
        if warn:  # two lines: rclpy refuses a line that changes its severity
            self._logger.warning(words)
        else:
            self._logger.info(words)

    def failed(self, what: str, error: BaseException) -> None:
        """Say that something failed, which may happen in every tick."""
        if (held := self._throttle.passes(('failed', what), now())) is not None:
            more = f'; {held} more like that since the last line' if held else ''
            self._logger.error(f'{what}: {_words_of(error)}{more}')

    def ended(self, what: str, error: BaseException) -> None:
        """Say that a loop has ended, and its node with it; no line before holds that back."""
        words = f'{what}, and with it this node: {_words_of(error)}'
        if not isinstance(error, SoftRobotError):  # a fault of the program: say where
            words += '\n' + ''.join(traceback.format_exception(error))
        self._logger.fatal(words)

    def close(self) -> None:
        """Give the publishers back."""
        for each in self._publishers:
            self._node.destroy_publisher(each)


class ControlPublisher(_LogPublisher):
    """Where the control loop's commands, reports and words go; commands in `parts`."""

    def __init__(
        self,
        node: Node,
        names: Sequence[str],
        controlled: Sequence[str],
        parts: Sequence[CommandPart],
        quality: QoSProfile,
        changed: Callable[[], None],
        states: Mapping[str, str] = MappingProxyType({'': 'joint_states'}),
    ) -> None:
        super().__init__(node, changed)
        self._states = states  # topics of the parts, by name
        # those that say which state they answer last: who waits for them has all by then
        ordered = sorted(parts, key=carries_stamp)
        writers = [writer_of(part) for part in ordered]
        self._commands = [
            publisher(node, writer.message_type, said_on(part), quality)
            for part, writer in zip(ordered, writers)
        ]
        self._ways = [
            (writer.write, Encoder(writer.message).encode, each.publish)
            for writer, each in zip(writers, self._commands)
        ]
        self._state = messages.StateWriter(names)
        self._reference = messages.ReferenceWriter(controlled)
        reports = [
            publisher(node, JointState, '~/controller_state', _REPORTS),
            publisher(node, JointTrajectory, '~/reference', _REPORTS),
        ]
        self._publish_state, self._publish_reference = (each.publish for each in reports)
        self._publishers = [*self._commands, *reports]

    def command(self, u: Vector, stamp: Time | None) -> None:
        """Send u (m,), with the stamp message of the state it answers, None for the present."""
        if stamp is None:
            stamp = self._node.get_clock().now().to_msg()
        for write, encode, publish in self._ways:
            write(u, stamp)
            publish(encode())

    def report(self, stamp: Time, command: Command) -> None:
        """Publish what a Command says."""
        self._publish_state(self._state.write(command.y, command.velocity, stamp, command.u))
        self._publish_reference(self._reference.write(command.desired, stamp))

    def phase(self, name: str) -> None:
        """Say which phase has begun."""
        self._logger.info(f'phase {name}')
        self._changed()

    def moved(self) -> None:
        """Say that the robot was moved by something else, and the law started anew."""
        self._say('moved', 'the robot was moved: the controller restarts from its new state')

    def waiting(self, passed: int, last_refusal: str, *parts: str) -> None:
        """
        Say that states are missed, `passed` [ns] since the last valid one or the start.

        Of these `parts`, if they come in parts.
        """
        self._alarmed = True
        words = functools.partial(self._missing, passed, last_refusal, parts or ('',))
        self._say(('waiting', *parts), words, _WAITING)

    def _missing(self, passed: int, last_refusal: str, parts: Sequence[str]) -> str:
        found = []
        for part in parts:
            topic = self._node.resolve_topic_name(self._states.get(part, part))
            count = self._node.count_publishers(topic)
            there = f'{count} publisher{"s" if count != 1 else ""} there'
            whose = f' of {part}' if part else ''
            found.append(f'no valid one{whose} on {topic} for {passed * 1e-9:.3g} s; {there}')
        words = f'waiting for states: {"; ".join(found)}'
        return f'{words}, the last refusal: {last_refusal}' if last_refusal else words

    def flush(self) -> None:
        """Wait until readers have the last command, for a while."""
        end = now() + _ACKNOWLEDGED
        for each in self._commands:
            each.wait_for_all_acked(Duration(nanoseconds=max(0, end - now())))


class EstimationPublisher(_LogPublisher):
    """Where the estimation loop's states, reports and words go."""

    def __init__(
        self,
        node: Node,
        names: Sequence[str],
        quality: QoSProfile,
        changed: Callable[[], None],
        body: str,
    ) -> None:
        super().__init__(node, changed)
        self._body = body
        self._state = messages.StateWriter(names)
        self._encode = Encoder(self._state.message).encode
        self._push = WrenchStamped()
        self._push.header.frame_id = f'{body} base'
        self._covariance = Float64MultiArray()
        self.model_error = np.zeros(0)  # as last reported
        self._publishers = [
            publisher(node, JointState, 'joint_states', quality),
            publisher(node, Float64MultiArray, '~/covariance', _REPORTS),
            publisher(node, WrenchStamped, '~/push', _REPORTS),
        ]
        self._stop = node.create_client(SetBool, 'controller/emergency_stop')
        self._asked: Any = None  # the stop that was asked for last, and when
        self._publish, self._publish_covariance, self._publish_push = (
            each.publish for each in self._publishers
        )

    def state(self, q: Vector, qd: Vector, stamp: int) -> None:
        """Publish the state (q, qd) at a stamp [ns]."""
        self._state.write(q, qd, messages.stamped(stamp))
        self._publish(self._encode())

    def report(self, estimator: Estimator, stamp: int, epoch: int) -> None:
        """Publish what an Estimator, whose time began at an epoch [ns], knows beside the state."""
        found = estimator.estimate((stamp - epoch) * 1e-9, covariance=True)
        self.model_error = found.model_error
        assert found.covariance is not None  # it was asked for
        if not self._covariance.layout.dim:
            self._covariance.layout = _square(len(found.covariance))
        self._covariance.data = array('d', found.covariance.tobytes())
        self._publish_covariance(self._covariance)
        if self._body:
            x, y, z = estimator.push(self._body).value.tolist()
            self._push.header.stamp = messages.stamped(stamp)
            self._push.wrench.force = Vector3(x=x, y=y, z=z)
            self._publish_push(self._push)

    def collided(self, body: str, size: float, still: bool) -> None:
        """
        Ask the controller to stop, as a force [N] is too large.

        That is not waited for. If it ``still`` is, what was not answered is asked again.
        """
        if still:
            answer, asked = self._asked
            if answer.done() or now() - asked < _ANSWER:
                return
            self._stop.remove_pending_request(answer)
        else:
            self._say('collided', f'{size:.3g} N push {body}: the controller is told to stop')
        if not self._stop.service_is_ready():
            self._say('nobody', f'there is no {self._stop.service_name}: nothing stops the robot')
        self._asked = self._stop.call_async(SetBool.Request(data=True)), now()

    def close(self) -> None:
        """Give publishers and client back."""
        super().close()
        self._node.destroy_client(self._stop)

    def doubted(self, sensor: str, coarse: float) -> None:
        """Say that a measurement is far off, taken as one with so many times its noise."""
        words = f'{sensor} is believed only with {coarse:.0f} times its noise: it is wrong, or the'
        self._say('doubted', f'{words} model is by more than `disturbance` says')

    def lost(self, why: str) -> None:
        """Say why no states go out any more."""
        self._say('lost', f'no states until the estimator has restarted: {why}')


class SensorPublisher:
    """Where what the sensors of an estimator measure of a simulated robot goes."""

    def __init__(
        self, node: Node, sensors: Iterable[Sensor | Effort], quality: QoSProfile
    ) -> None:
        writers = {sensor.name: MeasurementWriter(sensor) for sensor in sensors}
        self._ways = {
            name: (writer, publisher(node, writer.message_type, TOPIC.format(name), quality))
            for name, writer in writers.items()
        }

    def send(self, sensor: str, value: Array, stamp: int) -> None:
        """Publish a value of a sensor with its stamp [ns]."""
        writer, publishes = self._ways[sensor]
        publishes.publish(writer.write(value, stamp))


class SimulationPublisher(_LogPublisher):
    """
    Where the simulation loop's states and words go.

    ``parts`` of the states; ``period`` [s] of the simulation. `state(q, qd, stamp)` publishes what
    is due, and returns whether a command may answer it.
    """

    def __init__(
        self,
        node: Node,
        quality: QoSProfile,
        changed: Callable[[], None],
        with_clock: bool = False,
        parts: Sequence[StatePart] = (),
        period: float = 1e-3,
        tick: str = '',
    ) -> None:
        super().__init__(node, changed)
        self._clock = Clock()
        states = PartPublishers(node, parts, quality, period, tick)
        self.state = states.state
        self._publishers = [*states.publishers]
        clocks = [publisher(node, Clock, '/clock', _CLOCK)] if with_clock else []
        self._publishers += clocks
        self._publish_clock = [each.publish for each in clocks]

    def time(self, stamp: int) -> None:
        """Publish the time [ns], if anybody counts on it."""
        for publish in self._publish_clock:
            self._clock.clock = messages.stamped(stamp)
            publish(self._clock)

    def slipped(self, late: int) -> None:
        """Say that all deadlines have moved by `late` [ns]."""
        self._logger.warning(
            f'woke {late * 1e-6:.1f} ms late: the simulated time waited',
            throttle_duration_sec=_THROTTLE,
        )


def _words_of(error: BaseException) -> str:
    """Return what an error says; of one that is not ours, its kind too."""
    return str(error) if isinstance(error, SoftRobotError) else repr(error)


def _square(n: int) -> MultiArrayLayout:
    """Return the layout of a matrix (n, n)."""
    size = [MultiArrayDimension(label=x, size=n) for x in ('rows', 'columns')]
    size[0].stride, size[1].stride = n * n, n
    return MultiArrayLayout(dim=size)
