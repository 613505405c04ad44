# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write tensions [N] from the controller to current registers of Dynamixels on spools."""

import numpy as np

SPOOL = 0.010  # m, radius of the middle of the cable
TORQUE_CONSTANT = 1.78  # N m/A, XM430-W350: 4.1 N m at 2.3 A
UNIT = 2.69e-3  # A per step of Goal Current
DIRECTION = np.array([1.0, -1.0, 1.0])  # which way each motor winds up
MOST = 1.0  # A, for any command


def registers(tensions):
    """Return Goal Current (m,) for tensions (m,) [N]; none below zero, none beyond MOST."""
    current = np.asarray(tensions, dtype=float) * SPOOL / TORQUE_CONSTANT
    if not np.isfinite(current).all():
        raise ValueError(f'tensions {tensions}: not numbers')
    return DIRECTION * np.round(np.clip(current, 0.0, MOST) / UNIT)


def main():
    """Pass commands on."""
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from std_msgs.msg import Float64MultiArray

    rclpy.init()
    node = rclpy.create_node('spool_drive')
    motors = node.create_publisher(Float64MultiArray, '/tensions/commands', 1)

    def pass_on(message):
        motors.publish(Float64MultiArray(data=registers(message.data).tolist()))

    node.create_subscription(
        Float64MultiArray, 'controller/commands', pass_on, qos_profile_sensor_data
    )
    rclpy.spin(node)


if __name__ == '__main__':
    main()
