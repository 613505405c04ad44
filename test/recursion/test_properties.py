# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Random chains and trees of bodies and joints: the recursion equals sums over points."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import newton_euler
from oracles.trees import MOTIONS
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.joints.contract import JOINTS
from support.generated import instances
from support.robots import SLOW, states

TOLERANCE = 1e-9  # of the largest entry
SIMPLE = ('rigid', 'planar_cc', 'pcc'), ('fixed', 'revolute', 'prismatic')
RODS = ('rigid', 'cosserat'), ('fixed', 'universal', 'spherical', 'helical')
SOLIDS = ('lvp',), ('fixed', 'revolute')


def others():
    """Bodies and joints that are in no other set: a new file is among them by itself."""
    bodies = [name for name in BODIES.names() if name not in SIMPLE[0] + RODS[0] + SLOW]
    joints = [name for name in JOINTS.names() if name not in SIMPLE[1] + RODS[1]]
    joints = [name for name in joints if name in MOTIONS]
    return tuple(bodies), tuple(joints) or ('fixed',)


SETS = {'simple': SIMPLE, 'rods': RODS, 'solids': SOLIDS, 'others': others()}
"""Types that are drawn together: each set compiles once; the sums of some take long."""


def bodies_of(name):
    """Return mappings of a body type; of the SLOW with few points and modes."""
    if name != 'lvp':
        return instances(BODIES, name)
    return [
        {
            'type': 'lvp', 'length': 0.12, 'outer_radius': 0.02, 'inner_radius': r, 'density': 1e3,
            'material': {'type': 'incompressible_neo_hookean', 'modulus': 1.5e5, 'damping': 0.05},
            'modes': {'stretch': [[0.0, 1.0, -1.0]], 'kappa_x': [[8.0]], 'kappa_y': [[5.0]]},
            'quadrature': {'axial': 3, 'radial': 1, 'angular': 4},
        }
        for r in (0.0, 0.01)
    ]  # fmt: skip


def modules_of(kind):
    """Strategy of lists of (joint, body, parent), parents first; -1 is the base."""
    bodies, joints = SETS[kind]
    each = st.tuples(
        st.sampled_from([m for name in joints for m in instances(JOINTS, name)]),
        st.sampled_from([m for name in bodies for m in bodies_of(name)]),
        st.integers(-1, 4),
    )
    return st.lists(each, min_size=1, max_size=5)


def robot(kind, drawn):
    """
    Return the description of a random tree, beside one body and joint of every type of the set.

    Those come first, each on the base, so that equal types are always dispatched alike.
    """
    bodies, joints = SETS[kind]
    count = max(len(bodies), len(joints))
    first = [
        (instances(JOINTS, joints[i % len(joints)])[0], bodies_of(bodies[i % len(bodies)])[0], -1)
        for i in range(count)
    ]
    rows = []
    for i, (joint, body, parent) in enumerate([*first, *drawn]):
        parent = -1 if i < count else min(parent, i - count - 1)
        rows.append(
            {
                'name': f'b{i}',
                'parent': 'base' if parent < 0 else f'b{count + parent}',
                'joint': {**joint, 'name': f'{joint["type"]}_{i}'},
                'body': body,
            }
        )
    return sd.load_robot({'name': kind, 'gravity': [1.0, -2.0, 9.0], 'bodies': rows})


@pytest.mark.parametrize(
    'kind, count', [('simple', 12), ('rods', 6), ('solids', 3), ('others', 3)]
)
def test_the_recursion_equals_sums_over_points(kind, count):
    """ID with gravity, and M, of random trees equal sums over material points."""

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(modules_of(kind), st.integers(0, 2**16))
    def check(drawn, seed):
        description = robot(kind, drawn)
        model = sd.compile_model(description)
        ((q, qd, qdd),) = states(model, 1, seed=seed)
        Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        passive = sd.elastic_force(model, q=q) + sd.damping_force(model, q=q, qd=qd)
        gravity = description.gravity
        wanted, mass = newton_euler.mass_inverse_dynamics(description, q, qd, qdd, gravity)
        scale = np.abs(Q).max()
        assert np.abs(Q - passive - wanted).max() <= TOLERANCE * scale
        assert np.abs(M - mass).max() <= TOLERANCE * np.abs(mass).max()

    check()
