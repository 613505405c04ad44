# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A node as a process: priority, start of ROS, spinning, and an orderly end on Ctrl-C and SIGTERM.

The signal handlers of rclpy would shut the context down at once, and no last command could go out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
import contextlib
import gc
import os
import re
import signal
import sys
import threading
from types import FrameType
from typing import Protocol, TYPE_CHECKING

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args
from softrobot_dynamics.compiling.program_exit import started
from softrobot_dynamics.compiling.progress import reporting
from softrobot_dynamics.errors import ArgumentError, SoftRobotError
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.processor_placement import MAX_CHAIN_LOAD
from softrobot_dynamics.loops.thread import Loop
from softrobot_dynamics.nodes.executors import CallbackThread, served
from softrobot_dynamics.nodes.messaging.transport import choose_transport

if TYPE_CHECKING:
    from rclpy.impl.rcutils_logger import RcutilsLogger

_RCL_PARSE_ERROR = re.compile(r"Couldn't parse ([^:]+): '(.*)'\. Error: (.*)")  # what rcl says
_END_SIGNALS = signal.SIGINT, signal.SIGTERM  # that end a node


class RunnableNode(Protocol):
    """A node that :func:`run` runs: a `rclpy.node.Node` with the methods below."""

    parts: Sequence[CallbackThread]  # of it that threads of their own serve

    def begin(self) -> bool:
        """Prepare the node before it is spun; return whether to go on."""

    def finish(self) -> None:
        """Leave the robot safe; called when the node has been spun, also in vain."""

    def get_logger(self) -> RcutilsLogger:
        """Return the logger of the node."""

    def destroy_node(self) -> None:
        """Release the node's ROS entities."""


