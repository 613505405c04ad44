# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters are declared with bounds, read by kind, and changed as a whole or not."""

from dataclasses import dataclass, FrozenInstanceError
import math
from pathlib import Path
import re

import numpy as np
import pytest

pytest.importorskip('rclpy')

import rclpy  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from softrobot_dynamics.configuration import declared_parameters  # noqa: E402
from softrobot_dynamics.configuration.law_settings import settings_of  # noqa: E402
from softrobot_dynamics.configuration.parameter_descriptions import ParameterSpec, ParameterTable  # noqa: E402
from softrobot_dynamics.controllers.contract import Controller, CONTROLLERS, Settings  # noqa: E402
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError  # noqa: E402
from softrobot_dynamics.nodes.ros_parameters import descriptor_of, NodeParameters  # noqa: E402
from softrobot_dynamics.schema.fields import choice, flag, integer, items, number, text, vector  # noqa: E402
from softrobot_dynamics.schema.parameters import parameter  # noqa: E402
from support.linear_plant import Controller as TwoMasses  # noqa: E402
from support.linear_plant import Model
from support.robots import compiled

pytestmark = pytest.mark.quick

ROWS = (
    *declared_parameters.controller_rows(),
    *declared_parameters.configured_rows(TwoMasses, Model()),
)
DEFAULTS = {row.name: row.default for row in ROWS}


class Node:
    """The part of a rclpy node that parameters need, without a graph."""

    def __init__(self, **overrides):
        self._parameter_overrides = {
            name.replace('__', '.'): Parameter(name, value=value)
            for name, value in overrides.items()
        }
        self.descriptors, self._kept, self._callback = {}, {}, None

    def declare_parameter(self, name, default, descriptor, ignore_override=False):
        """Keep the value: the override, or the default."""
        overrides = {} if ignore_override else self._parameter_overrides
        self._kept[name] = overrides.get(name, Parameter(name, value=default)).value
        self.descriptors[name] = descriptor

    def undeclare_parameter(self, name):
        """Forget it."""
        assert not self.descriptors.pop(name).read_only
        del self._kept[name]

    def has_parameter(self, name):
        """Tell whether it is declared."""
        return name in self._kept

    def get_parameter(self, name):
        """Return what is kept."""
        return Parameter(name, value=self._kept[name])

    def add_pre_set_parameters_callback(self, callback):
        """Remember who converts."""
        self._convert = callback

    def add_on_set_parameters_callback(self, callback):
        """Remember whom to ask."""
        self._callback = callback

    def convert(self, **values):
        """Return the values as they are to be kept."""
        return [
            p.value
            for p in self._convert(
                [Parameter(name.replace('__', '.'), value=value) for name, value in values.items()]
            )
        ]

    def set_atomically(self, **values):
        """Return the answer to a change."""
        return self._callback(
            self._convert(
                [Parameter(name.replace('__', '.'), value=value) for name, value in values.items()]
            )
        )


@pytest.fixture
def accepted():
    """Return (node, parameters, list of what was let through)."""
    node, seen = Node(), []
    parameters = NodeParameters(node, ROWS)
    parameters.on_change(lambda values, changed: seen.append((values, changed)))
    return node, parameters, seen


@pytest.mark.parametrize('row', [*ROWS, *declared_parameters.SIMULATION], ids=lambda row: row.name)
def test_every_row_is_sound(row):
    """A description, a default that the row itself allows, and a name that ROS allows."""
    value = row.read(row.default)
    assert value == row.default or (row.optional and math.isnan(value))
    assert len(row.description) > 5 and row.name == row.name.lower() or 'left' in row.name
    assert descriptor_of(row).description == row.description


def test_defaults_are_declared_and_kept(accepted):
    """Declared values are converted, and descriptors have bounds and read_only."""
    node, parameters, _ = accepted
    assert parameters.values['gains.p'] == 100.0
    assert math.isnan(parameters.values['gains.left.p'])
    (bounds,) = node.descriptors['gains.d'].floating_point_range
    assert (bounds.from_value, bounds.to_value) == (0.0, 1e5)
    assert node.descriptors['robot'].read_only and not node.descriptors['gains.p'].read_only
    assert not node.descriptors['gains.left.p'].floating_point_range  # it would refuse nan
    assert '<= 1e+06' in node.descriptors['gains.left.p'].additional_constraints


