# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The St Venant-Kirchhoff law: Hooke's, of the Green strain."""

from collections.abc import Sequence
from dataclasses import dataclass

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.materials.contract import lame, Material, register
from softrobot_dynamics.schema.fields import number


@register('st_venant_kirchhoff')
@dataclass(frozen=True)
class StVenantKirchhoff(Material):
    """
    psi = lambda/2 (tr E)^2 + mu E : E with E = (F^T F - 1)/2; viscosity ``damping`` mu/2.

    For large rotations with small strains; in strong compression it softens.
    """

    young_modulus: float = number('Pa', above=0.0)
    poisson_ratio: float = number('-', above=-1.0, below=0.5)
    damping: float = number('s', at_least=0.0, default=0.0)

    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """See :class:`Material`."""
        first, second = lame(self.young_modulus, self.poisson_ratio)
        E = [[_green(F, i, j) for j in range(3)] for i in range(3)]
        trace = E[0][0] + E[1][1] + E[2][2]
        square = sum((E[i][i] * E[i][i] for i in (1, 2)), E[0][0] * E[0][0])
        for i, j in ((0, 1), (0, 2), (1, 2)):
            square = square + 2.0 * E[i][j] * E[i][j]
        return first * 0.5 * trace * trace + second * square

    def viscosity(self) -> Value | None:
        """See :class:`Material`."""
        return self.damping * lame(self.young_modulus, self.poisson_ratio)[1] * 0.5


def _green(F: Sequence[Values], i: int, j: int) -> Value:
    product = F[0][i] * F[0][j] + F[1][i] * F[1][j] + F[2][i] * F[2][j]
    return 0.5 * (product - 1.0) if i == j else 0.5 * product
