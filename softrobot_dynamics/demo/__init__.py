# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot demo`: a simulated robot and its controller as two processes, watched and judged."""
