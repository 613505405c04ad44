# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The paper's second simulation: a rigid arm, a soft arm on it, and a soft gripper, in three phases.

In [0, 3) s the UR10e goes by partial feedback linearization along a cubic from zero to a posture;
in [3, 5) s the soft arm goes to a shape by PD with cancellation, and in [5, 6] s the gripper gets
2 MPa, while all that was at work before goes on. Laws, phases and gains are those of
`config/controllers/hybrid_arm.yaml`, and run as in the nodes, a command held for a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.controllers.feed_forward import FeedForward
from softrobot_dynamics.controllers.pd_plus import PdPlus
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.controllers.phases import Phase, Program
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import NotConvergedError
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.references.piecewise import constant, spline
from softrobot_dynamics.reproduce.axes import head, LINE_STYLES
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

TITLE = 'a rigid and a soft arm with a soft gripper, three laws in three phases [P, Simulation 2]'

ROBOT, DELAY = 'hybrid_arm', 5e-4  # [s] until a command acts, which the laws are told of
PHASE_TIMES = np.array([0.0, 3.0, 5.0, 6.0])  # [s]
JOINT_GOAL = np.pi * np.array([1 / 2, -1 / 4, -1 / 4, -1 / 5, 1 / 8, -1 / 2])  # [rad] of the UR10e
# of the soft arm: bends [rad], elongation [m]
SOFT_SHAPE = np.array([-np.pi / 2, np.pi / 4, -0.02])
TENDONS = [3.5619e-3, -41.9836e-3, -21.5784e-3]  # [m] of its tendons in this shape
PRESSURE = 2e6  # [Pa]
PARTS = slice(6), slice(6, 9), slice(9, 10)  # actuators of the UR10e, soft arm and gripper
ARM_GAINS, SOFT_GAINS = {'p': 100.0, 'd': 10.0}, {'p': 4.0, 'd': 2.0}  # [1/s^2], [1/s]
RAMP_TIMES = 0.0, 2.0, 0.0  # [s] to blend in what each part follows
MAX_NEWTON_ITERATIONS, NEWTON_TOLERANCE = 20, 1e-10  # and the step at which it has converged
REST_TIME = 2.0  # [s] more, until all is at rest
STYLES = (*LINE_STYLES, ('#fd9a4e', '--'), ('#85bcdb', '-'))  # of six
NO_LIMIT = 1e4  # [N] for a tension without limits
REMARKS = (
    'the paper has no gains of the PD law, and no size of the gripper: here 4 1/s^2 and 2 1/s, in '
    'the units of `pd_plus`, and a length of 80 mm and radii of 20 and 23 mm',
    "the soft arm's shape is given by the elongations of its tendons, which it determines",
    'K_P = 100, K_D = 10 of the paper are those of the UR10e',
)


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Run the three phases; of a `share` below 1 the steps of the simulator are not halved."""
    with tell('compiling'):
        model = sd.compile_model(sd.load_robot(ROBOT))
        start = _rest(model)
    with tell(f'{PHASE_TIMES[-1]:g} s in three phases, and {REST_TIME:g} s of rest'):
        law = _law(model)
        loop = _closed(law, start)
    data = {name: getattr(loop, name) for name in ('t', 'q', 'u', 'y')}
    data['y_d'] = np.full_like(loop.y, np.nan)
    data['y_d'][:, law.controlled] = loop.y_d
    finer = None
    if share >= 1.0:
        with tell('the same with half the steps of the simulator'):
            finer = _closed(_law(model), start, substep=2.5e-4).q
        with tell('the same without limits of the tensions'):
            data['free'] = _without_limits(model.description, start)
    checks = tuple(_checks(model, data, finer))
    names = {'coordinates': model.coordinate_names, 'actuators': model.actuator_names}
    return SystemResult(checks, (*REMARKS, *_said(data)), {**data, **names})


def _rest(model: CompiledModel) -> Array:
    """Return q (n,) with the UR10e at zero and all else at rest, by Newton's method."""
    statics, q, u = Statics(model), model.q0.copy(), np.zeros(model.m)
    q[:6] = 0.0
    for _ in range(MAX_NEWTON_ITERATIONS):
        residual, _ = statics.residual(q, u)
        step = np.linalg.solve(statics.tangent(q, u)[6:, 6:], -residual[6:])
        q[6:] += step
        if np.abs(step).max() < NEWTON_TOLERANCE:
            return q
    raise NotConvergedError(
        'rest of the soft bodies', MAX_NEWTON_ITERATIONS, float(np.abs(step).max())
    )


def _law(model: CompiledModel) -> Composition:
    """Return the three laws in their phases; a law counts on those before it in a phase."""
    motors, tendons, gripper = (model.actuator_names[part] for part in PARTS)
    laws = (
        _part(PartialFeedbackLinearization, model, motors, **ARM_GAINS),
        _part(PdPlus, model, tendons, **SOFT_GAINS),
        _part(FeedForward, model, gripper, command=PRESSURE),
    )
    settings = Composition.make_settings(model, delay=DELAY)
    settings = settings.replace(laws=tuple(law.settings for law in laws))
    at_work = ('reach', (0,)), ('bend', (1, 0)), ('grip', (1, 0, 2))
    durations = np.diff(PHASE_TIMES)
    phases = [Phase(name, span, own) for (name, own), span in zip(at_work, durations)]
    return Composition(laws, settings, phases)


def _part(
    kind: type[Controller], model: CompiledModel, actuators: Sequence[str], **gains: float
) -> Controller:
    """Return a law for some of the actuators."""
    settings = kind.make_settings(model, actuators, **gains)
    return kind(model, period=1e-3, controlled=actuators, settings=settings)


