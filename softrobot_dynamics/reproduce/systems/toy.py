# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The toy example of [P]: one planar body of constant curvature, all lengths and the density one.

Three ways to every term: the package's recursion; closed formulas in c = cos q and s = sin q; and
the definitions, integrated over the cylinder by Gauss's rule. The last two know nothing of each
other, nor of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
import softrobot_dynamics as sd
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.axes import LINE_STYLES
from softrobot_dynamics.reproduce.outcome import (
    Array,
    Check,
    difference,
    quietly,
    SystemResult,
    Tell,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = 'the planar body that [P] works out by hand, formula by formula'

ROBOT = 'toy'
G = 9.81  # [m/s^2] along z of the base, as [P] has it
STATES = (0.7, 1.3, -0.8), (-1.1, 2.0, 0.5), (2.4, -0.9, 3.1), (1e-3, 1.0, 1.0)  # q, qd, qdd
SERIES_RANGE = 0.3  # of |q|; below it the closed formulas, 0/0 at q = 0, lose all their digits
REMARKS = (
    'the printed F*, T* and pi* are not what their definitions give; the formulas here are, and '
    'docs/reproduce.md lists them; p_CoM and both projectors are printed right',
    'printed s_i = pi/4 (q - qd): the linear rod has s_i = pi/4 (q + qd)',
    'Eq. (36) F_j reads jF_j; behind (63) read a = R^T a, w = R^T w; of Algorithm 2 the signs of '
    'the active terms are those of (52), with g = -Q^g and s = -Q^s',
    'all formulas are 0/0 at q = 0 and lose digits near it, as q^-6: there the package has series',
)


State: TypeAlias = tuple[float, float, float]  # q [rad], its rate and its acceleration


class ToyTerms(NamedTuple):
    """All terms of one state; vectors (x, z) in the tip frame, T* about its y axis."""

    com: Array
    grad_v: Array
    force: Array  # F*
    moment: float  # T*
    pi: float  # pi*
    M: float
    c: float
    g: float
    s: float


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Compare all terms in some states; always in full."""
    with tell('terms in three ways'):
        models = [_model(direction) for direction in (2, 0)]
        rows = [(state, *_three_ways(models, state)) for state in STATES]
    checks = []
    for i, name in enumerate(ToyTerms._fields):
        both = [(ours[i], right[i]) for _, ours, _, right in rows]
        against = 'the definition, integrated'
        checks.append(Check(f'{name}, recursion', _worst(both), 1e-11, '', against))
        closed = [(formula[i], right[i]) for _, _, formula, right in rows if formula]
        checks.append(Check(f'{name}, formula', _worst(closed), 1e-11, '', against))
    q = np.linspace(-1.5, 3.0, 91)
    curves = np.array([_curves(formulas(angle, 1.0, 1.0)) for angle in q[np.abs(q) > 0.1]])
    marks = np.array(
        [[state[0], *_curves(_ours(models, (state[0], 1.0, 1.0)))] for state in STATES]
    )
    return SystemResult(
        tuple(checks), REMARKS, {'q': q[np.abs(q) > 0.1], 'formulas': curves, 'recursion': marks}
    )


def formulas(q: float, qd: float, qdd: float) -> ToyTerms:
    """Return the closed forms, right where [P]'s print is wrong; for |q| >= SERIES_RANGE."""
    c, s, pi = np.cos(q), np.sin(q), np.pi
    x = pi * (q * (-q * c - q + 2 * s) * qdd + (2 * q * c + 4 * q - 6 * s) * qd**2) / q**4
    z = pi * (q * (q * s + 2 * c - 2) * qdd - (q**2 + 2 * q * s + 6 * c - 6) * qd**2) / q**4
    turning = pi * (q**4 + 4 * q**2 + 8 * c - 8) / (8 * q**4) * qdd
    turning -= pi * (q**2 + q * s + 4 * c - 4) / q**5 * qd**2
    own = pi * (q**5 + 4 * q**3 - 24 * q * c - 72 * q + 96 * s) / (24 * q**5) * qdd
    own -= 2 * pi * (q**3 - 3 * q * c - 12 * q + 15 * s) / (3 * q**6) * qd**2
    top = q**5 + 4 * q**3 + 24 * q * (c + 1) - 48 * s
    derivative = 5 * q**4 + 12 * q**2 + 24 * (c + 1) - 24 * q * s - 48 * c
    return ToyTerms(
        com=np.array([-(q - s) / q**2, (c - 1) / q**2]),
        grad_v=np.array([(c - 1) / q**2, (q - s) / q**2]),
        force=np.array([x, z]),
        moment=turning,
        pi=own,
        M=pi * top / (12 * q**5),
        c=0.5 * pi * (derivative / (12 * q**5) - 5 * top / (12 * q**6)) * qd**2,  # M' qd^2 / 2
        g=pi * G * (2 - 2 * c - q * s) / q**3,
        s=pi / 4 * (q + qd),
    )


def definitions(q: float, qd: float, qdd: float) -> ToyTerms:
    """Return the terms by integrals over the undeformed cylinder, with p(x, q) alone."""
    x, s, masses = _cylinder()
    p, derivative, curve = _position(x, s, q)
    tip, tip_derivative, _ = _position(np.zeros(1), np.ones(1), q)
    c, e = np.cos(q), np.sin(q)
    to_tip = np.array([[c, e], [-e, c]])  # the frame there is turned about y by -q
    acceleration = derivative * qdd + curve * qd**2
    com = masses @ p / masses.sum()
    arm = p - com
    moment = -masses @ (arm[:, 1] * acceleration[:, 0] - arm[:, 0] * acceleration[:, 1])
    force = -masses @ acceleration
    in_tip, grad_v = to_tip @ (com - tip[0]), to_tip @ tip_derivative[0]
    M = masses @ (derivative**2).sum(axis=1)
    bias = masses @ (derivative * curve).sum(axis=1) * qd**2
    force = to_tip @ force
    about_tip = moment + in_tip[1] * force[0] - in_tip[0] * force[1]
    return ToyTerms(
        com=in_tip,
        grad_v=grad_v,
        force=force,
        moment=moment,
        pi=-(M * qdd + bias) - grad_v @ force + about_tip,  # Q = -pi* - grad_v F - grad_w T
        M=M,
        c=bias,
        g=float(-masses @ derivative[:, 1] * G),
        s=float(masses @ x**2 * (q + qd)),  # strains -q x, E = 1, and as much viscosity
    )


def _cylinder() -> tuple[Array, Array, Array]:
    """Return x (K,), s (K,) and masses (K,) of a rule on the cylinder; y does not matter."""
    ends, along = leggauss(24)
    s, ds = 0.5 * (ends + 1.0), 0.5 * along
    k = np.arange(1, 13)  # Gauss and Chebyshev: the chord 2 sqrt(1 - x^2) is the weight
    x = np.cos(k * np.pi / 13)
    dx = 2.0 * np.pi / 13 * np.sin(k * np.pi / 13) ** 2
    return np.tile(x, 24), np.repeat(s, 12), np.outer(ds, dx).ravel()


def _position(x: Array, s: Array, q: float) -> list[Array]:
    """Return p, dp/dq and d2p/dq2, each (K, 2) in x and z of the base, as [P, Eq. (3)]."""
    nodes, weights = leggauss(24)
    places, dr = 0.5 * np.outer(s, nodes + 1.0), 0.5 * np.outer(s, weights)
    c, e, r = np.cos(q * places), np.sin(q * places), places
    across, up = np.cos(q * s), np.sin(q * s)
    pairs = (
        ((dr * -e).sum(1) + x * across, (dr * c).sum(1) + x * up),
        ((dr * -r * c).sum(1) - x * s * up, (dr * -r * e).sum(1) + x * s * across),
        ((dr * r**2 * e).sum(1) - x * s**2 * across, (dr * -(r**2) * c).sum(1) - x * s**2 * up),
    )
    return [np.column_stack(pair) for pair in pairs]


def _model(direction: int) -> CompiledModel:
    gravity = (0.0, 0.0, G) if direction == 2 else (G, 0.0, 0.0)
    return sd.compile_model(replace(sd.load_robot(ROBOT), gravity=gravity))


def _three_ways(
    models: list[CompiledModel], state: State
) -> tuple[ToyTerms, ToyTerms | None, ToyTerms]:
    closed = formulas(*state) if abs(state[0]) >= SERIES_RANGE else None
    return _ours(models, state), closed, definitions(*state)


def _ours(models: list[CompiledModel], state: State) -> ToyTerms:
    """Return the terms by public calls; the package's bend is -q of [P]."""
    q, qd, qdd = (-np.array([value]) for value in state)
    zero, model = np.zeros(1), models[0]
    R = sd.forward_kinematics(model, q=q)[0, :3, :3]
    t = sd.forward_kinematics(model, q=q)[0, :3, 3]
    first = [_wrench(each, q, zero, zero) for each in models]  # of the weight alone
    mass = -first[0][5] / G
    com = np.array([first[0][1] / (mass * G), 0.0, -first[1][1] / (mass * G)])
    moving = _wrench(model, q, qd, qdd) - first[0]  # of inertia alone
    force = -R.T @ moving[3:]
    moment = -R.T @ (moving[:3] - np.cross(com, moving[3:]))
    in_tip = R.T @ (com - t)
    grad_v = -sd.jacobian(model, q=q, body='tip')[3:, 0]
    IID, M = sd.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
    about_tip = moment + np.cross(in_tip, force)
    damping = sd.damping_force(model, q=q, qd=qd)
    return ToyTerms(
        com=in_tip[[0, 2]],
        grad_v=grad_v[[0, 2]],
        force=force[[0, 2]],
        moment=moment[1],
        pi=float(IID[0] - grad_v @ force + about_tip[1]),
        M=M[0, 0],
        c=-sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=zero)[0],
        g=-sd.gravity_force(model, q=q)[0],
        s=-(sd.elastic_force(model, q=q) + damping)[0],
    )


