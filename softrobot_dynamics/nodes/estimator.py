# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The state estimator as a node; see `EstimatorNode`."""

from __future__ import annotations

from collections.abc import Sequence
import sys
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.configuration import wire_names
from softrobot_dynamics.configuration.command_parts import command_parts, command_rows
from softrobot_dynamics.configuration.node_parameters import OF_ESTIMATOR
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.effort_measurements import Effort
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensors.contract import Sensor
from softrobot_dynamics.estimation.sensors.message_sources import SHARED
from softrobot_dynamics.estimation.settings import EstimatorSettings, load_estimator
from softrobot_dynamics.estimation.shape_fit import ShapeFit
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.deadlines import EstimationSchedule
from softrobot_dynamics.loops.estimation_loop import EstimationLoop
from softrobot_dynamics.loops.message_fields import SECOND
from softrobot_dynamics.loops.sensor_adapters import adapter_of
from softrobot_dynamics.loops.sensor_streams import CommandStream, ObservabilityCheck, Stream
from softrobot_dynamics.loops.simulated_sensors import estimator_file
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.nodes import diagnostics, process
from softrobot_dynamics.nodes.estimation_report import report_on
from softrobot_dynamics.nodes.lifecycle import LifecycleNode
from softrobot_dynamics.nodes.messaging.command_topics import subscribe_to_commands
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.measurements import entries_of, message_type_of, topic_of
from softrobot_dynamics.nodes.messaging.qos import MANY_PUBLISHERS_QOS, NEWEST_QOS, quality_of
from softrobot_dynamics.nodes.process import Stop
from softrobot_dynamics.nodes.publishers import EstimationPublisher
from softrobot_dynamics.nodes.ros_parameters import NodeParameters

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class EstimatorNode(LifecycleNode):
    """
    Publishes the state of a robot, estimated from its sensors and commands.

    - subscribes to `sensors/NAME` for every sensor of the estimator file, of the `message_type`
      that its kind declares: for a `pose` geometry_msgs/PoseStamped, for `markers`
      geometry_msgs/PoseArray, for a `joint` sensor_msgs/JointState, for an `imu` sensor_msgs/Imu,
      for `efforts` sensor_msgs/JointState; or to another topic and type, if the sensor's `message`
      names those of a driver; and to the commands, as the controller publishes them
    - publishes `joint_states` (sensor_msgs/JointState) at `rate`: all coordinates and their rates,
      of the moment, stamped by the sensors' clock; `~/covariance` (std_msgs/Float64MultiArray) of
      coordinates, rates and forces; `~/push` (geometry_msgs/WrenchStamped), the force on a tip
      that explains best what the model does not; `/diagnostics` at 1 Hz
    - calls `controller/emergency_stop` (std_srvs/SetBool) once the push is above
      `collision_force`, if that is set
    - parameters: `node_parameters.OF_ESTIMATOR`

    States go out while sensors tell all of it that can move the robot, no longer: a controller
    then finds no state, and makes the robot safe.
    """

    parts = ()

    def __init__(self, stop: Stop | None = None) -> None:
        super().__init__('estimator')
        self._stop = stop
        self._loop: EstimationLoop | None = None
        self._estimator: Any = None
        self._open: list[Any] = []  # what has to be given back
        self.options = NodeParameters(self, OF_ESTIMATOR)

    def _configure(self) -> None:
        self._release()  # of an attempt that failed
        values, started = self.options.values, realtime.now()
        with process.loading(self, values['robot'], self._stop):
            self._load(values)
        self.options.warn_of_unknown()
        names = ', '.join(stream.sensor.name for stream in self._streams)
        self.get_logger().info(
            f'configured in {(realtime.now() - started) * 1e-9:.1f} s: sensors {names}'
        )
        process.disable_garbage_collection()

    def _load(self, values: dict[str, Any]) -> None:
        """Load robot and sensors, and make the estimator, its inputs and its publisher."""
        robot = load_robot(values['robot'])
        model = compile_model(robot)
        body = values['push'] or model.body_names[-1]
        if body not in model.body_names:
            raise ArgumentError('push', body, f'a body, one of {", ".join(model.body_names)}')
        settings = load_estimator(_sensors_of(values))
        _require_pace(values['real_time_factor'], settings)
        self.options.declare(command_rows(values))
        values = self.options.declare(wire_names.wire_name_rows(robot))
        self.options.require_known(wire_names.NAMES_GROUP)
        every: tuple[Sensor | Effort, ...] = (*settings.sensors, *settings.efforts)
        types = [message_type_of(each) for each in every]
        self._estimator, self._fit = Estimator(model, settings), ShapeFit(model, settings)
        self._initial = _undriven(model)
        self._estimator.begin(0.0, u=self._initial)
        self._sufficient = self._enough(settings, values['allow_unobservable'])
        self._warm(body)
        self._streams = [
            self._stream(each, kind)
            for each, kind in zip(wire_names.with_wire_names(values, every), types)
        ]
        self._commands, self._reader = subscribe_to_commands(self, command_parts(model, values))
        self._open.append(self._commands)
        self._diagnostics = diagnostics.Diagnostics(
            self,
            'estimator',
            values['robot'],
            lambda: report_on(self._loop, self._publisher.model_error),
        )
        self._open.append(self._diagnostics)
        self._publisher = EstimationPublisher(
            self,
            wire_names.wire_names(values, model.coordinate_names),
            quality_of(values),
            self._diagnostics.changed,
            body,
        )
        self._open.append(self._publisher)

    def _stream(self, sensor: Sensor | Effort, message_type: type) -> Stream:
        """Return the messages of a sensor, which come from now on."""
        adapter = adapter_of(sensor)
        quality = MANY_PUBLISHERS_QOS if adapter is not None and adapter.shared else NEWEST_QOS
        inbox = Inbox(self, message_type, topic_of(sensor), quality, entries_of(sensor))
        self._open.append(inbox)
        return Stream(sensor, inbox, adapter)

    def _enough(self, settings: EstimatorSettings, allow: bool) -> ObservabilityCheck:
        """Return which sensors are enough; ArgumentError if not even all of them are."""
        unobservable = self._estimator.observability().unobservable
        if unobservable and not allow:
            given = ', '.join(each.name for each in settings.sensors)
            expected = (
                f'ones that observe {", ".join(unobservable)} at rest, or allow_unobservable'
            )
            raise ArgumentError('sensors', given, expected)
        if unobservable:
            lost = ', '.join(unobservable)
            words = f'no sensor observes {lost}: there the model alone determines the state'
            self.get_logger().warning(words)
        enough = ObservabilityCheck(self._estimator, unobservable)
        names = [s.name for s in settings.sensors]
        for name in names:  # so that the loop need not find it out
            enough.lacking(other for other in names if other != name)
        return enough

    def _warm(self, body: str) -> None:
        """Compile the kernels of the loop."""
        self._estimator.estimate(0.01, covariance=True)
        self._estimator.push(body)
        self._fit({}, u=self._initial)

    def _activate(self) -> None:
        """Make and start the loop."""
        values = self.options.values
        plan = EstimationSchedule(
            period=round(SECOND / values['rate']),
            timeout=round(SECOND * values['timeout']),
            settling=round(SECOND * values['settling']),
            report=round(SECOND / values['report_rate']),
            delay=values['command_delay'],
            body=values['push'] or self._estimator.model.body_names[-1],
            collision=values['collision_force'],
            pace=values['real_time_factor'],
        )
        self._loop = EstimationLoop(
            self._estimator,
            self._fit,
            self._streams,
            CommandStream(self._commands, self._reader, self._initial),
            self._publisher,
            plan,
            self._sufficient,
        )
        process.watch(self._loop, self._stop)
        self._loop.start()

    def _end_loop(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.finish()

    def _release(self) -> None:
        while self._open:
            self._open.pop().close()


def _require_pace(pace: float, settings: EstimatorSettings) -> None:
    """Raise ArgumentError for a pace of time [-] with sensors that are stamped by a real clock."""
    for sensor in settings.sensors if pace != 1.0 else ():
        if sensor.message is not None and sensor.message.clock != SHARED:
            expected = f'1, as the clock of {sensor.name} is {sensor.message.clock!r}'
            raise ArgumentError('real_time_factor', pace, expected)


def _sensors_of(values: dict[str, Any]) -> str:
    """Return the path of the estimator file that parameter values mean; ArgumentError."""
    given, known = values['estimator'], shipped('estimators')
    if not given and values['robot'] not in known:
        names = ', '.join(known)
        raise ArgumentError('estimator', given, f'a file of sensors; there are some for {names}')
    return estimator_file(given or values['robot'])


def _undriven(model: CompiledModel) -> Vector:
    """Return the efforts (m,) on a robot before its first command, as in the simulation."""
    safe = SafeCommand.of_model(model)
    safe.choose('auto', 1.0, 2.0)
    safe.begin(model.q0, None)
    u = safe.at(0.0).copy()
    u[model.servos.actuators] = model.servos.resting(model.q0)  # drives stay where they are
    return u


def main(argv: Sequence[str] | None = None) -> int:
    """Run the estimator node until Ctrl-C or SIGTERM."""
    return process.run(EstimatorNode, argv)


if __name__ == '__main__':
    sys.exit(main())
