# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Strains that rods of a robot leave out, and how far they would move it, to first order.

A rod that has no coordinate for a strain is rigid in it. Here the strain is released: the same
robot, with polynomials for all strains that its rods leave out, is put into the posture q in
which the robot rests. There the static residual r = ID(q, 0, 0) - A u of the released coordinates
is the internal load that the rod bears without giving way; divided by the rigidity it is the
strain left out. One Newton step, dq = -K^-1 r with the tangent stiffness K of the coordinates
that the robot has and those of one strain, is how far the robot would move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.description.modules import Module
from softrobot_dynamics.description.robot import load_robot, RobotDescription
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.identification.postures import Marker
from softrobot_dynamics.identification.prediction import markers_at
from softrobot_dynamics.model.model import compile_model

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

RELEASED_ORDER = 2  # of the polynomials by which a strain that is released may vary along its rod
MAX_ORDER_DEFICIT = 0.1  # of the shift by the highest order, that a lower one may miss


class Omitted(NamedTuple):
    """
    A strain that a rod leaves out, at one posture.

    ``strain`` [1/m or -] is its mean, the internal load by the rigidity; ``shifts``
    (RELEASED_ORDER + 1, K, 3) [m] are those of K points, base frame, by polynomials of order 0, 1,
    ...
    """

    body: str
    name: str
    strain: float
    shifts: Array

    @property
    def order(self) -> int:
        """The least order whose shift is close to that of the highest one."""
        off = np.linalg.norm(self.shifts - self.shifts[-1], axis=(1, 2))
        return int(np.argmax(off <= MAX_ORDER_DEFICIT * np.linalg.norm(self.shifts[-1])))

    @property
    def shift(self) -> float:
        """The largest distance [m] by which a point would move."""
        return float(np.linalg.norm(self.shifts[self.order], axis=-1).max(initial=0.0))


def release(
    description: RobotDescription, order: int = RELEASED_ORDER
) -> tuple[RobotDescription, Matrix]:
    """
    Return the robot whose rods have polynomials of an order for all strains that they leave out.

    And (N, n), which turns coordinates of the robot into those of the same posture.
    """
    blocks, modules = [], []
    for module in description.modules:
        names = module.body.omitted_strains()
        blocks.append(np.eye(len(module.joint.coordinates())))
        if names:
            body, embedding = module.body.with_strains(dict.fromkeys(names, order))
            module = with_body(module, body)
            blocks.append(embedding)
        else:
            blocks.append(np.eye(len(module.body.coordinates())))
        modules.append(module)
    sizes = np.cumsum([(0, 0), *(block.shape for block in blocks)], axis=0)
    whole = np.zeros(sizes[-1])
    for (row, column), block in zip(sizes, blocks):
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
    return replace(description, modules=tuple(modules), start=()), whole


def with_body(module: Module, body: object) -> Module:
    """Return a module with another body, an object or a mapping; DescriptionError."""
    row = {'name': module.name, 'joint': {'type': 'fixed'}, 'body': body}
    return replace(module, body=load_robot({'name': 'one', 'bodies': [row]}).modules[0].body)


class _Release(NamedTuple):
    """One released strain of a rod: its coordinates (RELEASED_ORDER + 1,), lowest order first."""

    body: str
    name: str
    rows: Integers
    rigidity: float  # of a constant strain along the whole rod [N m^2 m or N m]


