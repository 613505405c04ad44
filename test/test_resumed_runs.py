# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Runs of tests that were cut go on where they stopped (.ci/resumed.py)."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

PLUGINS = Path(__file__).parents[1] / '.ci'
TESTS = """
from pathlib import Path
import pytest

@pytest.mark.parametrize('x', ['a', 'a b[1]'])
def test_good(x):
    pass

def test_good_as_well_later():
    assert Path('mended').exists()

def test_skipped():
    pytest.skip('not here')
"""


def run(folder, workers):
    """Return (status, last line) of a run of the tests in a folder."""
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'resumed', '--passed', 'passed']
    # other plugins that are installed, as those of launch_testing, take longer than these tests
    own = {'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1', 'PYTHONDONTWRITEBYTECODE': '1'}
    done = subprocess.run(
        [*command, '-p', 'xdist', '-p', 'no:cacheprovider', '-n', workers, 'test_some.py'],
        cwd=folder,
        env={**os.environ, **own, 'PYTHONPATH': str(PLUGINS)},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout.splitlines()[-1]


@pytest.mark.parametrize('workers', ['0', '2'])
def test_what_has_passed_is_left_out(tmp_path, workers):
    """A second run has only the test that failed, whose name begins as that of another."""
    (tmp_path / 'test_some.py').write_text(TESTS)
    status, line = run(tmp_path, workers)
    assert status == 1 and line.startswith('1 failed, 2 passed, 1 skipped')
    assert len((tmp_path / 'passed').read_text().splitlines()) == 3
    (tmp_path / 'mended').touch()
    status, line = run(tmp_path, workers)
    assert status == 0 and line.startswith('1 passed')
