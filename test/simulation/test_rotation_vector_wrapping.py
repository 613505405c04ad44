# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Re-centring of rotation vectors near a full turn, and where there is none."""

import math

import numpy as np
from oracles.jets import Jet, jet, JETS
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.joints.rotations import RotationVector, SINGULARITY_MARGIN
from softrobot_dynamics.simulation.rotation_vector_wrapping import recentred
from softrobot_dynamics.simulation.simulator import Simulator
from support.generated import instance
from support.robots import link

POSE = {'xyz': [0.1, -0.2, 0.3], 'rpy': [0.4, -0.5, 0.6]}
TURN = 2.0 * math.pi


def made(type_name, **fields):
    """Return a joint of a type, read as from a file."""
    return instance(JOINTS, {'type': type_name, **fields})


def compiled(*joints, body=None, **more):
    """Return a compiled chain of rigid links, weightless, on the given joints, j0, j1, ..."""
    bodies = [
        {'name': f'b{i}', 'joint': {'name': f'j{i}', **joint}, 'body': body or link(1.0 + 0.1 * i)}
        for i, joint in enumerate(joints)
    ]
    described = {'name': 'chain', 'gravity': [0.0, 0.0, 0.0], 'bodies': bodies, **more}
    return sd.compile_model(sd.load_robot(described))


def twist(q, qd):
    """Rotation (3, 3) and angular velocity (3,) in itself, of a rotation vector."""
    R = [jet(c) for c in RotationVector.matrix([Jet(a, b) for a, b in zip(q, qd)], JETS)]
    value, rate = (np.array([getattr(c, o) for c in R]).reshape(3, 3) for o in ('value', 'first'))
    spin = value.T @ rate
    return value, np.array([spin[2, 1], spin[0, 2], spin[1, 0]])


@pytest.mark.quick
@pytest.mark.parametrize('size', [3.15, 4.0, 6.0, 7.0, 12.0])
def test_wrapping_keeps_pose_and_velocity(size):
    """The wrapped state has the same rotation and angular velocity, and a shorter vector."""
    joint, rng = made('free', origin=POSE), np.random.default_rng(5)
    q, qd = rng.normal(size=(2, 6))
    q[3:] *= size / np.linalg.norm(q[3:])
    other, rate = joint.wrap(q, qd)
    assert np.linalg.norm(other[3:]) <= math.pi + 1e-15
    assert np.array_equal(other[:3], q[:3]) and np.array_equal(rate[:3], qd[:3])
    for found, wanted in zip(twist(other[3:], rate[3:]), twist(q[3:], qd[3:])):
        np.testing.assert_allclose(found, wanted, atol=4e-15)


def test_short_vectors_stay():
    """A vector up to pi is left as it is, to the last bit, so also one wrapped before."""
    joint, rng = made('spherical'), np.random.default_rng(6)
    for q, qd in rng.normal(size=(20, 2, 3)):
        q *= rng.uniform(0.0, math.pi) / np.linalg.norm(q)
        same = joint.wrap(q, qd)
        assert np.array_equal(same[0], q) and np.array_equal(same[1], qd)
        once = joint.wrap(5.0 * q, qd)
        assert all(np.array_equal(a, b) for a, b in zip(once, joint.wrap(*once)))


@pytest.mark.parametrize(
    'kind, fields',
    [
        ('spherical', {'stiffness': 0.1}),
        ('spherical', {'stiffness': {'ry': 0.1}}),
        ('spherical', {'parameters': 'roll_pitch_yaw'}),
        ('free', {'stiffness': {'rz': 0.1}}),
        ('revolute', {}),
    ],
)
def test_a_spring_s_coordinates_and_angles_are_not_wrapped(kind, fields):
    """A rotation vector with stiffness along it is not wrapped, nor are angles."""
    joint = made(kind, **fields)
    q = np.full(len(joint.coordinates()), 2.1)
    assert not joint.wrapped_coordinates and np.array_equal(joint.wrap(q, q)[0], q)
    assert made('free', stiffness={'x': 0.1}, damping={'rx': 0.1}).wrapped_coordinates


@pytest.fixture(scope='module')
def floating():
    """Return three links on a free, a revolute and a spherical joint."""
    return compiled({'type': 'free'}, {'type': 'revolute'}, {'type': 'spherical', 'origin': POSE})


