# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The law `task` with its defaults on shipped robots: how fast they get, also where limits are met.

    python benchmarks/task_bounded.py [ROBOT ...] [--seconds 20] [--case CASE ...]
        [--outputs-level 1] [--seeds 1] [--rate 1000] [--delay 0]

Each follows the reference of its shipped controller, its tip the circle in it; hybrid_arm, whose
controller has phases, stays. Cases: `own`; `halved`, limits of commands and of their rates;
`heavier`, a plant of 1.2 times the mass; `pushed`, half its weight sideways at the tip from 5 to
5.2 s; `beyond`, a live target half the robot's length off along all axes, from 1 s on; `random`,
an order every 2 s for each seed: a target up to that far along each axis, the same with random
axes of the tip, or a twist of up to half its length and 3 rad a second; `shell`, from rest at the
robot's initial posture, targets half its length off along 0, 1, or -1 times each axis, 26 in all,
at the speed and within the time that are the nodes' defaults, 4 s each; one line for all.

Speeds are in units of the coordinates (rad, or lengths of the part) per second, kinetic energy
beside that of the whole mass at its length in 1 s, both the greatest of the run.
``--outputs-level`` sets `task.outputs.level`; commands act a ``--delay`` [s] after the state that
they answer, of which the law is not told.
"""

import argparse
import itertools
import pathlib
import tempfile

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.configuration.build import law_of, reference_of
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.configuration.parts import RAMP_TIME
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.references.piecewise import sample
from softrobot_dynamics.references.rotations import turned
from softrobot_dynamics.references.tip_commands import TipPathReference, TipTarget, TipTwist
import yaml

CASES = 'own', 'halved', 'heavier', 'pushed', 'beyond', 'random', 'shell'
LED = 'beyond', 'random', 'shell'  # by messages
WAYS = [way for way in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(way)]  # of `shell`
AFTER = 4.0  # [s] that a way takes there, after one of rest
EVERY = 2.0  # [s] from a random order to the next; none in the last two of them
SETTLED = 2.0  # [s] at the end, whose speeds are shown apart


def parameters_of(description, name, rests=False, outputs_level=None):
    """Return the controller's parameters: the law `task`, and the shipped reference."""
    text = pathlib.Path(shipped('controllers')[name]).read_text(encoding='utf-8')
    given = yaml.safe_load(text)['/**']['controller']['ros__parameters']
    reference = {} if rests else given.get('reference', {})
    chosen = {'controller': 'task', 'reference': reference or {'type': 'hold'}}
    body = given.get('reference', {}).get('circle', {}).get('body')
    if body in {m.name for m in description.modules}:  # else it is the last one's
        chosen['task'] = {'position': {'body': body}}
    if outputs_level is not None:
        chosen.setdefault('task', {})['outputs'] = {'level': outputs_level}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'task.yaml'
        file.write_text(yaml.safe_dump({'/**': {'controller': {'ros__parameters': chosen}}}))
        values, unknown = controller_values(description, [file])
    assert not unknown, unknown
    return values


def heavier(description):
    """Return the description with 1.2 times the mass."""
    for field in ('density', 'mass'):
        try:
            description = sd.vary(description, {field: '×1.2'})
        except sd.SoftRobotError:  # it has no such number
            continue
    return description


def orders_of(model, case, tip, seconds, seed):
    """Return (time [s], order) of a case for the tip of a body, by its index."""
    pose, length = sd.forward_kinematics(model, q=model.q0)[tip], model.scales.length
    if case == 'shell':
        goal = pose[:3, 3] + 0.5 * length * np.array(WAYS[seed])
        return [(1.0, TipTarget('', goal, None, 0.1, 0.5))]
    if case == 'beyond':
        return [(1.0, TipTarget('', pose[:3, 3] + 0.5 * length, None, 0.5, length))]
    rng, found = np.random.default_rng(seed), []
    for t in np.arange(1.0, seconds - 2.0 * EVERY, EVERY):
        way, turn = 0.5 * length * rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.5, 1.5, 3)
        kind = rng.integers(3)
        if kind == 2:
            found.append((t, TipTwist('', way, 2.0 * turn, EVERY)))
        else:
            axes = turned(pose[:3, :3], turn) if kind == 1 else None
            found.append((t, TipTarget('', pose[:3, 3] + way, axes, 0.5, length)))
    return found


def lead(law, orders):
    """Have a law lead its tip by (time [s], order)."""
    answer, left = law.compute, list(orders)

    def compute(t, q, qd):
        """Answer, after the orders whose time has come."""
        while left and t >= left[0][0]:
            law.lead(left.pop(0)[1], t)
        return answer(t, q, qd)

    law.compute = compute


