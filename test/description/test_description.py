# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Every wrong entry of a description is reported: where, what, and what would be right."""

import copy
import dataclasses
import math
import pickle
import re

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError, MISSING
from softrobot_dynamics.schema.parsing import entry
from softrobot_dynamics.schema.yaml_files import read_yaml

pytestmark = pytest.mark.quick

TEXT = """
name: soft_arm
gravity: [0.0, 0.0, 9.81]
base: {xyz: [0, 0, 0], rpy: [3.14159265, 0, 0]}
bodies:
  - name: shoulder
    joint: {name: pan, type: revolute, dh: [1.5708, 0.1, 0.2, 0.3],
            stiffness: 1, limits: {position: [-3, 3], effort: 50}}
    body:  {type: rigid, mass: 1.3, com: [0.02, -0.01, 0.03],
            inertia: {ixx: 0.01, iyy: 0.012, izz: 0.008, ixy: 0.001, ixz: -0.002, iyz: 0.0005},
            tip: {xyz: [0, 0, 0], rpy: [0, 0, 0]}}
  - name: segment1
    joint: {type: fixed, origin: {xyz: [0, 0, 0.1]}}
    body:  {type: pcc, length: 0.25, radius: [0.03, 0.025], density: 1062.0, young_modulus: 6.66e5,
            poisson_ratio: 0.5, damping: 0.1, section_inertia: true, quadrature: 10}
  - name: segment2
    joint: {type: prismatic, axis: [0, 0, 2]}
    body:  {type: planar_cc, length: 0.2, radius: 1e-2, density: 1000, young_modulus: 1e6}
  - name: thumb
    parent: segment1
    joint: {type: fixed}
    body:  {type: pcc, length: 0.1, radius: 0.01, density: 1000, young_modulus: 1.0e+6}
actuators:
  - {name: t1, type: tendon, limits: [0.0, 40.0], rate_limit: 400.0,
     path: [{body: shoulder, points: [[0, 0, 0], [0.01, 0, 0]]},
            {body: segment1, offset: [0.02, 0.0]},
            {body: thumb, offset: {x: [0.01, -0.002], y: [0.0, 1e-3]}, span: [0, 0.5]}]}
  - {name: t2, type: tendon,
     path: [{body: segment1, offset: {radius: 0.02, phase: 1, turns: 0.5}}]}
  - {name: m1, type: joint, joint: pan, limits: [-330.0, 330.0]}
initial: {pan: 0.3, segment1/bend_x: 0.1}
"""


@pytest.fixture
def good(tmp_path):
    """Return a dict of the robot above, to be spoiled."""
    path = tmp_path / 'good.yaml'
    path.write_text(TEXT)
    return read_yaml(path)[0]


def problems_of(source):
    """Return the problems of a description that must have some."""
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot(source)
    return caught.value.problems


def spoil(robot, where, value):
    """Set, or with MISSING delete, the entry at the keys `where`."""
    *path, last = where
    for key in path:
        robot = robot[key]
    if value is MISSING:
        del robot[last]
    else:
        robot[last] = value


def test_a_right_description_is_read_completely(good):
    """Names, order, parents, defaults and numbers are as written."""
    robot = sd.load_robot(good)
    assert robot.body_names == ('shoulder', 'segment1', 'segment2', 'thumb')
    assert robot.joint_names == ('pan', 'segment1', 'segment2', 'thumb')
    assert [m.parent for m in robot.modules] == [-1, 0, 1, 1]
    assert robot.coordinate_names == (
        'pan',
        'segment1/bend_x',
        'segment1/bend_y',
        'segment1/elongation',
        'segment2',
        'segment2/bend_x',
        'thumb/bend_x',
        'thumb/bend_y',
        'thumb/elongation',
    )
    assert robot.n == 9 and robot.actuator_names == ('t1', 't2', 'pan')
    assert robot.initial == {'pan': 0.3, 'segment1/bend_x': 0.1}
    assert robot.gravity == (0.0, 0.0, 9.81) and robot.base.rpy == (3.14159265, 0.0, 0.0)
    assert robot.modules[1].body.young_modulus == 6.66e5
    assert robot.modules[2].joint.axis == (0.0, 0.0, 1.0)
    assert robot.modules[3].body.radius == (0.01, 0.01)
    assert robot.actuators[1].actuator.limits == (-math.inf, math.inf)