def test_a_whole_number_is_a_number(accepted):
    """`5` may be given for `5.0`, in lists too."""
    node, parameters, _ = accepted
    assert node.convert(gains__p=5) == [5.0] and isinstance(node.convert(gains__p=5)[0], float)
    assert node.set_atomically(gains__p=5, reference__setpoint=[1, 2]).successful
    assert parameters.values['gains.p'] == 5.0
    assert parameters.values['reference.setpoint'] == (1.0, 2.0)
    assert all(isinstance(x, float) for x in parameters.values['reference.setpoint'])


@pytest.mark.parametrize(
    'name, value, words',
    [
        ('gains.p', -1.0, 'gains.p: -1.0, expected a number >= 0 and <= 1e+06'),
        ('gains.p', 'much', 'expected a number'),
        ('gains.p', True, 'expected a number'),
        ('gains.p', math.nan, 'expected a number'),
        ('gains.p', None, 'expected a number'),
        ('gains.left.d', math.inf, 'or nan for not set'),
        ('gains.left.d', -3.0, 'gains.left.d: -3.0'),
        ('watchdog_periods', 1, 'watchdog_periods: 1, expected a whole number >= 2'),
        ('watchdog_periods', 3.0, 'whole number'),
        ('safe_command', 'limp', 'one of auto, zero, pretension, hold, gravity'),
        ('reference.circle.center', [0.0, 0.0], 'a list of 3 numbers'),
        ('reference.circle.center', [0.0, 0.0, math.nan], 'a list of 3 numbers'),
        ('reference.setpoint', ['a'], 'a list of numbers'),
        ('reference.setpoint', 1.0, 'a list of numbers'),
    ],
)
def test_a_wrong_value_is_refused_with_its_reason(accepted, name, value, words):
    """A wrong value is refused with name, value and what would be right."""
    node, parameters, seen = accepted
    before = parameters.values
    answer = node.set_atomically(gains__d=7.0, **{name: value})
    assert not answer.successful and words in answer.reason
    assert parameters.values is before and seen == []


def test_all_wrong_values_are_named(accepted):
    """One refusal names all that is wrong in a change of parameters."""
    node, _, _ = accepted
    answer = node.set_atomically(gains__p=-1.0, safe_ramp=-2.0)
    assert 'gains.p' in answer.reason and 'safe_ramp' in answer.reason


def test_a_change_is_accepted_once_with_all_values(accepted):
    """An accepted change has all values and the names that were set."""
    node, parameters, seen = accepted
    assert node.set_atomically(gains__p=1.0, gains__d=2.0).successful
    ((values, changed),) = seen
    assert changed == {'gains.p', 'gains.d'}
    assert (values['gains.p'], values['gains.d'], values['safe_ramp']) == (1.0, 2.0, 2.0)
    assert parameters.values == values


def test_a_change_that_its_user_refuses_is_undone():
    """The words of the refusal are the reason."""
    node = Node()
    parameters = NodeParameters(node, ROWS)

    def refuse(values, changed):
        raise ArgumentError('radius', 5.0, 'less')

    parameters.on_change(refuse)
    answer = node.set_atomically(gains__p=1.0)
    assert not answer.successful and 'radius' in answer.reason
    assert parameters.values['gains.p'] == 100.0


def test_parameters_of_others_pass(accepted):
    """Parameters that no table contains are accepted without a check."""
    node, _, seen = accepted
    assert node.set_atomically(use_sim_time=True).successful and seen == []


def test_given_values_are_checked_when_declared():
    """A parameter file is not trusted either, within a range of ROS's own or not."""
    for given in ({'gains__p': -1.0}, {'gains__left__p': -1.0}, {'gains__p': 'x'}):
        with pytest.raises(DescriptionError, match=next(iter(given)).replace('__', '.')):
            NodeParameters(Node(**given), ROWS)


