# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start the estimator of a robot's state, between its sensors and a controller."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription

PLACE = 'Its number, or own: the least used; needs priority; empty: any'
ARGUMENTS = {
    'estimator': ('', 'Shipped name or file of sensors; empty: as in params_file'),
    'autostart': ('true', 'Configure and activate at once'),
    'estimator_processor': ('', PLACE),
}


def generate_launch_description():
    """Declare the estimator's own arguments, and include what all nodes have."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    node = IncludeLaunchDescription(
        str(Path(__file__).parent / 'node.launch.py'),
        launch_arguments={'node': 'estimator'}.items(),
    )
    return LaunchDescription([*declared, node])
