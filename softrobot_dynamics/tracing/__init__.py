# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The tracer: a formula p = f(x, q) becomes the source of kernels of p, its Jacobian and bias."""
