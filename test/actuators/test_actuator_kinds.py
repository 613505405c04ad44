# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Every actuator kind declares its quantities, the units of its fields and a safe command."""

from dataclasses import fields

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.actuators.contract import ACTUATORS, Quantity
from softrobot_dynamics.actuators.joint import JointActuator
from softrobot_dynamics.controllers.safe_command import MODES
from softrobot_dynamics.joints.planar import Planar
from softrobot_dynamics.joints.prismatic import Prismatic
from softrobot_dynamics.joints.revolute import Revolute
from support.robots import compiled

JOINTS = {'': Revolute(), 'slide': Prismatic(), 'disc': Planar()}
POWERS = {('N', 'm'), ('N m', 'rad'), ('Pa', 'm^3')}


def units(kind, joints=JOINTS):
    """Return the units of u and y of an actuator."""
    return tuple(quantity.unit for quantity in kind.quantities(joints))


@pytest.mark.parametrize('name', ACTUATORS.names())
def test_every_kind_declares_what_it_is(name):
    """Every kind declares words and units of u and y, limits, rates and a safe command."""
    kind = ACTUATORS.get(name)
    blank = object.__new__(kind)  # what a kind declares does not depend on its numbers
    for field in fields(kind):
        object.__setattr__(blank, field.name, '')
    for quantity in blank.quantities(JOINTS):
        assert isinstance(quantity, Quantity) and quantity.name
    unit, known = units(blank)[0], {field.name: field.metadata for field in fields(kind)}
    assert unit in known['limits']['unit'] and f'{unit}/s' in known['rate_limit']['unit']
    assert kind.sign in (-1, 1)
    assert kind.safe in MODES[1:] or isinstance(kind.safe, float)


@pytest.mark.parametrize('name', ['pcc_arm', 'double_pendulum', 'soft_hand', 'hybrid_arm'])
def test_command_and_output_make_a_power(name):
    """For every actuator, command times rate of its coordinate has the unit of power."""
    model = compiled(name)
    pairs = [(u.unit, y.unit) for u, y in zip(model.commands, model.outputs)]
    assert len(pairs) == model.m and set(pairs) <= POWERS
    assert model.commands == model.description.commands


def test_quantities_follow_the_joints():
    """A joint actuator has the units of its coordinate: of sliding and of turning ones."""
    assert units(JointActuator('slide')) == ('N', 'm')
    assert units(JointActuator('disc', coordinate='x')) == ('N', 'm')
    assert units(JointActuator('disc', coordinate='angle')) == ('N m', 'rad')


def test_an_unknown_unit_is_not_guessed(monkeypatch):
    """A user's joint of unknown unit gives a force in joules per that unit."""
    monkeypatch.setattr(Revolute, 'unit', lambda self, coordinate: 'turns')
    assert units(JointActuator('')) == ('J/(turns)', 'turns')


def test_a_tendon_and_a_motor_have_their_own_units():
    """In a robot with tendons and motors each actuator has its own quantity and unit."""
    model = compiled('soft_hand')
    words = dict(zip(model.actuator_names, model.commands))
    assert words['wrist/rx'] == ('torque', 'N m') and words['index_close'] == ('tension', 'N')
    assert isinstance(sd.load_robot('soft_hand').outputs[0], Quantity)
