# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Emitted source becomes a module in a cache folder, so that numba can keep its machine code.

A module is named after the sources that its machine code depends on: the emitted one, and the
files that it imports from, directly or not (:mod:`~softrobot_dynamics.compiling.sources`). The
names of files of machine code say besides for which processor, numba and Python it was made
(:mod:`~softrobot_dynamics.compiling.targets`). Nothing in the folder is ever edited; it may be
deleted at any time. What an installed package brings is used where the folder has nothing
(:mod:`~softrobot_dynamics.compiling.prebuilt`).
``SOFTROBOT_CACHE_DIR`` (or ``XDG_CACHE_HOME``) chooses another place. Where no folder can be
written the module is compiled in memory, and a warning says so; see
:mod:`~softrobot_dynamics.compiling.cache_integrity` for what else may be wrong with it.
"""

from collections.abc import Callable, Iterable, Iterator
import contextlib
from contextvars import ContextVar
import functools
import hashlib
import linecache
import marshal
import os
import sys
import threading
import types
from types import CodeType, ModuleType
from typing import Any

from softrobot_dynamics.compiling import c_functions, cache_integrity, prebuilt
from softrobot_dynamics.compiling.cache_integrity import own_folder
from softrobot_dynamics.compiling.deferred import Deferred
from softrobot_dynamics.compiling.garbage_collection import rarely_collected
from softrobot_dynamics.compiling.numba_versions import keeps_machine_code
from softrobot_dynamics.compiling.sources import digest_of, EMITTED_PREFIX
from softrobot_dynamics.compiling.targets import own_keys

try:
    import fcntl
except ImportError:  # not a POSIX system: every process compiles for itself
    fcntl = None  # type: ignore[assignment]  # there is no type for a module or none

PREFIX = EMITTED_PREFIX
_COMPILER_LOCK = threading.RLock()  # taken before any lock of a file
_COLLECTED: ContextVar[dict[str, str] | None] = ContextVar('collected', default=None)
_BY_ADDRESS = '@by_address('  # decorator of what loading a module compiles
_LOADED: set[str] = set()  # names of modules that are loaded to their end


def load_module(source: str, label: str) -> ModuleType:
    """
    Return the module made of ``source``, importable under its ``__name__``.

    ``label`` is a readable part of the name. Equal sources give the same module. They may use the
    decorators of :mod:`softrobot_dynamics.compiling.compiler` without importing them. Raises
    CacheError for a folder that others could have put code into.
    """
    name, collected = _name(source, label), _COLLECTED.get()
    if collected is not None and _BY_ADDRESS in source and not _loads(name, source):
        collected[name] = source
        return _NotLoaded(name)
    load(name, source)
    return sys.modules[name]


def load(name: str, source: str, wait: bool = True) -> bool:
    """
    Load the module of a name and source, unless it is there; return whether it is then.

    It is not where another process is compiling it, and this one shall not ``wait``.
    """
    if name in _LOADED:
        return True
    # another thread may be loading it, and the addresses in it must not change
    with _COMPILER_LOCK:
        if name not in _LOADED:
            with rarely_collected(), _locked(name, wait) as free:
                if not free:
                    return False
                _load(name, source)  # which compiles what has a given type
                _LOADED.add(name)
    return True


def _loads(name: str, source: str) -> bool:
    """Tell whether a module is loaded; load it if its machine code is kept."""
    if name in _LOADED:
        return True
    with _COMPILER_LOCK:
        if name not in _LOADED and _load_kept(name, source):
            _LOADED.add(name)
    return name in _LOADED


def kept(names: Iterable[str]) -> set[str]:
    """Return those of some modules of which there is machine code, here or in the cache."""
    own, keys = own_folder(), own_keys()
    made = set()
    with contextlib.suppress(OSError):
        for file in os.listdir(own) if own else ():
            name, _, kind = file.partition('.')
            program = kind.startswith(f'{keys.program}.') and kind.endswith('.nbc')
            if program or kind == f'{keys.code}.o':
                made.add(name)
    return {name for name in names if name in _LOADED or name in made or prebuilt.has(name)}


def linked_functions() -> set[str]:
    """Return the names of functions of which there is code that callers link."""
    own, ending, files = own_folder(), f'.{own_keys().program}.bc', set[str]()
    with contextlib.suppress(OSError):
        files = {file for file in os.listdir(own) if file.endswith(ending)} if own else set()
    return {file.partition('.')[0].rpartition('_')[0] for file in files | prebuilt.linked_code()}


def source_of(name: str) -> str:
    """Return the source of a module that is loaded."""
    return ''.join(linecache.cache[f'<{name}>'][2])  # type: ignore[misc]  # no lazy entry of ours


@contextlib.contextmanager
def collecting() -> Iterator[dict[str, str]]:
    """
    Within this context nothing is compiled but at a call.

    Yields the sources of the modules that would be, by name. What is in them are stand-ins.
    """
    collected: dict[str, str] = {}
    token = _COLLECTED.set(collected)
    try:
        yield collected
    finally:
        _COLLECTED.reset(token)


class _NotLoaded(ModuleType):
    """A module that is not loaded; in it are stand-ins of any name."""

    def __getattr__(self, name: str) -> 'StandIn':
        return StandIn()


class StandIn:
    """A stand-in for a kernel that is not compiled yet: nothing is at its address."""

    address = 2  # unlike all that stands for an address where there is no kernel

    def __call__(self, *arguments: object) -> None:
        """Refuse to be called."""
        raise RuntimeError(
            'a kernel that is collected for parallel compilation cannot be called yet'
        )


@contextlib.contextmanager
def compiling(function: Callable[..., Any]) -> Iterator[None]:
    """
    Within this context ``function`` may be called for the first time, and so be compiled.

    Processes that start together take turns: the later ones find the machine code in the cache
    instead of making it once more.
    """
    program: Any = getattr(function, 'func', function)  # some arguments may be given already
    if not isinstance(program, Deferred) or program.made.signatures:
        yield
        return
    with _COMPILER_LOCK, rarely_collected(), _locked(program.py_func.__module__):
        yield


@contextlib.contextmanager
def _locked(name: str, wait: bool = True) -> Iterator[bool]:
    """Keep other processes from a context of the same name; yield False if one is in it."""
    if fcntl is None:
        yield True
        return
    own = own_folder()
    try:
        file = open(own / f'{name}.lock', 'w') if own else None
    except OSError:
        file = None
    if file is None:  # nowhere to share code in: compiled in memory
        yield True
        return
    with file:  # released when the file is closed
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def import_line(module: str, function: str, alias: str) -> str:
    """
    Source line that imports ``function`` of ``module`` under another name.

    What comes from no file cannot be followed there: it is compiled anew in every process.
    """
    line = f'from {module} import {function} as {alias}'
    if module.startswith(PREFIX) or getattr(sys.modules[module], '__file__', None):
        return line
    return f'{line}  # {os.urandom(8).hex()}'


@functools.cache
def _name(source: str, label: str) -> str:
    return f'{PREFIX}{label}_{_digest(source)}'


def _digest(source: str) -> str:
    imported = digest_of(source, PREFIX)
    return hashlib.sha256(imported + source.encode()).hexdigest()[:16]


def _load(name: str, source: str) -> None:
    """Make a module of a source, with its bytecode from the cache or into it."""
    if _BY_ADDRESS in source and _load_kept(name, source):
        return
    module = _enter(name, source)
    module.__dict__.update(for_python=_for_python, by_address=_by_address)
    try:
        exec(_bytecode(name, source, f'<{name}>'), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise


def _enter(name: str, source: str) -> ModuleType:
    """Return a new module of a source, which can be imported and inspected, not run yet."""
    module, file = types.ModuleType(name), f'<{name}>'
    linecache.cache[file] = len(source), None, source.splitlines(True), file  # for inspect
    sys.modules[name] = module
    return module


def _load_kept(name: str, source: str) -> bool:
    """Load the module of a C function, without running it, if there is machine code of it."""
    address = _kept_address(name)
    if address is None:
        return False
    label = name.removeprefix(PREFIX).rpartition('_')[0]
    setattr(_enter(name, source), label, c_functions.CFunction(address))
    return True


def _kept_address(name: str) -> int | None:
    """Return the address of the C function of a module, if there is machine code of it."""
    return c_functions.load(name, _register_helpers) if keeps_machine_code() else None


def _compiler() -> Any:
    """Return the module that compiles, which imports numba."""
    from softrobot_dynamics.compiling import compiler

    return compiler


def _register_helpers() -> None:
    """Have LLVM find the functions of numba that machine code may call."""
    _compiler().register_helpers()


def _for_python(**options: Any) -> Callable[[Callable[..., Any]], Deferred]:
    """Return a decorator for a function that Python calls, which is compiled then."""
    return lambda function: Deferred(function, lambda f: _compiler().for_python(**options)(f))


def _by_address(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a function that is called by its address, compiled at once."""
    return _compiler().by_address(signature, **options)


def _bytecode(name: str, source: str, file: str) -> CodeType:
    """Return the bytecode of a source, from the cache folder if it is there."""
    own = own_folder()
    path = own and own / f'{name}.{sys.implementation.cache_tag}.code'
    stored = path and cache_integrity.read(path)
    if stored:
        return marshal.loads(stored)
    code = compile(source, file, 'exec')
    if own and path:
        cache_integrity.replace(own / f'{name}.py', source.encode())  # to be looked at by people
        cache_integrity.write(path, marshal.dumps(code))
    return code
