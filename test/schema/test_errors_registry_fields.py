# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The leaves: errors carry data and words, registries find members, fields check entries."""

import dataclasses
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints
import inspect
import math
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
from softrobot_dynamics import errors
from softrobot_dynamics.errors import closest, MISSING, Problem
from softrobot_dynamics.schema import fields, registry
from softrobot_dynamics.schema.registry import needed, Registry, require_methods, required

pytestmark = pytest.mark.quick

EXAMPLES = [
    (errors.CancelledError('planning', 'hold'), 'planning was cancelled by hold'),
    (
        errors.DescriptionError(
            [Problem('bodies[1].body.length', -0.2, 'a number > 0 [m]')], 'a.yaml'
        ),
        'a.yaml: 1 problem\n  bodies[1].body.length: -0.2, expected a number > 0 [m]',
    ),
    (
        errors.UnknownNameError('body', 'pc', ['pcc', 'rigid']),
        "unknown body 'pc' (did you mean pcc?); known: pcc, rigid",
    ),
    (errors.UnknownNameError('robot', 'x', []), "unknown robot 'x'; known: none"),
    (
        errors.ArgumentError('q', np.ones(2), 'shape (3,)'),
        'argument q: [1.0, 1.0], expected shape (3,)',
    ),
    (
        errors.NotConvergedError('equilibrium', 20, 1.25e-3),
        'equilibrium did not converge in 20 iterations: residual 0.00125',
    ),
    (
        errors.NotConvergedError('equilibrium', 20, 1.25e-3, 0.5, 'no step is lower'),
        'no equilibrium found: 0.5 of the load was balanced after 20 iterations, the residual'
        ' under the full load is 0.00125; beyond that share: no step is lower',
    ),
    (
        errors.InfeasibleReferenceError(1.5, np.array([0.1, 0, 0.5]), ['t1', 't2'], 0.02),
        'reference at t = 1.5 s: no admissible actuation holds the point (0.1, 0, 0.5) m;'
        ' the nearest'
        ' that can be held is 0.02 m away, with t1, t2 at the limit',
    ),
    (
        errors.SingularMassError(['rod/kappa_z_0']),
        'singular mass matrix: nothing has inertia along rod/kappa_z_0; expected a mass that these'
        ' coordinates move (of a thin rod: section_inertia: true), or a robot without them',
    ),
    (
        errors.OpenLoopError('loop', 0.02, 0.0, 'a posture near by that closes it'),
        'closure loop is open by 0.02 m; expected a posture near by that closes it',
    ),
    (
        errors.UnstableLoopError(50.0, 1e-3),
        'gains: the largest discrete-time eigenvalue at 1 ms would be 1.05127, errors would grow'
        ' e-fold in 0.02 s; expected an eigenvalue of at most 1: lower the gains or raise the'
        ' rate',
    ),
    (
        errors.UnstableZeroDynamicsError((2.5 + 1.5j, 1.0 + 0.0j)),
        'unstable zero dynamics: with the controlled outputs held constant the robot leaves its'
        ' posture, with growth rates of 2.5+1.5i, 1 1/s; expected none above 0: choose another'
        ' posture or other outputs, or set allow_unstable',
    ),
    (
        errors.ReferenceJumpError(4.0, 'turn', 1.5, 'motor', 1.5),
        'reference at t = 4 s: the postures found would jump, turn by 1.5 and y of motor by 1.5;'
        ' another path, narrower or wider limits of that joint, or another initial posture may do',
    ),
    (
        errors.ExcessiveReferenceError(0.5, 'effort of t1', 412.0, 0.0, 40.0),
        'reference at t = 0.5 s: effort of t1 would have to be 412, with limits 0 to 40',
    ),
    (
        errors.SimulationDivergedError(0.25, 'arm/bend_x'),
        'simulation diverged at t = 0.25 s in arm/bend_x',
    ),
    (
        errors.MissingMethodError('Cam', 'segments', 'Return the segments that y is the sum of.'),
        'Cam has no method segments, which it needs: Return the segments that y is the sum of.',
    ),
    (errors.MessageError('3 efforts for 9 names'), 'message refused: 3 efforts for 9 names'),
    (
        errors.MeshError('a.msh', '7 of 9 inverted', (1, 2, 3, 4, 5, 6, 7)),
        'mesh a.msh: 7 of 9 inverted (elements 1, 2, 3, 4, 5, ...)',
    ),
    (
        errors.CacheError('/tmp/k', 'belongs to user 7', 'one of this user'),
        'the kernel cache /tmp/k belongs to user 7, expected one of this user',
    ),
    (errors.MeshError('a.msh', 'tetrahedra expected'), 'mesh a.msh: tetrahedra expected'),
]


