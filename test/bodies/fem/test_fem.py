# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Reduced finite elements against closed forms of solids, and against every kind of bad input."""

from dataclasses import replace
import zipfile

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.bodies.fem.elements import Elements
from softrobot_dynamics.bodies.fem.modes import reduced_basis, Solid, tip_nodes
from softrobot_dynamics.bodies.fem.modes_file import digest, load_modes, save_modes
from softrobot_dynamics.bodies.meshes import Mesh
from softrobot_dynamics.errors import ArgumentError, DescriptionError, MeshError
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.differences import gradient
from support.solids import box, modes, modes_file, RUBBER

SIZE = 0.03, 0.04, 0.25
HOOKE = {'type': 'st_venant_kirchhoff', 'young_modulus': 6e5, 'poisson_ratio': 0.3}


def robot(file, gravity=(0.0, 0.0, 9.81), actuators=(), **fields):
    """Describe one fem body at the base."""
    body = {'type': 'fem', 'modes': str(file), **fields}
    bodies = [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}]
    given = {'name': 'r', 'gravity': list(gravity), 'bodies': bodies}
    return sd.load_robot({**given, 'actuators': list(actuators)})


def body_of(file, **fields):
    """Return the fem body of a file."""
    return robot(file, **fields).modules[0].body


def tip_motion(mesh, basis):
    """Mean displacement (3, n) of the nodes of the tip face."""
    return basis.fields[tip_nodes(Elements(mesh))].mean(axis=0)


def rest_position(model):
    """Tip (3,) [m] where nothing but gravity acts."""
    q = sd.equilibrium(model, u=np.zeros(model.m), q0=np.zeros(model.n)).q
    return sd.forward_kinematics(model, q=q)[-1, :3, 3]


def polygon(points):
    """Length [m] of a line through points (3, K)."""
    return np.linalg.norm(np.diff(points), axis=0).sum()


def order(errors, factor=2.0):
    """Order of convergence of the last two errors, of meshes refined by a factor."""
    return np.log(errors[-2] / errors[-1]) / np.log(factor)


def timoshenko(solid, width, height, length, count):
    """First angular frequencies (count,) of a clamped beam with shear and rotary inertia."""
    E, G = solid.young_modulus, solid.young_modulus / 2 / (1 + solid.poisson_ratio)
    A, inertia = width * height, width * height**3 / 12

    def free_end(w):  # state y, psi, M, V from the clamped end on
        line, rotary = solid.density * A * w * w, solid.density * inertia * w * w
        rows = [
            [0.0, 1.0, 0.0, 1.2 / (G * A)], [0.0, 0.0, 1.0 / (E * inertia), 0.0],
            [0.0, -rotary, 0.0, -1.0], [-line, 0.0, 0.0, 0.0],
        ]  # fmt: skip
        return np.linalg.det(expm(np.array(rows) * length)[2:, 2:])

    slender = np.sqrt(E * inertia / (solid.density * A)) / length**2
    roots = np.array([1.875104, 4.694091, 7.854757])[:count] ** 2 * slender
    return np.array([brentq(free_end, 0.75 * w, 1.001 * w) for w in roots])


@pytest.fixture(scope='module')
def file():
    """Path of the modes of a box, with derivatives."""
    return modes_file()


def test_mass_centre_and_inertia_are_the_mesh_s(file):
    """Mass, centre and inertia equal those of a solid box about the centre of its base."""
    (a, b, L), body = SIZE, body_of(file)
    points, masses = body.material_points()
    m = RUBBER.density * a * b * L
    np.testing.assert_allclose(masses.sum(), m, rtol=1e-13)
    np.testing.assert_allclose(masses @ points, [0.0, 0.0, m * L / 2], atol=1e-14)
    moments = np.diag([a * a / 12, b * b / 12, L * L / 3]) * m
    np.testing.assert_allclose(
        np.einsum('k,ki,kj->ij', masses, points, points), moments, atol=1e-15
    )


