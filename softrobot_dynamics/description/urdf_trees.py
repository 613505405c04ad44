# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find the tree that the links and joints of a URDF file make, or say why they make none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
import re
from typing import NamedTuple

from softrobot_dynamics.description.modules import MAX_BODIES
from softrobot_dynamics.description.urdf_elements import Element, only, Problems, text
from softrobot_dynamics.errors import closest, MISSING, Problem

JOINTS = {
    'revolute': 'revolute', 'continuous': 'revolute', 'prismatic': 'prismatic', 'fixed': 'fixed',
    'planar': 'planar', 'floating': 'free',
}  # fmt: skip
"""Types of URDF's joints, and ours."""


class Tree(NamedTuple):
    """Links and joints of a URDF file."""

    links: dict[str, Element]
    joints: list[Element]
    root: str  # the link that no joint moves

    def ends(self, joint: Element) -> tuple[str, str, str]:
        """Return the names of a joint, of its parent and of its child."""
        return joint.get('name'), joint.find('parent').get('link'), joint.find('child').get('link')


def tree_of(root: Element, problems: Problems) -> Tree:
    """Return the links and joints of an element <robot>, each named once and of a known kind."""
    links, joints = root.findall('link'), root.findall('joint')
    for kind, elements in (('link', links), ('joint', joints)):
        _check_names(kind, elements, problems)
        if len(elements) > MAX_BODIES:
            problems.append(Problem(f'{kind}s', len(elements), f'at most {MAX_BODIES}'))
    known = {link.get('name'): link for link in links}
    if not links:
        problems.append(Problem('links', 'none', 'a robot of two links or more'))
    elif not joints:
        problems.append(Problem('joints', 'none', 'a joint that moves a link'))
    for joint in joints:
        _check_joint(joint, known, problems)
    children = Counter(end.get('link') for joint in joints for end in joint.findall('child'))
    for name, count in children.items():
        if count > 1:
            words = 'a link that is the child of one joint'
            problems.append(Problem(f'link {name}', f'child of {count} joints', words))
    roots = [name for name in known if name not in children]
    if links and len(roots) != 1 and not problems:
        words = 'a tree: one link that is the child of no joint'
        problems.append(Problem('links', f'roots {", ".join(roots) or "none"}', words))
    return Tree(known, joints, roots[0] if roots else '')


def ordered(tree: Tree, problems: Problems) -> list[Element]:
    """Return the joints, each before those that its child bears, as they are in the file else."""
    child_joints: dict[str, list[Element]] = {}
    for joint in tree.joints:
        child_joints.setdefault(tree.ends(joint)[1], []).append(joint)
    joints, waiting = [], list(reversed(child_joints.get(tree.root, [])))
    while waiting:
        joint = waiting.pop()
        joints.append(joint)
        waiting += reversed(child_joints.get(tree.ends(joint)[2], []))
    if len(joints) < len(tree.joints):
        reached = {tree.root, *(tree.ends(joint)[2] for joint in joints)}
        lost = ', '.join(name for name in tree.links if name not in reached)
        words = f'a tree: every link reachable from {tree.root} (these form a loop)'
        problems.append(Problem('links', lost, words))
    return joints


def _check_names(kind: str, elements: Iterable[Element], problems: Problems) -> None:
    """Refuse elements without a name, and two of one name, also after `name_of` both."""
    given: dict[str, str] = {}
    count = Counter(element.get('name') for element in elements)
    for i, element in enumerate(elements):
        name = text(element, 'name', f'{kind} number {i + 1}', problems, f'the name of a {kind}')
        if not name:
            continue
        other = given.setdefault(name_of(name), name)
        if other != name:
            words = f'a name that differs from {other} in letters, digits or _'
            problems.append(Problem(f'{kind} {name}', name, words))
    for name, times in count.items():
        if name and times > 1:
            words = f'each {kind} once: remove or rename all but one'
            problems.append(Problem(f'{kind} {name}', f'{times} of that name', words))


def _check_joint(joint: Element, links: dict[str, Element], problems: Problems) -> None:
    """Refuse a joint of an unknown type, or one that does not connect two links."""
    place, kind = f'joint {joint.get("name")}', joint.get('type')
    if kind not in JOINTS:
        words = f'one of {", ".join(JOINTS)}{closest(kind, JOINTS, 0.75)}'
        problems.append(Problem(place, kind or MISSING, words))
    if kind in ('planar', 'floating') and joint.find('mimic') is not None:
        words = f'no <mimic>: a {kind} joint has several coordinates'
        problems.append(Problem(place, 'mimic', words))
    ends = [_end(joint, tag, place, links, problems) for tag in ('parent', 'child')]
    if ends[0] and ends[0] == ends[1]:
        problems.append(Problem(place, ends[0], 'a child other than its parent'))


def _end(
    joint: Element, tag: str, place: str, links: dict[str, Element], problems: Problems
) -> str:
    """Return the link that a joint has as parent or child."""
    words = f'the {tag} of the joint: <{tag} link="..."/>'
    name = text(only(joint, tag, place, problems, words), 'link', place, problems, words)
    if name and name not in links:
        meant = f'the name of a link{closest(name, links)}'
        problems.append(Problem(f'{place}.{tag}.link', name, meant))
    return name


def name_of(words: str | None) -> str:
    """Return a name as robot files have it: other characters become `_`, `base` is `_base`."""
    found = re.sub(r'\W', '_', words or '', flags=re.ASCII)
    return f'_{found}' if found[:1].isdigit() or found == 'base' else found
