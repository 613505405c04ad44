# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Custom bodies: from Python functions, and from another package."""

from dataclasses import dataclass
import os
from pathlib import Path
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES, Body
from softrobot_dynamics.bodies.learned.networks import write_network
from softrobot_dynamics.bodies.pcc import PiecewiseConstantCurvature
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.materials.neo_hookean import NeoHookean
from softrobot_dynamics.tracing import programs
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.generated import instance
from support.weights import network
import yaml

PACKAGE = 'softrobot_dynamics.'

PCC = PiecewiseConstantCurvature(
    length=0.15, radius=(0.02, 0.017), density=1100.0, young_modulus=5e5, damping=0.04
)
RUBBER = NeoHookean(young_modulus=2e5, poisson_ratio=0.4, damping=0.03)
ROTATION = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
POINTS = 0.1 * np.random.default_rng(1).random((20, 3))
SWELL = {
    'coordinates': ('swell', 'shear'), 'length': 0.1, 'points': POINTS,
    'masses': np.full(20, 0.02),
}  # fmt: skip


def swell(x, q, math):
    """Swelling and a shear, not linear in q."""
    wider = math.exp(q[0] * x[2])
    return [wider * x[0] + q[1] * x[2], wider * x[1], x[2] + q[0] * q[0] * x[2]]


def model(*bodies, joint=None, actuators=()):
    """Return the compiled model of bodies on the base, b0, b1, ..., described by objects."""
    rows = [
        {'name': f'b{i}', 'parent': 'base', 'joint': joint or {'type': 'fixed'}, 'body': body}
        for i, body in enumerate(bodies)
    ]
    given = {'name': 'r', 'gravity': [3.0, -2.0, 9.0], 'bodies': rows, 'actuators': actuators}
    return sd.compile_model(sd.load_robot(given))


def same_formula():
    """Return the rod PCC as a user would write it."""
    points, masses = PCC.material_points()
    return sd.CustomBody(
        position=PCC.position, coordinates=PCC.coordinates(), length=PCC.length, points=points,
        masses=masses, tip=PCC.tip_frame, stiffness=PCC.stiffness(), damping=PCC.damping,
    )  # fmt: skip


def assert_close(found, wanted, tolerance=1e-12):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert np.abs(np.asarray(found) - wanted).max() <= tolerance * np.abs(wanted).max()


def test_the_formula_of_a_known_body_makes_that_body():
    """A custom body with the functions of `pcc` has its ID, M, tips, Jacobians and tendons."""
    helix = {'radius': 0.01, 'turns': 0.6}
    tendons = [
        {'name': f't{i}', 'type': 'tendon', 'path': [{'body': f'b{i}', 'offset': helix}]}
        for i in range(2)
    ]
    hinge = {'type': 'revolute', 'axis': [0.0, 1.0, 0.3]}
    both = model(same_formula(), PCC, joint=hinge, actuators=tendons)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, qd, qdd = np.tile(rng.uniform(-1.0, 1.0, (3, 4)) * [1.0, 1.0, 1.0, 0.03], 2)
        force, M = sd.mass_inverse_dynamics(both, q=q, qd=qd, qdd=qdd)
        assert_close(force[:4], force[4:])
        assert_close(M[:4, :4], M[4:, 4:])
        assert_close(*sd.forward_kinematics(both, q=q))
        assert_close(sd.jacobian(both, q=q, body='b0')[:, :4], sd.jacobian(both, q=q)[:, 4:])
        pair = [
            sd.material_points(both, q=q, qd=qd, points=PCC.material_points()[0], body=b)
            for b in ('b0', 'b1')
        ]
        for found, wanted in zip(*(each[:3] for each in pair)):
            assert_close(found, wanted)
        assert_close(pair[0].jacobians[..., :4], pair[1].jacobians[..., 4:])
        found = sd.actuation(both, q=q, qd=qd)
        assert_close(found.jacobian[0, :4], found.jacobian[1, 4:])
        for values in (found.coordinates, found.velocities, found.bias):
            assert_close(values[0], values[1])
    for matrix in (both.stiffness, both.damping):
        assert_close(matrix[:4, :4], matrix[4:, 4:])


