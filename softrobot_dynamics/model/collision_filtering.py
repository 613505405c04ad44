# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collision filtering: which elements of shapes may touch, by their groups and bodies."""

from __future__ import annotations

from collections.abc import Iterable
import itertools
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.collision.contract import (
    CYLINDER,
    Element,
    ENVIRONMENT,
    HULL,
    OBJECT,
    PLANE,
    ROBOT,
    SEGMENT,
    SOLIDS,
    TUBE,
)
from softrobot_dynamics.model.contact_rows import FIXED_BODY, PlacedElement

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


def placed_elements(description: RobotDescription) -> list[PlacedElement]:
    """Return the elements of all shapes, those of bodies first."""
    found: list[PlacedElement] = []
    owner = 0
    for i, module in enumerate(description.modules):
        for shape in module.shapes:
            elements = shape.elements(module.body)
            found += [PlacedElement(e, shape, i, owner, module.name) for e in elements]
            owner += 1
    motion = 0
    for obstacle in description.environment:
        given = -1 if obstacle.motion is None else motion
        motion += obstacle.motion is not None
        own = obstacle.shape, FIXED_BODY, owner, obstacle.name, given
        found += [PlacedElement(e, *own) for e in obstacle.shape.elements(None)]
        owner += 1
    return found


def colliding_pairs(
    description: RobotDescription, placed: Iterable[PlacedElement]
) -> list[tuple[PlacedElement, PlacedElement]]:
    """Return the pairs of elements whose groups collide."""
    every = itertools.combinations(placed, 2)
    return [(a, b) for a, b in every if _may_touch(description, a, b)]


def _group(description: RobotDescription, placed: PlacedElement) -> str:
    if placed.shape.group is not None:
        return placed.shape.group
    if placed.body == FIXED_BODY:
        return ENVIRONMENT
    return OBJECT if description.modules[placed.body].is_object else ROBOT


def of_one_robot(description: RobotDescription, a: PlacedElement, b: PlacedElement) -> bool:
    """Tell whether both are of the robot, or of one and the same object."""
    if FIXED_BODY in (a.body, b.body):
        return False
    objects = description.modules[a.body].is_object, description.modules[b.body].is_object
    return a.body == b.body or not any(objects)


def _may_touch(description: RobotDescription, a: PlacedElement, b: PlacedElement) -> bool:
    """Tell whether the groups of two elements collide. Parts of a robot do only if both say so."""
    if a.body == b.body == FIXED_BODY or {a.element.kind, b.element.kind} <= {PLANE, TUBE}:
        return False
    if of_one_robot(description, a, b):
        if a.shape.collides_with is None or b.shape.collides_with is None:
            return False
        if a.body == b.body and (a.owner != b.owner or a.element.kind in SOLIDS):
            return False
    return a.shape.wants(_group(description, b)) and b.shape.wants(_group(description, a))


def size_of(element: Element) -> float:
    """Return the radius of an element, or half its least thickness [m]; inf of a plane or tube."""
    if element.kind in (PLANE, TUBE):
        return float('inf')
    if element.kind == HULL:
        spans = element.corners @ element.faces[:, :3].T
        return float(0.5 * np.ptp(spans, axis=0).min())
    if element.kind == CYLINDER:
        return float(min(element.radius, element.half[2]))
    return element.radius if element.kind == SEGMENT else float(min(element.half))
