# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Send pressures [Pa] by name to proportional regulators on a serial line."""

import math
import time

FULL = 5.0e5  # Pa at 10 V
CHANNELS = {'c1': 0, 'c2': 1, 'c3': 2}  # actuator: output of the board
SILENCE = 0.05  # s without a command until all valves are shut


class Regulators:
    """Writes `channel volts` lines; remembers the time of the last command."""

    def __init__(self, line, clock=time.monotonic):
        self._line, self._clock, self._heard = line, clock, None

    def command(self, names, pressures):
        """Send pressures [Pa] of actuators by name; those of others are left alone."""
        known = {n: p for n, p in zip(names, pressures) if n in CHANNELS}
        if len(known) < len(CHANNELS):
            raise ValueError(f'{set(CHANNELS) - set(known)}: no command')
        if not all(map(math.isfinite, known.values())):  # min and max would let it through
            raise ValueError(f'{known}: no number')
        for name, pressure in known.items():
            volts = 10.0 * min(max(pressure, 0.0), FULL) / FULL
            self._line.write(f'{CHANNELS[name]} {volts:.3f}\n'.encode())
        self._heard = self._clock()

    def watch(self):
        """Shut the valves, once, if nothing was heard for too long."""
        if self._heard is not None and self._clock() - self._heard > SILENCE:
            for channel in CHANNELS.values():
                self._line.write(f'{channel} 0.000\n'.encode())
            self._heard = None


def main():
    """Serve `joint_commands`."""
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState
    from serial import Serial  # pip install pyserial

    rclpy.init()
    node = rclpy.create_node('regulators')
    valves = Regulators(Serial('/dev/ttyACM0', 1_000_000))
    node.create_subscription(
        JointState,
        'joint_commands',
        lambda message: valves.command(message.name, message.effort),
        qos_profile_sensor_data,
    )
    node.create_timer(0.5 * SILENCE, valves.watch)
    rclpy.spin(node)


if __name__ == '__main__':
    main()
