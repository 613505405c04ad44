# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Start the simulation of a robot and its controller; the arguments are those of the two.

The simulated robot stands at its initial posture until the controller, which may have to compile,
answers. With `estimator:=NAME` the controller hears an estimator, which hears simulated sensors.
With `visualize:=true` the visualizer, too; with `use_rviz:=true` that and RViz.

Simulation and controller keep to one processor, where there are two, as long as the work of a
period fits on it; else to one each. Several loops share out those there are.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PythonExpression

NODES = ('simulation', 'controller')
ESTIMATOR = 'Shipped name or file of sensors to estimate states from; empty: states are heard'
WAITING = (
    'The robot stands until a command answers it: true or false, which an estimator needs;'
    ' empty: as in params_file'
)
VISUALIZE = 'Show the robot, too: true or false'
USE_RVIZ = 'Show the robot in RViz: true or false'


def generate_launch_description():
    """Include both launch files; each argument goes to both."""
    folder = Path(__file__).parent
    words = 'Its number; own: the least used; shared: one for both; needs priority; empty: any'
    named = "'", LaunchConfiguration('estimator'), "'"
    other = "'", LaunchConfiguration('controller_processor'), "'"
    places = [
        DeclareLaunchArgument(
            f'{node}_processor',
            default_value=PythonExpression(["'shared' if ", *condition, " else 'own'"]),
            description=words,
        )
        for node, condition in (
            ('controller', (*named, " == ''")),
            ('simulation', (*other, " == 'shared'")),
        )
    ]
    waiting = DeclareLaunchArgument(
        'wait_for_commands',
        default_value=PythonExpression(["'false' if ", *named, " else 'true'"]),
        description=WAITING,
    )
    nodes = [IncludeLaunchDescription(str(folder / f'{node}.launch.py')) for node in NODES]
    wanted = "'true' in ('", LaunchConfiguration('visualize'), "'.lower(), '"
    wanted = PythonExpression([*wanted, LaunchConfiguration('use_rviz'), "'.lower())"])
    sensors = DeclareLaunchArgument('estimator', default_value='', description=ESTIMATOR)
    estimated = [
        DeclareLaunchArgument('estimator_processor', default_value='own', description=words),
        IncludeLaunchDescription(
            str(folder / 'estimator.launch.py'),
            condition=IfCondition(PythonExpression([*named, " != ''"])),
        ),
    ]
    shown = [
        DeclareLaunchArgument('visualize', default_value='false', description=VISUALIZE),
        DeclareLaunchArgument('use_rviz', default_value='false', description=USE_RVIZ),
        IncludeLaunchDescription(
            str(folder / 'visualizer.launch.py'), condition=IfCondition(wanted)
        ),
    ]
    return LaunchDescription([sensors, *places, *estimated, waiting, *nodes, *shown])
