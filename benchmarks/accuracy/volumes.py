# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solid bodies: finite stretch, and the rods that they become when they are thin."""

from dataclasses import replace

import equilibria
import numpy as np
import references
import rods
from scipy.linalg import eigh
import softrobot_dynamics as sd
from study import Answer, EXACT, Problem, studies

BLOCK = rods.Rod(0.3, 0.05, 1000.0, 1e5)
STRETCHES = 0.8, 1.2, 1.6  # final length over length
SLENDERNESS = 10.0, 20.0, 40.0, 80.0  # length over radius
BENDING = 58.0 / 9.0  # E I of an lvp body, over C I
AXIAL = 6.0  # E A, over C A

STIFFENING = rods.ritz(z={'z': ('', 1.0)})
UNIFORM = {'stretch': [[1.0]]}
ARC = {'kappa_y': [[1.0]]}


def lvp(modes, axial=6):
    """Return the family of one `lvp` body with some modes; E of the rod is 3 times 2 C."""

    def bodies(rod, resolution):
        own = rod.fields(1, 'radius', 'young_modulus', 'poisson_ratio', 'section_inertia')
        material = {'type': 'incompressible_neo_hookean', 'modulus': rod.young_modulus / AXIAL}
        points = {'axial': axial, 'radial': 4, 'angular': 16}
        shape = {'outer_radius': rod.radius, 'modes': modes, 'quadrature': points}
        return [{'type': 'lvp', **own, 'material': material, **shape}]

    return bodies


def powers(degree):
    """Modes of `lvp` that bend in a plane: powers of s/L up to a degree."""
    return {'kappa_y': [[*np.zeros(k), 1.0] for k in range(degree + 1)]}


def st_venant_kirchhoff(stretch):
    """Force over E A without lateral contraction."""
    return 0.5 * (stretch**3 - stretch)


def neo_hookean(stretch):
    """Force over E A = 6 C A at constant volume, psi = C (I1 - 3)."""
    return (stretch - stretch**-2) / 3.0


def finite_stretch(law):
    """Return the function that finds the stretches under the forces that a law has for them."""

    def solve(bodies, resolution):
        model = rods.model(bodies(BLOCK, resolution))
        loads = [BLOCK.axial * law(stretch) for stretch in STRETCHES]
        poses = equilibria.tips(model, equilibria.PULL, loads)
        return Answer(np.array([[T[2, 3] / BLOCK.length] for T in poses]), model.n)

    return solve


def rigidities(bodies, resolution):
    """E A / (C A) and E I / (C I) at rest."""
    unit = BLOCK.young_modulus / AXIAL * BLOCK.area * BLOCK.length
    axial, bending = (rods.model(lvp(modes)(BLOCK, 1)).stiffness[0, 0] for modes in (UNIFORM, ARC))
    return Answer(np.array([[axial / unit], [4.0 * bending / (unit * BLOCK.radius**2)]]), 1)


def thin(slenderness):
    """Return a rod of E I = 58/9 C I = 1 N m^2, thinner and thinner."""
    rod = rods.Rod(radius=1.0 / slenderness)
    return replace(rod, young_modulus=AXIAL / BENDING * rod.young_modulus / rod.bending)


def circle(bodies, slenderness):
    """Tip displacement, over L, under the moments of the closing circle."""
    return equilibria.moments(thin(slenderness))(bodies, 1)


def frequency(bodies, slenderness):
    """First bending frequency [rad/s], over that of the thin rod."""
    rod = thin(slenderness)
    model = rods.model(bodies(rod, 1))
    zero = np.zeros(model.n)
    M = sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)[1]
    bending = BENDING / AXIAL * rod.bending
    exact = references.euler_bernoulli(1, bending, rod.line_density, rod.length)
    squares = eigh(model.stiffness, M, eigvals_only=True)
    return Answer(np.sqrt(squares[:1])[:, None] / exact, model.n)


def problems():
    """Return the problems of this file."""
    words = '`lvp`, one mode, L/R'
    return (
        Problem(
            'Finite stretch of a solid',
            'Under an axial dead load F: by the law of St Venant and Kirchhoff without lateral '
            'contraction, F = E A (λ³ - λ)/2; at constant volume with ψ = C (I₁ - 3), '
            'F = 2 C A (λ - 1/λ²).',
            tuple(f'λ = {x:g}' for x in STRETCHES),
            ('stretch',),
            lambda: [[x] for x in STRETCHES],
            studies(
                finite_stretch(st_venant_kirchhoff),
                ('`ritz`, one field', STIFFENING, (1,), EXACT, 1e-12),
            )
            + studies(
                finite_stretch(neo_hookean), ('`lvp`, one mode', lvp(UNIFORM), (1,), EXACT, 1e-12)
            ),
        ),
        Problem(
            'Section stiffness of a solid of constant volume',
            'With ψ = C (I₁ - 3) a stretched `lvp` body is a rod of E = 6 C; a bent one, whose '
            'sections keep their shape except as constant volume requires, has E I = (58/9) C I. '
            'The stiffness is that of `compile_model`, by differences of the forces.',
            ('E A/(C A)', 'E I/(C I)'),
            ('at rest',),
            lambda: [[AXIAL], [BENDING]],
            studies(rigidities, ('`lvp`, one mode', None, (1,), EXACT, 1e-9)),
        ),
        Problem(
            'Closing circle of a solid',
            'The `lvp` body under a pure tip moment, E I = (58/9) C I, as it gets thinner: its '
            'bending stiffness depends on κR, in even powers.',
            tuple(f't = {t:.4g}' for t in equilibria.MOMENTS),
            ('u/L', 'v/L'),
            lambda: [references.tip_moment(t) for t in equilibria.MOMENTS],
            studies(
                circle, (words, lvp(ARC, 16), tuple(4.0 * x for x in SLENDERNESS), 2.0, 1e-3, 1e-5)
            ),
        ),
        Problem(
            'Bending vibration of a solid',
            'First frequency of the `lvp` body, E I = (58/9) C I, over that of the thin rod.',
            ('mode 1',),
            ('ratio',),
            lambda: [[1.0]],
            studies(
                frequency,
                ('`lvp`, powers up to 6, L/R', lvp(powers(6), 16), SLENDERNESS, 2.0, 1e-3, 1e-6),
            ),
        ),
    )
