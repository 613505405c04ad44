# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Frames of joints against their definitions, by other formulas, and in fifty digits."""

import math

import mpmath
import numpy as np
from oracles.jets import Jet, jet, JETS
from oracles.precise import derivatives, PRECISE
from oracles.trees import joint_frame
import pytest
from scipy.spatial.transform import Rotation
from softrobot_dynamics.joints.contract import Joint, JOINTS
from softrobot_dynamics.joints.rotations import RotationVector
from support.generated import instance, members
from support.kernel_calls import joint_slab

pytestmark = pytest.mark.quick


@pytest.fixture(scope='module', params=members(JOINTS))
def joint(request):
    """Every registered joint."""
    return request.param


def made(type_name, **fields):
    """Return a joint of a type, read as from a file."""
    return instance(JOINTS, {'type': type_name, **fields})


def slab(joint, q, qd, kernel=None):
    """Frame slab of a joint by its kernel."""
    return joint_slab(kernel or joint.kernel(), q, qd)


def slab_by_jets(joint, q, qd):
    """Frame slab of a joint from its definition in the oracles, differentiated by jets."""

    def along(direction):
        moving = [Jet(a, b) for a, b in zip(q, direction)]
        R, t = joint_frame(joint, moving, JETS)
        parts = [[getattr(jet(c), order) for c in (*R, *t)] for order in ORDERS]
        return [(np.array(p[:9], dtype=float).reshape(3, 3), np.array(p[9:])) for p in parts]

    (R, t), (dR, _), (ddR, ddt) = along(qd)
    columns = [along(unit)[1] for unit in np.eye(len(q))]
    angular = [vee(R.T @ each) for each, _ in columns]
    bias = vee(R.T @ ddR - (R.T @ dR) @ (R.T @ dR))
    linear = [each for _, each in columns]
    return np.concatenate([R.ravel(), t, bias, ddt, *angular, *linear])


ORDERS = 'value', 'first', 'second'


def vee(S):
    """Vector (3,) of a skew matrix."""
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def test_frames_equal_their_definition_differentiated_by_jets(joint):
    """Frame, Jacobian and bias are those of the oracle's definition to 1e-13."""
    n, rng = len(joint.coordinates()), np.random.default_rng(1)
    for q, qd in rng.uniform(-1.4, 1.4, (20, 2, n)):
        found, wanted = slab(joint, q, qd), slab_by_jets(joint, q, qd)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


def test_closed_forms_equal_the_traced_motion(joint):
    """A joint's own kernel fills the slab that the one traced from its motion fills."""
    n, rng = len(joint.coordinates()), np.random.default_rng(2)
    own, traced = joint.kernel(), Joint.kernel(joint)
    assert np.array_equal(traced.parameters[: 3 * n].reshape(3, n), joint.springs())
    for q, qd in rng.uniform(-2.0, 2.0, (5, 2, n)):
        wanted = slab(joint, q, qd, traced)
        np.testing.assert_allclose(slab(joint, q, qd, own), wanted, rtol=0.0, atol=1e-14)


def test_numbers_of_a_joint_are_no_code():
    """Joints of one type share their machine code, whatever their numbers."""
    first, second = (
        made('helical', pitch=0.01),
        made('helical', pitch=0.02, axis=[1, 2, 3], rest=1),
    )
    assert first.kernel()[:2] == second.kernel()[:2]


def test_a_state_that_is_no_number_gives_none(joint):
    """A NaN in a coordinate or its rate gives a frame that is not finite."""
    n = len(joint.coordinates())
    for j in range(n):
        state = np.full((2, n), 0.3)
        state[0, j] = np.nan
        assert not np.isfinite(slab(joint, *state)).all()


POSE = {'xyz': [0.1, -0.2, 0.3], 'rpy': [0.4, -0.5, 0.6]}
AXIS = np.array([0.6, 0.0, -0.8])


