# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The compressible neo-Hookean law."""

from collections.abc import Sequence
from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.materials.contract import (
    determinant,
    first_invariant,
    lame,
    Material,
    register,
)
from softrobot_dynamics.schema.fields import number


@register('neo_hookean')
@dataclass(frozen=True)
class NeoHookean(Material):
    """
    psi = mu/2 (I1 - 3 - 2 ln J) + lambda/2 (ln J)^2; viscosity ``damping`` mu/2.

    Not defined where the body is turned inside out (J <= 0).
    """

    young_modulus: float = number('Pa', above=0.0)
    poisson_ratio: float = number('-', above=-1.0, below=0.5)
    damping: float = number('s', at_least=0.0, default=0.0)

    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """See :class:`Material`."""
        first, second = lame(self.young_modulus, self.poisson_ratio)
        log = math.log(determinant(F))
        return second * 0.5 * (first_invariant(F) - 3.0 - 2.0 * log) + first * 0.5 * log * log

    def viscosity(self) -> Value | None:
        """See :class:`Material`."""
        return self.damping * lame(self.young_modulus, self.poisson_ratio)[1] * 0.5
