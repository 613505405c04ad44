# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What a loop of about 1 kHz needs from the machine and from rclpy, and nothing else.

An executor of rclpy spends about 150 us on an event; a wait set of our own in a thread of our own
spends 15. `WaitSet` and `take_message` are only half public, so `WaitSetInbox` is their one user,
and where they are missing `ExecutorInbox` does the same through the executor (to about 500 Hz).
All times are [ns] of the steady clock.
"""
import ctypes
import os
import threading
import time

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.guard_condition import GuardCondition

try:
    from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
    HAS_WAIT_SET = hasattr(_rclpy, 'WaitSet') and hasattr(_rclpy.Subscription, 'take_message')
except ImportError:      # an rclpy that keeps its insides elsewhere
    HAS_WAIT_SET = False

now = time.monotonic_ns
PRIORITY = 60            # of the loop and of the DDS threads, out of 1 to 99
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
        return f'no real-time priority ({error}): expect more late ticks; to allow it, give the' \
               f' user an rtprio limit of at least {priority} or run with CAP_SYS_NICE'
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
        function.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Timespec),
                             ctypes.c_void_p)
    return function


_nanosleep = _find_nanosleep()


def sleep_until(deadline):
    """Sleep until the steady clock shows `deadline` [ns]; return at once if that is past."""
    if _nanosleep is None:
        time.sleep(max(0, deadline - now()) * 1e-9)
        return
    moment = _Timespec(*divmod(deadline, 1_000_000_000))
    while _nanosleep(time.CLOCK_MONOTONIC, _TIMER_ABSTIME, moment, None) and now() < deadline:
        pass      # a signal cut it short: go on to the same moment


class _ServedElsewhere(MutuallyExclusiveCallbackGroup):
    """
    Keeps the executor away from a subscription and from its events.

    From the events too: in Fast DDS they share a condition with the arrival of data, and an
    executor that waits for them wakes at every message and finds nothing to do.
    """

    def can_execute(self, entity):
        return False


class WaitSetInbox:
    """The newest message of one topic, for one thread that waits for it past every executor."""

    def __init__(self, node, message_type, topic, qos):
        self._node = node
        self._type = message_type
        self._subscription = node.create_subscription(
            message_type, topic, lambda message: None, qos, callback_group=_ServedElsewhere())
        self._guard = GuardCondition(None, None, context=node.context)
        self._handles = (self._subscription.handle, self._guard.handle, node.context.handle)
        for handle in self._handles:      # in use from here on: nobody destroys them under a wait
            handle.__enter__()
        self._wait_set = _rclpy.WaitSet(1, 1, 0, 0, 0, 0, node.context.handle)

    def wait(self, timeout):
        """Return the newest message, or None after `timeout` [ns] or a call of `wake`."""
        subscription, guard, _ = self._handles
        self._wait_set.clear_entities()
        self._wait_set.add_subscription(subscription)
        self._wait_set.add_guard_condition(guard)
        self._wait_set.wait(max(0, timeout))
        taken = subscription.take_message(self._type, False)
        return taken[0] if taken else None

    def wake(self):
        """End the wait under way, or the next one; for any thread."""
        self._guard.trigger()

    def close(self):
        """Give everything back; only when no thread waits any more."""
        self._wait_set.destroy_when_not_in_use()
        for handle in reversed(self._handles):
            handle.__exit__(None, None, None)
        self._guard.destroy()
        self._node.destroy_subscription(self._subscription)


class ExecutorInbox:
    """The same on public rclpy only: an executor brings the messages, in another thread."""

    def __init__(self, node, message_type, topic, qos):
        self._node = node
        self._changed = threading.Condition()
        self._newest = None
        self._woken = False
        self._subscription = node.create_subscription(
            message_type, topic, self._arrived, qos,
            callback_group=MutuallyExclusiveCallbackGroup())

    def _arrived(self, message):
        with self._changed:
            self._newest = message
            self._changed.notify()

    def wait(self, timeout):
        """Return the newest message, or None after `timeout` [ns] or a call of `wake`."""
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None or self._woken,
                                   max(0, timeout) * 1e-9)
            message, self._newest, self._woken = self._newest, None, False
        return message

    def wake(self):
        """End the wait under way, or the next one; for any thread."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def close(self):
        """Give everything back; only when no thread waits any more."""
        self._node.destroy_subscription(self._subscription)


Inbox = WaitSetInbox if HAS_WAIT_SET else ExecutorInbox
