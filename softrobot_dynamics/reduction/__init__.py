# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""From a tetrahedral mesh to few coordinates: finite elements, their modes, the file of these."""