class Stop:
    """
    Notes SIGINT and SIGTERM; interrupts where that has been allowed, asks everywhere else.

    Python runs a handler between two of its instructions only, never while the main thread waits
    in rclpy. So a thread is told of the signal through a pipe, and `requested`, a future that an
    executor can wait for, is done by that thread.
    """

    def __init__(self) -> None:
        self.requested = Future()
        self.failed = False  # the node has to end for a fault of its own
        self.shared: int | None = None  # processor that the node shares with its controller
        self._noted = self._may_interrupt = False
        self._pipe, end = os.pipe()
        os.set_blocking(end, False)
        signal.set_wakeup_fd(end, warn_on_full_buffer=False)
        for number in _END_SIGNALS:
            signal.signal(number, self._handle)
        threading.Thread(target=self._listen, name='signals', daemon=True).start()

    def _listen(self) -> None:
        os.read(self._pipe, 1)
        self._request()

    def _request(self) -> None:
        if not self.requested.done():
            self.requested.set_result(None)

    def fail(self) -> None:
        """End the node with a status that is not 0; for any thread."""
        self.failed = True
        self._request()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._noted = True  # the future follows in its own time
        if self._may_interrupt:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let a signal interrupt the code within, as Ctrl-C does: long work that may end early."""
        self._may_interrupt = True
        try:
            if self._noted:
                raise KeyboardInterrupt
            yield
        finally:
            self._may_interrupt = False


def watch(loop: Loop, stop: Stop | None) -> None:
    """End a node when its Loop ends by itself; without a Stop it stays."""
    if stop is not None:
        loop.ended = stop.fail


def interrupting(stop: Stop | None) -> contextlib.AbstractContextManager[None]:
    """Return the context in which a signal ends the code within; without a Stop, a plain one."""
    return contextlib.nullcontext() if stop is None else stop.interrupting()


@contextlib.contextmanager
def loading(node: Node, robot: str, stop: Stop | None) -> Iterator[None]:
    """
    Log that a node loads a ``robot``, and how far its compilation is, if anything is compiled.

    A signal ends the code within, which runs without priority.
    """
    say = node.get_logger().info
    say(f'loading {robot}')
    with interrupting(stop), realtime.without_priority(), reporting(say):
        yield


def run(
    make_node: Callable[[Stop], RunnableNode],
    argv: Sequence[str] | None = None,
    priority: int = realtime.PRIORITY,
) -> int:
    """
    Run `make_node(stop)` until a signal comes or its loop ends; return the exit status.

    Its `parts` are served from before `begin` until after `finish`. `argv` is as sys.argv, program
    included, `priority` what `--priority` is by default. The process ends with the run: it
    ignores further signals.
    """
    argv = sys.argv if argv is None else argv
    try:
        arguments = _arguments(argv, priority)
        refusal = realtime.request_priority(arguments.priority, arguments.processor)
        asleep = None if arguments.may_sleep or not arguments.priority else realtime.keep_awake()
        choose_transport()
        stop = Stop()  # its thread has the priority that was granted
        started()
        if arguments.shared:
            stop.shared = realtime.kept_processor()
        with realtime.without_priority():  # while the threads of DDS are started
            with _readable():
                rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
            sys.setswitchinterval(realtime.SWITCH_INTERVAL)
            node = make_node(stop)
        realtime.prioritise_dds_threads()
        if refusal:
            node.get_logger().warning(refusal)
        if asleep:
            node.get_logger().info(asleep)
        return _spin(node, stop)
    except KeyboardInterrupt:
        return 0
    except SoftRobotError as error:
        rclpy.logging.get_logger('softrobot_dynamics').fatal(error.in_one_line())
        return 1
    finally:
        for number in _END_SIGNALS:  # Python, on its way out, would let them kill the process
            signal.signal(number, signal.SIG_IGN)
        rclpy.try_shutdown()


def _arguments(argv: Sequence[str] | None, priority: int) -> argparse.Namespace:
    """Return the options of a command line; those of ROS are left out."""
    parser = argparse.ArgumentParser(description=str(run.__doc__).partition('\n')[0])
    parser.add_argument(
        '--priority',
        type=int,
        default=priority,
        metavar='0..99',
        help=f'real-time priority (FIFO), 0 for none; default {priority}',
    )
    parser.add_argument(
        '--processor',
        type=_processor,
        metavar='N',
        help='processor to run on, if the priority is granted; own: the one that the fewest other'
        ' nodes use; first or second: that of the first or second of two nodes that run beside'
        ' each other; default: any',
    )
    parser.add_argument(
        '--shared',
        action='store_true',
        help='the controller runs on the same processor: the simulation moves to another one if'
        f' the time from a state to the next one is more than {MAX_CHAIN_LOAD:.0%} of a period',
    )
    parser.add_argument(
        '--may-sleep',
        action='store_true',
        help='let idle processors sleep, as they do with priority 0: saves power, costs latency',
    )
    with _readable():
        own = remove_ros_args(argv)[1:]
    return parser.parse_args(own)


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Raise a SoftRobotError for arguments or settings that ROS cannot read."""
    try:
        yield
    except RuntimeError as error:  # the types that rclpy has for them are not public
        words = ' '.join(str(error).split()).partition(', at /')[0]  # then lines of C follow
        found = _RCL_PARSE_ERROR.search(words)
        if found is None:
            reason = f'ROS does not start with these arguments and settings: {words}'
            raise SoftRobotError(reason) from error
        what, given, reason = found.groups()
        form = ', as NODE: {ros__parameters: {NAME: VALUE}}' if what == 'params file' else ''
        expected = f'a {what} that ROS can read{form} ({reason})'
        raise ArgumentError('--ros-args', given, expected) from error


def _processor(words: str) -> int | str | None:
    """Convert the processor of the command line to a number, OWN, or None for any."""
    if words == realtime.OWN_PROCESSOR:
        return words
    places = dict(zip(('first', 'second'), realtime.two_processors(), strict=True))
    if words in places:
        return places[words]
    if words.isdecimal() and realtime.may_use(int(words)):
        return int(words)
    usual = ', '.join([realtime.OWN_PROCESSOR, *places, *map(str, realtime.processors())])
    raise argparse.ArgumentTypeError(
        f'{words!r} is not a processor of this process, expected one of {usual}'
    )


def _spin(node: RunnableNode, stop: Stop) -> int:
    """Begin, spin and finish a node; return the exit status."""
    with served(node, node.parts) as executor:
        try:
            if not node.begin():
                return 0 if stop.requested.done() and not stop.failed else 1
            executor.spin_until_future_complete(stop.requested)
        except (KeyboardInterrupt, ExternalShutdownException):
            pass
        finally:
            node.finish()
    node.destroy_node()
    return int(stop.failed)


def disable_garbage_collection() -> None:
    """Exclude all existing objects from garbage collection, which would delay a loop."""
    gc.collect()
    gc.freeze()
