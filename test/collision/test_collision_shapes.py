# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collision shapes: how they are read, what is refused, and the solids that they are."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.collision.contract import combined, SHAPES
from softrobot_dynamics.errors import DescriptionError

pytestmark = pytest.mark.quick

SPHERE = {'type': 'sphere', 'radius': 0.1}


def robot(collision=None, body=None, **more):
    """Return the description of one rigid body on a slide along z, with a collision shape."""
    body = body or {'type': 'rigid', 'mass': 1.0}
    module = {'name': 'b', 'joint': {'type': 'prismatic', 'axis': [0, 0, 1]}, 'body': body}
    if collision is not None:
        module['collision'] = collision
    return sd.load_robot({'name': 'r', 'bodies': [module], **more})


def problems(*arguments, **named):
    """Return the text of the DescriptionError that a robot raises."""
    with pytest.raises(DescriptionError) as found:
        robot(*arguments, **named)
    return str(found.value)


POINT = {'start': [0, 0, 1], 'end': [0, 0, 1], 'radius': 0.1}
FLAT = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
WEDGE = [[0, 0, 0], [0.8, 0, 0], [0, 0.5, 0], [0, 0, 0.6], [0.8, 0, 0.6], [0, 0.5, 0.6]]

FIELDS = {
    'box': {'edges': [0.1, 0.2, 0.3]},
    'capsule': {'end': [0.0, 0.0, 0.1], 'radius': 0.1},
    'tube': {'start': [0.0, 0.0, 0.0], 'end': [0.0, 0.0, 1.0], 'radius': 0.1},
    'cylinder': {'start': [0.0, 0.0, 0.0], 'end': [0.0, 0.3, 1.0], 'radius': 0.1},
    'mesh': {'vertices': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]},
    'plane': {},
    'rod': {},
    'skin': {'radius': 1e-3},
}


@pytest.mark.parametrize('kind', SHAPES.names())
def test_every_shape_has_elements_of_finite_size(kind):
    """Each registered shape is read, and gives elements with points, axes and a radius >= 0."""
    body = {'type': 'pcc', 'length': 0.2, 'radius': 0.02, 'density': 1e3, 'young_modulus': 1e6}
    given = {'type': kind, **FIELDS.get(kind, {'radius': 0.1})}
    if not SHAPES.get(kind).on_bodies:
        shape, own = robot(environment=[{'name': 'x', **given}]).environment[0].shape, None
    else:
        rigid = {'type': 'rigid', 'mass': 1.0}
        module = robot(given, body if not SHAPES.get(kind).fixed else rigid).modules[0]
        shape, own = module.shapes[0], module.body
    for element in shape.elements(own):
        assert element.points.shape in ((1, 3), (2, 3)) and np.isfinite(element.points).all()
        assert 0.0 <= element.radius < np.inf and (element.half >= 0.0).all()
        np.testing.assert_allclose(element.axes.T @ element.axes, np.eye(3), atol=1e-12)


def test_a_body_has_one_shape_or_a_list_of_them():
    """`collision` may be a mapping or a list of mappings, and nothing by default."""
    assert robot().modules[0].shapes == ()
    assert len(robot(SPHERE).modules[0].shapes) == 1
    assert len(robot([SPHERE, SPHERE]).modules[0].shapes) == 2


