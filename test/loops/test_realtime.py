# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Priorities, processors and sleeping until a deadline."""

import contextlib
import ctypes
import os
from pathlib import Path
import queue
import threading

import pytest
from softrobot_dynamics.loops import realtime


@pytest.fixture(autouse=True)
def nothing_granted(monkeypatch):
    """Leave no priority to the tests that come: loops that they run, and nodes, would take it."""
    monkeypatch.setattr(realtime, '_priority', 0)
    monkeypatch.setattr(realtime, '_home', realtime.processors())


def in_a_thread(function):
    """Return what a function returns in a thread of its own, whose priority dies with it."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function()))
    thread.start()
    thread.join()
    return answers[0]


@pytest.mark.parametrize('nanosleep', [realtime._nanosleep, None], ids=['absolute', 'fallback'])
def test_sleep_ends_at_the_deadline_and_not_before(monkeypatch, nanosleep):
    """A sleep does not end before its deadline, also without support of the C library."""
    monkeypatch.setattr(realtime, '_nanosleep', nanosleep)
    deadline = realtime.now() + 20_000_000
    realtime.sleep_until(deadline)
    assert realtime.now() >= deadline


def test_a_deadline_that_is_past_does_not_wait():
    """A sleep until a past deadline returns at once."""
    begin = realtime.now()
    for _ in range(100):
        realtime.sleep_until(begin - 10**18 if begin > 10**18 else 0)
    realtime.sleep_until(begin)
    assert realtime.now() - begin < 10**10


def test_no_priority_is_asked_for_by_zero():
    """A priority of zero leaves the scheduler as it is."""
    before = os.sched_getscheduler(0)
    assert in_a_thread(lambda: realtime.request_priority(0)) is None
    assert os.sched_getscheduler(0) == before


def test_a_refused_priority_is_explained(monkeypatch):
    """A refused priority is reported with what to do about it."""

    def refuse(*arguments):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    words = realtime.request_priority(60)
    assert 'not permitted' in words and 'rtprio' in words


def test_patience_gives_the_priority_back():
    """Within `without_priority` the thread has ordinary priority, and afterwards its own again."""

    def try_it():
        if realtime.request_priority(10) is not None:
            return None
        with realtime.without_priority():
            within = os.sched_getscheduler(0)
        return within, os.sched_getscheduler(0), os.sched_getparam(0).sched_priority

    answer = in_a_thread(try_it)
    if answer is None:
        pytest.skip('no right to real-time priority here')
    assert answer == (os.SCHED_OTHER, os.SCHED_FIFO, 10)


needs_two = pytest.mark.skipif(len(realtime.processors()) < 2, reason='one processor only')


@needs_two
def test_patience_and_children_may_use_all_processors(monkeypatch):
    """With `without_priority` and in child processes all processors may be used."""
    monkeypatch.setattr(realtime, '_priority', 0)
    everywhere, processor = realtime.processors(), realtime.two_processors()[1]

    def try_it():
        if realtime.request_priority(10, processor) is not None:
            return None
        kept = realtime.processors()
        with realtime.without_priority():
            without_priority = realtime.processors()
        with realtime.on_all_processors():
            child = realtime.processors()
        return kept, without_priority, child, realtime.processors()

    answer = in_a_thread(try_it)
    if answer is None:
        pytest.skip('no right to real-time priority here')
    assert answer == ((processor,), everywhere, everywhere, (processor,))


@needs_two
def test_a_process_moves_the_threads_that_keep_to_a_processor(monkeypatch):
    """Threads bound to the former processor move, and threads that are not bound do not."""
    monkeypatch.setattr(realtime, '_priority', 0)
    monkeypatch.setattr(realtime, '_home', realtime.processors())
    everywhere, (first, second) = realtime.processors(), realtime.two_processors()

    def try_it():
        with named_thread('free') as free:
            if realtime.request_priority(10, first) is not None:
                return None
            assert realtime.kept_processor() == first
            with named_thread('kept') as kept, realtime.on_all_processors():
                realtime.move_to(second)
                moved = os.sched_getaffinity(kept), os.sched_getaffinity(free)
        return *moved, realtime.processors(), realtime.kept_processor()

    answer = in_a_thread(try_it)
    if answer is None:
        pytest.skip('no right to real-time priority here')
    assert answer == ({second}, set(everywhere), (second,), second)


@pytest.mark.parametrize('wrong', [5000, 10**12, -1])
def test_a_processor_that_is_not_there_may_not_be_used(wrong):
    """A processor that does not exist leaves the thread with those it had."""
    before = realtime.processors()
    assert not realtime.may_use(wrong) and realtime.processors() == before


@pytest.mark.skipif(not realtime.processors(), reason='the system does not say')
def test_a_processor_beyond_the_usual_ones_may_be_used():
    """A processor outside of the process's set, as an isolated one, may be used."""
    first, *others = realtime.processors()

    def try_it():
        os.sched_setaffinity(0, {first})
        return [realtime.may_use(other) for other in others], realtime.processors()

    assert in_a_thread(try_it) == ([True] * len(others), (first,))