def test_modes_are_orthogonal_and_scaled(file):
    """M and, for vibration modes, K are diagonal, with the frequencies in K/M; fields reach 1."""
    made, body = load_modes(file), body_of(file)
    model = sd.compile_model(robot(file))
    M = sd.mass_inverse_dynamics(
        model, q=np.zeros(model.n), qd=np.zeros(model.n), qdd=np.zeros(model.n)
    )[1]
    K, v = body.stiffness(), len(made.basis.frequencies)
    assert body.coordinates() == tuple(f'mode_{i}' for i in range(1, v + 1)) + ('derivative_1',)
    scale = np.sqrt(np.diag(M))
    np.testing.assert_allclose(M / np.outer(scale, scale), np.eye(model.n), atol=1e-9)
    squares = (2 * np.pi * made.basis.frequencies) ** 2
    np.testing.assert_allclose(
        (K / np.outer(scale, scale))[:v, :v], np.diag(squares), atol=1e-8 * squares[-1]
    )
    np.testing.assert_allclose(np.linalg.norm(made.basis.fields, axis=1).max(axis=0), 1.0)
    assert not made.basis.fields[Elements(made.mesh).nodes[:, 2] == 0.0].any()


def test_axial_frequency_converges_to_the_closed_form():
    """The axial frequency converges to c/(4 L) with the fourth power of the element size."""
    solid, L = Solid(1e6, 0.0, 1000.0), 0.2
    errors = []
    for k in (2, 4):
        mesh = box((k, k, 2 * k), (0.1, 0.08, L))
        basis = reduced_basis(mesh, solid, 6)
        tip = np.abs(tip_motion(mesh, basis))
        axial = np.argmax(tip[2] - tip[:2].max(axis=0))
        errors.append(basis.frequencies[axial] / (np.sqrt(1e6 / 1000.0) / (4 * L)) - 1.0)
    assert 0.0 < errors[1] < 2e-6
    assert order(errors) > 3.7


def test_bending_frequencies_converge_to_timoshenko():
    """Bending frequencies converge to Timoshenko's from above, faster than h^3."""
    solid, (b, h, L) = Solid(1e6, 0.0, 1000.0), (0.02, 0.03, 0.3)
    wanted = timoshenko(solid, b, h, L, 2)
    errors = []
    for k in (1, 2, 3):
        mesh = box((k, k, 6 * k), (b, h, L))
        basis = reduced_basis(mesh, solid, 5)
        bending = np.abs(tip_motion(mesh, basis)[1]) > 0.5
        errors.append(2 * np.pi * basis.frequencies[bending][:2] / wanted - 1.0)
    errors = np.array(errors)
    assert (errors > 0.0).all() and errors[-1, 0] < 1.2e-4 and errors[-1, 1] < 1e-3
    assert (order(errors[:2]) > 3.0).all() and (order(errors[1:], 1.5) > 2.8).all()


def test_poisson_s_ratio_does_not_lock():
    """At a Poisson ratio of 0.49 a clamped beam is stiffer only by what its clamped face adds."""
    solid, (b, h, L) = Solid(1e6, 0.49, 1000.0), (0.02, 0.03, 0.45)
    basis = reduced_basis(box((2, 2, 18), (b, h, L)), solid, 2)
    wanted = [timoshenko(solid, *sides, L, 1)[0] for sides in ((h, b), (b, h))]
    np.testing.assert_allclose(2 * np.pi * basis.frequencies, wanted, rtol=0.05)
    assert (2 * np.pi * basis.frequencies > wanted).all()


def test_static_deflection_is_the_beam_s():
    """The deflection under weight converges to the beam's, bending and shear included."""
    solid, (b, h, L) = Solid(1e8, 0.0, 1000.0), (0.02, 0.03, 0.3)
    load = 9.81 * solid.density * h * b
    wanted = load * L**4 / (8 * 1e8 * b * h**3 / 12) + load * L**2 / (2 * 0.5e8 * b * h / 1.2)
    errors = []
    for count in (2, 6, 12):
        model = sd.compile_model(
            robot(modes_file((1, 2, 12), (b, h, L), count, 0, solid), (0, 9.81, 0))
        )
        errors.append(abs(1.0 - rest_position(model)[1] / wanted))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 2e-3


