# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Every shipped robot under the law `predictive` with its defaults, its outputs led.

Each follows the reference of its shipped controller; hybrid_arm, whose controller has phases,
stays where it begins. Model and state are exact. A run is judged as one of `softrobot study`; the
growth of errors is that about rest without commands, where there is a stable one.
"""

import pathlib
import tempfile
import time

import numpy as np
from softrobot_dynamics.configuration.build import law_of
from softrobot_dynamics.controllers.predictive.planner import Planner
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.studies.study import plan_study
from softrobot_dynamics.studies.trial import run_trial, STATES
import yaml

FIRST = 5  # solutions that do not count in time: the first ones have nothing to begin with


def parameters_of(name):
    """Return the parameters of the law `predictive` with the shipped reference of a robot."""
    text = pathlib.Path(shipped('controllers')[name]).read_text(encoding='utf-8')
    given = yaml.safe_load(text)['/**']['controller']['ros__parameters']
    reference = given.get('reference', {'type': 'hold', 'ramp_time': 1.0})
    return {'controller': 'predictive', 'reference': reference}


def follow(name, seconds, **changes):
    """Return (outcome of the run, processor times of the solutions [s], growth [1/s])."""
    chosen, times, solve = parameters_of(name), [], Planner.solve
    chosen |= {'predictive': changes} if changes else {}

    def watched(planner, request):
        """Solve, and note the time."""
        began = time.thread_time()
        plan = solve(planner, request)
        times.append(time.thread_time() - began)
        return plan

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'predictive.yaml'
        file.write_text(yaml.safe_dump({'/**': {'controller': {'ros__parameters': chosen}}}))
        experiment = plan_study(name, {'delay': [0.0]}, controller=file, seconds=seconds)
    Planner.solve = watched
    try:
        found = run_trial(experiment, experiment.values[0])
        return found, times[FIRST:], growth_of(experiment)
    finally:
        Planner.solve = solve


def growth_of(experiment):
    """Return the growth [1/s] of errors about rest, nan where the robot does not stay at rest."""
    law = law_of(compile_model(experiment.description), experiment.parameters)
    u = np.clip(np.zeros(law.model.m), law.model.lower, law.model.upper)
    try:
        rest = equilibrium(law.model, command=u)
    except SoftRobotError:
        return np.nan
    return law.growth(rest.q, u, law.settings) if rest.stable else np.nan


def print_robots(names, seconds):
    """Print a table, in Markdown."""
    print(
        '| robot | verdict | error, of way | tip, RMS | ticks at limits | solution, p99 | growth |'
    )
    print('| --- | --- | --- | --- | --- | --- | --- |')
    for name in names:
        found, times, growth = follow(name, seconds)
        p50, p99 = 1e3 * np.percentile(times, [50, 99]) if times else (np.nan, np.nan)
        words = f'{STATES[found.state]}{": " if found.reason else ""}{found.reason}'
        tip = f'{1e3 * found.tip_rms_m:.3g} mm' if np.isfinite(found.tip_rms_m) else '–'
        print(
            f'| `{name}` | {words} | {100.0 * found.error_ratio:.3g} % | {tip}'
            f' | {100.0 * found.saturated:.0f} % | {p50:.2f}, {p99:.2f} ms | {growth:.1f} 1/s |',
            flush=True,
        )
