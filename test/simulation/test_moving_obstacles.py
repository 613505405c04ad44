# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Obstacles that are given a motion carry, push and turn what touches them."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from support.contacts import GRAVITY, thing, world

STEPS = [{}, {'tolerance': 1e-6}]
both = pytest.mark.parametrize('options', STEPS, ids=['equal steps', 'tolerance'])
BLOCK = {'type': 'box', 'edges': [0.1, 0.1, 0.1]}


def floor(**motion):
    """Return a floor that is given a motion."""
    return {'name': 'floor', 'type': 'plane', 'friction': 0.5, 'motion': motion}


def run(model, duration, dt=1e-3, **options):
    """Return q and qd (T, n) each at the ends of periods."""
    simulator, states = sd.Simulator(model, **options), []
    for _ in range(round(duration / dt)):
        simulator.step([], dt)
        states.append(np.concatenate([simulator.q, simulator.qd]))
    return np.split(np.array(states), 2, axis=1)


@both
def test_a_belt_takes_a_block_along_by_friction(options):
    """A block on a belt of 0.8 m/s accelerates at mu g, and then moves with it."""
    model = world([thing('o', BLOCK, (0, 0, 0.05))], [floor(velocity=[0.8, 0.0, 0.0])])
    _, qd = run(model, 0.4, **options)
    assert qd[99, 1] == pytest.approx(0.5 * GRAVITY * 0.1, rel=0.02)
    assert qd[-1, 1] == pytest.approx(0.8, abs=3.0 * model.contact_plan.slip)


@both
def test_what_lies_on_a_floor_that_rises_and_falls_goes_with_it(options):
    """Below an acceleration of g a block follows the floor's oscillation."""
    model = world(
        [thing('o', BLOCK, (0, 0, 0.05))],
        [floor(amplitude=[0.0, 0.0, 0.02], frequency=2.0, phase=0.5)],
    )
    q, _ = run(model, 1.0, **options)
    t = 1e-3 * np.arange(1, 1001)
    expected = 0.05 + 0.02 * (np.sin(4.0 * np.pi * t + 0.5) - np.sin(0.5))
    assert np.abs(q[100:, 3] - expected[100:]).max() < 1e-3


def test_a_block_in_the_middle_of_a_turntable_turns_with_it():
    """Friction brings a block to the angular velocity of what it stands on."""
    motion = {'angular_velocity': [0.0, 0.0, 3.0], 'centre': [0.0, 0.0, 0.3]}
    _, qd = run(world([thing('o', BLOCK, (0, 0, 0.05))], [floor(**motion)]), 0.5)
    assert qd[-1, 6] == pytest.approx(3.0, rel=1e-3)


def test_a_ball_leaves_a_moving_wall_at_twice_its_speed():
    """A wall of 0.5 m/s that meets a ball at rest with restitution 1 sends it off at 1 m/s."""
    wall = {'name': 'wall', 'type': 'plane', 'normal': [1, 0, 0], 'restitution': 1.0}
    wall['motion'] = {'velocity': [0.5, 0.0, 0.0]}
    ball = {'type': 'sphere', 'radius': 0.05, 'restitution': 1.0}
    model = world([thing('o', ball, (0.1, 0, 0))], [wall], gravity=(0, 0, 0))
    _, qd = run(model, 0.3)
    assert qd[-1, 1] == pytest.approx(1.0, rel=1e-6)


POSES = [{}, {'xyz': [0.1, 0, 0.2], 'rpy': [0.3, 0, 1.0]}, {'xyz': [0.3, 0.2, 0.2]}]


@pytest.mark.parametrize(
    'motion',
    [
        {'times': [0.1, 0.5, 1.2], 'poses': POSES, 'centre': [0.1, 0.2, 0.3]},
        {'angular_amplitude': [0.4, 0.3, 0.2], 'frequency': 0.7, 'velocity': [0.1, 0, 0]},
    ],
    ids=['poses', 'formula'],
)
def test_obstacles_are_where_their_motion_says_with_its_velocity(motion):
    """Gap and speed of a ball beside a moving one are those of its pose, by differences."""
    ball = {'type': 'sphere', 'radius': 0.05}
    centre = np.array([0.0, 0.0, 0.096])
    other = {'name': 'b', 'centre': centre.tolist(), **ball, 'motion': motion}
    robot = world([thing('o', ball)], [other], gravity=(0, 0, 0))
    own = robot.description.environment[0].motion
    for t in (0.0, 0.11, 0.4, 0.8, 1.3):
        place = own.pose(t)[:3, :3] @ centre + own.pose(t)[:3, 3]
        q = np.array([0.0, *(place - [0.01, 0.02, 0.09]), 0, 0, 0])
        found = sd.contacts(robot, q=q, t=t)
        offset = q[1:4] - place
        assert found.gap[0] == pytest.approx(np.linalg.norm(offset) - 0.1, abs=1e-12)
        later, earlier = (sd.contacts(robot, q=q, t=t + h).gap[0] for h in (1e-6, -1e-6))
        forces = robot.per_thread.made(sd.dynamics.contacts.contact_forces)
        forces.force(q, np.zeros(7), t)
        near = forces.contact.candidates[1]
        assert forces.contact.speed[near] == pytest.approx((later - earlier) / 2e-6, abs=1e-6)


@pytest.mark.parametrize(
    'motion, place',
    [
        ({'times': [0.0, 1.0]}, 'times'),
        ({'times': [1.0, 0.0], 'poses': [{}, {}]}, 'times'),
        ({'amplitude': [0.1, 0.0, 0.0]}, 'frequency'),
        ({'speed': 1.0}, 'speed'),
    ],
)
def test_a_wrong_motion_is_refused_by_its_place(motion, place):
    """A motion that does not fit itself is reported with its place."""
    with pytest.raises(DescriptionError) as found:
        world([thing('o', BLOCK, (0, 0, 0.05))], [floor(**motion)])
    assert f'environment[0].motion.{place}' in str(found.value)