def run(name, case, seed, options):
    """Return (greatest speed, that of the end, greatest energy, RMS error of the tip [m])."""
    description = sd.load_robot(name)
    model = sd.compile_model(description)
    seconds = 1.0 + AFTER if case == 'shell' else options.seconds
    values = parameters_of(description, name, case == 'shell', options.outputs_level)
    values['rate'] = options.rate
    law = law_of(model, values)
    if case == 'halved':
        s = law.settings
        law.settings = s.replace(lower=0.5 * s.lower, upper=0.5 * s.upper, rate=0.5 * s.rate)
    reference = reference_of(law, values, model.q0)
    tip, scales = model.body_names.index(law.controlled_tip), model.scales
    mass = float(scales.carried.max())
    plant = sd.compile_model(heavier(description)) if case == 'heavier' else model
    push = {law.controlled_tip: sd.Wrench([0.0, 0.0, 0.0, 4.9 * mass, 0.0, 0.0], frame='base')}
    given = {'delay': options.delay}
    if case == 'pushed':
        given['wrenches'] = lambda t: push if 5.0 <= t < 5.2 else None
    if case in LED:
        lead(law, orders_of(model, case, tip, seconds, seed))
    start = sd.Start(ramp=values[RAMP_TIME])
    found = sd.closed_loop(
        model, law, reference, seconds, start=start, plant=sd.Plant(plant, **given),
        progress=lambda *_: None,
    )  # fmt: skip
    speed = np.abs(found.qd / scales.units).max(axis=1)
    evaluate, energy, errors, point = model.evaluator(), 0.0, [np.nan], np.zeros((3, 3))
    for k in range(0, len(found.t), 10):
        M = evaluate(found.q[k], found.qd[k]).M
        energy = max(energy, float(found.qd[k] @ M @ found.qd[k]))
        late = found.t[k] > seconds / 2 and case not in LED
        if late and isinstance(reference, TipPathReference):
            cached(sample)(reference.path, float(found.t[k]), point)
            at = sd.forward_kinematics(plant, q=found.q[k])[tip][:3, 3]
            errors.append(np.linalg.norm(at - point[0]))
    end = speed[found.t > seconds - SETTLED].max()
    rms = np.sqrt(np.mean(np.square(errors[1:]))) if errors[1:] else np.nan
    return speed.max(), end, energy / (mass * scales.length**2), rms


def show_shell(name, options):
    """Print a line of all ways of `shell`, but those that raise an error."""
    found, errors = [], []
    for i in range(len(WAYS)):
        try:
            found.append(run(name, 'shell', i, options)[:2])
        except sd.SoftRobotError as error:
            errors.append(f'{WAYS[i]} {type(error).__name__}: {error}')
    top, end = np.array(found).reshape(-1, 2).T
    if len(found):
        print(
            f'{name:18s} shell    speed, median {np.median(top):.3g}, greatest {top.max():.3g};'
            f' at the end {np.median(end):.3g}, {end.max():.3g}; {len(found)} ways',
            flush=True,
        )
    for told in errors:
        print(f'{name:18s} shell    {told}', flush=True)


def main():
    """Print a line for each robot and case."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('robots', nargs='*', default=sorted(shipped('controllers')))
    parser.add_argument('--seconds', type=float, default=20.0, help='[s]')
    parser.add_argument('--case', nargs='*', choices=CASES, default=CASES)
    parser.add_argument('--outputs-level', type=int, help='default: that of the law')
    parser.add_argument('--seeds', type=int, default=1, help='of the case random')
    parser.add_argument('--rate', type=float, default=1000.0, help='[Hz]')
    parser.add_argument('--delay', type=float, default=0.0, help='[s]')
    options = parser.parse_args()
    for name in options.robots:
        for case in options.case:
            if case == 'shell':
                show_shell(name, options)
                continue
            for seed in range(options.seeds if case == 'random' else 1):
                told = f'{name:18s} {case:8s} {seed}'
                try:
                    found = run(name, case, seed, options)
                except sd.SoftRobotError as error:
                    print(f'{told} {type(error).__name__}: {error}', flush=True)
                    continue
                top, end, energy, rms = found
                print(
                    f'{told} speed {top:8.3g}, at the end {end:8.3g}; energy {energy:8.3g};'
                    f' tip {1e3 * rms:8.3g} mm',
                    flush=True,
                )


if __name__ == '__main__':
    main()
