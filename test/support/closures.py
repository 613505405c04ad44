# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Small robots with closed loops."""

import functools

import softrobot_dynamics as sd

Y = (0.0, 1.0, 0.0)


def link(name, length, mass=1.0, parent=None, damping=0.0):
    """Return a module: a slender link along z on a revolute joint about y."""
    moment = mass * length**2 / 12.0
    body = {'type': 'rigid', 'mass': mass, 'com': [0, 0, length / 2],
            'inertia': {'ixx': moment, 'iyy': moment, 'izz': 1e-4},
            'tip': {'xyz': [0, 0, length]}}  # fmt: skip
    joint = {'type': 'revolute', 'axis': Y, 'damping': damping}
    row = {'name': name, 'joint': joint, 'body': body}
    return {**row, 'parent': parent} if parent else row


def to_base(body, xyz, **more):
    """Return a closure of a body's tip and a place in the base."""
    return {'name': 'loop', 'frames': [{'body': body}, {'body': 'base', 'pose': {'xyz': xyz}}],
            **more}  # fmt: skip


def four_bar(damping=0.0, **more):
    """Return the description of a crank, a coupler and a rocker, which ends at (1, 0, 0)."""
    closure = to_base('rocker', [1.0, 0.0, 0.0], **(more or {'type': 'pin', 'axis': Y}))
    links = ('crank', 0.4, 0.7), ('coupler', 0.9, 1.1), ('rocker', 0.7, 0.9)
    return {
        'name': 'four_bar',
        'bodies': [link(*each, damping=damping) for each in links],
        'closures': [closure],
        'actuators': [{'name': 'm', 'type': 'joint', 'joint': 'crank'}],
        'initial': {'crank': 0.5, 'coupler': 0.9, 'rocker': 1.5},
    }


def five_bar():
    """Return the description of two pairs of links, the tips of which are pinned together."""
    left = [link('a1', 0.5), link('a2', 0.6)]
    right = [link('b1', 0.45, parent='base'), link('b2', 0.65)]
    right[0]['joint']['origin'] = {'xyz': [0.4, 0.0, 0.0]}
    frames = [{'body': 'a2'}, {'body': 'b2'}]
    return {
        'name': 'five_bar',
        'bodies': left + right,
        'closures': [{'name': 'hand', 'directions': ['x', 'z'], 'frames': frames}],
        'actuators': [{'name': j, 'type': 'joint', 'joint': j} for j in ('a1', 'b1')],
        'initial': {'a1': -0.6, 'a2': 1.2, 'b1': 0.7, 'b2': -1.2},
    }


EI, RHO_A, LENGTH = 0.05, 0.15, 0.5


def rod_body(order=8, damping=0.02):
    """Return a thin inextensible rod that bends in the plane of x and z."""
    return {'type': 'cosserat', 'length': LENGTH, 'damping': damping, 'quadrature': 40,
            'section': {'type': 'rigidities', 'EI': EI, 'rhoA': RHO_A},
            'strains': {'kappa_y': {'basis': 'legendre', 'order': order}}}  # fmt: skip


def clamped_rod(distance=0.4, order=8):
    """Return the description of a rod that is clamped at both ends, nearer than it is long."""
    closure = to_base('rod', [0.0, 0.0, distance], type='weld')
    return {
        'name': 'clamped_rod',
        'bodies': [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': rod_body(order)}],
        'closures': [closure],
        'initial': {'rod/kappa_y_0': 0.5, 'rod/kappa_y_1': 3.0, 'rod/kappa_y_2': -10.0},
    }


WIDTH = 0.1
PLATE = 0.2


def parallel_rods(order=4, damping=0.02):
    """Return the description of two rods 0.2 m apart that carry a plate."""
    plate = {'type': 'rigid', 'mass': PLATE, 'com': [WIDTH, 0.0, 0.0],
             'inertia': {'ixx': 1e-4, 'iyy': 6e-4, 'izz': 6e-4},
             'tip': {'xyz': [2.0 * WIDTH, 0.0, 0.0]}}  # fmt: skip
    fixed = {'type': 'fixed'}
    foot = {'type': 'fixed', 'origin': {'xyz': [2.0 * WIDTH, 0.0, 0.0]}}
    return {
        'name': 'parallel_rods',
        'bodies': [
            {'name': 'left', 'joint': fixed, 'body': rod_body(order, damping)},
            {'name': 'plate', 'joint': fixed, 'body': plate},
            {'name': 'right', 'parent': 'base', 'joint': foot, 'body': rod_body(order, damping)},
        ],
        'closures': [
            {'name': 'loop', 'type': 'weld', 'frames': [{'body': 'plate'}, {'body': 'right'}]}
        ],
        'actuators': [
            {'name': 'pull', 'type': 'wrench', 'body': 'plate', 'force': [1.0, 0.0, 0.0]}
        ],
        'initial': {'left/kappa_y_0': 0.4, 'right/kappa_y_0': 0.6},
    }


@functools.cache
def model(make, **options):
    """Return the compiled model of one of these robots."""
    return sd.compile_model(sd.load_robot(make(**options)))