def test_modal_derivatives_let_a_body_bend_far():
    """A beam bends under its weight to half its length as the elastica does; modes alone lock."""
    (h, b, L), solid = (
        (0.015, 0.03, 0.3),
        Solid(1000.0 * 9.81 * 12 * 0.3**3 / 5 / 0.015**2, 0.0, 1000.0),
    )
    law = {
        'type': 'st_venant_kirchhoff',
        'young_modulus': solid.young_modulus,
        'poisson_ratio': 0.0,
    }
    errors = []
    for count, derivatives in ((6, 0), (3, 2), (6, 3)):
        file = modes_file((1, 2, 12), (b, h, L), count, derivatives, solid)
        tip = rest_position(sd.compile_model(robot(file, (0, -9.81, 0), material=law))) / L
        errors.append(np.abs(tip - [0.0, -0.4959050446, 0.8466571800]).max())
    assert errors[0] > 0.4
    assert errors[1] < 1e-2 and errors[2] < 1e-3


def test_a_material_stiffens_as_linear_elasticity_at_rest(file):
    """The stiffness of a material with the numbers of the file is that of linear elasticity."""
    model, K = sd.compile_model(robot(file, material=HOOKE)), body_of(file).stiffness()
    np.testing.assert_allclose(model.stiffness, K, rtol=1e-6, atol=1e-6 * K.max())
    damped = sd.compile_model(robot(file, material={**HOOKE, 'damping': 0.1}))
    assert np.linalg.eigvalsh(damped.damping).min() > 0.0
    assert np.array_equal(body_of(file, damping=0.2).damping_matrix(), 0.2 * K)


def test_forces_are_gradients_of_the_energy_in_the_mesh(file):
    """The elastic force is the derivative of the energy summed over the rule of the elements."""
    body = body_of(file, material=HOOKE)
    model = sd.compile_model(robot(file, material=HOOKE))
    first, volumes = body.strain_quadrature()
    np.testing.assert_allclose(volumes.sum(), np.prod(SIZE), rtol=1e-13)

    def energy(q):
        F = np.eye(3) + np.tensordot(first, q, (1, 0))
        return volumes @ body.energy([[F[:, i, j] for j in range(3)] for i in range(3)], NUMERIC)

    for q in 0.01 * np.random.default_rng(1).uniform(-1, 1, (3, model.n)):
        wanted = gradient(energy, q, 1e-3)
        found = sd.elastic_force(model, q=q)
        np.testing.assert_allclose(found, wanted, atol=1e-8 * np.abs(wanted).max())


def test_points_anywhere_move_with_the_shape_functions(file):
    """Material points, nodes and points between them move with the shape functions."""
    body, made = body_of(file), modes()
    q = 0.05 * np.arange(1.0, 6.0)
    nodes = Elements(made.mesh).nodes
    moved = np.stack(body.position(list(nodes.T), q, NUMERIC), -1)
    np.testing.assert_allclose(moved, nodes + made.basis.fields @ q, atol=1e-15)
    points, _ = body.material_points()
    known = np.stack(body.position(list(points.T), q, NUMERIC), -1)
    found = np.stack(body.position(list(points[::-1].T), q, NUMERIC), -1)
    np.testing.assert_allclose(known, found[::-1], atol=1e-15)
    assert body.position(points[7].tolist(), q.tolist(), NUMERIC) == pytest.approx(
        known[7], abs=1e-15
    )
    grid = body.position(list(points[:6].T.reshape(3, 2, 3)), q, NUMERIC)
    np.testing.assert_allclose(np.reshape(grid, (3, 6)).T, known[:6], atol=1e-15)


