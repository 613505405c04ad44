# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Corners, planes and edges of solids with flat faces, for pairs of them that may touch."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix
from softrobot_dynamics.collision.contract import BOX, Element
from softrobot_dynamics.recursion.contact_pairs import GROUP, KIND, SOLID_SOLID
from softrobot_dynamics.recursion.solid_pairs import SolidPairs

_MAX_EDGE_DIRECTIONS = 24  # of a solid; with more, crossing edges are not tested
_PLANE_TOLERANCE = 1e-6  # of a solid's size: a corner that is no farther from a plane is on it
_PARALLEL_TOLERANCE = 1e-10  # of 1 - cos: directions whose angle has less are one


class SolidTables(NamedTuple):
    """Solids, S of them, that may touch each other; see :class:`SolidPairs`."""

    spans: Integers  # (S, 10)
    half: Matrix  # (S, 3)
    corners: Matrix  # (., 3)
    planes: Matrix  # (., 4)
    edges: Matrix  # (., 6)
    directions: Matrix  # (., 3)
    couples: Integers  # (., 2) both solids of each pair


class SolidCollector:
    """Collects the solids of pairs, each once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._kept: list[Element] = []  # so that no other element gets the same id
        self._parts: tuple[list[Matrix], ...] = ([], [], [], [])
        self._spans: list[list[int]] = []
        self._half: list[Matrix] = []
        self._couples: list[tuple[int, int]] = []

    def couple(self, a: Element, b: Element, faces: tuple[tuple[float, float], ...]) -> int:
        """Return the number of a pair of solids; ``faces``: first and last of hulls, or equal."""
        solids = tuple(self._add(e, span) for e, span in zip((a, b), faces))
        self._couples.append((solids[0], solids[1]))
        return len(self._couples) - 1

    def _add(self, element: Element, faces: tuple[float, float]) -> int:
        if id(element) in self._known:
            return self._known[id(element)]
        span: list[int] = []
        planes = _planes(element)
        edges = _edges(element, planes)
        directions = _distinct(edges[:, 3:] - edges[:, :3], signed=False)
        if len(directions) > _MAX_EDGE_DIRECTIONS:
            edges, directions = edges[:0], directions[:0]
        for part, rows in zip(self._parts, (element.corners, planes, edges, directions)):
            first = sum(len(each) for each in part)
            part.append(rows)
            span += [first, first + len(rows)]
        self._spans.append([*span, *map(int, faces)])
        self._half.append(element.half)
        self._kept.append(element)
        return self._known.setdefault(id(element), len(self._kept) - 1)

    def tables(self) -> SolidTables:
        """Return the tables of all."""
        corners, planes, edges, directions = (
            np.ascontiguousarray(np.concatenate([np.zeros((0, size)), *part]))
            for part, size in zip(self._parts, (3, 4, 6, 3))
        )
        return SolidTables(
            spans=np.array(self._spans, dtype=np.int64).reshape(-1, 10),
            half=np.array(self._half).reshape(-1, 3),
            corners=corners,
            planes=planes,
            edges=edges,
            directions=directions,
            couples=np.array(self._couples, dtype=np.int64).reshape(-1, 2),
        )


def solid_pairs(tables: SolidTables, pairs: Integers, numbers: Matrix) -> SolidPairs:
    """Return the :class:`SolidPairs` of the rows of a contact plan."""
    spans = solid_spans(pairs, numbers)
    group_of = np.full(len(pairs), -1, dtype=np.int64)
    for g, (first, last) in enumerate(spans):
        group_of[first:last] = g
    firsts = np.array([first for first, _ in spans], dtype=np.int64)
    couples = tables.couples[numbers[firsts, GROUP].astype(np.int64)]
    most = np.diff(tables.spans[:, :6].reshape(-1, 3, 2), axis=2).max(axis=0, initial=0).ravel()
    return SolidPairs(
        group_of=group_of,
        groups=np.column_stack([firsts, couples]),
        spans=tables.spans,
        half=tables.half,
        corners=tables.corners,
        planes=tables.planes,
        edges=tables.edges,
        directions=tables.directions,
        min_distance=np.zeros(len(firsts)),
        placed_corners=np.zeros((2 * most[0], 3)),
        placed_planes=np.zeros((2 * most[1], 4)),
        placed_edges=np.zeros((2 * most[2], 6)),
        axis=np.zeros(3),
        scratch=np.zeros(6),
    )


def solid_spans(pairs: Integers, numbers: Matrix) -> list[tuple[int, int]]:
    """Return the first row, and that behind the last, of each pair of solids."""
    rows = np.flatnonzero(pairs[:, KIND] == SOLID_SOLID)
    begins = np.flatnonzero(np.diff(numbers[rows, GROUP], prepend=-1.0))
    return [(int(r[0]), int(r[-1]) + 1) for r in np.split(rows, begins)[1:]]


def _planes(element: Element) -> Matrix:
    """Return the planes (F, 4) of a solid's faces, each once."""
    if element.kind == BOX:
        normals = np.vstack([np.eye(3), -np.eye(3)])
        return np.column_stack([normals, np.tile(element.half, 2)])
    return _distinct(element.faces[:, :4], signed=True)


def _edges(element: Element, planes: Matrix) -> Matrix:
    """Return the ends (E, 6) of a solid's edges: two corners that are on two planes together."""
    corners = element.corners
    if element.kind != BOX and len(corners) > 2 * _MAX_EDGE_DIRECTIONS:
        return np.zeros((0, 6))
    near = _PLANE_TOLERANCE * np.ptp(corners, axis=0).max()
    on = np.abs(corners @ planes[:, :3].T - planes[:, 3]) < near
    both = [(i, j) for i, j in itertools.combinations(range(len(corners)), 2)]
    found = [np.r_[corners[i], corners[j]] for i, j in both if (on[i] & on[j]).sum() >= 2]
    return np.array(found).reshape(-1, 6)


def _distinct(rows: Matrix, signed: bool) -> Matrix:
    """Return rows whose first three numbers, as directions of length 1, are not alike."""
    found: list[Matrix] = []
    for row in rows / np.linalg.norm(rows[:, :3], axis=1)[:, None]:
        likeness = [float(row[:3] @ other[:3]) for other in found]
        if not any((c if signed else abs(c)) > 1.0 - _PARALLEL_TOLERANCE for c in likeness):
            found.append(row)
    return np.array(found).reshape(-1, rows.shape[1])
