# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The code follows the ROS 2 style; runs where ROS 2 is installed (ruff checks the same)."""

from pathlib import Path

import pytest


@pytest.mark.flake8
@pytest.mark.linter
def test_ament_flake8_finds_no_errors():
    """ament_flake8 finds nothing in the package, its launch files and its tests."""
    flake8 = pytest.importorskip('ament_flake8.main')
    root = Path(__file__).parents[1]
    folders = [str(root / name) for name in ('softrobot_dynamics', 'launch', 'test', 'setup.py')]
    errors = flake8.main_with_errors(argv=folders)[1]
    # E203: ruff sets spaces around the colon of a[i : i + n], as PEP 8 has it
    errors = [error for error in errors if ' E203 ' not in error]
    assert not errors, '\n'.join(errors)
