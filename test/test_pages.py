# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Every block of code in the documentation runs or is accepted by the package."""

import contextlib
import importlib.util
import os
from pathlib import Path
import re

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.errors import DescriptionError
from support.pages import BLOCKS, commands, DOCS, files_of, of_kind, ROOT
from support.recorded import write_demo
import yaml

ELSEWHERE = {
    'README.md': 'test_readme.py',
    'bodies.md': 'test_custom.py',
    'dynamics.md': 'test_frames.py',
    'extending.md': 'test_extending.py',
    'extending_bodies.md': 'test_extending.py',
    'extending_laws.md': 'test_extending.py',
    'extending_loop.md': 'test_extending.py',
}
"""Pages whose Python is run by a test of their own."""
RUN_HERE = sorted({block.page for block in of_kind('python')} - set(ELSEWHERE))
KINDS = {'python', 'bash', 'yaml', 'toml', 'xml', ''}
LAUNCH = {path.name: path.read_text('utf-8') for path in (ROOT / 'launch').glob('*.launch.py')}
SETUP = (ROOT / 'setup.py').read_text('utf-8')
OTHERS = {
    '.', '.ci/run', 'done', 'export', 'for', 'mypy',
    'colcon', 'do', 'pip', 'pytest', 'python3', 'ruff', 'sphinx-build',
}  # fmt: skip
"""Programs that are not ours."""


def test_every_kind_of_block_is_known():
    """Every block of the pages is of a known kind, and pages left to other tests run there."""
    assert {block.kind for block in BLOCKS} <= KINDS
    for page, test in ELSEWHERE.items():
        (path,) = (ROOT / 'test').rglob(test)
        assert Path(page).name in path.read_text('utf-8')


@contextlib.contextmanager
def inside(folder):
    """Work in a folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture
def folder(tmp_path, request):
    """Return a folder with the files that a page shows, and what it takes for granted."""
    for name, text in files_of(request.param).items():
        (tmp_path / name).write_text(text, encoding='utf-8')
    if request.param == 'nodes.md':
        write_demo(tmp_path)
        (tmp_path / 'controller.mcap').rename(tmp_path / 'run.mcap')
    return tmp_path


@pytest.mark.parametrize(
    ('page', 'folder'), [(page, page) for page in RUN_HERE], indirect=['folder'], ids=RUN_HERE
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, folder):
    """The Python blocks of a page run in order, or a comment says why not."""
    space = {'__name__': page}
    for block in of_kind('python'):
        if block.page == page and not block.note.startswith('not run: '):
            with inside(folder):
                exec(compile('\n' * block.line + block.text, page, 'exec'), space)


def test_few_blocks_are_not_run():
    """The blocks that are not run need a program or a cluster which is no dependency."""
    assert len([block for block in BLOCKS if block.note.startswith('not run: ')]) <= 3


@pytest.mark.parametrize('block', of_kind('bash'), ids=str)
def test_commands_are_what_the_programs_take(block):
    """Options, launch arguments, parameters, scripts and extras on the pages exist."""
    for words in commands(block):
        program, *rest = words
        program = program.removeprefix('.venv/bin/')
        if program == 'softrobot':
            cli._parser().parse_args(rest)  # else it ends the process
        elif program == 'python':
            _require_program(rest)
        elif program == 'ros2':
            _require_ros(rest, block)
        else:
            assert program in OTHERS, words
        for extras in re.findall(r'(?:\.|softrobot_dynamics)\[([\w,-]+)\]', ' '.join(words)):
            assert all(f"'{extra}':" in SETUP for extra in extras.split(','))


def _require_program(words):
    """Assert that what `python` is given exists."""
    if words[0] == '-m':
        assert importlib.util.find_spec(words[1])
    else:
        assert (ROOT / words[0]).exists(), words


def _require_ros(words, block):
    """Assert that a command of ROS names what there is."""
    if words[:2] == ['launch', 'softrobot_dynamics']:
        assert words[2] in LAUNCH
        declared = set(re.findall(r"'(\w+)': \(|Argument\('(\w+)'", ''.join(LAUNCH.values())))
        known = {name for pair in declared for name in pair} | {'simulation_processor'}
        known |= {'controller_processor', 'visualize'}
        assert {word.partition(':=')[0] for word in words[3:]} <= known
    elif words[:2] == ['run', 'softrobot_dynamics']:
        assert (ROOT / 'scripts' / words[2]).is_file()
    elif block.page == 'urdf_with_finger.md' and words[0] == 'param':
        pass  # of parts that the page's own file names: test_urdf_with_finger.py
    elif words[:3] == ['param', 'set', '/controller']:
        value = yaml.safe_load(words[-1])
        nested = {'/**': {'controller': {'ros__parameters': {words[3]: value}}}}
        assert _unknown(nested, 'pcc_arm', block) == ()
    elif words[:2] == ['service', 'call']:
        assert f'`~/{words[2].rpartition("/")[2]}`' in (DOCS / 'topics.md').read_text('utf-8')


def _unknown(content, robot, block):
    """Return the names in a mapping of parameters that the controller of a robot has not."""
    file = Path(os.environ['SOFTROBOT_TEST_SESSION'], 'page.yaml')
    file.write_text(yaml.safe_dump(content), encoding='utf-8')
    try:
        return controller_values(sd.load_robot(robot), [file])[1]
    except DescriptionError:
        assert 'refused' in block.text, block
        return ()
