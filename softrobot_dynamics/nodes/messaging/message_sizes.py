# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Largest sizes of messages [bytes], checked before a message is read.

To turn bytes into Python objects is one call that holds the interpreter's lock: a millisecond for
5,000 short names, 40 ms for 1,000 points of a trajectory. Nothing else of the process runs
meanwhile, the watchdog and the emergency stop included.
"""

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseArray
from sensor_msgs.msg import JointState
from softrobot_dynamics.errors import MessageError
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

MAX_POINTS, MAX_NAMES = 5_000, 1_000  # of a trajectory
_STAMPED_SIZE = 2_048  # [bytes] of a header and some numbers
# [bytes] of an entry of a type that is not listed, as a user's own sensor may have
_ENTRY_SIZE = 256
_SIZES: dict[type, tuple[int, int]] = {  # whatever there is, and for each of our own entries
    JointState: (32 * 1024, 256),  # also joints of others, some hundred
    Float64MultiArray: (_STAMPED_SIZE, 16),
    PoseArray: (_STAMPED_SIZE, 56),
    JointTrajectory: (2 * 1024 * 1024, 256),
    DiagnosticArray: (64 * 1024, 0),  # of any node
}


def most_bytes(message_type: type, entries: int = 0) -> int:
    """Return the size of the largest message that is read, of so many entries of ours."""
    room, each = _SIZES.get(message_type, (_STAMPED_SIZE, _ENTRY_SIZE))
    return room + each * entries


def require_size(size: int, most: int) -> None:
    """Raise MessageError for a message of so many bytes where there are too many."""
    if size > most:
        raise MessageError(f'wrong size: a message of {size} bytes, expected at most {most}')
