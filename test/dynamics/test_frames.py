# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Frames at material points and their Jacobians, and conversions between space and coordinates."""

from pathlib import Path
import re

import numpy as np
from oracles.material import frames_and_derivatives
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics import conversions
from softrobot_dynamics.dynamics.calls import placement
from softrobot_dynamics.dynamics.conversions import drive_wrench, motion_subspace
from softrobot_dynamics.errors import ArgumentError
from support.differences import derivative
from support.robots import compiled, link, states

TOLERANCE = 1e-12  # of the largest entry
ROBOTS = ('hand', 'zoo', 'hybrid_arm')  # together every kind of body


def material_points(model, seed=0):
    """Two material points of every body whose formula the oracle can use: (index, x (3,))."""
    rng, points = np.random.default_rng(seed), []
    for i, module in enumerate(model.description.modules):
        if not module.body.tabulated:
            known = np.asarray(module.body.material_points()[0])
            points += [(i, known[k]) for k in rng.integers(len(known), size=2)]
    return points


def assert_close(found, wanted, scale=0.0):
    """Compare arrays relative to the largest entry of the wanted one, or to ``scale``."""
    assert np.abs(found - wanted).max() <= TOLERANCE * max(scale, np.abs(wanted).max())


@pytest.mark.parametrize('name', ROBOTS)
def test_frames_and_jacobians_follow_the_material(name):
    """
    The frame at x has its origin at f(x, q), x along dp/dx1, y towards dp/dx2, in every body.

    Its Jacobian, in the axes of the body and of the base, is the exact derivative of that.
    """
    model = compiled(name)
    ((q, _, _),) = states(model, 1, seed=1)
    points = material_points(model)
    for (i, x), (pose, derivatives) in zip(
        points, frames_and_derivatives(model.description, points, q)
    ):
        where = {'q': q, 'body': model.body_names[i], 'point': x}
        assert_close(sd.frame(model, **where), pose, scale=1.0)
        scale = max(1.0, np.abs(derivatives).max())
        assert_close(sd.jacobian(model, **where, frame='base'), derivatives, scale)
        own = np.vstack([pose[:3, :3].T @ derivatives[:3], pose[:3, :3].T @ derivatives[3:]])
        assert_close(sd.jacobian(model, **where), own, scale)


@pytest.mark.parametrize('name', ROBOTS)
def test_a_batch_of_points_is_what_single_ones_are(name):
    """Frames and Jacobians of a batch of points equal those of single points."""
    model = compiled(name)
    ((q, qd, _),) = states(model, 1, seed=2)
    for body, module in zip(model.body_names, model.description.modules):
        known = np.asarray(module.body.material_points()[0])
        given = {'body': body, 'points': known[np.linspace(0, len(known) - 1, 37).astype(int)]}
        found = sd.material_points(model, q=q, qd=qd, **given)
        based = sd.material_points(model, q=q, frame='base', **given)
        for k in (0, 31, 32, 36):
            one = {'q': q, 'body': body, 'point': given['points'][k]}
            assert_close(found.frames[k], sd.frame(model, **one), 1.0)
            assert_close(found.jacobians[k], sd.jacobian(model, **one), 1.0)
            assert_close(based.jacobians[k], sd.jacobian(model, **one, frame='base'), 1.0)
        assert np.array_equal(found.positions, found.frames[:, :3, 3])
        assert_close(found.velocities, based.jacobians[:, 3:] @ qd, 1.0)
        assert not based.velocities.any()

        def places(t, given=given):
            return sd.material_points(model, q=q + t * qd, **given).positions

        np.testing.assert_allclose(derivative(places, 1e-3), found.velocities, atol=1e-10)


