# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The law `task`: its time, its agreement with a peer, and its distances from obstacles.

    python benchmarks/task_law.py tick [ROBOT ...]          a tick beside one of pfbl
    python benchmarks/task_law.py pink [STATES]             beside Pink on ur10e (extra bench)
    python benchmarks/task_law.py obstacles [RUNS] [COUNT ...] [--record FILE] [--part K/N]

The last are seeded runs of pcc_arm among so many obstacles. With a file, runs go into it one by
one, and those that are in it are not repeated; a part is every N-th seed from the K-th on, for
processes beside each other.

Times are of one thread, in turns with pfbl, in microseconds; those of the processor leave out what
other programs of the machine took.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.tasks.solver.hierarchy import solve_hierarchy
from softrobot_dynamics.controllers.tasks.solver.workspace import allocate_hierarchy
from softrobot_dynamics.model.contacts import contact_of
from softrobot_dynamics.recursion.contact_kinematics import find_contacts
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.references.tip_commands import TipTarget

PERIOD, TICKS, CLEARANCE = 1e-3, 20_000, 2e-3


def law(model, kind, **given):
    """Return a law for a model, with parameters."""
    cls = CONTROLLERS.get(kind)
    return cls(model, period=PERIOD, settings=cls.make_settings(model, None, **given))


def spheres(count, rng):
    """Return surroundings of small spheres beside the arm pcc_arm."""
    found = []
    while len(found) < count:
        place = np.append(rng.uniform(-0.2, 0.2, 2), rng.uniform(0.3, 0.6))
        if np.hypot(*place[:2]) > 0.08 and all(
            np.linalg.norm(place - other['centre']) > 0.06 for other in found
        ):
            name = f'sphere{len(found)}'
            shape = {'name': name, 'type': 'sphere', 'radius': 0.025}
            found.append({**shape, 'centre': place.tolist()})
    return {'environment': found}


def among(count, seed):
    """Return the model of pcc_arm among obstacles, of which its rods know."""
    return sd.compile_model(sd.surround(with_rods(), spheres(count, np.random.default_rng(seed))))


def with_rods():
    """Return the description of pcc_arm with collision shapes."""
    from softrobot_dynamics.description.shipped import shipped
    import yaml

    data = yaml.safe_load(shipped('robots')['pcc_arm'].read_text())
    for body in data['bodies']:
        body['collision'] = {'type': 'rod'}
    return sd.load_robot(data)


class Gaps:
    """The least distance between surfaces of a model."""

    def __init__(self, model):
        self._evaluate = model.evaluator()
        plan = model.contact_plan._replace(detection_distance=10.0)
        self._contact = contact_of(model, self._evaluate.robot, plan)
        self._find = cached(find_contacts, contact=self._contact)

    def __call__(self, q, qd):
        """Return it [m]."""
        self._evaluate(q, qd)
        self._find(q, qd)
        return float(self._contact.gap.min())


def run(count, seed, duration=2.5):
    """Lead the tip through random targets; return (least gap, off limits, off speed, reached)."""
    model, rng = among(count, seed), np.random.default_rng([seed, 1])
    plant = sd.Simulator(sd.compile_model(sd.load_robot('pcc_arm')))
    gaps = Gaps(model)
    tip_speed = 0.4
    made = law(
        model,
        'task',
        **{'distances.clearance': CLEARANCE, 'tip_speed.most': tip_speed, 'momentum.level': 3},
    )
    zero = np.zeros(model.n)
    made.follow(constant(made.outputs(plant.q, zero)[0]), 0.0, 0.0)
    made.start(plant.q, zero, 0.0, np.zeros(model.m))
    least, beyond, fastest, failed = np.inf, 0.0, 0.0, 0
    u = np.zeros(model.m)
    for k in range(round(duration / PERIOD)):
        q, qd = plant.q.copy(), plant.qd.copy()
        if k % 500 == 0:
            goal = np.append(rng.uniform(-0.15, 0.15, 2), rng.uniform(0.5, 0.6))
            made.lead(TipTarget('', goal, None, 0.1, 0.4), k * PERIOD)
        command = made.compute(k * PERIOD, q, qd)
        failed += not command.ok
        step = np.abs(command.u - u) - model.rate_limit * PERIOD * (1.0 + 1e-9)
        beyond = max(beyond, *(model.lower - command.u), *(command.u - model.upper), *step)
        u = command.u.copy()
        least = min(least, gaps(q, qd))
        plant.step(u, PERIOD)
        speed = sd.jacobian(model, q=plant.q, frame='base')[3:] @ plant.qd
        fastest = max(fastest, float(np.linalg.norm(speed)))
    return least - CLEARANCE, beyond, fastest - tip_speed, failed


