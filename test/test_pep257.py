# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The docstrings follow the ROS 2 style, and their first lines say plainly what a thing is."""

from pathlib import Path
import re

import pytest
from support.syntax import syntax_of

ROOT = Path(__file__).parents[1]
FOLDERS = 'softrobot_dynamics', 'launch', 'test', 'benchmarks', 'examples', 'scripts'
RIDDLE = re.compile(r'(What|How|Which|Who|Whose|Why)\b')
"""First words by which a docstring asks a question in place of saying what a thing is."""
OF_CLASSES = re.compile(r'(What|How|Which|Who|Whose|Why|When|Where|Whether)\b')
REFERENCE = re.compile(r':(?:mod|class|func|meth|attr|data|exc):`([^`]+)`')


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
        file = syntax_of(path)
        docstrings = [(OF_CLASSES, file.docstring)]
        for each in file.definitions:
            questions = OF_CLASSES if each.is_class else RIDDLE
            docstrings.append((questions, each.docstring))
        found += [
            f'{path.relative_to(ROOT)}: {words.splitlines()[0]}'
            for questions, words in docstrings
            if questions.match(words)
        ]
    assert found == []


@pytest.mark.quick
def test_names_that_docstrings_refer_to_exist():
    """Every :class:, :func: or :mod: in the package's docstrings names something that is there."""
    defined = {}
    for path in (ROOT / 'softrobot_dynamics').rglob('*.py'):
        module = '.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
        defined[module] = syntax_of(path).names
    known = {f'.{module}' for module in defined} | {
        f'.{module}.{name}' for module, names in defined.items() for name in names
    }
    ends = {each[i:] for each in known for i in range(len(each)) if each[i] == '.'}
    lost = []
    for path in sorted((ROOT / 'softrobot_dynamics').rglob('*.py')):
        for target in REFERENCE.findall(path.read_text('utf-8')):
            name = target.rpartition('<')[2].rstrip('>').lstrip('~.').removeprefix('sd.')
            if f'.{name}' not in ends:
                lost.append(f'{path.relative_to(ROOT)}: {target}')
    assert lost == []
