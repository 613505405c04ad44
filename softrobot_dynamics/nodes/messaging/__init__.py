# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Transport and conversion of messages: bytes, arrays, DDS, quality of service."""
