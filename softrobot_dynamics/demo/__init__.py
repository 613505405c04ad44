# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot demo`: run a simulated robot and its controller, and evaluate rate and tracking."""
