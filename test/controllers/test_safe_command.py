# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The safe command suits each kind of actuator, within its limits, at any time."""

import numpy as np
import pytest
from softrobot_dynamics.controllers.safe_command import MODES, SafeCommand
from softrobot_dynamics.errors import UnknownNameError

pytestmark = pytest.mark.quick

LOWER, UPPER = np.array([0.0, 2.0, -50.0, -5.0]), np.array([40.0, 40.0, 50.0, 5.0])
WEIGHT = np.array([7.0, -20.0, 3.0])
A = np.array([[-0.1, 0.0, 1.0, 0.0], [0.0, -0.1, 0.0, 1.0], [-0.2, 0.1, 0.0, 0.0]])
Q = np.array([0.1, 0.2, 0.3])
LAST = np.array([11.0, 12.0, 13.0, 4.0])


def make(mode, pretension=1.0, ramp=2.0):
    """Return the safe command of two tendons and two joints, a robot of three coordinates."""
    safe = SafeCommand(
        ('pretension', 'pretension', 'gravity', 'gravity'),
        LOWER,
        UPPER,
        lambda q: WEIGHT * (q == Q),
        lambda q: A,
    )
    safe.choose(mode, pretension, ramp)
    return safe


@pytest.mark.parametrize(
    'mode, expected',
    [
        ('auto', [1.0, 2.0, 7.0, -5.0]),
        ('gravity', [1.0, 2.0, 7.0, -5.0]),
        ('pretension', [1.0, 2.0, 7.0, -5.0]),
        ('zero', [0.0, 2.0, 0.0, 0.0]),
        ('hold', [11.0, 12.0, 13.0, 4.0]),
        ('brake', [1.0, 2.0, 7.0, -5.0]),
    ],
)
def test_each_actuator_gets_what_suits_it(mode, expected):
    """Tendons stay taut, joints carry the weight, limits hold, and hold keeps all commands."""
    safe = make(mode)
    safe.begin(Q, LAST)
    assert safe.at(0.0) == pytest.approx(expected, abs=1e-12)


def test_gravity_fades_and_tension_stays():
    """The torque of a joint is led to zero within the ramp; a pretension stays."""
    safe = make('auto', pretension=3.0, ramp=2.0)
    safe.begin(Q, LAST)
    assert safe.at(1.0) == pytest.approx([3.0, 3.0, 3.5, -2.5])
    assert safe.at(2.0) == pytest.approx([3.0, 3.0, 0.0, 0.0])
    assert safe.at(1e9) == pytest.approx([3.0, 3.0, 0.0, 0.0])


def test_a_brake_carries_the_weight_for_ever():
    """The command `brake` carries the weight for ever, and takes momentum if rates are known."""
    safe = make('brake', ramp=2.0)
    safe.begin(Q, LAST)
    assert safe.at(1e9) == pytest.approx([1.0, 2.0, 7.0, -5.0])
    rest = safe.holding(Q, np.zeros(3), 1e9)
    assert rest == pytest.approx([1.0, 2.0, 7.0, -5.0])


def test_without_ramp_gravity_is_not_carried():
    """Without a ramp the safe command carries no gravity from its beginning on."""
    safe = make('gravity', ramp=0.0)
    safe.begin(Q, LAST)
    assert safe.at(0.0)[2:] == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize('mode', MODES)
def test_it_is_defined_before_any_state_or_command(mode):
    """The safe command exists without a state (no gravity torque) and without a command (zero)."""
    safe = make(mode)
    safe.begin(None, None)
    tendons = [0.0, 2.0] if mode in ('zero', 'hold') else [1.0, 2.0]
    assert safe.at(0.0) == pytest.approx([*tendons, 0.0, 0.0])


def test_holding_keeps_a_copy():
    """The command held does not change when the array it came in is used again."""
    safe, last = make('hold'), LAST.copy()
    safe.begin(Q, last)
    last[:] = np.nan
    assert safe.at(5.0) == pytest.approx(LAST)


def test_a_choice_counts_from_the_next_beginning():
    """Choosing a mode while a safe command is sent does not make it jump."""
    safe = make('zero')
    safe.begin(Q, LAST)
    safe.choose('pretension', 5.0, 1.0)
    assert safe.at(0.1)[0] == 0.0
    safe.begin(Q, LAST)
    assert safe.at(0.1)[0] == 5.0


def test_an_unknown_mode_is_named():
    """The error lists the modes there are."""
    with pytest.raises(UnknownNameError, match='pretension'):
        make('limp')


@pytest.mark.parametrize(
    'mode, expected',
    [
        ('auto', [2e4, 0.0]),
        ('pretension', [2e4, 0.0]),
        ('zero', [0.0, 0.0]),
        ('hold', [11.0, 12.0]),
        ('gravity', [7.0, -20.0]),
        ('brake', [2e4, 12.0]),  # valves keep their pressure
    ],
)
def test_an_actuator_may_name_a_number(mode, expected):
    """An actuator's own safe value has its unit; a pretension [N] is not applied to a valve."""
    limit = np.full(2, 1e5)
    safe = SafeCommand((2e4, 'zero'), -limit, limit, lambda q: WEIGHT[:2], lambda q: np.eye(2))
    safe.choose(mode, 1.0, 2.0)
    safe.begin(Q[:2], LAST[:2])
    assert safe.at(0.0) == pytest.approx(expected)
