# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What y shall do in time: one file for each kind, the postures that do it, what robots can."""