def test_an_energy_may_be_a_function():
    """An energy may be a function of F, and equals the material of the same formula."""
    own = sd.CustomBody(position=swell, **SWELL, energy=RUBBER.energy, density=900.0,
                        viscosity=RUBBER.viscosity())  # fmt: skip
    same = sd.CustomBody(position=swell, **SWELL, energy=RUBBER, density=900.0)
    assert own == same and own.kernel().module == same.kernel().module
    robot, q = model(own), np.array([0.3, -0.2])
    qd = np.array([1.0, 0.4])

    def energy(q):
        x = POINTS.T
        wider, h = np.exp(q[0] * x[2]), np.zeros(20)
        F = [[wider, h, q[0] * wider * x[0] + q[1]], [h, wider, q[0] * wider * x[1]],
             [h, h, h + 1.0 + q[0] ** 2]]  # fmt: skip
        return RUBBER.energy(F, NUMERIC).sum() * 0.02 / 900.0

    step = 1e-5
    wanted = [(energy(q + step * e) - energy(q - step * e)) / (2.0 * step) for e in np.eye(2)]
    assert_close(sd.elastic_force(robot, q=q), np.array(wanted), 1e-7)
    assert qd @ sd.damping_force(robot, q=q, qd=qd) > 0.0


def test_the_derivatives_of_an_energy_of_ones_own():
    """Derivatives by q and qd, stress and viscosity exact, against differences of six points."""
    own = sd.CustomBody(position=swell, **SWELL, energy=RUBBER, density=900.0)
    assert own.derivatives_kernel() is not None
    robot = model(own, joint={'type': 'revolute', 'axis': [0.0, 1.0, 0.3]})
    q, qd, qdd = np.random.default_rng(5).uniform(-0.5, 0.5, (3, robot.n))

    def along(step, by_q):
        change = [k * step for k in (-3, -2, -1, 1, 2, 3)]
        force = [
            sd.inverse_dynamics(robot, q=q + by_q * c, qd=qd + (1.0 - by_q) * c, qdd=qdd)
            for c in change
        ]
        weights = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0
        return weights @ np.array(force)

    found = sd.inverse_dynamics_derivatives(robot, q=q, qd=qd, qdd=qdd)
    for by_q, matrix in ((1.0, found.by_q), (0.0, found.by_qd)):
        h = 2e-3
        wanted = np.array([along(h * e, by_q) / h for e in np.eye(robot.n)]).T
        assert_close(matrix, wanted, 1e-9)


RATE = 1.0


def test_a_formula_is_recorded_when_the_body_is_made():
    """A body keeps the formula of its construction when the objects it refers to change."""
    global RATE

    def position(x, q, math):
        return [x[0] * (1.0 + RATE * q[0]), x[1], x[2]]

    def make(**more):
        fields = {**SWELL, 'coordinates': ('a',), **more}
        return sd.CustomBody(position=position, **fields)

    first, again = make(), make()
    RATE = 2.0
    second = make()
    assert first == again and hash(first) == hash(again) and first != second
    assert first.kernel().module == again.kernel().module != second.kernel().module
    assert [b.position([1.0, 0.0, 0.0], [1.0], NUMERIC)[0] for b in (first, second)] == [2.0, 3.0]
    lighter = make(masses=np.full(20, 0.01))
    assert lighter != second and lighter.kernel().module == second.kernel().module


def test_numbers_cannot_be_changed_from_outside():
    """The arrays given are copied; those handed out are read-only."""
    masses = np.full(20, 0.02)
    body = sd.CustomBody(position=swell, **{**SWELL, 'masses': masses})
    masses[:] = -1.0
    assert (body.material_points()[1] == 0.02).all()
    with pytest.raises(ValueError, match='read-only'):
        body.material_points()[1][0] = 1.0


def test_stiffness_and_damping_in_each_way():
    """Stiffness may be a matrix, a diagonal or a number; damping a time of the stiffness."""
    K = np.array([[3.0, 0.5], [0.5, 2.0]])

    def make(**more):
        return sd.CustomBody(position=swell, **SWELL, **more)

    body = make(stiffness=K, damping=0.1)
    np.testing.assert_array_equal(body.stiffness(), K)
    np.testing.assert_array_equal(body.damping_matrix(), 0.1 * K)
    body = make(stiffness=[3.0, 2.0], damping=[0.3, 0.1])
    np.testing.assert_array_equal(body.stiffness(), np.diag([3.0, 2.0]))
    np.testing.assert_array_equal(body.damping_matrix(), np.diag([0.3, 0.1]))
    assert not make().stiffness().any() and not make().damping_matrix().any()


