# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Simulation 1 of [P]: three trimmed helicoids whose tips go round in circles, 10 s at its gains.

Statics, by Newton's method, give the posture that holds the three tips at each of many points of
the circles; the tendons' elongations there, interpolated twice differentiably, are y_d(t). The
law is then run in both ways: as the paper has it, continuous and without limits, in one equation
with the robot; and as the nodes have it, in samples of 1 ms that are held, within limits.

Starts are matched (on the circles at their speed), or at rest on the circles: then the error of
y is to be the solution of e'' + K_D e' + K_P e = 0, which is known in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares
import softrobot_dynamics as sd
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.axes import BLUE, GREEN, head, LINE_STYLES, ORANGE
from softrobot_dynamics.reproduce.circles import (
    circle,
    CircleMotion,
    circles,
    PERIOD,
    RADII,
    tips_of,
)
from softrobot_dynamics.reproduce.continuous import ContinuousLaw
from softrobot_dynamics.reproduce.outcome import Array, Check, quietly, SystemResult, Tell
from softrobot_dynamics.reproduce.quadratures import compare_quadratures

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from softrobot_dynamics.viewing.animation import Film

TITLE = 'three trimmed helicoids on circles under PFBL [P, Simulation 1], 10 s'

DURATION, TICK = 10.0, 1e-3  # [s] of the run, of a tick
GAINS = 10.0, 1.0  # K_P [1/s^2], K_D [1/s] of [P]
INTEGRATOR_TOLERANCE = 1e-3  # relative; the error in y is 1e-7 m
SUCCESSOR = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])  # triplets over bodies
REMARKS = (
    'open in [P], chosen in config/robots/trimmed_helicoid.yaml: a wall from 12 to 20 mm of which '
    '35 % is material; straight tendons at 20 mm, 0, 120 and 240 degrees, triplet k on body k',
    'the gains multiply accelerations: K_P in 1/s^2 and K_D in 1/s, where [P] prints N and N s',
    '[P] does not say where the arm sets out: here matched, and at rest on the circles',
)


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Follow the circles for a `share` of 10 s, by both laws and from both starts."""
    model = sd.compile_model(sd.load_robot('trimmed_helicoid'))
    with tell('statics along the circles'):
        motion = circle(model, 24 if share < 1.0 else 144)
    checks = _statics(model, motion)
    end = max(0.05, share * DURATION)
    data: dict[str, Any] = {'t': np.linspace(0.0, end, 1 + round(end / 10 / TICK)), 'runs': {}}
    for start in ('matched', 'rest'):
        with tell(f'continuous law, {start}, {end:g} s'):
            data['runs'][f'continuous, {start}'] = _continuous(model, motion, start, data['t'])
        with tell(f'sampled law, {start}, {end:g} s'):
            data['runs'][f'sampled, {start}'] = _sampled(model, motion, start, data['t'])
    remarks: list[str] = []
    data['quadratures'] = []
    checks += _rerouted(model, motion, remarks)
    if share >= 1.0:  # they take a while
        with tell('quadratures'):
            words, data['quadratures'] = compare_quadratures(model, motion)
            remarks += words
    checks += _followed(data, ContinuousLaw(model, motion.reference, *GAINS).desired(0.0)[1])
    for name, each in data['runs'].items():
        low, high = each['u'].min(), each['u'].max()
        remarks.append(f'{name}: tensions from {low:.2f} to {high:.1f} N (limits 0 and 200 N)')
    data['tips'] = tips_of(model, data['runs']['continuous, matched']['q'][::10])
    return SystemResult(tuple(checks), (*REMARKS, *remarks), data)


def _statics(model: CompiledModel, motion: CircleMotion) -> list[Check]:
    """Check equilibria between samples, where tensions are interpolated, by another solver."""
    q, u = motion.q, motion.u.copy()
    u[-1] = u[0]
    count = len(q) - 1
    tensions = CubicSpline(np.arange(count + 1), u, bc_type='periodic')
    law = ContinuousLaw(model, motion.reference, *GAINS)
    off, balance = [], []
    for k in range(0, count, count // 6):
        at = (k + 0.5) * PERIOD / count
        found = sd.equilibrium(model, u=tensions(k + 0.5), q0=q[k]).q
        off.append(tips_of(model, [found])[0] - circles([at])[0])
        y = sd.actuation(model, q=found, qd=0.0 * found).coordinates
        off.append((y - law.desired(at)[0]).reshape(3, 3))
        balance.append(_unbalanced(model, found, tensions(k + 0.5)))
    return [
        Check('equilibria: tips, and y of y_d', float(np.abs(off).max()), 2e-5, 'm',
              'the circles, between samples'),
        Check('equilibria: forces', max(balance), 1e-5, '', 'differences of the energies'),
    ]  # fmt: skip


def _unbalanced(model: CompiledModel, q: Array, u: Array) -> float:
    """Return the residual dV/dq - A u, V by differences, relative to the largest of A u."""
    step, derivative = 1e-6, np.empty(model.n)
    for j, e in enumerate(step * np.eye(model.n)):
        ahead, behind = (
            sd.elastic_energy(model, q=x) + sd.potential_energy(model, q=x) for x in (q + e, q - e)
        )
        derivative[j] = (ahead - behind) / (2.0 * step)
    forces = sd.actuation(model, q=q, qd=0.0 * q).matrix @ u
    return float(np.abs(derivative - forces).max() / np.abs(forces).max())


def _set_out(motion: CircleMotion, start: str) -> tuple[Array, Array, Array]:
    """Return q, qd and tensions of a start."""
    q, u = motion.q, motion.u
    rate = (q[1] - q[-2]) / (2.0 * PERIOD / (len(q) - 1))
    return q[0], rate if start == 'matched' else 0.0 * rate, u[0]


def _continuous(
    model: CompiledModel, motion: CircleMotion, start: str, times: Array
) -> dict[str, Any]:
    q, qd, _ = _set_out(motion, start)
    found = ContinuousLaw(model, motion.reference, *GAINS).follow(
        q, qd, times, INTEGRATOR_TOLERANCE
    )
    return {'q': found.q, 'errors': found.errors, 'u': found.u}


def _sampled(
    model: CompiledModel, motion: CircleMotion, start: str, times: Array
) -> dict[str, Any]:
    q, qd, u = _set_out(motion, start)
    gains = dict(zip('pd', GAINS))
    loop = sd.closed_loop(
        model,
        sd.Law('pfbl', parameters=gains),
        motion.reference,
        times[-1],
        start=sd.Start(q=q, qd=qd, u=u),
        progress=lambda t, duration: None,
    )
    every = slice(None, None, 10)
    return {'q': loop.q[every], 'errors': (loop.y - loop.y_d)[every], 'u': loop.u[every]}


def _followed(data: dict[str, Any], rate: Array) -> list[Check]:
    """Check errors, less those that a start at rest must have; and the rates they have."""
    checks, t = [], data['t']
    for name, each in data['runs'].items():
        wanted = _transient(GAINS, t, rate if 'rest' in name else 0.0 * rate)
        worst = 1e3 * float(np.abs(each['errors'] - wanted).max())
        most = 0.1 if 'continuous' in name else 3.0
        checks.append(Check(f'{name}: y', worst, most, 'mm', "y_d and e'' + K_D e' + K_P e = 0"))
        if 'rest' in name and t[-1] >= 3.0:
            off = max(
                abs(found / given - 1.0) for found, given in zip(_fitted(each, t, rate), GAINS)
            )
            checks.append(Check(f'{name}: K_P, K_D fitted', off, 0.05, '', 'those of the law'))
    return checks


def _transient(gains: Sequence[float] | Array, t: Array, rate: Array) -> Array:
    """Return the errors (T, m) of a start on y_d at rest, where y_d has a rate (m,)."""
    p, d = gains
    turning = np.sqrt(p - 0.25 * d**2)
    return np.outer(np.exp(-0.5 * d * t) * np.sin(turning * t) / turning, -rate)


def _fitted(each: dict[str, Any], t: Array, rate: Array) -> Array:
    def gap(gains: Array) -> Array:
        return (_transient(gains, t, rate) - each['errors']).ravel()

    begin = [1.5 * gain for gain in GAINS]
    return np.asarray(least_squares(gap, begin, x_scale=GAINS).x)


def _rerouted(model: CompiledModel, motion: CircleMotion, words: list[str]) -> list[Check]:
    """
    Let triplets run on to the successor: y and tensions are linear in those of the shipped arm.

    So errors of y have the same dynamics, with the same gains, and the arm moves as before.
    """
    other = sd.compile_model(_on_to_successors(model.description))
    T, k = np.kron(SUCCESSOR, np.eye(3)), len(motion.q) // 3
    q, u = motion.q[k], motion.u
    ours, theirs = (sd.actuation(each, q=q, qd=q) for each in (model, other))
    gap = np.abs(theirs.coordinates - T @ ours.coordinates).max()
    gap = max(gap, np.abs(theirs.matrix - ours.matrix @ T.T).max())
    tensions = np.linalg.solve(T.T, u.T).T
    words.append(
        'tendons from one body through its successor: the same motion under the same gains, with '
        f'tensions from {tensions.min():.1f} to {tensions.max():.1f} N where ours are '
        f'{u.min():.1f} to {u.max():.1f} N'
        + (': such tendons would have to push' if tensions.min() < 0.0 else '')
    )
    return [Check('tendons through the successor', float(gap), 1e-9, 'm', 'sums of our lengths')]


def _on_to_successors(robot: RobotDescription) -> RobotDescription:
    """Return the robot with each tendon continued along the next body, if there is one."""
    tendons: list[Any] = [each.actuator for each in robot.actuators]  # they have a `path`
    paths = [each.path for each in tendons]
    beyond = [*paths[3:], (), (), ()]
    longer = [replace(a, path=(*a.path, *more)) for a, more in zip(tendons, beyond)]
    actuators = [replace(each, actuator=a) for each, a in zip(robot.actuators, longer)]
    return replace(robot, actuators=tuple(actuators))


def film(data: dict[str, Any]) -> Film:
    """Return the motion under the continuous law from a matched start, with the circles."""
    from softrobot_dynamics.viewing.animation import Film

    wanted = circles(np.linspace(0.0, PERIOD, 90)).swapaxes(0, 1)
    q = np.asarray(data['runs']['continuous, matched']['q'])
    model = sd.compile_model(sd.load_robot('trimmed_helicoid'))
    return Film(model, np.asarray(data['t']), q, tuple(wanted))


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw tips on their circles, errors of y, tensions, and the price of material points."""
    figure.set_size_inches(10.0, 7.0)
    (space, errors), (tensions, price) = figure.subplots(2, 2)
    angle = np.linspace(0.0, 2.0 * np.pi, 90)
    tips = 1e3 * np.array(data['tips'])
    for i, (colour, style) in enumerate(LINE_STYLES[:3]):
        r = 1e3 * RADII[i]
        space.plot(r * np.cos(angle), r * np.sin(angle), color='#bbbbbb', lw=3.5)
        space.plot(*tips[:, i, :2].T, style, color=colour, label=f'tip {i + 1}')
    space.set(aspect='equal', xlabel='x [mm], circles in grey', ylabel='y [mm]')
    head(space, '')
    for (name, each), (colour, style) in zip(data['runs'].items(), LINE_STYLES):
        worst = 1e3 * np.abs(each['errors']).max(axis=1)
        errors.semilogy(
            data['t'], np.maximum(worst, 1e-6), style, color=colour, lw=1.0, label=name
        )
    errors.set(xlabel='t [s]', ylabel='largest |y - y_d| [mm]')
    figure.legend(*errors.get_legend_handles_labels(), loc='outside upper right', ncols=4)
    for i, (colour, style) in enumerate(LINE_STYLES[:3]):
        u = np.array(data['runs']['sampled, matched']['u'])
        for k in range(3):
            label = f'body {i + 1}' if k == 0 else None
            tensions.plot(data['t'], u[:, 3 * i + k], style, color=colour, lw=1.0, label=label)
    tensions.set(xlabel='t [s]', ylabel='tension [N]')
    head(tensions, 'sampled, matched')
    found = data['quadratures']
    for each, colour, mark in zip(found, (BLUE, ORANGE, GREEN), 'osD'):
        label = f'{each["rule"]}, {each["points"]}'
        price.loglog(1e6 * each['time'], each['error'], mark, color=colour, ms=7, label=label)
    price.set(xlabel='all terms, from Python [µs]', ylabel='error of the worst term')
    if found:
        price.legend(title='points of a body', loc='center right')