class ReleasedRobot:
    """A model of a robot and one of the same robot with strains released. Not for threads."""

    def __init__(self, model: CompiledModel) -> None:
        self.model = model
        description, self._embedding = release(model.description)
        self._own = np.flatnonzero(self._embedding.any(axis=1))
        self._releases = list(_releases(model.description, description))
        if self._releases:
            self._released = compile_model(description)
            self._statics = Statics(self._released, commanded=True)

    def __bool__(self) -> bool:
        return bool(self._releases)

    def omitted(
        self,
        q: Vector,
        command: Vector,
        sliding: Vector | None = None,
        markers: Sequence[Marker] = (),
    ) -> list[Omitted]:
        """
        Return the :class:`Omitted` strains of a robot that rests at q (n,) under a command (m,).

        The points are markers or, without any, the tips of all bodies. ``sliding`` (m,) says
        which way tendons slid last, as of :func:`.equilibrium`.
        """
        if not self._releases:
            return []
        there, statics = self._embedding @ q, self._statics
        statics.slide(np.zeros(self.model.m) if sliding is None else sliding)
        r, K = statics.residual(there, command)[0], statics.tangent(there, command)
        J, found = self._jacobians(there, markers), list[Omitted]()
        if not all(np.isfinite(each).all() for each in (r, K, J)):
            return found
        for body, name, rows, rigidity in self._releases:
            shifts = []
            for count in range(1, len(rows) + 1):
                some = np.r_[self._own, rows[:count]]
                step = np.linalg.lstsq(K[np.ix_(some, some)], -r[some], rcond=None)[0]
                shifts.append(J[..., some] @ step)
            found.append(Omitted(body, name, -float(r[rows[0]]) / rigidity, np.array(shifts)))
        return found

    def actuators(self) -> dict[str, tuple[int, ...]]:
        """Return which actuators load each rod, in the initial posture."""
        self._statics.residual(self._embedding @ self.model.q0, np.zeros(self.model.m))
        A, found = self._statics.actuation_matrix(), dict[str, tuple[int, ...]]()
        size = np.abs(A).max(initial=0.0)
        for name in dict.fromkeys(release.body for release in self._releases):
            own = [n.startswith(f'{name}/') for n in self._released.coordinate_names]
            acts = np.abs(A[own]).max(axis=0) > 1e-9 * size
            found[name] = tuple(map(int, np.flatnonzero(acts)))
        return found

    def _jacobians(self, q: Vector, markers: Sequence[Marker]) -> Array:
        """Return the Jacobians (K, 3, N) of markers, or of all tips at the last residual's q."""
        if markers:
            return markers_at(self._released, markers, q[None]).jacobians[0]
        return self._statics.tips(range(len(self._released.body_names)))[1]


def _releases(before: RobotDescription, after: RobotDescription) -> Iterator[_Release]:
    names = list(after.coordinate_names)
    for old, new in zip(before.modules, after.modules):
        coordinates, K = list(new.body.coordinates()), new.body.stiffness()
        for strain in old.body.omitted_strains():
            own = [f'{strain}_{k}' for k in range(RELEASED_ORDER + 1)]
            rows = np.array([names.index(f'{new.name}/{each}') for each in own])
            first = coordinates.index(own[0])
            yield _Release(new.name, strain, rows, float(K[first, first]))


STRAIN_TEXTS = {
    'kappa_x': 'bend about x',
    'kappa_y': 'bend about y',
    'kappa_z': 'twist',
    'gamma_x': 'shear along x',
    'gamma_y': 'shear along y',
    'gamma_z': 'stretch',
}
STRAINS = tuple(STRAIN_TEXTS)
_MAX_NAMED_ACTUATORS = 4  # that are named one by one


def loading(description: RobotDescription, command: Vector, group: Sequence[int]) -> str:
    """Return in words the commands that act: 'its weight alone', '20 N on t1 and t2 together'."""
    if not len(group):
        return 'its weight alone'
    names, kinds = description.actuator_names, description.commands
    sizes = [f'{command[i]:.3g} {kinds[i].unit or "-"}' for i in group]
    if len(group) > _MAX_NAMED_ACTUATORS:
        return f'{len(group)} actuators, {names[group[0]]} to {names[group[-1]]}, together'
    if len(set(sizes)) == 1:
        each = [names[i] for i in group]
        words = ' and '.join(filter(None, (', '.join(each[:-1]), each[-1])))
        return f'{sizes[0]} on {words}{" together" * (len(group) > 1)}'
    return ', '.join(f'{size} on {names[i]}' for size, i in zip(sizes, group))


def advice(description: RobotDescription, omitted: Omitted, load: str, beside: str) -> str:
    """Return the question that a strain left out is, in plain words."""
    body = next(m.body for m in description.modules if m.name == omitted.body)
    strain, size = omitted.strain, f'{abs(omitted.strain):.2g}'
    does = STRAIN_TEXTS[omitted.name]
    if omitted.name == 'gamma_z':
        does, size = ('shorten' if strain < 0.0 else 'lengthen'), f'{abs(strain):.1%}'
    elif omitted.name.startswith('kappa'):
        size += ' rad/m'
    where = '' if hasattr(body, 'strains') else f', with {omitted.body} written as `cosserat`'
    return (
        f'{omitted.body} leaves out {omitted.name}: under {load} it would {does} by {size} and'
        f' move by {1e3 * omitted.shift:.2g} mm ({beside});'
        f' add `{omitted.name}: {{basis: legendre, order: {omitted.order}}}`{where}?'
    )