def test_points_at_the_tip_move_as_the_tip():
    """At the end of a rod a point's frame, Jacobian and velocity are those of the tip."""
    model = compiled('zoo')
    ((q, qd, _),) = states(model, 1, seed=3)
    tips, rods = sd.forward_kinematics(model, q=q), ('cosserat', 'pcc', 'ritz_backbone')
    for i, module in enumerate(model.description.modules):
        if module.body.type_name in rods:
            where = {'q': q, 'body': module.name}
            end = [[0.0, 0.0, module.body.length]]
            found = sd.material_points(model, qd=qd, points=end, **where)
            assert_close(found.frames[0], tips[i], 1.0)
            assert_close(found.jacobians[0], sd.jacobian(model, **where), 1.0)
            tip = sd.jacobian(model, **where, frame='base')[3:] @ qd
            assert_close(found.velocities[0], tip, 1.0)


def test_points_cost_nothing_until_asked_for():
    """A model compiles no kernels of points before they are needed."""
    model = sd.compile_model(sd.load_robot('pcc_arm'))
    q = np.full(model.n, 0.01)
    wrench = {'segment2': sd.Wrench(np.ones(6))}
    sd.forward_dynamics(model, q=q, qd=q, u=np.ones(model.m), wrenches=wrench)
    sd.jacobian(model, q=q)
    assert model.points_kernel.cache_info().currsize == 0
    for _ in range(3):
        sd.material_points(model, q=q, points=[[0.0, 0.0, 0.1]])
    assert model.points_kernel.cache_info().misses == 1


@pytest.mark.parametrize('name, value', [
    ('points', [0.0, 0.0, 0.1]), ('points', []), ('points', [[0.0, 0.0]]), ('points', 0.1),
    ('points', 'tip'), ('points', [[0.0, 0.0, np.nan]]), ('qd', [0.0]), ('frame', 'world'),
])  # fmt: skip
def test_wrong_material_points_are_named(name, value):
    """Points that are not rows of three numbers, or another wrong argument, are named."""
    arguments = {'q': [0.0, 0.0], 'points': [[0.0, 0.0, 0.1]], name: value}
    with pytest.raises(ArgumentError) as caught:
        sd.material_points(compiled('double_pendulum'), **arguments)
    assert caught.value.argument == name


def test_points_without_a_frame_are_named():
    """A point in the cavity of a body, which has no material, is refused by name."""
    model = compiled('hybrid_arm')
    points = [[0.015, 0.0, 0.04], [0.0, 0.0, 0.04]]
    with pytest.raises(ArgumentError, match='at which the body has a frame') as caught:
        sd.material_points(model, q=model.q0, body='gripper', points=points)
    assert caught.value.argument == 'points'
    np.testing.assert_array_equal(caught.value.value, points[1])


@pytest.mark.parametrize('robot, body', [('zoo', 'b0'), ('hybrid_arm', 'gripper')])
def test_points_off_the_end_of_a_rod_are_refused(robot, body):
    """A point beyond the length of a rod is refused."""
    model = compiled(robot)
    length = model.description.modules[model.body_names.index(body)].body.length
    for s in (-0.01 * length, 1.01 * length):
        with pytest.raises(ArgumentError, match='material points, 0 <= x3 <=') as caught:
            sd.material_points(model, q=model.q0, body=body, points=[[0.0, 0.0, s]])
        assert caught.value.argument == 'points'


@pytest.mark.parametrize('body', ['index2', 'index3', 'thumb1', 'thumb2'])
def test_the_end_of_a_rod_is_its_tip(body):
    """The material point on the backbone at the end of a rod has the tip's frame and Jacobian."""
    model = compiled('hand')
    ((q, _, _),) = states(model, 1, seed=4)
    i = model.body_names.index(body)
    end = [0.0, 0.0, model.description.modules[i].body.length]
    tips = sd.forward_kinematics(model, q=q)
    assert_close(sd.frame(model, q=q, body=body), tips[i])
    assert_close(sd.frame(model, q=q, body=body, point=end), tips[i])
    for axes in ('body', 'base'):
        at_tip = sd.jacobian(model, q=q, body=body, frame=axes)
        assert_close(sd.jacobian(model, q=q, body=body, point=end, frame=axes), at_tip)


