# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Imports run in one direction only; read from the syntax trees, nothing is imported."""

import ast
from importlib.util import find_spec
from pathlib import Path
import sys

import pytest

NAME = 'softrobot_dynamics'
PACKAGE = Path(find_spec(NAME).origin).parent

LAYERS = (
    {'errors'},
    {'registry', 'parsing', 'fields', 'yaml_files', 'poses', 'shipped', 'kernels', 'kinematics'},
    {
        'meshes',
        'networks',
        'materials',
        'bases',
        'sections',
        'strain_modes',
        'volumes',
        'reduction',
    },
    {
        'bodies',
        'joints',
        'actuators',
        'recursion',
        'frames',
        'material',
        'passive',
        'held_columns',
        'held_response',
        'linearisation',
        'masses',
        'transmission',
        'tangents',
    },
    {'modules', 'description', 'tables', 'evaluation', 'model'},
    {'arguments', 'points', 'wrenches', 'dynamics', 'conversions', 'derivatives', 'recentring'},
    {
        'held_command',
        'integrators',
        'stepping',
        'settling',
        'stability',
        'statics',
        'postures',
        'laps',
        'references',
        'feasibility',
        'simulation',
        'controllers',
        'learning',
        'recordings',
        'mcap_content',
    },
    {'nodes'},
    {'demo', 'cli', 'plots'},
)
"""Each may import those before it, and within itself as long as there is no circle."""

ONLY = {
    'errors': set(),
    'kernels': {'kernels'},
    'kinematics': {'errors', 'kernels', 'kinematics'},
    'recursion': {'kernels'},
    'frames': {'kernels', 'recursion'},
    'material': {'kernels'},
    'transmission': {'kernels', 'recursion', 'frames'},
    'passive': {'kernels', 'recursion'},
    'linearisation': {'kernels', 'kinematics', 'passive', 'recursion'},
    'tangents': {'kernels', 'recursion'},
    'masses': {'errors', 'kernels', 'kinematics', 'recursion'},
    'tables': {'kernels', 'kinematics', 'actuators', 'recursion', 'transmission'},
    'evaluation': {'kernels', 'kinematics', 'passive', 'recursion', 'transmission'},
    'model': {'kinematics', 'masses', 'recursion', 'transmission', 'tables', 'evaluation'},
    'arguments': {'errors'},
    'points': {'poses', 'kernels', 'kinematics', 'recursion', 'frames', 'material'},
    'wrenches': {'errors', 'arguments', 'points', 'recursion'},
    'dynamics': {
        'errors',
        'arguments',
        'points',
        'wrenches',
        'kinematics',
        'recursion',
        'frames',
        'masses',
    },
    'integrators': {'kernels'},
    'settling': set(),
    'stability': set(),
    'recordings': {'errors', 'mcap_content'},
    'mcap_content': set(),
}
"""Parts that may import nothing else of the package."""

NEVER = {
    'bodies': {'joints', 'actuators', 'recursion', 'frames', 'transmission'},
    'joints': {'bodies', 'actuators', 'recursion', 'frames', 'transmission'},
    'actuators': {'bodies', 'joints', 'recursion', 'frames', 'transmission'},
    'simulation': {'controllers', 'references', 'description'},
    'controllers': {'simulation', 'description'},
    'statics': {'description', 'postures', 'references', 'simulation', 'controllers'},
    'postures': {'description', 'references', 'simulation', 'controllers'},
    'laps': {'description', 'references', 'simulation', 'controllers'},
    'references': {'description', 'simulation', 'controllers'},
}
"""Parts that must not know each other though their layers would allow it."""

ROS = {'rclpy', 'sensor_msgs', 'std_msgs', 'std_srvs', 'geometry_msgs', 'diagnostic_msgs',
       'rcl_interfaces', 'lifecycle_msgs', 'trajectory_msgs', 'launch', 'launch_ros'}  # fmt: skip
WATCHERS = {'demo.monitor'}
"""Modules beside the nodes that may import ROS: what starts and watches them for the demo."""

