# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Models of the same thing agree: planar and spatial rods, and a body of a user's own formula."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.kernels.quadrature import rod_points
from support.robots import compiled, states

TOLERANCE = 1e-10  # of the largest entry
FIELDS = {
    'length': 0.15, 'radius': 0.02, 'density': 1100.0, 'young_modulus': 5e5, 'damping': 0.04,
    'quadrature': 14,
}  # fmt: skip


@dataclass(frozen=True)
class FormulaRod(Body):
    """A planar rod written as a user would: one formula, points, stiffness; nothing else."""

    type_name = 'formula_rod'
    length: float
    radius: float
    density: float
    young_modulus: float
    damping: float
    quadrature: int
    section_inertia: bool = True

    def coordinates(self):
        """One bend [rad]."""
        return ('bend_x',)

    def position(self, x, q, math):
        """Return an arc, and the section turned with it."""
        s = x[2] / self.length
        bend = s * q[0]
        arc = self.length * s
        return [
            arc * bend * math.stumpff(2, bend * bend) + math.cos(bend) * x[0],
            x[1],
            arc * math.stumpff(1, bend * bend) - math.sin(bend) * x[0],
        ]

    def material_points(self):
        """Points of a rod."""
        return rod_points(self.length, (self.radius,) * 2, self.density, self.quadrature, True)

    def stiffness(self):
        """E I / L."""
        return np.array([[self.young_modulus * np.pi / 4 * self.radius**4 / self.length]])


def robot(kind):
    """Two rods, the second on a hinge, with a straight and a helical tendon."""
    axis = {'type': 'revolute', 'axis': [0.0, 1.0, 0.0]}
    bodies = [
        {'name': name, 'joint': joint, 'body': {'type': kind, **FIELDS}}
        for name, joint in (('a', {'type': 'fixed'}), ('b', axis))
    ]
    helix = {'radius': 0.01, 'phase': 0.3, 'turns': 0.7}
    actuators = [
        {
            'name': f't{i}',
            'type': 'tendon',
            'path': [{'body': 'a', 'offset': [0.012, 0.003]}, {'body': 'b', 'offset': offset}],
        }
        for i, offset in enumerate(([0.012, 0.003], helix))
    ]
    return sd.load_robot(
        {'name': kind, 'gravity': [3, 0, 9], 'bodies': bodies, 'actuators': actuators}
    )


@pytest.fixture(scope='module')
def planar():
    """Return the robot of `planar_cc` bodies."""
    return sd.compile_model(robot('planar_cc'))


@pytest.fixture(scope='module')
def other(request, planar):
    """Return the same robot of other bodies, and where the planar coordinates are in its own."""
    if request.param == 'pcc':
        model = sd.compile_model(robot('pcc'))
    else:
        description = planar.description
        modules = [replace(m, body=FormulaRod(**FIELDS)) for m in description.modules]
        model = sd.compile_model(replace(description, modules=tuple(modules)))
    return model, [model.coordinate_names.index(name) for name in planar.coordinate_names]


def compare(found, wanted):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert np.abs(found - wanted).max() <= TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize('other', ['pcc', 'formula'], indirect=True)
def test_models_of_the_same_rods_agree(planar, other):
    """Planar models of one rod agree in ID, M, tips, Jacobians and actuation to 1e-10."""
    model, of = other
    for q, qd, qdd in states(planar, 5, seed=1, size=1.5):
        wide = np.zeros((3, model.n))
        wide[:, of] = q, qd, qdd
        Q, M = sd.mass_inverse_dynamics(planar, q=q, qd=qd, qdd=qdd)
        R, N = sd.mass_inverse_dynamics(model, q=wide[0], qd=wide[1], qdd=wide[2])
        compare(R[of], Q)
        compare(N[np.ix_(of, of)], M)
        tips = (sd.forward_kinematics(m, q=x) for m, x in ((planar, q), (model, wide[0])))
        compare(next(tips), next(tips))
        compare(sd.jacobian(model, q=wide[0])[:, of], sd.jacobian(planar, q=q))
        mine = sd.actuation(planar, q=q, qd=qd)
        its = sd.actuation(model, q=wide[0], qd=wide[1])
        for name in ('coordinates', 'velocities', 'bias'):
            compare(getattr(its, name), getattr(mine, name))
        compare(its.matrix[of], mine.matrix)


def test_the_quadrature_has_converged():
    """More points along the rods change nothing beyond rounding."""
    values = []
    for count in (10, 20):
        fields = {**FIELDS, 'type': 'pcc', 'quadrature': count}
        body = {'name': 'a', 'joint': {'type': 'fixed'}, 'body': fields}
        path = [{'body': 'a', 'offset': {'radius': 0.01, 'turns': 0.4}}]
        tendon = {'name': 't', 'type': 'tendon', 'path': path}
        given = {'name': 'one', 'bodies': [body], 'actuators': [tendon]}
        model = sd.compile_model(sd.load_robot(given))
        q = np.array([1.2, -0.8, 0.02])
        found = sd.actuation(model, q=q, qd=q)
        values.append((*sd.mass_inverse_dynamics(model, q=q, qd=q, qdd=q), *found))
    for coarse, fine in zip(*values):
        compare(coarse, fine)


def test_threads_with_their_own_workspaces_do_not_meet():
    """Evaluators of one model in several threads give the bits that one alone gives."""
    model = compiled('pcc_arm')
    inputs = states(model, 4, seed=2)

    def work(state):
        evaluate = model.evaluator()
        results = [evaluate(state[0], state[1]).h.copy() for _ in range(300)]
        return results[0], all(np.array_equal(results[0], each) for each in results)

    alone = [work(state)[0] for state in inputs]
    with ThreadPoolExecutor(4) as pool:
        for (found, steady), wanted in zip(pool.map(work, inputs), alone):
            assert steady and np.array_equal(found, wanted)
