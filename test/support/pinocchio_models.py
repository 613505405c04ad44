# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Build rigid robots in Pinocchio, with formulas independent of the package."""

import numpy as np
import pinocchio

TOLERANCE = 1e-12  # of the largest entry


def pinocchio_model(robot):
    """Return the Pinocchio model of a RobotDescription of rigid bodies."""
    model = pinocchio.Model()
    model.gravity.linear = np.array(robot.gravity)
    ids, tips = [], []
    for module in robot.modules:
        parent = module.parent
        outer = tips[parent] if parent >= 0 else pinocchio.SE3.Identity()
        placement, moving, distal = PLACED['dh' if module.joint.dh else 'axis'](module.joint)
        ids.append(
            model.addJoint(
                ids[parent] if parent >= 0 else 0, moving, outer * placement, module.joint_name
            )
        )
        body = module.body
        inertia = pinocchio.Inertia(body.mass, np.array(body.com), tensor(body.inertia))
        model.appendBodyToJoint(ids[-1], inertia, distal)
        tips.append(distal * pose(body.tip))
    return model, ids, tips


def by_dh(joint):
    """Motion about or along z, then the row's constant Rz(theta0) Tz(d) Tx(a) Rx(alpha)."""
    alpha, a, d, theta0 = joint.dh
    distal = pinocchio.SE3(about('z', theta0), np.array([0.0, 0.0, d])) * pinocchio.SE3(
        about('x', alpha), np.array([a, 0.0, 0.0])
    )
    models = {'revolute': pinocchio.JointModelRZ, 'prismatic': pinocchio.JointModelPZ}
    return pinocchio.SE3.Identity(), models[joint.type_name](), distal


def by_axis(joint):
    """Motion about or along an axis in the origin frame."""
    models = {
        'revolute': pinocchio.JointModelRevoluteUnaligned,
        'prismatic': pinocchio.JointModelPrismaticUnaligned,
    }
    moving = models[joint.type_name](np.array(joint.axis))
    return pose(joint.origin), moving, pinocchio.SE3.Identity()


PLACED = {'dh': by_dh, 'axis': by_axis}


def about(axis, angle):
    """Rotation (3, 3) about the x, y or z axis."""
    return pinocchio.utils.rotate(axis, angle)


def pose(value):
    """Return the SE3 of an origin or a tip in the robot file."""
    return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*value.rpy), np.array(value.xyz))


def tensor(inertia):
    """Inertia (3, 3) about the centre of mass."""
    xx, yy, zz, xy, xz, yz = (
        getattr(inertia, key) for key in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
    )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def random_tree(count=10):
    """
    Random rigid bodies in a tree, on revolute and prismatic joints by axis and origin.

    Branch by branch: Pinocchio's crba is wrong where a subtree is not a run of joints.
    """
    rng = np.random.default_rng(7)
    bodies, branch = [], ['base']
    for i in range(count):
        branch = branch[: rng.integers(len(branch)) + 1] if i % 3 == 2 else branch
        spread = rng.uniform(-0.2, 0.2, (3, 3))
        second = spread @ spread.T + 0.01 * np.eye(3)
        J = np.trace(second) * np.eye(3) - second  # any such matrix is an inertia
        keys = {'ixx': 0, 'iyy': 4, 'izz': 8, 'ixy': 1, 'ixz': 2, 'iyz': 5}
        bodies.append(
            {
                'name': f'b{i}',
                'parent': branch[-1],
                'joint': {
                    'name': f'{["revolute", "prismatic"][i % 3 == 1]}_{i}',
                    'type': ['revolute', 'prismatic'][i % 3 == 1],
                    'axis': rng.normal(size=3).tolist(),
                    'origin': {'xyz': rng.normal(size=3).tolist(), 'rpy': _angles(rng)},
                },
                'body': {
                    'type': 'rigid',
                    'mass': float(rng.uniform(0.5, 3.0)),
                    'com': rng.normal(size=3).tolist(),
                    'inertia': {key: float(J.flat[k]) for key, k in keys.items()},
                    'tip': {'xyz': rng.normal(size=3).tolist(), 'rpy': _angles(rng)},
                },
            }
        )
        branch = [*branch, f'b{i}']
    return {'name': 'random_tree', 'gravity': [0.7, -1.2, -9.5], 'bodies': bodies}


def _angles(rng):
    return rng.uniform(-3.0, 3.0, 3).tolist()


def assert_equal(found, wanted, tolerance=TOLERANCE):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert np.abs(found - wanted).max() <= tolerance * max(np.abs(wanted).max(), 1e-3)
