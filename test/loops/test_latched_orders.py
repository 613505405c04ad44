# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orders given without a loop, or while a reference is planned, are not lost."""

import pytest

pytest.importorskip('rclpy')

from softrobot_dynamics.errors import CancelledError  # noqa: E402
from softrobot_dynamics.loops.latched_orders import LATCHED, LatchedOrders  # noqa: E402
from softrobot_dynamics.loops.orders import HoldOrder  # noqa: E402

pytestmark = pytest.mark.quick


class Loop:
    """Keeps what it was told."""

    def __init__(self):
        self.told = {}

    def order(self, **changes):
        """As ControlLoop.order."""
        self.told.update(changes)


@pytest.fixture
def engaged():
    """Return (LatchedOrders, the Loop that they are given to)."""
    orders, loop = LatchedOrders(), Loop()
    with orders.planning(activating=True):
        orders.engage(loop)
    return orders, loop


def test_an_emergency_stop_without_a_loop_is_given_to_the_next_one():
    """A stop without a loop holds for the next one, and cancels a planned reference."""
    orders, first, second = LatchedOrders(), Loop(), Loop()
    orders.stop(True)
    with orders.planning(activating=True):
        orders.engage(first)
    assert first.told == {'emergency': True}
    assert orders.disengage('deactivation') is first
    orders.stop(False)
    with orders.planning(activating=True) as job:
        orders.stop(True)
        with pytest.raises(CancelledError):
            job.check()
        orders.engage(second)
    assert second.told['emergency'] and isinstance(second.told['reference'], HoldOrder)


def test_a_hold_is_not_undone_by_the_reference_planned_before_it(engaged):
    """A hold cancels a reference planned before it, and new gains still apply."""
    orders, loop = engaged
    with orders.planning() as job:
        assert orders.hold() == ''
        with pytest.raises(CancelledError, match='by hold'):
            orders.change(reference='planned', settings='gains')
        assert job.cancelled_by == 'hold'
        orders.change(settings='gains')
    assert isinstance(loop.told['reference'], HoldOrder) and loop.told['settings'] == 'gains'
    with orders.planning():
        orders.change(reference='planned')
    assert loop.told['reference'] == 'planned'


def test_a_refused_hold_has_a_reason(engaged):
    """A hold is refused during an emergency stop, and where nothing can be held."""
    orders, _ = engaged
    orders.stop(True)
    assert orders.hold() == LATCHED
    orders.stop(False)
    assert orders.hold() == ''
    orders.disengage('deactivation')
    assert orders.hold() == 'not active'
    with orders.planning():  # of a parameter: nothing is about to move
        assert orders.hold() == 'not active'
    with orders.planning(activating=True):
        assert orders.hold() == ''


def test_after_the_close_nothing_is_begun(engaged):
    """After the close neither running nor new orders take effect."""
    orders, _ = engaged
    with orders.planning() as job:
        orders.close('a signal')
        assert job.cancelled_by == 'a signal'
    with orders.planning() as job:
        with pytest.raises(CancelledError, match='planning was cancelled by a signal'):
            job.run(print)
