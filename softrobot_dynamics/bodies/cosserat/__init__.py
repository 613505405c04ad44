# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Cosserat rods: strains as sums of functions along them, one march for all."""

from softrobot_dynamics.bodies.cosserat import body as body  # registers itself
