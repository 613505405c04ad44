# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Models that must agree: rigid and stiff arms with Pinocchio, models of a rod with each other."""

from dataclasses import replace

import numpy as np
import rods
import softrobot_dynamics as sd
from study import Answer, EXACT, matrix, Problem, random_states, STATES, studies

LINKS = rods.Rod(0.9, 0.02, 1000.0, 1e6, 0.5, True)
AXES = ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])  # of an arm of three links
LINK = LINKS.length / len(AXES)
GRAVITY = 1.0, -2.0, 9.5

ARCS = rods.Rod(0.3, 0.02, 1100.0, 5e5, 0.5, True)


# -- rigid robots -------------------------------------------------------------------------------


def cylinders(rod, count):
    """Return mappings of ``count`` rigid bodies."""
    length, square = rod.length / count, rod.radius**2
    mass = rod.line_density * length
    across = mass * (square / 4.0 + length**2 / 12.0)
    inertia = {'ixx': across, 'iyy': across, 'izz': 0.5 * mass * square}
    ends = {'com': [0.0, 0.0, 0.5 * length], 'tip': {'xyz': [0.0, 0.0, length]}}
    return [{'type': 'rigid', 'mass': mass, 'inertia': inertia, **ends}] * count


def arm(bodies):
    """Return the model of a chain of links, each on a hinge."""
    return chain(bodies, [{'type': 'revolute', 'axis': axis} for axis in AXES], GRAVITY)


def chain(bodies, joints, gravity):
    """Return the model of bodies on joints."""
    rows = [
        {'name': f'b{i}', 'joint': joint, 'body': body}
        for i, (joint, body) in enumerate(zip(joints, bodies))
    ]
    given = {'name': 'chain', 'gravity': list(gravity), 'bodies': rows}
    return sd.compile_model(sd.load_robot(given))


def pinocchio_terms(q, qd, qdd):
    """Joint torques, mass matrix (flat) and the acceleration under no torque, by Pinocchio."""
    import pinocchio

    robot, body = pinocchio.Model(), cylinders(LINKS, len(AXES))[0]
    robot.gravity.linear = np.array(GRAVITY)
    inertia = np.diag([body['inertia'][key] for key in ('ixx', 'iyy', 'izz')])
    link = pinocchio.Inertia(body['mass'], np.array(body['com']), inertia)
    for i, axis in enumerate(AXES):
        place = np.array([0.0, 0.0, LINK if i else 0.0])
        turning = pinocchio.JointModelRevoluteUnaligned(np.array(axis))
        robot.addJoint(i, turning, pinocchio.SE3(np.eye(3), place), f'j{i}')
        robot.appendBodyToJoint(i + 1, link, pinocchio.SE3.Identity())
    data = robot.createData()
    torques = pinocchio.rnea(robot, data, q, qd, qdd).copy()
    free = pinocchio.aba(robot, data, q, qd, np.zeros(len(AXES))).copy()
    mass = np.triu(pinocchio.crba(robot, data, q))
    return torques, (mass + np.triu(mass, 1).T).ravel(), free


def by_pinocchio():
    """Terms of Pinocchio in random states."""
    return [pinocchio_terms(*state) for state in random_states(len(AXES))]


def rigid(bodies, resolution):
    """Torques, mass matrix and free acceleration of the arm in random states."""
    model, rows = arm(bodies(LINKS, len(AXES))), []
    for q, qd, qdd in random_states(model.n):
        Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        rows.append([*Q, *M.ravel(), *sd.forward_dynamics(model, q=q, qd=qd, u=np.zeros(0))])
    return Answer(np.array(rows), model.n)


def stiff(bodies, young_modulus):
    """Joint torques of motions in which stiff links have their quasi-static deflections."""
    model = arm(bodies(replace(LINKS, young_modulus=young_modulus), len(AXES)))
    hinges = [i for i, name in enumerate(model.coordinate_names) if '/' not in name]
    soft = np.setdiff1d(np.arange(model.n), hinges)
    inverse, rows = np.linalg.inv(model.stiffness[np.ix_(soft, soft)]), []
    for state in random_states(len(hinges)):
        q, qd, qdd = np.zeros((3, model.n))
        q[hinges], qd[hinges], qdd[hinges] = state
        for _ in range(20):
            Q = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
            q[soft] -= inverse @ Q[soft]
        rows.append(Q[hinges])
    return Answer(np.array(rows), model.n)


# -- one rod, many models -----------------------------------------------------------------------


