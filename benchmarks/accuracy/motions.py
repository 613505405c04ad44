# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Motions of rods in time, by scipy's integrators and the public calls of softrobot_dynamics."""

from dataclasses import dataclass, replace

import numpy as np
import references
import rods
from scipy.integrate import solve_ivp
from scipy.optimize import root
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.cosserat.body import Cosserat
from study import Answer, EXACT, Problem, SPECTRAL, studies

LENGTH, AXIAL, SHEAR, BENDING, LINE, ROTARY = references.SPIN_UP
AREA = 4.0 * np.pi * ROTARY / LINE
SPUN = rods.Rod(
    LENGTH,
    2.0 * np.sqrt(ROTARY / LINE),
    LINE / AREA,
    AXIAL / AREA,
    AXIAL / SHEAR / 2.0 - 1.0,
    True,
)
RATE = 6.0  # [rad/s] at the end of the spin-up
TIMES = np.arange(2.5, 20.1, 2.5)  # [s]

LOADED = 5.0  # [s] that loads act on the flying rod
SPAN = 0.5  # [s] after which its rotation vector is wrapped; the loads have kinks there


# -- spin-up ------------------------------------------------------------------------------------


def steady_spin(bodies, resolution):
    """Tip extension [m] in steady rotation: ID(q, qd, 0) = 0, but for the hinge's torque."""
    model = rods.model(bodies(SPUN, resolution), rods.HINGE)
    qd, zero = RATE * np.eye(model.n)[0], np.zeros(model.n)

    def unbalanced(q):
        return sd.inverse_dynamics(model, q=np.append(0.0, q), qd=qd, qdd=zero)[1:]

    q = root(unbalanced, zero[1:], tol=1e-14).x
    tip = sd.forward_kinematics(model, q=np.append(0.0, q))[-1]
    return Answer(np.array([[tip[2, 3] - LENGTH]]), model.n)


def spin_up(bodies, resolution):
    """Tip (across; extension) [m] in the turning frame at TIMES."""
    model = rods.model(bodies(SPUN, resolution), rods.HINGE)
    tip = spin_up_path(model, TIMES).T
    return Answer(tip - [[0.0], [LENGTH]], model.n)


def spin_up_path(model, times, rtol=1e-8):
    """Tip (x, z) [m] in the turning frame at ``times`` [s]; the hinge's motion is prescribed."""
    n = model.n - 1

    def terms(t, state):
        _, rate, turn = references.spin_up_angle(t)  # the angle itself does not matter
        q, qd = np.append(0.0, state[:n]), np.append(rate, state[n:])
        force, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=turn * np.eye(n + 1)[0])
        return force[1:], M[1:, 1:]

    def derivative(t, state):
        force, M = terms(t, state)
        return np.append(state[n:], -np.linalg.solve(M, force))

    def tangent(t, state):
        """All that is stiff: elasticity, linear in a rod's own coordinates."""
        stiff = np.linalg.solve(terms(t, state)[1], model.stiffness[1:, 1:])
        return np.block([[np.zeros((n, n)), np.eye(n)], [-stiff, np.zeros((n, n))]])

    atol = np.repeat([0.1 * rtol, 1e2 * rtol], n)
    options = {'t_eval': times, 'rtol': rtol, 'atol': atol, 'jac': tangent}
    path = solve_ivp(derivative, (0.0, times[-1]), np.zeros(2 * n), 'Radau', **options)
    tips = [sd.forward_kinematics(model, q=np.append(0.0, q))[-1] for q in path.y[:n].T]
    return np.array([tip[[0, 2], 3] for tip in tips])


# -- free flight --------------------------------------------------------------------------------


@dataclass(frozen=True)
class FlyingRod(Cosserat):
    """Simo and Vu-Quoc's: the bending stiffness of its section does not fit its rotary inertia."""

    def stiffness(self):
        """E A = G A = 1e4 N as the fields say, but E I = G J = 500 N m^2."""
        bending = 500.0 / (self.young_modulus * self.section.at(0.0).Ix)
        share = {'kappa_x': bending, 'kappa_y': bending, 'kappa_z': 0.5 * bending}
        rows = [share.get(name.rpartition('_')[0], 1.0) for name in self.coordinates()]
        return np.array(rows)[:, None] * super().stiffness()


