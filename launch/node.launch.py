# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Start one of the nodes; what the other launch files include, with arguments of their own."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from softrobot_dynamics.configuration.parameter_files import parameters_of
from softrobot_dynamics.loops.realtime import processor_of_pair

PACKAGE = 'softrobot_dynamics'
ROBOT = 'pcc_arm'  # where nobody says which
ARGUMENTS = {
    'namespace': ('', 'Namespace of the nodes'),
    'params_file': ('', 'YAML file of parameters; empty: the one shipped for the robot, if any'),
    'log_level': ('info', 'Least severe message to log'),
    'robot': (
        '',
        'Name of a shipped robot, or path of a robot description; empty: that of params_file,'
        ' or pcc_arm',
    ),
    'rate': ('', 'Rate of the states [Hz]; empty: as in params_file, the controller there'),
    'record': ('', 'Folder for a record of all ticks, NODE.mcap; empty: as in params_file'),
}


def _number(given):
    return float(given)


def _switch(given):
    return {'true': True, 'false': False}[given.lower()]


COMMON = {'robot': (str, 'a name or a path'), 'rate': (_number, 'a number [Hz]')}
ESTIMATED = {**COMMON, 'estimator': (str, 'a name or a path')}
SIMULATION = {**ESTIMATED, 'wait_for_commands': (_switch, 'true or false')}
CONTROLLER = {
    **COMMON,
    'controller': (str, 'the name of a control law'),
    'use_sim_time': (_switch, 'true or false'),
    'autostart': (_switch, 'true or false'),
}
ESTIMATOR = {**ESTIMATED, 'autostart': CONTROLLER['autostart']}
VISUALIZER = {'robot': COMMON['robot']}
PARAMETERS = {
    'simulation': SIMULATION,
    'controller': CONTROLLER,
    'estimator': ESTIMATOR,
    'visualizer': VISUALIZER,
}
"""Parameters that arguments of the same name set: how each is read, and what it may be."""


def generate_launch_description():
    """Declare the arguments; the node follows once they are known."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    node = DeclareLaunchArgument(
        'node', default_value='simulation', choices=[*PARAMETERS], description='Which of them'
    )
    return LaunchDescription([node, *declared, OpaqueFunction(function=_nodes)])


def _nodes(context):
    given = dict(context.launch_configurations)
    name = given['node']
    given |= _common(name, given)
    place = _place(given.get(f'{name}_processor', ''), given['namespace'])
    return [
        Node(
            package=PACKAGE,
            executable=name,
            name=name,
            namespace=LaunchConfiguration('namespace'),
            parameters=[*_parameter_files(given), _parameters(name, given)],
            arguments=[*place, '--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='screen',
        )
    ]


def _place(processor, namespace):
    """Return the arguments that give a node its processor, with `shared` one for a namespace."""
    if processor != 'shared':
        return ['--processor', processor] if processor else []
    number = processor_of_pair(namespace)
    return [] if number is None else ['--processor', str(number), '--shared']


def _common(node, given):
    """Return robot and rate: as given, else what params_file has for the node or a controller."""
    chosen = given['params_file']
    if chosen and not Path(chosen).is_file():
        raise FileNotFoundError(f'params_file:={chosen}: there is no such file')
    found = {}
    for each in ('controller', node) if chosen else ():
        found |= parameters_of(Path(chosen), each)
    robot = given['robot'] or str(found.get('robot', '')) or ROBOT
    return {'robot': robot, 'rate': given['rate'] or str(found.get('rate', ''))}


def _parameter_files(given):
    chosen = given['params_file']
    folder = Path(get_package_share_directory(PACKAGE), 'config', 'controllers')
    shipped = folder / f'{given["robot"]}.yaml'
    return [chosen] if chosen else [str(shipped)] * shipped.is_file()


def _parameters(node, given):
    """Return the parameters that an argument sets; the others are left to the file."""
    found = {
        name: _read(name, given[name], *how)
        for name, how in PARAMETERS[node].items()
        if given.get(name)
    }
    record = given['record'] if node in ('simulation', 'controller') else ''
    return found | ({'record': str(Path(record, f'{node}.mcap'))} if record else {})


def _read(name, value, read, expected):
    try:
        return read(value)
    except (KeyError, ValueError):
        raise ValueError(f'{name}:={value}: give {expected}') from None
