# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Driver of the regulators: tensions [N] of winches, and a pressure [kPa], within safe limits.

It reads `tendons/commands` and `regulator/commands` (std_msgs/Float64MultiArray), clips them to
the limits of the hardware, and publishes them on `regulator/tensions` and `regulator/pressure` for
the simulated robot. On a robot, replace
:meth:`Regulator.set_points` by what writes to the valves. When commands stop, tendons go to a
pretension and the pressure to zero.
"""

import contextlib
import math
import os
import time

from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Float64MultiArray

PRIORITY = 60  # real-time (FIFO), as that of the other nodes; not where the system refuses it
SILENCE = 0.1  # s without a command until the safe set-points
CHANNELS = {  # topic of commands: topic of set-points, least, greatest, safe
    'tendons/commands': ('regulator/tensions', 0.0, 80.0, 1.0),  # N
    'regulator/commands': ('regulator/pressure', 0.0, 2000.0, 0.0),  # kPa
}


def limited(numbers, least, greatest):
    """Return numbers within limits; ValueError for one that is not finite."""
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f'{list(numbers)}: not all of them are finite')
    return [min(max(x, least), greatest) for x in numbers]


class Regulator:
    """One channel: set-points follow commands, and are safe without them."""

    def __init__(self, node, commands, topic, least, greatest, safe, clock=time.monotonic):
        self._limits, self._safe, self._clock = (least, greatest), safe, clock
        self._log, self._heard, self._count = node.get_logger(), None, 0
        self._publisher = node.create_publisher(Float64MultiArray, topic, qos_profile_sensor_data)
        node.create_subscription(
            Float64MultiArray, commands, self._command, qos_profile_sensor_data
        )
        node.create_timer(0.5 * SILENCE, self._watch)

    def set_points(self, numbers):
        """Write set-points to the hardware."""
        self._publisher.publish(Float64MultiArray(data=numbers))

    def _command(self, message):
        try:
            self.set_points(limited(message.data, *self._limits))
        except ValueError as error:
            self._log.warning(str(error), throttle_duration_sec=1.0)
            return
        self._heard, self._count = self._clock(), len(message.data)

    def _watch(self):
        """Make the channel safe, once, if nothing was heard for too long."""
        if self._heard is not None and self._clock() - self._heard > SILENCE:
            self.set_points([self._safe] * self._count)
            self._heard = None


def main():
    """Serve both channels until Ctrl-C."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    try:  # takes less than half the processor time for a message
        from rclpy.experimental import EventsExecutor as Executor
    except ImportError:
        Executor = SingleThreadedExecutor
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    rclpy.init()  # whose threads inherit the priority
    node = rclpy.create_node('regulator')
    every = [Regulator(node, commands, *given) for commands, given in CHANNELS.items()]
    node.get_logger().info(f'{len(every)} channels')
    executor = Executor()
    executor.add_node(node)
    try:
        while rclpy.ok():  # spin() of an EventsExecutor ignores signals
            executor.spin_once(timeout_sec=SILENCE)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
