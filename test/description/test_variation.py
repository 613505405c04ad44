# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Variations of a robot's numbers: selection, changes, and refusals."""

import json

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.plant_changes import plant_of, read_changes
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from support.robots import soft_arm
from support.touching import AROUND, PRESS, write_press

pytestmark = pytest.mark.quick


def values(robot, field):
    """Return the values of a field of all bodies that have it, by body."""
    return {m.name: getattr(m.body, field) for m in robot.modules if hasattr(m.body, field)}


def test_a_field_counts_wherever_it_stands():
    """A field name alone changes all its occurrences, by a factor or to a number."""
    robot = sd.load_robot('pcc_arm')
    softer = sd.vary(robot, {'young_modulus': '×0.7', 'density': 900.0})
    before = values(robot, 'young_modulus')
    assert values(softer, 'young_modulus') == pytest.approx(
        {b: 0.7 * x for b, x in before.items()}
    )
    assert set(values(softer, 'density').values()) == {900.0}
    assert values(sd.load_robot('pcc_arm'), 'young_modulus') == before
    assert softer.digest != robot.digest and sd.vary(robot, {}).digest == robot.digest


def test_names_before_it_say_where():
    """Names before a field select a body, a joint, an actuator or a part; changes accumulate."""
    robot = sd.load_robot('pcc_arm')
    changes = {'segment2.young_modulus': '*2', 'young_modulus': 'x 3', 'segment2.radius': '×1.1'}
    found = values(sd.vary(robot, changes), 'young_modulus')
    first, second, _ = values(robot, 'young_modulus').values()
    assert found['segment1'] == pytest.approx(3.0 * first)
    assert found['segment2'] == pytest.approx(6.0 * second)
    radius = values(robot, 'radius')['segment2']
    wider = values(sd.vary(robot, changes), 'radius')['segment2']
    assert wider == pytest.approx(tuple(1.1 * r for r in radius))
    name = robot.actuators[0].name
    stronger = sd.vary(robot, {f'{name}.limits': '×2'})
    assert [a.actuator.limits[1] for a in stronger.actuators[:2]] == pytest.approx(
        [2.0 * robot.actuators[0].actuator.limits[1], robot.actuators[1].actuator.limits[1]]
    )
    helicoid = sd.load_robot('trimmed_helicoid')
    soft = sd.vary(helicoid, {'segment1.material.modulus': '×0.5'})
    before, after = (r.modules[0].body.material.modulus for r in (helicoid, soft))
    assert after == pytest.approx(0.5 * before)
    assert soft.modules[1].body.material == helicoid.modules[1].body.material


def test_path_selects_the_numbers_of_a_route():
    """`path` selects numbers of tendon routes by tendon and body, not radii of bodies."""
    robot = sd.load_robot('servo_arm')
    name, passage = robot.actuators[0].name, robot.actuators[0].actuator.path[0]
    found = sd.vary(robot, {f'{name}.path.{passage.body}.radius': '×1.5'}).actuators
    changed = found[0].actuator.path[0].offset
    assert changed.radius == pytest.approx(1.5 * passage.offset.radius)
    assert changed.phase == passage.offset.phase
    assert found[0].actuator.opposite == robot.actuators[0].actuator.opposite
    assert found[1:] == robot.actuators[1:]
    for changes in {'radius': '×1.2'}, {f'{passage.body}.radius': 0.01}:
        others = sd.vary(robot, changes).actuators
        assert [a.actuator.path for a in others] == [a.actuator.path for a in robot.actuators]


def test_places_in_lists_count_from_zero():
    """An index after a field selects its entry from 0 on; missing entries are refused."""
    arm = sd.load_robot('pcc_arm')
    found = values(sd.vary(arm, {'segment2.radius.1': 0.01}), 'radius')
    assert found == {
        **values(arm, 'radius'),
        'segment2': (values(arm, 'radius')['segment2'][0], 0.01),
    }
    with pytest.raises(UnknownNameError, match=r'segment2\.radius\.2'):
        sd.vary(arm, {'segment2.radius.2': 0.01})


