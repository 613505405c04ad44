# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Publish the states, commands and log lines of the loops."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
from types import MappingProxyType
from typing import Any, cast, TYPE_CHECKING

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3, WrenchStamped
import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.configuration.command_parts import CommandPart
from softrobot_dynamics.controllers.contract import Command
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensors.contract import Sensor
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.realtime import now
from softrobot_dynamics.nodes.loop_log import LoopLog, REPEAT_PERIOD
from softrobot_dynamics.nodes.messaging.codec import Encoder
from softrobot_dynamics.nodes.messaging.command_topics import (
    carries_stamp,
    publishing_topic,
    writer_of,
)
from softrobot_dynamics.nodes.messaging.measurements import MeasurementWriter, topic_of
from softrobot_dynamics.nodes.messaging.message_values import stamped
from softrobot_dynamics.nodes.messaging.qos import publisher
from softrobot_dynamics.nodes.messaging.reference_messages import ReferenceWriter
from softrobot_dynamics.nodes.messaging.state_messages import StateWriter
from softrobot_dynamics.nodes.messaging.state_topics import PartPublishers
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.state_topics import StatePart

_ACKNOWLEDGE_TIMEOUT = SECOND // 2  # [ns] for readers to have a last command
_REPORT_QOS = QoSProfile(depth=1)
_CLOCK_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_ANSWER_TIMEOUT = SECOND // 10  # [ns] after which one asks again
_LOG_PERIOD = 1.0  # [s] between two logs from the same line