EXTRAS = {'meshio', 'mcap', 'zstandard'}
"""Packages of an extra that the core imports where a robot asks for them, and says so if not."""

FILES = sorted(PACKAGE.rglob('*.py'))


def module_of(file):
    """Dotted name of a file below the package, '' for the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def imported(file, at_once=False):
    """Dotted names that a file imports, wherever in it, or only those that it does at once."""
    tree = ast.parse(file.read_text())
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{file}: relative import'
            yield node.module
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def own_imports(file, at_once=False):
    """Modules of the package that a file imports, by their dotted names below it."""
    modules = {module_of(each) for each in FILES}
    names = {x[len(NAME) + 1 :] for x in imported(file, at_once) if x.startswith(f'{NAME}.')}
    return sorted(names & modules - {''})


def part(module):
    """Part of the package a module belongs to: a file or a folder."""
    return module.split('.')[0]


PAIRS = [(module_of(file), other) for file in FILES for other in own_imports(file)]


def layer(module):
    """Return the number of the layer of a module."""
    return next(i for i, parts in enumerate(LAYERS) if part(module) in parts)


def test_every_part_has_a_layer():
    """Each file and folder of the package is in exactly one layer, and no layer names a ghost."""
    there = {part(module_of(file)) for file in FILES} - {''}
    named = [each for parts in LAYERS for each in parts]
    assert len(named) == len(set(named))
    assert there == set(named)


def test_imports_lead_down():
    """No module imports one of a higher layer."""
    assert [(a, b) for a, b in PAIRS if a and layer(b) > layer(a)] == []


def test_some_parts_know_few():
    """Kernels, tracer, recursion, model and dynamics import only what is listed."""
    wrong = [(a, b) for a, b in PAIRS if part(a) in ONLY and part(b) not in ONLY[part(a)]]
    assert wrong == []


def test_some_parts_never_meet():
    """Simulation and controllers, and the kinds of parts of a robot, do not know each other."""
    assert [(a, b) for a, b in PAIRS if part(b) in NEVER.get(part(a), ())] == []


def test_the_engine_knows_no_member():
    """No concrete body, joint, actuator or controller is imported but by its own kind."""
    kinds = {'bodies', 'joints', 'actuators', 'controllers'}
    concrete = [
        (a, b)
        for a, b in PAIRS
        if part(b) in kinds
        and a
        and part(a) != part(b)
        and b.split('.')[1:] not in ([], ['contract'])
    ]
    assert [(a, b) for a, b in concrete if b != 'controllers.safe' or part(a) != 'nodes'] == []


def test_there_is_no_circle():
    """The modules can be put in an order in which each imports at once only those before it."""
    waiting = {module_of(file): set(own_imports(file, at_once=True)) for file in FILES}
    while ready := [module for module, needs in waiting.items() if not needs & set(waiting)]:
        for module in ready:
            del waiting[module]
    assert waiting == {}


@pytest.mark.parametrize('file', FILES, ids=module_of)
def test_only_nodes_import_ros(file):
    """Nothing but the nodes, and the demo that starts and watches them, imports ROS."""
    roots = {name.split('.')[0] for name in imported(file)}
    module = module_of(file)
    assert part(module) == 'nodes' or module in WATCHERS or not roots & ROS
    heavy = {'matplotlib', 'rich', 'ament_index_python'} & roots
    assert not heavy or part(module) in {'demo', 'plots', 'cli', 'shipped'}


def test_the_core_needs_no_more_than_it_says():
    """The core imports numpy, numba (llvmlite), scipy, yaml and the standard library only."""
    core = [file for file in FILES if not module_of(file) or layer(module_of(file)) < 6]
    roots = {name.split('.')[0] for file in core for name in imported(file)}
    allowed = {NAME, 'numpy', 'numba', 'llvmlite', 'scipy', 'yaml', 'ament_index_python', *EXTRAS}
    assert roots - allowed <= sys.stdlib_module_names
