# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
One uniform round rod as a robot description, made of each body model that can express it.

A family of bodies is a function (rod, resolution) -> list of mappings, base to tip.
"""

from dataclasses import dataclass

import numpy as np
import softrobot_dynamics as sd

FIXED = {'type': 'fixed'}
HINGE = {'type': 'revolute', 'axis': [0.0, 1.0, 0.0]}
WEIGHTLESS = (0.0, 0.0, 0.0)

THIN = ('kappa_y',)  # strains of what only bends in the x-z plane
PLANE = ('kappa_y', 'gamma_x', 'gamma_z')  # and shears and stretches
ALL = ('kappa_x', 'kappa_y', 'kappa_z', 'gamma_x', 'gamma_y', 'gamma_z')


@dataclass(frozen=True)
class Rod:
    """A round rod, SI units; its axis is z, its base at the origin. By default E I = 1 N m^2."""

    length: float = 1.0
    radius: float = 1e-4
    density: float = 1000.0
    young_modulus: float = 4e16 / np.pi
    poisson_ratio: float = 0.5
    section_inertia: bool = False

    @property
    def area(self):
        """Area A of the section [m^2]."""
        return np.pi * self.radius**2

    @property
    def axial(self):
        """Axial stiffness E A [N]."""
        return self.young_modulus * self.area

    @property
    def bending(self):
        """Bending stiffness E I [N m^2]."""
        return self.axial * self.radius**2 / 4.0

    @property
    def shear_modulus(self):
        """Shear modulus G [Pa]."""
        return self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def line_density(self):
        """Mass per unit of length [kg/m]."""
        return self.density * self.area

    @property
    def rotary(self):
        """Rotary inertia rho I of the section per unit of length [kg m]."""
        return self.line_density * self.radius**2 / 4.0

    def fields(self, count, *left_out):
        """Fields of each of ``count`` equal bodies."""
        names = 'radius', 'density', 'young_modulus', 'poisson_ratio', 'section_inertia'
        own = {name: getattr(self, name) for name in names if name not in left_out}
        return {'length': self.length / count, **own}


def planar_cc(rod, count):
    """Return mappings of ``count`` `planar_cc` bodies."""
    return [{'type': 'planar_cc', **rod.fields(count, 'poisson_ratio')}] * count


def pcc(rod, count):
    """Return mappings of ``count`` `pcc` bodies."""
    return [{'type': 'pcc', **rod.fields(count)}] * count


def pcs(*strains):
    """Return the family of ``count`` `cosserat` bodies of constant strains."""

    def bodies(rod, count):
        return [_cosserat(rod, count, strains, {'basis': 'monomial'}, 8)] * count

    return bodies


def gvs(*strains, count=1, quadrature=80):
    """Return the family of ``count`` `cosserat` bodies of Legendre polynomials up to a degree."""

    def bodies(rod, degree):
        basis = {'basis': 'legendre', 'order': degree}
        return [_cosserat(rod, count, strains, basis, quadrature)] * count

    return bodies


def marches(*strains, degree):
    """Return the family of one `cosserat` body of a degree with ``quadrature`` points."""
    return lambda rod, quadrature: gvs(*strains, quadrature=quadrature)(rod, degree)


def ritz(**fields):
    """
    Return the family of one `ritz` body: polynomial displacements up to a degree in s.

    ``fields`` maps names to {component: (monomial, coefficient)}, each times s, s^2, ....
    The solid has no lateral contraction (Poisson's ratio 0), which these fields cannot express.
    """

    def bodies(rod, degree):
        chosen = {
            f'{name}_{k}': {c: {f'{m} s^{k}'.strip(): a} for c, (m, a) in parts.items()}
            for name, parts in fields.items()
            for k in range(1, degree + 1)
        }
        law = {'type': 'st_venant_kirchhoff', 'young_modulus': rod.young_modulus}
        own = rod.fields(1, 'young_modulus', 'poisson_ratio', 'section_inertia')
        material = {**law, 'poisson_ratio': 0.0}
        points = 2 * degree + 4
        return [
            {'type': 'ritz', **own, 'material': material, 'fields': chosen, 'quadrature': points}
        ]

    return bodies


def ritz_backbone(rod, degree):
    """Return one `ritz_backbone` body: powers of s in x, from two, and in z, from one."""
    powers = [('x', k) for k in range(2, degree + 1)] + [('z', k) for k in range(1, degree + 1)]
    functions = {f'{c}_{k}': {c: {f's^{k}': 1.0}} for c, k in powers}
    own = rod.fields(1, 'poisson_ratio', 'section_inertia')
    return [{'type': 'ritz_backbone', **own, 'functions': functions, 'quadrature': 3 * degree}]


def _cosserat(rod, count, strains, basis, quadrature):
    fields = rod.fields(count)
    section = {'type': 'circular', 'radius': fields.pop('radius')}
    chosen = dict.fromkeys(strains, basis)
    own = {'type': 'cosserat', 'section': section, 'strains': chosen, 'quadrature': quadrature}
    return {**own, **fields}


def description(bodies, joint=FIXED, gravity=WEIGHTLESS, actuators=()):
    """Return the description of a chain b0, b1, ...: one joint, all bodies fixed behind it."""
    modules = [
        {'name': f'b{i}', 'joint': FIXED if i else {**joint, 'name': 'base_joint'}, 'body': body}
        for i, body in enumerate(bodies)
    ]
    given = {'name': 'rod', 'gravity': list(gravity), 'bodies': modules}
    return sd.load_robot({**given, 'actuators': list(actuators)})


def model(bodies, *given, **named):
    """Return the compiled model of a :func:`description`."""
    return sd.compile_model(description(bodies, *given, **named))


def turned(pose):
    """Angle [rad] by which a frame (4, 4) has turned about y, within half a turn."""
    return np.arctan2(pose[0, 2], pose[2, 2])
