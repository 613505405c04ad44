# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The law `predictive`: how fast it solves, how well a tip follows, and Crocoddyl beside it.

    python benchmarks/predictive.py rate      solutions of a running loop, a robot each
    python benchmarks/predictive.py circle    tip of pcc_arm round a circle of 100 mm in 1 s
    python benchmarks/predictive.py dds       the same between two nodes, over DDS
    python benchmarks/predictive.py peer      Crocoddyl's BoxFDDP on ur10e, if it is installed
    python benchmarks/predictive.py gap       tip of pcc_arm between two posts, many times
    python benchmarks/predictive.py wall      tip of pcc_arm along a wall, at a bounded force
    python benchmarks/predictive.py wall-dds  the same between two nodes, again and again
    python benchmarks/predictive.py published motions like those of papers, in a table
    python benchmarks/predictive.py robots    every shipped robot by the defaults, in a table

Times are those of the processor, of one process; beside them Pinocchio's `computeRNEADerivatives`
of the UR10e from Python on the same machine at the same time, by which they scale (needs `pin`).
"""

import argparse
import sys
import time

import numpy as np
from predictive_dds import LOAD, over_dds, wall_over_dds
from predictive_gap import CLEARANCE, film_gap, gap_robot, go_through, goal_side, tip_of
from predictive_peer import compare
from predictive_published import processor_times, table
from predictive_robots import print_robots
from predictive_wall import along_wall
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.law import Predictive
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.references.circle import Circle
from softrobot_dynamics.references.tip_commands import tip_path_reference
import yaml

sys.path.insert(0, __file__.rpartition('/')[0] + '/performance')

PERIOD, SECONDS = 1e-3, 4.0
CIRCLES = {
    'pcc_arm': Circle(body='segment3', period=1.0),
    'trimmed_helicoid': Circle(body='segment3', center=(0.0, 0.0, 0.24), radius=0.03, period=5.0),
    'ur10e': Circle(body='tip', center=(-0.7, -0.3, 0.5), radius=0.1, period=2.0),
}


def scale():
    """Return the processor time [us] of Pinocchio's computeRNEADerivatives of the UR10e."""
    import pinocchio
    from pinocchio_chain import pinocchio_model

    model = pinocchio_model(sd.compile_model(sd.load_robot('ur10e')))
    data, (q, v, a) = model.createData(), np.random.default_rng(0).normal(size=(3, 6))
    times = []
    for _ in range(20):
        began = time.thread_time()
        for _ in range(1000):
            pinocchio.computeRNEADerivatives(model, data, q, v, a)
        times.append((time.thread_time() - began) * 1e3)
    return float(np.median(times))


def unit_words(unit):
    """Return the time [us] that others scale by, in words."""
    return f'computeRNEADerivatives {unit:.2f} us'


def body_of(model, name):
    """Return a body's name, the last one's for `tip`."""
    return name if name in model.body_names else model.body_names[-1]


def run(robot, duration, plant=None, controlled=None, seconds=None, **given):
    """
    Return (tip errors (T,) [mm] after 1.5 s, greatest command) of a tip led round.

    To the list ``seconds`` the processor time of each solution is added.
    """
    model, circle = sd.compile_model(sd.load_robot(robot)), CIRCLES[robot]
    body = body_of(model, circle.body)
    reference = tip_path_reference(model, body, Circle(**{**vars(circle), 'body': body}))
    settings = Predictive.make_settings(model, controlled, tip=body, **given)
    law = Predictive(model, period=PERIOD, controlled=controlled, settings=settings)
    if seconds is not None:
        processor_times(law, seconds)
    u = np.ones(model.m) if robot != 'ur10e' else None
    q = sd.equilibrium(model, u=u).q if robot == 'pcc_arm' else model.q0
    start = sd.Start(q=q, u=u, ramp=1.0)
    found = sd.closed_loop(model, law, reference, duration, start=start, plant=plant)
    tips = np.array([sd.forward_kinematics(model, q=x) for x in found.q])
    places = tips[:, model.body_names.index(body), :3, 3]
    off = 1e3 * np.linalg.norm(places - circle.targets().points(found.t)[:, 0], axis=1)
    assert found.ok.all()
    return off[found.t > 1.5], float(found.u.max())


