# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Interface of a compiled robot to the recursion."""

from typing import Any, Protocol

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.recursion.actuation_hessians import Hessians
from softrobot_dynamics.recursion.joint_friction import DryFriction
from softrobot_dynamics.recursion.module_derivatives import DerivativeKernels
from softrobot_dynamics.recursion.passes import Robot


class Model(Protocol):
    """A compiled robot, see :class:`softrobot_dynamics.model.model.CompiledModel`."""

    n: int
    m: int
    coordinate_names: tuple[str, ...]
    signs: Vector
    stiffness: Matrix
    damping: Matrix
    rest: Vector
    joint_friction: Vector
    nonlinear: Integers
    linear: bool
    least_mass: Vector
    scales: Any  # softrobot_dynamics.model.scales.Scales

    @property
    def dry_friction(self) -> DryFriction:
        """The dry friction of joints."""

    def robot(self) -> Robot:
        """Return the arrays that kernels take."""

    def derivatives(self) -> DerivativeKernels:
        """Return the kernels of derivatives of its parts."""

    def hessians(self, *, cables: bool = False) -> Hessians:
        """Return the kernels of second derivatives of lengths in bodies, or of those of cables."""

    def evaluator(self) -> Any:
        """Return the evaluator of all terms."""
