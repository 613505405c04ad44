# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Serve one node by several threads, so that urgent callbacks do not wait for slow ones.

Each thread has an executor of its own for some callback groups of the node. A
MultiThreadedExecutor would do the same by waking two threads, and making its wait set anew three
times, for every event; and the main thread, the one that a signal can interrupt, would serve
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import contextlib
import threading
import traceback
from typing import Callable, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from softrobot_dynamics.nodes.messaging.inbox import Entity


class CallbackThread(NamedTuple):
    """A part of a node: the entities of one callback group, and the thread that serves them."""

    name: str
    group: CallbackGroup
    prepare: Callable[[], object]  # what the thread does first: take its priority


class PartExecutor(SingleThreadedExecutor):
    """Serves those entities of one node that `serves(callback group)` is true for."""

    def __init__(self, node: Node, serves: Callable[[CallbackGroup | None], bool]) -> None:
        super().__init__(context=node.context)
        self._served, self._serves = [node], serves
        self.others: list[PartExecutor] = []

    def get_nodes(self) -> list[Node]:
        """Return the one node; it need not be added, and another executor may have it too."""
        return self._served

    def can_execute(self, entity: Entity) -> bool:
        """Tell whether an entity is ours and free."""
        return self._serves(entity.callback_group) and super().can_execute(entity)

    def wake(self) -> None:
        """Wake this executor and `others` to look for ready callbacks."""
        super().wake()
        for other in self.others:
            other.wake()


class _Server:
    """A thread with an executor for one part of a node."""

    def __init__(self, node: Node, part: CallbackThread) -> None:
        self._logger, self._part = node.get_logger(), part
        self.executor = PartExecutor(node, lambda group: group is part.group)
        self._closed = Future()
        self._thread = threading.Thread(target=self._run, name=part.name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Serve the part until the end."""
        self._part.prepare()
        while not self._closed.done():
            try:
                self.executor.spin_until_future_complete(self._closed)
            except ExternalShutdownException:
                return
            except InvalidHandle:  # another thread gave back what was to be waited for
                continue
            except Exception:  # one request that fails is no reason to be deaf to the next
                self._logger.error(traceback.format_exc())

    def close(self) -> None:
        """End the thread, after the request that it is at."""
        self._closed.set_result(None)
        self._thread.join()
        self.executor.shutdown()


@contextlib.contextmanager
def served(node: Node, parts: Sequence[CallbackThread]) -> Iterator[PartExecutor]:
    """
    Within this context threads serve `parts` of a node; yield an executor for all the rest.

    That one is for the calling thread.
    """
    groups = {part.group for part in parts}
    executor = PartExecutor(node, lambda group: group not in groups)
    executor.add_node(node)  # whatever is made later wakes this one, and this one the others
    with contextlib.ExitStack() as stack:
        stack.callback(executor.shutdown)
        for part in parts:
            server = _Server(node, part)
            stack.callback(server.close)
            executor.others.append(server.executor)
        yield executor
