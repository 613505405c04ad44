# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Objects that come and go faster than a step of equal length can see."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.contacts import thing, world

RADIUS, MASS = 0.05, 0.3


def thrown(speed, height, smallest=RADIUS, **surface):
    """Return the simulator of a ball that moves towards a floor, without gravity."""
    ball = {'type': 'sphere', 'radius': RADIUS, **surface}
    other = thing('other', {'type': 'sphere', 'radius': smallest}, (3.0, 0.0, 1.0), MASS)
    floor = {'name': 'floor', 'type': 'plane'}
    place = RADIUS + height
    objects = [thing('ball', ball, (0.0, 0.0, place), MASS), other]
    start = {'ball/z': [place, -speed]}
    return sd.Simulator(world(objects, [floor], gravity=(0.0, 0.0, 0.0), initial=start))


@pytest.mark.parametrize('stiffness', [1e4, 1e6])
def test_forces_that_are_rounding_are_not_counted_as_missing_their_law(stiffness):
    """A ball that leaves a floor at a hundredth of its speed, next to no force on it, is right."""
    simulator = thrown(0.5, 0.0104 + 0.15 * 5e-4, stiffness=stiffness)
    for _ in range(600):
        simulator.step([], 5e-4)
    assert 0.009 < simulator.qd[3] / 0.5 < 0.011
    assert simulator.unsettled == 0


@pytest.mark.parametrize('speed', [3.0, 10.0])
@pytest.mark.parametrize('damping', [0.0, 0.05])
def test_what_meets_between_two_steps_parts_no_faster_than_it_came(speed, damping):
    """
    A ball that a step takes from beyond the reach of contact deep into a hard floor slows down.

    The reach goes by the smallest shape there is. Without losses its spring would make of 1.4 J
    as many as 8.
    """
    height = 0.0104 + 0.3 * speed * 5e-4
    simulator = thrown(speed, height, smallest=1.25e-3, stiffness=1e8, damping=damping)
    fastest = deepest = 0.0
    for _ in range(200):
        simulator.step([], 5e-4)
        deepest = max(deepest, RADIUS - simulator.q[3])
        fastest = max(fastest, np.abs(simulator.qd[3]))
    assert deepest > 0.4 * speed * 5e-4
    assert fastest <= speed * (1.0 + 1e-9)
    assert simulator.qd[3] > 0.0


@pytest.mark.parametrize('gap', [0.0, 2e-4])
@pytest.mark.parametrize('moving', [1, 2, 3])
def test_as_many_balls_leave_a_cradle_of_five_as_come(moving, gap):
    """Speeds go on from ball to ball in impacts that follow each other within a step or two."""
    sphere = {'type': 'sphere', 'radius': 0.03, 'restitution': 1.0, 'friction': 0.0}
    places = [(0.06 + gap) * i - (0.2 if i < moving else 0.0) for i in range(5)]
    balls = [thing(f'o{i}', sphere, (x, 0.0, 0.0)) for i, x in enumerate(places)]
    start = {f'o{i}/x': [places[i], 1.0] for i in range(moving)}
    simulator = sd.Simulator(world(balls, gravity=(0.0, 0.0, 0.0), initial=start))
    for _ in range(350):
        simulator.step([], 1e-3)
    expected = [0.0] * (5 - moving) + [1.0] * moving
    np.testing.assert_allclose(simulator.qd[1::6], expected, atol=1e-9)
