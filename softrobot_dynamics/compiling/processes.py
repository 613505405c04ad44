# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Start Python processes that import nothing from the working directory.

`python -m` and `python -c` look for every module in the working directory first, before the
standard library: a `contextlib.py` that lies there would run as whoever runs a node. So a process
of ours begins with the import path of the one that starts it, without the working directory, and
is told so by its environment, too, for those that it starts itself.
"""

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import sys
import threading
from typing import Any

_PACKAGE_PARENT = str(Path(__file__).parents[2])  # where this package is found
# environment variable that keeps the working directory off the import path, from Python 3.11 on
_SAFE_PATH = 'PYTHONSAFEPATH'
_START_SCRIPT = """
import sys
sys.path[:] = {path!r}
sys.argv[0] = {module!r}
from {module} import {function} as main
from softrobot_dynamics.compiling.program_exit import started
started()
sys.exit(main())
"""


def python_command(function: str, *arguments: str) -> list[str]:
    """Return the command that calls ``'module:function'``, the arguments being its sys.argv."""
    module, _, name = function.partition(':')
    start = _START_SCRIPT.format(path=import_path(), module=module, function=name)
    return [sys.executable, '-c', start, *arguments]


def script_command(file: str, *arguments: str) -> list[str]:
    """Return the command that runs a script with the standard library alone, which starts soon."""
    return [sys.executable, '-I', '-S', file, *arguments]


def python_environment() -> dict[str, str]:
    """Return the environment of a process that :func:`python_command` starts."""
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(import_path()), _SAFE_PATH: '1'}


def import_path() -> list[str]:
    """
    Return the absolute entries of sys.path, this package's own folder added if need be.

    The working directory is among them only where the user has named it: in PYTHONPATH, by
    installing what is there, or by running a script that lies there.
    """
    path, named = list(sys.path), os.environ.get('PYTHONPATH', '').split(os.pathsep)
    if _by_name() and path[:1] == [_working_directory()] and path[0] not in named:
        del path[0]
    path = [entry for entry in path if os.path.isabs(entry)]
    return path if _PACKAGE_PARENT in path else [*path, _PACKAGE_PARENT]


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """
    Keep the working directory off the import path of processes that a library starts meanwhile.

    Before Python 3.11 it is on that path until they have been told the one of this process.
    """
    path, variables = list(sys.path), dict(os.environ)
    sys.path[:] = import_path()
    os.environ.update(python_environment())
    try:
        yield
    finally:
        sys.path[:] = path
        for name in ('PYTHONPATH', _SAFE_PATH):
            os.environ.pop(name, None)
            if name in variables:
                os.environ[name] = variables[name]


class ErrorOutput:
    """Forwards the standard error of a process from a pipe, and keeps its last line."""

    def __init__(self, pipe: Any) -> None:
        self._line = b''
        self._thread = threading.Thread(target=self._listen, args=[pipe], daemon=True)
        self._thread.start()

    def _listen(self, pipe: Any) -> None:
        with open(os.dup(pipe.fileno()), 'rb') as lines:
            for line in lines:
                with contextlib.suppress(OSError):  # ours is closed
                    os.write(2, line)
                self._line = line.strip() or self._line

    def text(self) -> str:
        """Return the last line that is not empty, once the process has ended."""
        self._thread.join(1.0)  # others that it has started may hold the pipe
        return self._line.decode(errors='replace')


def _by_name() -> bool:
    """Tell whether this process runs a module by name: its folder is then put before all."""
    return getattr(sys.modules.get('__main__'), '__spec__', None) is not None


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ''
