# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Strains that rods leave out, under loads within the limits of a robot's actuators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.identification.omitted_strains import (
    advice,
    loading,
    Omitted,
    ReleasedRobot,
)

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

LIMIT_FRACTIONS = 1.0, 0.5, 0.25, 0.125  # the first under which the robot rests is taken
MIN_SHIFT_RATIO = 0.01  # of a rod's length; from here on the check asks a question


class WorstOmission(NamedTuple):
    """The largest shift by a strain that a rod leaves out, and the load under which it is."""

    omitted: Omitted
    load: str  # in words
    question: str  # '' where it does not matter


def worst_omitted(model: CompiledModel) -> Iterator[WorstOmission]:
    """
    Yield the :class:`WorstOmission` for each rod: the strain that matters most, and others.

    Under the robot's weight, then also each actuator that loads a rod at its limit, those of each
    rod together, and all of them. An actuator without limits does not pull; where the robot does
    not rest under a load, half, a fourth or an eighth of it are tried.
    """
    released = ReleasedRobot(model)
    found: dict[tuple[str, str], WorstOmission] = {}
    for words, travel, each in _postures(model, released):
        for omitted in each:
            key = omitted.body, omitted.name
            if key not in found or omitted.shift > found[key].omitted.shift:
                question = _question(model, omitted, words, travel)
                found[key] = WorstOmission(omitted, words, question)
    for body in dict.fromkeys(name for name, _ in found):
        own = [worst for (name, _), worst in found.items() if name == body]
        own.sort(key=lambda worst: -worst.omitted.shift)
        yield from (worst for i, worst in enumerate(own) if not i or worst.question)


def _postures(
    model: CompiledModel, released: ReleasedRobot
) -> Iterator[tuple[str, float, list[Omitted]]]:
    """Yield (load in words, travel [m], omitted strains) for each load under which it rests."""
    still = np.clip(np.zeros(model.m), model.lower, model.upper)
    begin: Vector | None = None
    for group in [(), *_groups(model, released)] if released else []:
        for share in LIMIT_FRACTIONS if group else LIMIT_FRACTIONS[:1]:
            command = still.copy()
            command[list(group)] = share * _limits(model)[list(group)]
            with suppress(SoftRobotError):
                q = equilibrium(model, command=command).q
                tips = forward_kinematics(model, q=q)[:, :3, 3]
                begin = tips if begin is None else begin
                travel = float(np.linalg.norm(tips - begin, axis=1).max())
                yield (
                    loading(model.description, command, group),
                    travel,
                    released.omitted(q, command),
                )
                break


def _limits(model: CompiledModel) -> Vector:
    """Return the limit (m,) of each command that is farther from zero."""
    return np.where(np.abs(model.upper) >= np.abs(model.lower), model.upper, model.lower)


def _groups(model: CompiledModel, released: ReleasedRobot) -> list[Sequence[int]]:
    """Return sets of actuators: each that loads a rod, those of each rod, and all of them."""
    limited = np.isfinite(_limits(model))
    rods = [tuple(i for i in each if limited[i]) for each in released.actuators().values()]
    every = tuple(sorted({i for each in rods for i in each}))
    groups = dict.fromkeys([*((i,) for i in every), *rods, every])
    return [group for group in groups if group]


def _question(model: CompiledModel, omitted: Omitted, load: str, travel: float) -> str:
    """Return the question to the author, '' if the shift is small beside the rod's length."""
    index = model.body_names.index(omitted.body)
    share = omitted.shift / float(model.description.modules[index].body.length)
    if share < MIN_SHIFT_RATIO:
        return ''
    beside = f'{share:.0%} of its length, beside {1e3 * travel:.3g} mm that the load moves it'
    return advice(model.description, omitted, load, beside)
