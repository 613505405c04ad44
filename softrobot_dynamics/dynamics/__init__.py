# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Calls on a robot at a state, which check arguments, run a kernel, and check the result."""