def test_points_of_a_rigid_body_are_given_in_its_joint_frame():
    """The material frame of a rigid body has the axes of its joint frame."""
    turned = {**link(), 'tip': {'xyz': [0.1, 0.2, 0.3], 'rpy': [0.5, 0.6, 0.7]}}
    joint = {'type': 'revolute', 'axis': [0.0, 0.0, 1.0]}
    given = {'name': 'one', 'bodies': [{'name': 'a', 'joint': joint, 'body': turned}]}
    model = sd.compile_model(sd.load_robot(given))
    pose = sd.frame(model, q=[np.pi / 2.0], point=[1.0, 2.0, 3.0])
    wanted = [[0.0, -1.0, 0.0, -2.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 3.0], [0, 0, 0, 1]]
    np.testing.assert_allclose(pose, wanted, atol=1e-15)
    column = sd.jacobian(model, q=[np.pi / 2.0], point=[1.0, 2.0, 3.0], frame='base')[:, 0]
    np.testing.assert_allclose(column, [0.0, 0.0, 1.0, -1.0, -2.0, 0.0], atol=1e-15)


@pytest.mark.parametrize('call', [sd.frame, sd.jacobian], ids=lambda call: call.__name__)
@pytest.mark.parametrize('point', [[0.0, 0.0], [0.0, 0.0, np.nan], 'tip', 0.1], ids=str)
def test_a_wrong_point_is_named(call, point):
    """A point that is not three numbers is an ArgumentError that names it."""
    with pytest.raises(ArgumentError) as caught:
        call(compiled('double_pendulum'), q=[0.0, 0.0], point=point)
    assert caught.value.argument == 'point'


@pytest.mark.parametrize('frame', ['world', None, 0])
def test_an_unknown_frame_is_named(frame):
    """A Jacobian is given in the axes of the body or of the base, nothing else."""
    with pytest.raises(ArgumentError, match='one of body, base') as caught:
        sd.jacobian(compiled('double_pendulum'), q=[0.0, 0.0], frame=frame)
    assert caught.value.argument == 'frame'


def test_velocities_follow_from_the_twists_of_all_bodies():
    """Twists that a motion makes give that motion back, and leave nothing over."""
    model = compiled('hand')
    for q, qd, _ in states(model, 3, seed=5):
        twists = {b: sd.jacobian(model, q=q, body=b) @ qd for b in model.body_names}
        found = sd.generalized_velocities(model, q=q, twists=twists)
        np.testing.assert_allclose(found.qd, qd, atol=1e-11)
        assert max(np.abs(left).max() for left in found.residuals.values()) < 1e-12


def test_velocities_are_the_best_fit_to_noisy_twists():
    """The residual of noisy twists is normal to all motions of the robot, and returned."""
    model, rng = compiled('ur10e'), np.random.default_rng(6)
    ((q, qd, _),) = states(model, 1, seed=6)
    bodies = model.body_names[2], model.body_names[5]
    J = {b: sd.jacobian(model, q=q, body=b) for b in bodies}
    twists = {b: J[b] @ qd + 0.01 * rng.normal(size=6) for b in bodies}
    found = sd.generalized_velocities(model, q=q, twists=twists)
    assert tuple(found.residuals) == bodies
    for b in bodies:
        np.testing.assert_allclose(found.residuals[b], twists[b] - J[b] @ found.qd, atol=1e-15)
    normal = sum(J[b].T @ found.residuals[b] for b in bodies)
    assert np.abs(normal).max() < 1e-12
    assert 1e-3 < np.abs(found.qd - qd).max() < 0.2


