# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The neo-Hookean law of bodies whose kinematics preserve volume."""

from collections.abc import Sequence
from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.materials.contract import first_invariant, Material, register
from softrobot_dynamics.schema.fields import number


@register('incompressible_neo_hookean')
@dataclass(frozen=True)
class IncompressibleNeoHookean(Material):
    """
    psi = C (I1 - 3), for det F = 1 only [P, Sec. 7.1]; viscosity ``damping`` C.

    Young's modulus is 6 C in stretch, the shear modulus 2 C. On a body that can change its volume
    the law is not at rest at F = 1.
    """

    modulus: float = number('Pa', above=0.0)
    damping: float = number('s', at_least=0.0, default=0.0)

    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """See :class:`Material`."""
        return self.modulus * (first_invariant(F) - 3.0)

    def viscosity(self) -> Value | None:
        """See :class:`Material`."""
        return self.damping * self.modulus
