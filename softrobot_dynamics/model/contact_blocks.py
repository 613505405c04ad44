# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Coordinates that nothing but contact couples: those of the robot, and those of each object."""

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.recursion.contact_pairs import A, B

NO_BLOCK = -1  # in place of the index of a block


def contact_blocks(model: RobotModel) -> tuple[Integers, Integers]:
    """
    Return blocks (B, 2) of coordinates, and those that the P pairs of the contact plan are of.

    Blocks are by their first coordinate and that behind the last; mass, stiffness and damping have
    no entries between two. The second block of a pair (P, 2) is NO_BLOCK if there is but one.
    """
    blocks, of_module = _blocks(model)
    plan = model.contact_plan
    of_node = np.full(int(plan.pairs[:, A : B + 1].max()) + 1, NO_BLOCK)
    first = 0
    for body, points, _ in plan.bodies:
        of_node[first : first + len(points)] = of_module[body]
        first += len(points)
    sides = of_node[plan.pairs[:, [A, B]]]
    sides = np.where(sides[:, [0]] == NO_BLOCK, sides[:, ::-1], sides)
    sides[sides[:, 0] == sides[:, 1], 1] = NO_BLOCK
    return np.array(blocks, dtype=np.int64), np.ascontiguousarray(sides, dtype=np.int64)


def _blocks(model: RobotModel) -> tuple[list[tuple[int, int]], list[int]]:
    """Return all blocks, the robot's first, and that of each module."""
    spans, modules, first = [], model.description.modules, 0
    for module in modules:
        last = first + len(module.joint.coordinates()) + len(module.body.coordinates())
        spans.append((first, last))
        first = last
    own = [span for span, module in zip(spans, modules) if not module.is_object]
    robot = min(a for a, _ in own), max(b for _, b in own)
    blocks, of_module = [robot], []
    for a, b in spans:
        if robot[0] <= a and b <= robot[1]:  # an object among bodies is as one of these
            of_module.append(0)
        else:
            of_module.append(len(blocks))
            blocks.append((a, b))
    return blocks, of_module
