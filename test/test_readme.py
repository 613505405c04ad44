# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The README is short, its examples run, and its links exist."""

from pathlib import Path
import re

import pytest

README = Path(__file__).parents[1] / 'README.md'
BLOCKS = re.findall(r'```python\n(.*?)```', README.read_text(encoding='utf-8'), re.DOTALL)


def test_the_readme_is_short_and_shows_python():
    """The README has one example and fewer than 130 lines."""
    assert len(BLOCKS) == 1
    assert README.read_text(encoding='utf-8').count('\n') < 130


@pytest.mark.parametrize('block', BLOCKS, ids=['library'])
def test_python_blocks_run_as_written(block, capsys):
    """An example runs in an empty namespace and prints something."""
    exec(compile(block, 'README.md', 'exec'), {'__name__': 'readme'})
    assert capsys.readouterr().out.strip()


def test_links_lead_somewhere():
    """Every relative link and picture of the README exists."""
    for target in re.findall(r'\]\((?!http)([^)#]+)\)', README.read_text(encoding='utf-8')):
        assert (README.parent / target).exists(), target
