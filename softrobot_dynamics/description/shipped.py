# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find the YAML files that come with the package, however it was installed."""

from collections.abc import Iterable
from pathlib import Path

try:
    from ament_index_python.packages import get_package_share_directory
except ImportError:  # no ROS installation
    get_package_share_directory = None

PACKAGE = 'softrobot_dynamics'


def shipped(kind: str) -> dict[str, Path]:
    """
    Return {name: path} of shipped files.

    `kind` is 'robots', 'controllers', 'estimators' or 'scenes'. They are looked for in the ament
    share folder, in the files of the installed distribution, and in the source tree; the first
    place that has any is the one.
    """
    for place in (_ament, _distribution, _source_tree):
        files = {path.stem: path for path in sorted(place(kind)) if path.is_file()}
        if files:
            return files
    return {}


def _ament(kind: str) -> Iterable[Path]:
    if get_package_share_directory is None:
        return []
    try:
        share = get_package_share_directory(PACKAGE)
    except (LookupError, OSError):  # not a package of this ROS installation, or none sourced
        return []
    return Path(share, 'config', kind).glob('*.yaml')


def _distribution(kind: str) -> Iterable[Path]:
    from importlib import metadata  # takes as long as numpy

    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    return [
        Path(file.locate())
        for file in files
        if file.suffix == '.yaml' and file.parts[-3:-1] == ('config', kind)
    ]


def _source_tree(kind: str) -> Iterable[Path]:
    return Path(__file__).parents[2].joinpath('config', kind).glob('*.yaml')
