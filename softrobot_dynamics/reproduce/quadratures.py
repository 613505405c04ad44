# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compare quadrature rules of the bodies of an arm: errors of terms and tips, and time."""

from dataclasses import replace
import time
from typing import Any

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.circles import CircleMotion, tips_of
from softrobot_dynamics.reproduce.outcome import Array
from softrobot_dynamics.reproduce.tetrahedra import Bricks

COARSE_RULE = {'axial': 3, 'radial': 1, 'angular': 4}  # that the choice of a rule begins with
FINEST_RULE = {'axial': 16, 'radial': 6, 'angular': 24}  # that rules are compared with


def compare_quadratures(
    model: CompiledModel, motion: CircleMotion
) -> tuple[list[str], list[dict[str, Any]]]:
    """Compare the shipped rule, that of the error estimate, and as many tetrahedra as [P] has."""
    body: Any = model.description.modules[0].body  # an `lvp` body, which has a `quadrature`
    sample = motion.q[:: len(motion.q) // 6].reshape(-1, 8)
    coarse = replace(body, quadrature=replace(body.quadrature, **COARSE_RULE))
    true = replace(body.quadrature, **FINEST_RULE)
    rules = {
        'shipped': body.quadrature,
        'chosen for 1e-6': sd.converged_quadrature(coarse, 1e-6, sample).quadrature,
        'tetrahedra': Bricks(),
    }
    k, words, found = len(motion.q) // 3, [], []
    finest = _with_rule(model, true)
    tips = tips_of(finest, [sd.equilibrium(finest, u=motion.u[k], q0=motion.q[k]).q])
    for name, rule in rules.items():
        each = _with_rule(model, rule)
        own = each.description.modules[0].body
        error = sd.quadrature_error(own, sample, finest=true)
        rest = sd.equilibrium(each, u=motion.u[k], q0=motion.q[k]).q
        moved = float(np.abs(tips_of(each, [rest]) - tips).max())
        count, seconds = len(own.material_points()[1]), _time(each, motion.q[k])
        found.append(
            {'rule': name, 'points': count, 'error': error, 'tips': moved, 'time': seconds}
        )
        words.append(
            f'{name}, {count} points a body: worst term off by {error:.1e}, tips under the same '
            f'tensions by {1e3 * moved:.2g} mm; {1e6 * seconds:.0f} us for all terms from Python, '
            'here and now'
        )
    return words, found


def _with_rule(model: CompiledModel, rule: object) -> CompiledModel:
    """Return the model with another quadrature of all bodies."""
    robot = model.description
    shipped: Any = robot.modules[0].body  # an `lvp` body, which has a `quadrature`
    body = replace(shipped, quadrature=rule)
    return sd.compile_model(
        replace(robot, modules=tuple(replace(each, body=body) for each in robot.modules))
    )


def _time(model: CompiledModel, q: Array) -> float:
    """Return the median time [s] of an evaluation of all terms."""
    evaluate, times = model.evaluator(), []
    for _ in range(50):
        start = time.perf_counter()
        evaluate(q, q)
        times.append(time.perf_counter() - start)
    return float(np.median(times))