def test_an_empty_list_of_a_parameter_file_is_an_empty_list(tmp_path):
    """`ros2 param dump` writes one as [], which ROS gives no type, and thus no value."""
    rows = [
        ParameterSpec('names', 'strings', ('a',), 'Some'),
        ParameterSpec('values', 'doubles', (1.0,), 'Some'),
        ParameterSpec('one', 'double', 1.0, 'One'),
    ]
    file = tmp_path / 'dumped.yaml'
    text = '/dumped:\n  ros__parameters: {names: [], values: [], one: 2.0}\n'
    file.write_text(text, encoding='utf-8')
    context = rclpy.context.Context()
    rclpy.init(context=context)
    arguments = ['--ros-args', '--params-file', str(file)]
    node = rclpy.create_node('dumped', context=context, cli_args=arguments)
    try:
        parameters = NodeParameters(node, rows)
        assert parameters.values == {'names': (), 'values': (), 'one': 2.0}
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def test_misspelt_parameters_are_found():
    """A misspelt parameter is reported with the name that was probably meant."""
    node = Node(
        gains__lefd__p=3.0, use_sim_time=True, gains__left__p=3,
        **{'qos_overrides./x.subscription.depth': 1},
    )  # fmt: skip
    (unknown,) = NodeParameters(node, ROWS).unknown()
    assert 'gains.lefd.p' in unknown and 'gains.left.p' in unknown


def test_rows_can_be_declared_later_and_only_once():
    """Rows can be declared later, as for actuators at each configure, but only once."""
    node = Node(extra=4)  # kept as a double, as it is declared
    parameters = NodeParameters(node, ROWS)
    for _ in range(2):
        parameters.declare([ParameterSpec('extra', 'double', 1.0, 'Something')])
    assert isinstance(node.get_parameter('extra').value, float)
    assert parameters.values['extra'] == 4.0 and parameters.values['gains.p'] == 100.0


def test_a_table_reads_only_what_it_is_given():
    """A table reads the given parameters and does not ask for others."""
    assert ParameterTable(ROWS).read({'gains.p': 3}) == {'gains.p': 3.0}


def test_an_actuators_own_value_overrides_the_common_one():
    """An actuator's own gain or limit overrides the common one and the robot file's limit."""
    values = {
        **DEFAULTS,
        'gains.p': 50.0,
        'gains.right.p': 70.0,
        'limits.lower': -4.0,
        'limits.left.lower': -2.0,
        'limits.right.rate': 9.0,
    }
    settings = settings_of(TwoMasses, Model(), None, values)
    assert settings.p.tolist() == [50.0, 70.0] and settings.d.tolist() == [20.0, 20.0]
    assert settings.lower.tolist() == [-2.0, -4.0] and settings.upper.tolist() == [10.0, 10.0]
    assert settings.rate.tolist() == [1e4, 9.0]


@pytest.mark.parametrize(
    'change, words',
    [
        ({'limits.upper': 11.0}, 'limits.upper: 11.0, expected a number <= 10'),
        ({'limits.left.lower': -11.0}, 'limits.left.lower: -11.0, expected a number >= -10'),
        ({'limits.rate': 1e5}, 'limits.rate'),
        ({'limits.lower': 3.0, 'limits.right.upper': 2.0}, 'limits.right.upper: 2.0'),
    ],
)
def test_limits_cannot_be_wider_than_the_robot_files(change, words):
    """Limits can neither cross nor be wider than those of the robot file."""
    with pytest.raises(DescriptionError) as caught:
        settings_of(TwoMasses, Model(), None, {**DEFAULTS, **change})
    assert words in str(caught.value)


def test_settings_are_arrays_of_their_own():
    """Settings do not change with the model's arrays."""
    model = Model()
    settings = settings_of(TwoMasses, model, None, DEFAULTS)
    assert not np.shares_memory(settings.lower, model.lower)


