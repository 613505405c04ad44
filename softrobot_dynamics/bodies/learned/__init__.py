# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Bodies whose deformation a network has learned: the body, its network, how to fit one."""

from softrobot_dynamics.bodies.learned import body as body  # registers itself
