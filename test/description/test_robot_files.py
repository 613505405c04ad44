# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robot files: errors before any field is read, and the places of shipped files."""

import importlib.metadata
from pathlib import Path
import subprocess
import sys

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError

pytestmark = pytest.mark.quick

ROD = """
name: rod
bodies:
  - name: rod
    joint: {type: fixed}
    body: {type: pcc, length: 0.2, radius: 0.01, density: 1000, young_modulus: 1e6}
"""
ROBOTS = ('double_pendulum', 'pcc_arm', 'planar_cc_chain', 'soft_hand', 'ur10e')


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a robot file and returns its path."""

    def write(content):
        path = tmp_path / 'rod.yaml'
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def problems_of(path):
    """Return the problems as texts, of a file that must have some; the error names the file."""
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot(path)
    assert caught.value.source == str(path)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    'content, words',
    [
        ('', 'file: None, expected a mapping of name, gravity, bodies, ...'),
        ('# nothing\n', 'file: None, expected a mapping'),
        ('- name: rod', "file: [{'name': 'rod'}], expected a mapping"),
        ('rod', "file: 'rod', expected a mapping"),
        ('name: [rod', 'expected YAML (while parsing a flow sequence'),
        ('name: a\n---\nname: b', 'expected a single document'),
        ('name: !!python/object:os.system {}', 'could not determine a constructor'),
        ('[1]: 2', 'found unhashable key'),
        ('name: !!int x', 'invalid literal'),
        (b'\xff\xfe\x00\xd8', 'expected YAML'),
        ('[' * 20000, 'expected YAML'),
    ],
)
def test_a_file_that_is_no_description_is_one_problem(file, content, words):
    """A file that is empty, no mapping, no YAML or several documents is one problem."""
    (problem,) = problems_of(file(content))
    assert words in problem and problem.startswith('file: ')


@pytest.mark.parametrize('name, reason', [('none.yaml', 'No such file'), ('.', 'Is a directory')])
def test_a_path_that_is_no_file_is_a_problem(tmp_path, name, reason):
    """A missing file and a folder are told apart."""
    (problem,) = problems_of(tmp_path / name)
    assert f'expected a YAML file ({reason}' in problem


def test_keys_given_twice_are_refused_with_their_lines(file):
    """PyYAML keeps the last in silence; here both are reported, with all other problems."""
    text = ROD.replace('length: 0.2', 'length: 0.2, "length": -1') + 'name: stick\n'
    assert problems_of(file(text)) == [
        "bodies[0].body.length: 'length', expected each key once: lines 6 and 6 have it",
        "name: 'name', expected each key once: lines 2 and 7 have it",
        'bodies[0].body.length: -1, expected a number > 0 [m]',
    ]


def test_anchors_and_merge_keys_are_no_duplicates(file):
    """A body may be written once and used twice, with one field changed."""
    text = (
        ROD.replace('body: {', 'body: &rod {')
        + """
  - name: tip
    joint: {type: fixed}
    body: {<<: *rod, length: 0.1}
  - {name: end, joint: {type: fixed}, body: *rod}
