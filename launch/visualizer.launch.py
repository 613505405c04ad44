# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Show the robot of a running loop as markers and frames; with `use_rviz:=true` in RViz."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory, PackageNotFoundError
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

PACKAGE = 'softrobot_dynamics'


def generate_launch_description():
    """Include what all nodes have, and RViz."""
    node = IncludeLaunchDescription(
        str(Path(__file__).parent / 'node.launch.py'),
        launch_arguments={'node': 'visualizer'}.items(),
    )
    words = 'Open RViz: true or false'
    shown = DeclareLaunchArgument('use_rviz', default_value='false', description=words)
    return LaunchDescription([shown, OpaqueFunction(function=_rviz), node])


def _rviz(context):
    """Return RViz with our displays, in the same namespace, if it is asked for."""
    if context.launch_configurations['use_rviz'].lower() not in ('true', '1'):
        return []
    try:
        get_package_share_directory('rviz2')
    except PackageNotFoundError:
        how = 'install it (ros-<distribution>-rviz2), or leave use_rviz away'
        raise FileNotFoundError(f'use_rviz:=true: there is no rviz2 here: {how}') from None
    displays = Path(get_package_share_directory(PACKAGE), 'config', 'viewing', 'robot.rviz')
    return [
        Node(
            package='rviz2',
            executable='rviz2',
            namespace=LaunchConfiguration('namespace'),
            arguments=['-d', str(displays)],
            output='screen',
        )
    ]