def test_tip_frame_follows_the_tip_face(file):
    """A plane rotation of the face's nodes, small or not, turns the frame."""
    body, made = body_of(file), modes()
    R, origin = body.tip_frame([0.0] * 5, NUMERIC)
    np.testing.assert_allclose([*R, *origin], [*np.eye(3).ravel(), 0.0, 0.0, 0.25], atol=1e-15)
    q = np.array([0.03, -0.04, 0.02, 0.0, 0.01])
    nodes = tip_nodes(Elements(made.mesh))
    x = Elements(made.mesh).nodes[nodes]
    moved = x + made.basis.fields[nodes] @ q
    R, origin = body.tip_frame(q, NUMERIC)
    R = np.reshape(R, (3, 3))
    np.testing.assert_allclose(origin, moved.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose((moved - origin) @ R[:, 2], 0.0, atol=2e-3 * 0.04)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)


@pytest.mark.parametrize('offset', [
    {'x': [0.012, -0.004], 'y': [-0.01]}, {'radius': 0.01, 'turns': 3.0}, [0.0, 0.0],
])  # fmt: skip
def test_a_tendon_runs_through_the_mesh(file, offset):
    """A tendon's length is that of the deformed curve; its gradient is exact."""
    tendon = {'name': 't', 'type': 'tendon', 'path': [{'body': 'b', 'offset': offset}]}
    q = 0.02 * np.cos(np.arange(5.0))
    description = robot(file, actuators=[tendon], quadrature=2)
    body = description.modules[0].body
    (passage,) = description.actuators[0].actuator.path
    curves = [passage.curve(body, count).T for count in (2001, 4001)]
    grown = [polygon(body.position(c, q, NUMERIC)) - polygon(c) for c in curves]
    wanted = (4.0 * grown[1] - grown[0]) / 3.0  # the polygon is of second order
    model = sd.compile_model(description)
    assert sd.actuation(model, q=q, qd=q).coordinates[0] == pytest.approx(wanted, abs=2e-9)
    each = gradient(lambda z: sd.actuation(model, q=z, qd=z).coordinates, q, 1e-3)
    np.testing.assert_allclose(sd.actuation(model, q=q, qd=q).matrix, -each.T, atol=1e-10)
    assert model.samplings[0].error < 1e-10


def test_a_tendon_beside_the_mesh_is_refused(file):
    """A point far outside of every element has no displacement."""
    path = [{'body': 'b', 'offset': [0.05, 0.0]}]
    description = robot(file, actuators=[{'name': 't', 'type': 'tendon', 'path': path}])
    with pytest.raises(ArgumentError, match='a curve within the mesh'):
        sd.compile_model(description)


def test_a_formula_is_not_offered(file):
    """The position of a mesh cannot be traced by x."""
    from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC

    with pytest.raises(TypeError, match='points of its mesh'):
        body_of(file).position([symbol('x', i) for i in range(3)], [0.0] * 5, SYMBOLIC)


def test_a_modes_file_returns_what_was_saved(tmp_path):
    """Arrays come back to the bit, and equal meshes alone have equal digests."""
    made = replace(modes(), scale=1e-3)
    save_modes(tmp_path / 'a.npz', made)
    found = load_modes(tmp_path / 'a.npz')
    for a, b in ((found.mesh.points, made.mesh.points), (found.basis.fields, made.basis.fields),
                 (found.basis.frequencies, made.basis.frequencies)):  # fmt: skip
        assert np.array_equal(a, b)
    assert found.solid == made.solid and found.scale == 1e-3
    assert digest(found.mesh) == digest(made.mesh) != digest(box((2, 2, 3), SIZE))


def changed(file, target, **entries):
    """Write a modes file with some entries replaced; None takes one out."""
    with np.load(file) as archive:
        content = {**archive, **entries}
    np.savez(target, **{name: value for name, value in content.items() if value is not None})
    return target


FIELDS = modes().basis.fields
WRONG = {
    'format': {'format': 99},
    'no format': {'format': None},
    'no entry fields': {'fields': None},
    'units': {'units': 'mm, kg, s'},
    'not the one': {'mesh': 'f' * 64},
    'finite': {'fields': np.where(FIELDS == FIELDS.max(), np.nan, FIELDS)},
    'right kind': {'fields': FIELDS.astype(complex)},
    'fields of shape': {'fields': FIELDS[:-1]},
    'frequencies': {'frequencies': np.ones(9)},
    'base moves': {'fields': FIELDS + 0.1},
    'material of shape': {'material': np.ones(2)},
    'scale of shape': {'scale': np.ones(2)},
    'poisson_ratio': {'material': np.array([1e5, 0.6, 1000.0])},
    'tetrahedra of all points': {'tetrahedra': np.array([[0, 1, 2, 3]])},
    'damaged': {'fields': np.array([{}], dtype=object)},
}


