# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Choose at how many points the length of each curve through a body is measured.

A length is the integral of a stretch that varies along the curve: the more the curve winds, and
the more the body deforms, the more points it takes. So the body's own number is doubled until the
length, its gradient and its bias stay what they are at twice as many, in postures that stretch
the curve by as much as half, here and there, and in those about the robot's start.
"""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.bodies.curves import Curve
from softrobot_dynamics.compiling.calls import invoke
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.errors import DescriptionError, Problem

LENGTH_TOLERANCE = 1e-10  # of the error [length of the curve]
MAX_CURVE_POINTS = 4096
# of the stretch at rest, in the sampled postures, and how many there are
SAMPLE_STRETCH, SAMPLE_POSTURES, SAMPLE_SEED = 0.5, 6, 0
_MAX_HALVINGS = 40
# of |r'|^2, over its value on the axis, in a sampled posture
_MIN_STRETCH_CHANGE, _MAX_STRETCH_CHANGE = -0.84, 3.0
# each of the one before: a posture that folds a curve is not required
_POSTURE_SCALES = 1.0, 0.5, 0.5, 0.5
# of the length: of fibres beside a curve; how much farther than these
_FIBRE_OFFSET, _MAX_REACH_RATIO = 0.01, 4.0
_STRETCH_ROUNDING = 1e-12  # of the stretch, per unit of a coordinate


class Sampling(NamedTuple):
    """The sampling by which the length of a curve through a body is measured."""

    actuator: int
    body: str
    points: int
    error: float  # estimated, beside twice as many points, as a share of the length


_CACHE_SIZE = 1000  # curves
_known: dict[bytes, tuple[int, float]] = {}  # what was chosen, by digests


def choose_points(
    curve: Curve, parameters: Vector, address: int, start: Vector
) -> tuple[int, float]:
    """
    Return how often to double the points of a length, and the error that is then left.

    ``parameters`` (.,) are those of the length's kernel, ``address`` is its address, ``start``
    (n,) the body's initial coordinates. Raises DescriptionError where too many points would be
    needed. Equal curves in bodies of equal points are looked at once in a process: the robots that
    a fit or a study goes through differ in stiffness or mass, and have the same curves.
    """
    digest = hashlib.sha256(address.to_bytes(8, 'little'))
    for numbers in (parameters, start, curve.body.material_points()[0]):
        digest.update(np.int64(np.size(numbers)).tobytes() + np.asarray(numbers).tobytes())
    key = digest.digest()
    found = _known.get(key)
    if found is None:
        found = _known[key] = _converged(curve, address, start)
        if len(_known) > _CACHE_SIZE:
            _known.pop(next(iter(_known)), None)
    return found


def _converged(curve: Curve, address: int, start: Vector) -> tuple[int, float]:
    postures, reach = sample(curve, address, start)
    for share in _POSTURE_SCALES:
        postures[2:] *= share
        doublings, errors = _tried(curve, address, postures, share * reach)
        if errors.max() <= LENGTH_TOLERANCE:
            return doublings, float(errors.max())
        if errors[:2].max() > LENGTH_TOLERANCE:  # of the reference and the initial posture
            break
    raise DescriptionError((_too_winding(curve, float(errors.max())),))


def _tried(curve: Curve, address: int, postures: Matrix, reach: Vector) -> tuple[int, Vector]:
    """Return how often to double the points, and the error (P,) that is left in each posture."""
    fine, doublings = _values(curve.kernel(0), address, postures, reach), 0
    while True:
        coarse, fine = fine, _values(curve.kernel(doublings + 1), address, postures, reach)
        off: Vector = np.abs(fine - coarse).max(axis=1)
        errors = np.nan_to_num(off / fine[:, 0].min(), nan=np.inf)
        if errors.max() <= LENGTH_TOLERANCE or curve.count(doublings + 1) > MAX_CURVE_POINTS:
            return doublings, errors
        doublings += 1


def _too_winding(curve: Curve, error: float) -> Problem:
    words = (
        'a curve that winds less, or a body that bends less sharply:'
        f' {MAX_CURVE_POINTS} points leave an error'
        f' of {error:.2g} of its length, at most {LENGTH_TOLERANCE:g}'
    )
    return Problem(f'path through {curve.name}: offset', curve.offset, words)


def sample(curve: Curve, address: int, start: Vector) -> tuple[Matrix, Vector]:
    """
    Return postures (P, n) of a body in which a curve is stretched, and how far they go (n,).

    ``address`` is that of the kernels of the curve; the first postures are the reference and the
    initial one, ``start`` (n,). A coordinate that does not stretch the curve goes nowhere; one
    that hardly does goes a few times as far as would stretch a fibre beside it: a tendon at a
    phase of 3.14159265 is not bent sideways by a thousand turns.
    """
    n, probes = len(start), curve.probes()
    rest = np.array([_measured(p, address, np.zeros(n), np.zeros(n))[0] for p in probes])
    reach = _reaches(probes, address, rest, curve.body.length, n)
    around = curve.probes_around(_FIBRE_OFFSET * curve.body.length)
    straight = np.array([_measured(p, address, np.zeros(n), np.zeros(n))[0] for p in around])
    bound = _reaches(around, address, straight, curve.body.length, n)
    reach = np.where(bound > 0.0, np.minimum(reach, _MAX_REACH_RATIO * bound), reach)
    drawn = np.random.default_rng(SAMPLE_SEED).uniform(-1.0, 1.0, (SAMPLE_POSTURES, n)) * reach
    possible = [_possible(curve, probes, address, rest, q) for q in drawn]
    return np.array([np.zeros(n), start, *possible]), reach


def _reaches(probes: list[Kernel], address: int, rest: Vector, length: float, n: int) -> Vector:
    """Return how far each coordinate goes until a curve is stretched by SAMPLE_STRETCH, (n,)."""
    return np.array([_reach(probes, address, rest, length, unit) for unit in np.eye(n)])


def _reach(probes: list[Kernel], address: int, rest: Vector, length: float, unit: Vector) -> float:
    """
    Return how far a coordinate goes until a curve is stretched by SAMPLE_STRETCH, to second order.

    That is by how much |r'|^2 / 2 changes over its value on the axis: what winds may be stretched
    as far as what runs straight beside it.
    """
    far = np.inf
    for probe, speed in zip(probes, rest):
        out = speed * _measured(probe, address, 0.0 * unit, unit) / length**2
        derivative, bend = abs(out[1:-1] @ unit), abs(out[-1])
        if derivative > _STRETCH_ROUNDING:
            far = min(far, SAMPLE_STRETCH / derivative)
        if bend > _STRETCH_ROUNDING:
            far = min(far, float(np.sqrt(2.0 * SAMPLE_STRETCH / bend)))
    return far if np.isfinite(far) else 0.0


def _possible(
    curve: Curve, probes: Sequence[Kernel], address: int, rest: Vector, q: Vector
) -> Vector:
    """Return q (n,), or the largest of its halves that a body can take and stretches no more."""
    for _ in range(_MAX_HALVINGS):
        if not curve.body.explain(q):
            speed = np.array([_measured(p, address, q, q)[0] for p in probes])
            grown = (speed**2 - rest**2) / curve.body.length**2
            if ((grown > _MIN_STRETCH_CHANGE) & (grown < _MAX_STRETCH_CHANGE)).all():
                break
        q = 0.5 * q
    return q


def _values(kernel: Kernel, address: int, postures: Matrix, reach: Vector) -> Array:
    """Length, gradient times reach, and bias at rates of that size, (P, n + 2) [m]."""
    scale = np.concatenate([[1.0], reach, [1.0]])
    return np.array([_measured(kernel, address, q, reach) * scale for q in postures])


def _measured(kernel: Kernel, address: int, q: Vector, qd: Vector) -> Vector:
    """Length [m], gradient and bias (n + 2,)."""
    out, scratch = np.zeros(len(q) + 2), np.zeros(kernel.scratch + 1)
    invoke(address, kernel.parameters, q, qd, out, scratch)
    return out