def flying_rod(bodies, resolution):
    """Model of the rod: rho A = 1 kg/m, rho I = 10 kg m (20 kg m polar), tip at (6, 0, 0) m."""
    area = 40.0 * np.pi  # so that I / A = 10 m^2; G = E
    rod = rods.Rod(10.0, np.sqrt(40.0), 1.0 / area, 1e4 / area, -0.5, True)
    pose = {'xyz': [0.0, 8.0, 0.0], 'rpy': [np.pi / 2, 0.0, np.arctan2(6.0, 8.0)]}
    robot = rods.description(bodies(rod, resolution), {'type': 'free', 'origin': pose})
    own = [replace(module, body=FlyingRod(**vars(module.body))) for module in robot.modules]
    return sd.compile_model(replace(robot, modules=tuple(own)))


def loads(t):
    """Wrench (6,) on the flying rod's tip, in fixed axes: M2 = 2 M3 = 10 F1, a triangle."""
    peak = max(0.0, 200.0 * (1.0 - abs(t - 0.5 * LOADED) / (0.5 * LOADED)))
    return np.array([0.0, peak, 0.5 * peak, 0.1 * peak, 0.0, 0.0])


def impulse(t):
    """Time integral (3,) [N s] of the force of :func:`loads`, in closed form."""
    left = LOADED - min(t, LOADED)
    rising = t < 0.5 * LOADED
    return np.array([4.0 * t * t if rising else 50.0 - 4.0 * left * left, 0.0, 0.0])


def fly(model, times, rtol=1e-11):
    """
    Yield (q, qd, what the loads gave) at ``times`` [s], multiples of SPAN, from rest.

    What they gave is integrated beside the state: angular impulse about the origin (3,), work.
    """
    n, u, tip = model.n, np.zeros(0), model.body_names[-1]

    def derivative(t, state):
        q, qd, load = state[:n], state[n : 2 * n], loads(t)
        wrenches = {tip: sd.Wrench(load, frame='base')} if load.any() else None
        qdd = sd.forward_dynamics(model, q=q, qd=qd, u=u, wrenches=wrenches)
        given = np.zeros(4)
        if wrenches:
            place = sd.forward_kinematics(model, q=q)[-1, :3, 3]
            given[:3] = load[:3] + np.cross(place, load[3:])
            given[3] = load @ sd.jacobian(model, q=q, frame='base') @ qd
        return np.concatenate([qd, qdd, given])

    state = np.zeros(2 * n + 4)
    for k in range(round(max(times) / SPAN)):
        span = k * SPAN, (k + 1) * SPAN
        state = solve_ivp(derivative, span, state, 'DOP853', rtol=rtol, atol=rtol).y[:, -1]
        state[:n], state[n : 2 * n] = sd.recentred(model, q=state[:n], qd=state[n : 2 * n])
        if np.abs(np.array(times) - span[1]).min() < 1e-9:
            yield state[:n], state[n : 2 * n], state[2 * n :]


def momenta(model, q, qd):
    """
    Linear momentum, angular momentum about the origin (3,) each, and energy.

    Sums over the material points of their positions and velocities, without the mass matrix.
    """
    linear, angular, energy = np.zeros(3), np.zeros(3), 0.5 * q @ model.stiffness @ q
    for module in model.description.modules:
        x, masses = module.body.material_points()
        found = sd.material_points(model, q=q, qd=qd, body=module.name, points=x)
        v = found.velocities
        linear += masses @ v
        angular += masses @ np.cross(found.positions, v)
        energy += 0.5 * masses @ (v * v).sum(axis=1)
    return linear, angular, energy


