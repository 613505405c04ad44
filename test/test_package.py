# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The package's own files agree with each other, and every way to install it brings all."""

import ast
import fnmatch
import importlib.metadata
import importlib.util
import os
from pathlib import Path
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
from xml.etree import ElementTree
import zipfile

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling import prebuilt
from softrobot_dynamics.compiling.numba_versions import TESTED_VERSIONS
import yaml

ROOT = Path(__file__).parents[1]
NAME = 'softrobot_dynamics'
FOLDERS = ('launch', 'config/robots', 'config/controllers', 'config/estimators')
SHARED = sorted(
    ['package.xml', *(f'{d}/{file.name}' for d in FOLDERS for file in (ROOT / d).glob('*.*'))]
)
SCRIPTS = sorted(file.name for file in (ROOT / 'scripts').iterdir())
SOURCES = ('setup.py', 'setup.cfg', 'pyproject.toml', 'README.md', 'LICENSE', 'package.xml')


@pytest.fixture(scope='module')
def manifest():
    """Return the root element of package.xml."""
    return ElementTree.parse(ROOT / 'package.xml').getroot()


@pytest.fixture(scope='module', params=['build_wheel', 'build_editable'])
def wheel(request, tmp_path_factory):
    """Return the opened archive that pip would install, plain or editable."""
    folder = copy_of_sources(tmp_path_factory.mktemp('sources'))
    run = build(folder, request.param, SOFTROBOT_KERNELS='0')
    assert run.returncode == 0, run.stderr
    with zipfile.ZipFile(next(folder.glob('dist/*.whl'))) as archive:
        yield archive


def copy_of_sources(folder):
    """Copy what a build needs into a folder, and return it."""
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    for name in (NAME, 'config', 'launch', 'resource', 'scripts'):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def build(folder, way='build_wheel', **variables):
    """Build what pip would install into the folder `dist` of the sources; return the process."""
    pytest.importorskip('setuptools', minversion='70.1', reason='older ones need more to build')
    program = f"from setuptools import build_meta; build_meta.{way}('dist')"
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, '-c', program],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip


