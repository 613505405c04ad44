# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The state of a robot from what its sensors tell, and the forces on it from outside."""
