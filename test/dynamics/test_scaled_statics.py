# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Postures at rest do not depend on a robot's size: by dimensional analysis, and closed forms."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.robots import soft_arm
from support.scaled import model_of, rod, Scale, scaled, SIZES, tips

OTHERS = SIZES[1:]
FINE = (Scale(), Scale(length=1e-2), Scale(length=1e-2, modulus=5.0), Scale(length=1e-3))


def bare(slenderness=1e-2, **given):
    """Return the mapping of a rod of 1 m and 1 MPa without gravity."""
    robot = {**rod(), 'gravity': [0.0, 0.0, 0.0], **given}
    robot['bodies'][0]['body']['section']['radius'] = slenderness
    return robot


def rigidity(scale, radius=1e-2):
    """Return E I [N m^2] of a rod."""
    return 1e6 * scale.modulus * np.pi * (radius * scale.length) ** 4 / 4.0


@pytest.mark.parametrize('scale', [*FINE, *OTHERS], ids=str)
def test_a_dead_force_bends_a_rod_as_the_elastica(scale):
    """At P L^2 = E I across the tip x / L is 0.301722, the elastica's, at any size."""
    model = model_of(bare(), scale)
    force = sd.Wrench([0, 0, 0, rigidity(scale) / scale.length**2, 0, 0], frame='base')
    rest = sd.equilibrium(model, u=np.zeros(3), wrenches={'rod': force})
    assert rest.stable
    assert tips(model, scale, rest.q)[0, 0, 3] == pytest.approx(0.301722, abs=2e-6)


@pytest.mark.parametrize('scale', FINE, ids=str)
def test_a_tendon_bends_a_rod_by_its_moment(scale):
    """A parallel tendon at distance d bends a rod by T d L / (E I) = 0.8 rad at any size."""
    model = model_of(bare(), scale)
    L, d = scale.length, 0.01 * scale.length
    rest = sd.equilibrium(model, u=[0.8 * rigidity(scale) / (L * d), 0.0, 0.0])
    tip = sd.forward_kinematics(model, q=rest.q)[0]
    assert np.arctan2(tip[0, 2], tip[2, 2]) == pytest.approx(0.8, abs=1e-9)
    assert rest.stable


@functools.cache
def loaded(size):
    """Return (scaled tips, scaled stability, whether stable) of a loaded rod: solved, ramped."""
    model = model_of({**rod(), 'gravity': [6.0, 0.0, -7.0]}, size)
    push = {'rod': sd.Wrench([0, 0, 0, 0, 0.02 * size.force, 0], None, 'base')}
    found = []
    for ramp in (False, True):
        rest = sd.equilibrium(
            model, u=np.array([0.0, 2.0, 1.0]) * size.force, wrenches=push, ramp=ramp
        )
        found.append((tips(model, size, rest.q), rest.stability * size.time**2, rest.stable))
    return found


@pytest.mark.parametrize('scale', OTHERS, ids=str)
def test_postures_under_weight_and_tendons_are_the_scaled_ones(scale):
    """Scaled robots take scaled postures, and squared frequencies scale with time squared."""
    for own, other in zip(loaded(Scale()), loaded(scale)):
        np.testing.assert_allclose(other[0], own[0], atol=1e-9)
        assert other[1] == pytest.approx(own[1], rel=1e-6) and other[2] == own[2]


@pytest.mark.parametrize('scale', SIZES, ids=str)
def test_a_rod_buckles_under_the_same_share_of_its_load(scale):
    """A rod stands below pi^2 E I / (4 L^2) along its axis and buckles above, at any size."""
    model, critical = model_of(bare(), scale), rigidity(scale) / scale.length**2 * np.pi**2 / 4.0
    for share, stands in ((0.99, True), (1.01, False)):
        load = {'rod': sd.Wrench([0, 0, 0, 0, 0, -share * critical], frame='base')}
        assert sd.equilibrium(model, u=np.zeros(3), wrenches=load).stable == stands


@pytest.mark.parametrize('scale', SIZES, ids=str)
def test_an_indifferent_joint_is_stable(scale):
    """A turntable under a soft arm stays where it is and counts as stable."""
    model = model_of(soft_arm(), scale)
    for turn in (0.0, 0.7):
        q0 = model.q0.copy()
        q0[0] = turn
        u = np.array([0.0, 2.0, 0.5, 0.0, 0.0, 1.0, 0.0]) * scale.force
        rest = sd.equilibrium(model, u=u, q0=q0)
        assert rest.stable and rest.q[0] == pytest.approx(turn, abs=1e-9)
        assert rest.iterations < 20 and abs(rest.stability) * scale.time**2 < 1e-3


@pytest.mark.parametrize('scale', SIZES, ids=str)
def test_a_soft_spring_is_distinguished_from_rounding(scale):
    """A spring of 1e-7 of the moment of 10 kg on a turntable is distinguished from rounding."""
    bodies = [{
        'name': 'arm',
        'joint': {'type': 'revolute', 'axis': [0.0, 0.0, 1.0], 'stiffness': 1e-5},
        'body': {'type': 'rigid', 'mass': 10.0, 'com': [0.5, 0.0, 0.0],
                 'inertia': dict.fromkeys(('ixx', 'iyy', 'izz'), 1.0),
                 'tip': {'xyz': [1.0, 0.0, 0.0]}},
    }]  # fmt: skip
    motor = {'name': 'm', 'type': 'joint', 'joint': 'arm'}
    robot = {'name': 'table', 'gravity': [0.0, 0.0, -9.81], 'bodies': bodies}
    model = model_of({**robot, 'actuators': [motor]}, scale)
    rest = sd.equilibrium(model, u=[5e-6 * scale.moment])
    assert rest.stable and rest.q[0] == pytest.approx(0.5, abs=1e-6)


def crane():
    """Return the mapping of a fibre of 10 mm at the end of a rigid arm of 5 m and 100 kg."""
    fibre = scaled(rod()['bodies'][0], Scale(length=1e-2, density=1e-6))
    fibre['body']['section']['radius'] = 1e-4
    arm = {
        'name': 'arm',
        'joint': {'type': 'revolute', 'axis': [0.0, 0.0, 1.0]},
        'body': {'type': 'rigid', 'mass': 100.0, 'com': [2.5, 0.0, 0.0],
                 'inertia': dict.fromkeys(('ixx', 'iyy', 'izz'), 10.0),
                 'tip': {'xyz': [5.0, 0.0, 0.0]}},
    }  # fmt: skip
    return {'name': 'crane', 'gravity': [0.0, 0.0, 9.81], 'bodies': [arm, fibre]}


def test_a_small_part_of_a_large_robot_bends_as_if_it_were_alone():
    """A small part is balanced by the forces along its coordinates, not by the largest."""
    load = {'rod': sd.Wrench([0.8 * rigidity(Scale(length=1e-2)) / 1e-2, 0, 0, 0, 0, 0])}
    model = sd.compile_model(sd.load_robot(crane()))
    rest = sd.equilibrium(model, u=[], wrenches=load)
    arm, tip = sd.forward_kinematics(model, q=rest.q)
    tip = arm[:3, :3].T @ tip[:3, :3]  # the arm may stand anywhere
    assert rest.stable
    assert np.arctan2(-tip[1, 2], tip[2, 2]) == pytest.approx(0.8, rel=1e-4)