@pytest.mark.parametrize(
    'shape, place, words',
    [
        ({'type': 'ball', 'radius': 0.1}, 'bodies[0].collision.type', 'sphere'),
        ({'type': 'sphere', 'radius': -1.0}, 'bodies[0].collision.radius', '> 0'),
        ({'type': 'plane'}, 'bodies[0].collision.type', 'a shape that a body can have'),
        ({'type': 'rod'}, 'bodies[0].collision', 'a body with sections'),
        ({**SPHERE, 'restitution': 1.5}, 'bodies[0].collision.restitution', '<= 1'),
        ({'type': 'box', 'edges': [1.0, 1.0, 0.0]}, 'bodies[0].collision.edges', 'lengths > 0'),
        ({'type': 'cylinder', **POINT}, 'bodies[0].collision.end', 'a length'),
        ({'type': 'mesh'}, 'bodies[0].collision.file', 'either a file or vertices'),
        ({'type': 'mesh', 'vertices': [[0, 0, 0]]}, 'bodies[0].collision.vertices', 'four'),
        ({'type': 'mesh', 'vertices': FLAT}, 'bodies[0].collision.vertices', 'not all in one'),
        ({'type': 'mesh', 'file': 'none.stl'}, 'bodies[0].collision.file', 'there is no'),
    ],
)
def test_a_wrong_shape_is_refused_by_its_place(shape, place, words):
    """A shape that a body cannot have is reported with its place and what is right."""
    text = problems(shape)
    assert place in text
    assert words in text


def test_a_box_on_a_body_that_deforms_is_refused():
    """A box needs a rigid body."""
    body = {'type': 'pcc', 'length': 0.2, 'radius': 0.02, 'density': 1e3, 'young_modulus': 1e6}
    assert 'a rigid body' in problems({'type': 'box', 'edges': [0.1] * 3}, body)


@pytest.mark.parametrize(
    'more, place',
    [
        ({'environment': [{'type': 'plane'}]}, 'environment[0].name'),
        ({'environment': [{'name': 'b', 'type': 'plane'}]}, 'environment[0].name'),
        ({'environment': [{'name': 'x', 'type': 'rod'}]}, 'environment[0].type'),
        ({'environment': {'name': 'x'}}, 'environment'),
        (
            {
                'environment': [
                    {
                        'name': 'x',
                        'type': 'tube',
                        'start': [0, 0, 1],
                        'end': [0, 0, 1],
                        'radius': 1.0,
                    }
                ]
            },
            'environment[0].end',
        ),
        ({'objects': [{'name': 'o', 'mass': 1.0}]}, 'objects[0].shape'),
        ({'objects': [{'name': 'o', 'mass': 0.0, 'shape': SPHERE}]}, 'objects[0].mass'),
        (
            {'objects': [{'name': 'o', 'mass': 1.0, 'shape': {**SPHERE, 'centre': [1, 0, 0]}}]},
            'objects[0].inertia',
        ),
        ({'contact': {'slip': 0.0}}, 'contact.slip'),
    ],
)
def test_wrong_surroundings_are_refused_by_their_place(more, place):
    """Every wrong entry of the surroundings is reported with its place."""
    assert place in problems(SPHERE, **more)


PLANE = {'name': 'floor', 'type': 'plane', 'point': [0.0, 0.0, -5.0]}


def test_a_group_that_no_shape_is_in_is_refused_once_there_are_surroundings():
    """`collides_with` names groups of shapes; those of surroundings to come are not known yet."""
    shape = {**SPHERE, 'collides_with': ['floors']}
    assert 'b.collision.collides_with' in problems(shape, environment=[PLANE])
    alone = robot(shape)
    with pytest.raises(DescriptionError, match="'floors', expected a group"):
        sd.surround(alone, {'environment': [PLANE]})
    around = sd.surround(alone, {'environment': [{**PLANE, 'group': 'floors'}]})
    assert around.environment[0].shape.group == 'floors'


def test_surroundings_that_nothing_can_touch_draw_a_warning():
    """A robot without `collision`, or of groups that do not collide, moves through all."""
    apart = {**SPHERE, 'group': 'a', 'collides_with': ['object']}
    for shape in (None, apart):
        model = sd.compile_model(sd.surround(robot(shape), {'environment': [PLANE]}))
        with pytest.warns(RuntimeWarning, match='robot r: no shape can touch its surroundings'):
            assert model.contact_plan is None


