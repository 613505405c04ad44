# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time until pushes are detected, false alarms, and the places found; for `estimation.py`."""

import time

from estimated_runs import arm, FORCE, MOMENT, PERIOD, QUIET, Run
import numpy as np
import softrobot_dynamics as sd

OFF = {
    'the model itself': {},
    'heavier by a tenth': {'density': '×1.1'},
    'stiffer by a tenth': {'young_modulus': '×1.1'},
}
CERTAIN = 1e-6  # chance, at one look, of a push that is none: below, it is believed
SUDDEN = {**QUIET, 'disturbance': {'force': FORCE, 'moment': MOMENT, 'fading': 0.2}}


def push(options):
    """Print when pushes are found, and how often one is that is none."""
    own = sd.Estimator(arm(), QUIET)
    for size in options.sizes:
        waits = [wait(own, options.first + seed, size) for seed in range(options.pushes)]
        print(
            f'{size:g} N across the tip, {len(waits)} times: found after'
            f' {1e3 * np.median(waits):.0f} ms (median), {1e3 * np.max(waits):.0f} ms (longest)'
        )
    if not options.minutes:
        return
    for words, change in OFF.items():
        minutes = 1.0 if change else options.minutes
        plant = sd.compile_model(sd.vary(own.model.description, change)) if change else None
        run = Run(own, options.first + 1000, pushed=False, known=True, plant=plant)
        alarms, looks, least = 0, 0, 1.0
        for _ in range(round(60.0 * minutes / PERIOD)):
            if run.step() and run.t > 0.5:
                chance = own.push().probability
                alarms, looks, least = alarms + (chance < CERTAIN), looks + 1, min(least, chance)
        print(
            f'{minutes:g} min of noise, {words}: {alarms} false alarms in {looks} looks,'
            f' least chance {least:.1e}'
        )


def wait(own, seed, size):
    """Return after which time [s] a push across the tip of a size [N] is found."""
    run = Run(own, seed, pushed=False, known=True)
    angle = 2.0 * np.pi * run.rng.uniform()
    force = size * np.array([0.0, 0.0, 0.0, np.cos(angle), np.sin(angle), 0.0])
    load = {'segment3': sd.Wrench(force, None, 'base')}
    for _ in range(1000):
        run.step()
    while run.t < 1.5:
        if run.step(load) and own.push().probability < CERTAIN:
            break
    return run.t - PERIOD - 1.0  # when what told it was measured


def contact(options):
    """Print how far from where it acts a force is found, and how far it is off."""
    own, model = sd.Estimator(arm(), SUDDEN), arm()
    ways, errors, spans = {'segment2': [], 'segment3': []}, [], []
    for seed in range(options.pushes):
        run = Run(own, seed, pushed=False, known=True)
        body, angle = f'segment{2 + seed % 2}', 2.0 * np.pi * run.rng.uniform()
        point = (0.0, 0.0, float(run.rng.uniform(0.02, 0.2)))
        force = np.array([0.0, 0.0, 0.0, np.cos(angle), np.sin(angle), 0.0])
        for _ in range(500):
            run.step()
        for _ in range(500):
            run.step({body: sd.Wrench(force, point, 'base')})
        begin = time.perf_counter()
        found = own.contact()
        spans.append(time.perf_counter() - begin)
        true = sd.frame(model, q=run.robot.q, body=body, point=point)[:3, 3]
        ways[body].append(np.linalg.norm(found.position - true))
        errors.append(np.linalg.norm(found.wrench.value - force[3:]))
    for body, own_ways in ways.items():
        print(
            f'1 N across {body}, {len(own_ways)} times: found {1e3 * np.median(own_ways):.0f} mm'
            f' from there (median), {1e3 * np.max(own_ways):.0f} mm at most'
        )
    print(
        f'forces are off by {np.median(errors):.2f} N (median);'
        f' one contact takes {1e3 * np.median(spans):.1f} ms'
    )
