# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimate the discretisation error of a body by comparison with a model of higher order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.description.modules import Module, NamedActuator
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.dynamics.calls import forward_kinematics, placement
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.evaluation.units import in_words
from softrobot_dynamics.model.model import compile_model

if TYPE_CHECKING:
    from softrobot_dynamics.bodies.contract import Body
    from softrobot_dynamics.model.model import CompiledModel

COMMAND_FRACTIONS = 0.5, 0.25, 0.125  # of the limit; the first that both models bear is compared


class TipDeviation(NamedTuple):
    """The error of the order of a body's model."""

    body: str
    error: float | None  # of the tip, as a share of the body's length; None: not found out
    worst: str  # under what: an actuator, or 'gravity'; or why there is no error
    finer: str  # what it was compared with: 'cosserat, 9 coordinates'


def tip_deviations(model: CompiledModel) -> Iterator[TipDeviation]:
    """
    Yield a :class:`TipDeviation` for each body that has a finer model.

    Each is clamped as it stands in the initial posture, alone, under gravity, and then under each
    of its own actuators at half its limit, or a fourth or an eighth where a model cannot bear
    that. Where both models rest, their tips are compared.
    Bodies that are the same, under the same, are looked at once.
    """
    placed, known = placement(model, model.q0), dict[str, Any]()
    by_name = dict(zip(model.actuator_names, model.commands))
    for index, module in enumerate(model.description.modules):
        finer = module.body.finer()
        if finer is None:
            continue
        actuators = tuple(_within(model, module.name))
        gravity = np.array(model.description.gravity)
        down, size = placed.joint(index)[0].T @ gravity, float(np.linalg.norm(gravity)) or 1.0
        units = [by_name[each.name].unit for each in actuators]
        way = (down / size).round(9).tolist()
        key = repr((module.body, tuple(a.actuator for a in actuators), way))
        key = key.replace(repr(module.name), 'it')
        if key not in known:
            known[key] = _compared(module, finer, actuators, down)
        error, load, u, words, why = known[key]
        worst = f'{actuators[load].name} at {in_words(u, units[load])}' if load >= 0 else 'gravity'
        yield TipDeviation(module.name, error, f'under {worst}: {why}' if why else worst, words)


def _within(model: CompiledModel, body: str) -> Iterator[NamedActuator]:
    for entry in model.description.actuators:
        if own := entry.actuator.within(body):
            yield NamedActuator(entry.name, own)


def _compared(
    module: Module,
    finer: Body | Mapping[str, Any],
    actuators: Sequence[NamedActuator],
    gravity: Vector,
) -> Any:
    """Return (error, index of the worst actuator or -1, its command, finer model, or a reason)."""
    coarse, fine = (_alone(module.name, body, actuators, gravity) for body in (module.body, finer))
    words = f'{fine.description.modules[0].body.type_name}, {fine.n} coordinates'
    error, load, command = 0.0, -1, 0.0
    for k, tried in _loads(actuators):
        try:
            u, off = _apart(coarse, fine, tried)
        except SoftRobotError as problem:
            return None, k, tried[-1][k] if k >= 0 else 0.0, words, str(problem)
        if off > error * module.body.length:
            error, load, command = off / module.body.length, k, u[k] if k >= 0 else 0.0
    return error, load, command, words, ''


def _loads(actuators: Sequence[NamedActuator]) -> Iterator[tuple[int, list[Vector]]]:
    """Yield (index, commands (m,) to be tried): -1 for none, then actuators that have a limit."""
    yield -1, [np.zeros(len(actuators))]
    for k, entry in enumerate(actuators):
        limit = max(entry.actuator.limits, key=abs)
        if np.isfinite(limit):
            yield k, [share * limit * np.eye(len(actuators))[k] for share in COMMAND_FRACTIONS]


def _apart(coarse: CompiledModel, fine: CompiledModel, tried: list[Vector]) -> Any:
    """Return the first command that both models bear, and how far their tips are apart [m]."""
    *more, last = tried
    for u in more:
        with suppress(SoftRobotError):
            return u, float(np.linalg.norm(_tip(coarse, u) - _tip(fine, u)))
    return last, float(np.linalg.norm(_tip(coarse, last) - _tip(fine, last)))


def _alone(
    name: str, body: Body | Mapping[str, Any], actuators: Sequence[NamedActuator], gravity: Vector
) -> CompiledModel:
    row = {'name': name, 'joint': {'type': 'fixed'}, 'body': body}
    robot = load_robot({'name': 'alone', 'gravity': gravity.tolist(), 'bodies': [row]})
    return compile_model(replace(robot, actuators=tuple(actuators)))


def _tip(model: CompiledModel, u: Vector) -> Vector:
    tip: Vector = forward_kinematics(model, q=equilibrium(model, u=u).q)[0][:3, 3]
    return tip
