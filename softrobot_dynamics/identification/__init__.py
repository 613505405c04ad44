# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numbers of a robot file from measurements: how they are fitted, and what is known of them."""
