# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The docstrings follow the ROS 2 style, and their first lines say plainly what a thing is."""

import ast
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = 'softrobot_dynamics', 'launch', 'test', 'benchmarks', 'examples', 'scripts'
RIDDLE = re.compile(r'(What|How|Which|Who|Whose|Why)\b')
"""First words by which a docstring asks a question in place of saying what a thing is."""
OF_CLASSES = re.compile(r'(What|How|Which|Who|Whose|Why|When|Where|Whether)\b')
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef


@pytest.mark.linter
@pytest.mark.pep257
def test_ament_pep257_finds_no_errors(capsys):
    """ament_pep257 finds nothing in the package, its launch files and its tests."""
    pep257 = pytest.importorskip('ament_pep257.main')
    folders = [str(ROOT / name) for name in ('softrobot_dynamics', 'launch', 'test')]
    assert pep257.main(argv=folders) == 0, capsys.readouterr().err


@pytest.mark.quick
@pytest.mark.parametrize('folder', FOLDERS)
def test_no_docstring_begins_as_a_question(folder):
    """No docstring begins with 'What' or 'How', none of a module or class with 'Where'."""
    found = []
    for path in sorted((ROOT / folder).rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text('utf-8'))):
            if isinstance(node, DOCUMENTED):
                words = ast.get_docstring(node) or ''
                named = isinstance(node, (ast.Module, ast.ClassDef))
                if (OF_CLASSES if named else RIDDLE).match(words):
                    found.append(f'{path.relative_to(ROOT)}: {words.splitlines()[0]}')
    assert found == []
