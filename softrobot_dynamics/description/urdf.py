# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read the rigid part of a robot from URDF: links with inertia, joints between them, their motors.

What URDF does not allow is refused, and so is what would otherwise be lost: by the joint or the
link that has it, and all of it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from os import PathLike
from typing import Any
from xml.etree import ElementTree

from softrobot_dynamics.description.urdf_changes import drop_links, lock_joints
from softrobot_dynamics.description.urdf_elements import Element, Problems, refuse_misspelt, text
from softrobot_dynamics.description.urdf_mimics import (
    initial_coordinates,
    narrowed_ranges,
    refuse_unknown_leaders,
)
from softrobot_dynamics.description.urdf_modules import DRIVEN_JOINTS, ModuleReader
from softrobot_dynamics.description.urdf_trees import name_of, ordered, Tree, tree_of
from softrobot_dynamics.errors import DescriptionError, Problem, UnknownNameError

MAX_FILE_SIZE = 16_000_000  # [bytes]; files of whole humanoids have 200,000


def read_urdf(
    path: str | PathLike[str],
    unlimited: Collection[str] = (),
    *,
    locked: Mapping[str, float] | None = None,
    dropped: Collection[str] = (),
    repair: bool = False,
    report: Callable[[str], object] = lambda line: None,
) -> dict[str, Any]:
    """
    Return the mapping of a robot file with the bodies and joints of a URDF file.

    Each link but the root, which stands on the base, becomes a rigid body of its name, whose tip
    frame is the link's: so that further bodies attach where URDF's joints would. Each revolute,
    continuous or prismatic joint has an actuator with its name and effort; a planar joint is
    `planar`, a floating one `free`, and neither has actuators; one with <mimic> follows another,
    without an actuator. What no name may have becomes `_`,
    and a link `base` is `_base`. A joint's friction is its `coulomb_friction`. Geometry and the
    root's inertia are left out.

    Of joints named in ``unlimited`` the <limit> is left out; one without `lower` and `upper`
    limits no position. Joints in ``locked`` are fixed at their value [rad, m], and so are those
    that mimic them. The links in ``dropped`` are left out with all beyond them. With ``repair`` an
    inertia that no body has becomes the nearest that one has (:func:`nearest_inertia`). ``report``
    is called with a line for each name that changed, each inertia that was repaired and each range
    that joints which follow narrow. A joint that cannot be at 0 begins in the middle of its range.

    Raises DescriptionError with every problem: invalid URDF, links that form no tree, joints of a
    type not in ``JOINTS`` or that mimic no joint, impossible numbers; UnknownNameError for an
    unknown joint or link in an argument.
    """
    root = _root(path)
    problems: Problems = []
    refuse_misspelt(root, 'robot', problems)
    text(root, 'name', 'robot', problems, 'the name of the robot')
    gone = drop_links(root, dropped)
    lock_joints(root, locked or {}, problems)
    tree = tree_of(root, problems)
    _refuse_unknown_joints(unlimited, tree)
    refuse_unknown_leaders(tree.joints, gone, problems)
    order = [] if problems else ordered(tree, problems)
    reader = ModuleReader(tree, unlimited, repair, report, problems)
    bodies = [module for joint in order for module in reader.modules(joint)]
    for line in [] if problems else narrowed_ranges(bodies, problems):
        report(line)
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    driven = [body['joint'] for body in bodies if _is_driven(body['joint'])]
    initial = initial_coordinates(bodies)
    for name, value in initial.items():
        report(f'joint {name}: its limits exclude 0; its initial value is {value:g}')
    return {
        'name': name_of(root.get('name')),
        **({'initial': initial} if initial else {}),
        'bodies': bodies,
        'actuators': [_motor(joint) for joint in driven],
    }


def changed_names(path: str | PathLike[str]) -> dict[str, str]:
    """Return {name in a robot file: name in a URDF file} of its joints whose names change."""
    given = [joint.get('name', '') for joint in _root(path).findall('joint')]
    return {name_of(name): name for name in given if name_of(name) != name}


def _root(path: str | PathLike[str]) -> Element:
    """Return the element <robot> of a file."""
    try:
        with open(path, 'rb') as file:
            content = file.read(MAX_FILE_SIZE + 1)
        if len(content) > MAX_FILE_SIZE:
            raise _wrong(path, 'more', f'a URDF file of at most {MAX_FILE_SIZE // 1_000_000} MB')
        root = ElementTree.fromstring(content)
    except OSError as error:
        raise _wrong(path, str(path), f'a URDF file ({error.strerror})') from error
    except (ValueError, LookupError, ElementTree.ParseError) as error:
        raise _wrong(path, str(error), 'a URDF file') from error
    if root.tag != 'robot':
        raise _wrong(path, root.tag, 'URDF, whose root is <robot>')
    if any('xacro}' in str(element.tag) for element in root.iter()):
        raise _wrong(path, 'xacro', 'URDF; expand the file first: xacro FILE > URDF')
    return root


def _wrong(path: str | PathLike[str], value: object, expected: str) -> DescriptionError:
    return DescriptionError((Problem('file', value, expected),), str(path))


def _refuse_unknown_joints(names: Collection[str], tree: Tree) -> None:
    known = tuple(joint.get('name') for joint in tree.joints)
    for name in names:
        if name not in known:
            raise UnknownNameError('joint', name, known)


def _is_driven(joint: dict[str, Any]) -> bool:
    """Tell whether a joint of a robot file has a coordinate of its own and one actuator."""
    return joint['type'] in DRIVEN_JOINTS and 'mimic' not in joint


def _motor(joint: dict[str, Any]) -> dict[str, Any]:
    """Return the actuator of a joint of a robot file."""
    name, effort = joint['name'], joint.get('limits', {}).get('effort')
    limits = {'limits': [-effort, effort]} if effort else {}
    return {'name': name, 'type': 'joint', 'joint': name, **limits}
