# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Set up every test session: private kernel cache and ROS domain, and turns for tests in real time.

With `-n` several processes (workers) run tests in parallel. They share one folder of compiled
kernels, and each has a ROS domain that no other tests on this machine have. `-n auto` starts one
more than there are processors: one of them mostly waits, in tests in real time. Two marks say that
a test depends on time:

- `realtime`: it asks when nodes do something. It runs beside ordinary tests, which take processors
  that would else be idle, but not beside another of its kind. If it fails or is skipped there,
  that does not count: it is tried again alone.
- `alone`: it asks what this machine can do, as which rate it holds. It never runs beside others.

A test of node processes, which has the fixture `observer`, may run beside all others. If it fails
there, it is tried once again, alone: processes that share two processors with others may answer in
another order or late. The end of the session lists all tests that were tried again, with the
failure that was not counted: one that returns is a fault, of the test or of what it tests.

For a test that runs alone fixtures, which may compile, are set up in parallel with other tests,
and then the other workers wait between two of their tests, until all tests that follow each other
alone are done. If it fails, and
:mod:`support.witness` saw the machine stand still during the test, it raises MachineStoodStill and
is tried again, at most twice (pytest-rerunfailures counts a `rerun`). If it fails while the
machine ran, it fails at once.

`pytest -m quick` selects the tests for the inner loop, less than a minute with compiled kernels.
Mark a test `quick`, or a file of tests by `pytestmark = pytest.mark.quick`, if it takes tenths of
a second with its kernels in the cache. Such a test calls kernels through the public functions or
:mod:`support.kernel_calls`, needs no large robot, and seldom starts a process.

Set SOFTROBOT_CACHE_DIR to keep compiled kernels between sessions.
"""

import contextlib
import fcntl
import gc
import os
from pathlib import Path
import socket
import tempfile

import pytest
from softrobot_dynamics.compiling.garbage_collection import rarely_collected
from support.witness import TOO_LATE, Witness

_WORKER = os.environ.get('PYTEST_XDIST_WORKER', '')  # gw0, gw1, ...; '' for the first process
_WORKERS = int(os.environ.get('PYTEST_XDIST_WORKER_COUNT', '1'))
_DOMAINS = 101  # DDS domains whose ports no system gives away
_TURN = pytest.StashKey()  # of a test: the lock that says whether others run beside it
_PACE = pytest.StashKey()  # of a test: the lock that says whether others in real time do
_KEPT = []  # the lock of the test before, if none has run beside it, nor shall beside the next


def _private(name, value):
    os.environ.setdefault(name, value)


def _claim_domain(first):
    """Take the first DDS domain from this one on that no tests on this machine have."""
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for domain in ((first + k) % _DOMAINS for k in range(_DOMAINS)):
        with contextlib.suppress(OSError):
            # a name that one process at a time can have, and that ends with it
            mark.bind(f'\0softrobot_dynamics/test_domain/{domain}')
            mark.detach()
            break
    else:
        domain = first % _DOMAINS
    os.environ['ROS_DOMAIN_ID'] = str(domain)


if not _WORKER:  # the others find all of it in their environment
    _FOLDER = tempfile.TemporaryDirectory(prefix='softrobot_dynamics_test_')
    os.environ['SOFTROBOT_TEST_SESSION'] = _FOLDER.name
    _private('SOFTROBOT_CACHE_DIR', os.path.join(_FOLDER.name, 'kernels'))
    _private('ROS_LOG_DIR', os.path.join(_FOLDER.name, 'ros_log'))
    _claim_domain(int(os.environ.get('ROS_DOMAIN_ID', 1 + os.getpid() % (_DOMAINS - 1))))
    _private('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    _private('MPLBACKEND', 'Agg')
    _private('SOFTROBOT_COMPILERS', '1')  # workers share the processors already
else:
    _claim_domain(int(os.environ['ROS_DOMAIN_ID']) + 50 * int(_WORKER[2:]))


if 'OPENBLAS_NUM_THREADS' not in os.environ:
    os.environ['OPENBLAS_NUM_THREADS'] = '1'  # of a worker beside others a second only waits
    import scipy.linalg  # noqa: F401 (numpy and scipy each have a library that reads it, once)

    del os.environ['OPENBLAS_NUM_THREADS']  # the processes that tests start have theirs


def pytest_unconfigure(config):
    """Remove the session's folder at its end."""
    if not _WORKER:
        _FOLDER.cleanup()


class _Turn:
    """The lock of a test, and whether no other test runs meanwhile."""

    def __init__(self, file):
        self.file, self.alone = file, False


class MachineStoodStill(Exception):
    """A test that needs real time failed, and there was none."""


