# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The documentation as pages: `pip install -e '.[docs]'`, then `sphinx-build -W docs build/docs`.

Made into a folder that is named after the version, as build/docs/0.1.0, they have a list of the
versions whose pages stand in the folders beside it. What was made before has the new one, too.

Nothing is fetched, neither while they are made nor while they are read.
"""

import json
from pathlib import Path
import re

from numpy.typing import ArrayLike
from softrobot_dynamics import __version__
from sphinx.util.typing import stringify_annotation

project, author = 'softrobot_dynamics', 'The softrobot_dynamics authors'
project_copyright = '2026, The softrobot_dynamics authors'
version = release = __version__

extensions = ['myst_parser', 'sphinx.ext.autodoc']
myst_heading_anchors = 3
exclude_patterns = ['*.py', '*.json']
nitpicky = False  # roles in docstrings may name what no page shows
highlight_language = 'none'
html_theme = 'furo'
html_title = 'softrobot_dynamics'
html_static_path, html_css_files = ['static'], ['pages.css']
templates_path = ['templates']
html_copy_source = False
html_show_sourcelink = False

autodoc_default_options = {'members': True, 'member-order': 'bysource', 'show-inheritance': True}
autodoc_typehints = 'signature'
_OWN = 'Array ArrayLike Complaints Integers Math Matrix Value Values Vector'
autodoc_type_aliases = {name: name for name in _OWN.split()}
_ARRAY_LIKE = stringify_annotation(ArrayLike, 'smart')  # where a module evaluates annotations

_LITERAL = re.compile(r'(``.*?``|:[\w:]+:`.*?`|`.*?`)')


def setup(app):
    """Read docstrings as they are written: plain text, with roles and literals."""
    app.connect('autodoc-process-docstring', _escape)
    app.connect('autodoc-process-signature', _shorten)
    app.connect('autodoc-skip-member', _skip)
    app.connect('builder-inited', _look_beside)
    app.connect('build-finished', _list_versions)


def _look_beside(app):
    """Tell the template whether these pages are made to stand beside those of other versions."""
    app.config.html_context['beside_others'] = _is_of_a_version(app)


def _list_versions(app, error):
    """Write down which versions there are, newest first, for the pages of all of them."""
    if error is None and _is_of_a_version(app):
        folder = Path(app.outdir).parent
        found = [page.parent.name for page in folder.glob('*/index.html')]
        found.sort(key=lambda name: [int(n) for n in re.findall(r'\d+', name)], reverse=True)
        (folder / 'versions.js').write_text(f'window.versions = {json.dumps(found)};\n')


def _is_of_a_version(app):
    return app.builder.name == 'html' and Path(app.outdir).name == release


def _escape(app, what, name, obj, options, lines):
    """Take *, | and _ for themselves, as docstrings have formulas."""
    for i, line in enumerate(lines):
        parts = _LITERAL.split(line)
        parts[::2] = [re.sub(r'([*|]|_\b)', r'\\\1', part) for part in parts[::2]]
        lines[i] = ''.join(parts)


def _shorten(app, what, name, obj, options, signature, returns):
    """Name what is like an array as the sources do."""
    return signature and signature.replace(_ARRAY_LIKE, 'ArrayLike'), returns


def _skip(app, what, name, obj, skip, options):
    """Leave out what a tuple says of its fields by itself."""
    return True if str(getattr(obj, '__doc__', '')).startswith('Alias for field number') else None
