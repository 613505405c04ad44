# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Learned bodies: their kernels against jets, files of weights, and the fit of a known body."""

from dataclasses import replace

import numpy as np
from oracles import newton_euler
from oracles.jets import Jet, jet, JETS
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.bodies.learned import fit, networks
from softrobot_dynamics.bodies.learned.body import Learned
from softrobot_dynamics.bodies.learned.samples import Samples
from softrobot_dynamics.bodies.pcc import PiecewiseConstantCurvature
from softrobot_dynamics.compiling.jit import kernel as compiled
from softrobot_dynamics.errors import ArgumentError, DescriptionError, MISSING
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.functions import vector_tanh
from softrobot_dynamics.materials.neo_hookean import NeoHookean
from softrobot_dynamics.schema.parsing import Problems
from softrobot_dynamics.tracing import graph, traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.differentiate import kinematic_derivatives
from softrobot_dynamics.tracing.graph import SYMBOLIC
from support.differences import gradient
from support.kernel_calls import body_slab, fibre
from support.weights import FEW, network

mpmath = pytest.importorskip('mpmath')
TOLERANCE = 1e-12  # of the largest entry
RUBBER = NeoHookean(young_modulus=2e5, poisson_ratio=0.4, damping=0.03)


def body(weights=None, **fields):
    """Return a learned body, tapered, of 0.25 m."""
    return Learned(weights or network(), radius=(0.02, 0.016), density=1070.0, **fields)


def run(body, q, qd, w=(0.0, 0.0, 0.0)):
    """Slab of a body's kernel."""
    return body_slab(body.kernel(), q, qd, w)


