# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Parallel compilation: share the kernels of a program among several processes.

Each C function is a module of its own (:mod:`~softrobot_dynamics.compiling.binding`), so another
process can compile it into the kernel cache, from which this one then takes it. Helpers are
ordinary processes of low priority that get sources and leave machine code. They are never needed:
where one fails, or there is no folder to share, this process does the work.
``SOFTROBOT_COMPILERS`` is how many processes may compile at once (default: one for each processor,
at most four).
"""

from collections.abc import Callable, Iterable, Iterator
import contextlib
import os
import re
import sys
import time
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.compiling import cache
from softrobot_dynamics.compiling.cache_integrity import own_folder
from softrobot_dynamics.compiling.compile_cost import costs_of, kernel_size
from softrobot_dynamics.compiling.garbage_collection import rarely_collected
from softrobot_dynamics.compiling.numba_versions import keeps_machine_code
from softrobot_dynamics.compiling.processes import python_command, python_environment
from softrobot_dynamics.compiling.progress import CompilationProgress
from softrobot_dynamics.compiling.warnings_once import warn_once
from softrobot_dynamics.errors import shown

if TYPE_CHECKING:
    import subprocess

_MAX_PROCESSES = 4  # no robot has more kernels that take long
_HELPER_NICENESS = 5  # below a loop in real time beside them
_KNOWN_FUNCTIONS: set[tuple[str, str]] = set()  # that kernels compiled here have called
_EMITTED_NAME = re.compile(rf'\b{cache.PREFIX}\w+')


def compile_in_parallel(*builders: Callable[[], Any]) -> tuple[Any, ...]:
    """
    Return the results of builders, whose kernels are first compiled, most of them in parallel.

    Unless all is in the cache they are called twice, first with stand-ins for addresses: so that
    they may put these into tables, but not call them, nor have any effect besides what they
    return.
    """
    with rarely_collected():
        with cache.collecting() as sources:
            made = tuple(builder() for builder in builders)
        if not sources:
            return made
        _load(sources)
        return tuple(builder() for builder in builders)


def _load(sources: dict[str, str]) -> None:
    """Load modules, those that take long first, and first those that nobody else is compiling."""
    every = {name: _with_imported(source) | {name: source} for name, source in sources.items()}
    missing = every.keys() - cache.kept(every)
    kernels = {name: kernel_size(name, every[name]) for name in every if name in missing}
    linked = cache.linked_functions()
    functions = {place for kernel in kernels.values() for place in kernel.functions}
    known = _KNOWN_FUNCTIONS | {place for place in functions if place[1] in linked}
    costs = costs_of(kernels, known)
    left = [*costs, *(name for name in every if name not in costs)]
    with _helpers([every[name] for name in costs]) as processes:
        progress = CompilationProgress(costs, processes)
        while left:
            missing -= cache.kept(missing)
            name, seconds = _load_next(left, sources)
            left.remove(name)
            own = seconds if name in missing else None
            missing -= {name, *cache.kept(missing)}  # which helpers have compiled meanwhile
            if name in costs:
                progress.advance(name, own, missing)
    _KNOWN_FUNCTIONS.update(*(kernel.functions for kernel in kernels.values()))


def _load_next(names: list[str], sources: dict[str, str]) -> tuple[str, float | None]:
    """
    Load the first of some modules that no other process is compiling, or the first after all.

    Returns its name, and how long that took this process [s], None if another one did it.
    """
    for name in names:
        begin = time.monotonic()
        if cache.load(name, sources[name], wait=False):
            return name, time.monotonic() - begin
    cache.load(names[0], sources[names[0]])
    return names[0], None


def _with_imported(source: str) -> dict[str, str]:
    """Return the sources of the emitted modules that one imports, directly or not, by name."""
    found: dict[str, str] = {}
    for name in _EMITTED_NAME.findall(source):
        own = cache.source_of(name)
        found |= {**_with_imported(own), name: own}
    return found


@contextlib.contextmanager
def _helpers(missing: list[dict[str, str]]) -> Iterator[int]:
    """
    Have others compile modules, each given with all that it imports, within this context.

    Yields how many processes compile, this one included.
    """
    shared = keeps_machine_code() and own_folder() and sys.executable
    helpers = 0
    with contextlib.ExitStack() as stack:
        for _ in range(min(process_limit(), len(missing)) - 1 if shared else 0):
            with contextlib.suppress(OSError):  # no more processes, or no room for a file
                stack.callback(_end, _start(missing))
                helpers += 1
        yield 1 + helpers


def process_limit() -> int:
    """Return how many processes may compile at once, this one included."""
    chosen = os.environ.get('SOFTROBOT_COMPILERS', '')
    if chosen.isdecimal():
        return max(1, int(chosen))
    if chosen:
        warn_once(
            'compilers',
            f'SOFTROBOT_COMPILERS is {shown(chosen)}, expected a number of processes > 0: the '
            f'default is used',
        )
    if not hasattr(os, 'sched_getaffinity'):  # not Linux
        return 1
    return min(_MAX_PROCESSES, len(os.sched_getaffinity(0)))


def _start(modules: list[dict[str, str]]) -> 'subprocess.Popen[bytes]':
    """Start a process that compiles modules, given by their sources."""
    import json  # these are needed only where something is compiled
    import subprocess
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(modules).encode())
        file.seek(0)
        return subprocess.Popen(
            python_command(f'{__name__}:compile_asked'),
            env=python_environment(),
            stdin=file,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it ends with this process's work, not by Ctrl-C
        )


def _end(helper: 'subprocess.Popen[bytes]') -> None:
    """End a helper, which has nothing left to do once all is loaded here."""
    helper.kill()
    helper.wait()


def compile_asked() -> None:
    """Compile, in a helper, the modules given at the standard input, but for those in work."""
    import json

    os.nice(_HELPER_NICENESS)
    for needed in json.load(sys.stdin):
        _compile(needed.items())


def _compile(needed: Iterable[tuple[str, str]]) -> None:
    """Compile the last of some modules, after the others, which it imports."""
    *imported, (name, source) = needed
    with contextlib.suppress(Exception):  # who asked will see it, where it can be said
        for other, text in imported:
            cache.load(other, text)
        cache.load(name, source, wait=False)
