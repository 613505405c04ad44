# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Rigid trees on every joint type against Pinocchio.

Its velocities v are not the rates of coordinates: v = G(q) qd, dv/dt = G qdd + (dG/dt) qd, with
identity blocks but for balls (angular velocity in the body), planar and free joints (the linear
velocity in the body too). Generalized forces are then G' tau, and the mass matrix is G' M G.
"""

import numpy as np
from oracles.jets import Jet, jet, JETS
import pytest
import softrobot_dynamics as sd
from support.robots import states

pinocchio = pytest.importorskip('pinocchio')

from support.pinocchio_models import assert_equal, pose, tensor  # noqa: E402

AXIS = [0.6, -0.3, -0.8]
TYPES = {
    'free': {},
    'universal': {},
    'helical': {'axis': AXIS, 'pitch': 0.03},
    'spherical': {},
    'planar': {},
    'cylindrical': {'axis': AXIS},
    'rpy': {'type': 'spherical', 'parameters': 'roll_pitch_yaw'},
    'floating': {'type': 'free', 'parameters': 'roll_pitch_yaw'},
    'revolute': {'axis': AXIS},
}


def description():
    """Return a tree of every joint type, in branches of three, with rigid bodies."""
    rng, bodies = np.random.default_rng(8), []
    for i, (kind, fields) in enumerate(TYPES.items()):
        second = rng.uniform(-0.2, 0.2, (3, 3))
        second = second @ second.T + 0.01 * np.eye(3)
        J = np.trace(second) * np.eye(3) - second
        keys = {'ixx': 0, 'iyy': 4, 'izz': 8, 'ixy': 1, 'ixz': 2, 'iyz': 5}
        bodies.append(
            {
                'name': f'b{i}',
                'parent': f'b{i - 1}' if i % 3 else 'base' if i == 0 else 'b0',
                'joint': {'name': f'{kind}_{i}', 'type': kind, 'origin': placed(rng), **fields},
                'body': {
                    'type': 'rigid',
                    'mass': float(rng.uniform(0.5, 3.0)),
                    'com': rng.normal(size=3).tolist(),
                    'inertia': {key: float(J.flat[k]) for key, k in keys.items()},
                    'tip': placed(rng),
                },
            }
        )
    return {'name': 'all_joints', 'gravity': [0.7, -1.2, -9.5], 'bodies': bodies}


def placed(rng):
    """Return the mapping of a random pose."""
    return {'xyz': rng.normal(size=3).tolist(), 'rpy': rng.uniform(-3.0, 3.0, 3).tolist()}


def joint_model(joint):
    """Return Pinocchio's joint, or two in a row, that moves alike."""
    axis = np.array(getattr(joint, 'axis', None) or (0.0, 0.0, 1.0))
    x, y, _ = np.eye(3)
    angles = getattr(joint, 'parameters', None) == 'roll_pitch_yaw'
    return {
        'revolute': lambda: [pinocchio.JointModelRevoluteUnaligned(axis)],
        'helical': lambda: [pinocchio.JointModelHelicalUnaligned(axis, joint.pitch)],
        'cylindrical': lambda: [
            pinocchio.JointModelRevoluteUnaligned(axis),
            pinocchio.JointModelPrismaticUnaligned(axis),
        ],
        'universal': lambda: [pinocchio.JointModelUniversal(x, y)],
        'planar': lambda: [pinocchio.JointModelPlanar()],
        'spherical': lambda: [
            pinocchio.JointModelSphericalZYX() if angles else pinocchio.JointModelSpherical()
        ],
        'free': lambda: (
            [pinocchio.JointModelTranslation(), pinocchio.JointModelSphericalZYX()]
            if angles
            else [pinocchio.JointModelFreeFlyer()]
        ),
    }[joint.type_name]()


def pinocchio_model(robot):
    """Return the Pinocchio model of a RobotDescription, with its joints and tips by body."""
    model = pinocchio.Model()
    model.gravity.linear = np.array(robot.gravity)
    ids, tips = [], []
    for module in robot.modules:
        parent, body = module.parent, module.body
        place = pose(module.joint.origin)
        last, place = (0, place) if parent < 0 else (ids[parent], tips[parent] * place)
        for k, each in enumerate(joint_model(module.joint)):
            last = model.addJoint(last, each, place, f'{module.joint_name}_{k}')
            place = pinocchio.SE3.Identity()
        inertia = pinocchio.Inertia(body.mass, np.array(body.com), tensor(body.inertia))
        model.appendBodyToJoint(last, inertia, place)
        ids.append(last)
        tips.append(pose(body.tip))
    return model, ids, tips


