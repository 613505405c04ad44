# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Omitted strains of a fitted robot, compared with the residuals of the fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.identification.fitting import Identification
from softrobot_dynamics.identification.motions import Motion
from softrobot_dynamics.identification.omitted_strains import (
    advice,
    loading,
    Omitted,
    ReleasedRobot,
)
from softrobot_dynamics.model.model import compile_model, CompiledModel

MIN_RESIDUAL_RATIO = 0.5  # of the remaining error; a strain that explains less is not asked about
MIN_SHIFT = 1e-3  # of a rod's length; less is not asked about, however little error remains
MAX_POSTURES = 100  # that are examined, evenly spaced
_MIN_UNMEASURED_SHIFT = 0.01  # of a rod's length, where no marker was measured


class OmittedStrainQuestion(NamedTuple):
    """
    A strain that a fitted robot leaves out, under the commands that were measured.

    ``omitted`` and ``load``, in words, of the posture in which it would shift a marker most;
    ``rms`` [m] over all markers and postures; ``question``, '' where it does not matter.
    """

    omitted: Omitted
    load: str
    rms: float
    question: str


def omitted_strain_questions(identification: Identification) -> list[OmittedStrainQuestion]:
    """
    Return an :class:`OmittedStrainQuestion` for each strain that a fitted rod leaves out.

    Of a motion, the postures are those at rest under the largest commands; without markers the
    tips of bodies are looked at.
    """
    model = compile_model(identification.robot)
    released, seen = ReleasedRobot(model), dict[tuple[str, str], list[tuple[Vector, Omitted]]]()
    for command, each in _postures(identification, model, released) if released else ():
        for omitted in each:
            seen.setdefault((omitted.body, omitted.name), []).append((command, omitted))
    return [_question(identification, model, pairs) for pairs in seen.values()]


def _postures(
    identification: Identification, model: CompiledModel, released: ReleasedRobot
) -> Iterator[tuple[Vector, list[Omitted]]]:
    """Yield commands (m,) and the omitted strains at rest under them."""
    data, near = identification.data, None
    sliding: Matrix = np.zeros_like(data.commands) if isinstance(data, Motion) else data.sliding
    for row in _rows(identification):
        command, ways = data.commands[row], sliding[row]
        try:
            near = equilibrium(model, command=command, q0=near, sliding=ways).q
        except SoftRobotError:
            near = None
            continue
        yield command, released.omitted(near, command, ways, data.markers)


def _rows(identification: Identification) -> Sequence[int]:
    """Return the rows of data that are looked at: postures evenly, extremes of a motion."""
    data = identification.data
    if not isinstance(data, Motion):
        return range(0, len(data), -(-len(data) // MAX_POSTURES))
    u = np.abs(data.commands) / np.maximum(np.abs(data.commands).max(axis=0), 1e-300)
    rows = [*u.argmax(axis=0), u.min(axis=1).argmax(), u.sum(axis=1).argmax()]
    return list(dict.fromkeys(map(int, rows)))


def _question(
    identification: Identification, model: CompiledModel, pairs: Sequence[tuple[Vector, Omitted]]
) -> OmittedStrainQuestion:
    command, worst = max(pairs, key=lambda pair: pair[1].shift)
    shifts: Array = np.array([omitted.shifts[worst.order] for _, omitted in pairs])
    rms = float(np.sqrt((shifts**2).sum(axis=-1).mean()))
    load = loading(identification.robot, command, np.flatnonzero(command).tolist())
    length = float(model.description.modules[model.body_names.index(worst.body)].body.length)
    beside, least = f'{worst.shift / length:.0%} of its length', MIN_SHIFT * length
    if identification.data.markers:
        least = max(least, MIN_RESIDUAL_RATIO * identification.rms)
        beside += (
            f'; {1e3 * rms:.2g} mm rms, beside {1e3 * identification.rms:.2g} mm that are left'
        )
    else:
        least = _MIN_UNMEASURED_SHIFT * length
    asked = rms >= least
    question = advice(identification.robot, worst, load, beside) if asked else ''
    return OmittedStrainQuestion(worst, load, rms, question)