def test_coordinates_that_twists_do_not_show_are_named():
    """Coordinates that the twists do not determine are named by the error."""
    model = compiled('hand')
    ((q, _, _),) = states(model, 1, seed=7)
    with pytest.raises(ArgumentError) as caught:
        sd.generalized_velocities(model, q=q, twists={'thumb1': np.zeros(6)})
    shown = {'palm', 'thumb1', 'thumb1/bend_x'}
    for name in model.coordinate_names:
        assert (f' {name}' in caught.value.expected.replace(',', '')) == (name not in shown)


@pytest.mark.parametrize(
    'twists, argument',
    [
        ({}, 'twists'),
        (np.zeros(6), 'twists'),
        ({'elbow': np.zeros(6)}, 'twists'),
        ({'lower_bar': np.zeros(3)}, "twists['lower_bar']"),
    ],
    ids=['none', 'no names', 'unknown', 'short'],
)
def test_wrong_twists_are_named(twists, argument):
    """Twists are a mapping of body names to six numbers each."""
    with pytest.raises(ArgumentError) as caught:
        sd.generalized_velocities(compiled('double_pendulum'), q=[0.1, 0.2], twists=twists)
    assert caught.value.argument == argument


def test_drives_of_single_axes_act_along_them():
    """A revolute joint's force is a moment about its axis, a prismatic one's a force along it."""
    model = compiled('hand')
    ((q, forces, _),) = states(model, 1, seed=8)
    found = sd.joint_torques(model, q=q, forces=forces)
    for i, module in enumerate(model.description.modules):
        joint, row = module.joint, found[i]
        if joint.type_name == 'fixed':
            assert not row.any()
            continue
        force = forces[model.coordinate_names.index(module.joint_name)]
        alpha = joint.dh[0] if joint.dh else 0.0  # the DH row turns its z axis last
        axis = np.array([0.0, np.sin(alpha), np.cos(alpha)]) if joint.dh else joint.axis
        wanted = np.zeros(6)
        part = slice(3, 6) if joint.type_name == 'prismatic' else slice(0, 3)
        wanted[part] = force * np.array(axis)
        np.testing.assert_allclose(row, wanted, atol=1e-14)


def euler_axes(roll, pitch, yaw):
    """Columns: angular velocity, in the last frame, of the rates of Rz(yaw) Ry(pitch) Rx(roll)."""
    sr, cr, sp, cp = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    return np.array([[1.0, 0.0, -sp], [0.0, cr, sr * cp], [0.0, -sr, cr * cp]])


def test_a_ball_joint_has_one_moment():
    """Three Euler angles determine the moment, wherever the distal frame is: tau = S^-T Q."""
    W, moment = euler_axes(0.4, -0.7, 1.1), np.array([0.3, -1.2, 0.8])
    for arm in ([0.0, 0.0, 0.0], [0.1, -0.2, 0.3]):
        S = np.vstack([W, np.cross(W.T, arm).T])
        np.testing.assert_allclose(drive_wrench(S, W.T @ moment), [*moment, 0, 0, 0], atol=1e-14)


def test_translations_of_a_joint_bear_the_force():
    """A floating base determines its whole wrench, a planar joint that of its motions."""
    wrench = np.array([0.3, -1.2, 0.8, 2.0, -3.0, 1.0])
    turning, moving = np.zeros((2, 6, 3))
    turning[:3], moving[3:] = euler_axes(0.4, -0.7, 1.1), np.linalg.qr(turning[:3] + 2.0)[0]
    turning[3:] = np.cross(turning[:3].T, [0.1, -0.2, 0.3]).T
    S = np.hstack([moving, turning])
    np.testing.assert_allclose(drive_wrench(S, S.T @ wrench), wrench, atol=1e-13)
    planar = np.zeros((6, 3))
    planar[3, 0] = planar[4, 1] = planar[2, 2] = 1.0
    found = drive_wrench(planar, planar.T @ wrench)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.8, 2.0, -3.0, 0.0], atol=1e-15)