@pytest.mark.parametrize(
    'changes, error, words',
    [
        ({'young_modulos': '×2'}, UnknownNameError, 'did you mean young_modulus'),
        ({'elbow.young_modulus': '×2'}, UnknownNameError, 'elbow.young_modulus'),
        ({'density': -1.0}, DescriptionError, 'segment1.density'),
        ({'poisson_ratio': 0.9}, DescriptionError, 'poisson_ratio'),
        ({'path.z': 0.01}, UnknownNameError, r'path\.phase, path\.radius'),
        ({'t1.path.segment2.radius': 0.01}, UnknownNameError, 'segment2'),
        ({'t1.path.span.1': 1.5}, DescriptionError, r't1\.path\.segment1\.span'),
        ({'density': 'much'}, ArgumentError, 'much'),
        ({'density': '×'}, ArgumentError, 'a factor'),
        (['density'], ArgumentError, 'a mapping'),
    ],
)
def test_an_impossible_variation_is_refused(changes, error, words):
    """A variation that breaks the rules of robot files is refused with the place."""
    with pytest.raises(error, match=words):
        sd.vary(sd.load_robot('pcc_arm'), changes)


def test_changes_may_be_texts():
    """Changes may be texts, as the simulation node takes them."""
    assert read_changes(['mass=×1.2', ' a.b = 3 ']) == {'mass': '×1.2', 'a.b': '3'}
    for wrong in ('mass', 'mass=', '=2'):
        with pytest.raises(ArgumentError, match='plant'):
            read_changes([wrong])


def test_another_robot_may_be_named_by_text(tmp_path):
    """One of the changes may name another robot, by shipped name or file."""
    robot, file = sd.load_robot('double_pendulum'), tmp_path / 'other.yaml'
    file.write_text(json.dumps(soft_arm()))
    changed = plant_of(robot, ['mass=×1.2'])
    assert changed == sd.vary(robot, {'mass': '×1.2'})
    assert plant_of(robot, []) is robot
    assert plant_of(robot, ['pcc_arm']) == sd.load_robot('pcc_arm')
    other = plant_of(robot, ['density=×2', str(file)])
    assert other == sd.vary(sd.load_robot(file), {'density': '×2'})
    with pytest.raises(ArgumentError, match='one robot at most, beside pcc_arm'):
        plant_of(robot, ['pcc_arm', str(file)])
    with pytest.raises(DescriptionError, match='none.yaml'):
        plant_of(robot, [str(tmp_path / 'none.yaml')])


def test_changes_in_a_file(tmp_path):
    """A file of changes may use mappings for dotted names; later texts override earlier ones."""
    file = tmp_path / 'plant.yaml'
    file.write_text('density: ×1.2\nsegment2: {radius: ×0.97, damping: 0.2}\n')
    expected = {'density': '×1.2', 'segment2.radius': 0.02, 'segment2.damping': 0.2}
    assert read_changes([str(file), 'segment2.radius=0.02']) == {
        **expected,
        'segment2.radius': '0.02',
    }
    sd.vary(sd.load_robot('pcc_arm'), read_changes([str(file)]))
    file.write_text('[density]')
    with pytest.raises(DescriptionError, match='a mapping of fields'):
        read_changes([str(file)])
    with pytest.raises(DescriptionError, match='none.yaml'):
        read_changes([str(tmp_path / 'none.yaml')])


def test_shapes_objects_and_obstacles_are_varied_by_names_that_say_so():
    """Friction, size and place of what a robot touches are varied; radii of bodies are not."""
    robot, around = (sd.load_robot(PRESS), AROUND)
    both = sd.surround(robot, around)
    changes = {
        'foot.collision.friction': 0.9,
        'ball.shape.radius': '×0.5',
        'ball.xyz.0': '+=0.1',
        'ball.mass': 0.25,
        'floor.friction': 0.2,
    }
    found = sd.vary(both, changes)
    foot, ball = found.modules
    assert (foot.shapes[0].friction, foot.shapes[0].radius) == (0.9, 0.05)
    assert (ball.shapes[0].radius, ball.body.mass) == (0.02, 0.25)
    assert ball.body.inertia.ixx == pytest.approx(0.4 * 0.25 * 0.02**2)
    assert found.environment[0].shape.friction == 0.2
    start = {name: q for name, q, _ in found.start}
    assert [start[f'ball/{c}'] for c in 'xyz'] == pytest.approx([0.4, 0.1, -0.01])
    assert sd.vary(both, {}).digest == both.digest != found.digest
    with pytest.raises(UnknownNameError):
        sd.vary(both, {'radius': 0.1})  # of no body


def test_a_plant_in_surroundings_is_varied_with_them(tmp_path):
    """The text surroundings=FILE adds what a plant touches, before the changes."""
    robot, around = write_press(tmp_path)
    plant = plant_of(sd.load_robot(robot), ['ball.shape.friction=0.1', f'surroundings={around}'])
    assert plant.modules[-1].shapes[0].friction == 0.1
