# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lifecycle transitions of a node."""

from collections.abc import Callable
import traceback

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.nodes.ros_parameters import NodeParameters, refusal_of

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class LifecycleNode(LifecycleNodeMixin, Node):
    """
    A node whose transitions are four steps of its class; one that fails says why in the log.

    `_configure` loads, `_activate` starts the loop, `_end_loop` ends it, `_release` gives back
    what the first one made; the last two also where there is nothing to do. The services of the
    transitions have a callback group of their own. Its class has ``options``.
    """

    options: NodeParameters

    def __init__(self, name: str) -> None:
        Node.__init__(self, name)
        LifecycleNodeMixin.__init__(self, callback_group=MutuallyExclusiveCallbackGroup())

    def begin(self) -> bool:
        """Configure and activate if `autostart` says so; return whether that went well."""
        if not self.options.values['autostart']:
            return True
        return self.trigger_configure() == SUCCESS and self.trigger_activate() == SUCCESS

    def finish(self) -> None:
        """Leave the robot with the safe command, and the record complete."""
        self._attempt(self._end_loop)
        self._attempt(self._release)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load, compile and warm everything."""
        return self._attempt(self._configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Prepare the reference and start the loop, which begins with the first valid state."""
        return self._attempt(self._activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the loop with a last safe command; complete the record."""
        return self._attempt(self._end_loop)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Release the resources of configure."""
        return self._attempt(self._release)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate and clean up."""
        return self._attempt(self.finish)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Go back to unconfigured."""
        return self._attempt(self.finish)

    def _attempt(self, action: Callable[[], object]) -> TransitionCallbackReturn:
        """Return SUCCESS, or FAILURE with the reason in the log: rclpy would keep it to itself."""
        try:
            action()
        except SoftRobotError as error:
            self.get_logger().error(refusal_of(error, ''))
            return FAILURE
        except Exception:
            self.get_logger().error(traceback.format_exc())
            return FAILURE
        return SUCCESS

    def _configure(self) -> None:
        raise NotImplementedError

    def _activate(self) -> None:
        raise NotImplementedError

    def _end_loop(self) -> None:
        raise NotImplementedError

    def _release(self) -> None:
        raise NotImplementedError
