# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tasks of the law `task`: motions that it asks for, one file for each kind."""
