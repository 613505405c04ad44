# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Yeoh's law of rubber, compressible."""

from dataclasses import dataclass

from softrobot_dynamics.materials.contract import determinant, first_invariant, Material, register
from softrobot_dynamics.schema.fields import number


@register('yeoh')
@dataclass(frozen=True)
class Yeoh(Material):
    """psi = c1 I + c2 I^2 + bulk/2 (J - 1)^2 with I = I1 - 3 - 2 ln J [J/m^3]."""

    c1: float = number('Pa', above=0.0)
    bulk: float = number('Pa', above=0.0)
    c2: float = number('Pa', at_least=0.0, default=0.0)

    def energy(self, F, math):
        """Return psi for F, three rows of three."""
        J = determinant(F)
        shape = first_invariant(F) - 3.0 - 2.0 * math.log(J)
        return self.c1 * shape + self.c2 * shape * shape + 0.5 * self.bulk * (J - 1.0) * (J - 1.0)