"""
    )
    bodies = [m.body for m in sd.load_robot(file(text)).modules]
    assert [b.length for b in bodies] == [0.2, 0.1, 0.2] and bodies[0] == bodies[2]


def test_a_file_that_contains_itself_is_refused(file):
    """A recursive alias ends in problems, not in an endless loop."""
    assert any('bodies[0]' in p for p in problems_of(file('name: a\nbodies: &b [*b]')))


@pytest.mark.parametrize(
    'number, value',
    [
        ('1e-3', 1e-3),
        ('6.66e5', 6.66e5),
        ('1E6', 1e6),
        ('.5', 0.5),
        ('+1.', 1.0),
        ('1.0e+6', 1e6),
        ('010', 10.0),
        ('0.2', 0.2),
        ('2', 2.0),
    ],
)
def test_numbers_are_read_as_in_yaml_1_2(file, number, value):
    """As in YAML 1.2, 1e-3 is a number, not a text, and 010 is ten, not eight."""
    robot = sd.load_robot(file(ROD.replace('0.2', number)))
    assert robot.modules[0].body.length == value


@pytest.mark.parametrize(
    'text, shown',
    [
        ('1:30', "'1:30'"),
        ('1_000', "'1_000'"),
        ('0x10', "'0x10'"),
        ('yes', "'yes'"),
        ('~', 'None'),
        ('2024-01-01', "'2024-01-01'"),
        ('"0.2"', "'0.2'"),
        ('.nan', 'nan'),
        ('-.inf', '-inf'),
        ('true', 'True'),
        ('1' * 5000, None),
    ],
)
def test_what_only_looks_like_a_number_is_refused(file, text, shown):
    """Minutes, dates, quoted numbers and infinity are no lengths."""
    (problem,) = problems_of(file(ROD.replace('0.2', text)))
    assert shown is None or problem.startswith(
        f'bodies[0].body.length: {shown}, expected a number > 0 [m]'
    )


@pytest.mark.parametrize('name', ROBOTS)
def test_shipped_robots_load_by_name(name):
    """Every shipped file is a right description and bears its own name."""
    robot = sd.load_robot(name)
    assert robot.name == name and robot.n > 0 and len(robot.actuators) > 0


def test_these_robots_are_shipped():
    """At least the four robots that the documentation mentions are shipped."""
    assert set(ROBOTS) <= set(shipped.shipped('robots'))


@pytest.mark.parametrize('name, hint', [('ur10', '(did you mean ur10e?)'), ('rod', 'known: ')])
def test_an_unknown_name_lists_the_shipped_robots(name, hint):
    """A plain name is never taken for a file."""
    with pytest.raises(UnknownNameError) as caught:
        sd.load_robot(name)
    assert set(ROBOTS) <= set(caught.value.known) and hint in str(caught.value)


@pytest.mark.parametrize('source', [None, 3, ['ur10e'], b'ur10e'])
def test_a_source_of_another_type_is_an_argument_error(source):
    """A description comes from a name, a path or a dict."""
    with pytest.raises(ArgumentError, match='a shipped name, a path or a dict'):
        sd.load_robot(source)


def test_the_home_folder_may_be_written_as_tilde(file, monkeypatch):
    """A path that begins with ~ is expanded, as parameter files do not do it."""
    monkeypatch.setenv('HOME', str(file(ROD).parent))
    assert sd.load_robot('~/rod.yaml').name == 'rod'
    assert 'home directory' in problems_of('~nobody_of_this_name/rod.yaml')[0]


def test_the_ament_share_folder_comes_first(tmp_path, monkeypatch):
    """Where ROS has installed the package, the files of its share folder are used."""
    folder = tmp_path / 'config' / 'robots'
    folder.mkdir(parents=True)
    (folder / 'rod.yaml').write_text(ROD)
    monkeypatch.setattr(shipped, 'get_package_share_directory', lambda package: str(tmp_path))
    assert shipped.shipped('robots') == {'rod': folder / 'rod.yaml'}
    assert sd.load_robot('rod').name == 'rod'


@pytest.mark.parametrize('error', [KeyError('no such package'), OSError('no AMENT_PREFIX_PATH')])
def test_a_ros_installation_without_the_package_is_skipped(monkeypatch, error):
    """An unknown package or an unsourced installation does not hide the other places."""

    def fail(package):
        raise error

    monkeypatch.setattr(shipped, 'get_package_share_directory', fail)
    assert set(ROBOTS) <= set(shipped.shipped('robots'))


def test_an_installed_distribution_comes_before_the_source_tree(tmp_path, monkeypatch):
    """Files are found from the distribution's own list, wherever pip has put them."""
    folder = tmp_path / 'share' / 'softrobot_dynamics' / 'config' / 'robots'
    folder.mkdir(parents=True)
    (folder / 'rod.yaml').write_text(ROD)
    info = tmp_path / 'lib' / 'softrobot_dynamics-1.dist-info'
    info.mkdir(parents=True)
    info.joinpath('METADATA').write_text('Metadata-Version: 2.1\nName: softrobot_dynamics\n')
    info.joinpath('RECORD').write_text(
        '../share/softrobot_dynamics/config/robots/rod.yaml,,\n'
        '../share/softrobot_dynamics/config/robots/gone.yaml,,\n'
        '../share/softrobot_dynamics/package.xml,,\n'
    )
    installed = importlib.metadata.PathDistribution(info)
    monkeypatch.setattr(shipped, 'get_package_share_directory', None)
    monkeypatch.setattr(importlib.metadata, 'files', lambda package: installed.files)
    assert {k: p.resolve() for k, p in shipped.shipped('robots').items()} == {
        'rod': folder / 'rod.yaml'
    }


def test_the_source_tree_is_the_last_resort(monkeypatch):
    """A clone works without being installed; a kind nobody ships is empty."""

    def fail(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(shipped, 'get_package_share_directory', None)
    monkeypatch.setattr(importlib.metadata, 'files', fail)
    folder = Path(shipped.__file__).parents[1] / 'config' / 'robots'
    if folder.is_dir():  # else the tests run on an installed package
        assert set(shipped.shipped('robots').values()) == set(folder.glob('*.yaml'))
    assert shipped.shipped('houses') == {}


def test_reading_a_robot_needs_no_ros():
    """The description layer imports neither rclpy nor messages."""
    code = (
        'import sys; from softrobot_dynamics.description.robot import load_robot;'
        'load_robot("ur10e"); sys.exit("rclpy" in sys.modules)'
    )
    assert subprocess.run([sys.executable, '-c', code], timeout=900).returncode == 0
