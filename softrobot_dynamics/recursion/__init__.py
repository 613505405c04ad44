# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The two passes of the paper, and the kernels that hang on them; they know no concrete body."""
