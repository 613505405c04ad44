# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The controller as a lifecycle node; see `ControllerNode`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import sys
from typing import Any, TYPE_CHECKING, TypeAlias

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration import build, declared_parameters, wire_names
from softrobot_dynamics.configuration.command_parts import command_parts
from softrobot_dynamics.configuration.law_settings import choose_safe
from softrobot_dynamics.configuration.state_topics import state_parts
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.errors import CancelledError, MessageError, SoftRobotError
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.control_loop import ControlLoop
from softrobot_dynamics.loops.latched_orders import EMERGENCY, HOLD, LatchedOrders
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.loops.solution_thread import SolutionThread, solve_beside
from softrobot_dynamics.loops.stability_check import StabilityCheck, zero_dynamics_warnings
from softrobot_dynamics.loops.state_monitoring import StateMonitor
from softrobot_dynamics.nodes import diagnostics, process, record_contents
from softrobot_dynamics.nodes.control_report import report_on
from softrobot_dynamics.nodes.diagnostics import PeerStatus
from softrobot_dynamics.nodes.executors import CallbackThread
from softrobot_dynamics.nodes.lifecycle import LifecycleNode
from softrobot_dynamics.nodes.messaging.qos import quality_of
from softrobot_dynamics.nodes.messaging.state_topics import (
    position_reader,
    state_source,
    subscribe_to_states,
)
from softrobot_dynamics.nodes.online_references import OnlineReferences
from softrobot_dynamics.nodes.process import Stop
from softrobot_dynamics.nodes.publishers import ControlPublisher
from softrobot_dynamics.nodes.ros_parameters import NodeParameters, refusal_of
from std_srvs.srv import SetBool, Trigger

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.build import Controlled
    from softrobot_dynamics.configuration.state_topics import StatePart
    from softrobot_dynamics.loops.planning import Job
    from softrobot_dynamics.references.piecewise import Reference

    FollowOrder: TypeAlias = Reference | Program | HoldOrder