@pytest.mark.parametrize('error, words', EXAMPLES, ids=lambda x: type(x).__name__)
def test_message_says_what_was_wrong_and_what_would_be_right(error, words):
    """Every error's message says what was wrong and what would be right."""
    assert str(error) == words


@pytest.mark.parametrize('error', [e for e, _ in EXAMPLES], ids=lambda e: type(e).__name__)
def test_error_survives_pickling(error):
    """An error raised in one process can be shown in another, with its data."""
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error)


def test_examples_cover_every_error():
    """No child of SoftRobotError is without an example above."""
    children = {
        c
        for _, c in inspect.getmembers(errors, inspect.isclass)
        if issubclass(c, errors.SoftRobotError)
    } - {errors.SoftRobotError}
    assert children == {type(e) for e, _ in EXAMPLES}


def test_missing_is_one_object_and_shown_as_such():
    """A field that was not given reads 'missing', also in another process."""
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert str(Problem('name', MISSING, 'a name')) == 'name: missing, expected a name'


def test_long_values_are_shown_short():
    """A message stays readable when the value is huge."""
    assert len(errors.shown(list(range(10000)))) < 60
    assert len(errors.shown('x' * 10000)) < 80


@pytest.fixture
def kinds():
    """Return a registry of its own, over a package without modules that register here."""
    return registry.Registry('colour', 'softrobot_dynamics.joints', 'softrobot_dynamics.none')


LONG = 'x' * 100_000
MANY = tuple(f'joint{i}' for i in range(3000))
DEEP = [['y' * 50] * 20] * 20


