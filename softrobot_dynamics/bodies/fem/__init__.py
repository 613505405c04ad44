# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Finite elements reduced to few modes: the body, its elements, its modes and their file."""

from softrobot_dynamics.bodies.fem import body as body  # registers itself