@pytest.mark.parametrize('words', WRONG, ids=str)
def test_wrong_content_of_a_file_is_refused(words, file, tmp_path):
    """Wrong content of a modes file is refused with the place in the robot file."""
    wrong = changed(file, tmp_path / 'wrong.npz', **WRONG[words])
    with pytest.raises(DescriptionError) as caught:
        robot(wrong)
    (problem,) = caught.value.problems
    assert problem.path == 'bodies[0].body.modes'
    assert words.removeprefix('no format') in problem.expected
    assert 'softrobot modes' in problem.expected


def test_damaged_files_are_refused(file, tmp_path):
    """A modes file that is cut off, has flipped bytes, is no archive or a folder is refused."""
    with open(file, 'rb') as source:
        content = source.read()
    middle = len(content) // 2
    flipped = content[:middle] + bytes(b ^ 255 for b in content[middle : middle + 64])
    cases = {
        'cut': content[:middle],
        'flipped': flipped + content[middle + 64 :],
        'empty': b'',
        'text': b'modes',
    }
    for name, data in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(ArgumentError, match='softrobot modes'):
            load_modes(path)
    np.save(tmp_path / 'one.npy', np.ones(3))
    with zipfile.ZipFile(tmp_path / 'other.npz', 'w') as archive:
        archive.writestr('a.txt', 'b')
    for name in ('one.npy', 'other.npz', '.', 'none.npz'):
        with pytest.raises(ArgumentError, match='softrobot modes'):
            load_modes(tmp_path / name)


@pytest.mark.parametrize('fields, path, words', [
    ({'modes': 'none.npz'}, 'modes', 'softrobot modes'),
    ({'modes': 3}, 'modes', 'path'),
    ({'damping': 0.1, 'material': HOOKE}, 'damping', 'material'),
    ({'material': {'type': 'incompressible_neo_hookean', 'modulus': 1e5}}, 'material', 'at rest'),
    ({'material': {'type': 'steel'}}, 'material.type', 'st_venant_kirchhoff'),
    ({'quadrature': 0}, 'quadrature', 'whole number'),
    ({'mesh': 'none.msh'}, 'mesh', 'the mesh'),
], ids=str)  # fmt: skip
def test_wrong_fields_are_refused(fields, path, words, file):
    """Each wrong field of a fem body is refused with its place."""
    with pytest.raises(DescriptionError) as caught:
        robot(**{'file': file, **fields} if 'modes' not in fields else {'file': fields['modes']})
    (problem,) = caught.value.problems
    assert problem.path == f'bodies[0].body.{path}' and words in problem.expected


@pytest.mark.parametrize('numbers, words', [
    ({'poisson_ratio': 0.5}, 'poisson_ratio'), ({'poisson_ratio': -1.0}, 'poisson_ratio'),
    ({'young_modulus': 0.0}, 'young_modulus'), ({'density': np.inf}, 'density'),
    ({'young_modulus': np.nan}, 'young_modulus'),
], ids=str)  # fmt: skip
def test_wrong_materials_are_refused(numbers, words):
    """A wrong material is refused by name before anything is computed."""
    with pytest.raises(ArgumentError, match=words):
        reduced_basis(box((1, 1, 2), SIZE), RUBBER._replace(**numbers), 2)


@pytest.mark.parametrize('count, derivatives', [(0, 0), (10**6, 0), (3, -1), (3, 4)])
def test_wrong_numbers_of_modes_are_refused(count, derivatives):
    """Fewer than one mode, more than unknowns, or too many derivatives are refused."""
    with pytest.raises(ArgumentError, match='a whole number from'):
        reduced_basis(box((1, 1, 2), SIZE), RUBBER, count, derivatives)