def formula(rod, count):
    """User's bodies: an arc as a formula, with material points of its own choice."""
    length = rod.length / count
    s, w = np.polynomial.legendre.leggauss(14)
    s, masses = 0.5 * length * (1.0 + s), 0.5 * w * rod.line_density * length
    ring = rod.radius / np.sqrt(2.0)  # has the second moments of a disc
    sides = ring * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])

    def position(x, q, math):
        bend = x[2] / length * q[0]
        across = x[2] * bend * math.stumpff(2, bend * bend) + math.cos(bend) * x[0]
        return [across, x[1], x[2] * math.stumpff(1, bend * bend) - math.sin(bend) * x[0]]

    body = sd.CustomBody(
        position=position,
        coordinates=['bend_x'],
        length=length,
        points=[(*side, z) for z in s for side in sides],
        masses=np.repeat(masses / 4.0, 4),
        stiffness=[rod.bending / length],
    )
    return [body] * count


def arcs(bodies, resolution):
    """ID (4,) and M (4, 4) of two rods on hinges, in planar motions, by hinges and bends."""
    model = chain(bodies(ARCS, resolution), (rods.HINGE, rods.HINGE), (3.0, 0.0, 9.0))
    names = [name.partition('/')[2] for name in model.coordinate_names]
    own = [i for i, name in enumerate(names) if name in ('', 'bend_x', 'kappa_y_0')]
    by_bend = np.zeros((model.n, 4))
    by_bend[own, range(4)] = [2.0 / ARCS.length if 'k' in names[i] else 1.0 for i in own]
    rows = []
    for state in random_states(4, seed=2, size=1.5):
        q, qd, qdd = state @ by_bend.T
        Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        rows.append([*(by_bend.T @ Q), *(by_bend.T @ M @ by_bend).ravel()])
    return Answer(np.array(rows), model.n)


def degree_zero(rod, count):
    """Return `cosserat` bodies of a Legendre polynomial of degree 0."""
    return rods.gvs(*rods.THIN, count=count, quadrature=14)(rod, 0)


def problems():
    """Return the problems of this file."""
    cases = tuple(f'state {i + 1}' for i in range(STATES))
    torques = tuple(f'τ{i + 1} [N m]' for i in range(len(AXES)))
    moduli = 1e8, 1e9, 1e10, 1e11
    return (
        Problem(
            'Rigid arm',
            'Three links on hinges about y, x, y in random motion, as `rigid` bodies, against '
            'rnea, crba and aba of Pinocchio.',
            cases,
            (*torques, *matrix('M', 3), *(f'q̈{i + 1} [rad/s²]' for i in range(3))),
            lambda: [np.concatenate(terms) for terms in by_pinocchio()],
            studies(rigid, ('`rigid`', cylinders, (3,), EXACT, 1e-12)),
            tabulated=False,
        ),
        Problem(
            'Rigid limit of soft links',
            'The same arm of soft links with Young’s modulus E [Pa], with the quasi-static '
            'deflections that the motion causes. The joint torques approach those of Pinocchio’s '
            'rnea as 1/E: order one.',
            cases,
            torques,
            lambda: [torques for torques, _, _ in by_pinocchio()],
            studies(
                stiff,
                ('`planar_cc`', rods.planar_cc, moduli, 1.0, 1e-4, 1e-7),
                ('`pcc`', rods.pcc, moduli, 1.0, 1e-4, 1e-7),
                (
                    '`cosserat` of six constant strains',
                    rods.pcs(*rods.ALL),
                    moduli,
                    1.0,
                    1e-4,
                    1e-7,
                ),
            ),
            tabulated=False,
        ),
        Problem(
            'One rod, many models',
            'Two inextensible rods with section inertia on hinges, in planar motion: ID and M '
            'by hinges and bends, whatever the body model’s own coordinates. Reference: '
            '`planar_cc`.',
            cases,
            ('ν1', 'ν2', 'ν3', 'ν4', *matrix('M', 4)),
            lambda: arcs(rods.planar_cc, 2).values,
            studies(
                arcs,
                ('`pcc` in the plane', rods.pcc, (2,), EXACT, 1e-10),
                ('`cosserat` of constant curvature', rods.pcs(*rods.THIN), (2,), EXACT, 1e-10),
                ('`cosserat` of six constant strains', rods.pcs(*rods.ALL), (2,), EXACT, 1e-10),
                ('`cosserat`, Legendre degree 0', degree_zero, (2,), EXACT, 1e-10),
                ('`CustomBody`, a formula', formula, (2,), EXACT, 1e-10),
            ),
            tabulated=False,
        ),
    )