def rate(options):
    """Print times of solutions in a running loop."""
    for robot in options.robots or ('pcc_arm', 'ur10e'):
        seconds, before = [], scale()
        off, _ = run(robot, options.seconds, seconds=seconds)
        us, p99 = np.median(seconds[5:]) * 1e6, np.percentile(seconds[5:], 99) * 1e6
        unit = min(before, scale())
        print(
            f'{robot}: p50 {us:.0f} us, p99 {p99:.0f} us, {1e6 / us:.0f} Hz; tip'
            f' {np.sqrt((off**2).mean()):.3f} mm RMS; {unit_words(unit)}:'
            f' where it is 2.4 us, {1e6 / us * unit / 2.4:.0f} Hz'
        )


def off_model():
    """Return pcc_arm a fifth heavier and stiffer, with a fifth of its mass at the tip."""
    robot = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    load = {'type': 'rigid', 'mass': LOAD, 'com': [0.0, 0.0, 0.0]}
    robot['bodies'].append({'name': 'load', 'joint': {'type': 'fixed'}, 'body': load})
    changes = {'density': '×1.2', 'young_modulus': '×1.2'}
    return sd.compile_model(sd.vary(sd.load_robot(robot), changes))


def circle(options):
    """Print tip errors on the circle."""
    names = sd.load_robot('pcc_arm').actuator_names[-3:]
    cases = {
        '9 tendons': {},
        'the three distal ones, the others hold 1 N': {
            'controlled': names,
            'feed_forward': np.ones(9),
        },
        'mass and stiffness 20 % off, a load of a fifth': {'plant': off_model()},
    }
    for words, given in cases.items():
        off, u = run('pcc_arm', options.seconds, **given)
        rms = np.sqrt((off**2).mean())
        print(f'{words}: tip {rms:.3f} mm RMS, {off.max():.3f} most; tensions to {u:.1f} N')


def gap(options):
    """Print how often the arm touches a post, with the clearance and without."""
    model = sd.compile_model(gap_robot())
    if options.film:
        film_gap(model, options.film)
        return
    for words, clearance in ((f'{1e3 * CLEARANCE:g} mm kept', CLEARANCE), ('none kept', np.nan)):
        least, off = [], []
        for seed in range(options.seeds):
            found, goal, gaps = go_through(model, seed, clearance)
            assert found.ok.all() and goal_side(model, found), f'seed {seed}'
            least.append(1e3 * gaps.min())
            off.append(1e3 * np.linalg.norm(tip_of(model, found.q[-1]) - goal))
        touches = int((np.array(least) <= 0.0).sum())
        print(
            f'{words}: {options.seeds} seeds, {touches} touch; smallest gap {min(least):.3f} mm;'
            f' goal missed by {np.median(off):.2f} mm, at most {max(off):.2f} mm',
            flush=True,
        )


def dds(options):
    """Print tip errors on the circle over DDS."""
    over_dds(options)


def published(options):
    """Print a table of motions like those of published predictive laws."""
    before = scale()
    table()
    print(unit_words(min(before, scale())))


def robots(options):
    """Print whether robots follow by the defaults, and the time of their solutions."""
    before = scale()
    print_robots(options.robots or sorted(shipped('controllers')), options.seconds)
    print(unit_words(min(before, scale())))


def main():
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    names = ['rate', 'circle', 'dds', 'peer', 'gap', 'wall', 'wall-dds', 'published', 'robots']
    parser.add_argument('what', choices=names)
    parser.add_argument('--robots', nargs='+', help='default: pcc_arm, ur10e; all')
    parser.add_argument('--seconds', type=float, default=SECONDS)
    parser.add_argument('--loop-rate', type=int, default=500, help='of the nodes [Hz]')
    parser.add_argument('--real-time-factor', type=float, default=1.0, help='of the simulation')
    parser.add_argument('--priority', type=int, default=50, help='FIFO of the nodes, 0 for none')
    parser.add_argument('--jobs', type=int, default=0, help='busy processes beside the nodes')
    parser.add_argument('--seeds', type=int, default=100, help='runs through the gap')
    parser.add_argument('--film', help='GIF of one run through the gap, in place of all')
    options = parser.parse_args()
    commands = {'rate': rate, 'circle': circle, 'peer': lambda _: compare()}
    commands |= {'wall': lambda _: along_wall(), 'wall-dds': wall_over_dds}
    commands |= {'gap': gap, 'published': published, 'dds': dds, 'robots': robots}
    commands[options.what](options)


if __name__ == '__main__':
    main()
