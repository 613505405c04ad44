# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Evaluate runs of the loop: was the rate held, did the robot follow; figures and pictures."""
