# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Identify numbers of a robot file from measurements: fits and confidence intervals."""