def test_meshes_that_are_no_body_are_refused():
    """Meshes below their base, without a flat base or tip, or in two parts are refused."""
    mesh = box((1, 1, 2), SIZE)
    lowered = Mesh(mesh.points - [0.0, 0.0, 0.01], mesh.tetrahedra)
    raised = Mesh(mesh.points + [0.0, 0.0, 0.01], mesh.tetrahedra)
    tilted = Mesh(
        mesh.points + mesh.points[:, :1] * [0.0, 0.0, 1.0] * (mesh.points[:, 2:] > 0.2),
        mesh.tetrahedra,
    )
    both = np.vstack([mesh.points, mesh.points + [1.0, 0.0, 0.0]])
    apart = Mesh(both, np.vstack([mesh.tetrahedra, mesh.tetrahedra + len(mesh.points)]))
    for wrong, words in (
        (lowered, 'z >= 0'),
        (raised, 'flat base'),
        (tilted, 'flat tip'),
        (apart, '2 parts'),
    ):
        with pytest.raises(MeshError, match=words):
            reduced_basis(wrong, RUBBER, 2)


@pytest.fixture
def mesh_file(tmp_path):
    """Return a mesh file in millimetres."""
    meshio = pytest.importorskip('meshio')
    mesh = box((1, 1, 3), SIZE)
    meshio.write_points_cells(
        tmp_path / 'box.vtk', 1000.0 * mesh.points, [('tetra', mesh.tetrahedra)]
    )
    return tmp_path / 'box.vtk'


def modes_command(mesh, *others):
    """Run `softrobot modes` with the numbers of RUBBER."""
    numbers = ('--young-modulus', '6e5', '--poisson-ratio', '0.3', '--density', '1070')
    return cli.main(['modes', str(mesh), *numbers, '--scale', '1e-3', *map(str, others)])


def test_the_command_makes_a_file_that_a_robot_names(mesh_file, tmp_path, capsys):
    """The command writes a modes file; paths in a robot file are relative to that file."""
    target = tmp_path / 'box.npz'
    assert modes_command(mesh_file, '--modes', 3, '--derivatives', 2, '--output', target) == 0
    wanted = reduced_basis(box((1, 1, 3), SIZE), RUBBER, 3, 2)
    assert f'{wanted.frequencies[0]:.4g}' in capsys.readouterr().out
    text = """
        name: r
        bodies: [{name: b, joint: {type: fixed}, body: {type: fem, modes: box.npz, mesh: box.vtk}}]
    """
    (tmp_path / 'r.yaml').write_text(text, encoding='utf-8')
    body = sd.load_robot(tmp_path / 'r.yaml').modules[0].body
    assert isinstance(body, BODIES.get('fem')) and len(body.coordinates()) == 6
    np.testing.assert_allclose(body.modes.basis.frequencies, wanted.frequencies, rtol=1e-6)


def test_modes_of_another_mesh_are_refused(mesh_file, tmp_path, file):
    """A robot file that names the mesh too says which mesh the modes must be of."""
    with pytest.raises(DescriptionError, match='another one'):
        robot(file, mesh=str(mesh_file))
    (tmp_path / 'text.vtk').write_text('no mesh', encoding='utf-8')
    with pytest.raises(DescriptionError, match='mesh file expected'):
        robot(file, mesh=str(tmp_path / 'text.vtk'))


def test_the_command_refuses_wrong_input(mesh_file, tmp_path, capsys):
    """No mesh, too many modes or no folder ends the command with status 2 and the reason."""
    (tmp_path / 'text.vtk').write_text('no mesh', encoding='utf-8')
    for arguments, words in (
        ((tmp_path / 'text.vtk', '--output', tmp_path / 'a.npz'), 'mesh file'),
        ((mesh_file, '--modes', 10**6, '--output', tmp_path / 'a.npz'), 'whole number'),
        ((mesh_file, '--modes', 2, '--output', tmp_path / 'no' / 'a.npz'), 'a file to write'),
    ):
        assert modes_command(*arguments) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(SystemExit):
        modes_command(mesh_file)
