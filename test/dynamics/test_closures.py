# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops at a state: kinematics, forces, accelerations, statics."""

import numpy as np
from oracles.elastica import rod, shoot
from oracles.planar_links import end, solved
import pytest
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, OpenLoopError
from support.closures import (
    clamped_rod,
    EI,
    five_bar,
    four_bar,
    LENGTH,
    link,
    model,
    parallel_rods,
    PLATE,
    RHO_A,
    to_base,
    WIDTH,
    Y,
)

IN_PLANE = ('x', 'z')


def centres(lengths, angles, chains):
    """Return the places (N, 2) of the middles of links in chains, which begin at given places."""
    found = np.zeros((len(lengths), 2))
    for links, place in chains:
        for i in links:
            way = lengths[i] * np.array([np.sin(angles[i]), np.cos(angles[i])])
            found[i] = place + 0.5 * way
            place = place + way
    return found


def test_a_four_bar_equals_its_closed_form():
    """The rocker's angle is that of two circles that meet, from all angles of the crank."""
    robot = model(four_bar)
    for crank in np.linspace(0.1, 6.0, 9):
        knee = 0.4 * np.array([np.sin(crank), np.cos(crank)])
        way = np.array([1.0, 0.0]) - knee
        d = np.hypot(*way)
        along = (d**2 + 0.9**2 - 0.7**2) / (2.0 * d)
        up = np.array([-way[1], way[0]]) / d
        elbow = knee + along * way / d + np.sqrt(0.9**2 - along**2) * up
        coupler = np.arctan2(*(elbow - knee))
        rocker = np.arctan2(*(np.array([1.0, 0.0]) - elbow))
        q = np.array([crank, coupler - crank, rocker - coupler])
        found = sd.closures(robot, q=q)
        assert np.abs(found.residual).max() < 1e-12
        assert found.mobility == 1
        # d(rocker)/d(crank), of both loop equations
        J = [[0.9 * np.cos(coupler), 0.7 * np.cos(rocker)],
             [-0.9 * np.sin(coupler), -0.7 * np.sin(rocker)]]  # fmt: skip
        rates = np.linalg.solve(J, 0.4 * np.array([-np.cos(crank), np.sin(crank)]))
        expected = np.array([1.0, rates[0] - 1.0, rates[1] - rates[0]])
        basis = found.basis[:, 0] / found.basis[0, 0]
        np.testing.assert_allclose(basis, expected, atol=1e-9)
        mass = sd.mass_inverse_dynamics(robot, q=q, qd=0 * q, qdd=0 * q)[1]
        reduced = found.mass[0, 0] / found.basis[0, 0] ** 2
        assert reduced == pytest.approx(expected @ mass @ expected, rel=1e-9)


@pytest.mark.parametrize('kind', ['directions', 'pin'])
def test_accelerations_and_forces_of_a_four_bar_equal_those_of_free_links_with_pins(kind):
    """Lagrange multipliers of nine coordinates give the same, moving and under a torque."""
    given = {'directions': IN_PLANE} if kind == 'directions' else {'type': 'pin', 'axis': Y}
    robot = model(four_bar, **given)
    q, qd = sd.assemble(robot, q=robot.q0, qd=[2.0, -1.0, 0.5])
    angles, rates, lengths = np.cumsum(q), np.cumsum(qd), np.array([0.4, 0.9, 0.7])
    pins = [((0, -1), None), ((1, -1), (0, 1)), ((2, -1), (1, 1)), ((2, 1), None)]
    torques = np.array([1.3, 0.0, 0.0])
    expected, forces = solved(lengths, [0.7, 1.1, 0.9], angles, rates, pins, torques)
    found = sd.forward_dynamics(robot, q=q, qd=qd, u=[1.3])
    np.testing.assert_allclose(np.cumsum(found), expected, rtol=1e-9)
    loop = sd.closures(robot, q=q, qd=qd, u=[1.3])
    np.testing.assert_allclose(loop.jacobian @ found + loop.bias, 0.0, atol=1e-9)
    # on the second frame, in the axes of the first: those of the rocker's tip, x, y, z; the pin's
    # axis z is y, and its y is -z
    R = sd.frame(robot, q=q, body='rocker')[:3, :3]
    named = dict(zip(loop.names, loop.forces))
    along = [named['loop/x'], 0.0, named['loop/z']]
    if kind == 'pin':
        along = [named['loop/x'], named['loop/z'], -named['loop/y']]
    np.testing.assert_allclose((R @ along)[[0, 2]], -forces[3], rtol=1e-9, atol=1e-9)
    tree = sd.inverse_dynamics(robot, q=q, qd=qd, qdd=found)
    np.testing.assert_allclose(tree, [1.3, 0, 0] + loop.generalized_force, atol=1e-9)
    inverse = sd.closed_inverse_dynamics(robot, q=q, qd=qd, qdd=found)
    np.testing.assert_allclose(inverse.u, [1.3], atol=1e-9)
    np.testing.assert_allclose(inverse.forces, loop.forces, atol=1e-9)
    assert not inverse.unmet.any()


