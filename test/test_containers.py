# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Dockerfile and pixi file install what setup.py and package.xml say, and run README commands.

PIXI_SCHEMA names a copy of schema/schema.json of github.com/prefix-dev/pixi, where pixi.toml is to
be checked by it (with jsonschema).
"""

import json
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import sysconfig
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
LAUNCH = 'ros2 launch softrobot_dynamics closed_loop.launch.py robot:=pcc_arm'
PROGRAMS = os.pathsep.join([sysconfig.get_path('scripts'), os.environ.get('PATH', os.defpath)])
HADOLINT = shutil.which('hadolint', path=PROGRAMS)  # the extra `lint` brings it
CONDA = {  # names of rosdep keys in conda
    'python3-numba': 'numba', 'python3-numpy': 'numpy', 'python3-scipy': 'scipy',
    'python3-setuptools': 'setuptools', 'python3-yaml': 'pyyaml',
}  # fmt: skip


def read(name):
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding='utf-8')


def instructions():
    """Return [(instruction, its words)] of the Dockerfile, continued lines joined."""
    lines = [line for line in read('docker/Dockerfile').splitlines() if not line.startswith('#')]
    joined = re.sub(r'\\\n\s*', '', '\n'.join(lines))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line]


def required(name, option):
    """Return the requirement of a package by name as setup.py has it after an option."""
    (found,) = re.findall(rf"'({name}[^']*)'", read('setup.py').partition(option)[2].split(']')[0])
    return found


def keys():
    """Return the keys that package.xml needs to build and run."""
    manifest = ElementTree.parse(ROOT / 'package.xml').getroot()
    tags = 'buildtool_depend', 'exec_depend'
    return {entry.text for tag in tags for entry in manifest.findall(tag)}


def test_the_image_installs_what_setup_py_requires():
    """Pip in the Dockerfile has the bounds of setup.py for numba, mcap and zstandard."""
    (pip,) = [words for name, words in instructions() if name == 'RUN' and 'pip install' in words]
    wanted = [required('numba', 'install_requires'), required('mcap', 'RECORD =')]
    assert re.findall(r"'([a-z]+[^' ]*)'", pip.partition('pip install')[2]) == [
        *wanted, required('zstandard', 'RECORD ='),
    ]  # fmt: skip


def test_the_image_installs_what_package_xml_names():
    """Rosdep in the Dockerfile installs build and exec keys, without numba, which pip brings."""
    (rosdep,) = [words for name, words in instructions() if 'rosdep install' in words]
    kinds = re.findall(r'--dependency-types (\w+)', rosdep)
    assert kinds == ['buildtool', 'exec']
    (skipped,) = re.findall(r'--skip-keys (\S+)', rosdep)
    assert skipped in keys()


def test_the_image_has_everything_that_is_built():
    """The Dockerfile copies the files and folders that setup.py reads, and they exist."""
    copied = [words.split()[:-1] for name, words in instructions() if name == 'COPY']
    names = {name for words in copied for name in words}
    assert {
        'LICENSE', 'README.md', 'config', 'launch', 'package.xml', 'pyproject.toml', 'resource',
        'scripts', 'setup.cfg', 'setup.py', 'softrobot_dynamics',
    } == names  # fmt: skip
    assert all((ROOT / name).exists() for name in names)


def test_the_image_runs_the_command_of_the_readme():
    """The image runs by default the first launch command of the README."""
    (command,) = [words for name, words in instructions() if name == 'CMD']
    assert re.findall(r'"([^"]*)"', command) == LAUNCH.split()
    assert LAUNCH in read('README.md')


@pytest.mark.skipif(HADOLINT is None, reason='hadolint is not installed')
def test_the_dockerfile_has_no_findings():
    """Hadolint has nothing to say about the Dockerfile."""
    done = subprocess.run([HADOLINT, ROOT / 'docker/Dockerfile'], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(sys.version_info < (3, 11), reason='Python 3.11 brought tomllib')
def test_the_pixi_file_installs_what_setup_py_and_package_xml_name():
    """Dependencies of pixi.toml are the keys of package.xml, with the bounds of setup.py."""
    import tomllib

    manifest = tomllib.loads(read('pixi.toml'))
    assert set(manifest) == {'workspace', 'dependencies', 'pypi-dependencies', 'tasks'}
    assert {'name', 'channels', 'platforms'} == set(manifest['workspace'])
    found = manifest['dependencies']
    names = {CONDA.get(key, f'ros-jazzy-{key.replace("_", "-")}') for key in keys()}
    assert set(found) - names == {'colcon-common-extensions', 'ros-jazzy-ros-base'}
    assert names <= set(found)
    for name in ('numba', 'numpy', 'scipy', 'pyyaml'):
        assert name + found[name] == required(name, 'install_requires')
    records = manifest['pypi-dependencies']
    assert 'mcap' + records['mcap'] == required('mcap', 'RECORD =') and 'zstandard' in records


@pytest.mark.skipif('PIXI_SCHEMA' not in os.environ, reason='PIXI_SCHEMA names no schema')
@pytest.mark.skipif(sys.version_info < (3, 11), reason='Python 3.11 brought tomllib')
def test_the_pixi_file_fits_the_schema_of_pixi():
    """The schema of pixi accepts pixi.toml, and refuses it with a misspelt field."""
    import tomllib

    jsonschema = pytest.importorskip('jsonschema')
    schema = json.loads(Path(os.environ['PIXI_SCHEMA']).read_text(encoding='utf-8'))
    manifest = tomllib.loads(read('pixi.toml'))
    jsonschema.validate(manifest, schema)
    manifest['workspace']['chanels'] = []
    with pytest.raises(jsonschema.ValidationError, match='chanels'):
        jsonschema.validate(manifest, schema)


@pytest.mark.skipif(sys.version_info < (3, 11), reason='Python 3.11 brought tomllib')
def test_the_tasks_of_pixi_are_the_commands_of_the_readme():
    """The tasks of pixi.toml build by colcon and run the first launch command of the README."""
    import tomllib

    tasks = tomllib.loads(read('pixi.toml'))['tasks']
    assert tasks['build'].split()[:2] == ['colcon', 'build'] and 'colcon build' in read(
        'README.md'
    )
    assert LAUNCH in tasks['loop']['cmd'] and tasks['loop']['depends-on'] == ['build']
