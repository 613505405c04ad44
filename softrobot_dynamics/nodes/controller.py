# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The controller as a lifecycle node; see `ControllerNode`."""
import contextlib
import sys
import traceback

import numpy as np
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.nodes import control_loop, diagnostics, messages, plants, process, realtime
from softrobot_dynamics.nodes import tables
from softrobot_dynamics.nodes.control_loop import ControlLoop, Hold, Orders
from softrobot_dynamics.nodes.parameters import Parameters, reason_of
from softrobot_dynamics.nodes.record import Record

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_ACKNOWLEDGED = Duration(seconds=0.5)
_THROTTLE = 1.0      # [s] between two logs of the same failure


class ControllerNode(LifecycleNode):
    """
    Answers every state of a robot with a command.

    - subscribes to `joint_states` (sensor_msgs/JointState): coordinates by name
    - publishes `joint_commands` (sensor_msgs/JointState): u in effort, by actuator, with the stamp
      of the state answered; or `~/commands` (std_msgs/Float64MultiArray), see `command_type`
    - publishes `~/controller_state` (sensor_msgs/JointState: y, its rate, u, by actuator) and
      `~/reference` (trajectory_msgs/JointTrajectory) at 20 Hz, `/diagnostics` at 1 Hz
    - serves `~/hold` (std_srvs/Trigger): hold the present outputs; `~/emergency_stop`
      (std_srvs/SetBool): the safe command until released, then hold
    - parameters: `tables.CONTROLLER` and, once configured, `tables.actuator_rows`

    Configure loads and compiles, activate starts the loop, deactivate ends it with a last safe
    command. `build(values)` returns the `plants.Controlled` to run.
    """

    def __init__(self, stop=None, build=plants.controlled):
        super().__init__('controller')
        self._build, self._stop = build, stop
        self._plant = self._loop = self._inbox = self._outlet = None
        self._emergency, self._reference = False, Hold()
        self._parameters = Parameters(self, tables.CONTROLLER)
        self._parameters.on_change(self._accept)
        self.create_service(Trigger, '~/hold', self._on_hold)
        self.create_service(SetBool, '~/emergency_stop', self._on_emergency_stop)

    # Life

    def begin(self):
        """Configure and activate if `autostart` says so; return whether that went well."""
        if not self._parameters.values['autostart']:
            return True
        return self.trigger_configure() == SUCCESS and self.trigger_activate() == SUCCESS

    def finish(self):
        """Leave the robot with the safe command, and what was recorded in its file."""
        self._end_loop()
        self._release()

    def on_configure(self, state):
        """Load, compile and warm everything."""
        return self._attempt(self._configure)

    def on_activate(self, state):
        """Prepare the reference and start the loop, which begins with the first valid state."""
        return self._attempt(self._activate)

    def on_deactivate(self, state):
        """End the loop with a last safe command; write the record."""
        return self._attempt(self._end_loop)

    def on_cleanup(self, state):
        """Give back what configure made."""
        return self._attempt(self._release)

    def on_shutdown(self, state):
        """Do what deactivate and cleanup do."""
        return self._attempt(self.finish)

    def on_error(self, state):
        """Go back to unconfigured."""
        return self._attempt(self.finish)

    def _attempt(self, action):
        """Return SUCCESS, or FAILURE with the reason in the log: rclpy would keep it to itself."""
        try:
            action()
        except SoftRobotError as error:
            self.get_logger().error(reason_of(error))
            return FAILURE
        except Exception:
            self.get_logger().error(traceback.format_exc())
            return FAILURE
        return SUCCESS

    def _configure(self):
        values = self._parameters.values
        self.get_logger().info(f"loading {values['robot']}; the first time, this compiles for up"
                               ' to 20 s')
        started = realtime.now()
        interrupting = self._stop.interrupting() if self._stop else contextlib.nullcontext()
        with interrupting, realtime.patient():
            plant = self._build(values)
        names = plant.model.actuator_names
        self._parameters.declare(tables.actuator_rows(names))
        for words in self._parameters.unknown():
            self.get_logger().warning(f'unknown parameter {words} left out')
        plant.settings(self._parameters.values)
        self._plant = plant
        quality = _quality(values)
        self._outlet = Outlet(self, names, values['command_type'], quality)
        self._inbox = realtime.Inbox(self, JointState, 'joint_states', quality)
        self._diagnostics = diagnostics.Diagnostics(self, 'control loop', values['robot'],
                                                    self._report)
        self.get_logger().info(f'configured in {(realtime.now() - started) * 1e-9:.1f} s:'
                               f' {plant.model.n} coordinates, {len(names)} actuators')

    def _activate(self):
        values, plant = self._parameters.values, self._plant
        orders = self._orders(values, self._prepare(values), self._emergency)
        self._choose_safe(values)
        period = round(messages.SECOND / values['rate'])
        process.keep_collector_away()
        self._loop = ControlLoop(
            plant, self._inbox, messages.StateReader(plant.model.coordinate_names), self._outlet,
            orders, period=period, watchdog=period * values['watchdog_periods'],
            record=_record(plant.model) if values['record'] else None)
        self._loop.start()

    def _end_loop(self):
        if self._loop is None:
            return
        loop, self._loop = self._loop, None
        loop.finish()
        if loop.record is not None:
            path, model = self._parameters.values['record'], self._plant.model
            loop.record.save(path, coordinate_names=model.coordinate_names,
                             actuator_names=model.actuator_names, modes=control_loop.MODES)
            self.get_logger().info(f'{len(loop.record)} ticks recorded in {path}')

    def _release(self):
        for part in (self._inbox, self._outlet, self._diagnostics):
            if part is not None:
                part.close()
        self._plant = self._inbox = self._outlet = self._diagnostics = None

    # Parameters and services

    def _accept(self, values, changed):
        """Take changed parameters as the new orders; SoftRobotError refuses them."""
        if self._plant is None:
            return
        settings = self._plant.settings(values)
        self._choose_safe(values)
