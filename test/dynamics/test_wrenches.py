# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Wrenches from outside and in the joints, against virtual work, Newton and Euler, Pinocchio."""

import numpy as np
from oracles.jets import Jet, jet, JETS
from oracles.material import frames_and_derivatives
from oracles.trees import place
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.calls import placement
from softrobot_dynamics.dynamics.conversions import motion_subspace
from softrobot_dynamics.errors import ArgumentError
from support.robots import compiled, states

TOLERANCE = 1e-12  # of the largest entry
MIXED = 'hand'  # a tree of rigid, planar_cc and pcc bodies


def assert_close(found, wanted, scale=0.0):
    """Compare arrays relative to the largest entry of the wanted one, or to ``scale``."""
    assert np.abs(found - wanted).max() <= TOLERANCE * max(scale, np.abs(wanted).max())


def random_wrenches(model, seed):
    """Four wrenches on every body: at its tip and at a point, given in the body and the base."""
    rng, wrenches = np.random.default_rng(seed), {}
    for module in model.description.modules:
        points = np.asarray(module.body.material_points()[0])
        tabulated = module.body.tabulated  # the oracle has no formula of it
        wrenches[module.name] = [
            sd.Wrench(rng.normal(size=6), point, frame)
            for point in (None, None if tabulated else points[rng.integers(len(points))])
            for frame in ('body', 'base')
        ]
    return wrenches


def in_base(model, q, wrenches):
    """Return (body index, value (6,), point (3,), derivatives (6, n)) of wrenches, by oracle."""
    loads = [(model.body_names.index(b), w) for b, several in wrenches.items() for w in several]
    points = [(i, wrench.point) for i, wrench in loads]
    placed, result = frames_and_derivatives(model.description, points, q), []
    for (i, wrench), (pose, derivatives) in zip(loads, placed):
        R = pose[:3, :3] if wrench.frame == 'body' else np.eye(3)
        value = np.concatenate([R @ wrench.value[:3], R @ wrench.value[3:]])
        result.append((i, value, pose[:3, 3], derivatives))
    return result


@pytest.mark.parametrize('name', [MIXED, 'zoo'])
def test_wrenches_do_the_work_of_their_displacements(name):
    """ID less ID without wrenches is minus their work per displacement, anywhere, in any frame."""
    model = compiled(name)
    ((q, qd, qdd),) = states(model, 1, seed=1)
    free = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
    wrenches = random_wrenches(model, 1)
    single = [{body: wrench} for body, several in wrenches.items() for wrench in several]
    for wrench, (_, value, _, derivatives) in zip(single, in_base(model, q, wrenches)):
        loaded = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd, wrenches=wrench)
        assert_close(free - loaded, derivatives.T @ value, scale=np.abs(free).max())


def test_a_dead_force_has_a_potential():
    """The generalized force of a dead force is the gradient of f . p(q), by finite steps."""
    model, force, h = compiled(MIXED), np.array([0.4, -1.1, 0.7]), 1e-5
    ((q, qd, _),) = states(model, 1, seed=2)
    for body, point in (('index3', [0.004, 0.002, 0.06]), ('thumb1', None), ('index1', [0.1] * 3)):
        wrench = {body: sd.Wrench([0.0, 0.0, 0.0, *force], point, 'base')}

        def acceleration(wrenches):
            return sd.inverse_dynamics(model, q=q, qd=qd, qdd=qd, wrenches=wrenches)

        def work(q):
            return force @ sd.frame(model, q=q, body=body, point=point)[:3, 3]  # noqa: B023

        derivative = [(work(q + h * e) - work(q - h * e)) / (2 * h) for e in np.eye(model.n)]
        found = acceleration(None) - acceleration(wrench)
        np.testing.assert_allclose(found, derivative, atol=1e-9)


