# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start the simulation of a robot."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription


def generate_launch_description():
    """Declare the simulation's own argument, and include what both nodes have."""
    words = 'Its number, or own: the least used; needs priority; empty: any'
    processor = DeclareLaunchArgument('simulation_processor', default_value='', description=words)
    node = IncludeLaunchDescription(
        str(Path(__file__).parent / 'node.launch.py'),
        launch_arguments={'node': 'simulation'}.items(),
    )
    return LaunchDescription([processor, node])
