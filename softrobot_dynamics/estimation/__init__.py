# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Estimate the state of a robot from its sensors, and external forces on it."""
