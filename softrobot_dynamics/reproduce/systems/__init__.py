# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The systems of `softrobot reproduce`: one file each, whose name is that of the system.

Add a file to add a system. It contains what :class:`SystemModule` lists and, if something moves,
``film(data)``, which returns the motion as a
:class:`~softrobot_dynamics.viewing.animation.Film`.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, cast, Protocol, TYPE_CHECKING

from softrobot_dynamics.errors import UnknownNameError
from softrobot_dynamics.reproduce.outcome import quietly, SystemResult, Tell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SystemModule(Protocol):
    """The contents of a system's file."""

    TITLE: str

    def run(self, tell: Tell = quietly, share: float = 1.0) -> SystemResult:
        """
        Run the system and return its result.

        ``tell(words)`` returns a context in which something is done that takes time; a ``share``
        below 1 asks for a shorter run.
        """

    def draw(self, figure: Figure, data: dict[str, Any]) -> None:
        """Draw the data of a result into a figure."""


def system_names() -> list[str]:
    """Return the names of all systems, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_system(name: str) -> SystemModule:
    """Return the module of a system; raises UnknownNameError for a name that is none."""
    if name not in system_names():
        raise UnknownNameError('system', name, tuple(system_names()))
    return cast(SystemModule, importlib.import_module(f'{__name__}.{name}'))
