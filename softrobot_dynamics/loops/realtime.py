# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Real-time execution at about 1 kHz: priority, awake processors, absolute deadlines.

All times are [ns] of the steady clock.
"""

from collections.abc import Iterable, Iterator
import contextlib
import ctypes
import errno
import functools
import itertools
import os
from pathlib import Path
import socket
import threading
import time
from typing import Any, Final, Literal

now = time.monotonic_ns
SECOND = 1_000_000_000  # [ns]
SWITCH_INTERVAL = 5e-5  # [s] that a thread of a loop waits for Python code of another
PRIORITY = 60  # of the loop and of the DDS threads, out of 1 to 99
_TIMER_ABSTIME = 1
SAFETY, LOOP, MAIN, SLOW = range(4)  # how much lower than the granted one a thread's priority is
# Fast DDS's second sender: while a writer is locked it tries, over and over
_SPINNING_THREAD = 'dds.asyn'
_priority = 0  # the one that was granted


def processors() -> tuple[int, ...]:
    """Return the processors that the calling thread may use; () if the system does not say."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, 'sched_getaffinity') else ()


def may_use(processor: int) -> bool:
    """Return whether the calling thread may keep to a processor, an isolated one for instance."""
    before = processors()
    try:
        os.sched_setaffinity(0, {processor})
    except (AttributeError, OSError, OverflowError, ValueError):
        return False
    os.sched_setaffinity(0, before)
    return True


def two_processors() -> tuple[int | None, ...]:
    """
    Return a processor each for two nodes beside each other, or (None, None) if there is but one.

    If there are more than two, not the very first: it serves most interrupts.
    """
    free = processors()
    return free[len(free) > 2 :][:2] if len(free) > 1 else (None, None)


OWN_PROCESSOR: Final = 'own'
_claims: list[int] = []  # descriptors of sockets, bound as long as this process lives


def own_processor() -> int | None:
    """
    Return the processor that the fewest nodes on this machine keep to, None if there is but one.

    Of those that the calling thread may use, the very first one last: it serves most interrupts.
    It is claimed until this process ends.
    """
    free = processors()
    return claim((*free[1:], free[0])) if len(free) > 1 else None


def claim(choices: Iterable[int]) -> int | None:
    """
    Claim the one of some processors with the fewest claims until this process ends; return it.

    None if the system does not keep account of them.
    """
    for rank in itertools.count():
        for processor in choices:
            mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:  # to take a name that one process at a time can have, and that ends with it
                mark.bind(f'\0softrobot_dynamics/processor/{processor}/{rank}')
            except OSError as error:
                mark.close()
                if error.errno != errno.EADDRINUSE:
                    return None
            else:
                _claims.append(mark.detach())
                return processor


@functools.cache
def processor_of_pair(pair: str) -> int | None:
    """Return the processor that all nodes of a `pair` share, claimed as by `own_processor`."""
    return own_processor()


_everywhere = processors()
_home = _everywhere  # processors of the threads with priority


def request_priority(
    priority: int = PRIORITY, processor: int | Literal['own'] | None = None
) -> str | None:
    """
    Put the calling thread under the FIFO scheduler; threads that it starts inherit it.

    Returns None, or in words why the system said no; `priority` 0 asks for nothing. With priority,
    they keep to `processor`, one that they may use or OWN_PROCESSOR for one that is claimed,
    unless it is None: the kernel moves a real-time thread whenever it wakes while its processor is
    busy with another, and then it finds nothing of its own in the caches.
    """
    global _priority, _home
    if priority == 0:
        return None
    try:
        _schedule(priority)
    except (AttributeError, OSError) as error:
        return (
            f'no real-time priority ({error}): expect more late ticks; to allow it, give the'
            f' user an rtprio limit of at least {priority} or run with CAP_SYS_NICE'
        )
    _priority = priority
    if processor == OWN_PROCESSOR:
        processor = own_processor()
    elif processor is not None:
        claim([processor])  # for others to know
    if processor is not None:
        os.sched_setaffinity(0, {processor})
        _home = (processor,)
    return None


def kept_processor() -> int | None:
    """Return the processor to which the threads with priority keep, None if to no single one."""
    return _home[0] if _priority and len(_home) == 1 else None


def move_to(processor: int) -> None:
    """Move the threads of this process that are bound to a processor to this one."""
    global _home
    before, _home = _home, (processor,)
    for file in Path('/proc/self/task').iterdir():
        with contextlib.suppress(ProcessLookupError):  # it has ended since
            if os.sched_getaffinity(int(file.name)) == {*before}:
                os.sched_setaffinity(int(file.name), _home)


