# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A study: the closed loop without ROS, many times, with some numbers varied in each run.

:func:`plan_study` checks all and says which runs there will be, :func:`run_study` makes them, by
joblib: on all cores, or wherever a ``joblib.parallel_config`` leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.processes import safe_path
from softrobot_dynamics.configuration.build import law_of, reference_of
from softrobot_dynamics.configuration.declared_parameters import all_rows, reference_names
from softrobot_dynamics.configuration.parameter_descriptions import ParameterSpec
from softrobot_dynamics.configuration.parameter_files import (
    controller_files,
    controller_values,
    robot_remark,
)
from softrobot_dynamics.configuration.parts import (
    blended_in,
    controlled_of,
    given_by,
    parts_of,
    RAMP_TIME,
)
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.description.plant_changes import plant_of
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.description.variation import vary as varied
from softrobot_dynamics.errors import ArgumentError, DescriptionError, Problem, SoftRobotError
from softrobot_dynamics.evaluation.tracking import MAX_RMS_RATIO
from softrobot_dynamics.model.model import compile_model, CompiledModel
from softrobot_dynamics.schema.bounds import is_number
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.bus import make_bus
from softrobot_dynamics.simulation.reconstruction import reconstruction, require_alike
from softrobot_dynamics.simulation.sensing import make_sensors, Sensing
from softrobot_dynamics.studies.factors import (
    DEFAULT_SAMPLING,
    Factor,
    read_factors,
    RunSampling,
    sample,
)
from softrobot_dynamics.studies.run_table import open_run_table
from softrobot_dynamics.studies.trial import Experiment, Outcome, run_trial
from softrobot_dynamics.studies.trial import given_by as simulated_by

INSTALL_JOBLIB = "studies need joblib: pip install 'softrobot_dynamics[study]'"
DEFAULT_DURATION = 10.0  # [s] of a run
_RUNS_PER_PROCESS = 4  # at a time, where a back end gives back all at the end


@former_names(share='error_ratio')
class Study(NamedTuple):
    """Results of N runs with d factors; nan where there is nothing to tell."""

    factors: tuple[Factor, ...]  # (d,) their `name` and `unit`
    values: Matrix  # (N, d) of them
    state: Integers  # (N,) 0: followed, 1: degraded, 2: failed
    error_ratio: Vector  # (N,) the largest RMS error of a tip or output over its travel
    tip_rms_m: Vector  # (N,) [m]
    saturated: Vector  # (N,) share of ticks with a controlled command at a limit
    unanswered: Vector  # (N,) share of ticks in which the law had no command
    reason: tuple[str, ...]  # (N,) why it did not follow, in words
    tolerance: float  # error ratio up to which a robot follows


def plan_study(
    robot: str | PathLike[str],
    vary: Mapping[str, Any],
    *,
    plant: str | Sequence[str] = (),
    controller: str | PathLike[str] | None = None,
    sampling: RunSampling = DEFAULT_SAMPLING,
    seconds: float = DEFAULT_DURATION,
    tolerance: float = MAX_RMS_RATIO,
) -> Experiment:
    """
    Return the :class:`~softrobot_dynamics.studies.trial.Experiment`, all of it checked.

    ``robot`` is a shipped name or a file, ``controller`` a file of a controller's parameters
    (default: the one shipped for the robot), whose block for the simulation, if it has one, says
    what the simulated robot is like: plant, bus, sensors, sub-step. ``plant`` goes before that: it
    is what the simulated robot differs in from the law's before anything is varied, or which one
    it is, see :func:`~softrobot_dynamics.description.plant_changes.plant_of`. ``vary`` maps names
    to ranges or values, see :func:`~softrobot_dynamics.studies.factors.read_factors`: of numbers
    in the robot file, as ``sd.vary`` names them, which change in the simulated robot alone;
    ``delay`` [s] until a command acts; ``bus.rate`` [Hz] and faults of the sensors; parameters of
    the controller, as ``gains.p``.

    ``sampling`` says how many runs there are, with which values. Each takes ``seconds`` [s];
    ``tolerance`` is that of a demo.

    Raises our errors for whatever is wrong, references that the robot cannot follow included.
    """
    description = load_robot(robot)
    files = controller_files(str(robot), description, controller)
    parameters, unknown = controller_values(description, files)
    if unknown:
        words = f'a file without unknown parameters: {unknown[0]}'
        raise ArgumentError('controller', str(files[-1]), words)
    parameters |= given_by(parameters)  # paths of files, as they are from here
    rows = all_rows(description, parameters)
    given = simulated_by(description, files)
    other = plant_of(description, ([plant] if isinstance(plant, str) else plant) or given.plant)
    require_alike(description, other)
    factors = read_factors(vary, other, {row.name: row for row in rows})
    design, values = sample(factors, sampling)
    name = str(robot) if str(robot) in shipped('robots') else str(Path(robot).resolve())
    _require_number('tolerance', tolerance, 0.0)
    blended = blended_in(description, parameters)
    least = max((blended[k] for k in controlled_of(description, parameters)), default=0.0)
    _require_number('seconds', seconds, least, ', when all references are blended in')
    experiment = Experiment(
        robot=name,
        description=description,
        plant=other,
        parameters=parameters,
        factors=factors,
        values=values,
        design=design,
        seconds=float(seconds),
        tolerance=float(tolerance),
        given=given._replace(remarks=(*robot_remark(robot, files), *given.remarks)),
    )
    _try_ends(experiment, {row.name: row for row in rows})
    law = law_of(compile_model(description), parameters)
    law.warm()
    _compile(law.model, compile_model(other))
    if _planned_by(parameters) & {f.path for f in factors}:
        return experiment
    return replace(experiment, reference=reference_of(law, parameters, law.model.q0))


