# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Goals of scenes: what has become of objects and tips."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.demo.scenes import goal_of, scene_of
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.evaluation.goals import missed, ObjectGoal, PassageGoal, passages

WORLD = {
    'name': 'probe',
    'gravity': [0.0, 0.0, -9.81],
    'bodies': [
        {
            'name': name,
            'joint': {'name': axis, 'type': 'prismatic', 'axis': direction},
            'body': {'type': 'rigid', 'mass': 1.0, 'tip': {'xyz': [0.0, 0.0, 0.0]}},
        }
        for name, axis, direction in (('rail', 'x', [1, 0, 0]), ('probe', 'z', [0, 0, 1]))
    ],
    'environment': [
        {'name': 'floor', 'type': 'plane', 'point': [0.0, 0.0, -1.0]},
        {'name': 'pipe', 'type': 'tube', 'radius': 0.1, 'start': [0, 0, 0.2], 'end': [0, 0, 0.5]},
    ],
    'objects': [{'name': 'ball', 'mass': 0.1, 'shape': {'type': 'sphere', 'radius': 0.05}}],
}
WORLD['bodies'][1]['collision'] = {'type': 'sphere', 'radius': 0.05}
WORLD['objects'][0]['pose'] = {'xyz': [1.0, 0.0, -0.95]}


@pytest.fixture(scope='module')
def world():
    """Return a probe that moves along x and z above a floor, with a pipe and a ball."""
    return sd.compile_model(sd.load_robot(WORLD))


def postures(model, ways, ball=(1.0, 0.0, -0.95)):
    """Return q (T, n) for places x, z of the probe."""
    q = np.tile(model.q0, (len(ways), 1))
    q[:, :2], q[-1, 2:5] = ways, ball
    return q


@pytest.mark.parametrize(
    ('ways', 'words'),
    [
        ([(0, 0.0), (0, 0.3), (0, 0.6)], None),
        ([(0, 0.0), (0, 0.3), (0, 0.53)], '30.0 mm past the end of pipe, of at least 50.0 mm'),
        ([(0, 0.0), (0, 0.3), (0, 0.45)], '-50.0 mm past the end of pipe'),
        ([(0, 0.0), (0.3, 0.3), (0, 0.6)], 'did not go through pipe'),
        ([(0, 0.3), (0, 0.6)], 'did not go through pipe'),
    ],
    ids=['through', 'too short', 'still in it', 'beside it', 'from within'],
)
def test_a_tip_has_passed_a_tube_that_it_entered_and_left_by_its_end(world, ways, words):
    """A tip that went beside a tube, began in it or did not come far enough has not passed it."""
    goal = PassageGoal(body='probe', tube='pipe', beyond=0.05)
    t = np.arange(len(ways), dtype=float)
    found = missed(world, [goal], postures(world, ways), t)
    said = [] if words else ['probe: tip 100.0 mm past the end of pipe']
    if words is None or 'past' not in words:
        assert list(passages(world, [goal], postures(world, ways), t)) == said
    assert (found == ()) if words is None else (len(found) == 1 and words in found[0])


def test_a_tube_that_moves_is_passed_where_it_is():
    """A probe at rest is passed by a tube that comes down over it, from its start to its end."""
    pipe = {**WORLD['environment'][1], 'motion': {'velocity': [0.0, 0.0, -0.1]}}
    moving = sd.compile_model(sd.load_robot({**WORLD, 'environment': [pipe]}))
    goal, q = PassageGoal(body='probe', tube='pipe', beyond=0.05), postures(moving, [(0, 0.0)] * 3)
    assert missed(moving, [goal], q, np.array([0.0, 3.0, 6.0])) == ()
    (words,) = missed(moving, [goal], q, np.array([0.0, 3.0, 5.2]))
    assert '20.0 mm past the end of pipe' in words


def test_an_object_is_lifted_if_it_is_high_enough_and_held_by_the_robot_alone(world):
    """A ball that the probe touches above the floor is lifted; one in the air is not held."""
    goal = ObjectGoal(object='ball', rise=0.5)
    ways = [(1.0, -0.5), (1.0, 0.0), (1.0, 0.1)]
    lifted = postures(world, ways, (1.0, 0.0, 0.1999))
    lifted[:2, 4] = -0.9501, 0.0999
    assert missed(world, [goal], lifted, np.zeros(3)) == ()
    (words,) = missed(world, [goal], postures(world, ways, (2.0, 0.0, 0.2)), np.zeros(3))
    assert 'not held' in words
    (words, _) = missed(world, [goal], postures(world, ways), np.zeros(3))
    assert words == 'ball rose by 0.0 mm, of at least 500.0 mm'


def test_an_object_is_moved_by_its_way_across_gravity(world):
    """A ball that is 0.3 m aside is moved by 0.2 m at least, and not by 0.4 m."""
    q = postures(world, [(0.0, 0.0), (0.0, 0.0)], (1.3, 0.0, -0.95))
    assert missed(world, [ObjectGoal(object='ball', shift=0.2)], q, np.zeros(2)) == ()
    (words,) = missed(world, [ObjectGoal(object='ball', shift=0.4)], q, np.zeros(2))
    assert words == 'ball was moved by 300.0 mm, of at least 400.0 mm'


def test_goals_name_what_there_is(world):
    """A goal about a tube or an object that there is not is refused by its name."""
    q = postures(world, [(0.0, 0.0)])
    for goal in (
        PassageGoal(body='probe', tube='floor', beyond=0.1),
        ObjectGoal(object='cup', shift=0.1),
    ):
        with pytest.raises(ArgumentError, match='floor|cup'):
            missed(world, [goal], q, np.zeros(1))


def test_wrong_entries_of_a_file_of_goals_are_all_named(tmp_path):
    """A goal without an object, a length below 0 and no duration are three problems."""
    path = tmp_path / 'wrong.yaml'
    path.write_text('goals: [{rise: 0.1}, {object: a, shift: -1.0}]\n', encoding='utf-8')
    with pytest.raises(DescriptionError) as raised:
        goal_of(path)
    assert len(raised.value.problems) == 3


@pytest.mark.parametrize('name', [each for each in shipped('scenes') if '.' not in each])
def test_every_shipped_scene_has_a_goal_about_what_is_in_it(name):
    """Objects, tubes and bodies that goals of shipped scenes name are in their files."""
    scene = scene_of(name)
    goal = goal_of(scene.goal)
    around = scene.surroundings.read_text(encoding='utf-8')
    assert goal.goals and goal.duration > 0.0
    for each in goal.goals:
        assert f'name: {each.object if isinstance(each, ObjectGoal) else each.tube}' in around