def test_the_tip_may_be_given_in_three_ways():
    """The tip is given by default points of the last section, other points, or a function."""
    q = [0.4, -0.3]
    default = sd.CustomBody(position=swell, **SWELL).tip_frame(q, NUMERIC)
    near = [[0.0, 0.0, 0.1], [0.01, 0.0, 0.1], [0.0, 0.01, 0.1]]
    points = sd.CustomBody(position=swell, **SWELL, tip=near).tip_frame(q, NUMERIC)
    still = sd.CustomBody(position=swell, **SWELL, tip=lambda q, math: (ROTATION, [*q, 0.1]))
    np.testing.assert_allclose(np.ravel(default[0]), np.eye(3).ravel(), atol=1e-15)
    np.testing.assert_allclose(default[1], swell([0.0, 0.0, 0.1], q, NUMERIC), rtol=1e-15)
    for found, wanted in zip(points, default):
        np.testing.assert_allclose(found, wanted, atol=1e-15)
    assert still.tip_frame(q, NUMERIC)[1] == [0.4, -0.3, 0.1]


def branch(x, q, math):
    """Choose by the sign of a coordinate."""
    return [x[0] + q[1] if q[0] > 0 else x[0], x[1] + q[0], x[2]]


def root(x, q, math):
    """Return a position whose derivative is infinite at q = 0."""
    return [x[0] + math.sqrt(q[0]) + q[1], x[1], x[2]]


WRONG = {
    'a branch': ({'position': branch}, 'position', 'without branches on what it is given'),
    'two values': (
        {'position': lambda x, q, math: [x[0] + q[0], x[1] + q[1]]},
        'position', 'returns 3 values, not 2',
    ),
    'no values': ({'position': lambda x, q, math: None}, 'position', 'TypeError'),
    'its own error': ({'position': lambda x, q, math: q[2]}, 'position', 'IndexError'),
    'three arguments': ({'position': lambda x, q: x}, 'position', 'TypeError'),
    'numpy': ({'position': lambda x, q, math: [np.sin(q[0]), q[1], 0.0]}, 'position', 'TypeError'),
    'unknown function': (
        {'position': lambda x, q, math: [math.arctan(q[0]), q[1], 0.0]},
        'position', 'did you mean arctan2?',
    ),
    'infinite derivative': ({'position': root}, 'position', 'dp/dq_1 at x = ['),
    'not a number': (
        {'position': lambda x, q, math: [math.log(q[0] - 1.0), q[1], 0.0]},
        'position', 'finite values and derivatives at q = 0; p at x',
    ),
    'idle coordinate': (
        {'position': lambda x, q, math: [x[0] + q[0], x[1], x[2]]},
        'position', 'the mass matrix is singular',
    ),
    'twice the same': (
        {'position': lambda x, q, math: [x[0] + q[0] + q[1], x[1], x[2]]},
        'position', 'the mass matrix is singular',
    ),
    'a text': ({'coordinates': 'swell, shear'}, 'coordinates', 'different names matching'),
    'same names': ({'coordinates': ('a', 'a')}, 'coordinates', 'different names matching'),
    'no names': ({'coordinates': ()}, 'coordinates', 'different names matching'),
    'points': ({'points': POINTS[:, :2]}, 'points', 'of shape (K, 3), not (20, 2)'),
    'no points': ({'points': np.zeros((0, 3))}, 'points', 'of shape (K, 3), not (0, 3)'),
    'NaN points': ({'points': np.nan * POINTS}, 'points', 'finite numbers'),
    'masses': ({'masses': np.ones(3)}, 'masses', '> 0 of shape (20), not (3,)'),
    'no mass': ({'masses': np.zeros(20)}, 'masses', 'finite numbers > 0'),
    'length': ({'length': 0.0}, 'length', 'finite numbers > 0'),
    'stiffness': ({'stiffness': np.eye(3)}, 'stiffness', 'of shape (2, 2), not (3, 3)'),
    'skew': ({'stiffness': [[1.0, 0.2], [0.0, 1.0]]}, 'stiffness', 'a symmetric matrix (2, 2)'),
    'diagonal': ({'damping': [1.0]}, 'damping', 'of shape (2), not (1,)'),
    'words': ({'damping': 'little'}, 'damping', 'finite numbers'),
    'quadrature': ({'quadrature': 2.5}, 'quadrature', 'a whole number >= 1'),
    'no rotation': (
        {'tip': lambda q, math: ([1.0 + q[0], *ROTATION[1:]], [0.0, 0.0, 0.1])},
        'tip', 'a rotation, row-major, and an origin',
    ),
    'a reflection': (
        {'tip': lambda q, math: ([-1.0, *ROTATION[1:]], [0.0, 0.0, 0.1])},
        'tip', 'a rotation, row-major, and an origin',
    ),
    'tip of 3 x 3': (
        {'tip': lambda q, math: (np.eye(3), [0.0, 0.0, 0.1])}, 'tip', 'TypeError',
    ),
    'tip without origin': (
        {'tip': lambda q, math: (ROTATION, [0.1])}, 'tip', 'returns 9 and 3 values, not 9 and 1',
    ),
    'tip on a line': (
        {'tip': [[0, 0, 0.1], [0.1, 0, 0.1], [0.2, 0, 0.1]]},
        'tip', 'three material points that are not on one line at q = 0',
    ),
    'no density': ({'energy': RUBBER}, 'density', 'finite numbers > 0 of shape ()'),
    'energy at rest': (
        {'energy': lambda F, math: math.log(F[0][0] - 1.0), 'density': 900.0},
        'energy', 'finite at F = 1',
    ),
    'energy of rows': (
        {'energy': lambda F, math: F[0], 'density': 900.0}, 'energy', 'TypeError',
    ),
}  # fmt: skip


