# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Imports run in one direction only, as the syntax trees of all files say."""

import ast
from collections import Counter
import functools
from importlib.util import find_spec
from pathlib import Path
import re
import sys

import pytest
import softrobot_dynamics as sd
from support.syntax import imported_names, syntax_of

pytestmark = pytest.mark.quick

NAME = 'softrobot_dynamics'
PACKAGE = Path(find_spec(NAME).origin).parent

LAYERS = (
    {'annotations', 'deprecation'},
    {'errors'},
    {'schema', 'compiling'},
    {'kernels'},
    {'tracing', 'materials', 'recursion'},
    {'bodies', 'joints', 'actuators', 'collision', 'recordings'},
    {'description', 'model'},
    {'dynamics'},
    {'simulation', 'references'},
    {'controllers', 'estimation'},
    {'offline', 'viewing', 'identification', 'loops'},
    {'configuration'},
    {'evaluation'},
    {'nodes', 'studies', 'reproduce', 'checking'},
    {'demo'},
    {'cli'},
)
"""Each may import those before it, and within itself as long as there is no circle."""

ONLY = {
    'annotations': set(),
    'deprecation': set(),
    'errors': set(),
    'schema': {'errors'},
    'compiling': {'errors'},
    'kernels': {'compiling'},
    'tracing': {'compiling', 'kernels'},
    'recursion': {'errors', 'compiling', 'kernels'},
    'materials': {'schema'},
    'bodies': {'errors', 'schema', 'compiling', 'kernels', 'tracing', 'materials'},
    'joints': {'errors', 'schema', 'compiling', 'kernels', 'tracing'},
    'actuators': {'errors', 'schema', 'compiling', 'bodies', 'joints'},
    'collision': {'errors', 'schema', 'bodies'},
    'recordings': {'errors'},
    'description': {'errors', 'schema', 'bodies', 'joints', 'actuators', 'collision'},
    'model': {
        'errors', 'schema', 'compiling', 'kernels', 'tracing', 'recursion', 'bodies', 'joints',
        'actuators', 'collision', 'description',
    },
    'dynamics': {
        'errors', 'schema', 'compiling', 'kernels', 'recursion', 'description', 'model',
    },
    'simulation': {
        'errors', 'schema', 'compiling', 'kernels', 'joints', 'recursion', 'model', 'dynamics',
    },
    'references': {'errors', 'schema', 'compiling', 'model', 'dynamics'},
    'controllers': {
        'errors', 'schema', 'compiling', 'kernels', 'recursion', 'model', 'dynamics',
        'simulation', 'references',
    },
    'viewing': {
        'errors', 'schema', 'bodies', 'actuators', 'collision', 'description', 'model', 'dynamics',
    },
    'identification': {
        'errors', 'schema', 'compiling', 'recursion', 'recordings', 'description', 'model',
        'dynamics', 'simulation', 'estimation',
    },
    'estimation': {
        'errors', 'schema', 'compiling', 'kernels', 'recursion', 'model', 'dynamics', 'simulation',
    },
    'configuration': {
        'errors', 'schema', 'description', 'model', 'dynamics', 'simulation', 'references',
        'controllers', 'estimation', 'loops',
    },
    'loops': {
        'errors', 'schema', 'compiling', 'description', 'model', 'dynamics', 'simulation',
        'references', 'controllers', 'estimation',
    },
    'offline': {
        'errors', 'schema', 'model', 'dynamics', 'simulation', 'references', 'controllers',
        'estimation', 'loops',
    },
}  # fmt: skip
"""
All that packages may import besides themselves and EVERYWHERE; also for the type checker alone.
Nodes, demo, studies and command line import freely.
"""

EVERYWHERE = 'annotations', 'deprecation'
"""Modules that every package may import."""

ROS = {'rclpy', 'builtin_interfaces', 'sensor_msgs', 'std_msgs', 'std_srvs', 'geometry_msgs',
       'diagnostic_msgs', 'rcl_interfaces', 'lifecycle_msgs', 'trajectory_msgs',
       'visualization_msgs', 'tf2_msgs', 'launch', 'launch_ros'}  # fmt: skip
WATCHERS = {'demo.monitor'}
"""Modules beside the nodes that may import ROS: what starts and watches them for the demo."""

SHELL = {
    'viewing', 'evaluation', 'nodes', 'demo', 'studies', 'reproduce', 'checking', 'cli',
}  # fmt: skip
"""Packages around the core, which may import packages of extras."""

EXTRAS = {'meshio', 'mcap', 'rosbags', 'zstandard'}
"""Packages of an extra that the core imports where a robot asks for them, and says so if not."""

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / 'examples').glob('*.py'))
DOCUMENTED = {
    name
    for page in (ROOT / 'docs' / 'api').glob('*.md')
    for name in re.findall(r'automodule:: ([\w.]+)', page.read_text(encoding='utf-8'))
}
"""Public modules: those with a place in the reference of the documentation."""

