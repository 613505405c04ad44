# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Objects and arms that touch something."""

import softrobot_dynamics as sd

GRAVITY = 9.81  # m/s^2


def thing(name, shape, place=(0.0, 0.0, 0.0), mass=1.0, **more):
    """Return an entry of `objects`."""
    return {'name': name, 'mass': mass, 'shape': shape, 'pose': {'xyz': list(place), **more}}


def world(objects, environment=(), gravity=(0.0, 0.0, -GRAVITY), **more):
    """Return the model of objects in an environment, with a slide far away as the robot."""
    slide = {'name': 'slide', 'joint': {'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]}}
    slide['body'] = {'type': 'rigid', 'mass': 1.0}
    parts = {'objects': list(objects), 'environment': list(environment)}
    robot = {'name': 'world', 'gravity': list(gravity), 'bodies': [slide], **parts, **more}
    return sd.compile_model(sd.load_robot(robot))


def arm(environment=(), self_contact=False, segments=3, scale=1.0, **shape):
    """
    Return the model of a soft arm of rods, hanging along z, in an environment.

    All lengths are times a scale, at equal density and modulus.
    """
    own = {'type': 'rod', **shape}
    if self_contact:
        own['collides_with'] = ['robot', 'environment', 'object']
    body = {
        'type': 'pcc',
        'length': 0.2 * scale,
        'radius': 0.02 * scale,
        'density': 1070.0,
        'young_modulus': 6e5,
        'damping': 0.08,
        'poisson_ratio': 0.5,
    }
    bodies = [
        {'name': f's{i}', 'joint': {'type': 'fixed'}, 'body': body, 'collision': own}
        for i in range(segments)
    ]
    path = [
        {'body': f's{i}', 'offset': {'radius': 0.015 * scale, 'phase': 0.0}}
        for i in range(segments)
    ]
    tendon = {'name': 't', 'type': 'tendon', 'path': path}
    robot = {'name': 'arm', 'gravity': [0.0, 0.0, GRAVITY], 'bodies': bodies}
    around = {'environment': list(environment)}
    return sd.compile_model(sd.load_robot({**robot, 'actuators': [tendon], **around}))