def state(n, seed=1):
    """Coordinates, their velocities and a spin."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, n), rng.uniform(-1.0, 1.0, n), rng.uniform(-2.0, 2.0, 3)


def assert_close(found, wanted, tolerance=TOLERANCE):
    """Compare arrays relative to the largest entry of the wanted one."""
    found, wanted = np.ravel(found), np.ravel(wanted)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize('n, hidden, activation', [
    (1, (3,), 'tanh'), (2, (5, 4), 'tanh'), (3, (16, 16), 'tanh'), (6, (16, 16), 'tanh'),
    (4, (9, 6, 5), 'tanh'), (3, (8, 7), 'silu'),
], ids=str)  # fmt: skip
def test_sums_over_the_body_equal_jets(n, hidden, activation):
    """Inertia, bias wrench, coupling, mass and bias equal jets, for networks of any size."""
    one = body(network(n, hidden, activation), quadrature=13)
    q, qd, w = state(n)
    W = run(one, q, qd, w)
    *starts, _, _ = layout.slab(n)  # without the forces
    for first, last, wanted in zip(starts, starts[1:], newton_euler.body_sums(one, q, qd, w)):
        assert_close(W[first:last], wanted)
    M = W[layout.slab(n).mass :][: n * n].reshape(n, n)
    assert np.array_equal(M, M.T) and np.linalg.eigvalsh(M)[0] > 0.0


def test_networks_share_their_machine_code():
    """Networks of other weights, sizes and coordinates use the same compiled code."""
    kernels = [body(network(n, hidden)).kernel() for n, hidden in ((1, (3,)), (6, (16, 16)))]
    assert len({(kernel.module, kernel.function) for kernel in kernels}) == 1
    assert body(network(activation='sin')).kernel().module != kernels[0].module


def test_the_base_is_clamped_and_the_body_straight_at_rest():
    """For any weights p = x on the base section, and everywhere at q = 0."""
    one, rng = body(), np.random.default_rng(2)
    x = rng.uniform([[-0.01], [-0.01], [0.05]], [[0.01], [0.01], [0.25]], (3, 20))
    base = x * [[1.0], [1.0], [0.0]]
    np.testing.assert_array_equal(one.position(list(base), [0.3, -0.8], NUMERIC), base)
    moved = one.position(list(x), [0.3, -0.8], NUMERIC)
    assert np.abs(moved - x).max() > 1e-5
    np.testing.assert_array_equal(one.position(list(x), [0.0, 0.0], NUMERIC), x)


def test_position_is_the_documented_formula():
    """The position equals the documented formula by plain matrix products of the weights."""
    net = network(activation='softplus')
    x, q = np.array([0.01, -0.005, 0.2]), np.array([0.7, -0.4])

    def N(q):
        v = np.concatenate([x / net.x_scale, q / net.q_scale])
        for W, b in net.layers[:-1]:
            v = np.log1p(np.exp(np.array(W) @ v + b))
        return np.array(net.layers[-1][0]) @ v + net.layers[-1][1]

    wanted = x + x[2] / net.length * (N(q) - N(0.0 * q))
    np.testing.assert_allclose(body(net).position(list(x), list(q), NUMERIC), wanted, atol=1e-16)


def gradients(one, q):
    """Deformation gradients (K, 3, 3) at the material points, by jets."""
    x = list(one.material_points()[0].T)
    columns = []
    for e in np.eye(3):
        p = one.position([Jet(c, s) for c, s in zip(x, e)], list(q), JETS)
        columns.append([np.broadcast_to(jet(c).first, len(x[0])) for c in p])
    return np.array(columns).transpose(2, 1, 0)


def test_forces_of_a_material():
    """The elastic force is the gradient of the energy, damping of v/2 tr(dC/dt dC/dq)."""
    one = body(material=RUBBER, quadrature=13)
    q, qd, _ = state(2)
    volumes = one.material_points()[1] / one.density

    def energy(q):
        return volumes @ RUBBER.energy(gradients(one, q).transpose(1, 2, 0), NUMERIC)

    def strain(q):
        F = gradients(one, q)
        return np.swapaxes(F, 1, 2) @ F

    W, first = run(one, q, qd), layout.slab(2).elastic
    assert_close(W[first : first + 2], gradient(energy, q), 1e-9)
    by_q = gradient(strain, q)
    damping = np.einsum('k,kabi,kabj,i->j', volumes, by_q, by_q, qd)
    assert_close(W[first + 2 :], 0.5 * RUBBER.viscosity() * damping, 1e-9)
    assert_close(W[:first], run(replace(one, material=None), q, qd)[:first], 1e-14)
    assert np.abs(run(one, 0.0 * q, 0.0 * qd)[first:]).max() < 1e-15


def test_a_constant_stiffness():
    """A constant stiffness matrix gives K q and damping K qd; without one there is neither."""
    K = ((3.0, 0.5), (0.5, 2.0))
    q, qd, _ = state(2)
    W = run(body(stiffness_matrix=K, damping=0.1), q, qd)
    np.testing.assert_allclose(W[-4:-2], np.array(K) @ q, rtol=1e-15)
    np.testing.assert_allclose(W[-2:], 0.1 * np.array(K) @ qd, rtol=1e-15)
    assert not run(body(), q, qd)[-4:].any()


@pytest.mark.parametrize('n, hidden', [(2, (5, 4)), (4, (16, 16))], ids=str)
def test_length_of_a_fibre(n, hidden):
    """Length, gradient and bias of a curve are those of the traced speed, point by point."""
    one, rng = body(network(n, hidden)), np.random.default_rng(4)
    s = np.linspace(0.01, 0.24, 37)
    points = np.column_stack([rng.uniform(-0.01, 0.01, (37, 2)), s])
    first, weights = rng.uniform(-0.3, 0.3, (37, 2)), rng.uniform(0.001, 0.01, 37)
    q, qd, _ = state(n)
    out = fibre(one.fibre_kernel(points, first, weights), q, qd)
    symbols = {kind: [graph.symbol(kind, i) for i in range(5)] for kind in ('x', 'q')}
    x = symbols['x']
    speed = [one.fibre_speed(x[:3], x[3:], symbols['q'][:n], SYMBOLIC)]
    J, bias = kinematic_derivatives(speed, n)
    given = {('x', i): c for i, c in enumerate([*points.T, *first.T])}
    given |= {(k, i): v for k, values in (('q', q), ('qd', qd)) for i, v in enumerate(values)}
    nodes = [*speed, *(column[0] for column in J), *bias]
    wanted = [weights @ value for value in traversal.evaluate(nodes, given, NUMERIC)]
    for found, value in zip(out, wanted):
        assert abs(found - value) <= 1e-13 * max(np.abs(wanted[0]), abs(value))


def test_the_kernel_is_the_traced_formula():
    """The kernel fills the same slab as the traced formula, tip frame included."""
    one, (q, qd, w) = body(network(hidden=FEW)), state(2)
    wanted, found = body_slab(Body.kernel(one), q, qd, w), run(one, q, qd, w)
    parts = [0, 9, 12, 15, 18, 24, 30, 40, 46, 58, 62, 64]
    for first, last in zip(parts, parts[1:]):
        scale = max(1e-3, np.abs(wanted[first:last]).max())
        assert np.abs(found[first:last] - wanted[first:last]).max() < TOLERANCE * scale


DEFINITIONS = {
    'tanh': mpmath.tanh,
    'sin': mpmath.sin,
    'silu': lambda x: x * mpmath.exp(x) / (mpmath.exp(x) + 1),
    'softplus': lambda x: mpmath.log1p(mpmath.exp(x)),
}
"""Activations as the literature has them."""


@pytest.mark.quick
@pytest.mark.parametrize('name', networks.ACTIVATIONS)
def test_derivatives_of_activations(name):
    """Activations and their first three derivatives equal a computation in fifty digits."""
    for z in (-3.0, -0.2, 0.0, 1.7):
        with mpmath.workdps(50):
            wanted = mpmath.taylor(DEFINITIONS[name], z, 3)
            wanted = [float(c * mpmath.factorial(k)) for k, c in enumerate(wanted)]
        found = traversal.evaluate(networks.derivatives(name), {('q', 0): np.float64(z)}, NUMERIC)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@compiled
def tangents(x, out):
    """Call vector_tanh as kernels do: in a loop that vectorises."""
    for i in range(len(x)):
        out[i] = vector_tanh(x[i])


def test_vector_tanh_is_accurate():
    """Vectorised tanh is within eight units in the last place and keeps nan."""
    rng = np.random.default_rng(3)
    x = np.concatenate([10.0 ** rng.uniform(-12, 1.5, 2000), np.linspace(0, 25, 1000), [1e300]])
    x = np.concatenate([x, -x, [np.inf, np.nan]])
    out = np.empty_like(x)
    tangents(x, out)
    with mpmath.workdps(40):
        wanted = [mpmath.tanh(mpmath.mpf(float(v))) for v in x[:-2]]
        errors = [
            abs(mpmath.mpf(float(a)) - b) / np.spacing(max(abs(float(b)), 1e-300))
            for a, b in zip(out, wanted)
        ]
    assert float(max(errors)) <= 8.0
    assert out[-2] == 1.0 and np.isnan(out[-1])


@pytest.fixture
def arrays():
    """Return the arrays of a good file, to be spoiled."""
    return network().arrays()


def read(tmp_path, arrays):
    """Return (network, problems) of a file with these arrays."""
    problems = Problems()
    np.savez(tmp_path / 'w.npz', **arrays)
    return networks.read_network(str(tmp_path / 'w.npz'), 'weights', problems), problems


def test_a_file_brings_back_what_was_written(tmp_path, arrays):
    """A file returns every number that was written; names are optional."""
    assert read(tmp_path, arrays) == (network(), [])
    del arrays['coordinates']
    assert read(tmp_path, arrays)[0].coordinates == ('q1', 'q2')


@pytest.mark.parametrize('name, value, wrong, expected', [
    ('W1', np.zeros((4, 6)), (4, 6), 'shape (rows, 5), as W0 has 5 rows'),
    ('W0', np.zeros((5, 4)), (5, 4), 'shape (rows, 5), as x and q are 5 numbers'),
    ('W2', np.zeros((2, 4)), (2, 4), 'shape (3, 4)'),
    ('b1', np.zeros(5), (5,), 'shape (4,)'),
    ('W1', MISSING, MISSING, 'shape (rows, 5)'),
    ('b0', MISSING, MISSING, 'shape (5,)'),
    ('x_scale', np.array([0.02, 0.0, 0.25]), None, '3 numbers > 0 [m]'),
    ('q_scale', np.zeros((2, 2)), (2, 2), 'one per coordinate'),
    ('length', np.array(-0.1), None, 'a number > 0 [m]'),
    ('length', np.array([0.1]), (1,), 'a number > 0 [m]'),
    ('W2', np.full((3, 4), np.nan), None, 'finite numbers'),
    ('W2', np.full((3, 4), 'x'), 'str32', 'finite numbers'),
    ('activation', np.array('relu'), 'relu', 'one of tanh, sin, silu, softplus'),
    ('activation', np.array('tahn'), 'tahn', 'did you mean tanh?'),
    ('format', np.array(2), 2, '1'),
    ('format', MISSING, MISSING, '1'),
    ('coordinates', np.array(['a', 'a']), None, '2 different names'),
    ('coordinates', np.array(['a', '1b']), None, '2 different names'),
    ('w2', np.zeros(3), (3,), 'no such array'),
], ids=lambda v: v if isinstance(v, str) else '')  # fmt: skip
def test_wrong_arrays_are_named(tmp_path, arrays, name, value, wrong, expected):
    """The problem's path is that of the array, and it says what would be right."""
    arrays[name] = value
    found, problems = read(tmp_path, {k: v for k, v in arrays.items() if v is not MISSING})
    assert found is None
    assert [p.path for p in problems] == [f'weights:{name}']
    assert expected in problems[0].expected
    assert wrong is None or problems[0].value == wrong


