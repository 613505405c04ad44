# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What holds for every test: kernels and a ROS domain of this session's own, and who goes when.

With `-n` several processes (workers) test side by side. They share one folder of compiled kernels
and no ROS domain. A test marked `realtime` runs alone: the others wait between two tests of
theirs.

`pytest -m quick` is the inner loop, under a minute with compiled kernels at hand, and goes into
each package. A test becomes quick by the mark `quick`, a file of tests by `pytestmark =
pytest.mark.quick`: it should take tenths of a second with its kernels in the cache, hence call
kernels through the public calls or :mod:`kernel_calls`, need no large robot, and seldom a process.

Set SOFTROBOT_CACHE_DIR to keep compiled kernels between sessions.
"""

import contextlib
import fcntl
import os
from pathlib import Path
import tempfile

import pytest

_WORKER = os.environ.get('PYTEST_XDIST_WORKER', '')  # gw0, gw1, ...; '' for the first process
_DOMAINS = 101  # DDS domains whose ports no system gives away


def _private(name, value):
    os.environ.setdefault(name, value)


if not _WORKER:  # the others find all of it in their environment
    _FOLDER = tempfile.TemporaryDirectory(prefix='softrobot_dynamics_test_')
    os.environ['SOFTROBOT_TEST_SESSION'] = _FOLDER.name
    _private('SOFTROBOT_CACHE_DIR', os.path.join(_FOLDER.name, 'kernels'))
    _private('ROS_LOG_DIR', os.path.join(_FOLDER.name, 'ros_log'))
    _private('ROS_DOMAIN_ID', str(1 + os.getpid() % (_DOMAINS - 1)))
    _private('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    _private('MPLBACKEND', 'Agg')
else:
    _domain = int(os.environ['ROS_DOMAIN_ID']) + 50 * int(_WORKER[2:])
    os.environ['ROS_DOMAIN_ID'] = str(_domain % _DOMAINS)


def pytest_unconfigure(config):
    """Remove the session's folder at its end."""
    if not _WORKER:
        _FOLDER.cleanup()


def pytest_collection_modifyitems(items):
    """Put the tests that need real time last."""
    items.sort(key=_alone)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let a test run beside those of other workers, or alone if it is marked `realtime`."""
    with _locked('turn', fcntl.LOCK_EX if _alone(item) else fcntl.LOCK_SH):
        return (yield)


def _alone(item):
    return item.get_closest_marker('realtime') is not None


@contextlib.contextmanager
def _locked(name, way):
    """Hold a lock that all workers know; those who wait for it go first, in a queue."""
    folder = Path(os.environ['SOFTROBOT_TEST_SESSION'])
    with open(folder / name, 'w') as lock:
        with open(folder / 'queue', 'w') as queue:
            fcntl.flock(queue, fcntl.LOCK_EX)
            fcntl.flock(lock, way)
        yield
