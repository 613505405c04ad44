# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Body models, one file or one folder each; ``contract.py`` has their base class."""
