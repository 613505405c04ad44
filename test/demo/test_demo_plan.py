# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The plan of a demo: values of parameter files and flags; nothing is started."""

import pytest

pytest.importorskip('rclpy')

from softrobot_dynamics.demo.monitor import Ros  # noqa: E402
from softrobot_dynamics.demo.plan import draw_up, reference_of, robot_of  # noqa: E402
from softrobot_dynamics.description.robot import load_robot  # noqa: E402
from softrobot_dynamics.errors import ArgumentError  # noqa: E402
from softrobot_dynamics.evaluation.overload import CANDIDATE_RATES  # noqa: E402
from support.robots import compiled  # noqa: E402

FILE = """
/**:
  controller:
    ros__parameters: {rate: 250.0, robot: toy, record: mine.mcap, gians.p: 1.0, autostart: true}
  simulation:
    ros__parameters: {rate: 125.0, plant: ['stiffness=×1.1']}
"""


@pytest.fixture
def plan(tmp_path):
    """Return a function that draws up a plan at a rate, by a parameter file or none."""
    ros = Ros()

    def draw(rate, text=None, robot='double_pendulum', **options):
        file = tmp_path / 'mine.yaml'
        file.write_text(text or '', encoding='utf-8')
        return draw_up(ros.node, robot, text and str(file), rate, tmp_path, **options)

    yield draw
    ros.close()


def test_a_demo_runs_at_the_rate_of_its_parameter_file(plan):
    """Both nodes run at the rate of the file; overridden values are reported."""
    found = plan(None, FILE.replace('stiffness', 'mass'))
    assert found.controller['rate'] == found.simulation['rate'] == 250.0 and not found.any_rate
    said = '\n'.join(found.remarks)
    assert 'record: mine.mcap of the controller' in said and 'gians.p' in said
    assert 'rate: 125.0 of the simulation' in said and 'autostart' not in said
    assert found.simulation['plant'] == ('mass=×1.1',)


def test_the_rate_of_the_flag_overrides_the_file(plan):
    """A rate by flag overrides that of the file with a remark that has both."""
    found = plan(500.0, FILE.replace('stiffness', 'mass'))
    assert found.controller['rate'] == found.simulation['rate'] == 500.0
    assert 'rate: 250.0 in the parameter file is not used: --rate 500.0' in found.remarks[1]
    same = plan(250.0, FILE.replace('stiffness', 'mass'))
    assert not any('--rate' in words for words in same.remarks)


def test_without_a_given_rate_the_highest_is_planned(plan):
    """Without a given rate the plan has the highest one, and the shipped file no remark."""
    found = plan(None)
    assert (
        found.any_rate and found.controller['rate'] == CANDIDATE_RATES[0] and found.remarks == ()
    )


def test_the_robot_of_a_demo_is_that_of_the_flag_the_file_or_the_usual_one(tmp_path):
    """The robot is that of flag, file or default, in this order; a difference is reported."""
    file = tmp_path / 'mine.yaml'
    file.write_text(FILE, encoding='utf-8')
    assert robot_of(None, None) == ('pcc_arm', '')
    assert robot_of(None, str(file)) == ('toy', '') == robot_of('toy', str(file))
    robot, remark = robot_of('ur10e', str(file))
    assert robot == 'ur10e' and 'robot: toy in the parameter file' in remark


def test_commands_in_parts_of_a_demo_reach_the_robot(plan):
    """The simulated robot hears the parts that the parameter file gives the controller alone."""
    first, second = load_robot('double_pendulum').actuator_names
    parts = f'command_topics: [one, two], commands.one.actuators: [{first}], '
    parts += f'commands.two: {{actuators: [{second}], type: multi_array}}'
    found = plan(250.0, f'/**: {{controller: {{ros__parameters: {{{parts}}}}}}}')
    for name in ('command_topics', 'commands.one.actuators', 'commands.two.type'):
        assert found.simulation[name] == found.controller[name]
    assert found.simulation['commands.two.type'] == 'multi_array'
    assert not any('commands' in words for words in found.remarks)


LAB = """/**: {controller: {ros__parameters: {
  state_topics: [arm, rest], states.arm.topic: /lab/joint_states, states.arm.names: [NAME],
  command_topics: [all], commands.all: {actuators: ['*'], topic: ~/lab},
  joint_names.NAME: theirs}}}"""


def test_a_demo_keeps_the_topics_of_a_lab_in_its_own_namespace(plan):
    """Absolute topics become relative, and so do the controller's own: no demo moves a robot."""
    name = load_robot('double_pendulum').coordinate_names[0]
    found = plan(250.0, LAB.replace('NAME', name))
    for values in (found.controller, found.simulation):
        assert values['states.arm.topic'] == 'lab/joint_states'
        assert values['commands.all.topic'] == 'controller/lab'
        assert list(values['state_topics']) == ['arm', 'rest']
        assert values[f'joint_names.{name}'] == 'theirs'


def test_parts_of_states_that_are_estimated_are_refused(plan):
    """An estimator publishes whole states, which the refusal says."""
    text = '/**: {controller: {ros__parameters: {state_topics: [a]}}}'
    with pytest.raises(ArgumentError, match="state_topics: .*'a'.*none with --estimated"):
        plan(250.0, text, estimated='pcc_arm', robot='pcc_arm')


def test_the_reference_of_a_law_that_leads_a_tip_is_that_of_its_outputs(plan):
    """The reference of a demo has a column for each output, also if the law leads a tip."""
    text = """
/**:
  controller:
    ros__parameters:
      controller: task
      reference:
        type: circle
        circle: {body: tip, center: [0.9, 0.0, -1.2], normal: [0.0, -1.0, 0.0], radius: 0.1}
"""
    reference = reference_of(plan(250.0, text), compiled('double_pendulum'))
    assert reference.coefficients.shape[2] == 2
