# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Emitted source becomes a module in a cache folder, so that numba can keep its machine code.

A module is named after everything its machine code depends on: the emitted source, the files that
it imports from, directly or not (:mod:`~softrobot_dynamics.kinematics.sources`), numba, Python and
the processor. Nothing in the folder is ever edited; it may be deleted at any time.
``SOFTROBOT_CACHE_DIR`` (or ``XDG_CACHE_HOME``) chooses another place. Where no folder can be
written the module is compiled in memory, and a warning says so.
"""

import contextlib
import functools
import gc
import hashlib
import importlib.util
import linecache
import os
import pathlib
import platform
import sys
import tempfile
import threading
import types
import warnings

import llvmlite.binding
import numba
from softrobot_dynamics.kinematics.sources import digest_of

try:
    import fcntl
except ImportError:  # not a POSIX system: every process compiles for itself
    fcntl = None

PREFIX = 'softrobot_dynamics_emitted_'
_COMPILER = threading.RLock()  # one thread at a time, taken before any lock of a file


def load_module(source, label):
    """
    Return the module made of ``source``, importable under its ``__name__``.

    ``label`` is a readable part of the name. Equal sources give the same module.
    """
    name = f'{PREFIX}{label}_{_digest(source)}'
    with _COMPILER:  # another thread may be loading it, and the addresses in it must not change
        if name not in sys.modules:
            path = _write(cache_folder() / f'{name}.py', source)
            with _rarely_collected(), _locked(name):  # loading compiles what has a given type
                sys.modules[name] = _load(name, path) if path else _in_memory(name, source)
        return sys.modules[name]


@contextlib.contextmanager
def compiling(function):
    """
    Within this context ``function`` may be called for the first time, and so be compiled.

    Processes that start together take turns: the later ones find the machine code in the cache
    instead of making it once more.
    """
    function = getattr(function, 'func', function)  # some arguments may be given already
    if function.signatures:
        yield
        return
    with _COMPILER, _rarely_collected(), _locked(function.py_func.__module__):
        yield


@contextlib.contextmanager
def _rarely_collected():
    """Let Python look for unused objects less often; while compiling that takes an eighth."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def share(*functions):
    """
    Call functions that compile, first those that no other process is calling.

    So processes that start together share the work.
    """
    left = list(enumerate(functions))
    while left:
        for item in left:
            with _locked(f'share_{item[0]}', wait=False) as free:
                if free:
                    item[1]()
                    left.remove(item)
                    break
        else:  # all are being called: wait for the first
            left.pop(0)[1]()


@contextlib.contextmanager
def _locked(name, wait=True):
    """Keep other processes from a context of the same name; yield False if one is in it."""
    if fcntl is None:
        yield True
        return
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        file = open(cache_folder() / f'{name}.lock', 'w')
    except OSError:  # no folder to share code in: compiled in memory
        yield True
        return
    with file:  # released when the file is closed
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def cache_folder():
    """Folder of the emitted modules (it need not exist yet)."""
    chosen = os.environ.get('SOFTROBOT_CACHE_DIR')
    if chosen:
        return pathlib.Path(chosen)
    home = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(home) / 'softrobot_dynamics'


def import_line(module, function, alias):
    """
    Source line that imports ``function`` of ``module`` under another name.

    What comes from no file cannot be followed there: it is compiled anew in every process.
    """
    line = f'from {module} import {function} as {alias}'
    if module.startswith(PREFIX) or getattr(sys.modules[module], '__file__', None):
        return line
    return f'{line}  # {os.urandom(8).hex()}'


@functools.cache
def _environment():
    """Digest of what every module depends on besides its own source and what it imports."""
    digest = hashlib.sha256()
    cpu = llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()
    for fact in (numba.__version__, platform.python_version(), *cpu):
        digest.update(fact.encode())
    return digest.digest()


def _digest(source):
    imported = digest_of(source, PREFIX)
    return hashlib.sha256(_environment() + imported + source.encode()).hexdigest()[:16]


def _write(path, source):
    """Write the file unless it is there already; return its path, or None where that fails."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile('w', dir=path.parent, delete=False) as file:
                file.write(source)
            os.replace(file.name, path)  # another process may be doing the same
        return path if os.access(path.parent, os.W_OK) else None
    except OSError:
        return None


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _in_memory(name, source):
    warnings.warn(
        f'the kernel cache {cache_folder()} cannot be written: kernels are compiled '
        'anew in every process; set SOFTROBOT_CACHE_DIR to a writable folder',
        RuntimeWarning,
        stacklevel=3,
    )
    module, file = types.ModuleType(name), f'<{name}>'
    sys.modules[name] = module
    source = source.replace('CACHE = True', 'CACHE = False')
    linecache.cache[file] = len(source), None, source.splitlines(True), file  # for inspect
    exec(compile(source, file, 'exec'), module.__dict__)
    return module