def _closed(law: Composition, start: Array, substep: float = 5e-4) -> sd.ClosedLoop:
    """Return the closed loop from `start` (n,) through all phases."""
    cubic = spline(PHASE_TIMES[:2], np.array([0.0 * JOINT_GOAL, JOINT_GOAL]))
    program = Program((cubic, constant(TENDONS), None), ramps=RAMP_TIMES)
    return sd.closed_loop(
        law.model,
        law,
        program,
        PHASE_TIMES[-1] + REST_TIME,
        start=sd.Start(q=start),
        plant=sd.Plant(delay=DELAY, substep=substep),
        progress=lambda t, duration: None,
    )


def _without_limits(description: RobotDescription, start: Array) -> Array:
    """Return the tensions (T, 3) [N] that the laws ask for if tendons could push, too."""
    tendons: list[Any] = [each.actuator for each in description.actuators[6:9]]
    free = [
        replace(each, actuator=replace(tendon, limits=(-NO_LIMIT, NO_LIMIT)))
        for each, tendon in zip(description.actuators[6:9], tendons)
    ]
    actuators = (*description.actuators[:6], *free, *description.actuators[9:])
    model = sd.compile_model(replace(description, actuators=actuators))
    return _closed(_law(model), start).u[:, 6:9]


def _checks(model: CompiledModel, data: dict[str, Any], finer: Array | None) -> list[Check]:
    t, q, u = data['t'], data['q'], data['u']
    s = np.clip(t / PHASE_TIMES[1], 0.0, 1.0)[:, None]
    cubic = (3.0 * s**2 - 2.0 * s**3) * JOINT_GOAL
    held = sd.equilibrium(model, u=u[-1], q0=q[-1]).q
    steps = np.abs(np.diff(u, axis=0)) / model.rate_limit / 1e-3
    rest = "at rest by Newton's method"
    found = [
        Check(
            'UR10e on its way, 8 s', _largest(q[:, :6] - cubic), 2e-3, 'rad', 'the cubic by hand'
        ),
        Check(
            'bends of the soft arm',
            _largest(q[-1, 6:8] - SOFT_SHAPE[:2]),
            1e-3,
            'rad',
            'the paper',
        ),
        Check('its elongation', _largest(q[-1, 8] - SOFT_SHAPE[2]), 1e-5, 'm', 'the paper'),
        Check('gripper', difference(q[-1, 9:], held[9:]), 1e-3, '', rest),
        Check('all else', _largest(q[-1, :9] - held[:9]), 1e-2, 'rad or m', rest),
        Check('steps of commands', float(steps.max()), 1.0 + 1e-9, 'limit', 'limits of rates'),
    ]
    if finer is not None:
        error = _largest(q - finer)
        found.append(Check('the motion', error, 1e-3, 'rad or m', 'half the steps'))
    return found


def _largest(difference: Array) -> float:
    return float(np.abs(difference).max())


def _said(data: dict[str, Any]) -> list[str]:
    """Return in words what the laws ask for beyond the limits."""
    if 'free' not in data:
        return []
    least, most = float(data['free'].min()), float(data['free'].max())
    when = data['t'][int(data['free'].min(axis=1).argmin())]
    return [
        f'without limits, tendons would be asked for {least:.1f} to {most:.1f} N, the least at '
        f't = {when:.2f} s; the shipped ones pull with 0 to 80 N, and the law does with that'
    ]


def film(data: dict[str, Any]) -> Film:
    """Return the motion through the three phases."""
    from softrobot_dynamics.viewing.animation import Film

    return Film(sd.compile_model(sd.load_robot(ROBOT)), data['t'], data['q'])


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw joints, soft arm, gripper, and what drives each."""
    figure.set_size_inches(9.0, 6.4)
    axes, t = figure.subplots(3, 2, sharex=True), data['t']
    rows = (('joints [rad]', range(6)), ('tendons [m]', range(6, 9)), ('gripper', range(9, 11)))
    for axis, (label, own) in zip(axes[:, 0], rows):
        values = data['q'] if label == 'gripper' else data['y']
        for k, i in enumerate(own):
            colour, style = STYLES[k]
            name = data['coordinates'][i].rpartition('/')[2] if label == 'gripper' else ''
            axis.plot(t, values[:, i], style, color=colour, lw=1.4, label=name or None)
            if label != 'gripper':
                axis.plot(t, data['y_d'][:, i], ':', color='k', lw=0.9)
        axis.set_ylabel(label)
        head(axis, '')
    drives = (
        ('moments [N m]', range(6)),
        ('tensions [N]', range(6, 9)),
        ('pressure [MPa]', range(9, 10)),
    )
    for axis, (label, own) in zip(axes[:, 1], drives):
        for k, i in enumerate(own):
            colour, style = STYLES[k]
            u = data['u'][:, i] * (1e-6 if i == 9 else 1.0)
            name = str(i + 1) if i < 6 else data['actuators'][i]
            axis.plot(t, u, style, color=colour, lw=1.2, label=name)
        axis.set_ylabel(label)
        head(axis, '')
    for k, i in enumerate(range(3) if 'free' in data else ()):
        axes[1, 1].plot(t, data['free'][:, i], color=LINE_STYLES[k][0], lw=0.8, alpha=0.4)
    for axis in axes.ravel():
        for moment in PHASE_TIMES[1:]:
            axis.axvline(moment, color='#999999', lw=0.6)
    for axis in axes[-1]:
        axis.set_xlabel('t [s]')
