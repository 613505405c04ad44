# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Crocoddyl's BoxFDDP beside the optimisation of the law `predictive`, on one problem of ur10e.

First with our steps in its nodes, the command before as a part of the state. Then both on
Crocoddyl's own steps (Euler, compiled, on Pinocchio's model; ours in
:mod:`predictive_euler`), without costs of changes of the command: the same problem, in turns in
time. Costs must be the same to 1e-6. Beside these, the problem with steps of second order: our
implicit ones, and Crocoddyl's of Runge and Kutta. Horizon, knots, costs, limits, start and end (a
relative residual of 1e-9) are the same; one thread.

`crocoddyl` 3.2 crashes beside a `pin` other than that which it was built with, so it needs an
environment of its own: `pip install . crocoddyl==3.2.1 pin==4.0.0`.
"""

import time

import numpy as np
from predictive_euler import euler_iteration
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.horizon import allocate_horizon, COST, DONE, FIRST
from softrobot_dynamics.controllers.predictive.implicit_step import NEWTON_TOLERANCE, single_step
from softrobot_dynamics.controllers.predictive.iteration import iteration
from softrobot_dynamics.controllers.predictive.stage_cost import single_cost

COUNT, STEP, SPAN = 20, 0.01, 30.0  # knots; [s] of each; [N m] of commands about those that hold
TIP, SPEED, EFFORT, CHANGE = 1e4, 1e-1, 1e-3, 1e-6  # weights
ENOUGH, MOST, RUNS = 1e-9, 200, 30


class Problem:
    """
    The arm that shall move its tip by 70 mm, and our optimisation of it.

    With ``euler``, on Euler's steps, and changes of the command cost nothing.
    """

    def __init__(self, euler=False):
        self.model = sd.compile_model(sd.load_robot('ur10e'))
        self.n, self.body = self.model.n, len(self.model.body_names) - 1
        self.q = self.model.q0 + np.array([0.0, -1.2, 1.4, -0.5, 0.3, 0.0])
        zero = np.zeros(self.n)
        self.hold = sd.inverse_dynamics(self.model, q=self.q, qd=zero, qdd=zero)
        self.tip = sd.forward_kinematics(self.model, q=self.q)[-1][:3, 3]
        self.goal = self.tip + np.array([0.05, -0.03, 0.04])
        self.horizon = p = allocate_horizon(self.model, COUNT)
        p.last[:], p.aims.u[:] = self.hold, self.hold
        p.limits.lower[:], p.limits.upper[:] = self.hold - SPAN, self.hold + SPAN
        p.limits.rate[:] = np.inf
        p.weights.tip[:], p.weights.speed[:] = TIP, SPEED
        p.weights.effort[:], p.weights.change[:] = EFFORT, 0.0 if euler else CHANGE
        p.aims.tip[:] = self.goal
        self._solve = euler_iteration(self.model, p) if euler else iteration(p)

    def solve(self):
        """Return (processor time [s], iterations, cost) from the start."""
        p = self.horizon
        p.now.x[0], p.now.u[:] = np.r_[self.q, np.zeros(self.n)], self.hold
        p.now.A[:], p.derivative_age[:], p.report[:] = 0.0, 0.0, 0.0
        p.report[FIRST] = 1.0  # as a law begins: the whole move
        began = time.thread_time()
        self._solve(self.body, STEP, COUNT, MOST, ENOUGH)
        return time.thread_time() - began, int(p.report[DONE]), float(p.report[COST])


def with_our_steps(ours):
    """Return Crocoddyl's problem with our steps and costs in its nodes."""
    import crocoddyl

    p, n, m = ours.horizon, ours.n, ours.model.m
    size, own = 2 * n + m, allocate_horizon(ours.model, COUNT)
    for source, target in ((p.weights, own.weights), (p.aims, own.aims)):
        for one, other in zip(source, target):
            other[:] = one
    step = single_step(own.step, own.steps)
    weigh = single_cost(own.step, own.weights, own.aims, own.costs)
    effort, change = STEP * p.weights.effort, p.weights.change / STEP

    class Step(crocoddyl.ActionModelAbstract):
        """One of our steps, the command before as a part of the state."""

        def __init__(self, k):
            super().__init__(crocoddyl.StateVector(size), m, 1)
            self.k = k
            if k < COUNT:
                self.u_lb, self.u_ub = p.limits.lower.copy(), p.limits.upper.copy()

        def _go(self, x, u, differentiate):
            own.steps.A[self.k], end = 0.0, np.zeros(2 * n)
            start = np.ascontiguousarray(x[: 2 * n])
            step(self.k, start, u.copy(), STEP, end, 1, 1, NEWTON_TOLERANCE)
            return end, weigh(ours.body, self.k, end, STEP, int(differentiate))

        def calc(self, data, x, u=None):
            """Fill the next state and the cost."""
            if u is None or self.k == COUNT:
                data.cost, data.xnext = 0.0, np.asarray(x)
                return
            end, cost = self._go(x, u, False)
            off, moved = u - ours.hold, u - x[2 * n :]
            data.xnext = np.r_[end, u]
            data.cost = cost + 0.5 * (effort * off @ off + change * moved @ moved)

        def calcDiff(self, data, x, u=None):  # noqa: N802
            """Fill the derivatives, Gauss-Newton's for the cost of the state."""
            if u is None or self.k == COUNT:
                data.Lx, data.Lxx = np.zeros(size), np.zeros((size, size))
                return
            self._go(x, u, True)
            F, costs = own.steps.F[self.k], own.costs
            A, B = np.zeros((size, size)), np.zeros((size, m))
            A[: 2 * n, : 2 * n] = F[:, : 2 * n]
            B[: 2 * n], B[2 * n :] = F[:, 2 * n :], np.eye(m)
            g, H = costs.gradient[self.k], np.zeros((2 * n, 2 * n))
            H[:n, :n], H[n:, n:] = costs.by_qq[self.k], np.diag(costs.by_vv[self.k])
            A2, B2, moved = A[: 2 * n], B[: 2 * n], u - x[2 * n :]
            data.Fx, data.Fu = A, B
            Lx, Lu = A2.T @ g, B2.T @ g + effort * (u - ours.hold) + change * moved
            Lx[2 * n :] -= change * moved
            Lxx, Lxu = A2.T @ H @ A2, A2.T @ H @ B2
            Lxx[2 * n :, 2 * n :] += np.diag(change)
            Lxu[2 * n :] -= np.diag(change)
            data.Lx, data.Lu, data.Lxx, data.Lxu = Lx, Lu, Lxx, Lxu
            data.Luu = B2.T @ H @ B2 + np.diag(effort + change)

    models = [Step(k) for k in range(COUNT + 1)]
    first = np.r_[ours.q, np.zeros(n), ours.hold]
    return crocoddyl.ShootingProblem(first, models[:-1], models[-1])


