# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Unstable gains are refused, and unstable references and loops reported."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from softrobot_dynamics.controllers.contract import Settings
from softrobot_dynamics.errors import MessageError, UnstableLoopError, UnstableZeroDynamicsError
from softrobot_dynamics.loops.stability_check import StabilityCheck, zero_dynamics_warnings
from softrobot_dynamics.loops.watchdog import RUNNING, WAITING

pytestmark = pytest.mark.quick

PERIOD = 1e-3
PLANT = SimpleNamespace(
    growth=lambda q, u, settings, off=0.0: settings.p[0] * q[0] + 10.0 * off,
    model=SimpleNamespace(scales=SimpleNamespace(growth=0.1)),
)


@dataclass(frozen=True)
class Tuned(Settings):
    """Two parameters of a law."""

    p: np.ndarray
    d: np.ndarray


def settings(p, d=1.0):
    """Return what is asked of Settings."""
    return Tuned(*np.zeros((4, 1)), np.array([p]), np.array([d]))


def loop(p, q=1.0, mode=RUNNING, delay=0.0):
    """Return a loop at q that runs with a gain, on states with a delay, which adds to it."""
    place = np.array([q]), np.array([0.0])
    driver = SimpleNamespace(state_delay=delay)
    driver.with_state_delay = lambda own: own.replace(p=own.p + driver.state_delay)
    return SimpleNamespace(
        phase='',
        orders=SimpleNamespace(settings=settings(p)),
        mode=mode,
        place=lambda: place,
        driver=driver,
    )


def test_gains_that_let_errors_grow_are_refused():
    """Gains under which errors grow are refused in a running loop unless they reduce growth."""
    growth = StabilityCheck(PLANT, PERIOD)
    with pytest.raises(UnstableLoopError, match='1.00200'):
        growth.check(loop(1.0), settings(2.0))
    growth.check(loop(3.0), settings(2.0))
    growth.check(loop(2.0), settings(2.0))
    growth.check(loop(1.0, q=-1.0), settings(2.0))
    growth.check(None, settings(2.0))


@pytest.mark.parametrize('unknown', [0, 1, 2])
def test_the_worst_place_along_a_reference_is_reported(unknown):
    """The worst place of a reference is reported, also if other places have no answer."""
    places = [(np.array([q]), np.zeros(1)) for q in (0.5, 2.0)]
    places.insert(unknown, (np.array([np.nan]), np.zeros(1)))
    growth = StabilityCheck(PLANT, PERIOD)
    (words,) = growth.along(places, settings(1.0))
    assert words.startswith('along the reference') and '1.00200' in words
    assert growth.along(places, settings(-1.0)) == () == growth.along([], settings(1.0))


def watched(said):
    """Return a check that tells ``said``, and a list with the time [s] that it has."""
    time = [0.0]
    return StabilityCheck(PLANT, PERIOD, said.append, lambda: int(time[0] * 1e9)), time


def test_a_growth_counts_when_errors_would_have_grown_e_fold():
    """A running loop is warned of once per order, by a second look, and not while it waits."""
    said = []
    (growth, time), running = watched(said), loop(2.0)
    assert growth.monitor(loop(2.0, mode=WAITING)) == ''
    assert growth.monitor(running) == '' and growth.last == 2.0
    time[0] = 0.2  # with a model that is off, errors would grow e-fold in 0.25 s
    assert growth.monitor(running) == '' and not said
    time[0] = 0.3
    assert all('1.00200' in growth.monitor(running) for _ in range(3)) and len(said) == 1
    assert growth.monitor(loop(-3.0)) == '' and growth.last == -3.0 and len(said) == 1


def test_a_growth_that_is_over_when_it_would_count_is_not_reported():
    """A robot that passes a place where errors would grow makes no words."""
    said = []
    (growth, time), running = watched(said), loop(2.0)
    assert growth.monitor(running) == ''
    running.place = lambda: (np.array([-2.0]), np.array([0.0]))
    time[0] = 1.0
    assert growth.monitor(running) == '' and growth.last == -4.0
    time[0] = 9.0
    assert growth.monitor(running) == '' and not said


def test_a_loop_sensitive_to_model_errors_is_reported():
    """Growth with a model off by a fifth is reported once, with its time constant."""
    said = []
    (growth, time), running = watched(said), loop(-1.5)
    assert growth.monitor(running) == ''
    time[0] = 2.1
    assert all('20% off the model' in growth.monitor(running) for _ in range(3))
    assert growth.last == -1.5 and growth.last_of_changed_model == pytest.approx(0.5)
    assert len(said) == 1 and 'e-fold in 2 s' in said[0]


def inside(answer, q, allowed=False):
    """Return what is said of a plant that leaves q = 1, where a state, or a bad one, is there."""

    def read(message):
        if answer == 'bad':
            raise MessageError('bad')
        return np.array([q]), None

    model = SimpleNamespace(q0=np.zeros(1))
    plant = SimpleNamespace(
        model=model, unstable_zero_dynamics=lambda q: (2.0 + 1.0j,) if q[0] == 1.0 else ()
    )
    inbox = SimpleNamespace(wait=lambda timeout: answer)
    return zero_dynamics_warnings(plant, inbox, SimpleNamespace(read=read), allowed)


def test_an_unstable_order_is_refused_at_the_present_state():
    """An unstable order is refused at the present state, or the file's without a valid one."""
    with pytest.raises(UnstableZeroDynamicsError, match=r'rates of 2\+1i 1/s'):
        inside('a state', 1.0)
    assert 'allow_unstable' in inside('a state', 1.0, allowed=True)[0]
    assert inside('a state', 2.0) == inside('a state', np.nan) == ()
    assert inside(None, 1.0) == inside('bad', 1.0) == ()


def test_a_loop_is_judged_with_the_delay_of_its_states():
    """Settings are checked with the delay of the states, and again once the delay changes."""
    said = []
    (growth, time), running = watched(said), loop(-10.0, delay=1.0)
    growth.monitor(running)
    assert growth.last == -9.0 and not said
    running.driver.state_delay = 12.0
    growth.monitor(running)
    assert growth.last == 2.0 and not said
    time[0] = 10.0
    growth.monitor(running)
    assert growth.last == 2.0 and len(said) == 1
