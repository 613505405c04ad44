# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Strains of rods, and their orders, among which model selection chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.identification.omitted_strains import STRAINS, with_body

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


class Strain(NamedTuple):
    """A strain of some rods, as 'gamma_z' or 'cone.gamma_z', up to an order."""

    name: str
    order: int

    @property
    def strain(self) -> str:
        """The strain itself."""
        return self.name.rpartition('.')[2]

    @property
    def body(self) -> str:
        """The rod that is meant, '' for all."""
        return self.name.rpartition('.')[0]


def is_strain(text: str) -> bool:
    """Tell whether a text names a strain, not a number of a robot file."""
    return text.partition('=')[0].strip().rpartition('.')[2] in STRAINS


def read_strains(description: RobotDescription, texts: Sequence[str]) -> tuple[Strain, ...]:
    """
    Return the :class:`Strain` objects of texts: 'gamma_z', or 'cone.gamma_z=2' up to order 2.

    Raises ArgumentError, UnknownNameError for a body that there is not.
    """
    found = tuple(_strain(description, text) for text in texts)
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError('fit', name, 'each name once')
    return found


def _strain(description: RobotDescription, text: str) -> Strain:
    name, equals, order = (part.strip() for part in text.partition('='))
    if equals and not order.isdecimal():
        raise ArgumentError('fit', text, f'{name}=K with the highest order K, 0 or more')
    strain = Strain(name, int(order) if equals else 0)
    if strain.body and strain.body not in description.body_names:
        raise UnknownNameError('body', strain.body, description.body_names)
    if not _rods(description, strain):
        expected = f'a rod of type cosserat{f" named {strain.body}" * bool(strain.body)} that can'
        raise ArgumentError('fit', text, f'{expected} have {strain.strain}')
    return strain


def _rods(description: RobotDescription, strain: Strain) -> list[str]:
    """Return the names of the rods that a strain means: they have it, or leave it out."""
    return [
        module.name
        for module in description.modules
        if strain.body in ('', module.name)
        and (strain.strain in module.body.omitted_strains() or _order(module.body, strain) >= 0)
        and hasattr(module.body, 'strains')
    ]


def orders_of(body: Any) -> dict[str, int]:
    """Return the orders of the strains that a rod has, as far as their bases have orders."""
    names = [name.rpartition('_')[0] for name in body.coordinates()]
    return {name: names.count(name) - 1 for name in STRAINS if name in names}


def _order(body: Any, strain: Strain) -> int:
    """Return the order of a strain of a rod, -1 if it is left out."""
    return orders_of(body).get(strain.strain, -1)


def least_order(description: RobotDescription, strain: Strain) -> int:
    """Return the order that all rods which a strain means have, -1 if one leaves it out."""
    rods = _rods(description, strain)
    return min(_order(m.body, strain) for m in description.modules if m.name in rods)


def with_strains(description: RobotDescription, orders: Mapping[Strain, int]) -> RobotDescription:
    """Return the robot whose rods have strains of at least these orders."""
    modules = []
    for module in description.modules:
        own = {s.strain: k for s, k in orders.items() if module.name in _rods(description, s)}
        body = module.body.with_strains(own).body if own else module.body
        modules.append(with_body(module, body) if own else module)
    return replace(description, modules=tuple(modules))