FILES = sorted(PACKAGE.rglob('*.py'))


@functools.cache
def module_of(file):
    """Dotted name of a file below the package, '' for the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


@functools.cache
def imported(file):
    """Dotted names that a file imports, wherever in it."""
    nodes = syntax_of(file).imports
    assert not any(getattr(node, 'level', 0) for node in nodes), f'{file}: relative import'
    return [name for node in nodes for name in imported_names(node)]


def own_imports(file):
    """Modules of the package that a file imports, or imports from, by their names below it."""
    modules = {module_of(each) for each in FILES}
    names = {x[len(NAME) + 1 :] for x in imported(file) if x.startswith(f'{NAME}.')}
    return sorted({x if x in modules else x.rpartition('.')[0] for x in names} - {''})


def part(module):
    """Part of the package a module belongs to: a file or a folder."""
    return module.split('.')[0]


@functools.cache
def pairs():
    """Return (module, module that it imports) of the package."""
    return [(module_of(file), other) for file in FILES for other in own_imports(file)]


def layer(module):
    """Return the number of the layer of a module."""
    return next(i for i, parts in enumerate(LAYERS) if part(module) in parts)


def folder_of(module, folders):
    """Return the folder that a module is in."""
    return module if module in folders else module.rpartition('.')[0]


def ordered(needs):
    """Return whether all of a graph, name to names, can be put in an order."""
    waiting = dict(needs)
    while ready := [name for name, others in waiting.items() if not others & set(waiting)]:
        for name in ready:
            del waiting[name]
    return not waiting


def test_every_part_has_a_layer():
    """Each file and folder of the package is in exactly one layer; layers name no others."""
    there = {part(module_of(file)) for file in FILES} - {''}
    named = [each for parts in LAYERS for each in parts]
    assert len(named) == len(set(named))
    assert there == set(named)


def test_no_module_imports_a_higher_layer():
    """No module imports one of a higher layer."""
    assert [(a, b) for a, b in pairs() if a and layer(b) > layer(a)] == []


def test_packages_import_only_what_is_listed():
    """Each package imports only what is listed for it."""
    allowed = {name: {name, *EVERYWHERE, *others} for name, others in ONLY.items()}
    wrong = [(a, b) for a, b in pairs() if part(a) in ONLY and part(b) not in allowed[part(a)]]
    assert wrong == []


def test_folders_of_a_package_do_not_import_each_other():
    """A folder imports files of the folders above it, but no sibling folder."""
    folders = {module_of(file) for file in FILES if file.name == '__init__.py'}
    crossing = []
    for a, b in pairs():
        here, there = folder_of(a, folders), folder_of(b, folders)
        nested = here.startswith(f'{there}.') or there.startswith(f'{here}.') or here == there
        if part(a) == part(b) and not nested:
            crossing.append((a, b))
    assert crossing == []


def test_controllers_import_two_integrator_modules_of_the_simulation():
    """Controllers import only two integrator modules of the simulation."""
    used = {b for a, b in pairs() if part(a) == 'controllers' and part(b) == 'simulation'}
    known = {'simulation.integrators.contract', 'simulation.integrators.exponential'}
    assert used == known


def private_names(file, own):
    """Return what a file uses of the package and neither the reference nor ``own`` contains."""
    public = {NAME, *DOCUMENTED}
    modules = {f'{NAME}.{module_of(each)}' for each in FILES}
    names = [x for x in imported(file) if x.split('.')[0] == NAME and not x.startswith(own)]
    roots = {x if x in modules or x == NAME else x.rpartition('.')[0] for x in names}
    attributes = {
        f'sd.{node.attr}'
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == 'sd'
        and node.attr not in sd.__all__
    }
    return sorted((roots - public) | attributes)


@pytest.mark.parametrize(
    'file', [x for x in FILES if part(module_of(x)) == 'reproduce'], ids=module_of
)
def test_reproduced_systems_use_public_names_only(file):
    """The systems of the papers import only modules that the reference documents."""
    assert private_names(file, f'{NAME}.reproduce') == []


@pytest.mark.parametrize('file', EXAMPLES, ids=lambda file: file.stem)
def test_examples_use_public_names_only(file):
    """An example imports only modules that the reference documents, and is short."""
    assert private_names(file, '-') == []
    assert file.read_text(encoding='utf-8').count('\n') < 80


def test_folders_have_no_import_cycle():
    """Folders can be ordered by their imports, those inside functions included."""
    folders = {module_of(file) for file in FILES if file.name == '__init__.py'}
    waiting = {each: set() for each in folders}
    for a, b in pairs():
        if '.' in a and '.' in b and folder_of(a, folders) != folder_of(b, folders):
            waiting[folder_of(a, folders)].add(folder_of(b, folders))
    assert ordered(waiting)


def test_the_top_folder_is_short():
    """The top folder contains packages, errors and what every package may import only."""
    assert {module_of(file) for file in PACKAGE.glob('*.py')} == {'', 'errors', *EVERYWHERE}


def test_only_commands_and_papers_import_members_of_kinds():
    """Only its own kind, the commands and the papers' systems import a concrete member of one."""
    kinds = {'bodies', 'joints', 'actuators', 'controllers', 'references'}
    helpers = {
        'controllers.composition', 'controllers.limiting', 'controllers.phases',
        'controllers.safe_command', 'controllers.setpoints', 'controllers.settings',
        'bodies.curves',
        'bodies.frames', 'bodies.skins', 'joints.follower',
        'references.feasibility', 'references.tip_following', 'references.tip_commands',
        'references.output_postures', 'references.rotations',
        'references.piecewise', 'references.inverse_statics',
        'controllers.predictive.planner',
    }  # fmt: skip
    concrete = [
        (a, b)
        for a, b in pairs()
        if part(b) in kinds
        and a
        and part(a) != part(b)
        and b.split('.')[1:] not in ([], ['contract'])
    ]
    concrete = [(a, b) for a, b in concrete if part(a) not in ('cli', 'reproduce')]
    assert [(a, b) for a, b in concrete if b not in helpers] == []
    sensors = {'contract', 'messages', 'message_layouts', 'message_sources'}
    for a, b in pairs():
        if b.startswith('estimation.sensors.') and not a.startswith('estimation.sensors'):
            assert b.rpartition('.')[2] in sensors, (a, b)


