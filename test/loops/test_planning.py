# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A job in another process returns its function's result and can be cancelled."""

import math
import os
import threading
import time

import pytest
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.errors import CancelledError, SoftRobotError, UnknownNameError
from softrobot_dynamics.loops.planning import Job


def test_a_job_returns_what_its_function_does():
    """A job returns its function's result, with output meanwhile and arguments beyond a pipe."""
    numbers = [1.0] * 100_000
    assert Job().run(math.fsum, numbers) == 1e5
    assert Job().run(print, 'said') is None


def test_a_job_raises_what_its_function_does():
    """A job raises the package's errors with their data, and reports other failures."""
    with pytest.raises(UnknownNameError) as caught:
        Job().run(load_robot, 'nobody')
    assert caught.value.name == 'nobody'
    with pytest.raises(SoftRobotError, match='the planning process ended with 3'):
        Job().run(os._exit, 3)


def test_a_cancelled_job_ends_at_once():
    """A job cancelled under way or beforehand ends at once, with the first one's reason."""
    job, errors = Job(), []

    def run():
        try:
            job.run(time.sleep, 600.0)
        except CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    job.cancel('one')
    job.cancel('another')
    thread.join(60.0)
    assert [error.requested_by for error in errors] == ['one']
    with pytest.raises(CancelledError, match='planning was cancelled by one'):
        job.run(math.sqrt, 4.0)
