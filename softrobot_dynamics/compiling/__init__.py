# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Source becomes machine code: numba's options, the kernel cache, calls by address."""
