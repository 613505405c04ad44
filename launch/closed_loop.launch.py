# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Start the simulation of a robot and its controller; the arguments are those of the two.

Each keeps to a processor of its own, where there are two; several loops share out those there are.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription

NODES = ('simulation', 'controller')


def generate_launch_description():
    """Include both launch files; each argument goes to both."""
    folder = Path(__file__).parent
    words = 'Its number, or own: the least used; needs priority; empty: any'
    places = [
        DeclareLaunchArgument(f'{node}_processor', default_value='own', description=words)
        for node in NODES
    ]
    nodes = [IncludeLaunchDescription(str(folder / f'{node}.launch.py')) for node in NODES]
    return LaunchDescription(places + nodes)
