# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sensor kinds, one file each, beside `contract.py`."""