def test_without_priority_no_processor_is_kept_to(monkeypatch):
    """Without priority a thread is not bound to a processor, which others may take for ms."""
    before = realtime.processors()
    assert in_a_thread(lambda: realtime.request_priority(0, 0) or realtime.processors()) == before


@contextlib.contextmanager
def named_thread(name):
    """Within this context a thread of this name waits; yield its id."""
    done, ids = threading.Event(), queue.Queue()

    def wait():
        ctypes.CDLL(None).prctl(15, name.encode())  # PR_SET_NAME, of the calling thread
        ids.put(threading.get_native_id())
        done.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield ids.get()
    finally:
        done.set()
        thread.join()


@pytest.mark.skipif(not Path('/proc/self/comm').exists(), reason='threads are read from /proc')
def test_the_loop_has_priority_over_other_threads(monkeypatch):
    """
    Other threads have one priority less than the loop; those of DDS have its own.

    Threads that make the robot safe come before all of them, but never a thread that spins: it
    would keep the holder of a lock from releasing it.
    """
    monkeypatch.setattr(realtime, '_priority', 0)
    program = Path('/proc/self/comm').read_text(encoding='utf-8').strip()
    names = ('dds.udp.7001', 'dds.asyn.0.1', program)

    def priority(thread=0):
        return os.sched_getparam(thread).sched_priority

    def try_it():
        with contextlib.ExitStack() as stack:
            threads = [stack.enter_context(named_thread(name)) for name in names]
            if realtime.request_priority(10) is not None:
                return None
            realtime.prioritise_dds_threads()
            loop = in_a_thread(lambda: realtime.apply_priority() or priority())
            safety = in_a_thread(lambda: realtime.apply_priority(realtime.SAFETY) or priority())
            return priority(), loop, safety, *map(priority, threads)

    answer = in_a_thread(try_it)
    if answer is None:
        pytest.skip('no right to real-time priority here')
    assert answer == (8, 9, 10, 9, 0, 0)


def test_without_priority_precedence_changes_nothing(monkeypatch):
    """Without a priority, `precedence` neither raises nor lowers any."""
    monkeypatch.setattr(realtime, '_priority', 0)
    before = os.sched_getscheduler(0)
    realtime.prioritise_dds_threads()
    realtime.apply_priority()
    assert os.sched_getscheduler(0) == before


@pytest.mark.parametrize(
    ('free', 'two'),
    [((), (None, None)), ((3,), (None, None)), ((0, 1), (0, 1)), ((0, 1, 2, 3), (1, 2))],
)
def test_two_nodes_get_a_processor_each(monkeypatch, free, two):
    """Two nodes get a processor each, and not the first one if there are more than two."""
    monkeypatch.setattr(realtime, 'processors', lambda: free)
    assert realtime.two_processors() == two


def test_nodes_take_the_least_used_processor(monkeypatch):
    """A node takes the processor with the fewest nodes, and the first one last."""
    monkeypatch.setattr(realtime, '_claims', [])
    base = 10**6 + 10 * os.getpid()  # that nobody else has
    monkeypatch.setattr(realtime, 'processors', lambda: (base, base + 1, base + 2))
    assert realtime.claim([base + 2]) in (base + 2, None)
    if not realtime._claims:
        pytest.skip('the system does not keep account of them')
    places = [realtime.own_processor() - base for _ in range(5)]
    assert places == [1, 0, 1, 2, 0]
    os.close(realtime._claims.pop(2))  # the second of those ends
    assert realtime.own_processor() == base
    for claim in realtime._claims:
        os.close(claim)


@pytest.mark.parametrize('free', [(), (3,)])
def test_one_processor_is_not_shared_out(monkeypatch, free):
    """With one processor, or an unknown number, none is assigned."""
    monkeypatch.setattr(realtime, 'processors', lambda: free)
    assert realtime.own_processor() is None


def test_processors_are_kept_awake_by_an_open_file(monkeypatch, tmp_path):
    """A latency of zero is written once to a file that stays open; a refusal is reported."""
    file = tmp_path / 'latency'
    monkeypatch.setattr(realtime, '_LATENCY_DEVICE', str(file))
    monkeypatch.setattr(realtime, '_awake', None)
    assert realtime.keep_awake() is None
    assert file.read_bytes() == bytes(4) and not realtime._awake.closed
    realtime._awake.close()
    monkeypatch.setattr(realtime, '_LATENCY_DEVICE', str(tmp_path / 'no' / 'latency'))
    monkeypatch.setattr(realtime, '_awake', None)
    assert 'sleep' in realtime.keep_awake()