def test_a_five_bar_equals_free_links_with_pins():
    """Accelerations and pin force of a five-bar equal those of free links with pins to 1e-9."""
    robot = model(five_bar)
    q, qd = sd.assemble(robot, q=robot.q0, qd=[1.0, 0.5, -0.7, 0.2])
    lengths = np.array([0.5, 0.6, 0.45, 0.65])
    angles = np.array([q[0], q[0] + q[1], q[2], q[2] + q[3]])
    rates = np.array([qd[0], qd[0] + qd[1], qd[2], qd[2] + qd[3]])
    chains = [((0, 1), np.zeros(2)), ((2, 3), np.array([0.4, 0.0]))]
    middles = centres(lengths, angles, chains)
    hands = [end(angles, lengths, middles, i, 1) for i in (1, 3)]
    np.testing.assert_allclose(*hands, atol=1e-12)
    np.testing.assert_allclose(sd.frame(robot, q=q)[[0, 2], 3], hands[0], atol=1e-12)
    pins = [
        ((0, -1), None),
        ((1, -1), (0, 1)),
        ((2, -1), None),
        ((3, -1), (2, 1)),
        ((1, 1), (3, 1)),
    ]
    torques = np.array([0.8, 0.0, -0.4, 0.0])
    expected, forces = solved(lengths, np.ones(4), angles, rates, pins, torques)
    found = sd.forward_dynamics(robot, q=q, qd=qd, u=[0.8, -0.4])
    own = np.array([found[0], found[0] + found[1], found[2], found[2] + found[3]])
    np.testing.assert_allclose(own, expected, rtol=1e-9)
    loop = sd.closures(robot, q=q, qd=qd, u=[0.8, -0.4])
    assert (loop.mobility, loop.redundant) == (2, ())
    R = sd.frame(robot, q=q, body='a2')[:3, :3]
    on_second = R @ [loop.forces[0], 0.0, loop.forces[1]]
    np.testing.assert_allclose(on_second[[0, 2]], -forces[4], rtol=1e-9, atol=1e-9)


def spatial_loop(**closure):
    """Return a chain of eight links in space whose tip is held in the base."""
    rng, bodies = np.random.default_rng(3), []
    for i in range(8):
        origin = {'xyz': rng.uniform(-0.1, 0.1, 3).tolist(), 'rpy': rng.uniform(-1, 1, 3).tolist()}
        joint = {'type': 'revolute', 'axis': rng.normal(size=3).tolist(), 'origin': origin}
        body = {'type': 'rigid', 'mass': 1.0 + i / 8, 'com': rng.uniform(-0.1, 0.1, 3).tolist(),
                'inertia': {'ixx': 0.02, 'iyy': 0.025, 'izz': 0.03},
                'tip': {'xyz': [0.0, 0.1, 0.3]}}  # fmt: skip
        bodies.append({'name': f'b{i}', 'joint': joint, 'body': body})
    tree = sd.compile_model(sd.load_robot({'name': 'tree', 'bodies': bodies}))
    q = rng.uniform(-0.8, 0.8, 8)
    T = sd.frame(tree, q=q)
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler('xyz')
    frame = {'body': 'base', 'pose': {'xyz': T[:3, 3].tolist(), 'rpy': rpy.tolist()}}
    row = {'name': 'loop', 'frames': [{'body': 'b7'}, frame], **closure}
    robot = sd.load_robot({'name': 'spatial', 'bodies': bodies, 'closures': [row],
                           'initial': {f'b{i}': float(x) for i, x in enumerate(q)}})  # fmt: skip
    return sd.compile_model(robot), T


