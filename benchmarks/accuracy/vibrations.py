# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Small vibrations of clamped-free rods: K v = w^2 M v at rest."""

import numpy as np
import references
import rods
from scipy.linalg import eigh
import softrobot_dynamics as sd
from study import Answer, Problem, SPECTRAL, studies

MODES = 3
SLENDER = rods.Rod(1.0, 0.01, 1000.0, 1e6)  # a thin rod: the sections have no inertia
THICK = rods.Rod(1.0, 0.1, 1000.0, 1e6, poisson_ratio=0.0, section_inertia=True)

BEND = 'bend_x', 'kappa_y', 'gamma_x', 'turn', 'shift'
STRETCH = 'elongation', 'gamma_z', 'stretch'
TWIST = 'kappa_z', 'twist'

CHAIN = 8, 16, 32, 64  # bodies
DEGREES = 2, 4, 6, 8, 10, 12  # of strains
FIELDS = 4, 6, 8, 10  # degrees of displacements

# displacements of a solid; without lateral contraction these are the motions of rods
BENDING = rods.ritz(shift={'x': ('', 1.0)}, turn={'z': ('x', 1.0)})
STRETCHING = rods.ritz(stretch={'z': ('', 1.0)})
TWISTING = rods.ritz(twist={'x': ('y', -1.0), 'y': ('x', 1.0)})


def frequencies(rod, motion):
    """Return the function (bodies, resolution) -> lowest frequencies [rad/s] of some motions."""

    def solve(bodies, resolution):
        model = rods.model(bodies(rod, resolution))
        zero = np.zeros(model.n)
        M = sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)[1]
        kinds = [name.partition('/')[2].startswith(motion) for name in model.coordinate_names]
        own, other = np.flatnonzero(kinds), np.flatnonzero(~np.array(kinds))
        if np.abs(M[np.ix_(own, other)]).max(initial=0.0) > 1e-12 * np.abs(M).max():
            raise ValueError(f'{model.coordinate_names}: other motions take part')
        own = np.ix_(own, own)
        squares = eigh(model.stiffness[own], M[own], eigvals_only=True)
        return Answer(np.sqrt(squares[:MODES])[:, None], model.n)

    return solve


def problems():
    """Return the problems of this file."""
    cases, quantities = tuple(f'mode {i + 1}' for i in range(MODES)), ('ω [rad/s]',)
    speed = np.sqrt(THICK.young_modulus / THICK.density)
    torsion = np.sqrt(THICK.shear_modulus / THICK.density)
    shear = 1.0 / (THICK.shear_modulus * THICK.area)
    beam = THICK.bending, THICK.line_density, THICK.length, THICK.rotary
    thin = SLENDER.bending, SLENDER.line_density, SLENDER.length
    constant = '`cosserat` of constant strains, N bodies'
    legendre = '`cosserat`, Legendre degree p'
    return (
        Problem(
            'Bending of a thin rod',
            'Euler and Bernoulli: ω = (βL)² √(E I/(ρ A L⁴)), cos βL cosh βL = -1; no section '
            'inertia (`section_inertia: false`), no shear.',
            cases,
            quantities,
            lambda: references.euler_bernoulli(MODES, *thin)[:, None],
            studies(
                frequencies(SLENDER, BEND),
                ('`planar_cc`, N bodies', rods.planar_cc, CHAIN, 2.0, 1e-3, 1e-5),
                ('`pcc`, N bodies', rods.pcc, CHAIN, 2.0, 1e-3, 1e-5),
                (constant, rods.pcs('kappa_y'), CHAIN, 2.0, 1e-3, 1e-5),
                (legendre, rods.gvs('kappa_y', quadrature=20), DEGREES, SPECTRAL, 1e-8),
            ),
        ),
        Problem(
            'Axial vibrations',
            'ω = (2k - 1) π/(2L) √(E/ρ).',
            cases,
            quantities,
            lambda: references.waves(MODES, speed, THICK.length)[:, None],
            studies(
                frequencies(THICK, STRETCH),
                ('`pcc`, N bodies', rods.pcc, CHAIN, 2.0, 1e-3, 1e-5),
                (constant, rods.pcs('gamma_z'), CHAIN, 2.0, 1e-3, 1e-5),
                (legendre, rods.gvs('gamma_z', quadrature=20), DEGREES, SPECTRAL, 1e-8),
                ('`ritz`, degree p', STRETCHING, FIELDS, SPECTRAL, 1e-6),
            ),
        ),
        Problem(
            'Torsional vibrations',
            'ω = (2k - 1) π/(2L) √(G/ρ) of a round rod.',
            cases,
            quantities,
            lambda: references.waves(MODES, torsion, THICK.length)[:, None],
            studies(
                frequencies(THICK, TWIST),
                (constant, rods.pcs('kappa_z'), CHAIN, 2.0, 1e-3, 1e-5),
                (legendre, rods.gvs('kappa_z', quadrature=20), DEGREES, SPECTRAL, 1e-8),
                ('`ritz`, degree p', TWISTING, FIELDS, SPECTRAL, 1e-6),
            ),
        ),
        Problem(
            'Bending of a thick rod that does not shear',
            'R/L = 0.1 with section inertia. Reference: Rayleigh’s beam, roots of the '
            'determinant of the end conditions.',
            cases,
            quantities,
            lambda: references.timoshenko(MODES, *beam, 0.0)[:, None],
            studies(
                frequencies(THICK, BEND),
                ('`planar_cc`, N bodies', rods.planar_cc, CHAIN, 2.0, 1e-3, 1e-5),
                ('`pcc`, N bodies', rods.pcc, CHAIN, 2.0, 1e-3, 1e-5),
                (constant, rods.pcs('kappa_y'), CHAIN, 2.0, 1e-3, 1e-5),
                (legendre, rods.gvs('kappa_y', quadrature=20), DEGREES, SPECTRAL, 1e-8),
            ),
        ),
        Problem(
            'Bending of a thick rod that shears',
            'The same rod with shear stiffness G A (shear correction 1, ν = 0). Reference: '
            'Timoshenko’s beam, likewise.',
            cases,
            quantities,
            lambda: references.timoshenko(MODES, *beam, shear)[:, None],
            studies(
                frequencies(THICK, BEND),
                (constant, rods.pcs('kappa_y', 'gamma_x'), CHAIN, 2.0, 1e-3, 1e-5),
                (legendre, rods.gvs('kappa_y', 'gamma_x', quadrature=20), DEGREES, SPECTRAL, 1e-8),
                ('`ritz`, degree p', BENDING, FIELDS, SPECTRAL, 1e-6),
            ),
        ),
    )
