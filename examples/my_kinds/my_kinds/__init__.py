# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kinds of our own; the entry points name the modules."""
