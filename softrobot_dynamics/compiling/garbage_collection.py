# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Run Python's garbage collector less often while many lasting objects are made."""

from collections.abc import Iterator
import contextlib
import gc


@contextlib.contextmanager
def rarely_collected() -> Iterator[None]:
    """Let Python look for unused objects less often, which takes an eighth of a start."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
