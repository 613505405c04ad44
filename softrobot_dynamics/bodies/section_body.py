# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of bodies with rigid sections on a backbone: rods."""

from softrobot_dynamics.annotations import FrameFormula, Math, Value, Values
from softrobot_dynamics.bodies.contract import Body


class SectionBody(Body):
    """Base of bodies with rigid sections on a backbone, whose frame :meth:`_frame` is."""

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Backbone plus rotated section: p(s) + R(s) (x1, x2, 0)."""
        R, origin = self._frame(x[2] / self.length, q, math)
        return [origin[i] + R[3 * i] * x[0] + R[3 * i + 1] * x[1] for i in range(3)]

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Frame of the last section."""
        return self._frame(1.0, q, math)

    def _frame(self, s: Value, q: Values, math: Math) -> FrameFormula:
        """Rotation and origin of the section at s = x3 / length."""
        raise NotImplementedError
