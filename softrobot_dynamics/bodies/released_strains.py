# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rods with omitted strains released: the strains of rods, and bodies with more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from softrobot_dynamics.annotations import Matrix

STRAINS = ('kappa_x', 'kappa_y', 'kappa_z', 'gamma_x', 'gamma_y', 'gamma_z')
"""Curvatures about x and y and twist about z [1/m], shears along x and y and stretch [-]."""

UNITS = dict(zip(STRAINS, 3 * ('1/m',) + 3 * ('-',)))


class _NamedBody(Protocol):
    """A body, whose coordinates have names."""

    def coordinates(self) -> tuple[str, ...]: ...


class Released(NamedTuple):
    """
    A rod with strains that it had locked.

    ``body``: as it may stand in a robot's description; ``embedding`` (N, n), which turns the
    coordinates of the rod as it was into those of the same posture.
    """

    body: Any
    embedding: Matrix


class OwnCoordinate(NamedTuple):
    """A constant strain that a body has: ``factor`` times one ``coordinate``, by its index."""

    coordinate: int
    factor: float


def polynomial(order: int) -> dict[str, Any]:
    """Return the basis of Legendre polynomials up to an order, as in a robot file."""
    return {'basis': 'legendre', 'order': order}


def as_cosserat(
    fields: Mapping[str, Any], own: Mapping[str, OwnCoordinate], orders: Mapping[str, int]
) -> Released:
    """
    Return a rod of constant strains as one of type `cosserat` with strains of these orders.

    ``fields`` are those of the `cosserat` rod but for its strains, ``own`` the strains that there
    are; each of them has at least order 0.
    """
    wanted = {name: orders.get(name, 0) for name in STRAINS if name in own or name in orders}
    strains = {name: polynomial(order) for name, order in wanted.items()}
    first = dict(zip(wanted, np.cumsum([0, *(order + 1 for order in wanted.values())])))
    embedding = np.zeros((sum(wanted.values()) + len(wanted), len(own)))
    for name, (index, factor) in own.items():
        embedding[first[name], index] = factor
    points = max(fields['quadrature'], *(order + 1 for order in wanted.values()))
    body = {'type': 'cosserat', **fields, 'quadrature': points, 'strains': strains}
    return Released(body, embedding)


def by_names(body: _NamedBody, own: Sequence[str]) -> Released:
    """Return a ``body`` with more strains, and the embedding of the coordinates ``own`` (n,)."""
    names = body.coordinates()
    embedding = np.array([[float(name == each) for each in own] for name in names])
    return Released(body, embedding.reshape(len(names), len(own)))
