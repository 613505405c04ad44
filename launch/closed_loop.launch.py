# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Start the simulation of a robot and its controller; the arguments are those of the two.

Each keeps to a processor of its own, where there are two.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.substitutions import LaunchConfiguration

PROCESSORS = {'simulation': 'first', 'controller': 'second'}  # of the two


def generate_launch_description():
    """Include both launch files; each argument but the processor goes to both."""
    folder = Path(__file__).parent
    actions = []
    for node, default in PROCESSORS.items():
        name = f'{node}_processor'
        words = f'Processor for the {node}, if priority is granted; empty: any'
        actions += [
            DeclareLaunchArgument(name, default_value=default, description=words),
            IncludeLaunchDescription(
                str(folder / f'{node}.launch.py'),
                launch_arguments=[('processor', LaunchConfiguration(name))],
            ),
        ]
    return LaunchDescription(actions)
