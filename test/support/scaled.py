# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Robots that differ only in scales of length, stiffness and density.

The scales of length, modulus and density determine all other units. By dimensional analysis such
robots take the same postures and move alike once all numbers are divided by their units.
"""

from typing import NamedTuple

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS


class Scale(NamedTuple):
    """Factors of lengths, moduli and densities."""

    length: float = 1.0
    modulus: float = 1.0
    density: float = 1.0

    @property
    def force(self):
        """Newtons."""
        return self.modulus * self.length**2

    @property
    def time(self):
        """Seconds."""
        return self.length * np.sqrt(self.density / self.modulus)

    @property
    def moment(self):
        """Newton metres."""
        return self.force * self.length

    @property
    def mass(self):
        """Kilograms."""
        return self.density * self.length**3

    def of(self, unit):
        """Return what a number in a unit is multiplied by: 'N', 'm/s^2', ..."""
        parts = {'m': self.length, 's': self.time, 'N': self.force, 'kg': self.mass,
                 'Pa': self.modulus, 'rad': 1.0, '-': 1.0}  # fmt: skip
        value, over = 1.0, False
        for word in unit.replace('/', ' / ').split():
            if word == '/':
                over = True
                continue
            name, _, power = word.partition('^')
            value *= parts[name] ** (float(power or 1.0) * (-1.0 if over else 1.0))
        return value


SIZES = (
    Scale(),
    Scale(length=1e-3),
    Scale(length=1e2),
    Scale(modulus=1e-3),
    Scale(modulus=2e5, density=8.0),
    Scale(length=1e-3, modulus=2e5, density=8.0),
    Scale(length=1e-3, modulus=1e-3),
    Scale(length=1e2, modulus=2e5, density=8.0),
    Scale(length=1e2, modulus=1e-3, density=0.5),
)
"""Of a robot of 1 m and 1 MPa: from 1 mm to 100 m, from 1 kPa to 200 GPa."""

UNITS = {
    'young_modulus': 'Pa', 'shear_modulus': 'Pa', 'density': 'kg/m^3', 'mass': 'kg',
    'length': 'm', 'radius': 'm', 'xyz': 'm', 'com': 'm', 'offset': 'm', 'points': 'm',
    'gravity': 'm/s^2', 'inertia': 'kg m^2', 'limits': 'N', 'rate_limit': 'N/s',
}  # fmt: skip
"""Of the fields of robots, but for those of joints and their motors."""
TURNING = {
    'stiffness': 'N m', 'damping': 'N m s', 'armature': 'kg m^2', 'effort': 'N m',
    'velocity': 'rad/s', 'position': 'rad',
}  # fmt: skip
"""Of the fields of revolute joints."""


def scaled(given, scale, units=UNITS):
    """Return the mapping of a robot, or a part of one, of another :class:`Scale`."""
    if not isinstance(given, dict):
        return given
    found = {}
    for name, value in given.items():
        own = {**units, **TURNING} if name == 'joint' else units
        if name == 'body' and isinstance(value, dict):
            own = {**units, 'damping': 's'}
        if name in ('offset', 'limits', 'inertia') and isinstance(value, dict):
            own = {**own, **dict.fromkeys(value, units[name])} if name == 'inertia' else own
            found[name] = scaled(value, scale, own)
        elif name == 'dh':
            alpha, a, d, theta = value
            found[name] = [alpha, a * scale.length, d * scale.length, theta]
        elif name in own and own is not None and not isinstance(value, dict):
            found[name] = _times(value, scale.of(own[name]))
        elif isinstance(value, dict):
            found[name] = scaled(value, scale, own)
        elif isinstance(value, list):
            found[name] = [scaled(each, scale, own) for each in value]
        else:
            found[name] = value
    if found.get('type') == 'joint' and 'limits' in found:
        found['limits'] = _times(given['limits'], scale.moment)
    return found


def _times(value, factor):
    if isinstance(value, (list, tuple)):
        return [_times(each, factor) for each in value]
    return value * factor


def rod(order=4):
    """Return the mapping of a rod of 1 m and 1 MPa, pulled by a tendon beside its axis."""
    strains = {k: {'basis': 'legendre', 'order': order} for k in ('kappa_x', 'kappa_y')}
    body = {
        'type': 'cosserat', 'length': 1.0, 'density': 1000.0, 'young_modulus': 1e6,
        'poisson_ratio': 0.5, 'damping': 0.01, 'section': {'type': 'circular', 'radius': 0.02},
        'strains': strains,
    }  # fmt: skip
    tendons = [
        {'name': f't{k}', 'type': 'tendon', 'limits': [0.0, 40.0],
         'path': [{'body': 'rod', 'offset': {'radius': 0.01, 'phase': 2.0943951 * k}}]}
        for k in range(3)
    ]  # fmt: skip
    bodies = [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}]
    return {'name': 'rod', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': tendons}


def rigid_arm():
    """Return the mapping of two links of 1 m in all, driven at both joints, hanging."""
    link = {'type': 'rigid', 'mass': 0.5, 'com': [0.0, 0.0, 0.25],
            'inertia': dict.fromkeys(('ixx', 'iyy', 'izz'), 0.01),
            'tip': {'xyz': [0.0, 0.0, 0.5]}}  # fmt: skip
    joint = {'type': 'revolute', 'axis': [0.0, 1.0, 0.0], 'damping': 0.05}
    bodies = [{'name': n, 'joint': {'name': f'{n}_joint', **joint}, 'body': link} for n in 'ab']
    motors = [
        {'name': n, 'type': 'joint', 'joint': f'{n}_joint', 'limits': [-20.0, 20.0]} for n in 'ab'
    ]
    return {'name': 'links', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': motors}


def model_of(robot, scale):
    """Return the compiled model of a robot's mapping at a :class:`Scale`."""
    return sd.compile_model(sd.load_robot(scaled(robot, scale)))


def tips(model, scale, q):
    """Return the tip frames (N, 4, 4) at q (n,), in units of a :class:`Scale`."""
    poses = sd.forward_kinematics(model, q=q).copy()
    poses[:, :3, 3] /= scale.length
    return poses


def law_of(model, name, period, p, d):
    """Return a law of all outputs with gains beyond what files may say: robots are fast."""
    kind = CONTROLLERS.get(name)
    settings = kind.make_settings(model)
    settings = settings.replace(p=np.full_like(settings.p, p), d=np.full_like(settings.d, d))
    return kind(model, period=period, settings=settings)
