# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The demo's own node: drives the controller's life cycle and samples the loop.

It must not disturb the loop that it watches. The subscriptions keep the newest message only and
are looked at when `poll` is called, past every executor: no Python runs at the rate of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import time
from typing import Any, TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from softrobot_dynamics.configuration.state_topics import state_parts
from softrobot_dynamics.demo.plan import NAMESPACE
from softrobot_dynamics.errors import MessageError, SoftRobotError
from softrobot_dynamics.evaluation.targets import time_along, tips_at
from softrobot_dynamics.evaluation.terminal import LoopSnapshot
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of
from softrobot_dynamics.nodes.messaging.codec import Encoder
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.qos import NEWEST_QOS
from softrobot_dynamics.nodes.messaging.state_topics import position_reader, subscribe_to_states
from trajectory_msgs.msg import JointTrajectory

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.contract import Targets
    from softrobot_dynamics.references.piecewise import Reference

TRANSITIONS = {
    name: getattr(Transition, f'TRANSITION_{name.upper()}')
    for name in ('configure', 'activate', 'deactivate', 'cleanup')
}
_DELIVERY_TIMEOUT = SECOND // 2  # [ns] for a message of this process to itself
_SPIN_TIMEOUT = 0.05  # [s] between two looks at what is waited for


class TransitionError(SoftRobotError):
    """The controller did not go through a transition; the argument says which and why."""


class Ros:
    """ROS for this process, apart from the global context."""

    def __init__(self) -> None:
        self.context = Context()
        rclpy.init(args=[], context=self.context, signal_handler_options=SignalHandlerOptions.NO)

    def node(self, name: str, arguments: Sequence[str] = (), **options: Any) -> Any:
        """Return a node that takes its parameters from `arguments`, unseen by `ros2 param`."""
        return Node(
            name,
            context=self.context,
            cli_args=list(arguments),
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
            **options,
        )

    def message(self, size: int) -> Callable[[], object]:
        """Return a function that sends this process a state of `size` joints, and takes it."""
        node = self.node('messages', namespace=NAMESPACE)
        zeros, names = [0.0] * size, [f'joint{k}' for k in range(size)]
        state = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
        inbox = Inbox(node, JointState, 'messages', NEWEST_QOS)
        publisher = node.create_publisher(JointState, 'messages', NEWEST_QOS)
        encode = Encoder(state).encode

        def pass_on() -> None:
            """Send the state to this process, and take it."""
            publisher.publish(encode())
            inbox.wait(_DELIVERY_TIMEOUT)

        return pass_on

    def close(self) -> None:
        """End it."""
        self.context.try_shutdown()


class Monitor:
    """
    Watches the loop of `model`, whose controller controls the actuators with these indices.

    `values`: the controller's parameters, which say on what topics states come.
    `reference`: what their coordinates shall follow, a Reference; `targets`: the Targets that tips
    shall follow; both or none are None.
    """

    def __init__(
        self,
        ros: Ros,
        model: CompiledModel,
        controlled: Sequence[int],
        reference: Reference | None,
        targets: Targets | None,
        values: Mapping[str, Any],
    ) -> None:
        self._model, self._controlled = model, list(controlled)
        self._reference, self._targets = reference, targets
        self._begin: Any = None  # the stamp at which the reference began [ns], as far as known
        self._node = ros.node('monitor', namespace=NAMESPACE)
        self._executor = SingleThreadedExecutor(context=ros.context)
        self._executor.add_node(self._node)
        self._client = self._node.create_client(ChangeState, 'controller/change_state')
        self._diagnostics: dict[str, Any] = {}
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        parts = state_parts(values, model.coordinate_names)
        self._states = subscribe_to_states(self._node, parts)
        self._reader = position_reader(parts, model.q0)
        self._outputs, self._references = (
            Inbox(self._node, kind, topic, NEWEST_QOS)
            for kind, topic in (
                (JointState, 'controller/controller_state'),
                (JointTrajectory, 'controller/reference'),
            )
        )

    def transition(
        self, name: str, patience: float, meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        """
        Take the controller through a transition; call `meanwhile` while it lasts.

        TransitionError if it fails or takes more than `patience` [s].
        """
        end = time.monotonic() + patience
        self._wait(self._client.service_is_ready, end, f'{name}: no controller', meanwhile)
        request = ChangeState.Request(transition=Transition(id=TRANSITIONS[name]))
        future = self._client.call_async(request)
        self._wait(future.done, end, f'{name}: no answer in {patience:g} s', meanwhile)
        if not future.result().success:
            raise TransitionError(f'{name}: the controller refused; its log gives the reason')

    def _wait(
        self, ready: Callable[[], Any], end: float, failure: str, meanwhile: Callable[[], object]
    ) -> Any:
        while not ready():
            self._executor.spin_once(timeout_sec=_SPIN_TIMEOUT)
            meanwhile()
            if time.monotonic() > end:
                raise TransitionError(failure)

    def poll(self) -> LoopSnapshot:
        """Return the Sight of the loop as it is now."""
        self._executor.spin_once(timeout_sec=0)
        state, output, reference = map(_newest, (self._states, self._outputs, self._references))
        return LoopSnapshot(
            None if output is None else np.array(output.effort),
            None if None in (output, reference) else self._output_errors(output, reference),
            None if None in (state, reference) else self._tip_error(state, reference),
            self._diagnostics,
        )

    def close(self) -> None:
        """Release the node and its topics."""
        for inbox in (self._states, self._outputs, self._references):
            inbox.close()
        self._executor.shutdown()
        self._node.destroy_node()

    def _output_errors(self, output: JointState, reference: JointTrajectory) -> Any:
        y = dict(zip(output.name, output.position))
        wanted = zip(reference.joint_names, reference.points[0].positions)
        errors = {name: abs(y[name] - y_d) for name, y_d in wanted}
        names = [self._model.actuator_names[i] for i in self._controlled]
        return np.array([errors.get(name, np.nan) for name in names])

    def _tip_error(self, state: Any, reference: JointTrajectory) -> float | None:
        """Distance [m] of the tip farthest from where it should be at the time of this state."""
        if self._targets is None or self._reference is None:
            return None
        if not self._find_begin(self._reference, reference):
            return None
        try:
            q = self._reader.read(state)[0]
        except MessageError:
            return None
        message = state[1] if isinstance(state, tuple) else state
        t = (stamp_of(message) - self._begin) / SECOND
        gaps = tips_at(self._model, self._targets.bodies, q) - self._targets.points([t])[0]
        return float(np.linalg.norm(gaps, axis=1).max())

    def _find_begin(self, followed: Reference, message: JointTrajectory) -> bool:
        """Work out when the reference began from what it is now; return whether it can be."""
        stamp = stamp_of(message)
        if self._begin is None:
            self._begin = stamp
        guess = (stamp - self._begin) / SECOND
        t = time_along(followed, np.array(message.points[0].positions), guess)
        if t is not None:
            self._begin = stamp - round(t * SECOND)
        return t is not None

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            node = status.name.partition(':')[0].rpartition('/')[2]
            self._diagnostics[node] = {pair.key: pair.value for pair in status.values}


def _newest(inbox: Any) -> Any:
    """Return the message of an inbox; None if there is none or it cannot be read."""
    try:
        return inbox.wait(0)
    except MessageError:
        return None