def obstacles(*arguments):
    """Print by how much barriers and limits were crossed, over seeded runs."""
    parser = argparse.ArgumentParser(prog='task_law.py obstacles')
    parser.add_argument('runs', type=int, nargs='?', default=100)
    parser.add_argument('counts', type=int, nargs='*', default=(2, 5, 10))
    parser.add_argument('--record', type=pathlib.Path)
    parser.add_argument('--part', default='1/1')
    given = parser.parse_args(map(str, arguments))
    first, parts = map(int, given.part.split('/'))
    known = {}
    if given.record and given.record.exists():
        for line in given.record.read_text().splitlines():
            count, seed, *numbers = map(float, line.split())
            known[int(count), int(seed)] = numbers
    for count in given.counts:
        found = []
        for seed in range(first - 1, given.runs, parts):
            if (count, seed) not in known:
                known[count, seed] = run(count, seed)
                if given.record:
                    with given.record.open('a') as file:
                        print(count, seed, *map(float, known[count, seed]), file=file)
            found.append(known[count, seed])
        found, runs = np.array(found), len(found)
        crossed = -1e3 * np.minimum(found[:, 0], 0.0)
        print(
            f'{count} obstacles, {runs} runs: barrier crossed by {crossed.max():.3f} mm at most,'
            f' in {(crossed > 0.1).sum()} runs by more than 0.1 mm; commands beyond limits'
            f' {found[:, 1].max():.2g}; tip faster than its bound by {found[:, 2].max():.2g} m/s;'
            f' {int(found[:, 3].sum())} ticks without an answer',
            flush=True,
        )


def tick(*names):
    """Print times of a tick, with all kinds of tasks and, for pcc_arm, five obstacles."""
    for name in names or ('pcc_arm', 'ur10e', 'trimmed_helicoid'):
        model = among(5, 0) if name == 'pcc_arm' else sd.compile_model(sd.load_robot(name))
        levels = {'posture.level': 3, 'momentum.level': 4, 'tip_speed.most': 1.0}
        laws = {'pfbl': law(model, 'pfbl'), 'task': law(model, 'task', **levels)}
        q = model.q0.copy()
        rest = np.zeros(model.n)
        for made in laws.values():
            made.follow(constant(made.outputs(q, rest)[0]), 0.0, 0.0)
            made.start(q, rest, 0.0)
        tip = sd.forward_kinematics(model, q=q)[-1]
        rng = np.random.default_rng(0)
        times, busy = {kind: [] for kind in laws}, {kind: [] for kind in laws}
        for k in range(TICKS):
            qd = 0.1 * rng.standard_normal(model.n) * model.scales.units
            if k % 500 == 0:
                goal = tip[:3, 3] + rng.uniform(-0.05, 0.05, 3)
                laws['task'].lead(TipTarget('', goal, tip[:3, :3], 0.1, 1.0), k * PERIOD)
            for kind, made in laws.items():
                begun, before = time.perf_counter(), time.thread_time()
                made.compute(k * PERIOD, q, qd)
                busy[kind].append(time.thread_time() - before)
                times[kind].append(time.perf_counter() - begun)
        processor = [np.quantile(busy[kind], 0.99) for kind in ('task', 'pfbl')]
        own, other = (1e6 * np.array(times[kind]) for kind in ('task', 'pfbl'))
        print(
            f'{name}: task p50 {np.median(own):.1f}, p99 {np.quantile(own, 0.99):.1f};'
            f' pfbl p50 {np.median(other):.1f}, p99 {np.quantile(other, 0.99):.1f};'
            f' ratio of medians {np.median(own) / np.median(other):.2f}; p99 of the processor'
            f' {1e6 * processor[0]:.1f}, {1e6 * processor[1]:.1f}',
            flush=True,
        )


