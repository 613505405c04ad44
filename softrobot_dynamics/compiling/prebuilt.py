# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Machine code that an installed package brings, for all processors of a level.

Its files are those of the kernel cache, under the same names, but for the keys of the processor.
Since a name says of which sources the code is, code of another version of this package is never
taken. A package that was installed from its sources brings none.
"""

import functools
import os
from pathlib import Path

from softrobot_dynamics.compiling import cache_integrity
from softrobot_dynamics.compiling.targets import keys_of, Level, level_keys

FOLDER = Path(__file__).parents[1] / 'prebuilt'


def read(name: str | None) -> bytes | None:
    """Return the content of a file, whole; None if it is not there."""
    return cache_integrity.read_installed(FOLDER / name) if name and name in _files() else None


def has(module: str) -> bool:
    """Tell whether there is machine code of an emitted module for this machine."""
    keys = level_keys()
    return keys is not None and not _modules().isdisjoint(
        {f'{module}.{keys.code}', f'{module}.{keys.program}'}
    )


def linked_code() -> set[str]:
    """Return the names of files with code of functions that callers link, for this machine."""
    keys = level_keys()
    return {name for name in _files() if keys and name.endswith(f'.{keys.program}.bc')}


@functools.cache
def _files() -> frozenset[str]:
    """Return the names of all files; none where the user wants none."""
    if os.environ.get('SOFTROBOT_PREBUILT') == '0' or level_keys() is None:
        return frozenset()
    try:
        return frozenset(os.listdir(FOLDER))
    except OSError:
        return frozenset()


@functools.cache
def _modules() -> frozenset[str]:
    """Return the names of the modules that files are of, each with a key."""
    return frozenset('.'.join(name.split('.')[:2]) for name in _files())


def collect(cache: Path, target: Path, level: Level) -> int:
    """
    Copy machine code for a level from a kernel cache into a folder; return the number of files.

    This numba and this Python must have compiled it, told of the processor by
    :meth:`.targets.Level.variables`. What other versions have made for the folder stays there.
    """
    keys, count = keys_of(level), 0
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(cache.glob(f'*.{keys.program}.*')):
        module, _, *rest = path.name.split('.')
        content = cache_integrity.read(path)
        if content is not None:
            name = f'{module}.{keys.code}.o' if rest == ['o'] else path.name
            cache_integrity.write(target / name, content)
            count += 1
    return count
