# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compiled robots for tests: shipped, reference and generated from all registered kinds."""

import functools
import json
from pathlib import Path

import numpy as np
from oracles.trees import MOTIONS
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.joints.contract import JOINTS
from support.generated import instance, instances

SHIPPED = tuple(sorted(shipped('robots')))
"""Names of the robots that come with the package."""


def reference(file):
    """Content of one of the files with reference values."""
    return json.loads(Path(__file__).parents[1].joinpath('reference', file).read_text())


@functools.cache
def compiled(name):
    """Return the compiled model of a shipped robot or of one described here, by name."""
    return sd.compile_model(sd.load_robot(DESCRIBED[name]() if name in DESCRIBED else name))


def states(model, count, seed=0, size=1.0):
    """Return ``count`` random states (q, qd, qdd), each (n,), that suit any coordinate."""
    rng = np.random.default_rng(seed)
    reach = reaches(model.coordinate_names, size)
    drawn = [tuple(reach * rng.uniform(-1.0, 1.0, (3, model.n))) for _ in range(count)]
    return [(within(model, q), qd, qdd) for q, qd, qdd in drawn]


def within(model, q):
    """Return q (n,) with each body's part halved until the body can take it."""
    q, first = q.copy(), 0
    for module in model.description.modules:
        first += len(module.joint.coordinates())
        last = first + len(module.body.coordinates())
        q[first:last] = possible(module.body, q[first:last])
        first = last
    return q


def possible(body, q):
    """Return q (n,) or the largest of its halves that a body can take."""
    while body.explain(q):
        q = 0.5 * q
    return q


def reaches(names, size=1.0):
    """Return the ranges (n,) of coordinates of these names: ``size``, but less for metres."""
    known = METRES.items()
    return np.array([min([far for word, far in known if word in n], default=size) for n in names])


METRES = {
    'elongation': 0.04, 'prismatic': 0.04, '/slide': 0.04, '/x': 0.04, '/y': 0.04, '/z': 0.04,
    '/mode_': 0.005, '/derivative_': 0.005, '/stretch': 0.2,
}  # fmt: skip
"""Parts of the names of coordinates in metres, and how far they may go."""


def rod(length=0.2, radius=0.02, damping=0.05, **fields):
    """Return the mapping of a `pcc` body."""
    return {
        'type': 'pcc', 'length': length, 'radius': radius, 'density': 1070.0,
        'young_modulus': 6e5, 'damping': damping, **fields,
    }  # fmt: skip


def link(mass=1.2, tip=(0.02, -0.01, 0.15)):
    """Return the mapping of a `rigid` body of no symmetry."""
    return {
        'type': 'rigid', 'mass': mass, 'com': [0.01, -0.02, 0.07],
        'inertia': {'ixx': 0.011, 'iyy': 0.012, 'izz': 0.004, 'ixy': 1e-3, 'iyz': -5e-4},
        'tip': {'xyz': list(tip), 'rpy': [0.3, -0.2, 0.5]},
    }  # fmt: skip


REGISTERED = {'bodies': BODIES.names(), 'joints': JOINTS.names()}
"""Before any test: the examples of the pages add kinds of their own."""
SLOW = ('lvp',)
"""Bodies whose formula, the oracle, takes long: each is in a shipped robot instead."""


def zoo():
    """Every registered body but the SLOW, on fixed, revolute and prismatic joints, in one tree."""
    simple = ('fixed', 'prismatic', 'revolute')
    joints = [m for name in simple for m in instances(JOINTS, name)]
    bodies = [
        m for name in REGISTERED['bodies'] if name not in SLOW for m in instances(BODIES, name)
    ]
    return tree('zoo', joints, bodies)


def gallery():
    """Every joint of known motion with a rigid body and motors along all its coordinates."""
    known = [
        m for name in REGISTERED['joints'] if name in MOTIONS for m in instances(JOINTS, name)
    ]
    robot = tree('gallery', known, [link()])
    motors = []
    for module, given in zip(robot['bodies'], known):
        for c in instance(JOINTS, given).coordinates():
            motor = {'name': f'm{len(motors)}', 'type': 'joint', 'joint': module['joint']['name']}
            motors.append({**motor, 'coordinate': c} if c else motor)
    return {**robot, 'actuators': motors}