def test_defaults_are_the_documented_ones():
    """Gravity points down, bodies are passive and unlimited, and start at zero."""
    robot = sd.load_robot(
        {
            'name': 'rod',
            'bodies': [
                {
                    'name': 'rod',
                    'joint': {'type': 'fixed'},
                    'body': {
                        'type': 'pcc',
                        'length': 1,
                        'radius': 0.1,
                        'density': 1,
                        'young_modulus': 1,
                    },
                }
            ],
        }
    )
    assert robot.gravity == (0.0, 0.0, -9.81) and robot.actuators == () and robot.initial == {}
    body = robot.modules[0].body
    assert (body.poisson_ratio, body.damping, body.section_inertia, body.quadrature) == (
        0.5,
        0.0,
        True,
        10,
    )


def test_a_description_is_frozen(good):
    """A description and its parts are immutable, hashable, and can be copied and pickled."""
    robot = sd.load_robot(good)
    for part in (
        robot,
        robot.modules[0],
        robot.modules[0].body,
        robot.modules[0].joint,
        robot.actuators[0],
        robot.actuators[0].actuator,
        robot.base,
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            part.name = 'other'
    robot.initial['pan'] = 9.0
    assert robot == pickle.loads(pickle.dumps(robot)) == copy.deepcopy(robot)
    assert hash(robot) == hash(sd.load_robot(good))


def test_a_dict_equals_its_file(good, tmp_path):
    """YAML, its dict, and a dict with numpy arrays give the same description; none is changed."""
    path = tmp_path / 'arm.yaml'
    path.write_text(TEXT)
    before = copy.deepcopy(good)
    assert sd.load_robot(good) == sd.load_robot(path) == sd.load_robot(str(path))
    assert good == before
    good['gravity'] = np.array(good['gravity'])
    assert sd.load_robot(good) == sd.load_robot(path)


SHOULDER, SEGMENT = ('bodies', 0), ('bodies', 1)
RIGID, PCC, PAN = (*SHOULDER, 'body'), (*SEGMENT, 'body'), (*SHOULDER, 'joint')
PATH = ('actuators', 0, 'path')
NAMES = 'a name matching [A-Za-z_][A-Za-z0-9_]*'
WRONG = [
    # the top
    (('name',), MISSING, 'name', NAMES),
    (('name',), 'soft arm', 'name', NAMES),
    (('gravity',), [0, 9.81], 'gravity', 'a list of 3 numbers [m/s^2]'),
    (('gravity',), [0, 0, math.nan], 'gravity[2]', 'a number [m/s^2], finite'),
    (('gravty',), 1, 'gravty', 'did you mean gravity?'),
    (('base', 'rpy'), 'up', 'base.rpy', 'a list of 3 numbers [rad]'),
    (('bodies',), MISSING, 'bodies', 'a list, not empty, of bodies'),
    (('bodies',), {'a': 1}, 'bodies', 'a list, not empty, of bodies'),
    (('actuators',), 't1', 'actuators', 'a list of actuators'),
    (('initial',), [0.3], 'initial', 'a mapping of coordinate names to numbers'),
    (('initial', 'tilt'), 1, 'initial.tilt', 'one of the coordinates pan, segment1/bend_x'),
    (('initial', 'pan'), math.inf, 'initial.pan', 'a number'),
    (('initial', 'pan'), [0.1, math.inf], 'initial.pan[1]', 'a number'),
    (('initial', 'pan'), [0.1], 'initial.pan', 'a number, or two: value and rate'),
    # bodies: names, parents, types
    (SEGMENT, 'segment1', 'bodies[1]', 'a mapping of name, joint, body and perhaps parent'),
    ((*SEGMENT, 'name'), '1st', 'bodies[1].name', NAMES),
    ((*SEGMENT, 'name'), 'shoulder', 'bodies[1].name', 'bodies[0].name has it'),
    ((*SEGMENT, 'name'), 'base', 'bodies[1].name', 'a name other than base'),
    ((*SEGMENT, 'joint', 'name'), 'pan', 'bodies[1].joint.name', 'bodies[0].joint.name has it'),
    (
        (*SEGMENT, 'parent'),
        'sholder',
        'bodies[1].parent',
        'base or a body above this one: base, shoulder (did you mean shoulder?)',
    ),
    ((*SEGMENT, 'parent'), 'thumb', 'bodies[1].parent', 'base, shoulder'),
    ((*SEGMENT, 'parent'), 0, 'bodies[1].parent', NAMES),
    ((*SEGMENT, 'colour'), 'red', 'bodies[1].colour', 'fields joint, body, collision, parent'),
    (
        (*SEGMENT, 'joint'),
        MISSING,
        'bodies[1].joint',
        'a mapping with a type and its fields, or (in Python) a Joint object',
    ),
    (
        (*SEGMENT, 'body'),
        'pcc',
        'bodies[1].body',
        'a mapping with a type and its fields, or (in Python) a Body object',
    ),
    ((*PCC, 'type'), 'pc', 'bodies[1].body.type', 'did you mean pcc?'),
    ((*PCC, 'type'), MISSING, 'bodies[1].body.type', 'one of the body types'),
    ((*PCC, 'type'), ['pcc'], 'bodies[1].body.type', 'one of the body types'),
    ((*PAN, 'type'), 'hinge', 'bodies[0].joint.type', 'planar, prismatic, revolute'),
    (
        ('actuators', 2, 'type'),
        'motor',
        'actuators[2].type',
        'types chamber, joint, pressure, tendon, wrench',
    ),
    # rods
    ((*PCC, 'length'), -0.2, 'bodies[1].body.length', 'a number > 0 [m]'),
    ((*PCC, 'length'), MISSING, 'bodies[1].body.length', 'a number > 0 [m]'),
    ((*PCC, 'length'), 1e154, 'bodies[1].body.length', 'a number > 0 [m], of a magnitude'),
    ((*PCC, 'density'), 1e300, 'bodies[1].body.density', 'of a magnitude from 1e-30 to 1e+20'),
    ((*PCC, 'quadrature'), 10**9, 'bodies[1].body.quadrature', '<= 10000'),
    ((*PCC, 'lenght'), 0.2, 'bodies[1].body.lenght', 'did you mean length?'),
    ((*PCC, 'radius'), [0.1, -0.1], 'bodies[1].body.radius[1]', 'a number > 0 [m]'),
    ((*PCC, 'radius'), [1, 1, 1], 'bodies[1].body.radius', 'or a pair [base, tip]'),
    ((*PCC, 'density'), math.nan, 'bodies[1].body.density', 'a number > 0 [kg/m^3], finite'),
    ((*PCC, 'young_modulus'), 0, 'bodies[1].body.young_modulus', 'a number > 0 [Pa]'),
    ((*PCC, 'poisson_ratio'), 0.6, 'bodies[1].body.poisson_ratio', '> -1 and <= 0.5 [-]'),
    ((*PCC, 'damping'), -1, 'bodies[1].body.damping', 'a number >= 0 [s]'),
    ((*PCC, 'section_inertia'), 'yes', 'bodies[1].body.section_inertia', 'true or false'),
    ((*PCC, 'quadrature'), 2.5, 'bodies[1].body.quadrature', 'a whole number >= 1'),
    # rigid bodies
    ((*RIGID, 'mass'), -1, 'bodies[0].body.mass', 'a number >= 0 [kg]'),
    ((*RIGID, 'mass'), 1e300, 'bodies[0].body.mass', 'of a magnitude from 1e-30 to 1e+20'),
    ((*RIGID, 'mass'), 1e-300, 'bodies[0].body.mass', 'of a magnitude from 1e-30 to 1e+20'),
    ((*RIGID, 'com'), [0, -1e154, 0], 'bodies[0].body.com[1]', 'of a magnitude'),
    ((*RIGID, 'com'), [[0], 0, 0], 'bodies[0].body.com[0]', 'a number [m]'),
    ((*RIGID, 'inertia'), 0.1, 'bodies[0].body.inertia', 'a mapping of ixx, iyy, izz'),
    ((*RIGID, 'inertia', 'izz'), MISSING, 'bodies[0].body.inertia.izz', 'a number > 0 [kg m^2]'),
    ((*RIGID, 'inertia', 'ixy'), 0.02, 'bodies[0].body.inertia', 'a positive definite inertia'),
    ((*RIGID, 'inertia', 'izz'), 0.04, 'bodies[0].body.inertia', 'the sum of the other two'),
    ((*RIGID, 'tip'), [0, 0, 1], 'bodies[0].body.tip', 'a mapping of xyz, rpy'),
    # joints
    ((*PAN, 'dh'), [1, 2, 3], 'bodies[0].joint.dh', 'alpha, a, d, theta0 [rad, m, m, rad]'),
    ((*PAN, 'origin'), {}, 'bodies[0].joint.origin', 'either dh or origin and axis'),
    ((*PAN, 'axis'), [0, 0, 1], 'bodies[0].joint.axis', 'either dh or origin and axis'),
    (('bodies', 2, 'joint', 'axis'), [0, 0, 0], 'bodies[2].joint.axis', 'not all zero'),
    ((*PAN, 'stiffness'), -1, 'bodies[0].joint.stiffness', 'a number >= 0 [N m/rad]'),
    ((*PAN, 'damping'), '1 Nms', 'bodies[0].joint.damping', 'a number >= 0 [N m s/rad]'),
    ((*PAN, 'limits', 'position'), [3, -3], 'bodies[0].joint.limits.position', 'low < high [rad]'),
    ((*PAN, 'limits', 'effort'), 1e300, 'bodies[0].joint.limits.effort', 'or .inf'),
    ((*PAN, 'limits', 'effort'), 0, 'bodies[0].joint.limits.effort', 'a number > 0 [N m]'),
    ((*SEGMENT, 'joint', 'stiffness'), 1, 'bodies[1].joint.stiffness', 'one of the fields'),
    ((*PAN, 'name'), 'my joint', 'bodies[0].joint.name', NAMES),
    # actuators
    (('actuators', 0), 't1', 'actuators[0]', 'a mapping with a type and its fields'),
    (('actuators', 0, 'name'), MISSING, 'actuators[0].name', NAMES),
    (('actuators', 1, 'name'), 't1', 'actuators[1].name', 'actuators[0].name has it'),
    (('actuators', 0, 'name'), 'pan', 'actuators[2]', 'actuators[0] has it'),
    (('actuators', 0, 'limits'), [40, 0], 'actuators[0].limits', 'low < high [N'),
    (('actuators', 0, 'rate_limit'), 0, 'actuators[0].rate_limit', 'a number > 0 [N/s'),
    (
        ('actuators', 2, 'joint'),
        'pann',
        'actuators[2].joint',
        'the name of a joint: pan, segment1, segment2, thumb (did you mean pan?)',
    ),
    (('actuators', 2, 'joint'), 'thumb', 'actuators[2].joint', 'a joint with one coordinate'),
    (('actuators', 2, 'limits'), [60, 70], 'actuators[2].limits', 'the effort limit of pan'),
    # tendon paths
    (PATH, [], 'actuators[0].path', 'a list, not empty, of a mapping of body, offset'),
    (
        (*PATH, 1, 'body'),
        'segment9',
        'actuators[0].path[1].body',
        'the name of a body: shoulder, segment1, segment2, thumb (did you mean segment2?)',
    ),
    ((*PATH, 2, 'body'), 'segment1', 'actuators[0].path[2].body', 'a body after segment1'),
    ((*PATH, 0, 'points'), [[0, 0]], 'actuators[0].path[0].points[0]', 'a list of 3 numbers [m]'),
    (
        (*PATH, 0, 'points'),
        [[0, 0, 1], [0, 0, 1.0]],
        'actuators[0].path[0].points[1]',
        'a point other than points[0]',
    ),
    ((*PATH, 0, 'points'), MISSING, 'actuators[0].path[0].offset', 'on a rigid body points'),
    (
        (*PATH, 0),
        {'body': 'shoulder', 'offset': [0, 0]},
        'actuators[0].path[0].offset',
        'points: [[x, y, z], ...] [m] (shoulder has no sections)',
    ),
    (
        (*PATH, 1),
        {'body': 'segment1', 'points': [[0, 0, 0]]},
        'actuators[0].path[1].points',
        '(segment1 has sections)',
    ),
    ((*PATH, 1, 'points'), [[0, 0, 0]], 'actuators[0].path[1].points', 'not both'),
    ((*PATH, 1, 'offset'), 0.02, 'actuators[0].path[1].offset', 'or {radius, phase, turns}'),
    ((*PATH, 1, 'offset'), [[0, 1], [2]], 'actuators[0].path[1].offset[0]', 'a number [m]'),
    ((*PATH, 1, 'offset'), {}, 'actuators[0].path[1].offset', '[x, y] [m]'),
    ((*PATH, 2, 'offset', 'x'), 0.01, 'actuators[0].path[2].offset.x', 'a list, not empty'),
    ((*PATH, 2, 'offset', 'z'), [1], 'actuators[0].path[2].offset.z', 'one of the fields x, y'),
    (
        ('actuators', 1, 'path', 0, 'offset', 'radius'),
        0,
        'actuators[1].path[0].offset.radius',
        'a number > 0 [m]',
    ),
    ((*PATH, 2, 'span'), [0, 1.5], 'actuators[0].path[2].span', 'within [0, 1] [-]'),
    ((*PATH, 2, 'span'), [0.5, 1], 'actuators[0].path[2].span', 'a span from 0'),
    ((*PATH, 1, 'span'), [0, 0.5], 'actuators[0].path[1].span', 'a span up to 1'),
    ((*PATH, 0, 'span'), [0, 0.5], 'actuators[0].path[0].span', 'no span beside points'),
    (
        PATH,
        [{'body': 'shoulder', 'points': [[0, 0, 0], [0, 0, 1]]}],
        'actuators[0].path',
        'the length of this tendon never changes',
    ),
]


@pytest.mark.parametrize(
    'where, value, path, expected', WRONG, ids=[f'{w[2]}={w[1]}'[:60] for w in WRONG]
)
def test_a_wrong_entry_is_named_with_its_value_and_what_would_be_right(
    good, where, value, path, expected
):
    """One wrong entry is one problem: its path in the file, its value, the right in words."""
    spoil(good, where, value)
    found = {p.path: p for p in problems_of(good)}
    assert path in found and expected in found[path].expected
    written = entry(good, path, MISSING)
    assert found[path].value is written or expected == 'actuators[0] has it'


def test_everything_wrong_in_a_file_is_reported_at_once(good):
    """Spoiling many places gives exactly one problem for each, in one error."""
    wrong = {
        'gravity[1]': 'x',
        'bodies[0].body.mass': -1,
        'bodies[0].body.inertia.iyy': math.nan,
        'bodies[0].joint.dh': [1],
        'bodies[1].body.type': 'pc',
        'bodies[1].origin': 3,
        'bodies[2].parent': 'segment',
        'bodies[2].body.length': 0,
        'bodies[3].body.nu': 0.5,
        'actuators[0].path[0].body': 'elbow',
        'actuators[0].path[2].offset': MISSING,
        'actuators[0].limits': [1, 0],
        'actuators[1].name': 't1',
        'actuators[2].joint': 'thumb',
        'initial.tilt': 1,
    }
    for path, value in wrong.items():
        keys = re.findall(r'[^.[\]]+', path)
        spoil(good, [int(key) if key.isdigit() else key for key in keys], value)
    problems = problems_of(good)
    assert sorted(p.path for p in problems) == sorted(wrong)
    text = str(DescriptionError(problems, 'arm.yaml'))
    assert text.startswith('arm.yaml: 15 problems\n') and text.count('\n') == 15


@pytest.mark.parametrize('where', [('bodies',), SEGMENT, (*SEGMENT, 'name')])
def test_names_that_cannot_be_read_do_not_spoil_what_refers_to_them(good, where):
    """One body without a name is one problem, not one more for each tendon through it."""
    spoil(good, where, None)
    assert [p.path.replace('bodies[1].name', 'bodies[1]') for p in problems_of(good)] == [
        'bodies' if where == ('bodies',) else 'bodies[1]'
    ]


def test_two_arms_can_stand_on_the_base(good):
    """`parent: base` starts another branch."""
    good['bodies'][3]['parent'] = 'base'
    del good['actuators'][0]
    assert [m.parent for m in sd.load_robot(good).modules] == [-1, 0, 1, -1]


def test_a_robot_that_cannot_move_is_refused(good):
    """A robot without a coordinate is refused."""
    good['bodies'] = good['bodies'][:1]
    good['bodies'][0]['joint'] = {'type': 'fixed'}
    (problem,) = problems_of({'name': 'post', 'bodies': good['bodies']})
    assert problem.path == 'bodies' and 'at least one joint or body that moves' in str(problem)