@pytest.mark.parametrize('kind', ['weld', 'ball'])
def test_a_loop_in_space_equals_pinocchio(kind):
    """Accelerations and forces of a chain held in the base equal constraintDynamics to 1e-9."""
    pinocchio = pytest.importorskip('pinocchio')
    from support.pinocchio_models import pinocchio_model

    robot, T = spatial_loop(type=kind)
    rng = np.random.default_rng(5)
    q, qd = sd.assemble(robot, q=robot.q0, qd=rng.normal(size=8))
    theirs, ids, tips = pinocchio_model(robot.description)
    types = {'weld': pinocchio.ContactType.CONTACT_6D, 'ball': pinocchio.ContactType.CONTACT_3D}
    placed = pinocchio.SE3(T[:3, :3], T[:3, 3])
    place = ids[-1], tips[-1], 0, placed, pinocchio.ReferenceFrame.LOCAL
    row = pinocchio.RigidConstraintModel(types[kind], theirs, *place)
    rows, rows_data = (
        getattr(pinocchio, f'StdVec_RigidConstraint{each}')() for each in ('Model', 'Data')
    )
    rows.append(row)
    rows_data.append(row.createData())
    data = theirs.createData()
    pinocchio.initConstraintDynamics(theirs, data, rows, rows_data)
    settings = pinocchio.ProximalSettings(1e-14, 0.0, 20)
    expected = pinocchio.constraintDynamics(
        theirs, data, q, qd, np.zeros(8), rows, rows_data, settings
    )
    found = sd.forward_dynamics(robot, q=q, qd=qd, u=[])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    loop = sd.closures(robot, q=q, qd=qd)
    force = rows_data[0].contact_force  # on the chain, in the axes of its tip
    scale = np.abs(loop.forces).max()
    own = {name.split('/')[1]: value for name, value in zip(loop.names, loop.forces)}
    np.testing.assert_allclose([-own[c] for c in 'xyz'], force.linear, atol=1e-9 * scale)
    if kind == 'weld':
        moments = [-own[c] for c in ('rx', 'ry', 'rz')]
        np.testing.assert_allclose(moments, force.angular, atol=1e-9 * scale)