@pytest.mark.parametrize('case', WRONG)
def test_wrong_formulas_and_numbers_are_refused(case):
    """Wrong formulas and numbers are refused with argument, function and what would be right."""
    change, argument, words = WRONG[case]
    with pytest.raises(ArgumentError) as caught:
        sd.CustomBody(**{'position': swell, **SWELL, **change})
    name = change.get('position', swell).__qualname__
    assert caught.value.argument == f'{argument} of CustomBody {name}'
    assert words in str(caught.value)


@dataclass(frozen=True)
class Puppet(Body):
    """A body of a class that no registry knows."""

    length: float = 0.1
    type_name = 'puppet'

    def coordinates(self):
        """Return one."""
        return ('a',)

    def position(self, x, q, math):
        """Stretch."""
        return [x[0], x[1], x[2] * (1.0 + q[0])]

    def material_points(self):
        """Return a cloud."""
        return POINTS, np.full(20, 0.02)

    def validate(self):
        """Yield a length that does not please."""
        if self.length > 0.1:
            yield 'length', self.length, 'a length up to 0.1 [m]'


@dataclass(frozen=True)
class Marionette(Puppet):
    """One whose formulas branch, or come to two values, at will."""

    wrong: str = ''

    def position(self, x, q, math):
        """Stretch where it pulls."""
        place = super().position(x, q, math)
        return place[:2] if self.wrong == 'position' else place

    def tip_frame(self, q, math):
        """Turn by what is no number."""
        return super().tip_frame(q, math) if self.wrong != 'tip_frame' else (q, abs(q[0]))

    def energy(self, F, math):
        """Store nothing."""
        return None if self.wrong != 'energy' else F * 2.0 + F


@pytest.mark.parametrize('wrong', ['position', 'tip_frame', 'energy'])
def test_a_wrong_formula_of_a_class_is_named(wrong):
    """A wrong formula of a class is refused with the method and the type."""
    with pytest.raises(ArgumentError, match=f'{wrong} of puppet.*without branches'):
        Marionette(wrong=wrong).kernel()


def test_an_internal_error_is_not_reported_as_a_wrong_formula(monkeypatch):
    """A failure within the kernel generator is not reported as an error of the user."""

    def broken(*arguments):
        raise TypeError('of our own')

    monkeypatch.setattr(programs, 'body_terms', broken)
    with pytest.raises(TypeError, match='of our own'):
        Marionette(length=0.07).kernel()


def test_objects_stand_in_the_place_of_mappings():
    """A body and a joint made in Python, registered or not, may stand for their mappings."""
    hinge = instance(JOINTS, {'type': 'revolute', 'axis': [0.0, 1.0, 0.0]})
    bodies = [
        {'name': 'one', 'joint': hinge, 'body': Puppet()},
        {'name': 'two', 'joint': {'type': 'fixed'}, 'body': PCC},
    ]
    robot = sd.load_robot({'name': 'r', 'bodies': bodies})
    assert robot.modules[0].joint is hinge and robot.modules[1].body is PCC
    assert robot.coordinate_names[:2] == ('one', 'one/a') and robot.joint_names == ('one', 'two')