def run_study(
    experiment: Experiment,
    *,
    folder: str | PathLike[str] | None = None,
    jobs: int = -1,
    progress: Callable[[int, Integers], object] | None = None,
) -> Study:
    """
    Make the runs of an experiment; return the :class:`Study`.

    Each is written into a ``folder`` as it ends, and those that are there already are not made
    again. ``jobs`` processes share the work (default: one for each core); a
    ``joblib.parallel_config`` leads to another back end, as a cluster's. ``progress`` is called
    after every run with the number of runs that there were at the beginning, and the state (N,)
    of each, -1 where it is still to come.

    A run that cannot be is one that failed. Raises ArgumentError for a folder of another study.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0:
        raise ArgumentError('jobs', jobs, 'a number of processes, or -1 for one for each core')
    count = len(experiment.values)
    with open_run_table(experiment, folder) as runs:
        state = np.full(count, -1)
        state[list(runs.done)] = [outcome.state for outcome in runs.done.values()]
        before = len(runs.done)
        with safe_path():
            for number, outcome in _outcomes(experiment, np.flatnonzero(state < 0).tolist(), jobs):
                runs.add(number, outcome)
                state[number] = outcome.state
                if progress is not None:
                    progress(before, state.copy())
        outcomes = [runs.done[number] for number in range(count)]
    columns = {name: [getattr(each, name) for each in outcomes] for name in Outcome._fields}
    reasons = tuple(columns.pop('reason'))
    arrays = {name: np.array(column) for name, column in columns.items()}
    return Study(
        experiment.factors, experiment.values, **arrays, reason=reasons,
        tolerance=experiment.tolerance,
    )  # fmt: skip


def require_joblib() -> Any:
    """Return the module joblib; SoftRobotError, which says how to get it, if it is not there."""
    try:
        import joblib
    except ImportError:
        raise SoftRobotError(INSTALL_JOBLIB) from None
    return joblib


def _outcomes(
    experiment: Experiment, numbers: Sequence[int], jobs: int
) -> Iterator[tuple[int, Outcome]]:
    """Yield (number, Outcome) of runs as they end, in whatever order; or round by round."""
    joblib = require_joblib()
    runs = [joblib.delayed(_numbered)(experiment, number) for number in numbers]
    if joblib.parallel.get_active_backend()[0].supports_return_generator:
        yield from joblib.Parallel(n_jobs=jobs, return_as='generator_unordered')(runs)
        return
    parallel = joblib.Parallel(n_jobs=jobs)  # as of ray, which gives back all at the end
    size = _RUNS_PER_PROCESS * max(1, joblib.effective_n_jobs(jobs))
    for first in range(0, len(runs), size):
        yield from parallel(runs[first : first + size])


def _numbered(experiment: Experiment, number: int) -> tuple[int, Outcome]:
    return number, run_trial(experiment, experiment.values[number])


def _planned_by(parameters: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters of a controller that its reference depends on."""
    found = reference_names(parameters)
    if not parameters.get('phases'):
        return found
    found |= {RAMP_TIME, *(f'{phase}.duration' for phase in parameters['phases'])}
    for part in parts_of(parameters):
        commands = () if part.law.follows else part.law.parameters()
        found |= {part.full(RAMP_TIME), *(part.full(p.path) for p in commands)}
    return found


def _compile(model: CompiledModel, plant: CompiledModel) -> None:
    """Compile the kernels of the runs, so that their processes find them in the cache."""
    simulator, seen = ActuatedSimulator(plant), reconstruction(model, plant)
    if seen is not None:
        seen(simulator.q, simulator.qd)


def _try_ends(experiment: Experiment, rows: Mapping[str, ParameterSpec]) -> None:
    """Raise our errors for a factor that cannot have the least or the greatest of its values."""
    for factor in experiment.factors:
        for value in factor.values or (factor.low, factor.high):
            _try(experiment, factor, value, rows)


def _try(
    experiment: Experiment, factor: Factor, value: float, rows: Mapping[str, ParameterSpec]
) -> None:
    """Raise our errors for a value of a factor that cannot be."""
    if factor.group == 'robot':
        varied(experiment.plant, {factor.name: factor.change(value)})
    elif factor.group == 'sensors':
        _try_sensors(experiment, {factor.path: value})
    elif factor.group == 'bus':  # a phase needs a rate
        make_bus({**experiment.given.bus, **_greatest(experiment, 'bus'), factor.path: value})
    elif factor.group == 'loop':
        _require_number(f'vary {factor.name}', value, 0.0)
    else:
        try:
            rows[factor.path].read(value)
        except ValueError:
            problem = Problem(factor.name, value, rows[factor.path].expected())
            raise DescriptionError((problem,), 'vary') from None


def _try_sensors(experiment: Experiment, given: Mapping[str, float]) -> None:
    """Raise our errors for sensors that cannot be, or not with states so often."""
    names = experiment.description.coordinate_names
    rates = {'rate': experiment.parameters['rate'], **_greatest(experiment, 'controller')}
    Sensing(
        make_sensors(names, {**experiment.given.sensors, **given}), len(names), 1.0 / rates['rate']
    )


def _greatest(experiment: Experiment, where: str) -> dict[str, float]:
    """Return {name: greatest value} of the factors of one place."""
    return {factor.path: factor.high for factor in experiment.factors if factor.group == where}


def _require_number(name: str, value: object, least: float, words: str = '') -> None:
    """Raise ArgumentError for a value that is no finite number >= least."""
    if not (is_number(value) and least <= float(value) < inf):
        raise ArgumentError(name, value, f'a number >= {least:g}{words}')
