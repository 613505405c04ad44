# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""One run of a study: a robot, a loop and a law with varied numbers, evaluated as a demo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.configuration.build import law_of, reference_of
from softrobot_dynamics.configuration.law_settings import sensors_of
from softrobot_dynamics.configuration.parameter_files import simulation_values
from softrobot_dynamics.configuration.parts import RAMP_TIME
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.description.variation import vary
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.evaluation import tracking
from softrobot_dynamics.evaluation.records import Run
from softrobot_dynamics.evaluation.report import task_of
from softrobot_dynamics.evaluation.targets import targets_of
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.offline.arguments import Feedback, Plant, Start
from softrobot_dynamics.offline.closed_loop import closed_loop, ClosedLoop
from softrobot_dynamics.references.piecewise import Reference
from softrobot_dynamics.simulation.bus import GROUP as BUS
from softrobot_dynamics.simulation.periodic_instants import PeriodicInstants
from softrobot_dynamics.simulation.sensing import GROUP as SENSORS
from softrobot_dynamics.studies.factors import Factor

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.model.model import CompiledModel


_UNUSED_PREFIXES = 'payload.', 'command_timing', 'estimator', 'safe_'  # of names of parameters


class SimulationSettings(NamedTuple):
    """Parameters of the simulated robot in a file; empty where it has none."""

    plant: tuple[str, ...]  # what is otherwise than in the robot file
    bus: dict[str, Any]  # fields of the Bus by name
    sensors: dict[str, Any]  # fields of the Sensors by name
    substep: dict[str, float]  # of the integrator, by its name as an argument [s]
    remarks: tuple[str, ...]  # in words, parameters that a study does not use


NO_SETTINGS = SimulationSettings((), {}, {}, {}, ())


def given_by(description: RobotDescription, files: Iterable[Path]) -> SimulationSettings:
    """Return the SimulationSettings of parameter files; DescriptionError."""
    values = simulation_values(description, files)
    names = description.coordinate_names
    sensed = any(name.startswith(f'{SENSORS}.') for name in values)
    return SimulationSettings(
        plant=values.get('plant', ()),
        bus={x.partition('.')[2]: y for x, y in values.items() if x.startswith(f'{BUS}.')},
        sensors=dict(vars(sensors_of(names, values))) if sensed else {},
        substep={'substep': values['substep']} if 'substep' in values else {},
        remarks=tuple(
            f'{name}: {value} of the simulation in the parameter file is not used in a study'
            for name, value in values.items()
            if name.startswith(_UNUSED_PREFIXES)
        ),
    )


STATES = 'followed', 'degraded', 'failed'
FOLLOWED, DEGRADED, FAILED = range(3)
FAILED_RATIO = 1.0  # RMS error over the travel; beyond it, to stand still would be as good
_TOO_SHORT = 'the run ended before the reference was blended in'
# one tick of so many is evaluated: the shares are the same, and kinematics takes its time
_EVALUATED_TICK = 5


@dataclass(frozen=True)
class Experiment:
    """All that the runs of a study share; can be pickled."""

    robot: str  # what it was called
    description: RobotDescription  # of the law's model
    plant: RobotDescription  # of the simulated robot, before anything is varied
    parameters: dict[str, Any]  # the controller's, by name
    factors: tuple[Factor, ...]  # (d,)
    values: np.ndarray  # (N, d) of the factors, a row for each run
    design: str
    seconds: float  # of each run
    tolerance: float
    reference: Reference | None = None  # None: planned in each run, as a factor is about it
    given: SimulationSettings = NO_SETTINGS  # what the parameter file says of the simulated robot

    def changes(self, values: Sequence[float], where: str) -> dict[str, Any]:
        """Return {name: value} of the factors of one place, for values (d,) of all."""
        chosen = zip(self.factors, map(float, values))
        return {factor.path: factor.change(x) for factor, x in chosen if factor.group == where}


@former_names(share='error_ratio')
class Outcome(NamedTuple):
    """Result of a run; nan where there is nothing to tell."""

    state: int  # of STATES
    error_ratio: float  # the largest RMS error of a tip or output over its travel
    tip_rms_m: float  # [m]
    saturated: float  # share of ticks with a controlled command at a limit
    unanswered: float  # share of ticks in which the law had no command
    reason: str  # why it did not follow, in words; '' if it did


