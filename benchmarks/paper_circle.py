# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The paper's circle on `trimmed_helicoid`: how far its outputs are from their reference.

Off line, with a plant integrated to a tolerance; or through both nodes over DDS, in which the
simulated robot has a fixed sub-step, whose own error is printed beside. Limits are on; a matched
start sets out on the circle at its speed and tensions, so without limits of their rates.

    python benchmarks/paper_circle.py                  off line, 10 s each
    python benchmarks/paper_circle.py --nodes          over DDS
    options: --gains 10 1 100 20, --starts matched straight, --seconds 10, --substep 5e-4,
             --timing arrival (of commands; or next_period, lockstep), --delay 0 (known to the law)
"""

import argparse
from pathlib import Path
import subprocess
import sys
import tempfile

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.references.tips import tip_path
from softrobot_dynamics.simulation.simulator import Simulator
import yaml

ROBOT, PERIOD, RAMP = 'trimmed_helicoid', 1e-3, 2.0


def parameters():
    """Return the controller's shipped parameters."""
    text = shipped('controllers')[ROBOT].read_text()
    return yaml.safe_load(text)['/**']['controller']['ros__parameters']


def circle(model):
    """Return (reference, first posture (n,) on the circle, its rate (n,))."""
    path = parameters()['reference']['path']
    bodies, times = path['bodies'], path['times']
    points = np.array(path['points']).reshape(len(times), len(bodies), 3)
    reference, postures = tip_path(model, bodies, times, points, periodic=True)
    spacing = times[-1] / (len(postures.q) - 1)
    return reference, postures.q[0], (postures.q[1] - postures.q[-2]) / (2.0 * spacing)


def off_line(model, reference, start, gains, seconds, **plant):
    """Return |y - y_d| (T,) [m], the largest of all outputs in each tick."""
    made = PartialFeedbackLinearization(
        model,
        period=PERIOD,
        settings=PartialFeedbackLinearization.make_settings(model, p=gains[0], d=gains[1]),
    )
    matched = start is not None
    simulator = Simulator(model, **dict(zip(('q', 'qd'), start or ())), **plant)
    made.follow(reference, 0.0, 0.0 if matched else RAMP)
    made.start(simulator.q, simulator.qd, 0.0)
    errors = []
    for k in range(round(seconds / PERIOD)):
        command = made.compute(k * PERIOD, simulator.q, simulator.qd)
        if not command.ok:
            raise SystemExit(f'no command found at {k * PERIOD:.3f} s')
        errors.append(np.abs(command.y - command.desired[0]).max())
        simulator.step(command.u.copy(), PERIOD)
    return np.array(errors)


def through_nodes(model, start, gains, seconds, simulation, delay):
    """Return the same, recorded by the controller node over DDS; ``simulation``: parameters."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        robot = yaml.safe_load(shipped('robots')[ROBOT].read_text())
        given = parameters()
        given |= {'gains': dict(zip('pd', map(float, gains))), 'delay': delay}
        if start:
            pairs = zip(model.coordinate_names, *(each.tolist() for each in start))
            robot['initial'] = {name: [value, rate] for name, value, rate in pairs}
            for actuator in robot['actuators']:  # tensions are there at once, too
                del actuator['rate_limit']
            given['reference']['ramp_time'] = 0.0
        nodes = {'controller': given, 'simulation': {**simulation, 'wait_for_commands': True}}
        nodes = {name: {'ros__parameters': values} for name, values in nodes.items()}
        (folder / 'robot.yaml').write_text(yaml.safe_dump(robot))
        (folder / 'nodes.yaml').write_text(yaml.safe_dump({'/**': nodes}))
        command = ['--robot', 'robot.yaml', '--controller', 'nodes.yaml', '--no-plot']
        subprocess.run(
            [sys.executable, '-m', 'softrobot_dynamics.cli', 'demo', *command]
            + ['--duration', str(seconds), '--out', 'run'],
            cwd=folder,
            check=False,  # what it says of the run is printed; here the errors count
        )
        record = sd.read_recording(folder / 'run' / 'controller.mcap')
        return np.abs(record['y'] - record['y_d']).max(axis=1)


def main():
    """Print a line for each start and pair of gains."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--nodes', action='store_true')
    parser.add_argument('--gains', type=float, nargs='+', default=[10.0, 1.0, 100.0, 20.0])
    parser.add_argument('--starts', nargs='+', default=['matched', 'straight'])
    parser.add_argument('--seconds', type=float, default=10.0)
    parser.add_argument('--substep', type=float, default=5e-4)
    parser.add_argument('--timing', default='arrival')
    parser.add_argument('--delay', type=float, default=0.0)
    options = parser.parse_args()
    model = sd.compile_model(sd.load_robot(ROBOT))
    reference, *state = circle(model)
    for gains in zip(options.gains[::2], options.gains[1::2]):
        for name in options.starts:
            start = state if name == 'matched' else None
            exact = off_line(model, reference, start, gains, options.seconds, tolerance=1e-6)
            report(gains, name, 'off line', exact)
            if options.nodes:
                steps = {'substep': options.substep}
                own = off_line(model, reference, start, gains, options.seconds, **steps)
                report(gains, name, f'sub-step {options.substep:g} s', own)
                given = {**steps, 'command_timing': options.timing}
                over = through_nodes(model, start, gains, options.seconds, given, options.delay)
                report(gains, name, f'over DDS, {options.timing}', over)


def report(gains, start, how, errors):
    """Print the largest errors of a run [mm]."""
    half = errors[len(errors) // 2 :].max()
    print(
        f'({gains[0]:g}, {gains[1]:g}) {start:8s} {how:22s}'
        f' {1e3 * np.nanmax(errors):7.3f} mm, in the second half {1e3 * np.nanmax(half):7.3f} mm',
        flush=True,
    )


if __name__ == '__main__':
    main()
