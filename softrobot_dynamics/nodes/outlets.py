# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Where the loops' messages and words go: publishers and the log, behind a few plain calls."""

from rclpy.duration import Duration
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from softrobot_dynamics.nodes import messages
from softrobot_dynamics.nodes.codec import Encoder
from trajectory_msgs.msg import JointTrajectory

_ACKNOWLEDGED = Duration(seconds=0.5)
_THROTTLE = 1.0  # [s] between two logs from the same line
_TOPICS = {'joint_state': 'joint_commands', 'multi_array': '~/commands'}


#: How both loops read, from whatever publisher: an old message is not worth sending again, and
#: acknowledging each of them wakes the publisher's threads twice per tick.
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def quality_of(values):
    """Return the quality of service that the parameters ask for what is published."""
    reliable = values['reliability'] == 'reliable'
    return QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE) if reliable else NEWEST


class _Words:
    """What every loop has to say."""

    def __init__(self, node):
        self._node, self._logger = node, node.get_logger()
        self._publishers = []

    def entered(self, mode, before):
        """Say that the loop changed its mode."""
        self._logger.info(f'{mode} (before: {before})')

    def failed(self, what, error):
        """Say that something failed."""
        self._logger.error(f'{what}: {error!r}', throttle_duration_sec=_THROTTLE)

    def close(self):
        """Give the publishers back."""
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)


class ControlOutlet(_Words):
    """Where the control loop's commands, reports and words go."""

    def __init__(self, node, names, controlled, command_type, quality):
        super().__init__(node)
        self._commands = messages.COMMAND_WRITERS[command_type](names)
        self._encode = Encoder(self._commands.message).encode
        self._state = messages.StateWriter(names)
        self._reference = messages.ReferenceWriter(controlled)
        self._publishers = [
            node.create_publisher(self._commands.message_type, _TOPICS[command_type], quality),
            node.create_publisher(JointState, '~/controller_state', 1),
            node.create_publisher(JointTrajectory, '~/reference', 1),
        ]
        self._publish, self._publish_state, self._publish_reference = (
            publisher.publish for publisher in self._publishers
        )

    def command(self, u, stamp):
        """Send u (m,), with the stamp message of the state it answers, None for the present."""
        if stamp is None:
            stamp = self._node.get_clock().now().to_msg()
        self._commands.write(u, stamp)
        self._publish(self._encode())

    def report(self, stamp, command):
        """Publish what a Command says."""
        self._publish_state(self._state.write(command.y, command.velocity, stamp, command.u))
        self._publish_reference(self._reference.write(*command.desired, stamp))

    def flush(self):
        """Wait until readers have the last command, for a while."""
        self._publishers[0].wait_for_all_acked(_ACKNOWLEDGED)


class SimulationOutlet(_Words):
    """Where the simulation loop's states and words go."""

    def __init__(self, node, names, quality):
        super().__init__(node)
        self._state = messages.StateWriter(names)
        self._encode = Encoder(self._state.message).encode
        self._publishers = [node.create_publisher(JointState, 'joint_states', quality)]
        self._publish = self._publishers[0].publish

    def state(self, q, qd, stamp):
        """Publish the state (q, qd), each (n,), with a stamp [ns]."""
        self._state.write(q, qd, messages.stamped(stamp))
        self._publish(self._encode())

    def slipped(self, late):
        """Say that all deadlines have moved by `late` [ns]."""
        self._logger.warning(
            f'woke {late * 1e-6:.1f} ms late: the simulated time waited',
            throttle_duration_sec=_THROTTLE,
        )
