# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What y shall do in time, the postures that do it, and whether the robot can."""
