# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Scenes that come with the package: a robot, its surroundings, and the phases of its laws."""

from pathlib import Path
from typing import NamedTuple

from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import UnknownNameError

_ROBOT, _SURROUNDINGS = '.robot', '.surroundings'  # behind the name of a scene


class SceneFiles(NamedTuple):
    """The files of a scene."""

    controller: Path  # parameters of the nodes
    surroundings: Path
    robot: Path | None  # None: the parameters name a shipped one


def scene_of(name: str) -> SceneFiles:
    """Return the SceneFiles of a name; UnknownNameError."""
    files = shipped('scenes')
    known = [each for each in files if not each.endswith((_ROBOT, _SURROUNDINGS))]
    if name not in known:
        raise UnknownNameError('scene', name, tuple(known))
    return SceneFiles(files[name], files[name + _SURROUNDINGS], files.get(name + _ROBOT))
