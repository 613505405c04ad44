# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
End the programs of this package in one line, not in a traceback, also while they start.

To import the package takes a second or more. In it Ctrl-C ends a program of ours at once, with
the status 130 of a shell, and what keeps it from starting is said in a line. From then on Ctrl-C
is a KeyboardInterrupt, as everywhere in Python, until the program has done its work.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING
import warnings

if TYPE_CHECKING:
    from types import FrameType, TracebackType

INTERRUPTED = 130  # exit status, as a shell has it: 128 and the number of the signal
OUTPUT_CLOSED = 141  # exit status of a program whose output nobody reads any more
FAILED = 1

_PACKAGE = 'softrobot_dynamics'
_NODES = 'controller', 'estimator', 'simulation', 'visualizer'  # as `ros2 run` finds them
_INTERRUPT_RETRY = 0.02  # [s] after which an interrupt that got lost is sent once more


def is_program() -> bool:
    """Tell whether this process runs a program of the package: its command, or a node."""
    folder, program = os.path.split(sys.argv[0] if sys.argv else '')
    by_name = sys.orig_argv[sys.orig_argv.index('-m') + 1 :][:1] if '-m' in sys.orig_argv else []
    return (
        program == 'softrobot'
        or program.startswith(f'{_PACKAGE}.')
        or (program in _NODES and os.path.basename(folder) in (_PACKAGE, 'scripts'))
        or any(name.partition('.')[0] == _PACKAGE for name in by_name)
    )


def start_quietly() -> None:
    """Have the process end in one line, until it is :func:`running` or :func:`started`."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, _leave)
    sys.excepthook = _say_in_a_line
    warnings.formatwarning = _warning_in_a_line
    if _hint():
        import numba  # noqa: F401 (it fails here, in one line, not once something is compiled)


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Within this context Ctrl-C raises KeyboardInterrupt, and errors are shown with traceback."""
    quiet = signal.getsignal(signal.SIGINT) is _leave
    if quiet:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hooks = sys.excepthook, sys.unraisablehook
    sys.excepthook, sys.unraisablehook = sys.__excepthook__, _interrupt_again
    try:
        yield
    finally:
        sys.excepthook, sys.unraisablehook = hooks
        if quiet:
            signal.signal(signal.SIGINT, _leave)


def started() -> None:
    """Show errors whole from here on; the program has handlers of its own for signals."""
    sys.excepthook = sys.__excepthook__


def escape_what_cannot_be_shown() -> None:
    """Have standard output write a character that its encoding has not as Python escapes it."""
    with contextlib.suppress(AttributeError, ValueError):  # something else stands in its place
        if sys.stdout.errors == 'strict':
            sys.stdout.reconfigure(errors='backslashreplace')  # type: ignore[union-attr]


def give_up_output() -> None:
    """Write no more to standard output, which takes nothing: nor does Python at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)  # nothing has begun that would have to be left in order


def _say_in_a_line(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print the error that keeps a program from starting; it ends with the status 1."""
    words = ' '.join(str(error).split()) or 'no reason given'
    sys.stderr.write(f'softrobot: cannot start: {kind.__name__}: {words[:240]}{_hint()}\n')


def _warning_in_a_line(message: Warning | str, *_: object, **__: object) -> str:
    """Return a warning as a line, without the source line and the tracebacks that it may have."""
    return f'softrobot: warning: {str(message).partition(chr(10))[0][:300]}\n'


def _hint() -> str:
    """Return in words what may keep numba from starting, or ''."""
    threads = os.environ.get('NUMBA_NUM_THREADS', '')
    wrong = threads and not (threads.strip().isdecimal() and int(threads) > 0)
    return f' (NUMBA_NUM_THREADS is {threads[:20]!r}, expected a number > 0)' if wrong else ''


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send an interrupt once more that came where nothing can be raised, as in a callback."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        thread = threading.main_thread().ident  # a signal also ends its sleep
        threading.Timer(_INTERRUPT_RETRY, signal.pthread_kill, (thread, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)
