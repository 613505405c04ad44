# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Inverse dynamics: the four calls of [P], with or without gravity and elasticity, with or without M.

Arguments and errors as in :mod:`softrobot_dynamics.dynamics.calls`.
"""

from __future__ import annotations

from typing import Any, Literal, overload, TYPE_CHECKING

from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked, require_finite
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.wrenches import load_force, reactions, read_wrenches, Wrenches
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.recursion.passes import FULL, INERTIAL

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


def inertial_inverse_dynamics(
    model: CompiledModel, *, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Vector:
    """Return IID [P, Alg. 1]: M(q) qdd + c(q, qd), (n,), for q, qd, qdd (n,)."""
    return _recursion(model, q, qd, qdd, INERTIAL)


@overload
def inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: Literal[False] = False,
) -> Vector: ...


@overload
def inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: Literal[True],
) -> tuple[Vector, Matrix]: ...


@overload
def inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: bool,
) -> Vector | tuple[Vector, Matrix]: ...


def inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: bool = False,
) -> Vector | tuple[Vector, Matrix]:
    """
    Return ID [P, Alg. 2]: M qdd + c + g + s, with gravity, elasticity and damping, (n,).

    ``wrenches`` act from outside: ID less their generalized force J^T w. With ``joint_wrenches``
    also returns (N, 6), moment then force: the wrench that the parent side of each joint exerts
    on the body beyond it, at the joint's distal frame S_J, in its axes. It balances inertia,
    gravity and external wrenches of all beyond; tendons that cross the joint are part of it.
    Of a robot with closures ID is that of its tree, what actuation and the forces of closures sum
    up to: see ``sd.closed_inverse_dynamics``. It has no ``joint_wrenches`` yet: ArgumentError.
    """
    return _recursion(model, q, qd, qdd, FULL, wrenches=wrenches, joint_wrenches=joint_wrenches)


def mass_inertial_inverse_dynamics(
    model: CompiledModel, *, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> tuple[Vector, Matrix]:
    """Return MIID [P, A.6]: IID (n,) and the mass matrix (n, n), in one pass."""
    return _recursion(model, q, qd, qdd, INERTIAL, with_mass=True)


@overload
def mass_inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: Literal[False] = False,
) -> tuple[Vector, Matrix]: ...


@overload
def mass_inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: Literal[True],
) -> tuple[Vector, Matrix, Matrix]: ...


@overload
def mass_inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: bool,
) -> tuple[Vector, Matrix] | tuple[Vector, Matrix, Matrix]: ...


def mass_inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
    joint_wrenches: bool = False,
) -> tuple[Vector, Matrix] | tuple[Vector, Matrix, Matrix]:
    """
    Return MID [P, A.6]: ID (n,) and the mass matrix (n, n), in one pass.

    ``wrenches`` and ``joint_wrenches`` (a third result) as in :func:`inverse_dynamics`.
    """
    return _recursion(model, q, qd, qdd, FULL, True, wrenches, joint_wrenches)


def _recursion(
    model: CompiledModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    mode: int,
    with_mass: bool = False,
    wrenches: Wrenches | None = None,
    joint_wrenches: bool = False,
) -> Any:
    """Return Q, or a tuple of it and the other results asked for: M, joint wrenches."""
    if joint_wrenches:
        require_tree(model, 'wrenches that joints transmit are')
    n, loads = model.n, read_wrenches(model, wrenches)
    q, qd, qdd = checked('q', q, (n,)), checked('qd', qd, (n,)), checked('qdd', qdd, (n,))
    placing = bool(loads or joint_wrenches)  # needs poses, which come with the mass matrix
    recursion = model.per_thread.recursion(mode, with_mass or placing)
    recursion(q, qd, qdd)
    Q = recursion.Q.copy()
    require_finite(model, q, Q)
    results = [Q, recursion.M.copy()] if with_mass else [Q]
    if placing:
        placed = Placement(model, recursion.robot, q)
        Q -= load_force(placed, loads)
        if joint_wrenches:
            results.append(reactions(placed, loads))
    return tuple(results) if len(results) > 1 else Q