@pytest.mark.parametrize('content', [b'', b'no archive', b'PK\x03\x04 broken'], ids=str)
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    """A file that is no archive is refused with one problem."""
    (tmp_path / 'w.npz').write_bytes(content)
    problems = Problems()
    assert networks.read_network(str(tmp_path / 'w.npz'), 'weights', problems) is None
    assert len(problems) == 1 and 'an .npz archive of arrays' in problems[0].expected


def test_pickled_objects_are_refused(tmp_path, arrays):
    """A file of weights with a pickled object is refused, and nothing in it is executed."""
    arrays['W1'] = np.array([print], dtype=object)
    found, problems = read(tmp_path, arrays)
    assert found is None and 'allow_pickle=False' in problems[0].expected


ROBOT = """
name: finger
bodies:
  - name: tip
    joint: {{type: fixed}}
    body: {{type: learned, weights: {file}, radius: 0.02, density: 1000.0{more}}}
"""


@pytest.fixture
def robot_file(tmp_path, monkeypatch):
    """Return a function that writes a robot beside the folder of its weights; we are elsewhere."""
    (tmp_path / 'robot' / 'weights').mkdir(parents=True)
    (tmp_path / 'elsewhere').mkdir()
    networks.write_network(tmp_path / 'robot' / 'weights' / 'w.npz', network())
    monkeypatch.chdir(tmp_path / 'elsewhere')

    def write(file='weights/w.npz', more=''):
        path = tmp_path / 'robot' / 'finger.yaml'
        path.write_text(ROBOT.format(file=file, more=more))
        return path

    return write


