# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Equilibria: postures at rest under given actuation, gravity and wrenches.

They are zeros of the static residual r(q) = ID(q, 0, 0) - A(q) u - J(q)^T w [P, (55)], found by
Newton's method, and where that fails by ramping the load from none. Each evaluation releases the
GIL.
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.closed_statics import closed_equilibrium
from softrobot_dynamics.dynamics.load_stepping import MAX_ITERATIONS, step_load
from softrobot_dynamics.dynamics.newton import newton
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.dynamics.tendon_friction import read_sliding, Ways
from softrobot_dynamics.dynamics.wrenches import read_wrenches, Wrenches
from softrobot_dynamics.errors import ArgumentError

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Equilibrium(NamedTuple):
    """
    A posture at rest: q (n,), the residual force left [N, N m], and the Newton iterations.

    ``stability`` [1/s^2] is the smallest eigenvalue of the tangent stiffness, the derivative of
    the residual by q, relative to the mass matrix: the squared angular frequency of the slowest
    motion about the posture, negative where the robot leaves it. ``stable``: it stays, nor does
    an oscillation grow (see :class:`softrobot_dynamics.dynamics.stability.Linearised`).
    ``growth`` [1/s] is the rate of the motion away from it that grows fastest, with damping; 0 of
    a stable posture.
    """

    q: Vector
    residual: float
    iterations: int
    stability: float
    stable: bool
    growth: float


def equilibrium(
    model: CompiledModel,
    *,
    u: ArrayLike | None = None,
    command: ArrayLike | None = None,
    q0: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    sliding: Ways = None,
    ramp: bool = False,
) -> Equilibrium:
    """
    Return the :class:`Equilibrium` under constant actuation u (m,), gravity and ``wrenches``.

    Instead of u, what acts, a ``command`` (m,) may be given: the same, but for tendons that are
    told positions, whose tension then follows from the posture.

    At rest friction along the routes of tendons is what is left of the motion before.
    ``sliding`` tells which way each tendon slid last, 1, 'in', towards the base, -1, 'out',
    towards the tip, or 0, 'none': by actuator (m,), one word for all, or a mapping of actuators
    to words. Without it there is no friction, nor is there any of joints.

    Newton's method with a line search from q0 (n,), by default the description's initial posture,
    finds the nearest one, ``stable`` or not. Where steps had to be shortened, only a stable one
    counts. Without such, or at once with ``ramp``, the whole load, u, gravity and wrenches
    together, is ramped from zero in adaptive steps, beginning at the unloaded posture that is
    found from q0. A structure may have several equilibria: the ramp follows those that slow
    loading reaches, and where they end, at limit points and where it buckles, it settles as the
    robot would if all its motion were damped. No body is turned inside out.

    Loops of closures are closed, first at the posture next to q0 where they are; residual and
    stability are those along what they leave to move.

    Contacts at q0 or on the way act by their normal forces; friction is that of motion.

    ``wrenches`` as in :mod:`softrobot_dynamics.dynamics.calls`: in the 'base' frame a dead load,
    in the 'body' frame one that follows the body.

    Raises ArgumentError, UnknownNameError, OpenLoopError, or NotConvergedError with the share of
    the load that was balanced, the residual [N, N m] of the full load there, and the reason why
    it could not be raised.
    """
    commanded = u is None
    name, given = ('command', command) if u is None else ('u', u)
    if given is None or not (u is None or command is None):
        raise ArgumentError('u', (u, command), 'either u or a command')
    u = checked(name, given, (model.m,))
    loads, closed = read_wrenches(model, wrenches), model.closure_plan is not None
    statics = Statics(model, loads, commanded=commanded, closed=closed)
    statics.slide(read_sliding(model, sliding))
    q0 = checked('q0', model.q0 if q0 is None else q0, (model.n,))
    if fault := statics.posture_fault(q0):
        raise ArgumentError('q0', q0, f'a posture with stretches > 0; {fault}')
    if closed:
        rest = closed_equilibrium(model, statics, q0, u, ramp)
        lowest, _, stable, growth = rest.stability
        return Equilibrium(rest.q, rest.residual, rest.iterations, lowest, stable, growth)
    found = None if ramp else newton(statics, q0, u, MAX_ITERATIONS)
    if not (
        found and (found.balanced and found.direct or statics.is_stable_equilibrium(found, u))
    ):
        found = step_load(statics, q0, u, found.iterations if found else 0)
    lowest, _, stable, growth = statics.linearised(found.q, u).stability()
    return Equilibrium(found.q, found.residual, found.iterations, lowest, stable, growth)
