# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Choose the transport of Fast DDS: UDP instead of its shared memory.

A thread of Fast DDS that waits for shared memory evidently may miss that something has come, and
then sleeps until it looks by itself, a third of `healthy_check_timeout_ms`: 333 ms. That happens
when other participants come and go, as every `ros2` command does. Where processes of ROS keep to
their own machine (LOCALHOST), rmw_fastrtps itself adds shared memory to every participant,
whatever FASTDDS_BUILTIN_TRANSPORTS says; only a profile can do the same without.
"""

import os
from pathlib import Path

from rclpy.utilities import get_rmw_implementation_identifier

_TRANSPORT_VARIABLES = (
    'FASTDDS_BUILTIN_TRANSPORTS',
    'FASTDDS_DEFAULT_PROFILES_FILE',
    'FASTRTPS_DEFAULT_PROFILES_FILE',
    'ROS_STATIC_PEERS',  # they need the range that the profile would replace
)
_LOCALHOST_PROFILE = Path(__file__).with_name('localhost.xml')


def choose_transport() -> None:
    """
    Have Fast DDS use UDP, unless the user has chosen: it must be called before rclpy.init().

    In the environment, for this process and its children. What can be discovered stays the same.
    """
    if not get_rmw_implementation_identifier().startswith('rmw_fastrtps'):
        return
    if any(os.environ.get(name) for name in _TRANSPORT_VARIABLES):
        return
    if os.environ.get('ROS_LOCALHOST_ONLY') == '1':  # Humble's way, which no profile could keep
        return
    if os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'LOCALHOST':
        os.environ[_profiles_variable()] = str(_LOCALHOST_PROFILE)
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'SYSTEM_DEFAULT'  # that of the profile
    else:
        os.environ['FASTDDS_BUILTIN_TRANSPORTS'] = 'UDPv4'


def _profiles_variable() -> str:
    """Name the variable that the Fast DDS of this process reads; of the other one it warns."""
    maps = Path('/proc/self/maps')  # before version 3 the library was called fastrtps
    old = maps.exists() and 'libfastrtps.so' in maps.read_text()
    return 'FASTRTPS_DEFAULT_PROFILES_FILE' if old else 'FASTDDS_DEFAULT_PROFILES_FILE'
