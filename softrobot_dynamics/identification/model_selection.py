# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Model selection: which numbers and which strains are worth having, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.errors import DescriptionError, NotConvergedError, SimulationDivergedError
from softrobot_dynamics.identification.fitting import fitted, Identification, rms_of
from softrobot_dynamics.identification.omitted_in_fit import omitted_strain_questions
from softrobot_dynamics.identification.strains import least_order, Strain, with_strains
from softrobot_dynamics.identification.validation import cross_validate, Validation

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

# of the error on postures not used, by which another parameter must lower it
MIN_ERROR_REDUCTION = 0.02


class ModelSelection(NamedTuple):
    """
    The chosen numbers and strains, in their order, and the error [m] up to each.

    ``names`` are numbers of the robot file, and strains with their orders as 'cone.gamma_z=0';
    ``errors`` on postures not seen, the first that of the robot file, each further one with one
    number or order more; ``description`` has the strains.
    """

    names: tuple[str, ...]
    errors: tuple[float, ...]
    description: RobotDescription

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of numbers."""
        return tuple(name for name in self.names if '=' not in name)


class _Model(NamedTuple):
    """A model among which is chosen: numbers to fit, orders of strains, and how it does."""

    numbers: tuple[str, ...]
    orders: dict[Strain, int]
    names: tuple[str, ...]  # all, in the order in which they were taken
    checked: Validation | None  # None: nothing is fitted

    def error(self, before: float) -> float:
        """Return the error [m] on postures not seen."""
        return self.checked.rms if self.checked else before


def choose(
    found: Identification,
    *,
    strains: Sequence[Strain] = (),
    loss: str = 'soft_l1',
    folds: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> ModelSelection:
    """
    Select a model: among the parameters of a fit, and ``strains`` that rods may have.

    By errors on postures not seen, :func:`.cross_validate`. Names are taken one by one, each time
    the one that lowers the error most, until none lowers it by two parts in a hundred. Of these
    models the simplest counts whose error is within one standard error of the least [Breiman et
    al. 1984, Sec. 3.4.3]; that of the differences, group by group.

    A strain that a rod leaves out is an assumption, not a number to be fitted: the material says
    how stiff the rod is in it. Strains that would move markers by half of the residual
    (:func:`.omitted_strain_questions`) are included from the beginning, unless the error without
    them is smaller by more than one standard error: that postures do not show a strain does not
    make a rod rigid. Higher orders, and strains that matter less, are chosen as numbers are.
    """
    search = _ModelSearch(found, tuple(strains), loss, folds, progress)
    path = search.path({})
    if needed := search.needed():
        other = search.path(needed)
        if not _worse(other[-1].checked, path[-1].checked):
            path = other
    return search.choice(path)


class _ModelSearch:
    """The models that were tried, from which numbers and strains are taken one by one."""

    def __init__(
        self,
        found: Identification,
        strains: tuple[Strain, ...],
        loss: str,
        folds: int | None,
        progress: Callable[[str], object] | None,
    ) -> None:
        self._found, self._strains, self._loss, self._folds = found, strains, loss, folds
        self._say = progress or (lambda words: None)
        self._before = rms_of(found.data, found.all_initial_residuals)
        self._description = found.parameters.description

    def needed(self) -> dict[Strain, int]:
        """Return strains that are left out and matter under these commands, at order 0."""
        asked = {
            (d.omitted.body, d.omitted.name)
            for d in omitted_strain_questions(self._found)
            if d.question
        }
        return {
            s: 0
            for s in self._strains
            if any(s.strain == name and s.body in ('', body) for body, name in asked)
        }

    def path(self, orders: dict[Strain, int]) -> list[_Model]:
        """Return models, each with one name more, from one with strains of these orders."""
        names = tuple(f'{s.name}={k}' for s, k in orders.items())
        models = [_Model((), orders, names, None)]
        while trials := [self._checked(model) for model in self._more(models[-1])]:
            best = min(trials, key=lambda model: model.error(np.inf))
            if not best.error(np.inf) < (1.0 - MIN_ERROR_REDUCTION) * models[-1].error(
                self._before
            ):
                break
            models.append(best)
        return models

    def _more(self, model: _Model) -> Iterator[_Model]:
        """Yield models with one number, or one order of a strain, more."""
        for name in self._found.parameters.names:
            if name not in model.numbers:
                numbers = (*model.numbers, name)
                yield model._replace(numbers=numbers, names=(*model.names, name))
        for strain in self._strains if model.numbers else ():
            order = 1 + model.orders.get(strain, least_order(self._description, strain))
            if order <= strain.order:
                names = (*model.names, f'{strain.name}={order}')
                yield model._replace(orders={**model.orders, strain: order}, names=names)

    def _checked(self, model: _Model) -> _Model:
        """Return a model with its errors on postures not seen; None where it does not rest."""
        robot = with_strains(self._description, model.orders)
        parameters = self._found.parameters.only(model.numbers)
        parameters = replace(parameters, description=robot)
        try:
            trial = fitted(parameters, self._found.data, [parameters.start], self._loss)
            checked = cross_validate(trial, loss=self._loss, folds=self._folds)
        except (DescriptionError, NotConvergedError, SimulationDivergedError):
            return model._replace(checked=None)
        self._say(f'{", ".join(model.names)}: {1e3 * checked.rms:.3g} mm on postures not seen')
        return model._replace(checked=checked)

    def choice(self, path: Sequence[_Model]) -> ModelSelection:
        """Return the simplest of the models that are not worse than the last."""
        last = path[-1]
        count = next(k for k, model in enumerate(path) if not _worse(model.checked, last.checked))
        errors = tuple(model.error(self._before) for model in path[: count + 1])
        chosen = path[count]
        robot = with_strains(self._description, chosen.orders)
        return ModelSelection(chosen.names, errors, robot)


def _worse(one: Validation | None, other: Validation | None) -> bool:
    """Tell whether squared errors are larger by more than a standard error of the difference."""
    if one is None or other is None:
        return other is not None
    share = one.sample_counts / one.sample_counts.sum()
    off = one.squares - other.squares
    mean = share @ off
    spread = np.sqrt(share**2 @ (off - mean) ** 2 * len(off) / (len(off) - 1))
    return bool(mean > spread)