def test_wrapped_states_have_equal_energies_and_momenta(floating):
    """Tip frames agree to 1e-14, kinetic energy, linear and angular momentum to 1e-12."""
    rng = np.random.default_rng(7)
    for _ in range(5):
        q, qd = rng.normal(size=(2, floating.n))
        for part in (slice(3, 6), slice(7, 10)):
            q[part] *= rng.uniform(3.2, 6.2) / np.linalg.norm(q[part])
        other, rate = recentred(floating, q=q, qd=qd)
        assert np.abs(other - q)[3:6].max() > 1.0 and np.abs(other - q)[7:].max() > 1.0
        assert np.array_equal(other[6], q[6])
        found, wanted = (sd.forward_kinematics(floating, q=x) for x in (other, q))
        np.testing.assert_allclose(found, wanted, atol=1e-14)
        found, wanted = momenta(floating, other, rate), momenta(floating, q, qd)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def momenta(model, q, qd):
    """Energy, linear and angular momentum (7,) of a weightless robot whose first joint is free."""
    M = sd.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=qd)[1]
    p = M @ qd
    columns = np.array([twist(q[3:6], unit)[1] for unit in np.eye(3)])  # angular velocities
    own = twist(q[3:6], np.zeros(3))[0] @ np.linalg.solve(columns, p[3:6])
    return np.concatenate([[0.5 * qd @ p], p[:3], own + np.cross(q[:3], p[:3])])


def test_a_floating_robot_keeps_its_momenta_through_many_turns(floating):
    """Energy and momenta of tumbling links stay to 1e-9 through more than twenty wrappings."""
    evaluate, n = floating.evaluator(), floating.n

    def rate(t, state):
        terms = evaluate(state[:n], state[n:])
        return np.concatenate([state[n:], np.linalg.solve(terms.M, -terms.h)])

    q, qd = np.zeros(n), np.array([0.3, -0.2, 0.1, 7.0, -4.0, 9.0, 3.0, 5.0, -6.0, 4.0])
    first, jumps = momenta(floating, q, qd), 0
    for _ in range(200):
        end = solve_ivp(rate, (0.0, 0.05), [*q, *qd], method='DOP853', rtol=1e-12, atol=1e-12)
        q, qd = recentred(floating, q=end.y[:n, -1], qd=end.y[n:, -1])
        jumps += not np.array_equal(q, end.y[:n, -1])
    assert jumps > 20
    np.testing.assert_allclose(momenta(floating, q, qd), first, rtol=1e-9)


TOP = {'type': 'rigid', 'mass': 2.0, 'inertia': {'ixx': 0.02, 'iyy': 0.02, 'izz': 0.03}}


def test_the_simulated_top_precesses_as_in_closed_form():
    """R = exp(t L / A) exp(-t (C - A) / A w3 z), a symmetric top's without torque, to order h."""
    model = compiled({'type': 'spherical'}, body=TOP)
    spin, duration = np.array([3.0, 1.0, 20.0]), 2.0
    momentum = np.array([0.02, 0.02, 0.03]) * spin
    turns = duration / 0.02 * momentum, -duration * 0.5 * spin[2] * np.array([0.0, 0.0, 1.0])
    wanted = np.prod([Rotation.from_rotvec(turn) for turn in turns]).as_matrix()
    errors = []
    for h in (4e-4, 2e-4, 1e-4):
        simulator, longest = Simulator(model, qd=spin, substep=h), 0.0
        for _ in range(200):
            simulator.step([], duration / 200)
            longest = max(longest, np.linalg.norm(simulator.q))
        assert 3.0 < longest <= math.pi
        R = sd.forward_kinematics(model, q=simulator.q)[0, :3, :3]
        errors.append(np.abs(R - wanted).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((1.9 < orders) & (orders < 2.1)) and errors[-1] < 1e-3


def test_a_spin_about_a_fixed_axis_goes_on_for_ever():
    """A body that turns steadily does so for 60 turns, wrapped at every one of them."""
    model = compiled({'type': 'free'}, body=TOP)
    spin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 40.0])
    simulator, jumps, last = Simulator(model, qd=spin, substep=1e-3), 0, 0.0
    for _ in range(1000):
        simulator.step([], 1e-2)
        jumps += simulator.q[5] < last
        last = simulator.q[5]
    assert jumps == round(400.0 / TURN)
    np.testing.assert_allclose(simulator.qd, spin, atol=1e-9)
    R = sd.forward_kinematics(model, q=simulator.q)[0, :3, :3]
    np.testing.assert_allclose(R, Rotation.from_rotvec([0, 0, 400.0]).as_matrix(), atol=1e-9)


