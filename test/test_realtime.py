# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Priority is asked for politely, and sleeping ends at a moment, not after a while."""

import os
import threading

import pytest
from softrobot_dynamics.nodes import realtime


def in_a_thread(function):
    """Return what a function returns in a thread of its own, whose priority dies with it."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function()))
    thread.start()
    thread.join()
    return answers[0]


@pytest.mark.parametrize('nanosleep', [realtime._nanosleep, None], ids=['absolute', 'fallback'])
def test_sleep_ends_at_the_deadline_and_not_before(monkeypatch, nanosleep):
    """Also where the C library does not have what it takes."""
    monkeypatch.setattr(realtime, '_nanosleep', nanosleep)
    deadline = realtime.now() + 20_000_000
    realtime.sleep_until(deadline)
    assert realtime.now() >= deadline


def test_a_deadline_that_is_past_does_not_wait():
    """However long ago it was."""
    begin = realtime.now()
    for _ in range(100):
        realtime.sleep_until(begin - 10**18 if begin > 10**18 else 0)
    realtime.sleep_until(begin)
    assert realtime.now() - begin < 10**10


def test_no_priority_is_asked_for_by_zero():
    """And the scheduler stays what it was."""
    before = os.sched_getscheduler(0)
    assert in_a_thread(lambda: realtime.ask_for_priority(0)) is None
    assert os.sched_getscheduler(0) == before


def test_a_refused_priority_is_said_in_words(monkeypatch):
    """With what to do about it."""

    def refuse(*arguments):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    words = realtime.ask_for_priority(60)
    assert 'not permitted' in words and 'rtprio' in words


def test_patience_gives_the_priority_back():
    """Within, the thread is an ordinary one; afterwards it is what it was."""

    def try_it():
        if realtime.ask_for_priority(10) is not None:
            return None
        with realtime.patient():
            within = os.sched_getscheduler(0)
        return within, os.sched_getscheduler(0), os.sched_getparam(0).sched_priority

    answer = in_a_thread(try_it)
    if answer is None:
        pytest.skip('no right to real-time priority here')
    assert answer == (os.SCHED_OTHER, os.SCHED_FIFO, 10)


def test_processors_are_kept_awake_by_an_open_file(monkeypatch, tmp_path):
    """With a latency of zero, written once and held open; a refusal is said in words."""
    file = tmp_path / 'latency'
    monkeypatch.setattr(realtime, '_QUALITY_OF_SERVICE', str(file))
    monkeypatch.setattr(realtime, '_awake', None)
    assert realtime.keep_awake() is None
    assert file.read_bytes() == bytes(4) and not realtime._awake.closed
    realtime._awake.close()
    monkeypatch.setattr(realtime, '_QUALITY_OF_SERVICE', str(tmp_path / 'no' / 'latency'))
    monkeypatch.setattr(realtime, '_awake', None)
    assert 'sleep' in realtime.keep_awake()
