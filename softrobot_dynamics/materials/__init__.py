# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stress laws of volumes, one file each; ``contract.py`` has their base class."""
