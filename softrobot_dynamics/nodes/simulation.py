# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulated robot as a node; see `SimulationNode`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
import sys
from threading import Lock
from typing import Any, TYPE_CHECKING, TypeAlias

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from softrobot_dynamics.configuration import build, declared_parameters, wire_names
from softrobot_dynamics.configuration.command_parts import command_parts, command_rows
from softrobot_dynamics.configuration.law_settings import bus_of, choose_safe, require_patience
from softrobot_dynamics.configuration.state_topics import require_one_clock, state_rows
from softrobot_dynamics.errors import ArgumentError, SoftRobotError
from softrobot_dynamics.loops.command_timing import timing_in_words
from softrobot_dynamics.loops.deadlines import Schedule
from softrobot_dynamics.loops.external_inputs import ExternalWrenches, InitialStateReader
from softrobot_dynamics.loops.processor_placement import SharedProcessor
from softrobot_dynamics.loops.simulation_loop import SimulationLoop
from softrobot_dynamics.nodes import diagnostics, process, record_contents
from softrobot_dynamics.nodes.contact_publisher import ContactPublisher
from softrobot_dynamics.nodes.loop_log import ThrottledLog
from softrobot_dynamics.nodes.messaging.command_topics import subscribe_to_commands
from softrobot_dynamics.nodes.messaging.qos import quality_of
from softrobot_dynamics.nodes.publishers import SimulationPublisher
from softrobot_dynamics.nodes.ros_parameters import NodeParameters
from softrobot_dynamics.nodes.simulated_sensing import published_parts, sensing_of
from softrobot_dynamics.nodes.simulation_report import report_on
from softrobot_dynamics.nodes.threaded_subscription import ThreadedSubscription
from softrobot_dynamics.simulation.contact_snapshot import ContactSnapshot
from std_srvs.srv import SetBool, Trigger

if TYPE_CHECKING:
    from softrobot_dynamics.annotations import Vector
    from softrobot_dynamics.configuration.build import Simulated
    from softrobot_dynamics.nodes.diagnostics import Report
    from softrobot_dynamics.nodes.process import Stop

_WRENCH_QOS = QoSProfile(depth=10)  # reliable: pushes at several places add up


Answer: TypeAlias = Trigger.Response | SetBool.Response