def with_own_steps(ours, order):
    """Return the problem with Crocoddyl's compiled steps of order 1 or 2 on Pinocchio's model."""
    import crocoddyl
    import pinocchio
    from pinocchio_chain import pinocchio_model

    arm, n = pinocchio_model(ours.model), ours.n
    data = arm.createData()
    pinocchio.forwardKinematics(arm, data, ours.q)
    place = pinocchio.SE3(np.eye(3), data.oMi[n].actInv(ours.tip))
    tip = arm.addFrame(pinocchio.Frame('point', n, place, pinocchio.FrameType.OP_FRAME))
    state, start = crocoddyl.StateMultibody(arm), np.r_[ours.q, np.zeros(n)]
    rates = crocoddyl.ActivationModelWeightedQuad(np.r_[np.zeros(n), np.ones(n)])

    def dynamics(share, effort):
        costs = crocoddyl.CostModelSum(state, n)
        off = crocoddyl.ResidualModelFrameTranslation(state, tip, ours.goal, n)
        costs.addCost('tip', crocoddyl.CostModelResidual(state, off), share * TIP)
        off = crocoddyl.ResidualModelState(state, start, n)
        costs.addCost('speed', crocoddyl.CostModelResidual(state, rates, off), share * SPEED)
        if effort:
            off = crocoddyl.ResidualModelControl(state, ours.hold)
            costs.addCost('effort', crocoddyl.CostModelResidual(state, off), EFFORT)
        drives = crocoddyl.ActuationModelFull(state)
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, drives, costs)

    def node(model):
        if order == 1:
            made = crocoddyl.IntegratedActionModelEuler(model, STEP)
        else:
            made = crocoddyl.IntegratedActionModelRK(model, crocoddyl.RKType.two, STEP)
        made.u_lb, made.u_ub = ours.hold - SPAN, ours.hold + SPAN
        return made

    nodes = [node(dynamics(1.0, True)) for _ in range(COUNT)]
    last = crocoddyl.IntegratedActionModelEuler(dynamics(STEP, False), 0.0)
    problem = crocoddyl.ShootingProblem(start, nodes, last)
    problem.nthreads = 1
    return problem