CALLS = {
    'forward_kinematics': {},
    'jacobian': {},
    'gravity_force': {},
    'actuation': {'qd': np.zeros(4)},
    'inverse_dynamics': {'qd': np.zeros(4), 'qdd': np.zeros(4)},
    'mass_inertial_inverse_dynamics': {'qd': np.zeros(4), 'qdd': np.zeros(4)},
    'forward_dynamics': {'qd': np.zeros(4), 'u': []},
}
VECTOR = 'its rotation vector must be shorter than 2 pi'
PITCH = 'its pitch must not be +-pi/2'
OUTSIDE = [
    ({}, [0.0, TURN, 0.0], VECTOR),
    ({}, [0.0, 0.0, -TURN + 0.9 * SINGULARITY_MARGIN], VECTOR),
    ({}, [5.0, 5.0, 5.0], VECTOR),
    ({'parameters': 'roll_pitch_yaw'}, [1.0, math.pi / 2, 0.0], PITCH),
    ({'parameters': 'roll_pitch_yaw'}, [1.0, -math.pi / 2 + 0.9 * SINGULARITY_MARGIN, 9.0], PITCH),
]


@pytest.mark.parametrize('call', CALLS)
@pytest.mark.parametrize('fields, ball, words', OUTSIDE)
def test_a_posture_out_of_range_is_refused(call, fields, ball, words):
    """A posture where coordinates fail is refused with the joint's name."""
    model = compiled({'type': 'revolute'}, {'type': 'spherical', **fields})
    with pytest.raises(ArgumentError) as caught:
        getattr(sd, call)(model, q=[0.3, *ball], **CALLS[call])
    assert caught.value.argument == 'q'
    assert f'j1: spherical joint out of range: {words}' in caught.value.expected


@pytest.mark.parametrize(
    'fields, ball',
    [
        ({}, [0.0, 0.0, TURN - 1.1 * SINGULARITY_MARGIN]),
        ({}, [2.0, -3.0, 4.0]),
        ({'parameters': 'roll_pitch_yaw'}, [9.0, math.pi / 2 - 1.1 * SINGULARITY_MARGIN, -9.0]),
    ],
)
def test_postures_up_to_the_bound_are_good(fields, ball):
    """Just inside the range everything is finite, and forward inverts inverse dynamics."""
    model = compiled({'type': 'revolute'}, {'type': 'spherical', **fields})
    q, qd = np.array([0.3, *ball]), np.array([0.1, 0.2, -0.3, 0.4])
    nu = sd.inverse_dynamics(model, q=q, qd=qd, qdd=np.ones(4))
    h = sd.inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(4))
    M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qd)[1]
    assert np.isfinite(nu).all()
    np.testing.assert_allclose(np.linalg.solve(M, nu - h), np.ones(4), rtol=1e-6)


def test_a_vector_beyond_a_full_turn_is_wrapped():
    """A rotation vector beyond a full turn is wrapped to a shorter one of the same rotation."""
    model = compiled({'type': 'revolute'}, {'type': 'spherical'})
    q, qd = recentred(model, q=[0.3, 0.0, 0.0, 7.0], qd=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(q, [0.3, 0.0, 0.0, 7.0 - TURN], atol=1e-15)
    sd.forward_kinematics(model, q=q)
    with pytest.raises(ArgumentError, match='qd'):
        recentred(model, q=q, qd=[np.nan, 0.0, 0.0, 0.0])


STIFF = {'type': 'spherical', 'stiffness': 1e-6}
DRIVEN = {'name': 'm', 'type': 'joint', 'joint': 'j0', 'coordinate': 'rz'}
PUSHED = {'name': 'm', 'type': 'joint', 'joint': 'j0', 'coordinate': 'z'}


@pytest.mark.parametrize('joint, actuators', [(STIFF, []), ({'type': 'spherical'}, [DRIVEN])])
def test_the_simulator_stops_where_it_must_not_wrap(joint, actuators):
    """A ball joint with a spring or motor stops at 2 pi with the last valid state."""
    model = compiled(joint, body=TOP, actuators=actuators)
    simulator = Simulator(model, qd=[0.0, 0.0, 10.0], substep=1e-4)
    with pytest.raises(SimulationDivergedError) as caught:
        simulator.step(np.zeros(model.m), 1.0)
    assert caught.value.coordinate.startswith('j0/')
    assert (
        TURN - 2.0 * SINGULARITY_MARGIN < simulator.q[2] < TURN and np.isfinite(simulator.qd).all()
    )
    assert np.array_equal(recentred(model, q=simulator.q, qd=simulator.qd)[0], simulator.q)


def test_a_motor_along_another_coordinate_does_no_harm():
    """A thrust along the displacement of a floating base lets its rotation be wrapped."""
    model = compiled({'type': 'free', 'stiffness': {'x': 1.0}}, body=TOP, actuators=[PUSHED])
    simulator = Simulator(model, qd=[0.0, 0.0, 0.0, 0.0, 0.0, 10.0], substep=1e-3)
    simulator.step([1.0], 1.0)
    assert simulator.q[5] == pytest.approx(10.0 - 2.0 * TURN) and simulator.q[2] > 0.2