def test_files_are_relative_to_the_robot_file(robot_file, tmp_path, monkeypatch):
    """Paths are relative to the robot file, or to the working folder for a dict."""
    for file in ('weights/w.npz', tmp_path / 'robot' / 'weights' / 'w.npz'):
        robot = sd.load_robot(robot_file(file))
        assert robot.modules[0].body.weights == network()
        assert robot.coordinate_names == ('tip/shape_0', 'tip/shape_1')
    given = {'type': 'learned', 'weights': 'weights/w.npz', 'radius': 0.02, 'density': 1000.0}
    one = {'name': 'tip', 'joint': {'type': 'fixed'}, 'body': given}
    there = tmp_path / 'robot'
    assert sd.load_robot({'name': 'r', 'bodies': [one]}, folder=there).modules == robot.modules
    monkeypatch.chdir(there)
    assert sd.load_robot({'name': 'r', 'bodies': [one]}).modules == robot.modules


@pytest.mark.parametrize('fields, path, expected', [
    ({'file': 'no.npz'}, 'weights', 'the path of a file of weights (.npz) (there is no '),
    ({'file': 'weights'}, 'weights', 'the path of a file of weights'),
    ({'file': '3'}, 'weights', 'the path of a file of weights'),
    ({'file': 'finger.yaml'}, 'weights', 'an .npz archive of arrays'),
    ({'more': ', stiffness_matrix: [[1.0]]'}, 'stiffness_matrix', 'a symmetric matrix (2, 2)'),
    ({'more': ', stiffness_matrix: [[1, 2], [0, 1]]'}, 'stiffness_matrix', 'symmetric matrix'),
    ({'more': ', stiffness_matrix: [[1, 2], [2, 1]]'}, 'stiffness_matrix', 'without negative'),
    (
        {'more': ', stiffness_matrix: [[1, 0], [0, 1]], material: {type: neo_hookean, '
                 'young_modulus: 1e5, poisson_ratio: 0.3}'},
        'stiffness_matrix', 'either a material or a stiffness_matrix',
    ),
    (
        {'more': ', damping: 0.1, material: {type: neo_hookean, young_modulus: 1e5, '
                 'poisson_ratio: 0.3}'},
        'damping', 'none beside a material',
    ),
], ids=str)  # fmt: skip
def test_wrong_fields_are_named(robot_file, fields, path, expected):
    """Missing files, invalid stiffness and doubly given elasticity are named."""
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot(robot_file(**fields))
    (problem,) = caught.value.problems
    assert problem.path == f'bodies[0].body.{path}' and expected in problem.expected


