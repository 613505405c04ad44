# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""docs/faults.md names a test over real DDS for every fault, and every one of them exists."""

import functools
from pathlib import Path
import re

import pytest
from support.syntax import syntax_of

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
OVER_DDS = {'observer', 'start', 'start_arm', 'rig', 'loop'}
"""Fixtures: whoever takes one runs nodes as processes."""


def rows(text):
    """Return the rows of all tables in a text, as lists of cells, without their heads."""
    lines = text.splitlines()
    cells = [[c.strip() for c in line.strip('| ').split(' | ')] for line in lines]
    table = [line.startswith('|') and not line.startswith('| ---') for line in lines]
    heads = {i for i, line in enumerate(lines[1:]) if line.startswith('| ---')}
    return [cells[i] for i in range(len(lines)) if table[i] and i not in heads]


@functools.cache
def named():
    """Return {name: arguments} of all tests."""
    files = map(syntax_of, (ROOT / 'test').rglob('test_*.py'))
    functions = (each for file in files for each in file.top_definitions)
    return {each.name: {name for name, _ in each.parameters} for each in functions}


FAULTS = rows((ROOT / 'docs' / 'faults.md').read_text(encoding='utf-8').partition('\n## Soak')[0])


@pytest.mark.parametrize('row', FAULTS, ids=[row[0][:40] for row in FAULTS])
def test_every_fault_is_tested_over_dds(row):
    """Each fault of the page names tests in a comment, at least one of which runs nodes."""
    known, (comment,) = named(), re.findall(r'<!-- (.*?) -->', row[-1])
    found = comment.split()
    assert len(row) == 3 and all(row)
    assert [name for name in found if name not in known] == []
    assert any(known[name] & OVER_DDS for name in found)
