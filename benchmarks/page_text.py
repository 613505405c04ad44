# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Text of the generated pages: paragraphs and list items in lines of readable length."""

import re
import textwrap

WIDTH = 100
_KEPT = ('|', '#', '!', '>', '```', '    ')  # lines that Markdown reads one by one
_OPERATOR = re.compile(r' (?=[-+*=<>|#] )')  # would make an item of a line that begins with it
_ITEM = re.compile(r'(?:[*-]|\d+\.) ')


def wrapped(text, width=WIDTH):
    """Return Markdown with paragraphs and items wrapped; tables and code stay as they are."""
    out, block, code = [], [], False
    for line in text.split('\n'):
        if line.startswith('```'):
            code = not code
        kept = code or not line.strip() or line.startswith(_KEPT)
        if kept or _ITEM.match(line):
            out += _filled(block, width)
            block = []
        (out if kept else block).append(line)
    return '\n'.join(out + _filled(block, width))


def _filled(lines, width):
    """Return the lines of one paragraph or item, wrapped if one of them is too long."""
    if max(map(len, lines), default=0) <= width:
        return lines
    found = _ITEM.match(lines[0])
    filled = textwrap.wrap(
        _OPERATOR.sub('\0', ' '.join(line.strip() for line in lines)),
        width,
        subsequent_indent=' ' * len(found[0]) if found else '',
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace('\0', ' ') for line in filled]
