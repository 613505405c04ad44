# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a robot does while a command is held for a period, and what follows for a law."""
