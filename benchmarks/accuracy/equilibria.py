# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rods at rest under dead loads, their weight and tendons."""

import numpy as np
import references
import rods
import softrobot_dynamics as sd
from study import Answer, EXACT, Problem, SPECTRAL, studies

LOADS = 0.25, 1.0, 2.0, 5.0, 10.0  # k = P L^2 / (E I)
MODERATE = 0.25, 1.0, 2.0
WEIGHTS = 1.0, 5.0, 10.0  # k = w L^3 / (E I)
MOMENTS = 0.5, np.pi / 2, np.pi, 2.0 * np.pi  # t = M L / (E I)
TENSIONS = 0.5, 1.0, 2.0  # [N]

ROD = rods.Rod()  # so thin that nothing but bending counts
SOFT_ROD = rods.Rod(1.0, 0.05, 1000.0, 4.0 / (np.pi * 0.05**4))  # E I = 1 N m^2
TENDON_ROD = rods.Rod(0.3, 0.02, 1000.0, 1e5)
OFFSET = 0.015  # [m] of its tendon

MOMENT, FORCE, PULL = 1, 3, 5  # about y, along x, along z: places in a wrench

CHAIN = 8, 16, 32, 64  # bodies
DEGREES = 1, 2, 3, 4, 6, 8
POINTS = 10, 20, 40, 80  # of the quadrature

STRETCHING = 'kappa_y', 'gamma_z'
BENDING = (
    ('`planar_cc`, N bodies', rods.planar_cc, CHAIN, 2.0, 5e-5, 1e-6),
    ('`pcc`, N bodies', rods.pcc, CHAIN, 2.0, 5e-5, 1e-6),
    ('`cosserat` of constant strain, N bodies', rods.pcs(*rods.THIN), CHAIN, 2.0, 5e-5, 1e-6),
    ('`cosserat`, Legendre degree p', rods.gvs(*rods.THIN), DEGREES, SPECTRAL, 1e-7),
    (
        '`cosserat`, degree p, two bodies',
        rods.gvs(*rods.THIN, count=2, quadrature=40),
        DEGREES[:-1],
        SPECTRAL,
        1e-7,
    ),
    (
        '`cosserat`, degree 8, K quadrature points',
        rods.marches(*rods.THIN, degree=8),
        POINTS,
        4.0,
        1e-7,
        1e-8,
    ),
)
CONSTANT = (
    ('`planar_cc`', rods.planar_cc, (1,), EXACT, 1e-12),
    ('`pcc`', rods.pcc, (1,), EXACT, 1e-12),
    ('`pcc`, three bodies', rods.pcc, (3,), EXACT, 1e-12),
    ('`cosserat` of constant strain', rods.pcs(*rods.THIN), (1,), EXACT, 1e-12),
    ('`cosserat`, degree 2', rods.gvs(*rods.THIN, quadrature=10), (2,), EXACT, 1e-12),
)


def tips(model, component, loads):
    """Tip frames (4, 4) of a rod under each dead load at its tip, in turn."""
    q, wrench = None, np.zeros(6)
    for load in loads:
        wrench[component] = load
        loaded = {model.body_names[-1]: sd.Wrench(wrench, frame='base')}
        q = sd.equilibrium(model, u=np.zeros(model.m), q0=q, wrenches=loaded).q
        yield sd.forward_kinematics(model, q=q)[-1]


def elastica(rod, loads):
    """Return the function that finds tip angle, shortening and deflection under tip loads."""

    def solve(bodies, resolution):
        model = rods.model(bodies(rod, resolution))
        rows = [[rods.turned(T), 1.0 - T[2, 3], T[0, 3]] for T in tips(model, FORCE, loads)]
        return Answer(np.array(rows), model.n)

    return solve


def self_weight(bodies, resolution):
    """Tip x/L, z/L and angle [rad] under each of WEIGHTS; the rod's x axis is up."""
    rows = []
    for weight in WEIGHTS:
        gravity = -weight * ROD.bending / (ROD.line_density * ROD.length**3), 0.0, 0.0
        model = rods.model(bodies(ROD, resolution), gravity=gravity)
        T = sd.forward_kinematics(model, q=sd.equilibrium(model, u=np.zeros(0)).q)[-1]
        rows.append([T[2, 3], T[0, 3], rods.turned(T)])
    return Answer(np.array(rows), model.n)


def moments(rod):
    """Return the function that finds the tip displacement, over L, under each of MOMENTS."""

    def solve(bodies, resolution):
        model = rods.model(bodies(rod, resolution))
        rows = [[T[2, 3] - 1.0, T[0, 3]] for T in tips(model, MOMENT, MOMENTS)]
        return Answer(np.array(rows), model.n)

    return solve