def test_modules_have_no_import_cycle():
    """The modules can be ordered so that each imports only those before it."""
    needs = {module_of(file): set(own_imports(file)) for file in FILES}
    assert ordered(needs)


@pytest.mark.parametrize('file', FILES, ids=module_of)
def test_only_nodes_import_ros(file):
    """Nothing but the nodes, and the demo that starts and watches them, imports ROS."""
    roots = {name.split('.')[0] for name in imported(file)}
    module = module_of(file)
    assert part(module) == 'nodes' or module in WATCHERS or not roots & ROS
    heavy = {'matplotlib', 'rich', 'ament_index_python'} & roots
    assert not heavy or part(module) in SHELL - {'nodes'} or module == 'description.shipped'


def test_every_module_of_the_nodes_needs_ros():
    """Every module of the nodes imports ROS, directly or by another one."""
    needing = {
        module_of(file) for file in FILES if {x.split('.')[0] for x in imported(file)} & ROS
    }
    while more := {a for a, b in pairs() if b in needing} - needing:
        needing |= more
    nodes = {module_of(file) for file in FILES if part(module_of(file)) == 'nodes'}
    assert nodes - needing <= {'nodes', 'nodes.messaging'}  # the folders


def test_class_names_are_unique():
    """No two classes of the package have the same name."""
    names = Counter(
        each.name for file in FILES for each in syntax_of(file).definitions if each.is_class
    )
    assert [name for name, count in names.items() if count > 1] == []


FIELD_TERMS = {
    'belief': 'filter state', 'bends': 'second derivatives', 'findings': 'estimates',
    'gathering': 'derivative backward pass', 'gauging': 'effort noise', 'guidance': 'references',
    'judging': 'state validation', 'laps': 'periodic paths', 'lookups': 'kernel cache',
    'outlets': 'publishers', 'restless': 'unstable zero dynamics', 'rubbing': 'friction',
    'stillness': 'noise covariance', 'strides': 'time grid', 'tally': 'statistics',
}  # fmt: skip
"""Words that names of modules, classes and functions avoid, and the field's terms for them."""


def test_names_are_terms_of_the_field():
    """No module, class or function is named by a word for which the field has a term."""
    names = [(module_of(file), file.stem) for file in FILES]
    for file in FILES:
        names += [(module_of(file), each.name) for each in syntax_of(file).definitions]
    found = [
        (module, name, FIELD_TERMS[word])
        for module, name in names
        for word in FIELD_TERMS.keys() & set(re.sub(r'([A-Z])', r'_\1', name).lower().split('_'))
    ]
    assert found == []


def test_annotations_of_parameters_say_their_types():
    """Less than 3 % of all annotated parameters are `Any`, which nothing checks."""
    count, untyped = 0, Counter()
    for file in FILES:
        for each in syntax_of(file).definitions:
            for name, annotation in each.parameters:
                if annotation is not None and name not in ('self', 'cls'):
                    count += 1
                    untyped[module_of(file)] += getattr(annotation, 'id', '') == 'Any'
    share = sum(untyped.values()) / count
    assert share < 0.03, untyped.most_common(20)


def test_the_core_needs_no_more_than_it_says():
    """The core imports numpy, numba (llvmlite), scipy, yaml and the standard library only."""
    core = [file for file in FILES if part(module_of(file)) not in SHELL]
    roots = {name.split('.')[0] for file in core for name in imported(file)}
    allowed = {NAME, 'numpy', 'numba', 'llvmlite', 'scipy', 'yaml', 'ament_index_python', *EXTRAS}
    assert roots - allowed <= sys.stdlib_module_names
