# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Model predictive control: implicit steps, their derivatives, and the optimisation over them."""
