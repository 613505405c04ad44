# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Functions of s / L that multiply a rod's strain coordinates, one file each."""
