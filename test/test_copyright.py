# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Every source file names its authors and its license, and LICENSE is that license."""

from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parents[1]
HEADER = re.compile(r'# Copyright \d{4} The softrobot_dynamics authors\. Apache-2\.0\.')
FOLDERS = ('softrobot_dynamics', 'launch', 'test', 'benchmarks')
SOURCES = sorted(
    [
        ROOT / 'setup.py',
        *(ROOT / 'scripts').iterdir(),
        *(file for folder in FOLDERS for file in (ROOT / folder).rglob('*.py')),
    ]
)


@pytest.mark.copyright
def test_every_source_has_the_header():
    """The first line of every source file, or the one below its #! line, is the header."""
    without = []
    for file in SOURCES:
        lines = file.read_text(encoding='utf-8').splitlines()
        first = next((line for line in lines if not line.startswith('#!')), '')
        if lines and not HEADER.fullmatch(first):
            without.append(str(file.relative_to(ROOT)))
    assert not without


@pytest.mark.copyright
@pytest.mark.linter
def test_ament_copyright_finds_every_notice():
    """
    ament_copyright finds the notice in every file, and knows the license of the whole.

    Its own test also wants the thirteen lines of the license's notice in each file; this
    package names the license in one line instead.
    """
    parser = pytest.importorskip('ament_copyright.parser')
    unread = [f for f in SOURCES if f.stat().st_size and not parser.parse_file(str(f)).copyrights]
    assert not unread
    assert parser.parse_file(str(ROOT / 'LICENSE')).license_identifier == 'apache2'
