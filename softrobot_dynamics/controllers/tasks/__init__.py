# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `task`, and its tasks and bounds, one file for each kind."""

from softrobot_dynamics.controllers.tasks import law  # noqa: F401  it registers