GUIDE = Path(__file__).parents[2] / 'docs' / 'parameters.md'


@pytest.mark.parametrize('name', CONTROLLERS.names())
def test_every_law_declares_sound_parameters(name):
    """Words, an allowed default, and a name of its own; docs/parameters.md lists our laws'."""
    law, model = CONTROLLERS.get(name), compiled('double_pendulum')
    rows = declared_parameters.configured_rows(law, model)
    for each in law.parameters():
        assert len(each.words) > 5 and not each.words.endswith('.')
        if law.__module__.startswith('softrobot_dynamics.'):
            assert f'`{each.path}`' in GUIDE.read_text(encoding='utf-8')
    settings = law.make_settings(model)
    assert settings.tuned_alike(settings_of(law, model, None, {r.name: r.default for r in rows}))


@dataclass(frozen=True)
class Told(Settings):
    """One parameter of each sort."""

    stiffness: np.ndarray = parameter(
        number('N/m', above=0.0, default=3.0), 'Stiffness', each='coordinate'
    )
    weight: np.ndarray = parameter(number('-', default=1.0), 'Weight', each='output', group='w')
    steps: int = parameter(integer(at_least=2, default=4), 'Number of steps')
    feeds: bool = parameter(flag(default=False), 'Whether it feeds forward')
    form: str = parameter(choice(('full', 'short'), default='full'), 'Form of the law')
    note: str = parameter(text(default=''), 'A remark', group='')
    axis: tuple = parameter(vector('-', 3, default=(0.0, 0.0, 1.0)), 'An axis')
    poles: tuple = parameter(items(number('1/s', below=0.0), default=()), 'Wanted poles')

    def validate(self):
        """Yield what does not fit together."""
        if self.form == 'short' and self.feeds:
            yield 'feeds', True, 'false in the short form'


class Law(Controller):
    """A law that does nothing but be told."""

    type_name, Settings = 'told', Told


LAW_ROWS = declared_parameters.configured_rows(Law, Model(), ['right'])
LAW_VALUES = {row.name: row.default for row in LAW_ROWS}


def test_names_and_kinds_follow_from_the_declaration():
    """Names have the law's or the group's prefix, for all actuators and for each one."""
    rows = {row.name: row for row in LAW_ROWS}
    assert {'told.stiffness', 'told.x.stiffness', 'told.y.stiffness'} <= set(rows)
    assert 'w.right.weight' in rows and 'w.left.weight' not in rows
    assert 'note' in rows and 'Stiffness, for x [N/m]' == rows['told.x.stiffness'].description
    kinds = [rows[f'told.{name}'].kind for name in ('steps', 'feeds', 'form', 'axis', 'poles')]
    assert kinds == ['integer', 'bool', 'string', 'doubles', 'doubles']
    assert descriptor_of(rows['told.steps']).integer_range[0].from_value == 2
    assert descriptor_of(rows['told.stiffness']).floating_point_range[0].from_value == 5e-324


def test_a_law_gets_its_own_settings():
    """A law gets one immutable settings object, with arrays in the order of their owners."""
    changed = {'told.y.stiffness': 5.0, 'told.steps': 7, 'w.weight': 2.0, 'told.poles': (-1.0,)}
    settings = settings_of(Law, Model(), ['right'], {**LAW_VALUES, **changed})
    assert type(settings) is Told and settings.steps == 7 and settings.poles == (-1.0,)
    assert settings.stiffness.tolist() == [3.0, 5.0] and settings.weight.tolist() == [2.0]
    assert (settings.feeds, settings.form, settings.note) == (False, 'full', '')
    assert settings.lower.tolist() == [-10.0, -10.0]
    with pytest.raises(FrozenInstanceError):
        settings.steps = 3
    with pytest.raises(ValueError, match='read-only'):
        settings.stiffness[0] = 1.0


