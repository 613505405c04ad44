# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Planned postures for points, outputs and circles scale with a robot's size."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import InfeasibleReferenceError
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.inverse_statics import hold_points
from softrobot_dynamics.references.output_postures import hold_outputs
from softrobot_dynamics.references.tip_following import TipFollower
from softrobot_dynamics.schema.yaml_files import read_yaml
from support.robots import SHIPPED, soft_arm
from support.scaled import model_of, Scale, scaled, SIZES, tips

FEW = SIZES[5], SIZES[6], SIZES[8]  # 1 mm of 200 GPa and of 1 kPa, 100 m of 1 kPa
PULLS = np.array([1.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5])  # [N]


@functools.cache
def arm(scale):
    """Return the shipped arm of three segments and nine tendons at a scale."""
    assert 'pcc_arm' in SHIPPED
    return model_of(read_yaml(shipped('robots')['pcc_arm'])[0], scale)


@functools.cache
def held(scale):
    """Return a posture for a point, tips and tensions, and one for three outputs."""
    model = arm(scale)
    q = sd.equilibrium(model, u=PULLS * scale.force).q
    point = sd.forward_kinematics(model, q=q)[-1, :3, 3]
    found = hold_points(model, bodies=['segment3'], times=[0.0], points=point[None, None])
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    own, u = hold_outputs(model, np.arange(3), y[:3], model.q0)
    postures = [tips(model, scale, each) for each in (found.q[0], own)]
    return np.concatenate([np.ravel(postures), found.u[0] / scale.force, u / scale.force])


@pytest.mark.parametrize('scale', FEW, ids=str)
def test_postures_for_points_and_outputs_are_the_scaled_ones(scale):
    """Planned postures of scaled robots agree: tips relative to length, tensions to force."""
    np.testing.assert_allclose(held(scale), held(Scale()), atol=1e-8)


@pytest.mark.parametrize('scale', FEW, ids=str)
def test_a_circle_is_the_scaled_one(scale):
    """Postures and tensions of a scaled arm's closed lap are those of the arm of 0.6 m."""
    np.testing.assert_allclose(circled(scale), circled(Scale()), atol=1e-8)


@functools.cache
def circled(size):
    """Return tips and tensions of a closed lap."""
    model, L = arm(size), size.length
    circle = Circle('segment3', (0.0, 0.0, 0.55 * L), (0.0, 0.0, 1.0), 0.05 * L, 4.0 * size.time)
    motion = tip_circle(model, circle, samples=12)
    assert motion.reference.period == pytest.approx(4.0 * size.time)
    places = [tips(model, size, q)[-1, :3, 3] for q in motion.postures.q]
    return np.hstack([places, motion.postures.u / size.force])


@pytest.mark.parametrize('scale', FEW, ids=str)
def test_points_are_followed_and_missed_by_the_same_share(scale):
    """A point within reach is reached; one beyond is refused, or missed, by the same lengths."""
    np.testing.assert_allclose(followed(scale), followed(Scale()), atol=1e-6)
    assert followed(Scale())[3] < 2e-4


@functools.cache
def followed(size):
    """Return points, errors and outputs towards two places, relative to length."""
    model = arm(size)
    follower = TipFollower(model, 'segment3', model.q0)
    near = follower.follow(np.array([0.03, 0.02, 0.58]) * size.length)
    far = follower.follow(np.array([0.03, 0.02, 0.9]) * size.length)
    with pytest.raises(InfeasibleReferenceError) as caught:
        hold_points(
            model,
            bodies=['segment3'],
            times=[0.0],
            points=np.array([[[0.03, 0.02, 0.9]]]) * size.length,
        )
    found = near.point, near.position_error, near.y, far.point, far.position_error
    return np.r_[(*found, caught.value.distance)] / size.length


@pytest.mark.parametrize('scale', FEW, ids=str)
def test_efforts_of_different_units_are_weighed_alike_at_any_size(scale):
    """A motor [N m] and tendons [N] without limits share a point's load in the same way."""
    np.testing.assert_allclose(shared(scale), shared(Scale()), atol=1e-6)


@functools.cache
def shared(size):
    """Return tips and efforts that hold a point."""
    model = model_of(soft_arm(), size)
    units = np.r_[size.moment, np.full(6, size.force)]
    q = sd.equilibrium(model, u=np.array([0.0, 1.0, 0.0, 0.2, 0.0, 0.5, 0.0]) * units).q
    point = sd.forward_kinematics(model, q=q)[-1, :3, 3]
    postures = hold_points(model, bodies=['b'], times=[0.0], points=point[None, None])
    return np.r_[tips(model, size, postures.q[0]).ravel(), postures.u[0] / units]


def test_scaled_leaves_a_robot_of_scale_one_as_it_is():
    """The helper of these tests changes no number at a scale of one."""
    robot = read_yaml(shipped('robots')['pcc_arm'])[0]
    assert sd.load_robot(scaled(robot, Scale())) == sd.load_robot(robot)
