# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References y_d(t): one file for each kind, the postures for them, and their feasibility."""