class RanBesideOthers(Exception):
    """A test that needs real time, or node processes, did not pass beside other tests."""


_AGAIN = [MachineStoodStill.__name__, RanBesideOthers.__name__]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return the number of workers of `-n auto`: tests in real time leave a processor idle."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for unused objects seldom while tests are collected, and never again among theirs."""
    with rarely_collected():
        collected = yield
    gc.freeze()
    return collected


def pytest_collection_modifyitems(config, items):
    """
    Put tests that need real time first, then files of quick tests, those that run alone last.

    Each worker begins with a part of the list, and takes from the ends of those of others once it
    has none. Tests in real time mostly wait, and one at a time: one worker begins with them, so
    that they are done when the others, which have ordinary tests to run, have used up the
    processors' time. What stands next to them is run last of all: short tests, of which each
    worker has some until the end.
    """
    alone = [item for item in items if _marked(item, 'alone')]
    timed = [item for item in items if _in_real_time(item)]
    others = [item for item in items if not _marked(item, 'alone', 'realtime')]
    slow = {item.path for item in others if not _marked(item, 'quick')}
    others.sort(key=lambda item: item.path in slow)  # as they were within both groups
    items[:] = [*timed, *others, *alone] if _WORKERS > 1 else [*others, *timed, *alone]
    if config.pluginmanager.hasplugin('rerunfailures'):
        for item in items:
            if _marked(item, 'alone', 'realtime') or _has_processes(item):
                reruns = 2 if _marked(item, 'alone') or _WORKERS == 1 else 3
                item.add_marker(pytest.mark.flaky(reruns=reruns, only_rerun=_AGAIN))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """Let a test run beside those of other workers; those that run alone, one after another."""
    turn = _KEPT.pop() if _KEPT else _Turn(open(_session_file('turn'), 'w'))
    with open(_session_file('pace'), 'w') as pace:  # given back when it is closed
        item.stash[_TURN], item.stash[_PACE] = turn, pace
        if not turn.alone:
            _wait_for(turn.file, fcntl.LOCK_SH)
        try:
            return (yield)
        finally:
            if turn.alone and nextitem is not None and _marked(nextitem, 'alone'):
                _KEPT.append(turn)
            else:
                turn.file.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Let a test that needs real time be alone from here on, or the only one of its kind."""
    yield
    if _beside_others(item):
        if _in_real_time(item):
            fcntl.flock(item.stash[_PACE], fcntl.LOCK_EX)
    elif _marked(item, 'alone', 'realtime') or _has_processes(item) and _WORKERS > 1:
        fcntl.flock(item.stash[_PACE], fcntl.LOCK_UN)  # who has this lock waits for no other
        turn = item.stash[_TURN]
        if not turn.alone:
            _wait_for(turn.file, fcntl.LOCK_EX)
            turn.alone = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Tell a failure of what is tested from one of the machine."""
    if not _marked(item, 'alone', 'realtime') and not _has_processes(item):
        return (yield)
    try:
        with Witness() as witness:
            return (yield)
    except (Exception, pytest.skip.Exception) as error:
        skipped = isinstance(error, pytest.skip.Exception)
        if _beside_others(item) and (_in_real_time(item) or not skipped):
            raise RanBesideOthers(repr(error)) from error
        if not skipped and witness.late > TOO_LATE:
            raise MachineStoodStill(f'for {1e3 * witness.late:.1f} ms') from error
        raise


def pytest_terminal_summary(terminalreporter):
    """List the tests that were tried again, each with the failure that was not counted."""
    again = terminalreporter.stats.get('rerun', [])
    if again:
        terminalreporter.section('tried again')
    for report in again:
        cause = getattr(report.longrepr, 'reprcrash', None)
        terminalreporter.write_line(
            f'{report.nodeid}: {cause.message if cause else report.longrepr}'
        )


def _beside_others(item):
    """Tell whether a test runs beside others and can be tried again alone: the first time."""
    dependent = _in_real_time(item) or _has_processes(item) and not _marked(item, 'alone')
    return dependent and _WORKERS > 1 and getattr(item, 'execution_count', 2) == 1


def _has_processes(item):
    return 'observer' in item.fixturenames


def _in_real_time(item):
    return _marked(item, 'realtime') and not _marked(item, 'alone')


def _marked(item, *names):
    return any(item.get_closest_marker(name) for name in names)


def _wait_for(lock, way):
    """Take a lock that all workers know, in turn: those who wait stand in a queue."""
    fcntl.flock(lock, fcntl.LOCK_UN)  # nobody waits for one who waits
    with open(_session_file('queue'), 'w') as queue:
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(lock, way)


def _session_file(name):
    return Path(os.environ['SOFTROBOT_TEST_SESSION'], name)
