# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What one may ask of a robot at a state: calls that check, run a kernel, and check again."""