def solve(problem, hold, enough):
    """Return (processor time [s], iterations, cost) of BoxFDDP from the start."""
    import crocoddyl

    solver = crocoddyl.SolverBoxFDDP(problem)
    solver.th_stop = enough
    commands = [hold.copy() for _ in range(COUNT)]
    states = problem.rollout(commands)
    began = time.thread_time()
    solver.solve(states, commands, MOST, False)
    return time.thread_time() - began, int(solver.iter), float(solver.cost)


def compare():
    """Print costs and times of both."""
    try:
        import crocoddyl  # noqa: F401
    except ImportError:
        print('skipped: crocoddyl is not installed (its docstring says how)')
        return
    ours, euler = Problem(), Problem(euler=True)
    _, count, cost = ours.solve()
    _, others, found = solve(with_our_steps(ours), ours.hold, 1e-12)
    print(f'our steps: cost {cost:.9g} in {count} iterations, BoxFDDP {found:.9g} in {others}')
    require_equal(cost, found)
    peers = {'Euler': with_own_steps(ours, 1), 'Runge-Kutta': with_own_steps(ours, 2)}
    runs = {
        'Euler, ours': euler.solve,
        'Euler, BoxFDDP': lambda: solve(peers['Euler'], ours.hold, ENOUGH),
        'implicit, ours': ours.solve,
        'Runge-Kutta, BoxFDDP': lambda: solve(peers['Runge-Kutta'], ours.hold, ENOUGH),
    }
    found = {words: [] for words in runs}
    for _ in range(RUNS):  # in turns
        for words, run in runs.items():
            found[words].append(run())
    begin = 0.5 * STEP * TIP * ((ours.tip - ours.goal) ** 2).sum()  # theirs counts the start
    for words, rows in found.items():
        seconds, count, cost = np.median([row[0] for row in rows]), rows[-1][1], rows[-1][2]
        cost -= begin if 'BoxFDDP' in words else 0.0
        print(
            f'{words}: cost {cost:.9g}, {count} iterations, {1e3 * seconds:.2f} ms (median of'
            f' {RUNS}), {1e6 * seconds / count:.0f} us an iteration'
        )
    one, other = (found[f'Euler, {words}'] for words in ('ours', 'BoxFDDP'))
    require_equal(one[-1][2], other[-1][2] - begin)
    share = np.median([a[0] for a in one]) / np.median([b[0] for b in other])
    print(f'Euler: ours takes {share:.2f} of the time of BoxFDDP')


def require_equal(cost, other):
    """Raise AssertionError where two costs differ by more than 1e-6, relative."""
    assert abs(other / cost - 1.0) < 1e-6, f'costs differ: {cost:.9g}, {other:.9g}'


if __name__ == '__main__':
    import sys

    sys.path.insert(0, __file__.rpartition('/')[0] + '/performance')
    compare()