def test_the_versions_agree(manifest):
    """package.xml, setup.py, the changelog and `__version__` name one version."""
    version = manifest.findtext('version')
    setup = (ROOT / 'setup.py').read_text(encoding='utf-8')
    assert re.search(r"version='(.*)'", setup).group(1) == version
    assert importlib.import_module(NAME).__version__ == version
    heading = re.compile(r'^(Forthcoming|\d+\.\d+\.\d+)( \(\d{4}-\d\d-\d\d\))?\n-+$', re.MULTILINE)
    releases = heading.findall((ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8'))
    assert releases[0] == ('Forthcoming', '') or releases[0][0] == version
    assert all(release == version for release, date in releases[:2] if date)


def test_the_source_distribution_has_everything():
    """MANIFEST.in names every folder and file of a checkout that .gitignore does not."""
    words = (ROOT / 'MANIFEST.in').read_text(encoding='utf-8').split()
    ignored = (ROOT / '.gitignore').read_text(encoding='utf-8').split()
    found = [
        path.name
        for path in ROOT.iterdir()
        if not any(fnmatch.fnmatch(path.name, pattern.strip('/')) for pattern in ignored)
    ]
    always = {'.git', 'setup.py', 'MANIFEST.in', 'PKG-INFO'}  # the last in a source distribution
    assert {'test', 'docs', 'launch', 'CHANGELOG.rst'} < set(found)
    assert sorted(set(found) - set(words) - always) == []


def test_package_xml_says_what_colcon_needs(manifest):
    """package.xml has format 3, the build type, and an e-mail address that colcon accepts."""
    assert manifest.get('format') == '3'
    assert manifest.findtext('name') == NAME
    assert manifest.findtext('export/build_type') == 'ament_python'
    assert re.fullmatch(r'[-\w.+]+@[-\w]+(\.[-\w]+)+', manifest.find('maintainer').get('email'))


def test_kernels_are_built_in_or_refused(tmp_path):
    """
    A wheel with kernels is for one kind of machine.

    A build whose robots are named ends with an error if these do not compile. Otherwise it goes on
    without kernels.
    """
    kernels = tmp_path / 'kernels'
    kernels.mkdir()
    (tmp_path / 'sources').mkdir()
    folder = copy_of_sources(tmp_path / 'sources')
    (kernels / 'some.o').write_bytes(b'code')
    run = build(folder, SOFTROBOT_KERNELS=str(kernels))
    assert run.returncode == 0, run.stderr
    (wheel,) = folder.glob('dist/*.whl')
    assert '-py3-none-manylinux_2_17_' in wheel.name
    assert any(x.endswith(f'{NAME}/prebuilt/some.o') for x in zipfile.ZipFile(wheel).namelist())
    wheel.unlink()

    run = build(folder, SOFTROBOT_KERNELS='pcc_arn')
    assert run.returncode == 1 and not list(folder.glob('dist/*.whl'))
    assert "SOFTROBOT_KERNELS: ['pcc_arn'] cannot be compiled" in run.stderr
    assert re.search('^softrobot: .*/pcc_arn', run.stderr, re.MULTILINE)  # what is wrong with it

    (folder / 'config' / 'robots' / 'pcc_arm.yaml').write_text('bodies: 3\n')
    run = build(folder)
    assert run.returncode == 0, run.stderr
    assert 'they will be at the first start' in run.stdout
    (wheel,) = folder.glob('dist/*.whl')
    names = zipfile.ZipFile(wheel).namelist()
    assert [x for x in names if x.endswith('/compiling/prebuilt.py')]
    assert not [x for x in names if '/prebuilt/' in x]


@pytest.mark.skipif(not prebuilt.FOLDER.exists(), reason='installed without kernels')
def test_an_installed_package_starts_its_loop_without_compiling(tmp_path):
    """With an empty cache the loop of pcc_arm finds all kernels in the package."""
    run = subprocess.run(
        [sys.executable, '-m', f'{NAME}.cli', 'compile', '--laws', 'pfbl', 'pcc_arm'],
        cwd=tmp_path, env={**os.environ, 'SOFTROBOT_CACHE_DIR': str(tmp_path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert 'compiling' not in run.stdout + run.stderr
    assert not [*tmp_path.glob('*.o'), *tmp_path.glob('*.nbc')]


@pytest.mark.parametrize('wheel', ['build_wheel'], indirect=True)
def test_an_archive_holds_every_module(wheel):
    """Every module of every sub-package is in the wheel, and no test is."""
    packed = {name for name in wheel.namelist() if name.endswith('.py') and '.data/' not in name}
    present = {str(file.relative_to(ROOT)) for file in (ROOT / NAME).rglob('*.py')}
    assert packed == present


def test_an_archive_holds_what_ros_looks_for(wheel):
    """Launch files, configuration, resource marker and executables are where ROS looks."""
    data = {name.split('.data/data/')[1] for name in wheel.namelist() if '.data/data/' in name}
    assert f'share/ament_index/resource_index/packages/{NAME}' in data
    assert {f'share/{NAME}/{name}' for name in SHARED} <= data
    assert {f'lib/{NAME}/{name}' for name in SCRIPTS} <= data


def test_the_executables_can_be_executed(wheel):
    """The scripts of lib/softrobot_dynamics keep their right to be run."""
    entries = [i for i in wheel.infolist() if f'.data/data/lib/{NAME}/' in i.filename]
    assert sorted(Path(entry.filename).name for entry in entries) == SCRIPTS
    assert all(entry.external_attr >> 16 & stat.S_IXUSR for entry in entries)


def test_launch_files_and_scripts_fit():
    """The launch files start the scripts that exist; the scripts run modules that exist."""
    launched = {
        name
        for file in (ROOT / 'launch').glob('*.py')
        for name in re.findall(r"'node': '(\w+)'", file.read_text(encoding='utf-8'))
    }
    assert launched == set(SCRIPTS)
    assert all((ROOT / NAME / 'nodes' / f'{name}.py').is_file() for name in SCRIPTS)
    assert all(os.access(ROOT / 'scripts' / name, os.X_OK) for name in SCRIPTS)


@pytest.mark.parametrize('file', sorted((ROOT / 'config/controllers').glob('*.yaml')), ids=str)
def test_every_parameter_file_holds_in_any_namespace(file):
    """A parameter file is for a shipped robot and starts with the pattern of any namespace."""
    assert (ROOT / 'config/robots' / file.name).is_file()
    content = yaml.safe_load(file.read_text(encoding='utf-8'))
    assert list(content) == ['/**']
    assert set(content['/**']) <= set(SCRIPTS)
    assert all(list(section) == ['ros__parameters'] for section in content['/**'].values())


def test_tests_import_the_installed_package():
    """Tests import the installed package, if there is one, not the sources beside them."""
    site = sysconfig.get_path('purelib')
    found = next(iter(importlib.metadata.distributions(name=NAME, path=[site])), None)
    if found is None:
        pytest.skip('not installed: the tests run on the sources')
    editable = any(file.name.startswith('__editable__') for file in found.files)
    home = ROOT if editable else Path(site)
    imported = Path(importlib.util.find_spec(NAME).origin)
    assert home in imported.parents, 'run `pytest`: `python -m pytest` puts the sources first'


def test_an_import_of_the_package_does_not_wait_for_numba():
    """Numba is imported when something is compiled, not with the package or one of its names."""
    text = (
        "import sys, softrobot_dynamics as sd; before = 'numba' in sys.modules; sd.load_robot;"
        " print(before, 'numba' in sys.modules, 'load_robot' in dir(sd), 'Estimator' in dir(sd))"
    )
    done = subprocess.run([sys.executable, '-c', text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ['False', 'False', 'True', 'True']


def test_public_names_are_imported_from_where_type_checkers_find_them():
    """Names are imported at their first use from the modules that type checkers are told."""
    tree = ast.parse((ROOT / NAME / '__init__.py').read_text())
    (told,) = [
        node for node in tree.body if isinstance(node, ast.If) and 'TYPE' in ast.unparse(node.test)
    ]
    homes = {each.name: node.module for node in told.body for each in node.names}
    assert homes == {name: f'{NAME}.{module}' for name, module in sd._MODULES.items()}
    assert set(homes) | {'SoftRobotError'} == set(sd.__all__)
    assert all(getattr(sd, name) is not None for name in sd.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(sd, 'nothing')  # noqa: B009


def test_starts_without_waiting_for_scipy():
    """Importing the package imports no large module of scipy before it is needed."""
    code = (
        'import softrobot_dynamics.simulation.simulator, sys; print("scipy.linalg" in sys.modules)'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ['False']


def _pythons(text):
    """Return the minor versions of Python that a text claims by "3.x to 3.y"."""
    first, last = re.search(r'3\.(\d+) to 3\.(\d+)', text).groups()
    return list(range(int(first), int(last) + 1))


@pytest.mark.parametrize('page', ['README.md', 'docs/first_loop.md'])
def test_pages_name_the_pythons_that_setup_names(page):
    """The pages and the classifiers of setup.py name one range of Pythons, from the oldest on."""
    setup = (ROOT / 'setup.py').read_text(encoding='utf-8')
    (minors,) = re.findall(r'for minor in (\(.*?\))', setup)
    claimed = _pythons((ROOT / page).read_text(encoding='utf-8'))
    assert claimed == list(ast.literal_eval(minors))
    assert f"python_requires='>=3.{claimed[0]}'" in setup


def _platforms():
    """Return the rows of the table of platforms that were run: [{column: text}]."""
    text = (ROOT / 'docs/platforms.md').read_text(encoding='utf-8')
    lines = [line.strip('|').split('|') for line in text.splitlines() if line.startswith('|')]
    names, _, *rows = [[cell.strip() for cell in line] for line in lines]
    return [dict(zip(names, row)) for row in rows]


def _numbers(version):
    return tuple(map(int, version.split('.')))


def test_every_python_that_is_claimed_was_run():
    """The README's range of Pythons is in the table of platforms, each of them."""
    claimed = _pythons((ROOT / 'README.md').read_text(encoding='utf-8'))
    run = sorted(_numbers(row['Python'])[1] for row in _platforms())
    assert run == list(range(claimed[0], claimed[-1] + 1))


@pytest.mark.parametrize('package', ['numba', 'numpy', 'scipy'])
def test_the_oldest_version_required_was_run(package):
    """The oldest version that setup.py allows is the oldest in the table of platforms."""
    setup = (ROOT / 'setup.py').read_text(encoding='utf-8')
    (required,) = re.findall(rf"'{package}>=([\d.]+)[,']", setup)
    oldest = min(_numbers(row[package]) for row in _platforms())
    assert oldest[: required.count('.') + 1] == _numbers(required)


def test_the_range_of_numba_is_named_and_its_newest_was_run():
    """The README names the range of numba of `numba_versions`, and its newest is in the table."""
    first, too_new = TESTED_VERSIONS
    last = max(_numbers(row['numba']) for row in _platforms())[:2]
    assert last == (too_new[0], too_new[1] - 1)
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert 'numba ({}.{} to {}.{};'.format(*first, *last) in readme


@pytest.mark.parametrize('name', ['demo-command', 'test-command'])
def test_the_readme_marks_the_commands_that_a_release_is_checked_by(name):
    """One block of the README, of one line, is marked as the command that .ci/ runs."""
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    (command,) = re.findall(rf'<!-- {name} -->\n```bash\n(.*)\n```', readme)
    assert command.startswith('python3 -m venv')


@pytest.mark.parametrize(
    'path',
    [path for path in sorted((ROOT / '.ci').iterdir()) if path.suffix in ('', '.bash')],
    ids=lambda path: path.name,
)
def test_the_scripts_of_the_gate_can_be_run(path):
    """Bash can read every script in .ci, and those that are not for sourcing are executable."""
    done = subprocess.run(['bash', '-n', path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert os.access(path, os.X_OK) == (path.suffix != '.bash')
