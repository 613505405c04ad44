# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The motion of a demo as a film: one period of the reference, or all after the blending in.

With objects around the robot it is all of the motion.
"""

from typing import Any

import numpy as np
from softrobot_dynamics.evaluation.report_contents import Report
from softrobot_dynamics.viewing.animation import Film


def film_of(report: Report) -> Film:
    """Return the film of a Report."""
    run, span = report.run, report.span
    if any(module.is_object for module in report.model.description.modules):
        span = float(run.t[-1])  # what is grasped is so from the beginning
    rows = run.t >= run.t[-1] - span
    wanted: tuple[Any, ...] = ()
    if report.tips is not None:
        desired = report.tips.desired[rows]
        wanted = tuple(desired[:, k] for k in range(desired.shape[1]))
    simulated = run.simulated[rows]
    return Film(report.model, run.t[rows], np.asarray(run.q)[rows], wanted, simulated=simulated)
