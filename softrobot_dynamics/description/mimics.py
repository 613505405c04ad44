# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Let joints follow others: an entry `mimic` of a robot file becomes a Follower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from softrobot_dynamics.description.modules import Module
from softrobot_dynamics.errors import closest, Problem
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.joints.follower import Follower
from softrobot_dynamics.schema.parsing import Problems


def apply_mimics(modules: Sequence[Module], problems: Problems) -> tuple[Module, ...]:
    """
    Return modules in which each joint with `mimic` is a :class:`.Follower` of its leader.

    A joint may follow one that follows another. Modules that have followers already get new ones.
    Problems are joints that follow no joint, themselves or one with several coordinates, and
    limits of followers that leave their leader no range.
    """
    joints = {m.joint_name: m.joint and m.joint.described for m in modules}
    places = {module.joint_name: f'bodies[{i}].joint' for i, module in enumerate(modules)}
    found = []
    for module in modules:
        joint, made = joints[module.joint_name], None
        if joint is not None and joint.mimic is not None:
            made = _follower(module.joint_name, joints, places[module.joint_name], problems)
        found.append(replace(module, joint=made or joint))
    if not problems:
        _refuse_empty_ranges(found, problems)
    return tuple(found)


def leader_limits(
    modules: Sequence[Module],
) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """
    Return the range and the greatest speed of each joint that others follow, by its name.

    They are those within which the joint and all that follow it are within their limits.
    """
    joints = {module.joint_name: module.joint for module in modules}
    ranges: dict[str, tuple[float, float]] = {}
    speeds: dict[str, float] = {}
    for joint in joints.values():
        if isinstance(joint, Follower):
            leader = joints[joint.leader]
            (low, high), speed = leader.position_limits()[0], leader.velocity_limits()[0]
            low, high = ranges.get(joint.leader, (low, high))
            least, most = joint.leader_range()
            ranges[joint.leader] = max(low, least), min(high, most)
            speeds[joint.leader] = min(speeds.get(joint.leader, speed), joint.leader_speed())
    return ranges, speeds


def _follower(
    name: str, joints: Mapping[str, Joint], place: str, problems: Problems
) -> Follower | None:
    """Return the Follower that the joint of a name is; None with a problem."""
    joint = joints[name]
    if len(joint.coordinates()) != 1:
        words = 'no mimic: only a joint with one coordinate can follow another'
        problems.append(Problem(f'{place}.mimic', joint.type_name, words))
        return None
    multiplier, offset, leader, seen = 1.0, 0.0, name, [name]
    while (mimic := joints[leader].mimic) is not None:
        leader = mimic.joint
        if leader not in joints:
            known = [other for other in joints if other and other != name]
            words = f'a joint of the robot: {", ".join(known)}{closest(leader, known)}'
            problems.append(Problem(f'{place}.mimic.joint', leader, words))
            return None
        if leader in seen:
            words = f'a joint that does not follow {name} itself'
            problems.append(Problem(f'{place}.mimic.joint', leader, words))
            return None
        seen.append(leader)
        if joints[leader] is None:
            return None  # which is a problem already
        offset += multiplier * mimic.offset
        multiplier *= mimic.multiplier
    if len(joints[leader].coordinates()) != 1:
        words = 'a joint with one coordinate'
        problems.append(Problem(f'{place}.mimic.joint', leader, words))
        return None
    return Follower(joint=joint, leader=leader, multiplier=multiplier, offset=offset)


def _refuse_empty_ranges(modules: Sequence[Module], problems: Problems) -> None:
    """Refuse limits of followers and leaders that no position is within."""
    for name, (low, high) in leader_limits(modules)[0].items():
        if not low < high:
            index = [module.joint_name for module in modules].index(name)
            followers = ', '.join(
                module.joint_name
                for module in modules
                if isinstance(module.joint, Follower) and module.joint.leader == name
            )
            words = f'limits that leave {name} a range with those of {followers}, which follow it'
            found = f'{low:g} to {high:g}'
            problems.append(Problem(f'bodies[{index}].joint.limits.position', found, words))