@pytest.mark.parametrize(
    'change, words',
    [
        ({'told.stiffness': 0.0}, 'told.stiffness: 0.0, expected a number > 0 [N/m]'),
        ({'told.poles': (-1.0, 1.0)}, 'told.poles[1]: 1.0, expected a number < 0 [1/s]'),
        ({'told.steps': 1}, 'told.steps: 1, expected a whole number >= 2'),
        ({'told.form': 'short', 'told.feeds': True}, 'told.feeds: True, expected false'),
    ],
)
def test_a_setting_that_a_law_refuses_is_named(change, words):
    """A setting that a law refuses is named as the parameter, with what would be right."""
    with pytest.raises(DescriptionError) as caught:
        settings_of(Law, Model(), None, {**LAW_VALUES, **change})
    assert words in str(caught.value)


def test_settings_are_tuned_alike_whatever_the_limits():
    """Settings that differ in limits alone count as tuned alike, others not."""
    settings = Law.make_settings(Model())
    assert settings.tuned_alike(Law.make_settings(Model(), upper=3.0))
    for changed in ({'note': 'x'}, {'stiffness': [3.0, 3.5]}, {'poles': (-1.0,)}):
        assert not settings.tuned_alike(Law.make_settings(Model(), **changed))
    with pytest.raises(UnknownNameError, match='stiffness'):
        Law.make_settings(Model(), stifness=3.0)


def test_a_declaration_that_cannot_be_is_refused():
    """No default, a word for each actuator, the name of a limit, one that the node has."""
    with pytest.raises(ArgumentError, match='with a default'):
        parameter(number('m'), 'A length')
    with pytest.raises(ArgumentError, match='of a number'):
        parameter(text(default=''), 'Words', each='actuator')

    @dataclass(frozen=True, kw_only=True)
    class Taken(Settings):
        rate: float = parameter(number('Hz', default=1.0), 'A rate', group='')

    class Taking(Controller):
        type_name, Settings = 'taking', Taken

    with pytest.raises(ArgumentError, match='rate'):
        Taking.parameters()

    @dataclass(frozen=True, kw_only=True)
    class Double(Settings):
        record: str = parameter(text(default=''), 'A record', group='')

    class Doubling(Controller):
        type_name, Settings = 'doubling', Double

    with pytest.raises(ArgumentError, match='record'):
        declared_parameters.configured_rows(Doubling, Model())


@pytest.mark.parametrize('given, words', [
    ({'state_topics__arm__names': ['x']},
     "state_topics: 'arm.names', expected nothing below state_topics, which is a list of texts;"
     ' what belongs to its entries stands under states.NAME'),
    ({'command_topics__arm__actuators': ['left']}, 'entries stands under commands.NAME'),
    ({'gains__p__left': 1.0}, "gains.p: 'left', expected nothing below gains.p, which is a num"),
    ({'joint_names': ['a', 'b']}, r'joint_names: .*, expected a map, joint_names.NAME: TEXT'),
    ({'joint_names__shoulder': 'a'}, "joint_names: 'shoulder', expected a name of the robot$"),
    ({'joint_names__lefd': 'a'}, "joint_names: 'lefd', .*robot .did you mean left"),
])  # fmt: skip
def test_a_parameter_in_a_place_where_none_can_be_is_refused(given, words):
    """A parameter below the name of another one is refused with the place that is right."""
    parameters = NodeParameters(Node(**given), ROWS)
    with pytest.raises(DescriptionError) as caught:
        parameters.require_known('joint_names')
    (problem,) = caught.value.problems
    assert re.search(words, str(problem)) and len(str(problem)) < 300


@pytest.mark.parametrize('given, words', [
    ({'reference__circle__radios': 1.0},
     'reference.circle.radios (did you mean reference.circle.radius?)'),
    ({'limits__shoulder': 1.0}, 'limits.shoulder'),
    ({'gians__p': 1.0}, 'gians.p (did you mean gains.p?)'),
])  # fmt: skip
def test_a_parameter_that_is_unknown_is_named_with_close_matches_only(given, words):
    """A group that two names share makes them no more alike."""
    assert NodeParameters(Node(**given), ROWS).unknown() == [words]
