# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Keys of package.xml are those of the public lists, and every import of the package has one.

The tables stand for the lists of github.com/ros/rosdistro, for Humble, Jazzy, Kilted, Lyrical and
Rolling. ROSDISTRO names a checkout of it, where one is to be compared with.
"""

import ast
import os
from pathlib import Path
import sys
from xml.etree import ElementTree

import pytest
from support.syntax import syntax_of
import yaml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
NAME = 'softrobot_dynamics'
DISTRIBUTIONS = ('humble', 'jazzy', 'kilted', 'lyrical', 'rolling')
RELEASED = {  # ROS packages, released for each of the distributions
    'ament_copyright', 'ament_flake8', 'ament_index_python', 'ament_pep257', 'builtin_interfaces',
    'diagnostic_msgs', 'geometry_msgs', 'launch', 'launch_ros', 'lifecycle_msgs',
    'rcl_interfaces', 'rclpy', 'ros2launch', 'rosgraph_msgs', 'sensor_msgs', 'std_msgs',
    'std_srvs', 'tf2_msgs', 'trajectory_msgs', 'visualization_msgs',
}  # fmt: skip
SYSTEM = {  # keys of rosdep/python.yaml with a package of Debian and Ubuntu, and what it brings
    'python3-hypothesis': ('hypothesis',),
    'python3-joblib': ('joblib',),
    'python3-matplotlib': ('matplotlib', 'mpl_toolkits'),
    'python3-meshio': ('meshio',),
    'python3-numba': ('numba', 'llvmlite'),
    'python3-numpy': ('numpy',),
    'python3-pil': ('PIL',),
    'python3-pytest': ('pytest',),
    'python3-pytest-xdist': ('xdist',),
    'python3-rich': ('rich',),
    'python3-scipy': ('scipy',),
    'python3-setuptools': ('setuptools',),
    'python3-yaml': ('yaml',),
}
OPTIONAL = {  # imported where it is used, and the extra of setup.py that brings it
    'PIL': 'plot',  # with matplotlib
    'joblib': 'study',
    'matplotlib': 'plot',
    'mcap': 'record',
    'meshio': 'mesh',
    'mpl_toolkits': 'plot',
    'rich': 'demo',
    'rosbags': 'bags',
    'viser': 'view',
    'zstandard': 'record',
}
COMMANDS = {'ros2launch'}  # imported by nobody: `ros2 launch` itself
TESTING = {  # imported by nobody, and the file with the words that call for it
    'ament_copyright': ('test/test_copyright.py', 'ament_copyright'),
    'ament_flake8': ('test/test_flake8.py', 'ament_flake8'),
    'ament_pep257': ('test/test_pep257.py', 'ament_pep257'),
    'xdist': ('README.md', '-n auto'),
}


def declared(*tags):
    """Return the keys of package.xml with one of these tags."""
    manifest = ElementTree.parse(ROOT / 'package.xml').getroot()
    return {entry.text for tag in tags for entry in manifest.findall(tag)}


def imported(*places):
    """Return {top-level package: files that import it} of what is not Python's or ours."""
    found = {}
    for place in map(ROOT.joinpath, places):
        for file in sorted(place.rglob('*')) if place.is_dir() else [place]:
            if not file.is_file() or not (file.suffix == '.py' or file.parent.name == 'scripts'):
                continue
            for node in syntax_of(file).imports:
                for name in modules_of(node):
                    found.setdefault(name.partition('.')[0], set()).add(file.relative_to(ROOT))
    ours = {*sys.stdlib_module_names, NAME}
    return {name: files for name, files in found.items() if name not in ours}


def modules_of(node):
    """Return the modules that an import statement imports, or imports from."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if node.level == 0 else []


def keys_of(names):
    """Return the keys that bring packages, by their names in Python; KeyError if there is none."""
    bringers = {name: key for key, brings in SYSTEM.items() for name in brings}
    return {name if name in RELEASED else bringers[name] for name in names}


def test_every_key_is_one_of_the_public_lists():
    """Each key of package.xml is a ROS package or a rosdep key of the tables, and vice versa."""
    keys = declared('buildtool_depend', 'exec_depend', 'test_depend')
    assert keys == RELEASED | set(SYSTEM)


def test_no_key_has_two_tags():
    """A key of package.xml has one tag: what runs needs no entry for tests."""
    assert not declared('exec_depend') & declared('test_depend')


def test_every_import_at_run_time_is_declared():
    """Imports of the package, its launch files and scripts are exec_depend keys, or optional."""
    found = imported(NAME, 'launch', 'scripts')
    assert {'rclpy', 'numpy', 'numba', 'launch', 'tf2_msgs'} <= set(found)
    assert set(OPTIONAL) <= set(found)
    assert keys_of(set(found) - set(OPTIONAL)) | COMMANDS == declared('exec_depend')


def test_what_is_optional_is_not_needed_to_start():
    """No optional package is imported by a module of the nodes, loops or laws on its own."""
    rooms = ('nodes', 'loops', 'controllers', 'configuration', 'simulation', 'estimation', 'model')
    for room in rooms:
        for file in (ROOT / NAME / room).rglob('*.py'):
            top = syntax_of(file).top_imports
            names = {name.partition('.')[0] for node in top for name in modules_of(node)}
            assert not names & set(OPTIONAL), file


def test_what_is_optional_is_an_extra_of_pip():
    """Each optional package belongs to an extra of setup.py."""
    setup = ast.parse((ROOT / 'setup.py').read_text(encoding='utf-8'))
    (call,) = [
        node.value
        for node in setup.body
        if isinstance(node, ast.Expr) and ast.unparse(node).startswith('setup(')
    ]
    (extras,) = [entry.value for entry in call.keywords if entry.arg == 'extras_require']
    assert set(OPTIONAL.values()) <= {key.value for key in extras.keys}


def test_what_builds_is_declared():
    """The packages that setup.py imports are the buildtool_depend keys; wheel is for releases."""
    assert keys_of(set(imported('setup.py')) - {'wheel'}) == declared('buildtool_depend')


def test_what_tests_import_is_declared_where_rosdep_has_it():
    """Each test_depend key is imported or used by the tests, and what rosdep has is declared."""
    found = set(imported('test')) | set(OPTIONAL)
    known = RELEASED | {name for brings in SYSTEM.values() for name in brings}
    used = {name for name, (file, words) in TESTING.items() if words in (ROOT / file).read_text()}
    keys = keys_of((found & known) | used) - declared('exec_depend', 'buildtool_depend')
    assert keys == declared('test_depend')


@pytest.mark.skipif('ROSDISTRO' not in os.environ, reason='ROSDISTRO names no checkout')
def test_the_tables_are_those_of_the_public_lists():
    """In a checkout of ros/rosdistro ROS packages are released and keys have Debian packages."""
    checkout = Path(os.environ['ROSDISTRO'])

    def read(file):
        return yaml.load((checkout / file).read_text(encoding='utf-8'), yaml.CSafeLoader)

    for distribution in DISTRIBUTIONS:
        repositories = read(f'{distribution}/distribution.yaml')['repositories'].items()
        released = {
            package
            for name, entry in repositories
            if 'version' in entry.get('release', {})
            for package in entry['release'].get('packages', [name])
        }
        assert set(RELEASED) <= released, distribution
    keys = {**read('rosdep/base.yaml'), **read('rosdep/python.yaml')}
    for key in SYSTEM:
        for system in ('debian', 'ubuntu'):
            packages = keys[key][system]
            packages = packages.get('*') if isinstance(packages, dict) else packages
            assert packages == [key], (key, system)
