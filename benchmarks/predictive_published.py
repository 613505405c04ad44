# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Motions like those of published predictive laws, by the law `predictive`: rate and error.

The robots of the papers are not ours: what is compared is how often a law solves, and how far the
tip is off as a share of the arm's length. Rates are those of the processor time of a solution.
"""

import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.law import Predictive
from softrobot_dynamics.references.piecewise import constant, spline, values_at

PERIOD, SECONDS, STEPS = 1e-3, 3.5, 400
PAPERS = (
    ('Licher et al., arXiv:2508.12681', 'paths, setpoints', 70, 'below 3 mm, 2.3 % (simulation)'),
    ('Habich et al., arXiv:2502.01916', 'angles of five joints', 47, '-'),
    ('Schäfke et al., arXiv:2411.05616', 'angles of five joints', '-', '1.2 degrees on average'),
    ('Hachen et al., arXiv:2409.09970', 'inputs of a person', 30, '-'),
)
"""Published results: source, motion, rate [Hz], error of the tip."""


def places(name, t):
    """Return where a tip shall be (T, 3) [m], base frame, at t (T,) [s]."""
    a, zero = 2.0 * np.pi * t, 0.0 * t
    if name == 'circle':
        return np.stack([0.1 * np.cos(a), 0.1 * np.sin(a), 0.57 + zero], axis=1)
    if name == 'figure eight':
        return np.stack([0.1 * np.sin(a / 2.0), 0.05 * np.sin(a), 0.57 + zero], axis=1)
    if name == 'planar circle':
        a = a / 2.0
        return np.stack([0.1 + 0.01 * np.cos(a), zero, 0.58 + 0.01 * np.sin(a)], axis=1)
    a = a / 5.0
    return np.stack([0.03 * np.cos(a), 0.03 * np.sin(a), 0.24 + zero], axis=1)


MOTIONS = (
    ('pcc_arm', 'circle', 'circle of 100 mm in 1 s', 1.0),
    ('pcc_arm', 'figure eight', 'figure eight, 200 mm x 100 mm, in 2 s', 2.0),
    ('pcc_arm', 'step', 'step of 100 mm', 0.0),
    ('planar_cc_chain', 'planar circle', 'circle of 10 mm by three tendons in 2 s', 2.0),
    ('trimmed_helicoid', 'slow circle', 'circle of 30 mm in 5 s', 5.0),
)


def processor_times(law, seconds):
    """Have the processor time [s] of each solution of a law added to a list."""
    solve = law.planner.solve

    def watched(request):
        began = time.thread_time()
        plan = solve(request)
        seconds.append(time.thread_time() - began)
        return plan

    law.planner.solve = watched


def follow(robot, name, turn):
    """Return (rate [Hz], times, errors of the tip [mm], length of the arm [m]) of a motion."""
    model = sd.compile_model(sd.load_robot(robot))
    seconds, u = [], np.ones(model.m)
    law = Predictive(
        model,
        period=PERIOD,
        settings=Predictive.make_settings(model, None, tip=model.body_names[-1]),
    )
    processor_times(law, seconds)
    q = sd.equilibrium(model, u=u).q if robot == 'pcc_arm' else model.q0
    if turn == 0.0:
        reference, ramp, first = constant([0.1, 0.0, 0.57]), PERIOD, 0.0
    else:
        t = np.linspace(0.0, turn, STEPS + 1)
        points = places(name, t)
        points[-1] = points[0]
        reference, ramp, first = spline(t, points, periodic=True), 1.0, 1.5
    found = sd.closed_loop(model, law, reference, SECONDS, start=sd.Start(q=q, u=u, ramp=ramp))
    assert found.ok.all()
    tips = np.array([sd.forward_kinematics(model, q=x)[-1][:3, 3] for x in found.q])
    off = 1e3 * np.linalg.norm(tips - values_at(reference, found.t), axis=1)
    late = found.t >= first
    length = np.linalg.norm(sd.forward_kinematics(model, q=model.q0)[-1][:3, 3])
    return 1.0 / np.median(seconds[5:]), found.t[late], off[late], float(length)


def table():
    """Print the table, in Markdown."""
    print('| law | robot, motion | solutions a second | tip error |')
    print('| --- | --- | --- | --- |')
    for source, motion, rate, error in PAPERS:
        print(f'| {source} | {motion} | {rate} | {error} |')
    for robot, name, words, turn in MOTIONS:
        rate, t, off, length = follow(robot, name, turn)
        if turn > 0.0:
            rms = np.sqrt((off**2).mean())
            error = (
                f'{rms:.3f} mm RMS, {off.max():.3f} mm at most, {0.1 * off.max() / length:.3f} %'
            )
        else:
            arrived = t[np.flatnonzero(off > 3.0)[-1] + 1]
            error = f'below 3 mm after {arrived:.2f} s, {off[-1]:.3f} mm in the end'
        print(f'| `predictive` | `{robot}`: {words} | {rate:.0f} | {error} |', flush=True)
