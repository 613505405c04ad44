# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start the simulation of a robot."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

PACKAGE = 'softrobot_dynamics'
ARGUMENTS = {
    'namespace': ('', 'Namespace of the nodes'),
    'params_file': ('', 'YAML file of parameters; empty: the one shipped for the robot, if any'),
    'log_level': ('info', 'Least severe message to log'),
    'robot': ('pcc_arm', 'Name of a shipped robot, or path of a robot description'),
    'rate': ('', 'Rate of the states [Hz]; empty: as in params_file'),
    'simulation_processor': ('', 'Its number, or own: the least used; needs priority; empty: any'),
    'record': ('', 'Folder for a record of all ticks, simulation.mcap; empty: as in params_file'),
}
PARAMETERS = {'robot': str, 'rate': float}


def generate_launch_description():
    """Declare the arguments; the node follows once they are known."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=_nodes)])


def _nodes(context):
    return [
        Node(
            package=PACKAGE,
            executable='simulation',
            name='simulation',
            namespace=LaunchConfiguration('namespace'),
            parameters=[*_parameter_files(context), _given_parameters(context)],
            arguments=[
                *_processor(context),
                '--ros-args',
                '--log-level',
                LaunchConfiguration('log_level'),
            ],
            output='screen',
        )
    ]


def _processor(context):
    processor = LaunchConfiguration('simulation_processor').perform(context)
    return ['--processor', processor] if processor else []


def _parameter_files(context):
    chosen = LaunchConfiguration('params_file').perform(context)
    if chosen and not Path(chosen).is_file():
        raise FileNotFoundError(f'params_file: no file {chosen}')
    robot = LaunchConfiguration('robot').perform(context)
    folder = Path(get_package_share_directory(PACKAGE), 'config', 'controllers')
    shipped = folder / f'{robot}.yaml'
    return [chosen] if chosen else [str(shipped)] * shipped.is_file()


def _given_parameters(context):
    """Return the parameters that an argument sets; the others are left to the file."""
    given = {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, kind in PARAMETERS.items()
        if LaunchConfiguration(name).perform(context)
    }
    record = LaunchConfiguration('record').perform(context)
    return given | ({'record': str(Path(record, 'simulation.mcap'))} if record else {})
