# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compile typed functions to LLVM code by numba's pipeline, with passes of our own."""
