# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start the simulation of a robot."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription


def generate_launch_description():
    """Declare the simulation's own arguments, and include what both nodes have."""
    words = 'Its number, or own: the least used; needs priority; empty: any'
    processor = DeclareLaunchArgument('simulation_processor', default_value='', description=words)
    node = IncludeLaunchDescription(
        str(Path(__file__).parent / 'node.launch.py'),
        launch_arguments={'node': 'simulation'}.items(),
    )
    words = 'Name or file of sensors that are simulated, on topics; empty: none'
    estimator = DeclareLaunchArgument('estimator', default_value='', description=words)
    words = 'The robot stands until a command answers it: true or false; empty: as in params_file'
    waiting = DeclareLaunchArgument('wait_for_commands', default_value='', description=words)
    return LaunchDescription([processor, estimator, waiting, node])