def test_surroundings_come_from_a_file_as_from_the_robot_file(tmp_path):
    """Surroundings from a file of their own give the robot whose file contains them."""
    around = {
        'environment': [{'name': 'floor', 'type': 'plane'}],
        'objects': [{'name': 'o', 'mass': 1.0, 'shape': SPHERE, 'pose': {'xyz': [1.0, 0.0, 2.0]}}],
    }
    whole = robot(SPHERE, **around)
    file = tmp_path / 'around.yaml'
    file.write_text(str(around))  # flow style
    assert sd.surround(robot(SPHERE), file).digest == whole.digest
    assert whole.coordinate_names == ('b', 'o/x', 'o/y', 'o/z', 'o/rx', 'o/ry', 'o/rz')
    assert whole.initial == {'o/x': 1.0, 'o/z': 2.0}
    with pytest.raises(DescriptionError, match='a name that nothing else has'):
        sd.surround(whole, around)
    with pytest.raises(DescriptionError, match='walls'):
        sd.surround(whole, {'walls': []})


@pytest.mark.parametrize(
    'shape',
    [
        {'type': 'sphere', 'radius': 0.3},
        {'type': 'box', 'edges': [0.2, 0.5, 0.9], 'pose': {'rpy': [0.3, -0.5, 0.9]}},
        {'type': 'capsule', 'start': [-0.2, 0.1, 0.3], 'end': [0.2, -0.1, -0.3], 'radius': 0.2},
        {'type': 'cylinder', 'start': [-0.2, 0.1, 0.3], 'end': [0.2, -0.1, -0.3], 'radius': 0.2},
        {'type': 'mesh', 'vertices': WEDGE, 'centred': True, 'pose': {'rpy': [0.3, -0.5, 0.9]}},
    ],
    ids=lambda shape: shape['type'],
)
def test_objects_are_solids(shape):
    """The inertia of an object is that of a million points that fill its shape evenly."""
    made = robot(objects=[{'name': 'o', 'mass': 2.0, 'shape': shape}]).modules[1]
    points = np.random.default_rng(3).uniform(-0.7, 0.7, (1_000_000, 3))
    inside = points[_distance(made.shapes[0], points) < 0.0]
    inertia = np.trace(S := inside.T @ inside / len(inside)) * np.eye(3) - S
    own = made.body.inertia.matrix()
    np.testing.assert_allclose(own, 2.0 * inertia, atol=0.01 * np.trace(own))


def _distance(shape, points):
    """Return something < 0 at points (K, 3) inside of a shape."""
    if shape.type_name == 'box':
        own = points @ shape.pose.matrix()[:3, :3]
        return (np.abs(own) - 0.5 * np.array(shape.edges)).max(axis=1)
    if shape.type_name == 'mesh':
        element = shape.elements(None)[0]
        own = points @ element.axes
        return (own @ element.faces[:, :3].T - element.faces[:, 3]).max(axis=1)
    start = np.array(getattr(shape, 'start', (0.0, 0.0, 0.0)))
    axis = np.array(getattr(shape, 'end', (0.0, 0.0, 1e-9))) - start
    t = np.clip(whole := (points - start) @ axis / (axis @ axis), 0.0, 1.0)
    if shape.type_name == 'cylinder':
        t[(whole < 0.0) | (whole > 1.0)] = np.inf
    return np.linalg.norm(points - start - t[:, None] * axis, axis=1) - shape.radius


@pytest.mark.parametrize('ending', ['stl', 'obj', 'ply'])
def test_a_mesh_of_a_file_is_that_of_its_vertices(ending, tmp_path):
    """A file of triangles, in millimetres, gives the hull of the same points in metres."""
    meshio = pytest.importorskip('meshio')
    corners = 1e3 * np.array(WEDGE, dtype=float)
    given = robot({'type': 'mesh', 'vertices': WEDGE}).modules[0].shapes[0].hull
    places = 1e3 * given.faces[:, 4:].reshape(-1, 3)
    rows = [np.flatnonzero((corners == x).all(axis=1))[0] for x in places]
    path = tmp_path / f'wedge.{ending}'
    meshio.Mesh(corners, [('triangle', np.reshape(rows, (-1, 3)))]).write(path)
    shape = robot({'type': 'mesh', 'file': str(path), 'scale': 1e-3}).modules[0].shapes[0]
    found = shape.elements(None)[0]
    np.testing.assert_allclose(sorted(found.corners.tolist()), sorted(given.corners.tolist()))
    assert shape.hull.solid().volume == pytest.approx(1e9 * 0.5 * 0.8 * 0.5 * 0.6)


