# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Integrators of the equation of motion, one file each, beside `contract.py`."""
