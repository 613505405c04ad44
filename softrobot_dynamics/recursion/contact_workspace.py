# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Workspace of contact: the pairs of elements of a robot that may touch, and their state."""

from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.recursion.material_points import Cloud
from softrobot_dynamics.recursion.obstacle_motion import MovingNodes
from softrobot_dynamics.recursion.solid_pairs import SolidPairs


class NodeCloud(NamedTuple):
    """The nodes of one body."""

    cloud: Cloud
    body: int  # its index
    turned: int  # 1: some have axes of their own
    axes: Matrix  # (K, 9) of each in the frame at its point
    frames: Matrix  # (K, 16) filled
    jacobians: Matrix  # (K, 6 n) filled for those that are needed
    needed: Vector  # (K,) 1 or 0


class ContactWorkspace(NamedTuple):
    """All P pairs of elements of a robot that may touch, and what is known of them at a state."""

    find: Entry  # of :func:`measure_contacts` for this workspace, by q and qd
    place_frames: Entry  # of all nodes, by q
    differentiate: Entry  # of all Jacobians that are needed
    frames: Matrix  # (N, 16) of nodes, to the base frame
    jacobians: Matrix  # (N, 6 n)
    needed: Vector  # (N,)
    pairs: Integers  # (P, 7) see contact_pairs
    numbers: Matrix  # (P, 10)
    faces: Matrix  # (F, 13) of all hulls, see softrobot_dynamics.recursion.solid_distances
    solids: SolidPairs
    detection_distance: float  # [m] gap below which a pair is near
    slip: float  # [m/s] v_0
    dissipation: float  # a of a restitution of 0
    margin: float  # [m] by which nodes may move before all pairs are measured again
    extent: Vector  # (N,) [m] how far what turns with a node reaches from it
    placed: Matrix  # (N, 16) frames when all pairs were measured
    candidates: Integers  # (P + 1,) how many pairs may come near meanwhile; and which
    min_restitution_speed: float  # [m/s] of approach; slower impacts dissipate as this one does
    gap: Vector  # (P,) [m]
    normal: Matrix  # (P, 3) from the second element to the first
    segment_parameters: Matrix  # (P, 2) of the nearest points on the segments of both, 0 to 1
    point: Matrix  # (P, 3) [m] in the middle between the surfaces
    speed: Vector  # (P,) [m/s] d(gap)/dt; 0 where a pair is not near
    sliding: Matrix  # (P, 3) [m/s] velocity of the first along the second
    force: Vector  # (P,) [N] along the normal
    friction: Matrix  # (P, 3) [N] on the first
    damping: Vector  # (P,) [s/m] c in force
    onset: Vector  # (P,) [m/s] speed of approach when they met; 0 where they are apart
    min_damping: Vector  # (P,) [s/m] of c, of pairs that no step of equal length saw meet
    drift: Matrix  # (P, 3) [m/s] of sliding and speed: what motions that are given make of them
    moving: MovingNodes
    J: Matrix  # (P, 3 n) of the relative velocity, row by row; of pairs that are near
    v: Vector  # (21,) scratch: ends of both elements (12), of hulls (6) and rims (3)
    applied: Vector  # (n,) generalized force that steps are begun with
    lasting: Vector  # (P,) 1 where there was a force in the step before, too
    restitution: Vector  # (P,) of pairs whose damping is not given, else 0
    pushes: Matrix  # (P, 3) [N] on the first, in a step of equal length
    unsettled: Vector  # (1,) steps whose forces miss their law
