# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The driver: orders, law, safe command and limiter, one answer to a state."""

import numpy as np
import pytest
from softrobot_dynamics.controllers.settings import Settings
from softrobot_dynamics.loops.driver import Driver
from softrobot_dynamics.loops.orders import (
    HoldOrder,
    NO_ORDERS,
    OneTimeReference,
    Orders,
    TakenOrders,
)
from support.linear_plant import Command, Controller, Model, PRETENSION, safe

pytestmark = pytest.mark.quick

STILL, HIGH = np.zeros(2), np.array([6.0, 0.0])  # positions [m]; beyond 5 the law has no command
RATE = 100.0  # [N/s] of the settings; that of the robot is 1e4


class Pulling(Controller):
    """Pulls with 3 N; has no command beyond 5 m, and one that is no number beyond 7 m."""

    def compute(self, t, q, qd):
        """Return the Command for a state."""
        far = abs(q).max()
        u = np.full(2, 3.0 if far < 7.0 else np.nan)
        desired = np.array([self.reference, STILL, STILL])
        return Command(u, q, qd, desired, STILL, 0, not 5.0 < far < 7.0)


def driver(**options):
    """Return a driver whose law pulls, and its first orders."""
    limits = np.full(2, -10.0), np.full(2, 10.0), np.full(2, RATE)
    orders = Orders(Settings(*limits, feed_forward=STILL), np.ones(2))
    return Driver(
        Model(), Pulling(), safe(), orders, hold=lambda q, qd: q.copy(), **options
    ), orders


def answer(made, orders, q, t):
    """Return what is sent for a state at rest."""
    return made.answer(orders, t, q, STILL, 1e-3)[0].copy()


def test_a_law_begins_with_the_first_state_and_goes_on():
    """A law gets settings and reference once, then only what changes in the orders."""
    made, orders = driver()
    answer(made, orders, STILL, 0.0)
    assert made.law.calls == ['use', 'follow', 'start']
    assert made.taken_up == TakenOrders.BEGAN | TakenOrders.TUNED | TakenOrders.FOLLOWS
    answer(made, orders, STILL, 1e-3)
    assert made.law.calls == ['use', 'follow', 'start'] and made.taken_up == NO_ORDERS
    orders = orders._replace(settings=orders.settings.replace(rate=np.full(2, 2.0)))
    answer(made, orders, STILL, 2e-3)
    assert made.law.calls[3:] == ['use'] and made.taken_up == TakenOrders.TUNED
    answer(made, orders._replace(reference=np.zeros(2)), STILL, 3e-3)
    assert made.law.calls[4:] == ['follow'] and made.taken_up == TakenOrders.FOLLOWS


@pytest.mark.parametrize('far', [6.0, 8.0])
def test_without_a_command_that_is_valid_the_safe_one_is_chosen(far):
    """Without a valid command the safe one follows within rate limits; then the law restarts."""
    made, orders = driver()
    assert answer(made, orders, STILL, 0.0).tolist() == [3.0, 3.0] and made.running
    assert answer(made, orders, np.array([far, 0.0]), 1e-3).tolist() == [PRETENSION] * 2
    assert not made.running and made.in_safe_command
    made.law.calls.clear()
    found = answer(made, orders, STILL, 2e-3)
    assert made.law.calls == ['use', 'follow', 'start'] and made.running
    assert found == pytest.approx(PRETENSION + RATE * 1e-3)  # by the settings' limits of rates


def test_the_first_command_knows_no_last_one():
    """Rate limits apply from the second command on, as the first one knows no last."""
    made, orders = driver()
    assert made.last_command is None
    answer(made, orders, STILL, 0.0)
    assert made.last_command.tolist() == [3.0, 3.0]


def test_a_reference_that_is_given_once_is_held_after_a_new_begin():
    """A reference by message is followed until the law fails; then the outputs are held."""
    made, orders = driver()
    answer(made, orders, STILL, 0.0)
    led = orders._replace(reference=OneTimeReference(np.full(2, 2.0)))
    answer(made, led, STILL, 1e-3)
    assert made.law.reference.tolist() == [2.0, 2.0] and made.taken_up == TakenOrders.LED
    answer(made, led, HIGH, 2e-3)
    answer(made, led, np.ones(2), 3e-3)
    assert made.law.reference.tolist() == [1.0, 1.0]
    assert made.taken_up == TakenOrders.BEGAN | TakenOrders.TUNED | TakenOrders.HOLDS


def test_a_hold_order_holds_the_outputs_where_it_is_taken_up():
    """A hold order keeps the outputs of the state at which it is taken up."""
    made, orders = driver()
    answer(made, orders, STILL, 0.0)
    answer(made, orders._replace(reference=HoldOrder()), np.full(2, 0.5), 1e-3)
    assert made.law.reference.tolist() == [0.5, 0.5] and made.taken_up == TakenOrders.HOLDS


def test_the_safe_command_ages_in_the_unit_of_the_moments():
    """The age of the safe command counts from its beginning, until it is forgotten."""
    ages = []
    made, _ = driver(unit=1e-9)
    made._safe.at = lambda elapsed: ages.append(elapsed)
    assert made.begin_safe(None, 5_000_000_000)
    assert not made.begin_safe(STILL, 6_000_000_000)
    made.safe_command(7_500_000_000)
    made.safe_command(4_000_000_000)  # of a thread that took its time
    assert ages == pytest.approx([2.5, 0.0])
    made.forget_safe()
    assert not made.in_safe_command and made.begin_safe(STILL, 8_000_000_000)