def test_a_screw_is_driven_by_a_moment():
    """A coordinate that turns and shifts at once is driven by a moment along its axis."""
    S = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.002]]).T
    np.testing.assert_allclose(drive_wrench(S, np.array([5.0])), [0, 0, 5.0, 0, 0, 0])


@pytest.fixture(scope='module')
def jointed():
    """Return a chain of rigid bodies on all kinds of joints with several coordinates."""
    kinds = [{'type': t} for t in ('spherical', 'universal', 'planar', 'cylindrical', 'free')]
    kinds.append({'type': 'spherical', 'parameters': 'roll_pitch_yaw'})
    bodies = [
        {'name': f'b{i}', 'joint': {**kind, 'origin': {'rpy': [0.3, 0.2, 0.1]}}, 'body': link()}
        for i, kind in enumerate(kinds)
    ]
    return sd.compile_model(sd.load_robot({'name': 'joints', 'bodies': bodies}))


def test_drives_of_a_robot_do_the_work_of_its_forces(jointed):
    """Drives of joints with several coordinates satisfy S^T tau = Q."""
    ((q, forces, _),) = states(jointed, 1, seed=9)
    found, robot = sd.joint_torques(jointed, q=q, forces=forces), placement(jointed, q).robot
    first = 0
    for i, module in enumerate(jointed.description.modules):
        S = motion_subspace(robot, i)
        own = forces[first : first + S.shape[1]]
        np.testing.assert_allclose(S.T @ found[i], own, atol=1e-13)
        first += S.shape[1]
        if module.joint.type_name in ('spherical', 'universal'):
            assert not found[i, 3:].any()


def test_a_singular_joint_is_named(jointed, monkeypatch):
    """Where no wrench has the generalized forces, the error names the joint."""
    lock = np.vstack([euler_axes(0.0, np.pi / 2.0, 0.0), np.zeros((3, 3))])
    own = conversions.motion_subspace
    monkeypatch.setattr(
        conversions, 'motion_subspace', lambda robot, i: lock if i == 5 else own(robot, i)
    )
    forces = np.zeros(jointed.n)
    forces[-3:] = 1.0, 2.0, 1.0
    with pytest.raises(ArgumentError, match='b5 is not singular') as caught:
        sd.joint_torques(jointed, q=np.zeros(jointed.n), forces=forces)
    assert caught.value.argument == 'q'


def test_in_gimbal_lock_no_moment_has_all_forces():
    """In gimbal lock forces that differ on coincident axes are refused."""
    S = np.vstack([euler_axes(0.0, np.pi / 2.0, 0.0), np.zeros((3, 3))])
    possible, impossible = np.array([1.0, 2.0, -1.0]), np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(S.T @ drive_wrench(S, possible), possible, atol=1e-12)
    assert np.abs(S.T @ drive_wrench(S, impossible) - impossible).max() > 0.5


def test_postures_without_a_model_say_why(jointed):
    """An error names the joint that has no such posture, and gives its explanation."""
    q = np.zeros(jointed.n)
    q[1] = 7.0
    with pytest.raises(ArgumentError, match='represent; b0: .*2 pi') as caught:
        sd.forward_kinematics(jointed, q=q)
    assert caught.value.argument == 'q'
    with pytest.raises(ArgumentError) as caught:
        sd.forward_kinematics(compiled('pcc_arm'), q=np.full(9, 20.0))
    words = 'a posture that the bodies can represent; segment1: a bend of at most'
    assert caught.value.expected.startswith(words)


def test_the_examples_of_the_documentation_run(capsys):
    """The Python in docs/dynamics.md runs from top to bottom as written."""
    text = Path(__file__).parents[2].joinpath('docs', 'dynamics.md').read_text(encoding='utf-8')
    blocks = re.findall(r'```python\n(.*?)```', text, re.DOTALL)
    assert len(blocks) >= 5
    exec(compile(''.join(blocks), 'dynamics.md', 'exec'), {'__name__': 'dynamics'})
    assert capsys.readouterr().out.strip()
