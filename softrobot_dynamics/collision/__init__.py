# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collision shapes of bodies and of the environment, one file each, beside `contract.py`."""