PCC = PiecewiseConstantCurvature(
    length=0.2, radius=(0.02, 0.02), density=1070.0, young_modulus=6e5, quadrature=8
)
REACH = np.array([0.8, 0.8, 0.02])


def samples(postures, each, seed=0):
    """Return Samples of the rod PCC: points within it, in postures within REACH."""
    rng = np.random.default_rng(seed)
    q = np.repeat(REACH * rng.uniform(-1.0, 1.0, (postures, 3)), each, axis=0)
    angle, s = 2 * np.pi * rng.random(len(q)), 0.2 * rng.random(len(q))
    r = 0.02 * np.sqrt(rng.random(len(q)))
    x = np.column_stack([r * np.cos(angle), r * np.sin(angle), s])
    p = np.array(PCC.position(list(x.T), list(q.T), NUMERIC)).T
    return Samples(x, q, p, PCC.coordinates())


@pytest.fixture(scope='module')
def fitted():
    """Return a Fit of the rod."""
    return fit.fit(samples(100, 6), (12, 12), length=0.2, training=fit.Training(40))


def test_a_fit_learns_a_known_body(fitted):
    """A fit learns a known body to a fraction of a millimetre and reports its true errors."""
    assert fitted.count == 120 and fitted.held_out.rms < 4e-4 and fitted.held_out.largest < 4e-3
    assert fitted.fitted.rms < fitted.held_out.rms < fitted.held_out.largest
    fresh = fit.errors_of(fitted.network, samples(100, 10, seed=5))
    assert 0.5 < fresh.rms / fitted.held_out.rms < 2.0


def test_a_fitted_body_moves_like_the_one_it_learned(fitted):
    """M and g agree within the accuracy of the fit; so do tips. Both are branches of one robot."""
    own = Learned(fitted.network, radius=(0.02, 0.02), density=1070.0, quadrature=8)
    fixed = {'parent': 'base', 'joint': {'type': 'fixed'}}
    bodies = [{'name': name, **fixed, 'body': b} for name, b in (('pcc', PCC), ('own', own))]
    robot = {'name': 'both', 'gravity': [3.0, -2.0, 9.0], 'bodies': bodies}
    model, zero = sd.compile_model(sd.load_robot(robot)), np.zeros(6)
    assert [c.replace('pcc', 'own') for c in model.coordinate_names[:3]] == [
        *model.coordinate_names[3:]
    ]
    for q in 0.7 * REACH * np.random.default_rng(6).uniform(-1.0, 1.0, (5, 3)):
        q = np.tile(q, 2)
        M = sd.mass_inertial_inverse_dynamics(model, q=q, qd=zero, qdd=zero)[1]
        scale = np.sqrt(np.diag(M)[:3])
        assert not M[:3, 3:].any()
        assert np.abs((M[3:, 3:] - M[:3, :3]) / np.outer(scale, scale)).max() < 0.03
        g = sd.gravity_force(model, q=q).reshape(2, 3) / scale
        assert np.abs(g[1] - g[0]).max() < 0.03 * np.abs(g[0]).max()
        tip, other = sd.forward_kinematics(model, q=q)
        assert np.abs(tip[:3, 3] - other[:3, 3]).max() < 2.0 * fitted.held_out.largest
        assert np.abs(tip[:3, :3] - other[:3, :3]).max() < 0.1


