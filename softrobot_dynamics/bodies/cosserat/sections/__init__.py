# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Cross-sections of rods, one file each."""
