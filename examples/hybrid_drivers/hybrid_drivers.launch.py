# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Start a robot of three drivers (rigid arm, soft arm with an estimator, regulators), all simulated.

    ros2 launch examples/hybrid_drivers/hybrid_drivers.launch.py

One simulated robot stands for the hardware. With `hardware:=true` it is left out, and the drivers
of a real robot have the topics instead; see README.md.
"""

from pathlib import Path
import sys

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.conditions import UnlessCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

HERE = Path(__file__).parent
REMAPPED = {  # estimated states are those of the soft arm; the simulated arm has a driver's topic
    'simulation': [('~/ur10e/joint_states', 'ur10e/joint_states')],
    'estimator': [('joint_states', 'soft/joint_states')],
    'controller': [],
}


def generate_launch_description():
    """Start the nodes with the files beside this one, the laws being those of hybrid_arm."""
    shipped = Path(get_package_share_directory('softrobot_dynamics'), 'config', 'controllers')
    robot, sensors = (str(HERE / f'{name}.yaml') for name in ('hybrid_arm_position', 'sensors'))
    words = 'Drivers of a real robot run instead of the simulated one: true or false'
    given = {
        'simulation': {'robot': robot, 'estimator': sensors},
        'estimator': {'robot': robot, 'estimator': sensors},
        'controller': {'robot': robot},
    }
    files = [str(shipped / 'hybrid_arm.yaml'), str(HERE / 'drivers.yaml')]
    nodes = [
        Node(
            package='softrobot_dynamics',
            executable=name,
            name=name,
            parameters=[*files, own],
            remappings=REMAPPED[name],
            condition=UnlessCondition(LaunchConfiguration('hardware'))
            if name == 'simulation'
            else None,
            output='screen',
        )
        for name, own in given.items()
    ]
    regulator = ExecuteProcess(cmd=[sys.executable, str(HERE / 'regulator.py')], output='screen')
    hardware = DeclareLaunchArgument('hardware', default_value='false', description=words)
    return LaunchDescription([hardware, regulator, *nodes])
