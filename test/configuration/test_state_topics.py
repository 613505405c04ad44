# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parts of the states by parameters."""

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.configuration.state_topics import (
    require_one_clock,
    state_parts,
    state_rows,
)
from softrobot_dynamics.errors import ArgumentError, DescriptionError

pytestmark = pytest.mark.quick

COORDINATES = 'shoulder', 'elbow', 'soft/bend', 'soft/stretch'


def values(parts=('arm', 'soft'), **given):
    """Return parameters with the defaults of the parts and others, `__` standing for a dot."""
    found = {'state_topics': parts}
    found |= {row.name: row.default for row in state_rows(found)}
    return found | {name.replace('__', '.'): value for name, value in given.items()}


def test_without_parts_there_is_one_topic():
    """By default all coordinates come on joint_states, under their names on the wire."""
    (part,) = state_parts({'joint_prefix': 'left_'}, COORDINATES)
    assert (part.name, part.topic, part.indices) == ('', 'joint_states', (0, 1, 2, 3))
    assert part.names[2] == 'left_soft/bend'


def test_parts_have_patterns_prefixes_and_the_rest():
    """A part has what its patterns match; one without names has what is left."""
    given = values(
        states__soft__names=('soft/*',), states__soft__prefix='cam_', states__arm__topic='/ur/js',
        states__soft__rate=60.0, states__soft__velocities=False, joint_names__elbow='j2',
    )  # fmt: skip
    given['joint_names.elbow'] = 'j2'
    arm, soft = state_parts(given, COORDINATES)
    assert arm[1:4] == ('/ur/js', (0, 1), ('shoulder', 'j2')) and arm.velocities
    assert soft[1:4] == ('soft/joint_states', (2, 3), ('cam_soft/bend', 'cam_soft/stretch'))
    assert (soft.rate, soft.velocities) == (60.0, False)


@pytest.mark.parametrize('given, words', [
    ({}, 'states.soft.names: .*arm has none either'),
    ({'states__arm__names': ('shoulder',), 'states__soft__names': ('soft/*',)},
     'state_topics: .*none has elbow'),
    ({'states__soft__names': ('softt/*',)}, r"states.soft.names: 'softt/\*', expected coord"),
    ({'states__arm__names': ('*',), 'states__soft__names': ('soft/*',)},
     'states.soft.names: .*arm has soft/bend'),
    ({'states__soft__names': ('*',)}, 'states.arm.names: .*fewer names'),
    ({'states__soft__names': ('soft/*',), 'states__soft__topic': 'arm/joint_states'},
     'states.soft.topic: .*arm has this one'),
    ({'states__soft__names': ('soft/*',), 'states__tick': 'sofd'},
     'states.tick: .*did you mean soft'),
])  # fmt: skip
def test_parts_that_are_ambiguous_are_refused(given, words):
    """Coordinates in no part or in two, unknown names and one topic for two are refused."""
    with pytest.raises(DescriptionError, match=words):
        state_parts(values(**given), COORDINATES)


@pytest.mark.parametrize('names', [('a', 'a'), ('a b',), ('tick',), ('a__b',)])
def test_parts_without_a_good_name_are_refused(names):
    """Names of parts are different words, none of which is a parameter."""
    with pytest.raises(DescriptionError, match='state_topics'):
        state_rows({'state_topics': names})


def test_a_parameter_file_may_have_parts(tmp_path):
    """A controller's file has the parameters of the parts it names."""
    file = tmp_path / 'controller.yaml'
    file.write_text(
        '/**: {controller: {ros__parameters: {state_topics: [arm, soft],'
        ' states: {tick: soft, soft: {names: ["segment2*"]}}, joint_names: {t1: m1}}}}',
        encoding='utf-8',
    )
    robot = sd.load_robot('pcc_arm')
    found, unknown = controller_values(robot, [file])
    assert unknown == () and found['states.tick'] == 'soft'
    assert found['states.shared_clock'] is False
    arm, soft = state_parts(found, robot.coordinate_names)
    assert {*arm.indices, *soft.indices} == set(range(robot.n)) and soft.indices


@pytest.mark.parametrize('pace', [0.0, 0.5, 2.0])
def test_parts_without_real_time_need_one_clock(pace):
    """At another pace than real time's, parts with clocks of their own are refused, in words."""
    two = {'state_topics': ('arm', 'soft'), 'states.shared_clock': False}
    with pytest.raises(ArgumentError, match='states.shared_clock: true'):
        require_one_clock(two | {'real_time_factor': pace})
    require_one_clock(two | {'real_time_factor': 1.0})
    require_one_clock(two | {'real_time_factor': pace, 'states.shared_clock': True})
    require_one_clock({'state_topics': ('all',), 'real_time_factor': pace})
    require_one_clock({'real_time_factor': pace})