def pink(states=100):
    """
    Print the greatest difference of rates from those of Pink, for the same tasks on ur10e.

    Pink's differential inverse kinematics asks for J v T = gain error of tip and posture, by
    costs. Here v(T) are the unknowns of the same rows, weights and limits of the speeds.
    """
    from pink import Configuration, solve_ik
    from pink.limits import VelocityLimit
    from pink.tasks import FrameTask, PostureTask
    import pinocchio as pin

    robot = pinocchio_model(sd.load_robot('ur10e'))
    model = sd.compile_model(sd.load_robot('ur10e'))
    tip, rng, period, worst, active = model.body_names[-1], np.random.default_rng(0), 0.01, 0.0, 0
    problem = allocate_hierarchy(6, 12, 6)
    problem.level[:], problem.C[:] = 1, np.eye(6)
    solve, v, iterations = cached(solve_hierarchy, p=problem), np.zeros(6), np.zeros(1)
    for _ in range(states):
        q = rng.uniform(-2.0, 2.0, 6)
        goal = sd.forward_kinematics(model, q=q + rng.uniform(-0.2, 0.2, 6))[-1]
        frame = FrameTask('tip', position_cost=1.0, orientation_cost=0.5, gain=0.4)
        frame.set_target(pin.SE3(goal))
        posture = PostureTask(cost=1e-2, gain=0.4)
        posture.set_target(np.zeros(6))
        place = Configuration(robot, robot.createData(), q)
        theirs = solve_ik(
            place,
            [frame, posture],
            period,
            solver='daqp',
            damping=0.0,
            limits=[VelocityLimit(robot)],
            safety_break=False,
        )
        J = sd.jacobian(model, q=q, body=tip)  # in the tip's axes, as theirs
        T = sd.forward_kinematics(model, q=q)[-1]
        error = pin.log(pin.SE3(np.linalg.inv(T) @ goal)).vector
        turn = pin.Jlog6(pin.SE3(np.linalg.inv(goal) @ T))
        own = -np.vstack([J[3:], J[:3]])
        weights = np.repeat([1.0, 0.5], 3)
        problem.A[:6] = weights[:, None] * (turn @ own) * -period
        problem.b[:6] = weights * 0.4 * error
        problem.A[6:], problem.b[6:] = 1e-2 * np.eye(6) * period, -1e-2 * 0.4 * q
        problem.lower[:], problem.upper[:] = -model.qd_limit, model.qd_limit
        solve(v, iterations)
        active += iterations[0] > 0
        worst = max(worst, float(np.abs(v - theirs).max()))
    print(f'{states} states, {active} at limits: rates differ by {worst:.1e} rad/s at most')


def pinocchio_model(description):
    """Return Pinocchio's model of ur10e by its Denavit-Hartenberg rows, with a frame `tip`."""
    import pinocchio as pin

    robot, parent, before = pin.Model(), 0, pin.SE3.Identity()
    for module in description.modules:
        joint = module.joint
        index = robot.addJoint(parent, pin.JointModelRZ(), before, module.name)
        alpha, a, d, theta = joint.dh
        across = pin.SE3(pin.rpy.rpyToMatrix(alpha, 0.0, 0.0), np.array([a, 0.0, d]))
        assert theta == 0.0
        before, parent = across, index
        robot.velocityLimit[index - 1] = joint.limits.velocity
    robot.addFrame(pin.Frame('tip', parent, 0, before, pin.FrameType.OP_FRAME))
    return robot


def main():
    """Run what the command line says."""
    modes = {'tick': tick, 'pink': pink, 'obstacles': obstacles}
    mode, *others = sys.argv[1:] or ['tick']
    if mode not in modes:
        print(__doc__.strip())
        sys.exit(mode not in ('-h', '--help'))
    modes[mode](*(int(x) if x.isdigit() else x for x in others))


if __name__ == '__main__':
    main()