def lacking(model, t, q, qd, given):
    """Return what linear and angular momentum and energy lack, relative to what was given."""
    linear, angular, energy = momenta(model, q, qd)
    misfits = linear - impulse(t), angular - given[:3], energy - given[3]
    sizes = impulse(t), given[:3], given[3]
    return [np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(misfits, sizes)]


def flight(times, rtol=1e-11):
    """Return the function that finds what momenta and energy lack at ``times`` [s]."""

    def solve(bodies, resolution):
        model = flying_rod(bodies, resolution)
        path = zip(times, fly(model, times, rtol))
        return Answer(np.array([lacking(model, t, *state) for t, state in path]), model.n)

    return solve


def problems():
    """Return the problems of this file."""
    extension = references.spinning_tip(RATE, AXIAL, LINE, LENGTH)
    ends = 2.5, LOADED, 7.5, 10.0
    chain, constant = (4, 8, 16, 32), '`cosserat` of constant strains, N bodies'
    legendre = '`cosserat`, Legendre degree p'
    three = rods.gvs(*rods.PLANE, quadrature=40)
    return (
        Problem(
            'Spin-up: steady extension',
            'A rod that turns about its base at 6 rad/s (Simo and Vu-Quoc 1986: L = 10, '
            'E A = 2.8e7, G A = 1e7, E I = 1.4e4, ρA = 1.2, ρI = 6e-4). ID(q, q̇, 0) = 0 but for '
            'the hinge. Reference: L (tan a/a - 1), a = ω L √(ρA/(E A)).',
            ('ω = 6 rad/s',),
            ('extension [m]',),
            lambda: [[extension]],
            studies(
                steady_spin,
                ('`pcc`, N bodies', rods.pcc, chain, 2.0, 1e-6, 1e-8),
                (constant, rods.pcs(*rods.PLANE), chain, 2.0, 1e-6, 1e-8),
                (legendre, three, (1, 2, 3, 4), SPECTRAL, 1e-10),
            ),
        ),
        Problem(
            'Spin-up: transient',
            'The same rod from rest; its base angle is prescribed, 6 (t²/2 + (15/2π)² '
            '(cos(2πt/15) - 1))/15 until 15 s. Tip in the turning frame. Reference: a spectral '
            'element of a Simo-Reissner beam in positions and section angles. Both integrated '
            'by Radau’s method, ours to a relative tolerance of 1e-8.',
            ('across [m]', 'extension [m]'),
            tuple(f't = {t:g} s' for t in TIMES),
            lambda: references.spin_up_tip(TIMES).T,
            studies(
                spin_up,
                (constant, rods.pcs(*rods.PLANE), (4, 8, 16), 2.0, 0.02, 2e-3),
                (legendre, three, (1, 2, 4, 6), SPECTRAL, 1e-5),
            ),
        ),
        Problem(
            'Flying spaghetti: balance of momentum and energy',
            'A free rod (Simo and Vu-Quoc 1988: L = 10, E A = G A = 1e4, E I = G J = 500, '
            'ρA = 1, ρI = 10, polar 20) along atan(4/3) is pushed at one end for 5 s by M2 = 2 M3 '
            '= 10 F1, in a triangle with the peak M2 = 200. From then on momenta and energy are '
            'constant. Sums of m v, p × m v and m v²/2 over the material points, and the elastic '
            'energy, less what the loads have supplied (force: in closed form; angular impulse '
            'and work: integrated with the state), relative to the supplied amount. DOP853, '
            'tolerance 1e-11. Published trajectories are not compared: they differ in signs and '
            'order of the load components.',
            tuple(f't = {t:g} s' for t in ends),
            ('linear momentum', 'angular momentum', 'energy'),
            lambda: np.zeros((len(ends), 3)),
            studies(
                flight(ends),
                (
                    '`cosserat` of six strains, Legendre degree p',
                    rods.gvs(*rods.ALL, quadrature=8),
                    (0, 1, 2),
                    EXACT,
                    1e-8,
                ),
                (
                    '`cosserat` of six constant strains, two bodies',
                    rods.pcs(*rods.ALL),
                    (2,),
                    EXACT,
                    1e-8,
                ),
            ),
        ),
    )