def run_trial(experiment: Experiment, values: Sequence[float]) -> Outcome:
    """Return the Outcome with the factors at values (d,); whatever is wrong then is one, too."""
    try:
        model = compile_model(experiment.description)
        plant = compile_model(vary(experiment.plant, experiment.changes(values, 'robot')))
        parameters = {**experiment.parameters, **experiment.changes(values, 'controller')}
        loop = _close(experiment, values, law_of(model, parameters), plant, parameters)
        task = task_of(model, parameters, experiment.tolerance)
        sensors = {**experiment.given.sensors, **experiment.changes(values, 'sensors')}
        measured = sensors.get('rate', 0.0)
        return _evaluate(loop, plant, task, parameters, measured)
    except SoftRobotError as error:
        words = ' '.join(f'{type(error).__name__}: {error}'.split())
        return Outcome(
            FAILED, error_ratio=nan, tip_rms_m=nan, saturated=nan, unanswered=nan, reason=words
        )


def _close(
    experiment: Experiment,
    values: Sequence[float],
    law: Controller,
    plant: CompiledModel,
    parameters: Mapping[str, Any],
) -> ClosedLoop:
    """Return the run of the loop, or its SoftRobotError."""
    reference, known = experiment.reference, experiment.parameters.get('delay', 0.0)
    given = experiment.given
    return closed_loop(
        law.model,
        law,
        reference_of(law, parameters, law.model.q0) if reference is None else reference,
        experiment.seconds,
        start=Start(ramp=parameters[RAMP_TIME]),
        plant=Plant(
            plant,
            bus={**given.bus, **experiment.changes(values, 'bus')},
            **{'delay': known, **given.substep, **experiment.changes(values, 'loop')},
        ),
        feedback=Feedback(sensors={**given.sensors, **experiment.changes(values, 'sensors')}),
        progress=lambda t, duration: None,
    )


def _evaluate(
    loop: ClosedLoop,
    plant: CompiledModel,
    task: tracking.Task,
    parameters: Mapping[str, Any],
    measured: float,
) -> Outcome:
    """Return the Outcome of a loop whose states are ``measured`` at a rate [Hz], 0: all are."""
    period, targets = 1.0 / parameters['rate'], targets_of(parameters)
    run = _run(loop, plant, period, bool(measured))
    finite = bool(np.isfinite(run.q).all())
    tips = tracking.tips_of(run, plant, targets) if targets and finite else None
    figures = tracking.evaluate(run, task, tips=tips)
    ratio = max((x for x in (figures.tip_share, figures.y_share) if x is not None), default=nan)
    ticks = len(loop.ok)
    if measured:
        due = PeriodicInstants(measured)
        ticks = sum(due.come(period) for _ in range(ticks))
    unanswered = 1.0 - float(loop.ok.sum() / ticks)
    lost = not (finite and ratio <= FAILED_RATIO) or unanswered >= tracking.MAX_MISSED_FRACTION
    return Outcome(
        state=FAILED if lost else FOLLOWED if figures.held else DEGRADED,
        error_ratio=ratio,
        tip_rms_m=nan if figures.tip_rms_m is None else figures.tip_rms_m,
        saturated=figures.saturated_share or 0.0,
        unanswered=unanswered,
        reason='; '.join(figures.lapses) or (_TOO_SHORT if isnan(ratio) else ''),
    )


def _run(loop: ClosedLoop, plant: CompiledModel, period: float, heard_only: bool) -> Run:
    """Return a loop as a demo would record it, every so many ticks or measured states."""
    rows: Any = slice(None, None, _EVALUATED_TICK)
    if heard_only:  # in the other ticks there is nothing to answer
        heard = np.flatnonzero(np.isfinite(loop.q_heard[:, 0]))
        rows = heard[:: max(1, round(_EVALUATED_TICK * len(heard) / len(loop.t)))]
    return Run(
        coordinates=plant.coordinate_names,
        actuators=plant.actuator_names,
        period=period * len(loop.t) / max(1, len(rows))
        if heard_only
        else _EVALUATED_TICK * period,
        t=loop.t[rows],
        simulated=loop.t[rows],
        q=loop.q[rows],
        u=loop.u[rows],
        y=loop.y[rows],
        y_d=loop.y_d[rows],
        round_trip=np.where(loop.ok[rows], 0.0, nan),
        slipped=0.0,
        lapses=(),
        live=False,
    )
