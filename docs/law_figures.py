# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Draw the figures of docs/laws.md, one for each law, from simulated runs.

    python docs/law_figures.py [LAW ...]
"""

from pathlib import Path
import sys

from matplotlib.axes import Axes
import matplotlib.pyplot as plt
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.references.circle import Circle
from softrobot_dynamics.references.piecewise import constant, hermite, Reference, spline
from softrobot_dynamics.references.tip_commands import with_tip_path
import yaml

IMAGES = Path(__file__).parent / 'images'
MODEL, WANTED, OTHER = '#1f77b4', '#888888', '#d62728'  # colours: the run, y_d or limits, others
SOFT = 1.15  # share of the modulus that the simulated arm has and the model has not


def arm(stiffness: float = 1.0) -> CompiledModel:
    """Return pcc_arm, or one that is as many times as stiff."""
    robot = sd.load_robot('pcc_arm')
    changes = {'young_modulus': f'×{stiffness}'}
    return sd.compile_model(robot if stiffness == 1.0 else sd.vary(robot, changes))


def pendulum() -> CompiledModel:
    """Return double_pendulum."""
    return sd.compile_model(sd.load_robot('double_pendulum'))


def places(model: CompiledModel, postures: np.ndarray) -> np.ndarray:
    """Return the places (K, 3) [m] of the last tip."""
    return np.array([sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in postures])


def outputs_at(model: CompiledModel, q: np.ndarray) -> np.ndarray:
    """Return the outputs (m,) of a posture, relative to those of q = 0."""
    return model.per_thread.evaluator(q, 0.0 * q).y - model.y0


def pulled(model: CompiledModel, tension: float = 3.0) -> sd.Start:
    """Return a start at rest under equal tensions [N]."""
    u = np.full(model.m, tension)
    return sd.Start(q=sd.equilibrium(model, u=u).q, u=u, ramp=0.5)


def draw_pfbl(axes: Axes) -> None:
    """Draw the length of a tendon, on a circle, of an arm 15 % stiffer than the model."""
    model = arm()
    motion = Circle(radius=0.1, period=2.0).plan(model, range(model.m), model.q0)
    found = sd.closed_loop(
        model, 'pfbl', motion.reference, 4.0, start=sd.Start(ramp=1.0), plant=arm(SOFT)
    )
    axes.plot(found.t, 1e3 * found.y_d[:, 0], '--', color=WANTED, label='reference')
    axes.plot(found.t, 1e3 * found.y[:, 0], color=MODEL, label='tendon 1')
    axes.set(xlabel='t [s]', ylabel='y [mm]')


def draw_computed_torque(axes: Axes) -> None:
    """Draw the angles of the pendulum through a swing."""
    times = np.arange(5) * 0.4
    goals = np.array([[0.0, 0.0], [1.2, -1.0], [-0.4, 1.2], [0.8, 0.5], [0.0, 0.0]])
    found = sd.closed_loop(
        pendulum(), 'computed_torque', spline(times, goals), 2.0, start=sd.Start(q=np.zeros(2))
    )
    axes.plot(found.t, found.y_d, '--', color=WANTED, label=('reference', '_'))
    axes.plot(found.t, found.q[:, 0], color=MODEL, label='shoulder')
    axes.plot(found.t, found.q[:, 1], color=OTHER, label='elbow')
    axes.set(xlabel='t [s]', ylabel='q [rad]')


def draw_pd_plus(axes: Axes) -> None:
    """Draw how the pendulum, pushed at its end for a while, comes back."""

    def push(t: float) -> dict[str, list[float]] | None:
        return {'lower_bar': [0.0, 0.0, 0.0, 5.0, 0.0, 0.0]} if 0.5 < t < 1.0 else None

    for p, color in ((25.0, MODEL), (100.0, OTHER)):
        law = sd.Law('pd_plus', parameters={'p': p, 'd': 2.0 * np.sqrt(p)})
        found = sd.closed_loop(
            pendulum(),
            law,
            constant(np.array([0.5, 0.3])),
            2.5,
            start=sd.Start(q=np.array([0.5, 0.3])),
            plant=sd.Plant(wrenches=push),
        )
        axes.plot(found.t, found.q[:, 0], color=color, label=f'p = {p:g}')
    axes.axvspan(0.5, 1.0, color=WANTED, alpha=0.2, label='push')
    axes.set(xlabel='t [s]', ylabel='shoulder [rad]')


def draw_impedance(axes: Axes) -> None:
    """Draw how the tip yields to a push, and by pfbl does not."""
    model = arm()
    start = pulled(model)

    def push(t: float) -> dict[str, list[float]] | None:
        return {'segment3': [0.0, 0.0, 0.0, 0.2, 0.0, 0.0]} if 0.3 < t < 1.3 else None

    for name, color in (('impedance', MODEL), ('pfbl', WANTED)):
        kind = sd.Law(name, parameters={'stiffness': [50.0] * 3} if name == 'impedance' else {})
        y = outputs_at(model, start.q)
        found = sd.closed_loop(
            model, kind, constant(y), 2.0, start=start, plant=sd.Plant(wrenches=push)
        )
        way = places(model, found.q[::10])[:, 0]
        axes.plot(found.t[::10], 1e3 * (way - way[0]), color=color, label=name)
    axes.axvspan(0.3, 1.3, color=WANTED, alpha=0.2, label='push of 0.2 N')
    axes.set(xlabel='t [s]', ylabel='tip, x [mm]')


def draw_task(axes: Axes) -> None:
    """Draw, from above, how a tip on a circle keeps its distance from a ball."""
    data = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    for body in data['bodies']:
        body['collision'] = {'type': 'rod'}
    centre, radius, clearance = np.array([0.0, 0.14, 0.57]), 0.03, 0.005
    ball = {'name': 'ball', 'type': 'sphere', 'radius': radius, 'centre': centre.tolist()}
    model = sd.compile_model(sd.surround(sd.load_robot(data), {'environment': [ball]}))
    circle = Circle(radius=0.1, period=4.0)
    motion = circle.plan(arm(), range(model.m), model.q0)
    reference = with_tip_path(model, motion.reference, circle, model.body_names[-1])
    law = sd.Law('task', parameters={'distances.clearance': clearance})
    found = sd.closed_loop(model, law, reference, 6.0, start=sd.Start(ramp=1.0), plant=arm())
    way = places(model, found.q[2000::10])
    turn = circle.points(np.linspace(0.0, 2.0 * np.pi, 100))
    axes.plot(*(1e3 * turn[:, :2].T), '--', color=WANTED, label='reference')
    axes.plot(*(1e3 * way[:, :2].T), color=MODEL, label='tip')
    around = np.linspace(0.0, 2.0 * np.pi, 100)
    disc = centre[:2, None] + radius * np.array([np.cos(around), np.sin(around)])
    axes.fill(*(1e3 * disc), color=OTHER, alpha=0.4, label='ball')
    axes.set(xlabel='x [mm]', ylabel='y [mm]', aspect='equal')


def draw_predictive(axes: Axes) -> None:
    """Draw how the law moves before a step of the reference comes."""
    model = pendulum()
    step: Reference = hermite(
        [0.0, 0.6, 0.62, 1.6],
        np.array([[0.0], [0.0], [0.8], [0.8]]) * [1.0, 0.5],
        np.zeros((4, 2)),
    )
    for name, color in (('predictive', MODEL), ('pfbl', OTHER)):
        found = sd.closed_loop(model, name, step, 1.6, start=sd.Start(q=np.zeros(2)))
        axes.plot(found.t, found.q[:, 0], color=color, label=name)
    axes.plot(found.t, found.y_d[:, 0], '--', color=WANTED, label='reference')
    axes.set(xlabel='t [s]', ylabel='shoulder [rad]')


def draw_feed_forward(axes: Axes) -> None:
    """Draw the tips of two arms that differ, under the same table of tensions."""
    model = arm()
    start = pulled(model)
    table = np.zeros((4, model.m))
    table[1:3, 0] = 6.0
    for share, color in ((1.0, MODEL), (SOFT, OTHER)):
        plant = arm(share)
        u = start.u
        begin = sd.Start(q=sd.equilibrium(plant, u=u).q, u=u, ramp=0.0)
        law = sd.Law('feed_forward', parameters={'command': u})
        found = sd.closed_loop(
            model, law, hermite([0.0, 0.6, 1.4, 2.0], table, 0.0 * table), 2.4, start=begin,
            plant=plant,
        )  # fmt: skip
        way = places(plant, found.q[::10])[:, 0]
        label = 'the model' if share == 1.0 else f'{round(100 * share - 100)} % stiffer'
        axes.plot(found.t[::10], 1e3 * way, color=color, label=label)
    axes.set(xlabel='t [s]', ylabel='tip, x [mm]')


DRAWN = {
    name[5:]: draw for name, draw in list(globals().items()) if name.startswith('draw_')
}  # by the name of the law


def main() -> None:
    """Draw the figures of the laws that the command line names, or of all."""
    for name in sys.argv[1:] or DRAWN:
        figure, axes = plt.subplots(figsize=(3.6, 2.5), dpi=100, layout='constrained')
        DRAWN[name](axes)
        axes.set_title(name, fontsize=9)
        axes.legend(frameon=False, fontsize=7, loc='center' if name == 'task' else 'best')
        axes.spines[['top', 'right']].set_visible(False)
        figure.savefig(IMAGES / f'law_{name}.png')
        plt.close(figure)


if __name__ == '__main__':
    main()