def prioritise_dds_threads() -> None:
    """
    Give the threads of DDS the priority of the loop, and the calling thread that of MAIN.

    Below the loop and DDS on one processor, it and those it starts run only while these wait: for
    messages, or for the interpreter's lock in its hands, which it gives up at once when it runs.
    The threads of DDS shall have been started by a thread without priority (`without_priority`),
    and one that spins stays without: on the processor of the thread it waits for it would wait
    for ever. They are known by their names; those of a DDS that gives its threads none stay as
    they are.
    """
    if not _priority:
        return
    ours = processors()
    for thread in _named_threads():
        with contextlib.suppress(ProcessLookupError):  # it has ended since
            os.sched_setaffinity(thread, ours)
            _schedule(max(1, _priority - LOOP), thread)
    apply_priority(MAIN)


def _named_threads() -> list[int]:
    """Return the ids of this process's threads that have a name of their own and do not spin."""
    names = {}
    for file in Path('/proc/self/task').glob('*/comm'):
        with contextlib.suppress(OSError):  # it has ended since
            names[int(file.parent.name)] = file.read_text()
    program = names.get(os.getpid())
    return [
        thread
        for thread, name in names.items()
        if name != program and not name.startswith(_SPINNING_THREAD)
    ]


def apply_priority(below: int = LOOP) -> None:
    """Give the calling thread the priority that was granted, if any, or `below` that much less."""
    if _priority:
        _schedule(max(1, _priority - below))


def _schedule(priority: int, thread: int = 0) -> None:
    os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))


_LATENCY_DEVICE = '/dev/cpu_dma_latency'
_awake = None  # the file that keeps the processors awake as long as it is open


def keep_awake() -> str | None:
    """
    Keep idle processors from sleeping until this process ends: waking one takes its time.

    By the kernel's own request for a wake-up latency of zero. Returns None, or in words why the
    system said no.
    """
    global _awake
    try:
        _awake = _awake or open(_LATENCY_DEVICE, 'wb', buffering=0)
        _awake.write(bytes(4))  # a 32-bit latency [us]
    except OSError as error:
        return (
            f'idle processors may sleep ({error}): expect every wake-up to come later; to'
            f' prevent it, give the user the right to write {_LATENCY_DEVICE}'
        )
    return None


@contextlib.contextmanager
def on_all_processors() -> Iterator[None]:
    """Let the calling thread, and those that it starts within this context, use all processors."""
    before = processors()
    if before != _everywhere:
        os.sched_setaffinity(0, _everywhere)
    try:
        yield
    finally:
        if before != _everywhere:  # the process may have moved meanwhile
            os.sched_setaffinity(0, _home if len(before) == len(_home) == 1 else before)


@contextlib.contextmanager
def without_priority() -> Iterator[None]:
    """Within this context the calling thread gives way: for compiling beside a running robot."""
    if not hasattr(os, 'sched_getscheduler') or os.sched_getscheduler(0) == os.SCHED_OTHER:
        yield
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    with on_all_processors():
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        try:
            yield
        finally:
            os.sched_setscheduler(0, *before)


def set_niceness(nice: int = -15) -> None:
    """
    Prefer the calling thread among those of ordinary priority, where a priority was granted.

    Its share of a processor grows with what it needs; others are not stopped by it.
    """
    if _priority:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)


class _Timespec(ctypes.Structure):
    _fields_ = [('seconds', ctypes.c_long), ('nanoseconds', ctypes.c_long)]


def _find_nanosleep() -> Any:
    function = getattr(ctypes.CDLL(None), 'clock_nanosleep', None)
    if function is not None:
        function.argtypes = (
            ctypes.c_int,
            ctypes.c_int,
            ctypes.POINTER(_Timespec),
            ctypes.c_void_p,
        )
    return function


_nanosleep = _find_nanosleep()


def sleep_until(deadline: int) -> None:
    """Sleep until the steady clock shows `deadline` [ns]; return at once if that is past."""
    if _nanosleep is None:
        time.sleep(max(0, deadline - now()) * 1e-9)
        return
    moment = _Timespec(*divmod(deadline, SECOND))
    while _nanosleep(time.CLOCK_MONOTONIC, _TIMER_ABSTIME, moment, None) and now() < deadline:
        pass  # a signal cut it short: go on to the same moment
