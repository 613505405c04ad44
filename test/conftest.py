# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What holds for every test: a cache folder and a ROS domain of this session's own.

Set SOFTROBOT_CACHE_DIR to keep compiled kernels between sessions.
"""

import os
import tempfile

import pytest

_FOLDER = tempfile.TemporaryDirectory(prefix='softrobot_dynamics_test_')


def _private(name, value):
    os.environ.setdefault(name, value)


_private('SOFTROBOT_CACHE_DIR', os.path.join(_FOLDER.name, 'kernels'))
_private('ROS_LOG_DIR', os.path.join(_FOLDER.name, 'ros_log'))
_private('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
_private('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
_private('MPLBACKEND', 'Agg')


@pytest.fixture(scope='session', autouse=True)
def _session_folder():
    """Remove the session's folder at its end."""
    yield
    _FOLDER.cleanup()