SOFT = {
    'name': 'soft',
    'bodies': [
        {'name': 'a', 'joint': {'type': 'spherical'},
         'body': {'type': 'pcc', 'length': 0.3, 'radius': 0.02, 'density': 1000.0,
                  'young_modulus': 1e5}},
        {'name': 'b', 'joint': {'type': 'fixed'},
         'body': {'type': 'cosserat', 'length': 0.3, 'density': 1000.0, 'young_modulus': 1e5,
                  'section': {'type': 'circular', 'radius': 0.02},
                  'strains': {'kappa_x': {'basis': 'legendre', 'order': 1},
                              **{s: {'basis': 'legendre'} for s in ('kappa_z', 'gamma_z')}}}},
        {'name': 'c', 'parent': 'base', 'joint': {'type': 'free'},
         'body': {'type': 'rigid', 'mass': 1.0, 'inertia': {'ixx': 1, 'iyy': 1, 'izz': 1}}},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    'directions', [['rz', 'x'], ['rx', 'rz', 'y'], ['rx', 'ry', 'rz', 'x', 'y', 'z']]
)
def test_jacobian_and_bias_are_derivatives_of_the_residual(directions):
    """At closed states of soft bodies J is the residual's derivative; so is the bias of J qd."""
    pose = {'xyz': [0, 0.1, 0], 'rpy': [1, 0, 0]}
    point = {'body': 'b', 'point': [0.01, 0.0, 0.2], 'pose': pose}
    frames = [point, {'body': 'c', 'point': [0.1, 0.2, 0.3]}]
    robot = {**SOFT, 'closures': [{'name': 'k', 'directions': directions, 'frames': frames}]}
    own = sd.compile_model(sd.load_robot(robot))
    rng, units = np.random.default_rng(0), own.scales.units
    q, qd = sd.assemble(
        own, q=own.q0 + 0.3 * units * rng.normal(size=own.n), qd=units * rng.normal(size=own.n)
    )
    found = sd.closures(own, q=q, qd=qd)
    assert np.abs(found.residual).max() < 1e-11
    np.testing.assert_allclose(found.jacobian @ qd, 0.0, atol=1e-10)
    h = 1e-5
    for way in np.diag(units):
        ends = [sd.closures(own, q=q + s * h * way).residual for s in (1, -1)]
        rates = (ends[0] - ends[1]) / (2.0 * h)
        np.testing.assert_allclose(found.jacobian @ way, rates, atol=1e-8)
    ends = [sd.closures(own, q=q + s * h * qd).jacobian @ qd for s in (1, -1)]
    scale = np.abs(found.bias).max()
    np.testing.assert_allclose(found.bias, (ends[0] - ends[1]) / (2 * h), atol=1e-6 * scale)


def test_a_clamped_rod_rests_as_shooting_has_it():
    """A rod between two clamps, with its weight: places to 1e-5 of its length, forces to 1e-3."""
    robot = model(clamped_rod, order=12)
    found = sd.equilibrium(robot, u=[])
    assert found.stable
    points = [[0.0, 0.0, s] for s in (0.1, 0.25, 0.4)]
    own = sd.material_points(robot, q=found.q, body='rod', points=points).positions

    def gap(loads):
        return rod(LENGTH, EI, RHO_A, (0.0, 0.0, 0.0), loads)[0][:3] - [0.0, 0.4, 0.0]

    # a strip of length L between clamps d apart: f L^2 near -4 pi^2 EI, buckled to either side
    side = np.sign(own[1, 0])
    loads = shoot(gap, [side * 0.4, 0.0, -9.0])
    last, there = rod(LENGTH, EI, RHO_A, (0.0, 0.0, 0.0), loads, [0.1, 0.25, 0.4])
    np.testing.assert_allclose(own[:, [0, 2]], there[:, :2], atol=1e-5 * LENGTH)
    loop = dict(zip(sd.closures(robot, q=found.q).names, sd.closures(robot, q=found.q).forces))
    # on the base: less what the clamp does to the rod's end
    expected = [-last[3], -last[4], -last[5]]
    own = [loop['loop/ry'], loop['loop/x'], loop['loop/z']]
    np.testing.assert_allclose(own, expected, atol=1e-3 * np.abs(expected).max())


def test_two_rods_with_a_plate_rest_as_shooting_has_it():
    """Two rods that carry a plate which is pulled aside: the plate is where shooting has it."""
    robot = model(parallel_rods, order=6)
    pull = {'plate': sd.Wrench([0, 0, 0, 0.6, 0, 0], frame='base')}
    found = sd.equilibrium(robot, u=[0.0], wrenches=pull)
    assert found.stable

    def ends(loads):
        first = rod(LENGTH, EI, RHO_A, (0.0, 0.0, 0.0), loads[:3])[0]
        return first, rod(LENGTH, EI, RHO_A, (2.0 * WIDTH, 0.0, 0.0), loads[3:])[0]

    def gap(loads):
        a, b = ends(loads)
        way = 2.0 * WIDTH * np.array([np.cos(a[2]), -np.sin(a[2])])
        # what the plate does to both rods, and the pull at its far end, balance
        force = np.array([0.6, -PLATE * 9.81]) - a[4:] - b[4:]
        pulls = np.array([0.6, 0.0]) - b[4:]
        moment = -a[3] - b[3] + way[1] * pulls[0] - way[0] * pulls[1]
        moment -= 0.5 * way[0] * -PLATE * 9.81
        return np.r_[b[:2] - a[:2] - way, b[2] - a[2], force, moment]

    loads = shoot(gap, [0.1, 0.3, -2.0, 0.1, 0.3, -2.0])
    a, b = ends(loads)
    for body, expected in (('left', a), ('right', b)):
        T = sd.frame(robot, q=found.q, body=body)
        np.testing.assert_allclose(T[[0, 2], 3], expected[:2], atol=2e-5 * LENGTH)
        assert np.arctan2(T[0, 2], T[2, 2]) == pytest.approx(expected[2], abs=1e-4)


def test_redundant_directions_are_named():
    """A planar four-bar whose foot is welded closes three directions twice, by name."""
    robot = four_bar()
    robot['bodies'].append(link('foot', 0.1))
    robot['initial']['foot'] = 0.2
    robot['closures'] = [to_base('foot', [1.0, 0.0, 0.1], type='weld')]
    robot = sd.compile_model(sd.load_robot(robot))
    found = sd.closures(robot, q=robot.q0)
    assert found.redundant == ('loop/rx', 'loop/rz', 'loop/y')
    assert found.mobility == 1
    assert not found.forces[[0, 2, 4]].any()


def test_stability_is_that_along_what_loops_leave():
    """Rates of a linearised four-bar at rest are its equilibrium's; closed directions have 0."""
    robot = model(four_bar, damping=0.3)
    rest = sd.equilibrium(robot, u=[-3.0])
    assert not rest.stable
    rates = np.sort(np.linalg.eigvals(sd.linearise(robot, q=rest.q, qd=np.zeros(3), u=[-3.0]).A))
    assert rates[-1].real == pytest.approx(rest.growth, rel=1e-6)
    np.testing.assert_allclose(rates[1:-1], 0.0, atol=1e-7)
    hanging = sd.equilibrium(robot, u=[0.0], q0=[-2.9, 2.6, 2.6], ramp=False)
    if not hanging.stable:
        pytest.fail('the hanging four-bar is not stable')
    np.testing.assert_allclose(
        sd.forward_dynamics(robot, q=hanging.q, qd=np.zeros(3), u=[0.0]), 0.0, atol=1e-9
    )


def test_linearised_motion_is_that_of_states_near_by():
    """A dx + B du is the change of (qd, qdd) from one closed state to the next, moving."""
    robot = model(five_bar)
    q, qd = sd.assemble(robot, q=robot.q0, qd=[1.0, 0.5, -0.7, 0.2])
    u = np.array([0.8, -0.4])
    found = sd.linearise(robot, q=q, qd=qd, u=u)
    rng = np.random.default_rng(1)
    dq, dqd, du = rng.normal(size=4), rng.normal(size=4), rng.normal(size=2)

    def rates(h):
        x, v = sd.assemble(robot, q=q + h * dq, qd=qd + h * dqd)
        return np.r_[x, v], np.r_[v, sd.forward_dynamics(robot, q=x, qd=v, u=u + h * du)]

    h = 1e-5
    (x1, r1), (x0, r0) = rates(h), rates(-h)
    change = found.A @ (x1 - x0) / (2 * h) + found.B @ du
    np.testing.assert_allclose(change, (r1 - r0) / (2 * h), atol=1e-6 * np.abs(change).max())


STRETCHED = {'body': 'base', 'pose': {'xyz': [2.0, 0.0, 0.0]}}  # as long as all links
TURNED = {'body': 'base', 'pose': {'xyz': [1.0, 0.0, 0.0], 'rpy': [np.pi, 0.0, 0.0]}}


def closed(**more):
    """Return a four-bar with other values in its closure."""
    robot = four_bar()
    robot['closures'][0].update(more)
    return robot


@pytest.mark.parametrize('robot, words', [
    (closed(frames=[{'body': 'rocker'}, {'body': 'base', 'pose': {'xyz': [3, 0, 0]}}]), 'open by'),
    (closed(frames=[{'body': 'rocker'}, {'body': 'base', 'pose': {'xyz': [1, 0.1, 0]}}]), '0.1 m'),
    (closed(type='weld', axis=None), 'let the robot move'),
    ({**closed(), 'initial': {'coupler': np.pi, 'rocker': np.pi}}, 'singular'),
    (closed(frames=[{'body': 'rocker'}, STRETCHED]), 'singular'),
    (closed(frames=[{'body': 'rocker'}, TURNED]), 'and 3.14 rad'),
], ids=['far', 'out of plane', 'nothing moves', 'singular', 'stretched', 'turned'])  # fmt: skip
def test_loops_that_cannot_be_closed_are_refused_by_name(robot, words):
    """A loop that no posture closes, or that leaves nothing to move, is an error with its name."""
    if words == 'let the robot move':  # its last angle as a weld has it
        robot['closures'][0]['frames'][1]['pose'] = {'xyz': [1.0, 0.0, 0.0], 'rpy': [0, 2.2, 0]}
    if robot['initial']['coupler'] == np.pi:  # a flat four-bar, folded upon itself
        robot['bodies'] = [link('crank', 0.4), link('coupler', 0.9), link('rocker', 0.5)]
        frame = {'body': 'base', 'pose': {'xyz': [0.0, 0.0, 0.0]}}
        robot['closures'][0]['frames'] = [{'body': 'rocker'}, frame]
    with pytest.raises(OpenLoopError, match='loop') as caught:
        sd.compile_model(sd.load_robot(robot))
    assert words in str(caught.value)


def test_open_states_are_refused():
    """Forward dynamics and the simulator take closed postures and rates only."""
    robot = model(four_bar)
    zero = np.zeros(3)
    for call in (
        lambda q, qd: sd.forward_dynamics(robot, q=q, qd=qd, u=[0.0]),
        lambda q, qd: sd.linearise(robot, q=q, qd=qd, u=[0.0]),
        lambda q, qd: sd.closed_inverse_dynamics(robot, q=q, qd=qd, qdd=zero),
    ):
        with pytest.raises(ArgumentError, match='loop is open by'):
            call(robot.q0 + 0.01, zero)
        with pytest.raises(ArgumentError, match='they open loop/'):
            call(robot.q0, zero + 1.0)
    tree = sd.compile_model(sd.load_robot({**four_bar(), 'closures': []}))
    assert tree.closure_plan is None
    with pytest.raises(ArgumentError, match='with closures'):
        sd.closures(tree, q=zero)
