# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Cut curves through bodies into panels, along which the friction of a tendon is integrated.

A panel has at most MAX_NODES Gauss points, so that what it costs is in proportion to the number
of points. They are doubled until the length and the bending, int |dt/ds|^2 ds of the direction t,
stay what they are at twice as many, in the postures that :mod:`.length_quadrature` tries, as far
as these bend by no more than half a turn.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.bodies.curves import Curve
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.compiling.calls import invoke
from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.kernels.quadrature import collocation, gauss_legendre
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.model.length_quadrature import sample

POINTS = 'P, q, V, S'  # arguments of the kernels of material points
LENGTH = 'P, q, qd, out, S'  # those of lengths
# of the error of length [length of the curve] and bending [itself, or rad^2]
PANEL_TOLERANCE = 1e-8
MAX_PANEL_ERROR = 1e-3  # beyond it the curve is refused
_POSTURE_SCALE = 0.25  # of the postures in which lengths are sampled
_MAX_BENDING, _MAX_HALVINGS = 10.0, 20  # [rad^2] of a posture: a half turn, all along
# of an error by doubling, where it is one of the points; how often
_MIN_IMPROVEMENT, _MAX_DOUBLINGS = 0.1, 7
MIN_NODES, MAX_NODES = 4, 16


class Panel(NamedTuple):
    """A part of a curve, at its Gauss points."""

    body: str
    points: Matrix  # (count, 3) [m], material
    width: float  # of s/L

    @property
    def nodes(self) -> int:
        """The number of points."""
        return len(self.points)


def panelled(curve: Curve, start: Vector) -> tuple[list[Panel], float]:
    """
    Return the panels of a curve and the error that is left, ``start`` (n,) as for ``sample``.

    Frames of a body that are themselves integrated leave an error that more points hardly reduce:
    then they are not doubled again. Raises DescriptionError where it is too large.
    """
    probe = curve.kernel(0)
    postures, _ = sample(curve, address(probe.module, probe.function, LENGTH), start)
    postures[2:] *= _POSTURE_SCALE
    last = panels = _panels(curve, 0)
    error, measures = np.inf, _moderate(curve, panels, postures)
    for doublings in range(1, _MAX_DOUBLINGS + 1):
        finer = _panels(curve, doublings)
        coarse, measures = measures, _measures(curve, finer, postures)
        left = _apart(coarse, measures)
        if left.max() <= PANEL_TOLERANCE:
            return panels, float(left.max())
        known = left[:2].max() <= MAX_PANEL_ERROR  # of the reference and the initial posture
        if known and left.max() > _MIN_IMPROVEMENT * error:
            break
        last, panels, error = panels, finer, float(left.max())
    if not known:
        raise DescriptionError((_too_winding(curve, float(left[:2].max())),))
    return last, error


def _moderate(curve: Curve, panels: list[Panel], postures: Matrix) -> Matrix:
    """Halve ``postures`` (P, n), but for two, until none bends sharply; return their measures."""
    for _ in range(_MAX_HALVINGS):
        found = _measures(curve, panels, postures)
        sharp = ~(found[:, 1] <= 4.0 * found[0, 1] + _MAX_BENDING)
        sharp[:2] = False
        if not sharp.any():
            break
        postures[sharp] *= 0.5
    return found


def _too_winding(curve: Curve, error: float) -> Problem:
    words = (
        f'a curve that winds less: after {_MAX_DOUBLINGS} doublings of its points'
        ' its direction is off'
        f' by {error:.2g}, at most {MAX_PANEL_ERROR:g}'
    )
    return Problem(f'path through {curve.name}: offset', curve.offset, words)


def _apart(coarse: Matrix, fine: Matrix) -> Vector:
    """Error (P,) of the coarse lengths [the first one] and bendings [themselves, or rad^2]."""
    error = np.abs(fine - coarse) / np.maximum(fine, [fine[0, 0], 1.0])
    return np.nan_to_num(error, nan=np.inf).max(axis=1)


def _panels(curve: Curve, doublings: int) -> list[Panel]:
    pieces = curve.pieces
    node_count = max(MIN_NODES, curve.body.fibre_count(len(pieces) - 1)) << doublings
    cuts = -(-node_count // MAX_NODES)
    count, panels = -(-node_count // cuts), []
    for low, high in pairwise(pieces):
        for a, b in pairwise(np.linspace(low, high, cuts + 1).tolist()):
            points = curve.points(gauss_legendre(count, a, b)[0])
            panels.append(Panel(curve.name, points, b - a))
    return panels


def _measures(curve: Curve, panels: list[Panel], postures: Matrix) -> Matrix:
    """Length [m] and bending over the span [rad^2] in each posture, (P, 2)."""
    count, rule = panels[0].nodes, collocation(panels[0].nodes)
    kernel = curve.body.points_kernel(np.vstack([panel.points for panel in panels]))
    run = address(kernel.module, kernel.function, POINTS)
    blocks, rows = -(-count * len(panels) // BLOCK), 9 * (1 + postures.shape[1])
    values, scratch = np.zeros(blocks * rows * BLOCK), np.zeros(kernel.scratch + 1)
    shares = np.array([panel.width for panel in panels]) / sum(panel.width for panel in panels)
    found = []
    for q in postures:
        invoke(run, kernel.parameters, np.ascontiguousarray(q), values, scratch)
        places = values.reshape(blocks, rows, BLOCK)[:, :3].transpose(0, 2, 1).reshape(-1, 3)
        r = places[: count * len(panels)].reshape(len(panels), count, 3)
        derivative, bend = rule.derivatives[:count] @ r, rule.hessians @ r
        speed = np.linalg.norm(derivative, axis=2)
        turn = np.linalg.norm(np.cross(derivative, bend), axis=2) / speed**2
        bending = ((turn**2) @ rule.weights) @ (1.0 / shares)
        found.append([(speed @ rule.weights).sum(), bending])
    return np.array(found)