class SimulationNode(Node):
    """
    Takes the place of a robot: states out at a fixed rate, commands in.

    - publishes `joint_states` (sensor_msgs/JointState): coordinates by name, stamped with the
      simulated time since the start, or in parts (`state_topics`); with an `estimator`
      `~/joint_states`, and what its sensors measure, as it hears that; `/clock`
      (rosgraph_msgs/Clock) with the same, if `publish_clock` says so; `/diagnostics` at 1 Hz; of
      a robot that may touch something what :class:`ContactPublisher` does, at `contact_rate`
    - subscribes to `joint_commands` (sensor_msgs/JointState): u in effort, by actuator; or
      `controller/commands` (std_msgs/Float64MultiArray), see `command_type`; or to the topics of
      parts, see `command_topics`
    - subscribes to `~/wrench` (geometry_msgs/WrenchStamped): a push from outside, see `pushes`;
      and to `~/set_state` (sensor_msgs/JointState): coordinates by name, those that are not named
      go to where they were at first
    - serves `~/reset` (std_srvs/Trigger): the initial state, also after a divergence; `~/pause`
      (std_srvs/SetBool): the simulated time stands still; `~/step` (std_srvs/Trigger): by a
      period further while it does
    - parameters: `declared_parameters.SIMULATION`, and its `sensor_rows` of the robot

    Without commands for a while the robot applies a safe command of its own. `build(values)`
    returns the `build.Simulated` to run.
    """

    parts = ()  # what is asked for is quick, and served by the main thread

    def __init__(
        self, stop: Stop | None = None, build: Callable[..., Simulated] = build.simulated
    ) -> None:
        super().__init__('simulation')
        self._build, self._stop = build, stop
        self._loop: Any = None
        self._log = ThrottledLog(self)
        self._shared = SharedProcessor(None if stop is None else stop.shared)
        self.options = NodeParameters(self, declared_parameters.SIMULATION)
        self.options.on_change(self._accept)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.create_service(Trigger, '~/step', self._on_step)
        self._listeners: list[ThreadedSubscription] = []
        self._contacts: ContactPublisher | None = None
        self._wrench_lock = Lock()  # the two that listen and the services all change what pushes

    def begin(self) -> bool:
        """Load, compile and start; return whether that went well."""
        values = self.options.values
        bus = bus_of(values)
        with process.loading(self, values['robot'], self._stop):
            plant = self._build(values)
        self.options.declare(declared_parameters.sensor_rows(plant.published))
        self.options.declare(state_rows(values))
        self.options.declare(command_rows(values))
        self.options.require_known(wire_names.NAMES_GROUP)
        values = self.options.values
        quality = quality_of(values)
        require_one_clock(values)
        sensing = sensing_of(self, plant, values, quality)
        record_contents.prepare(values['record'])
        self._plant = plant
        choose_safe(self._plant.safe, values)
        self._diagnostics = diagnostics.Diagnostics(
            self, 'simulated robot', values['robot'], self._report
        )
        self._publisher = SimulationPublisher(
            self,
            quality,
            self._diagnostics.changed,
            with_clock=values['publish_clock'],
            parts=published_parts(plant, values),
            period=1.0 / values['rate'],
            tick=values.get('states.tick', ''),
        )
        self._wrenches = ExternalWrenches(plant.model)
        self._place = InitialStateReader(plant.model, plant.trial, 1.0 / values['rate'])
        self._inbox, reader = subscribe_to_commands(self, command_parts(plant.model, values))
        process.disable_garbage_collection()
        record = record_contents.of_simulation(self, plant, values)
        self._loop = SimulationLoop(
            plant,
            sensing,
            self._inbox,
            reader,
            self._publisher,
            Schedule(
                rate=values['rate'],
                timeout=values['command_timeout_periods'],
                timing=values['command_timing'],
                waits=values['wait_for_commands'],
                pace=values['real_time_factor'],
                bus=bus,
            ),
            epoch=self.get_clock().now().nanoseconds,
            record=record,
        )
        self.options.warn_of_unknown()
        if plant.has_contact and values['contact_rate'] > 0.0:
            snapshot = self._loop.snapshot = ContactSnapshot(plant.simulator)
            self._contacts = ContactPublisher(self, plant.model, snapshot, values['contact_rate'])
        process.watch(self._loop, self._stop)
        self._loop.start()
        self._listeners = [
            ThreadedSubscription(
                self, kind, topic, _WRENCH_QOS, handle, partial(self._refuse, topic)
            )
            for kind, topic, handle in (
                (WrenchStamped, '~/wrench', self._on_wrench),
                (JointState, '~/set_state', self._on_set_state),
            )
        ]
        return True

    def finish(self) -> None:
        """End the loop and complete the record."""
        if self._loop is None:
            return
        for each in self._listeners:
            each.close()
        if self._contacts is not None:
            self._contacts.close()
        self._diagnostics.close()
        self._loop.finish()
        self._inbox.close()
        record_contents.close(self._loop.record, self.get_logger())

    def _accept(self, values: dict[str, Any], changed: frozenset[str]) -> None:
        """Apply changed parameters; raise SoftRobotError to refuse them."""
        require_one_clock(values)
        if self._loop is not None:
            require_patience(values)
            if values['estimator'] and 'real_time_factor' in changed:
                expected = f'{self._loop.pace:g}, which the estimator counts on'
                raise ArgumentError('real_time_factor', values['real_time_factor'], expected)
            if 'payload.mass' in changed:
                self._plant.simulator.carry(values['payload.mass'])
            choose_safe(self._plant.safe, values)
            self._loop.commands.timeout = values['command_timeout_periods']
            self._loop.pace = values['real_time_factor']
            record_contents.note(self._loop.record, values, changed)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(
            response, lambda: self._begin_at(None, None), 'restarted at the initial state'
        )

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        words = 'paused' if request.data else 'resumed'
        return self._answer(response, lambda: self._loop.pause(request.data), words)

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._loop is not None and not self._loop.paused:
            response.success, response.message = False, 'not paused: pause it first'
            return response
        return self._answer(response, lambda: self._loop.step(), 'advanced by one period')

    def _answer(self, response: Answer, act: Callable[[], bool], words: str) -> Answer:
        try:
            response.success = self._loop is not None and act()
            response.message = words if response.success else 'the loop did not answer in time'
        except SoftRobotError as error:
            response.success, response.message = False, str(error)
        return response

    def _begin_at(self, q: Vector | None, qd: Vector | None) -> bool:
        """Restart at a state, None for the initial one, without wrenches."""
        with self._wrench_lock:
            self._wrenches.clear()
            self._loop.wrenches = None
        return self._loop.reset(q, qd)

    def _on_set_state(self, message: JointState) -> None:
        """Restart at a state; MessageError if it is none."""
        self._begin_at(*self._place.read(message))
        if not message.name:
            words = '~/set_state names no coordinate: restarted at the initial state'
            self.get_logger().info(words)

    def _on_wrench(self, message: WrenchStamped) -> None:
        """Push the robot from now on; SoftRobotError if not, and all is as before."""
        with self._wrench_lock:
            wrenches = self._wrenches.read(message)
            self._plant.simulator.prepare(wrenches)
            self._loop.wrenches = wrenches

    def _refuse(self, topic: str, error: SoftRobotError) -> None:
        """Log why a message is not followed."""
        self._log.refuse(f'{topic}:', error, error.in_one_line())

    def _report(self) -> Report:
        """Return the Report for /diagnostics."""
        values, reset = self.options.values, self.resolve_service_name('~/reset')
        acting = timing_in_words(values['command_timing'], values['bus.rate'])
        if self._loop is not None and (words := self._shared.decide(self._loop)):
            self.get_logger().info(words)
        return report_on(self._loop, acting, reset)


def main(
    argv: Sequence[str] | None = None, build: Callable[..., Simulated] = build.simulated
) -> int:
    """Run the simulation node until Ctrl-C or SIGTERM."""
    return process.run(lambda stop: SimulationNode(stop, build), argv)


if __name__ == '__main__':
    sys.exit(main())
