# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Set up every test session: private kernel cache and ROS domain, and turns for tests in real time.

With `-n` several processes (workers) run tests in parallel. They share one folder of compiled
kernels, and each has its own ROS domain. A test marked `realtime` runs alone: its fixtures, which
may compile, are set up in parallel with other tests, and then the other workers wait between two
of their tests. If such a test fails, and :mod:`support.witness` saw the machine stand still during
the test, it raises MachineStoodStill and is tried again, at most twice (pytest-rerunfailures
counts a `rerun`). A test that fails while the machine ran fails at once.

`pytest -m quick` selects the tests for the inner loop, less than a minute with compiled kernels.
Mark a test `quick`, or a file of tests by `pytestmark = pytest.mark.quick`, if it takes tenths of
a second with its kernels in the cache. Such a test calls kernels through the public functions or
:mod:`support.kernel_calls`, needs no large robot, and seldom starts a process.

Set SOFTROBOT_CACHE_DIR to keep compiled kernels between sessions.
"""

import fcntl
import os
from pathlib import Path
import tempfile

import pytest
from support.witness import TOO_LATE, Witness

_WORKER = os.environ.get('PYTEST_XDIST_WORKER', '')  # gw0, gw1, ...; '' for the first process
_DOMAINS = 101  # DDS domains whose ports no system gives away
_TURN = pytest.StashKey()  # of a test: the lock that says whether others run beside it


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
    _private('SOFTROBOT_COMPILERS', '1')  # workers share the processors already
else:
    _domain = int(os.environ['ROS_DOMAIN_ID']) + 50 * int(_WORKER[2:])
    os.environ['ROS_DOMAIN_ID'] = str(_domain % _DOMAINS)


if 'OPENBLAS_NUM_THREADS' not in os.environ:
    os.environ['OPENBLAS_NUM_THREADS'] = '1'  # of a worker beside others a second only waits
    import numpy  # noqa: F401 (reads it, once)

    del os.environ['OPENBLAS_NUM_THREADS']  # the processes that tests start have theirs


def pytest_unconfigure(config):
    """Remove the session's folder at its end."""
    if not _WORKER:
        _FOLDER.cleanup()


class MachineStoodStill(Exception):
    """A test that needs real time failed, and there was none."""


def pytest_collection_modifyitems(config, items):
    """Put the tests that need real time last, to be tried again where there was none."""
    items.sort(key=_alone)
    if config.pluginmanager.hasplugin('rerunfailures'):
        for item in filter(_alone, items):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=[MachineStoodStill.__name__]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let a test run beside those of other workers."""
    with open(_session_file('turn'), 'w') as lock:  # given back when it is closed
        item.stash[_TURN] = lock
        _wait_for(lock, fcntl.LOCK_SH)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Let a test marked `realtime` be alone from here on."""
    yield
    if _alone(item):
        _wait_for(item.stash[_TURN], fcntl.LOCK_EX)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Tell a failure of what is tested from one of the machine."""
    if not _alone(item):
        return (yield)
    try:
        with Witness() as witness:
            return (yield)
    except Exception as error:
        if witness.late > TOO_LATE:
            raise MachineStoodStill(f'for {1e3 * witness.late:.1f} ms') from error
        raise


def _alone(item):
    return item.get_closest_marker('realtime') is not None


def _wait_for(lock, way):
    """Take a lock that all workers know, in turn: those who wait stand in a queue."""
    fcntl.flock(lock, fcntl.LOCK_UN)  # nobody waits for one who waits
    with open(_session_file('queue'), 'w') as queue:
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(lock, way)


def _session_file(name):
    return Path(os.environ['SOFTROBOT_TEST_SESSION'], name)
