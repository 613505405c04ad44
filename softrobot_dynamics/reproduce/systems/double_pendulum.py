# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The double pendulum of R. N. Watanabe's notebook on the matrix formalism, 10 s, free and actuated.

The notebook measures both bars from the vertical, theta1 and theta2, and writes
M theta'' = C + G + Q with Q = [M1 - M12, M12]; the shipped robot has the joint angles theta1 and
theta2 - theta1, and its commands are M1 and M12. Both are integrated in the same way to the same
tolerance, each by its own equations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.axes import BLUE, GREEN, head, LINE_STYLES
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
    from softrobot_dynamics.viewing.animation import Film

TITLE = 'the actuated double pendulum of the matrix formalism (R. N. Watanabe), 10 s'

DURATION, G = 10.0, 9.81  # [s], [m/s^2]
START_STATE = np.array([np.pi / 6, np.pi / 3, np.pi, -2.0 * np.pi])  # theta1, theta2, their rates
TARGET, GAINS = np.pi / 3, (30.0, 2.0, 3.0)  # P, D, I of the notebook's moment M12 on theta2
INTEGRATOR_TOLERANCE = 1e-12  # relative
EULER_STEP = 1e-4  # [s] of the notebook's own explicit Euler
TO_JOINTS = np.array([[1.0, 0.0], [-1.0, 1.0]])  # joint angles from theta
CASES = {'free': 0.0, 'actuated': 1.0}  # factor of M12
REMARKS = (
    'the notebook has M1 = M12 = 0 where it runs, and a PID moment M12 on theta2 beside it, '
    'commented out: both are run here, with l = m = 1 and M1 = 0',
    "the notebook's code has m2 g l2 sin(theta1) in G where its text, rightly, has m2 g l1 "
    'sin(theta1): the same for bars of one length, wrong for others',
    'the free pendulum is chaotic: paths part by rounding alone, so its terms are compared along '
    'the path, and energy, not angles at the end',
)


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Integrate both cases; for a `share` of 10 s."""
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    end = share * DURATION
    times = np.linspace(0.0, end, 1 + round(200 * end))
    checks: list[Check] = []
    data: dict[str, Any] = {'t': times}
    for name, gain in CASES.items():
        with tell(f'{name} pendulum, {end:g} s'):
            ours = _integrated(lambda x, gain: _ours(model, x, gain), gain, times)
            theirs = _integrated(_notebook, gain, times)
        checks += _checks(model, name, gain, ours, theirs)
        data[name] = {'theta': ours[:2].T, 'moment': [_moment(x, gain) for x in ours.T]}
        data[name]['unbalanced'] = _energy(ours) - ours[5] - _energy(ours)[0]
    with tell(f'explicit Euler, {1e3 * EULER_STEP:g} ms'):
        data['euler'] = _by_euler(end)
    gained = data['euler'][-1] - data['euler'][0]
    remark = (
        f"the notebook's explicit Euler in steps of {1e3 * EULER_STEP:g} ms changes the energy of"
        f' the free pendulum by {gained:.2g} J in {end:g} s,'
        f' of {_energy(START_STATE):.3g} J at its start'
    )
    return SystemResult(tuple(checks), (*REMARKS, remark), data)


def _checks(
    model: CompiledModel, name: str, gain: float, ours: Array, theirs: Array
) -> list[Check]:
    along = [(_ours(model, x, gain), _notebook(x, gain)) for x in ours.T[::10]]
    worst = max(difference(one, other) for one, other in along)
    unbalanced = float(np.abs(_energy(ours) - ours[5] - _energy(ours)[0]).max())
    found = [
        Check(f'{name}: accelerations', worst, 1e-12, '', "the notebook's M, C, G, Q"),
        Check(f'{name}: energy less work', unbalanced, 1e-6, 'J', 'its value at the start'),
    ]
    if gain:  # the moment holds theta2, and the motion is no longer chaotic
        error = float(np.abs(ours[:2] - theirs[:2]).max())
        found.append(Check(f'{name}: angles', error, 1e-6, 'rad', "the notebook's, integrated"))
    return found


def _integrated(derivative: Callable[[Array, float], Array], gain: float, times: Array) -> Array:
    """Return theta (2), rates (2), integral of theta2's error and work [J]: (6, T)."""
    start = np.append(START_STATE, [0.0, 0.0])
    found = solve_ivp(
        lambda t, x: derivative(x, gain), times[[0, -1]], start, 'DOP853', times,
        rtol=INTEGRATOR_TOLERANCE, atol=INTEGRATOR_TOLERANCE,
    )  # fmt: skip
    return np.asarray(found.y)