class ControlPublisher(LoopLog):
    """Publishes commands (in `parts`) and reports of the control loop, and logs its events."""

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
            publisher(node, writer.message_type, publishing_topic(part), quality)
            for part, writer in zip(ordered, writers)
        ]
        self._ways = [
            (writer.write, Encoder(writer.message).encode, each.publish)
            for writer, each in zip(writers, self._commands)
        ]
        self._state = StateWriter(names)
        self._reference = ReferenceWriter(controlled)
        reports = [
            publisher(node, JointState, '~/controller_state', _REPORT_QOS),
            publisher(node, JointTrajectory, '~/reference', _REPORT_QOS),
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
        """Publish outputs, command and reference of a Command."""
        self._publish_state(self._state.write(command.y, command.velocity, stamp, command.u))
        self._publish_reference(self._reference.write(command.desired, stamp))

    def phase(self, name: str) -> None:
        """Log which phase has begun."""
        self._logger.info(f'phase {name}')
        self._changed()

    def moved(self) -> None:
        """Log that the robot was moved by something else, and the law restarted."""
        self.say('moved', 'the robot was moved: the controller restarts from its new state')

    def waiting(self, passed: int, last_refusal: str, *parts: str) -> None:
        """
        Log that states are missing, `passed` [ns] after the last valid one or the start.

        Of these `parts`, if they come in parts; none: each comes, but no whole state is valid.
        """
        self._alarmed = True
        words = functools.partial(
            self._missing, passed, last_refusal, parts or tuple(self._states)
        )
        self.say(('waiting', *parts), words, REPEAT_PERIOD)

    def _missing(self, passed: int, last_refusal: str, parts: Sequence[str]) -> str:
        """Return in words which states are missing, and for how long."""
        found = []
        for part in parts:
            topic = self._node.resolve_topic_name(self._states.get(part, part))
            count = self._node.count_publishers(topic)
            there = f'{count} publisher{"s" if count != 1 else ""} there'
            whose = f' of {part}' if part else ''
            found.append(f'no valid state{whose} on {topic} for {passed * 1e-9:.3g} s; {there}')
        words = f'waiting for states: {"; ".join(found)}'
        return f'{words}, the last refusal: {last_refusal}' if last_refusal else words

    def flush(self) -> None:
        """Wait until readers have the last command, for half a second at most."""
        end = now() + _ACKNOWLEDGE_TIMEOUT
        for each in self._commands:
            each.wait_for_all_acked(Duration(nanoseconds=max(0, end - now())))


class EstimationPublisher(LoopLog):
    """Publishes states and reports of the estimation loop, and logs its events."""

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
        self._state = StateWriter(names)
        self._encode = Encoder(self._state.message).encode
        self._push = WrenchStamped()
        self._push.header.frame_id = f'{body} base'
        self._covariance = Float64MultiArray()
        self.model_error = np.zeros(0)  # as last reported
        self._publishers = [
            publisher(node, JointState, 'joint_states', quality),
            publisher(node, Float64MultiArray, '~/covariance', _REPORT_QOS),
            publisher(node, WrenchStamped, '~/push', _REPORT_QOS),
        ]
        self._stop = node.create_client(SetBool, 'controller/emergency_stop')
        self._asked: Any = None  # the stop that was asked for last, and when
        self._publish, self._publish_covariance, self._publish_push = (
            each.publish for each in self._publishers
        )

    def state(self, q: Vector, qd: Vector, stamp: int) -> None:
        """Publish the state (q, qd) at a stamp [ns]."""
        self._state.write(q, qd, stamped(stamp))
        self._publish(self._encode())

    def report(self, estimator: Estimator, stamp: int, epoch: int) -> None:
        """Publish covariance and push of an Estimator whose time began at an epoch [ns]."""
        found = estimator.estimate((stamp - epoch) * 1e-9, covariance=True)
        self.model_error = found.model_error
        covariance = cast(Matrix, found.covariance)  # it was asked for
        if not self._covariance.layout.dim:
            self._covariance.layout = _square(len(covariance))
        self._covariance.data = array('d', covariance.tobytes())
        self._publish_covariance(self._covariance)
        if self._body:
            x, y, z = estimator.push(self._body).value.tolist()
            self._push.header.stamp = stamped(stamp)
            self._push.wrench.force = Vector3(x=x, y=y, z=z)
            self._publish_push(self._push)

    def collided(self, body: str, size: float, still: bool) -> None:
        """
        Ask the controller for an emergency stop, as a force [N] is too large.

        The answer is not waited for. If the force ``still`` is too large, a request without an
        answer is sent again.
        """
        if still:
            answer, asked = self._asked
            if answer.done() or now() - asked < _ANSWER_TIMEOUT:
                return
            self._stop.remove_pending_request(answer)
        else:
            self.say('collided', f'{size:.3g} N push {body}: emergency stop of the controller')
        if not self._stop.service_is_ready():
            self.say('no service', f'no {self._stop.service_name}: the robot is not stopped')
        self._asked = self._stop.call_async(SetBool.Request(data=True)), now()

    def close(self) -> None:
        """Destroy publishers and client."""
        super().close()
        self._node.destroy_client(self._stop)

    def far_off(self, sensor: str, coarse: float) -> None:
        """Log that a measurement is far off, and used with so many times its noise."""
        words = f'{sensor} is far from the estimate and used with {coarse:.0f} times its noise: it'
        self.say(
            'far off', f'{words} is wrong, or the model errs by more than `disturbance` allows'
        )

    def lost(self, why: str) -> None:
        """Log why no states go out any more."""
        self.say('lost', f'no states go out until the estimator has restarted: {why}')


class SensorPublisher:
    """Publishes simulated measurements of an estimator's sensors."""

    def __init__(
        self, node: Node, sensors: Iterable[Sensor | Effort], quality: QoSProfile
    ) -> None:
        writers = [(sensor, MeasurementWriter(sensor)) for sensor in sensors]
        self._ways = {
            sensor.name: (writer, publisher(node, writer.message_type, topic_of(sensor), quality))
            for sensor, writer in writers
        }

    def send(self, sensor: str, value: Array, stamp: int) -> None:
        """Publish a value of a sensor with its stamp [ns]."""
        writer, publishes = self._ways[sensor]
        publishes.publish(writer.write(value, stamp))


class SimulationPublisher(LoopLog):
    """
    Publishes states of the simulation loop and logs its events.

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
        clocks = [publisher(node, Clock, '/clock', _CLOCK_QOS)] if with_clock else []
        self._publishers += clocks
        self._publish_clock = [each.publish for each in clocks]

    def time(self, stamp: int) -> None:
        """Publish the time [ns], if there is a clock topic."""
        for publish in self._publish_clock:
            self._clock.clock = stamped(stamp)
            publish(self._clock)

    def slipped(self, late: int) -> None:
        """Log that all deadlines have moved by `late` [ns]."""
        words = f'woke up {late * 1e-6:.1f} ms late: the simulated time was held for as long'
        self._logger.warning(words, throttle_duration_sec=_LOG_PERIOD)


def _square(n: int) -> MultiArrayLayout:
    """Return the layout of a matrix (n, n)."""
    size = [MultiArrayDimension(label=x, size=n) for x in ('rows', 'columns')]
    size[0].stride, size[1].stride = n * n, n
    return MultiArrayLayout(dim=size)
