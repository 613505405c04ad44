# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Warnings that a process shows once for each kind, without a line of source."""

import warnings

_PACKAGE = __name__.partition('.')[0]
_shown: set[str] = set()  # kinds


def warn_once(kind: str, words: str) -> None:
    """Show a RuntimeWarning of these words, unless one of its kind was shown in this process."""
    if kind not in _shown:
        _shown.add(kind)
        warnings.warn_explicit(words, RuntimeWarning, _PACKAGE, 1)  # one line, of no source
