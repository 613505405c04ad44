# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The docstrings follow the ROS 2 style; runs where ROS 2 is installed (ruff checks the same)."""

from pathlib import Path

import pytest


@pytest.mark.linter
@pytest.mark.pep257
def test_ament_pep257_finds_no_errors(capsys):
    """ament_pep257 finds nothing in the package, its launch files and its tests."""
    pep257 = pytest.importorskip('ament_pep257.main')
    root = Path(__file__).parents[1]
    folders = [str(root / name) for name in ('softrobot_dynamics', 'launch', 'test')]
    assert pep257.main(argv=folders) == 0, capsys.readouterr().err
