# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Obstacles that are given a motion are drawn where they are at the time that is shown."""

import numpy as np
from PIL import Image
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.recordings.reading import Recording
from softrobot_dynamics.viewing import sources
from softrobot_dynamics.viewing.animation import animate, Film
from softrobot_dynamics.viewing.arrows import ForceArrows
from softrobot_dynamics.viewing.shapes import RobotShape
from softrobot_dynamics.viewing.sources import Player
from support.robots import compiled

MOTION = {
    'centre': [0.2, -0.1, 0.0],
    'angular_velocity': [0.0, 0.4, 0.7],
    'amplitude': [0.0, 0.1, 0.0],
    'frequency': 0.6,
    'times': [0.0, 1.0, 2.0],
    'poses': [{}, {'xyz': [-0.3, 0.0, 0.1]}, {'xyz': [-0.1, 0.0, 0.0], 'rpy': [0.0, 0.3, 0.0]}],
}
AXES = np.eye(3).tolist()
PROBE = {
    'name': 'probe',
    'base': {'xyz': [0.5, -0.3, 1.2], 'rpy': [2.9, 0.4, -0.7]},
    'bodies': [
        {
            'name': name,
            'joint': {'name': name, 'type': 'prismatic', 'axis': axis},
            'body': {'type': 'rigid', 'mass': 1.0, 'tip': {'xyz': [0.0, 0.0, 0.0]}},
        }
        for name, axis in zip('xyz', AXES)
    ],
    'environment': [
        {'name': 'post', 'type': 'capsule', 'start': [0.3, 0.0, 0.0], 'end': [0.3, 0.0, 0.2],
         'radius': 0.02},
        {'name': 'ball', 'type': 'sphere', 'centre': [0.4, 0.1, 0.1], 'radius': 0.05,
         'restitution': 1.0, 'motion': MOTION},
    ],
}  # fmt: skip
PROBE['bodies'][-1]['collision'] = {'type': 'sphere', 'radius': 0.04, 'restitution': 1.0}


@pytest.fixture(scope='module')
def model():
    """Return a probe on a rail with a post, and a ball that is given a motion."""
    return sd.compile_model(sd.load_robot(PROBE))


@pytest.mark.parametrize('t', [0.0, 0.4, 1.7, 5.0])
def test_an_obstacle_is_drawn_where_it_is_touched(model, t):
    """A probe touches the ball where it is drawn at a time, and an arrow stands there."""
    shape, base = RobotShape(model), model.description.base.matrix()
    post, ball = shape.obstacles(t)
    assert shape.moving == (1,)
    assert np.array_equal(post, shape.environment[0].points)
    centre = np.linalg.inv(base) @ [*ball.mean(axis=0), 1.0]
    q = centre[:3] + [0.0, 0.0, 0.0899]
    found = sd.contacts(model, q=q, t=t)
    assert found.bodies == (('z', 'ball'),) and found.gap == pytest.approx(-1e-4, abs=1e-9)
    (arrow,) = ForceArrows(model, 1.0).at(q, t)
    assert arrow[0] == pytest.approx((base @ [*found.points[0], 1.0])[:3])
    assert (arrow[1] - arrow[0]) @ base[:3, 2] > 0.0  # away from the ball
    assert not len(ForceArrows(model, 1.0).at(q, t + 0.2))


def test_a_film_shows_obstacles_move(model, tmp_path):
    """The robot rests: all that changes from picture to picture is the ball."""
    t = np.linspace(0.0, 1.0, 11)
    for simulated, moves in ((None, True), (np.zeros(11), False)):
        film = Film(model, t, np.zeros((11, 3)), simulated=simulated)
        assert animate(film, tmp_path / 'film.gif', pace=4.0) == 5
        pictures = []
        with Image.open(tmp_path / 'film.gif') as gif:
            for k in range(5):
                gif.seek(k)
                pixels = np.asarray(gif.convert('RGB'), dtype=int)
                pictures.append(pixels[round(0.1 * len(pixels)) :])  # below the clock
        pairs = zip(pictures, pictures[1:])
        changed = [int((np.abs(a - b).max(axis=2) > 8).sum()) for a, b in pairs]
        assert (min(changed) > 50) if moves else (max(changed) == 0), changed


def test_a_small_object_keeps_its_colour_in_a_film(tmp_path):
    """The palette of a film has the orange of objects, however few points they have of it."""
    cube = {'type': 'box', 'edges': [0.03, 0.03, 0.03]}
    toy = {'name': 'toy', 'mass': 0.1, 'shape': cube, 'pose': {'xyz': [0.25, 0.0, 0.5]}}
    around = sd.compile_model(sd.surround(compiled('pcc_arm').description, {'objects': [toy]}))
    film = Film(around, np.array([0.0, 0.5]), np.tile(around.q0, (2, 1)))
    animate(film, tmp_path / 'film.gif', pace=4.0)
    with Image.open(tmp_path / 'film.gif') as gif:
        red, green, blue = np.moveaxis(np.asarray(gif.convert('RGB'), dtype=int), -1, 0)
    assert ((red > 200) & (red - blue > 140) & (green - blue > 80)).sum() > 20


def test_a_recording_is_played_with_its_time(model, monkeypatch):
    """A moment that is played has the simulation's time, not that since the record began."""
    pytest.importorskip('viser')
    from softrobot_dynamics.viewing.browser import Browser

    monkeypatch.setattr(sources.time, 'monotonic', lambda: 100.0)
    browser = Browser(RobotShape(model), '127.0.0.1', 8340)
    try:
        columns = {'t': np.array([0.7, 0.9]), 'q': np.zeros((2, 3)), 'u': np.zeros((2, 0))}
        seen = Player(browser, Recording(columns, {}, (), True)).poll()
        assert seen.time == 0.7
        browser.show(*seen)
        ball = np.array(browser._obstacles[1].vertices)
        assert ball == pytest.approx(browser.shape.obstacles(0.7)[1], abs=1e-6)
        assert np.abs(ball - browser.shape.environment[1].points).max() > 0.05
    finally:
        browser.close()
