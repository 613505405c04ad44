# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The paper's toy example, a planar body of unit radius, length and density, in five states."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.kernels import layout
from support.kernel_calls import body_slab
from support.robots import reference

STATES = reference('toy.json')['states']
TOLERANCE = 1e-12  # relative
AT = layout.slab(1)


class Toy:
    """The body at one state; the paper's coordinate is q = -bend_x, gravity along +z."""

    def __init__(self, state):
        self.expected = state
        self.model = sd.compile_model(
            sd.load_robot(
                {
                    'name': 'toy',
                    'gravity': [0.0, 0.0, state['g0']],
                    'bodies': [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': BODY}],
                }
            )
        )
        self.q, self.qd, self.qdd = (-np.array([state[key]]) for key in ('q', 'qd', 'qdd'))

    def check(self, key, found):
        """Compare a number or an array with the reference's."""
        wanted = np.atleast_1d(self.expected[key])
        np.testing.assert_allclose(
            np.atleast_1d(found), wanted, rtol=0.0, atol=TOLERANCE * np.abs(wanted).max()
        )

    def slab(self):
        """Terms of the body, and the rotation and origin of its tip, from its kernel."""
        return body_slab(self.model.description.modules[0].body.kernel(), self.q, self.qd)


BODY = {
    'type': 'planar_cc', 'length': 1.0, 'radius': 1.0, 'density': 1.0, 'young_modulus': 1.0,
    'damping': 1.0, 'section_inertia': True,
}  # fmt: skip


@pytest.fixture(scope='module', params=STATES, ids=lambda s: f'q={s["q"]},qd={s["qd"]}')
def toy(request):
    """Return the toy at one of its states."""
    return Toy(request.param)


def test_generalized_terms(toy):
    """M, c, IID and g equal the reference to 1e-12."""
    state = {'q': toy.q, 'qd': toy.qd, 'qdd': toy.qdd}
    IID, M = sd.mass_inertial_inverse_dynamics(toy.model, **state)
    toy.check('M', M[0])
    toy.check('IID', -IID)
    toy.check('c', -sd.inertial_inverse_dynamics(toy.model, **{**state, 'qdd': np.zeros(1)}))
    toy.check('g', -sd.gravity_force(toy.model, q=toy.q))


def test_elastic_and_damping_force(toy):
    """The linear rod of E = 1 Pa and eta = 1 s gives s = pi/4 (q + qd)."""
    s = sd.elastic_force(toy.model, q=toy.q) + sd.damping_force(toy.model, q=toy.q, qd=toy.qd)
    np.testing.assert_allclose(s, np.pi / 4.0 * (toy.q + toy.qd), rtol=TOLERANCE)


def test_terms_at_the_tip(toy):
    """p_CoM, I*, F*, T*, pi* and F^g in the tip frame equal the reference to 1e-12."""
    W = toy.slab()
    R, t = W[:9].reshape(3, 3), W[9:12]
    m, first = W[AT.inertia], W[AT.inertia + 1 :][:3]
    com = R.T @ (first / m - t)
    toy.check('p_com', com)

    H, wrench = W[AT.coupling :][:6], W[AT.wrench :][:6]
    moment, force = np.split(H * toy.qdd + wrench, 2)  # about S_J and in it
    F = -R.T @ force
    T = -R.T @ (moment - np.cross(first / m, force))  # about the centre of mass
    toy.check('Fstar', F)
    toy.check('Tstar', T)
    toy.check('Fg', R.T @ [0.0, 0.0, m * toy.expected['g0']])

    grad_v = -R.T @ W[21:24]  # by the paper's coordinate
    toy.check('grad_v', grad_v)
    IID = -sd.inertial_inverse_dynamics(toy.model, q=toy.q, qd=toy.qd, qdd=toy.qdd)
    turning = (T + np.cross(com, F)) @ [0.0, -1.0, 0.0]
    toy.check('pistar', -IID - grad_v @ F - turning)


def test_inertia_about_the_centre_of_mass(toy):
    """The principal terms of the inertia about the CoM, in the tip frame, equal the reference."""
    W = toy.slab()
    m, h = W[AT.inertia], W[AT.inertia + 1 :][:3]
    xx, yy, zz, xy, xz, yz = W[AT.inertia + 4 :][:6]
    about_joint = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    about_com = about_joint - (h @ h * np.eye(3) - np.outer(h, h)) / m
    R = W[:9].reshape(3, 3)
    toy.check('Istar_xx_yy_zz', np.diag(R.T @ about_com @ R))