def test_a_fit_can_be_repeated():
    """Fits with equal seeds give equal weights, with other seeds other weights."""
    one, same, other = (
        fit.fit(samples(20, 4), (4,), training=fit.Training(3, seed=seed)).network
        for seed in (1, 1, 2)
    )
    assert one == same and one != other


def test_derivatives_of_the_fit():
    """J^T r is the gradient of the mean square error, in several pieces as in one."""
    given, rng = samples(30, 5), np.random.default_rng(7)
    problem = fit._Problem(given, np.ones(150, dtype=bool), 0.2, (5, 4), 'silu', 1e-3)
    weights = problem.start(rng) + 0.1 * rng.normal(size=problem.size)
    H, g = problem.normal_equations(weights)
    wanted = gradient(problem.error, weights, step=1e-2)
    assert_close(2.0 * g / (3 * len(given.x)), wanted, 1e-9)
    problem._chunks = np.array_split(np.arange(150), 7)
    for found, whole in zip(problem.normal_equations(weights), (H, g)):
        np.testing.assert_allclose(found, whole, rtol=1e-10, atol=1e-10 * np.abs(whole).max())


@pytest.mark.parametrize('change, words', [
    ({'length': 0.1}, 'argument length: 0.1'),
    ({'activation': 'relu'}, "argument activation: 'relu', expected one of tanh"),
    ({'hidden': ()}, 'argument hidden'),
    ({'hidden': (4, 0)}, 'argument hidden'),
    ({'training': fit.Training(held_out=1.0)}, 'argument held_out'),
    ({'training': fit.Training(0)}, 'argument iterations'),
    ({'training': fit.Training(seed=-1)}, 'argument seed'),
    ({'training': fit.Training(decay=np.nan)}, 'argument decay'),
], ids=str)  # fmt: skip
def test_wrong_arguments_of_a_fit(change, words):
    """Each wrong argument of a fit is refused by name."""
    with pytest.raises(ArgumentError) as caught:
        fit.fit(samples(5, 5), **change)
    assert words in str(caught.value)


def test_wrong_samples():
    """Rows that do not match, names too few, and one posture only are refused."""
    good = samples(5, 5)
    for wrong, words in (
        (good._replace(p=good.p[1:]), 'as many rows in x, q and p'),
        (good._replace(coordinates=('a',)), '3 names, one per column of q'),
        (good._replace(q=0.0 * good.q), 'samples in several postures'),
    ):
        with pytest.raises(ArgumentError, match=words):
            fit.fit(wrong)


def test_the_command_fits_and_reports_errors(tmp_path, capsys):
    """The command fits samples, writes a file for a robot and prints errors of both shares."""
    from softrobot_dynamics import cli

    given = samples(30, 5)
    np.savez(tmp_path / 'samples.npz', x=given.x, q=given.q, p=given.p)
    options = ['--hidden', '6', '--iterations', '5', '--length', '0.2']
    file = tmp_path / 'weights.npz'
    assert cli.main(['fit', str(tmp_path / 'samples.npz'), *options, '--output', str(file)]) == 0
    shown = capsys.readouterr().out
    net = networks.read_network(str(file), '', Problems())
    wanted = fit.fit(given, (6,), length=0.2, training=fit.Training(5))
    assert net == replace(wanted.network, coordinates=('q1', 'q2', 'q3'))
    assert f'held out  rms {wanted.held_out.rms:.3g} m' in shown
    assert f'largest {wanted.held_out.largest:.3g} m' in shown and 'still improving' in shown


def test_the_command_refuses_bad_input(tmp_path, capsys):
    """Wrong input ends the command with status 2 and the reason before any work."""
    from softrobot_dynamics import cli

    given, file = samples(5, 5), str(tmp_path / 'samples.npz')
    np.savez(file, x=given.x[:, :2], q=np.full((25, 2), np.nan))
    assert cli.main(['fit', file, '--output', 'w.npz']) == 2
    shown = capsys.readouterr().err
    assert 'x: (25, 2), expected finite numbers of shape (S, 3)' in shown
    assert 'q: ' in shown and 'p: missing' in shown
    np.savez(file, x=given.x, q=given.q, p=given.p)
    assert cli.main(['fit', file, '--output', str(tmp_path / 'none' / 'w.npz')]) == 2
    assert 'a file in a folder that exists' in capsys.readouterr().err