def test_several_wrenches_add_up():
    """Lists of wrenches, plain six numbers at the tip, and MID give what single calls give."""
    model, wrenches = compiled(MIXED), random_wrenches(compiled(MIXED), 3)
    ((q, qd, qdd),) = states(model, 1, seed=3)
    state = {'q': q, 'qd': qd, 'qdd': qdd}
    free = sd.inverse_dynamics(model, **state)
    single = [
        sd.inverse_dynamics(model, **state, wrenches={body: each}) - free
        for body, several in wrenches.items()
        for each in several
    ]
    together = sd.inverse_dynamics(model, **state, wrenches=wrenches)
    assert_close(together, free + sum(single))
    nu, M, joints = sd.mass_inverse_dynamics(
        model, **state, wrenches=wrenches, joint_wrenches=True
    )
    assert np.array_equal(nu, together)
    assert np.array_equal(M, sd.mass_inverse_dynamics(model, **state)[1])
    again = sd.inverse_dynamics(model, **state, wrenches=wrenches, joint_wrenches=True)
    assert np.array_equal(again[0], together) and np.array_equal(again[1], joints)
    plain, full = [0.1, 0.2, 0.3, 4.0, 5.0, 6.0], model.body_names[-1]
    same = [
        sd.inverse_dynamics(model, **state, wrenches=given)
        for given in ({'tip': plain}, {full: sd.Wrench(plain)}, {full: [sd.Wrench(plain)]})
    ]
    assert all(np.array_equal(each, same[0]) for each in same)
    assert not np.allclose(same[0], free)


def test_forward_dynamics_inverts_inverse_dynamics_under_wrenches():
    """ID at the acceleration under u and wrenches, with the same wrenches, gives A u."""
    model, wrenches = compiled(MIXED), random_wrenches(compiled(MIXED), 4)
    ((q, qd, _),) = states(model, 1, seed=4)
    u = np.random.default_rng(4).normal(size=model.m)
    qdd = sd.forward_dynamics(model, q=q, qd=qd, u=u, wrenches=wrenches)
    nu = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd, wrenches=wrenches)
    h = sd.inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * qd)
    wanted = sd.actuation(model, q=q, qd=qd).matrix @ u
    assert np.abs(nu - wanted).max() < 1e-10 * np.abs(h).max()
    assert np.abs(qdd - sd.forward_dynamics(model, q=q, qd=qd, u=u)).max() > 1.0


def balance(model, q, qd, qdd, wrenches):
    """Wrench (N, 6) on all beyond each joint, about S_J, base axes: sums over material points."""
    robot = model.description
    placed = place(robot, [Jet(*each) for each in zip(q, qd, qdd)], JETS)
    beyond = [{i} for i in range(len(placed))]
    for i in range(len(placed) - 1, 0, -1):
        if robot.modules[i].parent >= 0:
            beyond[robot.modules[i].parent] |= beyond[i]
    loads, result = in_base(model, q, wrenches), []
    for i, body in enumerate(placed):
        center = np.array([float(jet(c).value) for c in body.joint_frame[1]])
        total = np.zeros(6)
        for k in beyond[i]:
            p, a = ([np.broadcast_to(getattr(jet(c), order), len(placed[k].masses))
                     for c in placed[k].points] for order in ('value', 'second'))  # fmt: skip
            force = placed[k].masses * (np.array(a) - np.array(robot.gravity)[:, None])
            arm = np.array(p) - center[:, None]
            total += [*np.cross(arm.T, force.T).sum(axis=0), *force.sum(axis=1)]
        for k, value, point, _ in loads:
            if k in beyond[i]:
                moment = value[:3] + np.cross(point - center, value[3:])
                total -= [*moment, *value[3:]]
        result.append(total)
    return np.array(result), placed


@pytest.mark.parametrize('name', [MIXED, 'zoo'])
def test_joint_wrenches_balance_all_material_beyond(name):
    """Rigid or soft: the joint gives all beyond it its momentum, less gravity and wrenches."""
    model = compiled(name)
    wrenches = random_wrenches(model, 5)
    for q, qd, qdd in states(model, 2, seed=5):
        found = sd.inverse_dynamics(
            model, q=q, qd=qd, qdd=qdd, wrenches=wrenches, joint_wrenches=True
        )[1]
        wanted, placed = balance(model, q, qd, qdd, wrenches)
        for row, base, body in zip(found, wanted, placed):
            R = np.array([float(jet(v).value) for v in body.joint_frame[0]]).reshape(3, 3)
            assert_close(np.concatenate([R @ row[:3], R @ row[3:]]), base, np.abs(wanted).max())