@pytest.mark.parametrize('fields, path, words', [
    ({'body': swell}, 'bodies[0].body', 'or (in Python) a Body object'),
    ({'joint': PCC}, 'bodies[0].joint', 'or (in Python) a Joint object'),
    ({'body': Puppet}, 'bodies[0].body', 'or (in Python) a Body object'),
    ({'body': Puppet(length=0.2)}, 'bodies[0].body.length', 'a length up to 0.1 [m]'),
], ids=['function', 'body as a joint', 'class', 'invalid'])  # fmt: skip
def test_an_object_of_another_type_is_refused(fields, path, words):
    """An object of another type is refused, and a body object is validated as a file is."""
    one = {'name': 'b', 'joint': {'type': 'fixed'}, 'body': Puppet(), **fields}
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot({'name': 'r', 'bodies': [one]})
    (problem,) = caught.value.problems
    assert problem.path == path and words in problem.expected


SCRATCH = """
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.bodies.contract import Body, register
from softrobot_dynamics.schema.fields import number


@register('pogo')
@dataclass(frozen=True)
class Pogo(Body):
    length: float = number('m', above=0.0)
    mass: float = number('kg', above=0.0)

    def coordinates(self):
        return ('stretch',)

    def position(self, x, q, math):
        return [x[0], x[1], x[2] * (1.0 + q[0])]

    def material_points(self):
        return np.array([[0.0, 0.0, self.length]]), np.array([self.mass])
"""
PROGRAM = """
import sys
import numpy as np
import softrobot_dynamics as sd

robot = sd.load_robot(sys.argv[1])
print(type(robot.modules[0].body).__module__, *robot.coordinate_names)
model = sd.compile_model(robot)
force, mass = sd.mass_inverse_dynamics(model, q=[0.5], qd=[0.0], qdd=[0.0])
print(force[0], mass[0, 0])
"""


def test_a_package_of_ones_own_adds_a_type(tmp_path):
    """Another package adds a type by one file and one entry point."""
    installed = tmp_path / 'site' / 'scratch-1.0.dist-info'
    installed.mkdir(parents=True)
    (tmp_path / 'site' / 'scratch_body.py').write_text(SCRATCH)
    (installed / 'METADATA').write_text('Metadata-Version: 2.1\nName: scratch\nVersion: 1.0\n')
    (installed / 'entry_points.txt').write_text(
        '[softrobot_dynamics.bodies]\npogo = scratch_body\n'
    )
    robot = tmp_path / 'robot.yaml'
    robot.write_text(
        textwrap.dedent("""
        name: stick
        bodies:
          - {name: leg, joint: {type: fixed}, body: {type: pogo, length: 0.4, mass: 2.0}}
    """)
    )
    path = os.pathsep.join([str(tmp_path / 'site'), str(Path(sd.__file__).parents[1])])
    run = subprocess.run(
        [sys.executable, '-W', 'error', '-c', PROGRAM, str(robot)],
        env={**os.environ, 'PYTHONPATH': path}, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    names, numbers = run.stdout.splitlines()
    assert names == 'scratch_body leg/stretch'
    np.testing.assert_allclose([float(v) for v in numbers.split()], [2.0 * 9.81 * 0.4, 0.32])


GUIDE = Path(__file__).parents[2] / 'docs' / 'bodies.md'


def test_the_guide_runs_as_written(tmp_path):
    """The example of the guide runs in a new process."""
    blocks = re.findall(
        r'<!-- example -->\n```python\n(.*?)```', GUIDE.read_text(encoding='utf-8'), re.DOTALL
    )
    assert len(blocks) == 1
    (tmp_path / 'guide.py').write_text('\n'.join(blocks), encoding='utf-8')
    run = subprocess.run(
        [sys.executable, '-W', 'error', 'guide.py'],
        env={**os.environ, 'PYTHONPATH': str(Path(sd.__file__).parents[1])},
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()


def test_the_files_in_the_guide_are_right(tmp_path):
    """Every body that the guide shows as YAML is accepted."""
    write_network(tmp_path / 'finger_weights.npz', network())
    found = re.findall(r'^( *)```yaml\n(.*?)```', GUIDE.read_text(encoding='utf-8'), re.M | re.S)
    bodies = [yaml.safe_load(textwrap.dedent(block))['body'] for _, block in found]
    assert {body['type'] for body in bodies} >= {'cosserat', 'learned'}
    for body in bodies:
        one = {'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}
        assert sd.load_robot({'name': 'r', 'bodies': [one]}, folder=tmp_path).n > 0


def test_the_guide_names_every_body():
    """The guide's table has a row for each registered body and one for custom bodies."""
    rows = re.findall(r'^\| `(\w+)` \| ', GUIDE.read_text(encoding='utf-8'), re.M)
    own = [name for name in BODIES.names() if BODIES.get(name).__module__.startswith(PACKAGE)]
    assert set(rows) >= set(own)
