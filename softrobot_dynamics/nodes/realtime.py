# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What a loop of about 1 kHz needs from the machine: priority, awake processors, absolute deadlines.

All times are [ns] of the steady clock.
"""

import ctypes
import os
import time

now = time.monotonic_ns
PRIORITY = 60  # of the loop and of the DDS threads, out of 1 to 99
_TIMER_ABSTIME = 1


def ask_for_priority(priority=PRIORITY):
    """
    Put this process under the FIFO scheduler; threads started later inherit it.

    To be called before rclpy.init(), so that the threads of DDS are among them. Returns None, or
    in words why the system said no; `priority` 0 asks for nothing.
    """
    if priority == 0:
        return None
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (AttributeError, OSError) as error:
        return (
            f'no real-time priority ({error}): expect more late ticks; to allow it, give the'
            f' user an rtprio limit of at least {priority} or run with CAP_SYS_NICE'
        )
    return None


_QUALITY_OF_SERVICE = '/dev/cpu_dma_latency'
_awake = None  # the file that keeps the processors awake as long as it is open


def keep_awake():
    """
    Keep idle processors from sleeping until this process ends: waking one takes 30 to 60 us.

    By the kernel's own request for a wake-up latency of zero. Returns None, or in words why the
    system said no.
    """
    global _awake
    try:
        _awake = _awake or open(_QUALITY_OF_SERVICE, 'wb', buffering=0)
        _awake.write(bytes(4))  # a 32-bit latency [us]
    except OSError as error:
        return (
            f'idle processors may sleep ({error}): expect every wake-up some 50 us later; to'
            f' prevent it, give the user the right to write {_QUALITY_OF_SERVICE}'
        )
    return None


class patient:
    """Within this context the calling thread gives way: for compiling beside a running robot."""

    def __enter__(self):
        self._before = None
        if hasattr(os, 'sched_getscheduler') and os.sched_getscheduler(0) != os.SCHED_OTHER:
            self._before = os.sched_getscheduler(0), os.sched_getparam(0)
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))

    def __exit__(self, *exception):
        if self._before is not None:
            os.sched_setscheduler(0, *self._before)


class _Timespec(ctypes.Structure):
    _fields_ = [('seconds', ctypes.c_long), ('nanoseconds', ctypes.c_long)]


def _find_nanosleep():
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


def sleep_until(deadline):
    """Sleep until the steady clock shows `deadline` [ns]; return at once if that is past."""
    if _nanosleep is None:
        time.sleep(max(0, deadline - now()) * 1e-9)
        return
    moment = _Timespec(*divmod(deadline, 1_000_000_000))
    while _nanosleep(time.CLOCK_MONOTONIC, _TIMER_ABSTIME, moment, None) and now() < deadline:
        pass  # a signal cut it short: go on to the same moment
