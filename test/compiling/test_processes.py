# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Processes that the package starts import nothing from the working directory."""

import contextlib
import importlib
import math
import os
from pathlib import Path
import sys

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling import parallel
from softrobot_dynamics.compiling.processes import (
    import_path,
    python_command,
    python_environment,
    safe_path,
)
from softrobot_dynamics.errors import SoftRobotError

FOREIGN = 'contextlib', 'json', 'pickle', 'runpy', 'sitecustomize', 'threading', 'numpy', 'yaml'
HERE = (  # modules that this process imports during the tests
    'rclpy',
    'softrobot_dynamics.demo.precompilation',
    'softrobot_dynamics.demo.processes',
    'softrobot_dynamics.loops.planning',
)
CODE = """
from pathlib import Path
Path({mark!r}).touch()
raise ImportError('foreign code')
"""


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """Make a working directory of foreign modules; return the mark that they leave if they run."""
    for name in HERE:  # the trap is for other processes
        with contextlib.suppress(ImportError):  # skipped by the test
            importlib.import_module(name)
    folder, mark = tmp_path / 'trap', tmp_path / 'mark'
    folder.mkdir()
    for name in FOREIGN:
        (folder / f'{name}.py').write_text(CODE.format(mark=str(mark)), encoding='utf-8')
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, 'path', ['', '.', *sys.path])  # as of a prompt, or of python -c
    monkeypatch.setenv('PYTHONPATH', os.pathsep)  # an empty entry is the working directory
    return mark


def planned(folder):
    """Have a job done."""
    planning = pytest.importorskip('softrobot_dynamics.loops.planning')
    assert planning.Job().run(math.fsum, [1.0, 2.0]) == 3.0


def aimed(folder):
    """Start the process that answers for targets, and close its input."""
    planning = pytest.importorskip('softrobot_dynamics.loops.planning')
    pytest.importorskip('rclpy')
    with planning.start_planning_process('softrobot_dynamics.loops.tip_targets') as process:
        process.stdin.close()
        assert process.wait(120.0) == 0, process.reason()


def compiled(folder):
    """Start a process that compiles nothing."""
    assert parallel._start({}).wait(120.0) == 0


def warmed(folder):
    """Have another process compile a robot, which it is told by its name."""
    warming = pytest.importorskip('softrobot_dynamics.demo.precompilation')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('SOFTROBOT_COMPILERS', '2')
        with warming.simulation_elsewhere('double_pendulum') as other:
            assert other.wait(300.0) == 0


def shown(folder):
    """Start a module of the package as the demo does."""
    from softrobot_dynamics.demo.processes import Child

    child = Child('cli', ['robots'], folder / 'log')
    child._process.wait(120.0)
    assert 'double_pendulum' in (folder / 'log').read_text(encoding='utf-8')


def studied(folder):
    """Have processes of joblib's do something."""
    if sys.version_info < (3, 11):
        pytest.skip('Python 3.10 cannot be told so by its environment')
    joblib = pytest.importorskip('joblib')
    with safe_path(), joblib.parallel_config(backend='loky'):
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-k) for k in range(4))[3] == 3


@pytest.mark.parametrize('start', [planned, aimed, compiled, warmed, shown, studied])
def test_no_process_imports_from_the_working_directory(trap, tmp_path, start):
    """A module in the working folder that is named as one of Python's is not imported."""
    start(tmp_path)
    assert not trap.exists()


@pytest.mark.quick
def test_every_process_of_python_is_started_by_one_function():
    """No other module of the package names the interpreter."""
    package = Path(sd.__file__).parent
    using = {
        str(file.relative_to(package))
        for file in package.rglob('*.py')
        if 'sys.executable,' in file.read_text(encoding='utf-8')
    }
    assert using == {'compiling/processes.py'}


@pytest.mark.quick
def test_paths_of_the_user_are_kept(tmp_path, monkeypatch):
    """Absolute paths of the user, and the package's own folder, stay on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', [str(tmp_path), 'relative', '', '/somewhere'])
    root = str(Path(sd.__file__).parents[1])
    # as a script, although `python -m pytest` may run this, as colcon test does
    monkeypatch.setattr(sys.modules['__main__'], '__spec__', None, raising=False)
    assert import_path() == [str(tmp_path), '/somewhere', root]
    monkeypatch.setattr(sys.modules['__main__'], '__spec__', 'of a module', raising=False)
    assert import_path() == ['/somewhere', root]
    monkeypatch.setenv('PYTHONPATH', f'{tmp_path}{os.pathsep}')
    assert import_path() == [str(tmp_path), '/somewhere', root]
    assert python_environment()['PYTHONPATH'].split(os.pathsep) == import_path()
    assert python_command('a.b:main', '--x')[-1] == '--x'


def test_a_job_finds_modules_of_the_user(tmp_path, monkeypatch):
    """A job imports modules of a folder on the import path, as kinds of bodies and laws are."""
    planning = pytest.importorskip('softrobot_dynamics.loops.planning')
    (tmp_path / 'kinds_of_mine.py').write_text('def twice(x):\n    return 2 * x\n')
    monkeypatch.syspath_prepend(tmp_path)
    import kinds_of_mine

    assert planning.Job().run(kinds_of_mine.twice, 4) == 8


def test_a_process_that_fails_says_why(capfd):
    """The error of a failed process is the last line that it wrote."""
    planning = pytest.importorskip('softrobot_dynamics.loops.planning')
    with pytest.raises(SoftRobotError, match="ended with 1: ValueError: .*'much'"):
        planning.Job().run(float, 'much')
    assert 'Traceback' in capfd.readouterr().err
