# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The place of the kernel cache: ``SOFTROBOT_CACHE_DIR``, or a folder of the user's caches."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of the emitted modules (it need not exist yet)."""
    chosen = os.environ.get('SOFTROBOT_CACHE_DIR')
    if chosen:
        return Path(chosen)
    try:
        home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    except RuntimeError:  # no HOME, and a user whom the system does not know, as in containers
        import tempfile

        return Path(tempfile.gettempdir(), f'softrobot_dynamics-{os.geteuid()}')
    return Path(home) / 'softrobot_dynamics'
