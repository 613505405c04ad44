# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Benchmarks and scripts with a command line explain it."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = [
    path
    for folder in ('benchmarks', 'examples', 'docs')
    for path in sorted((ROOT / folder).rglob('*.py'))
    if 'ArgumentParser(' in path.read_text(encoding='utf-8')
]


@pytest.mark.parametrize('path', SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_prints_its_help(path):
    """``--help`` prints the usage and ends without an error."""
    command = [sys.executable, str(path), '--help']
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=120.0, env=os.environ, cwd=ROOT
    )
    missing = 'ModuleNotFoundError: No module named'
    if missing in run.stderr and "'softrobot_dynamics" not in run.stderr:
        pytest.skip(run.stderr.strip().splitlines()[-1])  # an extra that is not installed
    assert run.returncode == 0, run.stderr
    assert path.name in run.stdout or 'usage:' in run.stdout
