# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Messages on their way: as bytes, as arrays, through DDS, and with what quality of service."""
