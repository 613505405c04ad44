# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sampled-data control: the response to a command held for a period, and its use in laws."""
