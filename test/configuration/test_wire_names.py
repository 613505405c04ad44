# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Names of coordinates and actuators in the messages of others."""

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration.wire_names import wire_name_rows, wire_names
from softrobot_dynamics.errors import DescriptionError

pytestmark = pytest.mark.quick


def test_names_without_an_entry_are_own_names_with_the_prefix():
    """A name with an entry has that on the wire, the others have the prefix before their own."""
    values = {'joint_prefix': 'left_', 'joint_names.a': 'my_joint', 'joint_names.b': ''}
    assert wire_names(values, ['a', 'b', 'c']) == ('my_joint', 'left_b', 'left_c')
    assert wire_names(values, ['a', 'b'], 'right_') == ('my_joint', 'right_b')
    assert wire_names({}, ['a', 'b']) == ('a', 'b')


def test_two_names_that_become_the_same_are_refused():
    """An entry that is another's name is refused with both names."""
    with pytest.raises(DescriptionError, match='joint_names.b: .a.*: a has it already'):
        wire_names({'joint_names.b': 'a'}, ['a', 'b'])


def test_every_coordinate_and_actuator_has_one_row():
    """A robot's coordinates and actuators have one parameter each, a shared name has one too."""
    for name in ('pcc_arm', 'ur10e', 'hybrid_arm'):
        robot = sd.load_robot(name)
        names = [row.name for row in wire_name_rows(robot)]
        assert len(names) == len(set(names))
        own = {*robot.coordinate_names, *robot.actuator_names}
        assert set(names) == {f'joint_names.{x}' for x in own}
