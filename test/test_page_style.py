# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The documentation is short, its lines are readable, its measured tables are generated."""

import importlib.util
import json
import re
import sys

import pytest
from support.pages import DOCS, FIGURES, GENERATED, PAGES, ROOT, word_count

pytestmark = pytest.mark.quick

MOST_WORDS = 32_000
"""Of the README and all pages in docs/ that are no figures, code included."""
LONGEST_LINE = 120


def test_the_pages_stay_short():
    """README and pages without figures have at most MOST_WORDS words, blocks of code included."""
    counts = {
        path.name: word_count(path.read_text('utf-8'))
        for path in PAGES
        if path.name not in FIGURES and path.name != 'CONTRIBUTING.md'
    }
    assert sum(counts.values()) <= MOST_WORDS, sorted(counts.items(), key=lambda item: -item[1])


@pytest.mark.parametrize(
    ('text', 'count'),
    [
        ('Two words', 2),
        ('| a | `b` |\n| --- | --- |\n| 1.5 N | – |', 4),
        ('[the title](page.md#part) and ![a picture](a.png)', 5),
        ('A table:\n<!-- figures: x -->\n| 1 | 2 |\n<!-- end of figures -->\nand more', 4),
        ('<!-- file: x.py -->\n```python\nprint(1 + 2)\n```\n', 2),
    ],
)
def test_words_are_counted_without_markup(text, count):
    """Marks, bars, targets of links and comments are no words; code, titles and numbers are."""
    assert word_count(text) == count


@pytest.mark.parametrize('path', PAGES, ids=lambda path: path.name)
def test_lines_of_text_are_readable(path):
    """No line of a page is longer than 120 characters, except those of tables and code."""
    text = re.sub(r'^ *```.*?^ *```$', '', path.read_text('utf-8'), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(('|', '!['))]
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


def test_every_figures_page_names_its_commands():
    """Every page of figures names a command that measures them."""
    for name in FIGURES | GENERATED:
        text = (DOCS / name).read_text('utf-8')
        assert re.search(r'`(python |softrobot |benchmarks/|\.ci/)', text), name


def test_the_tables_of_the_performance_page_are_those_of_its_figures(monkeypatch):
    """The tables of performance.md equal what benchmarks/performance makes of performance.json."""
    folder = ROOT / 'benchmarks' / 'performance'
    monkeypatch.syspath_prepend(folder)
    spec = importlib.util.spec_from_file_location('summary', folder / 'summary.py')
    summary = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(summary)
    sys.modules.pop('timing', None)  # the name of a file there
    text = (DOCS / 'performance.md').read_text('utf-8')
    figures = json.loads((DOCS / 'performance.json').read_text('utf-8'))
    assert {found[2] for found in summary.BLOCK.finditer(text)} == set(summary.TABLES)
    assert summary.filled(text, figures) == text
