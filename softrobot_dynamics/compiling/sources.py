# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Find the files that the machine code of an emitted module depends on, to any depth.

Read from the text of the files, nothing is imported for it. Followed are the packages that the
emitted source itself names, this one or a user's, but for those of :data:`KNOWN_PACKAGES`, whose
versions stand for them. A package's ``__init__`` counts only where something is imported from it;
imports for the type checker alone do not count, nor do modules that load machine code.
"""

import functools
import hashlib
import os
import re
import sys

_LOADER_MODULES = {
    f'softrobot_dynamics.compiling.{name}'
    for name in (
        'c_functions', 'cache', 'cache_folder', 'cache_integrity', 'compile_cost', 'parallel',
        'prebuilt', 'progress', 'sources', 'targets', 'warnings_once',
    )
}  # fmt: skip
"""Modules that order, find, keep and load machine code, and have no part in what it is."""
KNOWN_PACKAGES = {'numba', 'numpy', 'llvmlite', 'scipy', *sys.stdlib_module_names}
EMITTED_PREFIX = 'softrobot_dynamics_emitted_'  # of names of modules that say what is in them
_TYPE_CHECKING_BLOCK = re.compile(r'\nif TYPE_CHECKING:\n(?:(?:[ \t][^\n]*)?(?:\n|\Z))+')
_IMPORT = re.compile(  # from the end of a line, which is found faster than the beginning of one
    r'\n[ \t]*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([^\n#]+))'
)
_NAME = re.compile(r'[A-Za-z_]\w*')


def digest_of(source: str, exempt: str) -> bytes:
    """
    Return a digest of every file that ``source`` imports from, directly or not.

    Modules whose names begin with ``exempt`` are left out: their names say what is in them.
    """
    named = [name for name in _imported(source) if not name.startswith(exempt)]
    packages = frozenset(name.partition('.')[0] for name in named) - KNOWN_PACKAGES
    seen, waiting = {}, [file for name in named for file in _files(name, packages)]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen[file] = _read(file)[0]
            waiting += _imported_files(file, packages)
    digest = hashlib.sha256()
    for _, content in sorted(seen.items()):
        digest.update(content)
    return digest.digest()


@functools.cache
def _read(file: str) -> tuple[bytes, set[str]]:
    """Return (digest of a file, names that it imports)."""
    with open(file, 'rb') as opened:
        text = opened.read()
    return hashlib.sha256(text).digest(), _imported(text.decode())


@functools.cache
def _imported_files(file: str, packages: frozenset[str]) -> frozenset[str]:
    """Return the files of the ``packages`` that a file imports from."""
    return frozenset(other for name in _read(file)[1] for other in _files(name, packages))


def _imported(text: str) -> set[str]:
    """Return the dotted names that a source may import: modules, and what is in them."""
    text, found = _TYPE_CHECKING_BLOCK.sub('\n', f'\n{text}'), set()  # the former is never run
    for module, names, modules in _IMPORT.findall(text):
        lines = (line.partition('#')[0] for line in names.splitlines())
        found |= {f'{module}.{name}' for line in lines for name in _NAME.findall(line)}
        found |= {name.split()[0] for name in modules.split(',') if name.split()}
    return found


def _files(name: str, packages: frozenset[str]) -> tuple[str, ...]:
    """Return the file (0 or 1) that a dotted name of one of the ``packages`` is, or is in."""
    package = name.partition('.')[0]
    if package not in packages:
        return ()
    if name in _LOADER_MODULES or name.rpartition('.')[0] in _LOADER_MODULES:
        return ()
    return file_of(name) or file_of(name.rpartition('.')[0])


@functools.cache
def file_of(name: str) -> tuple[str, ...]:
    """Return the file of a module, in a tuple, or () if there is none of that name."""
    package, *parts = name.split('.')
    module = sys.modules.get(package)
    if not parts:
        own = getattr(module, '__file__', None)
        return (own,) if own else ()
    *folders, last = parts
    for place in getattr(module, '__path__', ()):
        folder = os.path.join(place, *folders)
        if f'{last}.py' in _content(folder):
            return (os.path.join(folder, f'{last}.py'),)
        inner = os.path.join(folder, last)
        if last in _content(folder) and '__init__.py' in _content(inner):
            return (os.path.join(inner, '__init__.py'),)
    return ()


@functools.cache
def _content(folder: str) -> frozenset[str]:
    """Return the names in a folder; none if it is none."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()