def straight_tendon(bodies, resolution):
    """Curvature [1/m] and tip (axial, lateral) [m] under each of TENSIONS."""
    path = [{'body': f'b{i}', 'offset': [OFFSET, 0.0]} for i in range(resolution)]
    tendon = {'name': 't', 'type': 'tendon', 'path': path}
    model, rows = rods.model(bodies(TENDON_ROD, resolution), actuators=[tendon]), []
    for tension in TENSIONS:
        T = sd.forward_kinematics(model, q=sd.equilibrium(model, u=[tension]).q)[-1]
        rows.append([rods.turned(T) / TENDON_ROD.length, T[2, 3], T[0, 3]])
    return Answer(np.array(rows), model.n)


def problems():
    """Return the problems of this file."""
    tendon = TENDON_ROD.length, TENDON_ROD.radius, TENDON_ROD.young_modulus
    return (
        Problem(
            'Elastica: dead load at the tip',
            'A thin, inextensible rod, clamped, bears a transverse force P at its tip that keeps '
            'its direction; k = P L²/(E I). Reference: elliptic integrals (Bisshopp and Drucker '
            '1945). `pcc` can stretch; the rod is so thin (R/L = 1e-4) that it hardly does.',
            tuple(f'k = {k:g}' for k in LOADS),
            ('tip angle [rad]', 'u/L', 'w/L'),
            lambda: [references.elastica(k) for k in LOADS],
            studies(elastica(ROD, LOADS), *BENDING),
        ),
        Problem(
            'Elastica of a rod that stretches',
            'The same with R/L = 0.05, so that the force also stretches the rod, by '
            'N/(E A) along the backbone; no shear. Reference: the two-point problem by shooting.',
            tuple(f'k = {k:g}' for k in MODERATE),
            ('tip angle [rad]', 'u/L', 'w/L'),
            lambda: [references.stretching_elastica(k, 0.05**2 / 4.0) for k in MODERATE],
            studies(
                elastica(SOFT_ROD, MODERATE),
                ('`pcc`, N bodies', rods.pcc, CHAIN, 2.0, 5e-5, 1e-6),
                (
                    '`cosserat` of constant strains, N bodies',
                    rods.pcs(*STRETCHING),
                    CHAIN,
                    2.0,
                    5e-5,
                    1e-6,
                ),
                ('`cosserat`, Legendre degree p', rods.gvs(*STRETCHING), DEGREES, SPECTRAL, 1e-8),
                ('`ritz_backbone`, degree p', rods.ritz_backbone, (4, 5, 6, 7), SPECTRAL, 1e-4),
            ),
        ),
        Problem(
            'Self-weight',
            'The same rod, clamped horizontally, under its weight w per unit of length; '
            'k = w L³/(E I). Reference: the two-point problem by shooting.',
            tuple(f'k = {k:g}' for k in WEIGHTS),
            ('x/L', 'z/L', 'tip angle [rad]'),
            lambda: [references.self_weight(k) for k in WEIGHTS],
            studies(self_weight, *BENDING),
        ),
        Problem(
            'Pure tip moment, up to the closed circle',
            'A moment M at the tip bends the rod to an arc of t = M L/(E I) rad (Simo and '
            'Vu-Quoc 1986), which is a circle at t = 2 π. Bodies of constant strain '
            'contain the solution, so only rounding errors are allowed.',
            tuple(f't = {t:.4g}' for t in MOMENTS),
            ('u/L', 'v/L'),
            lambda: [references.tip_moment(t) for t in MOMENTS],
            studies(moments(ROD), *CONSTANT),
        ),
        Problem(
            'Straight tendon',
            'A tendon parallel to the rod (L = 0.3 m, R = 20 mm, E = 0.1 MPa) at 15 mm with '
            'tension T: curvature T d/(E I), stretch 1 - T/(E A).',
            tuple(f'T = {T:g} N' for T in TENSIONS),
            ('curvature [1/m]', 'axial [m]', 'lateral [m]'),
            lambda: [references.straight_tendon(T, OFFSET, *tendon) for T in TENSIONS],
            studies(
                straight_tendon,
                ('`pcc`', rods.pcc, (1,), EXACT, 1e-12),
                ('`pcc`, three bodies', rods.pcc, (3,), EXACT, 1e-12),
                ('`cosserat` of constant strains', rods.pcs(*STRETCHING), (1,), EXACT, 1e-12),
            ),
        ),
    )