def _wrench(model: CompiledModel, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the moment and force (6,) that the joint transmits, in its frame."""
    return sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd, joint_wrenches=True)[1][0]


def _worst(pairs: Sequence[tuple[ArrayLike, ArrayLike]]) -> float:
    return max(difference(found, wanted) for found, wanted in pairs)


def _curves(terms: ToyTerms) -> list[float]:
    return [*terms.force, terms.moment, terms.pi]


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw F*, T* and pi* over q at qd = qdd = 1: lines are formulas, dots the recursion."""
    figure.set_size_inches(6.0, 3.6)
    axes = figure.subplots()
    names = 'F*, x [N]', 'F*, z [N]', 'T*, y [N m]', 'π* [N m]'
    near = np.where(data['q'][:-1] * data['q'][1:] < 0.0)[0] + 1  # no line through the gap
    q, curves = (np.insert(data[key], near, np.nan, axis=0) for key in ('q', 'formulas'))
    for i, (name, (colour, style)) in enumerate(zip(names, LINE_STYLES)):
        axes.plot(q, curves[:, i], style, color=colour, label=name)
        axes.plot(data['recursion'][:, 0], data['recursion'][:, i + 1], 'o', color=colour, ms=4)
    words = 'at unit rate and acceleration; lines: formulas, dots: recursion'
    axes.set(xlabel='q [rad]', title=words)
    figure.legend(loc='outside lower center', ncols=4)
