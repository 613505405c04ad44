# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find the blocks of code in the documentation and classify them."""

from pathlib import Path
import re
import shlex
import textwrap
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / 'docs'
GENERATED = {
    'accuracy.md', 'accuracy_values.md', 'figures_performance.md', 'figures_recordings.md',
}  # fmt: skip
"""Pages that a program writes."""
FIGURES = {path.name for path in DOCS.glob('figures_*.md')} - GENERATED
"""Pages of measured figures that are kept by hand, each table with its command."""
PAGES = sorted(
    path for path in (ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *DOCS.rglob('*.md'))
    if path.name not in GENERATED
)  # fmt: skip
BLOCK = re.compile(
    r'(?:^ *<!-- (?P<note>[^\n]*?) -->\n)?'  # on the line before
    r'^ *```(?P<kind>[\w{}-]*)\n(?P<text>.*?)^ *```$',
    re.MULTILINE | re.DOTALL,
)
_NO_WORDS = re.compile(
    r'<!-- figures: .*?<!-- end of figures -->'  # tables that a program writes
    r'|<!--.*?-->'
    r'|^ *```.*?$'
    r'|(?<=\])\([^)]*\)'  # targets of links
    r'|[|*`#]',
    re.MULTILINE | re.DOTALL,
)


def word_count(text):
    """
    Return how many words a page has, code and tables included.

    A word is what stands between spaces and has a letter or digit. Comments, targets of links,
    generated tables, bars of tables and other marks of Markdown are left out.
    """
    return sum(1 for part in _NO_WORDS.sub(' ', text).split() if re.search(r'\w', part))


class Block(NamedTuple):
    """A block of code; ``note`` is the comment on the line before it."""

    page: str
    line: int
    kind: str
    note: str
    text: str

    @property
    def file(self):
        """Name of the file that the page says this is, or ''."""
        return self.note.removeprefix('file: ') if self.note.startswith('file: ') else ''

    def __str__(self):
        return f'{self.page}:{self.line}'


def blocks_of(path):
    """Return the blocks of a page, in order."""
    text = path.read_text(encoding='utf-8')
    name = str(path.relative_to(DOCS) if DOCS in path.parents else path.name)
    return [
        Block(
            name,
            text[: found.start('text')].count('\n'),
            found['kind'],
            found['note'] or '',
            textwrap.dedent(found['text']),
        )
        for found in BLOCK.finditer(text)
        if '{' not in found['kind']  # a directive of the pages
    ]


BLOCKS = [block for path in PAGES for block in blocks_of(path)]


def of_kind(*kinds):
    """Return all blocks of some kinds."""
    return [block for block in BLOCKS if block.kind in kinds]


def files_of(page):
    """Return {name: text} of the files that a page shows."""
    return {block.file: block.text for block in BLOCKS if block.page == page and block.file}


def commands(block):
    """Return the commands of a block of shell, each as its words; no comments."""
    lines = block.text.replace('\\\n', ' ').splitlines()
    parts = [part for line in lines for part in re.split(r'&&|;', line)]
    return [words for part in parts if (words := shlex.split(part, comments=True))]
