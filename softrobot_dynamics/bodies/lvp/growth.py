# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Growth of sections: the factor by which their points move outwards, and kernels of it."""

from collections.abc import Callable
import functools

from softrobot_dynamics.annotations import Math, Value, Values
from softrobot_dynamics.bodies.lvp.emit_derivatives import emit_body_derivatives, TracedDerivatives
from softrobot_dynamics.bodies.lvp.emit_values import section_values
from softrobot_dynamics.materials.contract import Material
from softrobot_dynamics.tracing.graph import SYMBOLIC
from softrobot_dynamics.tracing.programs import TracedKernel


def growth(x1: Value, x2: Value, z: Values, math: Math, source: bool) -> Value:
    """By what factor the point (x1, x2) [m] of a section with strains z is farther out."""
    square = math.sqrt(z[5])
    wider = math.sqrt(1.0 + z[6] / (x1 * x1 + x2 * x2)) if source else 1.0
    # r = c wider / (w sqrt(lambda)) turns a r^3 + r^2 = c^2 / lambda into w^3 - w = b
    b = (z[0] * x2 - z[1] * x1) * (2.0 / 3.0) * wider / (z[5] * square)
    return wider / (math.cubic(b) * square)


@functools.cache
def trace_values(strains: tuple[int, ...], source: bool) -> TracedKernel:
    """Return the kernel of material points, see ``emit_values.section_values``."""
    return section_values(lambda x1, x2, z: growth(x1, x2, z, SYMBOLIC, source), strains)


@functools.cache
def trace_derivatives(moved: tuple[int, ...], material: Material) -> TracedDerivatives:
    """Return the kernels of derivatives, see ``emit_derivatives.emit_body_derivatives``."""
    return emit_body_derivatives(moved, lambda F: material.energy(F, SYMBOLIC))


@functools.cache
def trace_terms(
    sums: Callable[..., TracedKernel],
    strains: tuple[int, ...],
    material: Material,
    density: Value,
    source: bool,
) -> TracedKernel:
    """Return the kernel of terms that ``sums`` makes: over sections, or over points."""
    return sums(
        lambda x1, x2, z: growth(x1, x2, z, SYMBOLIC, source),
        strains,
        lambda F: material.energy(F, SYMBOLIC),
        material.viscosity(),
        density,
    )
