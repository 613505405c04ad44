# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parts of commands by parameters: which actuators, on which topic, in which unit."""

from math import pi

import pytest
from softrobot_dynamics.actuators.contract import Quantity
from softrobot_dynamics.configuration.command_parts import command_parts, command_rows
from softrobot_dynamics.configuration.declared_parameters import controller_rows
from softrobot_dynamics.configuration.parameter_descriptions import ParameterTable
from softrobot_dynamics.errors import DescriptionError
from support.linear_plant import Description, Model

pytestmark = pytest.mark.quick

ROBOT = Model(
    description=Description(wire_fields=('effort', 'position', 'effort', 'velocity', 'effort')),
    m=5,
    actuator_names=('shoulder', 'elbow', 't1', 'spool', 'p'),
    commands=(
        Quantity('torque', 'N m'),
        Quantity('torque', 'N m'),
        Quantity('tension', 'N'),
        Quantity('torque', 'N m'),
        Quantity('pressure', 'Pa'),
    ),
    outputs=(
        Quantity('angle', 'rad'),
        Quantity('angle', 'rad'),
        Quantity('elongation', 'm'),
        Quantity('angle', 'rad'),
        Quantity('volume', 'm^3'),
    ),
)
PARTS = {
    'commands.arm.actuators': ['shoulder', 'elbow'],
    'commands.soft.actuators': ['t*', 'spool', 'p'],
}


def parts_of(**changes):
    """Return the parts of the robot's commands, of parameters with changes."""
    given = {'command_topics': ['arm', 'soft'], **PARTS}
    given |= {name.replace('__', '.'): value for name, value in changes.items()}
    values = {row.name: row.default for row in controller_rows()}
    values |= ParameterTable(controller_rows()).read(
        {name: value for name, value in given.items() if name in values}
    )
    rows = command_rows(values)
    values |= {row.name: row.default for row in rows}
    own = {row.name for row in rows}
    values |= ParameterTable(rows).read({x: y for x, y in given.items() if x in own})
    return command_parts(ROBOT, values)


def test_without_parts_there_is_one_of_all_actuators():
    """Without `command_topics` one part without a name has all actuators in SI units."""
    (part,) = parts_of(command_topics=[], command_type='multi_array')
    assert part.name == part.topic == '' and part.type == 'multi_array'
    assert part.indices == (0, 1, 2, 3, 4) and part.names == ROBOT.actuator_names
    assert part.sizes == (1.0,) * 5 and part.fields == ROBOT.description.wire_fields


def test_each_part_has_its_actuators_topic_and_fields():
    """Names and patterns choose actuators in the order given; types have topics by default."""
    arm, soft = parts_of(
        commands__soft__actuators=['p', 't*', 'spool'],
        commands__soft__type='multi_array',
        commands__arm__field='velocity',
    )
    assert (arm.name, arm.topic, arm.indices) == ('arm', 'arm/joint_commands', (0, 1))
    assert arm.fields == ('velocity', 'velocity')
    assert (soft.name, soft.topic, soft.indices) == ('soft', 'soft/commands', (4, 2, 3))
    arm, soft = parts_of(
        commands__arm__type='joint_trajectory', commands__soft__topic='/lab/valves', rate=250.0
    )
    assert (arm.topic, arm.horizon, soft.topic) == ('arm/joint_trajectory', 0.004, '/lab/valves')
    assert arm.fields == ('effort', 'position')  # as the actuators say
    assert parts_of(commands__arm__horizon=0.1)[0].horizon == 0.1


def test_names_in_messages_have_the_prefix_of_their_part():
    """A part's prefix goes before the names, instead of that of all; an entry goes before both."""
    arm, soft = parts_of(commands__arm__prefix='left_', joint_prefix='lab_')
    assert arm.names == ('left_shoulder', 'left_elbow')
    assert soft.names == ('lab_t1', 'lab_spool', 'lab_p')


@pytest.mark.parametrize(
    'actuators, unit, sizes',
    [
        (['p'], 'kPa', (1e3,)),
        (['p'], 'mbar', (1e2,)),
        (['p'], 'bar', (1e5,)),
        (['t1'], 'mN', (1e-3,)),
        (['spool'], 'deg/s', (pi / 180.0,)),
        (['elbow'], 'deg', (pi / 180.0,)),
        (['shoulder'], 'mN m', (1e-3,)),
        (['p'], '', (1.0,)),
    ],
)
def test_a_unit_that_fits_is_taken(actuators, unit, sizes):
    """A part in another unit of what its drives take knows the unit's size in SI units."""
    others = [name for name in ROBOT.actuator_names if name not in actuators]
    _, part = parts_of(
        commands__arm__actuators=others,
        commands__soft__actuators=actuators,
        commands__soft__unit=unit,
    )
    assert part.sizes == pytest.approx(sizes, rel=1e-15)


@pytest.mark.parametrize(
    'changes, words',
    [
        (
            {'commands.soft.actuators': ['t*', 'q']},
            ['commands.soft.actuators', "'q'", 'none has spool, p'],
        ),
        ({'commands.soft.actuators': ['t1', 'elbo', 'p']}, ['did you mean elbow', 'has spool']),
        ({'commands.soft.actuators': ['*']}, ['arm has shoulder, elbow']),
        ({'commands.soft.actuators': []}, ['commands.soft.actuators', 'none has t1, spool, p']),
        ({'commands.soft.unit': 'kPa'}, ["commands.soft.unit: 'kPa'", 'one of N, mN, kN for t1']),
        ({'commands.arm.unit': 'deg'}, ['one of N m, mN m for shoulder']),
        ({'commands.arm.type': 'floats'}, ['commands.arm.type', 'joint_trajectory']),
        ({'commands.arm.field': 'torque'}, ['commands.arm.field', 'effort, position, velocity']),
        ({'commands.soft.topic': 'arm/joint_commands'}, ['commands.soft.topic', 'arm has this']),
        ({'commands.soft.topic': 'no topic'}, ['commands.soft.topic', 'letters']),
        ({'command_topics': ['arm', 'arm']}, ['command_topics', 'different names']),
        ({'command_topics': ['arm', 'so ft']}, ["'so ft'", 'letters']),
        ({'command_type': 'multi_array'}, ['command_type', 'commands.arm.type']),
    ],
)
def test_wrong_parts_are_refused_with_names(changes, words):
    """An actuator unknown, twice or in no part, or a wrong unit or name, is refused in words."""
    with pytest.raises(DescriptionError) as caught:
        parts_of(**{name.replace('.', '__'): value for name, value in changes.items()})
    for each in words:
        assert each in str(caught.value)
