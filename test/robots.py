# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The robots that tests share: shipped ones, reference ones, and one with all registered parts."""

import functools
import json
from pathlib import Path

from generated import instances
import numpy as np
from oracles.trees import MOTIONS
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.shipped import shipped

SHIPPED = tuple(sorted(shipped('robots')))
"""Names of the robots that come with the package."""


def reference(file):
    """Content of one of the files with reference values."""
    return json.loads(Path(__file__).with_name('reference').joinpath(file).read_text())


@functools.cache
def compiled(name):
    """Return the compiled model of a shipped robot or of one described here, by name."""
    return sd.compile_model(sd.load_robot(DESCRIBED[name]() if name in DESCRIBED else name))


def states(model, count, seed=0, size=1.0):
    """Return ``count`` random states (q, qd, qdd), each (n,), that suit any coordinate."""
    rng = np.random.default_rng(seed)
    metres = [any(word in name for word in METRES) for name in model.coordinate_names]
    reach = np.where(metres, 0.04, size)
    return [tuple(reach * rng.uniform(-1.0, 1.0, (3, model.n))) for _ in range(count)]


METRES = ('elongation', 'prismatic')


def rod(length=0.2, radius=0.02, damping=0.05, **fields):
    """Mapping of a `pcc` body."""
    return {
        'type': 'pcc', 'length': length, 'radius': radius, 'density': 1070.0,
        'young_modulus': 6e5, 'damping': damping, **fields,
    }  # fmt: skip


def link(mass=1.2, tip=(0.02, -0.01, 0.15)):
    """Mapping of a `rigid` body of no symmetry."""
    return {
        'type': 'rigid', 'mass': mass, 'com': [0.01, -0.02, 0.07],
        'inertia': {'ixx': 0.011, 'iyy': 0.012, 'izz': 0.004, 'ixy': 1e-3, 'iyz': -5e-4},
        'tip': {'xyz': list(tip), 'rpy': [0.3, -0.2, 0.5]},
    }  # fmt: skip


def zoo():
    """Every registered body on a joint, every registered joint with a body, in one tree."""
    joints = [m for name in JOINTS.names() if name in MOTIONS for m in instances(JOINTS, name)]
    bodies = [m for name in BODIES.names() for m in instances(BODIES, name)]
    count = max(len(joints), len(bodies))
    modules = [
        {
            'name': f'b{i}',
            'parent': f'b{(i - 1) // 2}' if i else 'base',
            'joint': {**joints[i % len(joints)], 'name': f'{joints[i % len(joints)]["type"]}_{i}'},
            'body': bodies[i % len(bodies)],
        }
        for i in range(count)
    ]
    return {'name': 'zoo', 'gravity': [1.0, -2.0, 9.0], 'bodies': modules}