def configuration(joint, q):
    """Return Pinocchio's configuration of one joint."""
    kind, angles = joint.type_name, 'roll' in joint.coordinates()
    if kind == 'planar':
        return [q[0], q[1], np.cos(q[2]), np.sin(q[2])]
    if kind in ('spherical', 'free'):
        turn = q[:2:-1] if kind == 'free' else q[::-1]  # yaw, pitch, roll
        turn = turn if angles else quaternion(q[-3:])
        return [*q[:-3], *turn]
    return list(q)


def quaternion(r):
    """Return the quaternion (x, y, z, w) of a rotation vector."""
    return pinocchio.Quaternion(pinocchio.exp3(np.array(r))).coeffs()


def velocity_map(joint, q, math):
    """Rows of G(q), v = G qd, as a list of lists for any arithmetic."""
    n, kind, angles = len(q), joint.type_name, 'roll' in joint.coordinates()
    G = [[float(i == j) for j in range(n)] for i in range(n)]
    if kind == 'planar':
        c, s = math.cos(q[2]), math.sin(q[2])
        G[0][:2], G[1][:2] = [c, s], [-s, c]
    elif kind in ('spherical', 'free') and angles:
        for i in range(3):
            G[n - 3 + i] = [float(j == n - 1 - i) for j in range(n)]
    elif kind in ('spherical', 'free'):
        R, right = exponential(q[-3:], math)
        for i in range(3):
            G[n - 3 + i][-3:] = right[i]
            if kind == 'free':
                G[i][:3] = [R[j][i] for j in range(3)]
    return G


def exponential(r, math):
    """R = exp(K), K = skew(r), and its right Jacobian 1 - c2 K + c3 K^2, rows of three."""
    x, y, z = r
    K = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    square = [[sum(K[i][k] * K[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    c = [math.stumpff(k, x * x + y * y + z * z) for k in range(4)]
    R = [[(i == j) + c[1] * K[i][j] + c[2] * square[i][j] for j in range(3)] for i in range(3)]
    right = [[(i == j) - c[2] * K[i][j] + c[3] * square[i][j] for j in range(3)] for i in range(3)]
    return R, right


def mapped(robot, q, qd):
    """Pinocchio's configuration, G (n, n) and (dG/dt) qd (n,)."""
    n, first, configured = len(q), 0, []
    G, drift = np.zeros((n, n)), np.zeros(n)
    for module in robot.modules:
        count = len(module.joint.coordinates())
        part = slice(first, first + count)
        first += count
        moving = [Jet(a, b) for a, b in zip(q[part], qd[part])]
        rows = [[jet(x) for x in row] for row in velocity_map(module.joint, moving, JETS)]
        G[part, part] = [[x.value for x in row] for row in rows]
        drift[part] = np.array([[x.first for x in row] for row in rows]) @ qd[part]
        configured += configuration(module.joint, q[part])
    return np.array(configured, dtype=float), G, drift


@pytest.fixture(scope='module')
def pair():
    """Our model, Pinocchio's model and data, and Pinocchio's joints and tips."""
    model = sd.compile_model(sd.load_robot(description()))
    other, ids, tips = pinocchio_model(model.description)
    assert other.nv == model.n
    return model, other, other.createData(), ids, tips


@pytest.mark.parametrize('size', [1e-9, 1e-4, 0.1, 1.4], ids='{:g}'.format)
def test_inverse_dynamics_equals_rnea_and_crba_of_mapped_velocities(pair, size):
    """ID equals G' rnea and M equals G' crba G to 1e-12 on random states."""
    model, other, data, *_ = pair
    for q, qd, qdd in states(model, 25, seed=1, size=1.0):
        q = size * q
        configured, G, drift = mapped(model.description, q, qd)
        Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        wanted = pinocchio.rnea(other, data, configured, G @ qd, G @ qdd + drift)
        assert_equal(Q, G.T @ wanted)
        pinocchio.crba(other, data, configured)
        assert_equal(M, G.T @ (np.triu(data.M) + np.triu(data.M, 1).T) @ G)


def test_tip_frames_and_jacobians_equal_pinocchio(pair):
    """Tip frames and tip Jacobians of mapped velocities equal Pinocchio's to 1e-12."""
    model, other, data, ids, tips = pair
    for q, qd, _ in states(model, 10, seed=2, size=1.4):
        configured, G, _ = mapped(model.description, q, qd)
        frames = sd.forward_kinematics(model, q=q)
        pinocchio.computeJointJacobians(other, data, configured)
        for i, name in enumerate(model.body_names):
            assert_equal(frames[i], (data.oMi[ids[i]] * tips[i]).homogeneous)
            local = pinocchio.getJointJacobian(other, data, ids[i], pinocchio.LOCAL)
            wanted = tips[i].inverse().action @ local @ G  # linear rows first
            found = sd.jacobian(model, q=q, body=name)
            assert_equal(found, np.vstack([wanted[3:], wanted[:3]]))
