# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `predictive`: nonlinear model predictive control by differential dynamic programming."""

from softrobot_dynamics.controllers.predictive import law  # noqa: F401  it registers