def tree(name, joints, bodies):
    """Return a robot with all given joints and bodies, breadth first in a binary tree."""
    modules = []
    for i in range(max(len(joints), len(bodies))):
        joint, body = joints[i % len(joints)], bodies[i % len(bodies)]
        modules.append(
            {
                'name': f'b{i}',
                'parent': f'b{(i - 1) // 2}' if i else 'base',
                'joint': {**joint, 'name': f'{joint["type"]}_{i}'},
                'body': body,
            }
        )
    return {'name': name, 'gravity': [1.0, -2.0, 9.0], 'bodies': modules}


def hand():
    """Return a palm with two fingers of mixed bodies, and tendons routed in every way there is."""
    here = {'xyz': [0.03, 0.02, 0.01], 'rpy': [0.2, -0.4, 0.3]}
    there = {'xyz': [-0.03, 0.01, 0.0], 'rpy': [-0.5, 0.1, 0.2]}
    bodies = [
        ('palm', 'base', {'type': 'revolute', 'dh': [0.5, 0.02, 0.03, 0.1]}, link()),
        (
            'index1',
            'palm',
            {'type': 'revolute', 'axis': [1.0, 0.4, 0.0], 'origin': here},
            link(0.3),
        ),
        ('index2', 'index1', {'type': 'fixed'}, rod(0.12, [0.02, 0.017])),
        ('index3', 'index2', {'type': 'revolute', 'axis': [0.0, 1.0, 0.2]}, rod(0.1, 0.015)),
        (
            'thumb1',
            'palm',
            {'type': 'prismatic', 'axis': [0.3, 0.0, 1.0], 'origin': there},
            planar(),
        ),
        ('thumb2', 'thumb1', {'type': 'fixed', 'origin': here}, rod(0.08, 0.014)),
    ]
    return {
        'name': 'hand',
        'gravity': [2.0, -1.0, 9.0],
        'bodies': [dict(zip(('name', 'parent', 'joint', 'body'), row)) for row in bodies],
        'actuators': hand_actuators(),
    }


def planar():
    """Return the mapping of a `planar_cc` body."""
    return {
        'type': 'planar_cc', 'length': 0.11, 'radius': 0.018, 'density': 1070.0,
        'young_modulus': 6e5, 'damping': 0.05, 'quadrature': 16,
    }  # fmt: skip


def hand_actuators():
    """Return mappings of the actuators of the hand."""
    points = [[0.01, 0.02, 0.0], [0.015, 0.01, 0.05]]
    convergent = {'x': [0.012, -0.006], 'y': [0.002, 0.003, -0.001]}
    paths = {
        'straight': [{'body': 'index2', 'offset': [0.012, -0.004]}],
        'convergent': [{'body': 'thumb1', 'offset': convergent}],
        'helical': [{'body': 'thumb2', 'offset': {'radius': 0.01, 'phase': 0.4, 'turns': 0.8}}],
        'partial': [
            {'body': 'index2', 'offset': convergent, 'span': [0.3, 1.0]},
            {'body': 'index3', 'offset': [0.006, 0.005], 'span': [0.0, 0.6]},
        ],
        'across': [
            {'body': 'palm', 'points': points},
            {'body': 'index1', 'points': points[::-1]},
            {'body': 'index2', 'offset': [-0.01, 0.0]},
            {'body': 'index3', 'offset': {'radius': 0.009, 'turns': -0.5}},
        ],
        'web': [
            {'body': 'index1', 'points': points[:1]},
            {'body': 'thumb1', 'offset': [0.0, 0.01]},
            {'body': 'thumb2', 'offset': [0.004, 0.008]},
        ],
    }
    tendons = [{'name': name, 'type': 'tendon', 'path': path} for name, path in paths.items()]
    return [*tendons, {'name': 'motor', 'type': 'joint', 'joint': 'palm'}]


