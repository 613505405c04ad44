# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Load a file of controller parameters: its law for a model, and the reference; no ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.schema.fields import NAME_PATTERN

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from softrobot_dynamics.controllers.phases import Program
    from softrobot_dynamics.references.piecewise import Reference


@dataclass(frozen=True, eq=False)
class LoadedController:
    """The law of a controller file and its reference: arguments of ``sd.closed_loop``."""

    law: Controller
    """The law for the model; a Composition if the file has phases."""

    parameters: Mapping[str, Any]
    """All parameters of the controller by name; what the file leaves out is the default."""

    @property
    def ramp(self) -> float:
        """Time in which the law turns to the reference whenever it begins [s]."""
        return float(self.parameters['reference.ramp_time'])

    def plan(self, q: ArrayLike | None = None) -> Reference | Program:
        """
        Return the reference of the file, planned from the coordinates q (n,).

        Default: the model's initial ones. A Program if the file has phases; without a reference,
        to stay at the outputs there. Raises DescriptionError for a reference that cannot be, and
        the error of the planner for one that the robot cannot follow.
        """
        from softrobot_dynamics.configuration.build import reference_of
        from softrobot_dynamics.dynamics.arguments import checked

        model = self.law.model
        start = model.q0 if q is None else checked('q', q, (model.n,))
        return reference_of(self.law, self.parameters, start)


def load_controller(source: str | PathLike[str], model: CompiledModel) -> LoadedController:
    """
    Return the :class:`LoadedController` of a controller file for a compiled model.

    ``source``: a file of ROS parameters, as the controller node takes them, or the name of a
    shipped one: ``sd.load_controller('pcc_arm', model)``. Names of files in it are relative to the
    working folder. The period of the law is 1 / ``rate``.

    Raises UnknownNameError for a name that is not shipped, or of a law that there is not;
    DescriptionError with every wrong value, ArgumentError for unknown parameters.
    """
    from softrobot_dynamics.configuration.build import law_of  # late, as few programs need it
    from softrobot_dynamics.configuration.parameter_files import controller_values
    from softrobot_dynamics.configuration.parts import given_by

    if not isinstance(model, CompiledModel):
        raise ArgumentError('model', model, 'a compiled model')
    path = _path(source)
    values, unknown = controller_values(model.description, [path])
    if unknown:
        words = f'a file without unknown parameters: {", ".join(unknown)}'
        raise ArgumentError('source', str(path), words)
    values |= given_by(values)
    return LoadedController(law_of(model, values), values)


def _path(source: str | PathLike[str]) -> Path:
    if not isinstance(source, (str, PathLike)):
        raise ArgumentError('source', source, 'the name of a shipped controller, or a path')
    if not (isinstance(source, str) and NAME_PATTERN.fullmatch(source)):
        return Path(source).expanduser()
    files = shipped('controllers')
    if source not in files:
        raise UnknownNameError('controller file', source, tuple(files))
    return files[source]