@pytest.mark.parametrize('error', [
    errors.DescriptionError((Problem(LONG, LONG, LONG), Problem('a', DEEP, 'b')), 'file.yaml'),
    errors.DescriptionError((Problem('a', 10**5000, 'b'),) * 1000),
    errors.UnknownNameError('joint', LONG, MANY),
    errors.ArgumentError(LONG, np.zeros((50, 50)), ', '.join(MANY)),
    errors.SingularMassError(MANY),
    errors.InfeasibleReferenceError(0.0, (0.0, 0.0, 0.0), MANY, 0.1),
    errors.UnstableZeroDynamicsError((1.0 + 2.0j,) * 1000),
    errors.MessageError(LONG),
    errors.MeshError('mesh.vtk', LONG),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_texts_are_short_whatever_they_quote(error):
    """Messages have few lines fit for a log; attributes hold the full values."""
    lines = str(error).splitlines()
    assert len(lines) <= 52 and max(map(len, lines)) < 600
    assert len(lines) == 1 or 'problems' in lines[0]


def test_a_text_without_its_middle_keeps_both_ends():
    """A shortened text keeps its beginning and its end."""
    text = errors.shortened('begin ' + LONG + ' end', 100)
    assert len(text) <= 100 and text.startswith('begin ') and text.endswith(' end')
    assert errors.shortened('short') == 'short'


def test_registered_class_is_found_by_name(kinds):
    """A registered class is found by its name and has it as an attribute."""

    @kinds.register('red')
    class Red:
        pass

    assert kinds.get('red') is Red and Red.type_name == 'red' and kinds.names() == ('red',)


@pytest.mark.parametrize('name', ['rad', '', None, ['red']])
def test_unknown_name_lists_the_known_ones(kinds, name):
    """The error on an unknown name lists the known names."""
    kinds.register('red')(type('Red', (), {}))
    with pytest.raises(errors.UnknownNameError) as caught:
        kinds.get(name)
    assert caught.value.known == ('red',) and caught.value.kind == 'colour'


def test_a_name_cannot_be_taken_twice(kinds):
    """Two different classes of one name are refused; the same one, reloaded, is not."""
    kinds.register('red')(type('Red', (), {}))
    kinds.register('red')(type('Red', (), {}))
    with pytest.raises(errors.ArgumentError, match="name: 'red'"):
        kinds.register('red')(type('Rot', (), {}))


def test_the_package_registers_its_own_members():
    """Importing every module of a sub-package is the registry's work, not the user's."""
    from softrobot_dynamics.joints.contract import JOINTS

    assert {'fixed', 'revolute', 'prismatic'} <= set(JOINTS.names())


def test_a_name_imports_its_own_module_only():
    """A process that asks for a joint type imports no other; an unknown name lists all types."""
    code = (
        'import sys\n'
        'from softrobot_dynamics.joints.contract import JOINTS\n'
        'name = JOINTS.get("helical").type_name\n'
        'print(name, "softrobot_dynamics.joints.planar" in sys.modules)\n'
        'try: JOINTS.get("helix")\n'
        'except Exception as error: print(error)\n'
    )
    found = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE, check=True)
    first, second = found.stdout.decode().splitlines()
    assert first == 'helical False'
    assert 'planar' in second and 'helical' in second


def test_entry_points_are_loaded_and_broken_ones_named(kinds, monkeypatch):
    """A user's package adds a type; one that cannot be loaded is a warning, not a crash."""
    plugin = types.ModuleType('a_colour_plugin')
    monkeypatch.setitem(__import__('sys').modules, 'a_colour_plugin', plugin)
    plugin.__getattr__ = lambda name: kinds.register('blue')(type('Blue', (), {}))
    group = 'softrobot_dynamics.none'
    points = [
        EntryPoint('blue', 'a_colour_plugin:Blue', group),
        EntryPoint('green', 'no_such_module_at_all:Green', group),
        EntryPoint('mute', 'math:sqrt', group),
    ]
    monkeypatch.setattr(registry, '_entry_points', lambda: EntryPoints(points))
    with pytest.warns(RuntimeWarning) as warned:
        assert kinds.names() == ('blue',)
    assert [str(w.message).split(' left out')[0] for w in warned] == [
        'colour entry point green = no_such_module_at_all:Green',
        'colour entry point mute = math:sqrt',
    ]


@dataclasses.dataclass(frozen=True)
class Tip:
    """A part of Rod."""

    xyz: tuple = fields.vector('m', 3, default=(0.0, 0.0, 0.0))


@dataclasses.dataclass(frozen=True)
class Rod:
    """One field of each kind."""

    length: float = fields.number('m', above=0)
    nu: float = fields.number('-', above=-1, at_most=0.5, default=0.3)
    speed: float = fields.number('m/s', at_least=0, below=9, infinite=True, default=1.0)
    top: float = fields.number('m', infinite=True, default=math.inf)
    radius: tuple = fields.profile('m', default=(1.0, 1.0))
    axis: tuple = fields.direction(default=(0.0, 0.0, 1.0))
    limits: tuple = fields.interval('N', default=(-1.0, 1.0))
    points: int = fields.integer(default=10)
    thick: bool = fields.flag(default=True)
    basis: str = fields.choice(('legendre', 'monomial'), default='legendre')
    label: str = fields.name(default='rod')
    note: str = fields.text(default=None)
    tip: Tip = fields.nested(Tip, default=Tip())
    path: tuple = fields.items(fields.vector('m', 2), default=None)
    marks: tuple = fields.items(fields.number('m'), default=())

    def validate(self):
        """Yield what breaks a rule about two fields."""
        if self.radius[0] > self.length:
            yield 'radius', self.radius, 'a radius below the length [m]'


@pytest.mark.parametrize(
    'key, value, read',
    [
        ('length', 2, 2.0),
        ('length', np.float32(1.5), 1.5),
        ('nu', 0.5, 0.5),
        ('speed', 0, 0.0),
        ('top', math.inf, math.inf),
        ('radius', 0.1, (0.1, 0.1)),
        ('radius', [0.1, 0.2], (0.1, 0.2)),
        ('axis', [0, 3, 4], (0.0, 0.6, 0.8)),
        ('limits', [0, math.inf], (0.0, math.inf)),
        ('points', np.int64(3), 3),
        ('marks', [], ()),
        ('thick', False, False),
        ('basis', 'monomial', 'monomial'),
        ('label', '_a1', '_a1'),
        ('note', 'x y', 'x y'),
        ('note', None, None),
        ('tip', {'xyz': np.arange(3)}, Tip((0.0, 1.0, 2.0))),
        ('path', None, None),
        ('path', [[1, 2], (3, 4)], ((1.0, 2.0), (3.0, 4.0))),
    ],
)
def test_right_entries_are_read_as_plain_python_values(key, value, read):
    """Valid entries are read as float and tuple, whatever number type they had."""
    problems = []
    rod = fields.parse(Rod, {'length': 1, key: value}, 'rod', problems)
    assert problems == [] and getattr(rod, key) == read and type(getattr(rod, key)) is type(read)


@pytest.mark.parametrize(
    'key, value, path, expected',
    [
        ('length', -0.2, 'length', 'a number > 0 [m]'),
        ('length', 0, 'length', 'a number > 0 [m]'),
        ('length', math.nan, 'length', 'a number > 0 [m], finite'),
        ('length', math.inf, 'length', 'a number > 0 [m], finite'),
        ('length', 10**400, 'length', 'a number > 0 [m]'),
        ('length', True, 'length', 'a number > 0 [m]'),
        (
            'length',
            '1e-3',
            'length',
            'a number > 0 [m], not text (plain PyYAML reads 1e-3 as text: write 1.0e-3)',
        ),
        ('length', 'long', 'length', 'a number > 0 [m]'),
        ('length', None, 'length', 'a number > 0 [m]'),
        ('nu', 0.51, 'nu', 'a number > -1 and <= 0.5 [-]'),
        ('speed', 9, 'speed', 'a number >= 0 and < 9 [m/s]'),
        ('top', math.nan, 'top', 'a number [m], finite'),
        ('radius', [0.1, 0], 'radius[1]', 'a number > 0 [m]'),
        ('radius', [1, 1, 1], 'radius', 'a number > 0 [m] or a pair [base, tip] of such numbers'),
        ('radius', False, 'radius', 'a number > 0 [m]'),
        ('axis', [0, 0, 0], 'axis', '3 numbers, not all zero [-]'),
        ('axis', [0, 1], 'axis', 'a list of 3 numbers [-]'),
        ('axis', [0, 1, 'z'], 'axis[2]', 'a number [-]'),
        ('limits', [1, 1], 'limits', '[low, high] with low < high [N]'),
        ('limits', [math.nan, 1], 'limits[0]', 'a number [N], finite'),
        ('limits', 5, 'limits', 'a list of 2 numbers [N]'),
        ('points', 2.0, 'points', 'a whole number >= 1'),
        ('points', True, 'points', 'a whole number >= 1'),
        ('points', 0, 'points', 'a whole number >= 1'),
        ('thick', 1, 'thick', 'true or false'),
        ('thick', 'yes', 'thick', 'true or false'),
        ('basis', 'spline', 'basis', 'one of legendre, monomial'),
        ('label', '1a', 'label', 'a name matching [A-Za-z_][A-Za-z0-9_]*'),
        ('label', 'a\n', 'label', 'a name matching [A-Za-z_][A-Za-z0-9_]*'),
        ('note', 3, 'note', 'text'),
        ('tip', [0, 0, 0], 'tip', 'a mapping of xyz'),
        ('tip', {'xyz': [0, 0]}, 'tip.xyz', 'a list of 3 numbers [m]'),
        ('tip', {'rpy': 0}, 'tip.rpy', 'one of the fields xyz'),
        ('path', [], 'path', 'a list, not empty, of a list of 2 numbers [m]'),
        ('marks', 3, 'marks', 'a list of a number [m]'),
        ('path', [[1, 2], [3]], 'path[1]', 'a list of 2 numbers [m]'),
        ('path', [[1, math.inf]], 'path[0][1]', 'a number [m], finite'),
    ],
)
def test_wrong_entries_are_named_with_what_would_be_right(key, value, path, expected):
    """A wrong entry is one problem with exactly this path, value and text."""
    problems = []
    assert fields.parse(Rod, {'length': 1, key: value}, 'rod', problems) is None
    (problem,) = problems
    assert problem.path == f'rod.{path}' and problem.expected == expected
    assert problem.value is value or problem.path != f'rod.{key}'


def test_rules_about_several_fields_are_asked_last():
    """A dataclass's `validate` runs on valid fields only and shows the value as written."""
    problems = []
    fields.parse(Rod, {'length': 1, 'radius': 3}, 'rod', problems)
    fields.parse(Rod, {'length': -1, 'radius': 3}, 'bad', problems)
    assert [(p.path, p.value) for p in problems] == [('rod.radius', 3), ('bad.length', -1)]


def test_the_one_name_that_continues_a_wrong_one_is_suggested():
    """Beginnings of several names, and short ones, are compared by likeness only."""
    known = ('young_modulus', 'density', 'rate', 'rate_limit')
    assert closest('young', known) == ' (did you mean young_modulus?)'
    assert closest('ratt', known) == ' (did you mean rate?)'
    assert closest('rat', known) == ' (did you mean rate?)'
    assert closest('de', known) == ''


def test_all_problems_of_a_mapping_are_collected():
    """Missing, unknown and wrong fields are reported together, before cross-field rules."""
    problems = []
    fields.parse(Rod, {'lenght': 1, 'radius': 5, 'thick': 0}, '', problems, ignore=('type',))
    assert [(p.path, p.value) for p in problems] == [
        ('lenght', 1),
        ('length', MISSING),
        ('thick', 0),
    ]
    assert problems[0].expected.startswith('one of the fields type, length, nu')
    assert problems[0].expected.endswith('(did you mean length?)')


def test_a_value_that_is_no_mapping_is_refused():
    """A list in place of a mapping is one problem that names the fields."""
    problems = []
    assert fields.parse(Tip, [1, 2], 'tip', problems) is None
    assert problems == [Problem('tip', [1, 2], 'a mapping of xyz')]


class Base:
    """A kind with a method that members write always, and one that they write in some cases."""

    @required
    def form(self, x):
        """Return the :class:`Form` at ``x`` [m]."""

    @needed
    def hollow(self):
        """Return what is inside."""


def test_a_class_without_a_required_method_is_not_registered():
    """A class without a required method is refused with class, method and purpose."""
    kinds = Registry('kind', 'softrobot_dynamics.joints', 'nobody.kinds')
    bare = type('Bare', (Base,), {})
    with pytest.raises(errors.MissingMethodError) as caught:
        kinds.register('bare')(bare)
    assert (
        str(caught.value) == 'Bare has no method form, which it needs: Return the Form at x [m].'
    )
    whole = type('Whole', (Base,), {'form': lambda self, x: x})
    assert kinds.register('whole')(whole).type_name == 'whole'
    with pytest.raises(errors.MissingMethodError, match='Whole has no method hollow'):
        whole().hollow()
    with pytest.raises(errors.MissingMethodError, match='Bare has no method form'):
        bare().form(1.0)


CONTRACTS = {
    'softrobot_dynamics.bodies.contract:Body': {'coordinates', 'position', 'material_points'},
    'softrobot_dynamics.joints.contract:Joint': {'coordinates', 'motion'},
    'softrobot_dynamics.actuators.contract:Actuator': {
        'validate_against', 'segments', 'quantities',
    },
    'softrobot_dynamics.materials.contract:Material': {'energy'},
    'softrobot_dynamics.bodies.cosserat.bases.contract:Basis': {'count', 'at'},
    'softrobot_dynamics.bodies.cosserat.sections.contract:CrossSection': {
        'rigidity', 'line_mass', 'validate_in',
    },
    'softrobot_dynamics.bodies.cosserat.sections.contract:Section': {'at'},
    'softrobot_dynamics.controllers.contract:Controller': {'compute'},
    'softrobot_dynamics.references.contract:Trajectory': {'plan'},
    'softrobot_dynamics.estimation.sensors.contract:Sensor': {'read', 'value', 'bind'},
}  # fmt: skip


@pytest.mark.parametrize('place', CONTRACTS)
def test_missing_methods_of_a_member_of_any_kind_are_named(place):
    """A member of any kind gets one error per missing method, and no NotImplementedError."""
    module, _, name = place.partition(':')
    base, written, asked = getattr(import_module(module), name), {}, set()
    while True:
        try:
            require_methods(type('Mine', (base,), dict(written)))
            break
        except errors.MissingMethodError as error:
            assert error.owner == 'Mine' and error.purpose and error.method not in asked
            asked.add(error.method)
            written[error.method] = lambda self, *given: ()
    assert asked == CONTRACTS[place]
