# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Hierarchical (lexicographic) least squares with linear inequalities, for few variables."""
