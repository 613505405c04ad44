# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Check whether a robot can follow a reference: efforts, their rates and the joints' speeds.

What asks for more than a limit is remarked, as the law then follows as far as the limits let it;
what asks for more than :data:`MAX_LIMIT_RATIO` times as much is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, ExcessiveReferenceError
from softrobot_dynamics.references.contract import GROUP, Trajectory
from softrobot_dynamics.references.inverse_statics import PathPostures
from softrobot_dynamics.references.output_postures import hold_along, hold_outputs
from softrobot_dynamics.references.piecewise import Indices, stands, values_at

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

LIMITED = 'followed as far as the limits allow'  # begins each remark
MAX_LIMIT_RATIO = 2.0  # of a demand to a limit, for an effort counted from the middle of its range
CHECKED_PLACES = 8  # along a circle or path, where more may be asked of it
COMMAND_SAMPLES = 257  # of a reference of commands
LIMIT_TOLERANCE = 1e-6  # of a limit, or of a coordinate's unit of `Scales`: rounding


class Planned(NamedTuple):
    """A reference, and in words the limits that it exceeds."""

    reference: Any  # Reference, or Program of phases; None: the outputs as they are when it begins
    remarks: tuple[str, ...] = ()
    places: tuple[tuple[Any, ...], ...] = ()  # (q (n,), command (m,)), and phase, along it


def plan(model: CompiledModel, controlled: Indices, trajectory: Trajectory, q: Vector) -> Planned:
    """
    Return the :class:`Planned` of a reference for the ``controlled`` outputs (c indices).

    ``q`` (n,) is where the robot is, as far as that is known. Raises what ``trajectory.plan``
    raises, ArgumentError where there is no posture, ExcessiveReferenceError.
    """
    motion = trajectory.plan(model, controlled, q)
    if motion is None:
        return Planned(None)
    reference, postures = motion
    name = f'{GROUP}.{trajectory.type_name}'
    if stands(reference):
        y = reference.coefficients[0, 0]
        return Planned(reference, tuple(examine_standing(model, controlled, y, q, name)))
    if postures is None:
        times, postures = hold_along(model, controlled, reference, q, name)
        refuse_positions(model, times, postures.q)
    else:
        times = reference.breaks[: len(postures.q)]
    few = np.linspace(0, len(times) - 1, CHECKED_PLACES, dtype=int)
    places = tuple(zip(postures.q[few], commanded(model, postures.q[few], postures.u[few])))
    return Planned(reference, tuple(examine(model, controlled, times, postures)), places)


def plan_commands(
    model: CompiledModel, controlled: Indices, trajectory: Trajectory, command: Vector, q: Vector
) -> Planned:
    """
    Return the :class:`Planned` of a reference that is added to ``command`` (m,) of some actuators.

    For laws whose commands follow it, not their outputs; ``command`` is as told, limits aside, and
    zero says nothing, which some ranges leave out. Raises what ``trajectory.plan`` raises,
    ArgumentError for one that is about tips, ExcessiveReferenceError.
    """
    if trajectory.targets() is not None:
        words = 'hold, setpoint, spline or file: commands follow it, not a tip'
        raise ArgumentError(f'{GROUP}.type', trajectory.type_name, words)
    motion = trajectory.plan(model, controlled, q)
    if motion is None:
        given = [k for k in controlled if command[k] != 0.0]
        nothing = np.zeros((1, len(given)))
        remarks = examine_commands(model, given, np.zeros(1), nothing, command) if given else []
        return Planned(None, tuple(remarks))
    breaks = motion.reference.breaks
    times = np.linspace(breaks[0], breaks[-1], COMMAND_SAMPLES)
    added = values_at(motion.reference, times)
    remarks = examine_commands(model, controlled, times, added, command)
    return Planned(motion.reference, tuple(remarks))


def examine_commands(
    model: CompiledModel, controlled: Indices, times: Vector, added: Matrix, command: Vector
) -> list[str]:
    """Return in words the limits that ``added`` (K, c) exceeds; ExcessiveReferenceError."""
    u = np.tile(command, (len(times), 1))
    u[:, controlled] += added
    return _refuse_worst([_command(model, times, u, np.asarray(controlled))])


def commanded(model: CompiledModel, q: Matrix, u: Matrix) -> Matrix:
    """Return the commands (K, m) for u (K, m) in postures q (K, n), limits aside."""
    pairs = zip(q, u)
    return np.array([model.per_thread.conversion.commands(*pair) for pair in pairs])


def examine(
    model: CompiledModel, controlled: Indices, times: Vector, postures: PathPostures
) -> list[str]:
    """
    Return in words the limits that a motion through postures exceeds, a list.

    ``times`` (K,) [s] and Postures; u is what holds each posture, and what inertia and damping add
    in the directions of the ``controlled`` actuators. Raises ExcessiveReferenceError.
    """
    from scipy.interpolate import CubicSpline  # late: scipy is slow to import

    fitted = CubicSpline(times, postures.q)
    rates = fitted(times, 1)
    try:
        states = zip(postures.q, rates, fitted(times, 2))
        added = [_added(model, controlled, *state) for state in states]
    except np.linalg.LinAlgError:  # a motion without inertia: nothing can be said
        return []
    u = postures.u.copy()
    u[:, controlled] += np.array(added)
    commands = commanded(model, postures.q, u)
    change = CubicSpline(times, commands)(times, 1)
    names = _with_units(model.actuator_names, model.commands, '/s')
    demands = (
        _effort(model, times, u, controlled),
        *_held(model, times, commands, controlled),
        _speed('change of ', names, times, change, model.rate_limit),
        _speed('speed of ', model.coordinate_names, times, rates, model.qd_limit),
    )
    return _refuse_worst(demands)