def soft_arm(order=None):
    """Return two segments on a turntable: pcc's, or rods whose strains are of an order."""
    body = rod()
    if order is not None:
        basis = {'basis': 'legendre', 'order': order}
        body = {
            'type': 'cosserat', 'length': 0.2, 'section': {'type': 'circular', 'radius': 0.02},
            'density': 1070.0, 'young_modulus': 6e5, 'damping': 0.05,
            'strains': dict.fromkeys(('kappa_x', 'kappa_y', 'gamma_z'), basis),
        }  # fmt: skip
    joint = {'type': 'revolute', 'name': 'turn', 'axis': [0.0, 0.0, 1.0], 'damping': 0.02}
    plate = {'type': 'rigid', 'mass': 0.3, 'com': [0.0, 0.0, 0.02]}
    plate |= {'inertia': dict.fromkeys(('ixx', 'iyy', 'izz'), 1e-3), 'tip': {'xyz': [0, 0, 0.05]}}
    bodies = [{'name': 'turntable', 'joint': joint, 'body': plate}]
    bodies += [{'name': name, 'joint': {'type': 'fixed'}, 'body': body} for name in 'ab']
    tendons = [
        {
            'name': f't{count}{k}',
            'type': 'tendon',
            'path': [
                {'body': name, 'offset': {'radius': 0.015, 'phase': 2.0944 * k + 0.7 * count}}
                for name in 'ab'[:count]
            ],
        }
        for count in (1, 2)
        for k in range(3)
    ]
    motor = {'name': 'm', 'type': 'joint', 'joint': 'turn'}
    robot = {'name': 'soft_arm', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies}
    return {**robot, 'actuators': [motor, *tendons]}


def steel_rod():
    """Return a thin rod of steel without any damping, a disc at its end, pulled by two tendons."""
    bend = {'basis': 'legendre', 'order': 2}
    body = {
        'type': 'cosserat', 'length': 0.2, 'section': {'type': 'circular', 'radius': 8e-4},
        'density': 7850.0, 'young_modulus': 2e11, 'poisson_ratio': 0.3, 'damping': 0.0,
        'strains': {'kappa_x': bend, 'kappa_y': bend},
    }  # fmt: skip
    disc = {'type': 'rigid', 'mass': 0.05, 'com': [0.0, 0.0, 0.0]}
    disc['inertia'] = {'ixx': 4e-6, 'iyy': 4e-6, 'izz': 8e-6}
    tendons = [
        {'name': f't{i}', 'type': 'tendon', 'path': [{'body': 'rod', 'offset': offset}]}
        for i, offset in enumerate([[0.008, 0.0], [0.0, 0.008]])
    ]
    return {
        'name': 'steel_rod',
        'gravity': [0.0, 0.0, 9.81],
        'bodies': [
            {'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body},
            {'name': 'disc', 'joint': {'type': 'fixed'}, 'body': disc},
        ],
        'actuators': tendons,
    }


def other_joints():
    """Joints that the oracles do not know, should there be any, with rigid bodies."""
    unknown = [
        m for name in JOINTS.names() if name not in MOTIONS for m in instances(JOINTS, name)
    ]
    return tree('other_joints', unknown, [link()])


DESCRIBED = {'zoo': zoo, 'gallery': gallery, 'hand': hand, 'steel_rod': steel_rod}
"""Robots described here, by name."""

EXACT = tuple(name for name in (*SHIPPED, *DESCRIBED) if name != 'trimmed_helicoid')
"""
Robots that the oracles can differentiate exactly, in a time that one can wait for.

Not trimmed_helicoid: of its three lvp bodies hybrid_arm has one.
"""

if set(JOINTS.names()) > set(MOTIONS):
    DESCRIBED['other_joints'] = other_joints

ROBOTS = (*SHIPPED, *DESCRIBED)
"""Names of all robots."""
