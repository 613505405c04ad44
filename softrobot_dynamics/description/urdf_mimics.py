# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read <mimic> of URDF: joints that follow others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any

from softrobot_dynamics.description.urdf_elements import Element, number, only, Problems, text
from softrobot_dynamics.description.urdf_trees import name_of
from softrobot_dynamics.errors import closest, MISSING, Problem

_MOVING_JOINTS = 'revolute', 'continuous', 'prismatic'
_RANGE_TOLERANCE = 1e-9  # of a range; one that is rounded may be narrower by so much


def mimic_of(joint: Element, place: str, problems: Problems) -> dict[str, Any]:
    """Return the entry `mimic` of a joint; empty without one."""
    element = only(joint, 'mimic', place, problems)
    if element is None:
        return {}
    name = text(element, 'joint', place, problems, 'the joint that it follows')
    found: dict[str, Any] = {'joint': name_of(name)}
    for key, default in (('multiplier', 1.0), ('offset', 0.0)):
        found[key] = number(element, key, place, problems, default=default)
    return {'mimic': found}


def refuse_unknown_leaders(
    joints: Sequence[Element], dropped: Collection[str], problems: Problems
) -> None:
    """Refuse joints that follow none of the ``joints``, one that does not move, or themselves."""
    by_name = {joint.get('name'): joint for joint in joints}
    for name, joint in by_name.items():
        seen, leader = [name], _leader(joint)
        while leader is not None and leader not in seen and leader in by_name:
            seen.append(leader)
            leader = _leader(by_name[leader])
        last = by_name[seen[-1]]
        if len(seen) == 1 and leader is None:
            continue
        place = f'joint {name}.mimic.joint'
        held = f'; to hold it still: softrobot import --lock {name}=VALUE'
        if leader is not None and leader in seen:
            words = f'a joint that does not follow {name} itself{held}'
            problems.append(Problem(place, leader, words))
        elif leader in dropped:
            words = f'a joint that is not dropped{held}, or --drop its link'
            problems.append(Problem(place, leader, words))
        elif leader is not None:
            words = f'the name of a joint{closest(leader, list(by_name))}{held}'
            problems.append(Problem(place, leader or MISSING, words))
        elif last.get('type') not in _MOVING_JOINTS:
            words = f'a revolute, continuous or prismatic joint{held}'
            problems.append(Problem(place, f'{seen[-1]}, {last.get("type")}', words))


def narrowed_ranges(bodies: Sequence[Mapping[str, Any]], problems: Problems) -> list[str]:
    """
    Return a line for each joint whose range those that follow it narrow, by entries of `bodies`.

    A follower that leaves no range is a problem.
    """
    joints = {body['joint'].get('name', body['name']): body['joint'] for body in bodies}
    lines: list[str] = []
    ranges: dict[str, tuple[float, float]] = {}
    for name in joints:
        leader, multiplier, offset = _resolved(name, joints)
        own, limits = (joints[each].get('limits', {}) for each in (leader, name))
        if leader == name or 'position' not in limits:
            continue
        ends = sorted((end - offset) / multiplier for end in limits['position'])
        low, high = ranges.get(leader) or own.get('position', (-inf, inf))
        ranges[leader] = least, most = max(low, ends[0]), min(high, ends[1])
        slight = _RANGE_TOLERANCE * (ends[1] - ends[0])
        if not least < most:
            words = f'limits that leave {leader}, which it follows, a range in {low:g} to {high:g}'
            words += f' (for none: softrobot import --unlimited {name})'
            found = f'{ends[0]:g} to {ends[1]:g} of {leader}'
            problems.append(Problem(f'joint {name}.limit', found, words))
        elif least > low + slight or most < high - slight:
            lines.append(
                f'joint {leader}: range {low:g} to {high:g} narrowed to {least:g} to {most:g} by'
                f' the limits of {name}, which follows it'
            )
    return lines


def initial_coordinates(bodies: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """
    Return the middle of the range of each joint that cannot be at 0, by entries of `bodies`.

    The range is the one that its followers leave.
    """
    joints = {body['joint'].get('name', body['name']): body['joint'] for body in bodies}
    ranges: dict[str, tuple[float, float]] = {}
    for name, joint in joints.items():
        if 'position' not in joint.get('limits', {}):
            continue
        leader, multiplier, offset = _resolved(name, joints)
        least, most = sorted((end - offset) / multiplier for end in joint['limits']['position'])
        low, high = ranges.get(leader, (-inf, inf))
        ranges[leader] = max(low, least), min(high, most)
    return {
        name: 0.5 * (low + high) for name, (low, high) in ranges.items() if not low <= 0.0 <= high
    }


def _resolved(name: str, joints: Mapping[str, Any]) -> tuple[str, float, float]:
    """Return the joint at the end of a chain, and multiplier and offset of its coordinate."""
    leader, multiplier, offset = name, 1.0, 0.0
    while mimic := joints[leader].get('mimic'):
        leader, offset = mimic['joint'], offset + multiplier * mimic['offset']
        multiplier *= mimic['multiplier']
    return leader, multiplier, offset


def _leader(joint: Element) -> str | None:
    """Return the joint that one follows, None if it has a coordinate of its own."""
    mimic = joint.find('mimic')
    if mimic is None or joint.get('type') not in _MOVING_JOINTS:
        return None
    name: str = mimic.get('joint', '')
    return name
