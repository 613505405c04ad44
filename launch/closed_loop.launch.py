# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start the simulation of a robot and its controller; the arguments are those of the two."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description():
    """Include both launch files; each argument goes to both."""
    folder = Path(__file__).parent
    return LaunchDescription(
        [
            IncludeLaunchDescription(str(folder / f'{node}.launch.py'))
            for node in ('simulation', 'controller')
        ]
    )
