# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Model predictive control: implicit steps with their derivatives, and the cost of states."""
