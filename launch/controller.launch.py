# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start the controller of a robot."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription

ARGUMENTS = {
    'use_sim_time': ('false', 'Take the time from /clock'),
    'autostart': ('true', 'Configure and activate at once'),
    'controller': ('', 'Name of the control law; empty: as in params_file'),
    'controller_processor': ('', 'Its number, or own: the least used; needs priority; empty: any'),
}


def generate_launch_description():
    """Declare the controller's own arguments, and include what both nodes have."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    node = IncludeLaunchDescription(
        str(Path(__file__).parent / 'node.launch.py'),
        launch_arguments={'node': 'controller'}.items(),
    )
    return LaunchDescription([*declared, node])