def test_a_mesh_that_is_not_convex_is_refused_by_its_name_and_how_far(tmp_path):
    """An L of three cubes is refused: its inner edge is 0.25 m within its hull."""
    meshio = pytest.importorskip('meshio')
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    points = np.concatenate([np.column_stack([outline, np.full(6, z)]) for z in (0.0, 1.0)])
    sides = [[i, (i + 1) % 6, (i + 1) % 6 + 6] for i in range(6)]
    path = tmp_path / 'corner.ply'
    meshio.Mesh(points, [('triangle', np.array(sides))]).write(path)
    text = problems({'type': 'mesh', 'file': str(path), 'scale': 0.5})
    assert 'corner.ply' in text
    assert 'up to 0.25 m inside of its convex hull' in text


def test_points_of_a_skin_lie_below_the_surface_and_spread_over_it():
    """Spheres of a rod's skin touch its surface from within, no two in one place."""
    body = {'type': 'pcc', 'length': 0.2, 'radius': 0.02, 'density': 1e3, 'young_modulus': 1e6}
    module = robot({'type': 'skin', 'points': 60, 'radius': 1e-3}, body).modules[0]
    elements = module.shapes[0].elements(module.body)
    points = np.array([e.points[0] for e in elements])
    assert len(points) == 60
    assert {e.radius for e in elements} == {1e-3}
    side, end = 0.02 - np.hypot(*points.T[:2]), np.minimum(points[:, 2], 0.2 - points[:, 2])
    np.testing.assert_allclose(np.minimum(side, end), 1e-3, atol=2e-5)
    away = np.linalg.norm(points[:, None] - points, axis=2) + 9.0 * np.eye(60)
    assert away.min() > 0.008
    assert 'skin' in problems({'type': 'skin'})


def test_surfaces_are_combined_as_springs_in_series():
    """Stiffnesses are in series, friction is 2 ab / (a + b), the smaller restitution counts."""
    sphere = SHAPES.get('sphere')
    a = sphere(radius=1.0, stiffness=100.0, friction=0.2, restitution=0.3, damping=1.0)
    b = sphere(radius=1.0, stiffness=300.0, friction=0.6, restitution=0.9, damping=3.0)
    found = combined(a, b, 1.0)
    assert found.stiffness == pytest.approx(75.0)
    assert found.friction == pytest.approx(0.3)
    assert found.restitution == 0.3
    assert found.damping == pytest.approx((300.0 * 1.0 + 100.0 * 3.0) / 400.0)
    assert combined(sphere(radius=1.0), b, 7.0).stiffness == 300.0
    assert combined(sphere(radius=1.0), sphere(radius=1.0), 7.0).stiffness == 7.0
    assert combined(sphere(radius=1.0, friction=0.0), sphere(radius=1.0), 7.0).friction == 0.0


def test_a_rod_is_within_its_tolerance_when_bent_by_half_a_turn():
    """The chain of capsules has as many links as an arc of half a turn needs."""
    body = {'type': 'pcc', 'length': 0.3, 'radius': 0.02, 'density': 1e3, 'young_modulus': 1e6}
    collision = {'type': 'rod', 'tolerance': 1e-3}
    module = robot(collision, body).modules[0]
    count = len(module.shapes[0].elements(module.body))
    radius, angle = 0.3 / np.pi, np.pi / count
    assert radius * (1.0 - np.cos(angle / 2.0)) <= 1e-3
    assert radius * (1.0 - np.cos(np.pi / (count - 1) / 2.0)) > 1e-3
