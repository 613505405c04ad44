# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The law `predictive`: how fast it solves, how well a tip follows, and Crocoddyl beside it.

    python benchmarks/predictive.py rate      solutions of a running loop, a robot each
    python benchmarks/predictive.py circle    tip of pcc_arm round a circle of 100 mm in 1 s
    python benchmarks/predictive.py peer      BoxFDDP on the same problem of ur10e
    python benchmarks/predictive.py gap       tip of pcc_arm between two posts, many times
    python benchmarks/predictive.py published motions like those of papers, in a table

Times are of one process; beside them Pinocchio's `computeRNEADerivatives` of the UR10e from Python
on the same machine at the same time, by which they scale (needs `pin`; `peer` needs `crocoddyl`).
"""

import argparse
import sys
import time

import numpy as np
from predictive_gap import CLEARANCE, film_gap, gap_robot, go_through, goal_side, tip_of
from predictive_published import table
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.controllers.predictive.horizon import allocate_horizon, COST, DONE, iterate
from softrobot_dynamics.controllers.predictive.implicit_step import make_step, TOLERANCE
from softrobot_dynamics.controllers.predictive.law import Predictive
from softrobot_dynamics.controllers.predictive.stage_cost import state_cost
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.references.circle import Circle
from softrobot_dynamics.references.led_tips import led_tip_reference
import yaml

sys.path.insert(0, __file__.rpartition('/')[0] + '/performance')

PERIOD, SECONDS = 1e-3, 4.0
CIRCLES = {
    'pcc_arm': Circle(body='segment3', period=1.0),
    'trimmed_helicoid': Circle(body='segment3', center=(0.0, 0.0, 0.24), radius=0.03, period=5.0),
    'ur10e': Circle(body='tip', center=(-0.7, -0.3, 0.5), radius=0.1, period=2.0),
}
LOAD = 0.16  # [kg], a fifth of pcc_arm


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


def run(robot, seconds, plant=None, controlled=None, watch=None, **given):
    """Return (tip errors (T,) [mm] after 1.5 s, greatest command) of a tip led round."""
    model, circle = sd.compile_model(sd.load_robot(robot)), CIRCLES[robot]
    body = body_of(model, circle.body)
    reference = led_tip_reference(model, body, Circle(**{**vars(circle), 'body': body}))
    settings = Predictive.make_settings(model, controlled, tip=body, **given)
    law = Predictive(model, period=PERIOD, controlled=controlled, settings=settings)
    if watch is not None:
        solve = law.planner.solve
        law.planner.solve = lambda request: watch(solve(request))
    u = np.ones(model.m) if robot != 'ur10e' else None
    q = sd.equilibrium(model, u=u).q if robot == 'pcc_arm' else model.q0
    start = sd.Start(q=q, u=u, ramp=1.0)
    found = sd.closed_loop(model, law, reference, seconds, start=start, plant=plant)
    tips = np.array([sd.forward_kinematics(model, q=x) for x in found.q])
    places = tips[:, model.body_names.index(body), :3, 3]
    off = 1e3 * np.linalg.norm(places - circle.targets().points(found.t)[:, 0], axis=1)
    assert found.ok.all()
    return off[found.t > 1.5], float(found.u.max())


def rate(options):
    """Print times of solutions in a running loop."""
    for robot in options.robots:
        seconds = []

        def watch(plan, seconds=seconds):
            seconds.append(plan.seconds)
            return plan

        before = scale()
        off, _ = run(robot, options.seconds, watch=watch)
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


def reach(model, count=20):
    """Return a horizon of ur10e that shall move its tip, torques within limits."""
    p = allocate_horizon(model, count)
    q = model.q0 + np.array([0.0, -1.2, 1.4, -0.5, 0.3, 0.0])
    p.now.x[0, : model.n] = q
    hold = sd.inverse_dynamics(model, q=q, qd=0.0 * q, qdd=0.0 * q)
    p.now.u[:], p.last[:], p.aims.u[:] = hold, hold, hold
    p.limits.lower[:], p.limits.upper[:] = hold - 30.0, hold + 30.0
    p.limits.rate[:] = np.inf
    p.weights.tip[:], p.weights.effort[:], p.weights.change[:] = 1e4, 1e-3, 1e-6
    p.weights.speed[:] = 1e-1
    tip = sd.forward_kinematics(model, q=q)[-1][:3, 3]
    p.aims.tip[:] = tip + np.array([0.05, -0.03, 0.04])
    return p


def peer(options):
    """Print costs and times of Crocoddyl's BoxFDDP and ours on one problem."""
    import crocoddyl

    model, count, h = sd.compile_model(sd.load_robot('ur10e')), 20, 0.01
    n, m = model.n, model.m
    body, size = len(model.body_names) - 1, 2 * n + m
    ours, other = reach(model, count), reach(model, count)
    start = ours.now.x[0].copy(), ours.now.u.copy()
    solve = cached(iterate, p=ours)
    solve(body, h, count, 100, 0.0)
    ours.now.x[0], ours.now.u[:] = start
    ours.known[0] = 0.0
    began = time.perf_counter()
    solve(body, h, count, 100, 1e-9)
    took, iterations = time.perf_counter() - began, int(ours.report[DONE])
    step = cached(make_step, w=other.step, steps=other.steps)
    given = {'weights': other.weights, 'aims': other.aims, 'c': other.costs}
    weigh = cached(state_cost, w=other.step, **given)
    R, C, rest = h * other.weights.effort, other.weights.change / h, other.aims.u

    class Step(crocoddyl.ActionModelAbstract):
        """One of our steps, the command before as a part of the state."""

        def __init__(self, k):
            super().__init__(crocoddyl.StateVector(size), m, 1)
            self.k = k
            if k < count:
                self.u_lb, self.u_ub = other.limits.lower.copy(), other.limits.upper.copy()

        def _go(self, x, u, differentiate):
            k, a, end = self.k, other.steps, np.zeros(2 * n)
            a.A[k] = 0.0
            step(k, np.ascontiguousarray(x[: 2 * n]), u.copy(), h, end, 1, 1, TOLERANCE)
            return end, weigh(body, k, end, h, int(differentiate))

        def calc(self, data, x, u=None):
            """Fill the next state and the cost."""
            if u is None or self.k == count:
                data.cost, data.xnext = 0.0, np.asarray(x)
                return
            end, cost = self._go(x, u, False)
            off, moved = u - rest, u - x[2 * n :]
            data.xnext = np.r_[end, u]
            data.cost = cost + 0.5 * (R * off @ off + C * moved @ moved)

        def calcDiff(self, data, x, u=None):  # noqa: N802
            """Fill the derivatives, Gauss-Newton's for the cost of the state."""
            if u is None or self.k == count:
                data.Lx, data.Lxx = np.zeros(size), np.zeros((size, size))
                return
            self._go(x, u, True)
            k, F = self.k, other.steps.F[self.k]
            A, B = np.zeros((size, size)), np.zeros((size, m))
            A[: 2 * n, : 2 * n] = F[:, : 2 * n]
            B[: 2 * n], B[2 * n :] = F[:, 2 * n :], np.eye(m)
            g, H = other.costs.gradient[k], np.zeros((2 * n, 2 * n))
            H[:n, :n], H[n:, n:] = other.costs.by_qq[k], np.diag(other.costs.by_vv[k])
            A2, B2, moved = A[: 2 * n], B[: 2 * n], u - x[2 * n :]
            data.Fx, data.Fu = A, B
            Lx, Lu = A2.T @ g, B2.T @ g + R * (u - rest) + C * moved
            Lx[2 * n :] -= C * moved
            Lxx, Lxu = A2.T @ H @ A2, A2.T @ H @ B2
            Lxx[2 * n :, 2 * n :] += np.diag(C)
            Lxu[2 * n :] -= np.diag(C)
            data.Lx, data.Lu, data.Lxx, data.Lxu = Lx, Lu, Lxx, Lxu
            data.Luu = B2.T @ H @ B2 + np.diag(R + C)

    models = [Step(k) for k in range(count + 1)]
    first = np.r_[start[0], other.last]
    problem = crocoddyl.ShootingProblem(first, models[:-1], models[-1])
    solver = crocoddyl.SolverBoxFDDP(problem)
    solver.th_stop = 1e-12
    us = [u.copy() for u in start[1]]
    solver.solve(problem.rollout(us), us, 200, False)
    gap = abs(solver.cost / ours.report[COST] - 1.0)
    print(f'ours: cost {ours.report[COST]:.9g} in {iterations} iterations')
    print(f'BoxFDDP: cost {solver.cost:.9g} in {solver.iter}; relative difference {gap:.1e}')
    print(f'our iteration: {took / max(1, iterations) * 1e6:.0f} us; {unit_words(scale())}')


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


def published(options):
    """Print a table of motions like those of published predictive laws."""
    before = scale()
    table()
    print(unit_words(min(before, scale())))


def main():
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n\n')[0])
    parser.add_argument('what', choices=['rate', 'circle', 'peer', 'gap', 'published'])
    parser.add_argument('--robots', nargs='+', default=['pcc_arm', 'ur10e'])
    parser.add_argument('--seconds', type=float, default=SECONDS)
    parser.add_argument('--seeds', type=int, default=100, help='runs through the gap')
    parser.add_argument('--film', help='GIF of one run through the gap, in place of all')
    options = parser.parse_args()
    commands = {'rate': rate, 'circle': circle, 'peer': peer, 'gap': gap, 'published': published}
    commands[options.what](options)


if __name__ == '__main__':
    main()