@pytest.mark.parametrize('name', [MIXED, 'ur10e'])
def test_joint_wrenches_do_the_joints_work(name):
    """Along the joint's own motion its wrench is ID's generalized force less spring and damper."""
    model = compiled(name)
    ((q, qd, qdd),) = states(model, 1, seed=6)
    nu, joints = sd.inverse_dynamics(
        model, q=q, qd=qd, qdd=qdd, wrenches=random_wrenches(model, 6), joint_wrenches=True
    )
    springs = sd.elastic_force(model, q=q) + sd.damping_force(model, q=q, qd=qd)
    robot, seen = placement(model, q).robot, 0
    for i, module in enumerate(model.description.modules):
        for column in motion_subspace(robot, i).T:
            j = model.coordinate_names.index(module.joint_name)
            assert_close(column @ joints[i], nu[j] - springs[j], scale=np.abs(nu).max())
            seen += 1
    assert seen >= 4


@pytest.mark.quick
@pytest.mark.parametrize('name', ['ur10e', 'tree'])
def test_wrenches_equal_pinocchio(name):
    """ID and the wrenches in the joints equal rnea's with external forces, to 1e-12."""
    pinocchio = pytest.importorskip('pinocchio')
    from support.pinocchio_models import pinocchio_model, PLACED, random_tree

    model = compiled(name) if name == 'ur10e' else sd.compile_model(sd.load_robot(random_tree()))
    other, ids, tips = pinocchio_model(model.description)
    data, rng = other.createData(), np.random.default_rng(8)
    for q, qd, qdd in states(model, 20, seed=8, size=3.0):
        outside, wrenches = pinocchio.StdVec_Force(), {}
        outside.extend([pinocchio.Force.Zero()] * other.njoints)
        distal = [
            PLACED['dh' if m.joint.dh else 'axis'](m.joint)[2] for m in model.description.modules
        ]
        for i, body in enumerate(model.body_names):
            at_tip, at_point, point = rng.normal(size=6), rng.normal(size=6), rng.normal(size=3)
            wrenches[body] = [sd.Wrench(at_tip), sd.Wrench(at_point, point)]
            there = distal[i] * pinocchio.SE3(np.eye(3), point)
            outside[ids[i]] = tips[i].act(pinocchio.Force(at_tip[3:], at_tip[:3])) + there.act(
                pinocchio.Force(at_point[3:], at_point[:3])
            )
        nu, joints = sd.inverse_dynamics(
            model, q=q, qd=qd, qdd=qdd, wrenches=wrenches, joint_wrenches=True
        )
        assert_close(nu - model.damping @ qd, pinocchio.rnea(other, data, q, qd, qdd, outside))
        for i, row in enumerate(joints):
            wanted = distal[i].actInv(data.f[ids[i]])
            assert_close(row, np.concatenate([wanted.angular, wanted.linear]))


@pytest.mark.parametrize(
    'wrenches, argument',
    [
        (np.zeros(6), 'wrenches'),
        ({'elbow': np.zeros(6)}, 'wrenches'),
        ({'lower_bar': np.zeros(3)}, "wrenches['lower_bar']"),
        ({'lower_bar': [np.nan] * 6}, "wrenches['lower_bar']"),
        ({'lower_bar': None}, "wrenches['lower_bar']"),
        ({'lower_bar': sd.Wrench(np.zeros(5))}, "wrenches['lower_bar']"),
        ({'lower_bar': [sd.Wrench(np.zeros(6)), np.zeros(6)]}, "wrenches['lower_bar']"),
        ({'lower_bar': [sd.Wrench(np.zeros(6), [0.0])]}, "wrenches['lower_bar'][0].point"),
        ({'lower_bar': sd.Wrench(np.zeros(6), frame='tip')}, "wrenches['lower_bar'].frame"),
    ],
    ids=['plain', 'unknown', 'short', 'nan', 'none', 'value', 'mixed', 'point', 'frame'],
)
def test_wrong_wrenches_are_named(wrenches, argument):
    """Any fault of a wrench is an ArgumentError that names the place."""
    model, zero = compiled('double_pendulum'), np.zeros(2)
    calls = (
        lambda: sd.inverse_dynamics(model, q=zero, qd=zero, qdd=zero, wrenches=wrenches),
        lambda: sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero, wrenches=wrenches),
        lambda: sd.forward_dynamics(model, q=zero, qd=zero, u=zero, wrenches=wrenches),
        lambda: sd.equilibrium(model, u=zero, wrenches=wrenches),
    )
    for call in calls:
        with pytest.raises(ArgumentError) as caught:
            call()
        assert caught.value.argument == argument