class ControllerNode(LifecycleNode):
    """
    Answers every state of a robot with a command.

    - subscribes to `joint_states` (sensor_msgs/JointState): coordinates by name; or to a topic for
      each part of the states, see `state_topics`
    - subscribes to `~/trajectory` (trajectory_msgs/JointTrajectory): what the controlled outputs
      shall do, by actuator; it replaces what is followed
    - subscribes to `~/target` (geometry_msgs/PointStamped): where a tip, that of the body that
      `frame_id` names, is to be in the base frame, up to some hundred times a second; to
      `~/target_pose` (geometry_msgs/PoseStamped): so with its orientation; to `~/target_twist`
      (geometry_msgs/TwistStamped): how it is to move, for laws that lead a tip
    - publishes `joint_commands` (sensor_msgs/JointState): u in effort, by actuator, with the stamp
      of the state answered; or `~/commands` (std_msgs/Float64MultiArray), see `command_type`; or
      parts of it, each for drives of its own, see `command_topics`
    - publishes `~/controller_state` (sensor_msgs/JointState: y, its rate, u, by actuator) and
      `~/reference` (trajectory_msgs/JointTrajectory) at 20 Hz, `/diagnostics` at 1 Hz
    - serves `~/hold` (std_srvs/Trigger): hold the present outputs; `~/emergency_stop`
      (std_srvs/SetBool): the safe command until released, then hold; `~/restart`
      (std_srvs/Trigger): follow what the parameters say from its beginning
    - parameters: `declared_parameters.controller_rows` and, once configured, of law and limits

    Configure loads and compiles, activate starts the loop, deactivate ends it with a last safe
    command. `build(values, declare)` returns the `build.Controlled` to run. What makes the robot
    safe waits for nothing that is slow: `standing_orders` says which thread may touch what.
    """

    def __init__(
        self, stop: Stop | None = None, build: Callable[..., Controlled] = build.controlled
    ) -> None:
        super().__init__('controller')
        self._build, self._stop = build, stop
        self._plant: Any = None  # a Controlled; as the next four None unless configured
        self._states: tuple[StatePart, ...] = ()
        self._inbox: Any = None
        self._publisher: Any = None
        self._diagnostics: Any = None
        self._peers: Any = None
        self._online_references: OnlineReferences | None = None
        self._run = 0  # of the phases, counted
        self._solving: list[SolutionThread] = []
        self._before: Vector | None = None  # the last command of the last activation
        self._orders = LatchedOrders()
        if stop is not None:
            stop.requested.add_done_callback(lambda requested: self._orders.close('a signal'))
        self.options = NodeParameters(self, declared_parameters.controller_rows())
        self.options.on_change(self._accept)
        safety = MutuallyExclusiveCallbackGroup()
        self.create_service(Trigger, '~/hold', self._on_hold, callback_group=safety)
        self.create_service(
            SetBool, '~/emergency_stop', self._on_emergency_stop, callback_group=safety
        )
        self.create_service(Trigger, '~/restart', self._on_restart)
        self.parts = (
            CallbackThread('safety', safety, lambda: realtime.apply_priority(realtime.SAFETY)),
            CallbackThread(
                'parameters',
                self.default_callback_group,
                lambda: realtime.apply_priority(realtime.SLOW),
            ),
        )

    # Life

    def _configure(self) -> None:
        with self.options.lock:
            self._load(self.options.values)
        process.disable_garbage_collection()

    def _load(self, values: dict[str, Any]) -> None:
        """Build the law, and make its inputs and publishers; see `configuration.build`."""
        started = realtime.now()
        with process.loading(self, values['robot'], self._stop):
            plant = self._build(values, self.options.declare)
        self.options.require_known(wire_names.NAMES_GROUP)
        names = plant.model.actuator_names
        plant.settings(self.options.values)
        record_contents.prepare(values['record'])
        self._plant, self._growth = plant, StabilityCheck(plant, 1.0 / values['rate'])
        self._solving = solve_beside(plant.controller)
        quality = quality_of(values)
        controlled = [names[i] for i in plant.controller.controlled]
        self._online_references = OnlineReferences(self, plant, self._orders, self.options)
        self._states = state_parts(self.options.values, plant.model.coordinate_names)
        topics = {part.name: part.topic for part in self._states}
        self._inbox = subscribe_to_states(self, self._states)
        actuators = [entry.actuator for entry in plant.model.description.actuators]
        self._peers = PeerStatus(self)
        heard = [self.resolve_topic_name(topic) for topic in topics.values()]
        watch = StateMonitor(self, heard, actuators, self._peers)
        growth = StabilityCheck(plant, 1.0 / values['rate'], self.get_logger().warning)
        self._diagnostics = diagnostics.Diagnostics(
            self,
            'control loop',
            values['robot'],
            lambda: report_on(self._orders.loop, watch, growth),  # for the thread of diagnostics
        )
        parts = command_parts(plant.model, self.options.values)
        self._publisher = ControlPublisher(
            self, names, controlled, parts, quality, self._diagnostics.changed, topics
        )
        self.options.warn_of_unknown()
        self.get_logger().info(
            f'configured in {(realtime.now() - started) * 1e-9:.1f} s:'
            f' {plant.model.n} coordinates, {len(names)} actuators'
        )

    def _activate(self) -> None:
        """Prepare the reference, and start the loop."""
        with self.options.lock, self._orders.planning(activating=True) as job:
            values = self.options.values
            reader = position_reader(self._states, self._plant.model.q0)
            allowed = values['allow_unstable']
            for words in zero_dynamics_warnings(self._plant, self._inbox, reader, allowed):
                self.get_logger().warning(words)
            self._run += 1
            reference = self._first_reference(values, job)
            choose_safe(self._plant.safe, values)
            loop = self._make_loop(values, reference)
            loop.after_loss = values['after_loss']
            process.watch(loop, self._stop)
            self._orders.engage(loop)
        loop.start()

    def _first_reference(self, values: dict[str, Any], job: Job) -> FollowOrder:
        """Return the reference of the parameters, or a Hold if that was ordered meanwhile."""
        try:
            return self._prepare(values, job)
        except CancelledError as error:
            if error.requested_by not in (EMERGENCY, HOLD):
                raise
            return HoldOrder()

    def _make_loop(self, values: dict[str, Any], reference: FollowOrder) -> ControlLoop:
        """Return the control loop with its first orders."""
        plant, period = self._plant, round(SECOND / values['rate'])
        settings = plant.settings(values)
        states = state_source(
            self._states,
            values['velocities'],
            plant.validator,
            period,
            tick=values.get('states.tick', ''),
            shared_clock=values.get('states.shared_clock', False),
            predicts=hasattr(settings, 'delay'),
        )
        loop = ControlLoop(
            plant,
            self._inbox,
            states,
            self._publisher,
            Orders(settings, reference, values['reference.ramp_time']),
            period=period,
            watchdog=_watchdog(values),
            record=record_contents.of_controller(self, plant, values),
        )
        if self._before is not None:
            loop.count_from(self._before)
        return loop

    def _end_loop(self) -> None:
        loop = self._orders.disengage('deactivation')
        if loop is None:
            return
        loop.finish()
        last = loop.driver.last_command
        self._before = None if last is None else last.copy()
        record_contents.close(loop.record, self.get_logger())

    def _release(self) -> None:
        """Release the resources of `_load`."""
        self._orders.cancel('cleanup')
        if self._online_references is not None:
            self._online_references.close()  # not under the lock, which its thread may want
            self._online_references = None
        with self.options.lock:
            for part in (self._inbox, self._publisher, self._diagnostics, self._peers):
                if part is not None:
                    part.close()
            for thread in self._solving:
                thread.close()
            self._solving = []
            self._before = None
            self._plant = self._inbox = self._publisher = self._diagnostics = self._peers = None

    # Parameters and services

    def _accept(self, values: dict[str, Any], changed: frozenset[str]) -> None:
        """Apply changed parameters as new orders; raise SoftRobotError to refuse them."""
        if self._plant is None:
            return
        settings = self._plant.settings(values)
        self._growth.check(self._orders.loop, settings)
        changes = {'settings': settings, 'ramp': values['reference.ramp_time']}
        with self._orders.planning() as job:
            if changed & declared_parameters.reference_names(values):
                changes['reference'] = self._prepare(values, job)
            self._orders.change(
                lambda loop: record_contents.note(loop.record, values, changed), **changes
            )
        choose_safe(self._plant.safe, values)
        if (loop := self._orders.loop) is not None:
            loop.watchdog, loop.after_loss = _watchdog(values), values['after_loss']

    def _prepare(self, values: dict[str, Any], job: Job) -> FollowOrder:
        """Return the reference that the parameters describe; this may take some seconds."""
        planned = self._plant.reference(values, self._plant.model.q0, job)
        if planned.reference is None:
            return HoldOrder()
        settings = self._plant.settings(values)
        along = self._growth.along(planned.places, settings, self._orders.loop)
        for words in planned.remarks + along:
            self.get_logger().warning(words)
        reference = planned.reference
        if isinstance(reference, Program):
            reference = reference._replace(run_id=self._run)
        return reference

    def _on_hold(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        refusal = self._orders.hold()
        response.success, response.message = not refusal, refusal or 'holding'
        return response

    def _on_restart(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Follow the reference of the parameters from its beginning, the first phase."""
        try:
            with self.options.lock, self._orders.planning() as job:
                if refusal := self._orders.refusal():
                    raise MessageError(refusal)
                self._run += 1
                self._orders.change(reference=self._prepare(self.options.values, job))
            response.success, response.message = True, 'restarted'
        except SoftRobotError as error:
            response.success, response.message = False, refusal_of(error)
        return response

    def _on_emergency_stop(
        self, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        """Latch, also while inactive; a release leads to holding, never to going on."""
        self._orders.stop(request.data)
        response.success = True
        response.message = 'stopped' if request.data else 'released, holding'
        self.get_logger().warning(f'emergency stop: {response.message}')
        return response


def _watchdog(values: dict[str, Any]) -> int:
    return int(round(SECOND / values['rate']) * values['watchdog_periods'])


def main(
    argv: Sequence[str] | None = None, build: Callable[..., Controlled] = build.controlled
) -> int:
    """Run the controller node until Ctrl-C or SIGTERM."""
    return process.run(lambda stop: ControllerNode(stop, build), argv)


if __name__ == '__main__':
    sys.exit(main())
