# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `task`: `kinds/` of tasks, `bounds/`, and the `solver/` that brings them together."""

from softrobot_dynamics.controllers.tasks import law  # noqa: F401  it registers