def about(axis, angle):
    """Rotation (3, 3) about a unit axis."""
    return Rotation.from_rotvec(np.asarray(axis) * angle).as_matrix()


def moved(kind, q):
    """Rotation and displacement in the origin frame, by scipy and matrix products."""
    x, y, z = np.eye(3)
    return {
        'helical': lambda: (about(AXIS, q[0]), 0.02 * q[0] * AXIS),
        'cylindrical': lambda: (about(AXIS, q[0]), q[1] * AXIS),
        'universal': lambda: (about(x, q[0]) @ about(y, q[1]), 0.0 * x),
        'planar': lambda: (about(z, q[2]), q[0] * x + q[1] * y),
        'spherical': lambda: (Rotation.from_rotvec(q).as_matrix(), 0.0 * x),
        'free': lambda: (Rotation.from_rotvec(q[3:]).as_matrix(), q[:3]),
    }[kind]()


FIELDS = {'helical': {'axis': AXIS, 'pitch': 0.02}, 'cylindrical': {'axis': AXIS}}


@pytest.mark.parametrize(
    'kind', ['helical', 'cylindrical', 'universal', 'planar', 'spherical', 'free']
)
def test_a_joint_moves_as_documented_in_its_origin_frame(kind):
    """T = origin motion(q), with rotations by scipy."""
    joint = made(kind, origin=POSE, **FIELDS.get(kind, {}))
    origin = about([0, 0, 1], 0.6) @ about([0, 1, 0], -0.5) @ about([1, 0, 0], 0.4)
    rng = np.random.default_rng(3)
    for q in rng.uniform(-1.7, 1.7, (10, len(joint.coordinates()))):
        R, t = moved(kind, q)
        W = slab(joint, q, 0.0 * q)
        np.testing.assert_allclose(W[:9].reshape(3, 3), origin @ R, atol=1e-14)
        np.testing.assert_allclose(W[9:12], POSE['xyz'] + origin @ t, atol=1e-14)


def test_roll_pitch_yaw_are_those_of_robot_files():
    """The rotation is the one that an origin of the same rpy has."""
    angles = [0.4, -1.2, 2.6]
    moving = made('spherical', parameters='roll_pitch_yaw')
    placed = made('fixed', origin={'rpy': angles})
    found = slab(moving, angles, np.zeros(3))[:12]
    np.testing.assert_allclose(found, slab(placed, [], [])[:12], atol=1e-15)
    assert moving.coordinates() == ('roll', 'pitch', 'yaw')


SIZES = [0.0, 1e-160, 1e-9, 1e-4, 0.1, 1.999, 2.001, 3.1, math.pi, 5.0, 6.2]


@pytest.mark.parametrize('size', SIZES, ids='{:g}'.format)
def test_the_exponential_map_is_smooth_from_zero_to_a_full_turn(size):
    """Frame, Jacobian and bias equal fifty-digit ones at any angle, without a gap near zero."""
    joint, rng = made('spherical'), np.random.default_rng(4)
    for axis, qd in rng.normal(size=(3, 2, 3)):
        q = size * axis / np.linalg.norm(axis)
        value, first, second = derivatives(lambda r: RotationVector.matrix(r, PRECISE), q, qd)
        R, dR = as_matrix(value), [as_matrix(each) for each in first]
        rate = sum(x * each for x, each in zip(qd, dR))
        bias = vee(R.T @ as_matrix(second) - (R.T @ rate) @ (R.T @ rate))
        wanted = np.concatenate([R.ravel(), bias, *(vee(R.T @ each) for each in dR)])
        W = slab(joint, q, qd)
        found = np.concatenate([W[:9], W[12:15], W[18:27]])
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=3e-15 * (1.0 + qd @ qd))


def as_matrix(entries):
    """Nine precise numbers as an array (3, 3)."""
    with mpmath.workdps(50):
        return np.array([float(x) for x in entries]).reshape(3, 3)
