# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What sensors tell of a robot: one file for each kind, beside `contract.py`."""
