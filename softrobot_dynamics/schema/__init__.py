# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Schema of mappings: fields of dataclasses, how they are read, and the registry of kinds."""