def examine_standing(
    model: CompiledModel, controlled: Indices, y: Vector, q: Vector, name: str, time: float = 0.0
) -> list[str]:
    """
    Return in words the limits that holding outputs exceeds, a list.

    ``y`` (c,) of the ``controlled`` actuators from a ``time`` [s] on; q (n,) is where the search
    begins; errors call y by ``name``. Raises ArgumentError if no posture is found,
    ExcessiveReferenceError.
    """
    q, u = hold_outputs(model, controlled, y, q, name)
    now = np.full(1, time)
    refuse_positions(model, now, q[None])
    commands = commanded(model, q[None], u[None])
    demands = _effort(model, now, u[None], controlled), *_held(model, now, commands, controlled)
    return _refuse_worst(demands)


def refuse_positions(model: CompiledModel, times: Vector, q: Matrix) -> None:
    """Raise ExcessiveReferenceError for the first of q (K, n) beyond a joint's limits."""
    slack = LIMIT_TOLERANCE * model.scales.units
    beyond = np.argwhere((q < model.q_lower - slack) | (q > model.q_upper + slack))
    if len(beyond):
        k, i = beyond[0]
        low, high = float(model.q_lower[i]), float(model.q_upper[i])
        name = f'position of {model.coordinate_names[i]}'
        raise ExcessiveReferenceError(float(times[k]), name, float(q[k, i]), low, high)


def _added(
    model: CompiledModel, controlled: Indices, q: Vector, qd: Vector, qdd: Vector
) -> Vector:
    """Return the part of motion in u (c,), by least squares of the outputs' accelerations."""
    evaluate, zero = model.per_thread.evaluator, np.zeros(model.n)
    still = evaluate(q, zero).h.copy()
    terms = evaluate(q, qd)
    force = terms.M @ qdd + terms.h - still
    root = np.linalg.cholesky(terms.M)
    sides = np.linalg.solve(root, np.column_stack([terms.J[controlled].T, force]))
    return model.signs[controlled] * np.linalg.lstsq(sides[:, :-1], sides[:, -1], rcond=1e-9)[0]


def _effort(
    model: CompiledModel, times: Vector, u: Matrix, chosen: Indices
) -> tuple[float, ExcessiveReferenceError]:
    """Return (ratio, error) for the effort that is farthest beyond its range."""
    names = _with_units(model.actuator_names, model.efforts)
    limits = model.effort_lower, model.effort_upper
    return _beyond('effort of ', names, times, u, chosen, limits)


def _command(
    model: CompiledModel, times: Vector, commands: Matrix, chosen: Indices
) -> tuple[float, ExcessiveReferenceError]:
    """Return (ratio, error) for the command that is farthest beyond its range."""
    names = _with_units(model.actuator_names, model.commands)
    what = 'command of ' if model.positioned[chosen].any() else 'effort of '  # the same there
    return _beyond(what, names, times, commands, chosen, (model.lower, model.upper))


def _held(
    model: CompiledModel, times: Vector, commands: Matrix, controlled: Indices
) -> list[tuple[float, ExcessiveReferenceError]]:
    """Return :func:`_command` for actuators whose commands are positions, if there are any."""
    own = [k for k in controlled if model.positioned[k]]
    return [_command(model, times, commands, own)] if own else []


def _beyond(
    what: str,
    names: Sequence[str],
    times: Vector,
    values: Matrix,
    chosen: Indices,
    limits: tuple[Vector, Vector],
) -> tuple[float, ExcessiveReferenceError]:
    """Return (ratio, error) for the value that is farthest beyond its range."""
    low, high = (limit[chosen] for limit in limits)
    over = np.maximum(np.maximum(low - values[:, chosen], values[:, chosen] - high), 0.0)
    ratios = 1.0 + 2.0 * over / (high - low)
    own = [names[i] for i in chosen]
    return _worst(what, own, times, values[:, chosen], ratios, (low, high))


def _with_units(names: Sequence[str], quantities: Any, per: str = '') -> list[str]:
    """Return the names of actuators with the units of their efforts."""
    pairs = zip(names, quantities)
    return [f'{name} [{quantity.unit or "-"}{per}]' for name, quantity in pairs]


def _speed(
    what: str, names: Sequence[str], times: Vector, values: Matrix, limits: Vector
) -> tuple[float, ExcessiveReferenceError]:
    """Return (ratio, error) for the value that is farthest beyond its limit."""
    return _worst(what, names, times, values, np.abs(values) / limits, (-limits, limits))


def _worst(
    what: str,
    names: Sequence[str],
    times: Vector,
    values: Matrix,
    ratios: Matrix,
    limits: tuple[Vector, Vector],
) -> tuple[float, ExcessiveReferenceError]:
    """Return the largest of ratios (K, .), with an error that names its time and value."""
    k, i = (int(place) for place in np.unravel_index(np.argmax(ratios), ratios.shape))
    low, high = (float(limit[i]) for limit in limits)
    error = ExcessiveReferenceError(
        float(times[k]), what + names[i], float(values[k, i]), low, high
    )
    return float(ratios[k, i]), error


def _refuse_worst(demands: Sequence[tuple[float, ExcessiveReferenceError]]) -> list[str]:
    """Raise the worst of (ratio, error) beyond the factor; return the words of the others."""
    ratio, error = max(demands, key=lambda each: each[0])
    if ratio > MAX_LIMIT_RATIO:
        raise error
    return [f'{LIMITED}: {error}' for ratio, error in demands if ratio > 1.0 + LIMIT_TOLERANCE]