def _moment(x: Array, gain: float) -> float:
    """Return M12 [N m], the notebook's PID."""
    p, d, i = GAINS
    return gain * float(p * (TARGET - x[1]) - d * x[3] + i * x[4])


def _ours(model: CompiledModel, x: Array, gain: float) -> Array:
    """Return the derivative by forward dynamics of the robot."""
    q, qd = TO_JOINTS @ x[:2], TO_JOINTS @ x[2:4]
    moment = _moment(x, gain)
    qdd = sd.forward_dynamics(model, q=q, qd=qd, u=[0.0, moment])
    return np.array([x[2], x[3], *np.cumsum(qdd), TARGET - x[1], moment * qd[1]])


def _notebook(x: Array, gain: float) -> Array:
    """Return the derivative by M theta'' = C + G + Q."""
    (a, b), (v, w), moment = x[:2], x[2:4], _moment(x, gain)
    coupling, bend = 0.5 * np.cos(a - b), 0.5 * np.sin(a - b)
    M = np.array([[4.0 / 3.0, coupling], [coupling, 1.0 / 3.0]])
    C = np.array([-bend * w**2, bend * v**2])
    weight = -G * np.array([1.5 * np.sin(a), 0.5 * np.sin(b)])
    theta = np.linalg.solve(M, C + weight + [-moment, moment])
    return np.array([v, w, *theta, TARGET - b, moment * (w - v)])


def _energy(x: Array) -> Array:
    """Return the energy [J] of states (4 or more, T)."""
    a, b, v, w = x[:4]
    kinetic = 2.0 / 3.0 * v**2 + w**2 / 6.0 + 0.5 * np.cos(a - b) * v * w
    return kinetic - G * (1.5 * np.cos(a) + 0.5 * np.cos(b))


def _by_euler(end: float) -> Array:
    """Return the energy [J] of the free pendulum in the notebook's own steps."""
    x, energies = np.append(START_STATE, [0.0, 0.0]), []
    for _ in range(round(end / EULER_STEP)):
        energies.append(_energy(x))
        x = x + EULER_STEP * _notebook(x, 0.0)
    return np.array(energies)[::50]


def film(data: dict[str, Any]) -> Film:
    """Return the motion of the free pendulum."""
    from softrobot_dynamics.viewing.animation import Film

    q = np.asarray(data['free']['theta']) @ TO_JOINTS.T
    return Film(sd.compile_model(sd.load_robot('double_pendulum')), np.asarray(data['t']), q)


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw angles, the moment and what the energy lacks."""
    figure.set_size_inches(9.0, 5.6)
    axes = figure.subplots(2, 2, sharex=True)
    for axis, name in zip(axes[0], CASES):
        theta = np.array(data[name]['theta'])
        for i, (colour, style) in enumerate(LINE_STYLES[:2]):
            axis.plot(data['t'], theta[:, i], style, color=colour, label=f'θ{i + 1}')
        axis.set_ylabel('from the vertical [rad]')
        head(axis, name)
    axes[0, 1].axhline(TARGET, color='k', lw=0.8, ls=':')
    axes[1, 1].plot(data['t'], data['actuated']['moment'], color=GREEN)
    axes[1, 1].set(ylabel='moment M12 [N m]', xlabel='t [s]')
    euler = np.abs(data['euler'] - data['euler'][0])
    for name, colour in zip(CASES, (BLUE, '#9ecae1')):
        gone = np.maximum(np.abs(data[name]['unbalanced']), 1e-16)
        axes[1, 0].semilogy(data['t'], gone, color=colour, lw=0.9, label=name)
    t = np.linspace(0.0, data['t'][-1], len(euler))
    axes[1, 0].semilogy(t, np.maximum(euler, 1e-16), ':', color='k', label="notebook's Euler")
    axes[1, 0].set(ylabel='|energy - work - start| [J]', xlabel='t [s]', ylim=(1e-16, 1e1))
    head(axes[1, 0], '')
