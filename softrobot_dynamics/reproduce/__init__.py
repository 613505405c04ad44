# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Re-run the papers' examples and check the results: systems, each with its checks."""
