# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of materials: a strain energy density psi(F), and a viscosity.

The elastic force of a body follows from psi in weak form, by tracing; so does an objective damping
force of Kelvin-Voigt type, d_j = v/2 int tr(dC/dt dC/dq_j) dV with C = F^T F.
"""

from collections.abc import Sequence

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.schema.registry import Registry, required

MATERIALS = Registry('material', 'softrobot_dynamics.materials', 'softrobot_dynamics.materials')
register = MATERIALS.register


class Material:
    """
    Base of all materials: a frozen dataclass with the YAML's fields and a formula.

    In ``energy`` and ``viscosity`` each float field of ``self`` is a symbol, so that numbers
    change without compiling again.
    """

    @required
    def energy(self, F: Sequence[Values], math: Math) -> Value:
        """Strain energy density psi [J/m^3] for F, three rows of three; F[i][j] = dp_i/dx_j."""
        raise NotImplementedError

    def viscosity(self) -> Value | None:
        """Viscosity v [Pa s] of the damping force; None for none."""
        return None


def determinant(F: Sequence[Values]) -> Value:
    """Volume ratio J = det F of three rows of three values."""
    a, b, c = F
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


def first_invariant(F: Sequence[Values]) -> Value:
    """I1 = tr(F^T F)."""
    total = 0.0
    for row in F:
        for value in row:
            total = total + value * value
    return total


def lame(young_modulus: Value, poisson_ratio: Value) -> tuple[Value, Value]:
    """Lame constants (lambda, mu) [Pa]."""
    mu = young_modulus / (2.0 * (1.0 + poisson_ratio))
    return 2.0 * mu * poisson_ratio / (1.0 - 2.0 * poisson_ratio), mu
