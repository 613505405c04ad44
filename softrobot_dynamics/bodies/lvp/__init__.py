# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Locally volume preserving bodies, and others whose sections move with a backbone."""

from softrobot_dynamics.bodies.lvp import body as body  # registers itself
