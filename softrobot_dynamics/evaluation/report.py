# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Report a run: facts, figures, a table, a picture; needs no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import json
from os import PathLike
from pathlib import Path
import shutil
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.configuration.law_settings import limits_of
from softrobot_dynamics.configuration.parts import blended_in, controlled_of
from softrobot_dynamics.description.add_surroundings import surround
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation import records, tracking, tracking_files
from softrobot_dynamics.evaluation.objects import object_outcomes
from softrobot_dynamics.evaluation.overload import OVERLOADED
from softrobot_dynamics.evaluation.report_contents import Report, RunPlan
from softrobot_dynamics.evaluation.report_table import rows
from softrobot_dynamics.evaluation.targets import targets_of
from softrobot_dynamics.evaluation.terminal import Display
from softrobot_dynamics.evaluation.units import in_words
from softrobot_dynamics.model.model import compile_model
from softrobot_dynamics.viewing.shapes import reach_of

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.model.model import CompiledModel

FACTS_FILE, ROBOT_FILE, PICTURE_FILE, TICKS_FILE = (
    'demo.json',
    'robot.yaml',
    'demo.png',
    'demo.csv',
)
SURROUNDINGS_FILE = 'surroundings.yaml'
# lines of a log, and how many of the last are shown
_QUOTED_SEVERITIES, _QUOTED_LINES = ('[WARN]', '[ERROR]', '[FATAL]'), 3
LOG_FILES = ('simulation.log', 'estimator.log', 'controller.log')
INSTALL_MATPLOTLIB = "no picture: that needs matplotlib: pip install 'softrobot_dynamics[demo]'"


def prepare_folder(path: str | PathLike[str]) -> Path:
    """Return the folder, made if need be; with a number where a demo is in it. ArgumentError."""
    first = folder = Path(path).expanduser().resolve()
    number = 1
    try:
        while any(
            (folder / name).exists() for name in (*records.RECORD_FILES, *LOG_FILES, FACTS_FILE)
        ):
            number += 1
            folder = first.with_name(f'{first.name}_{number}')
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError('--out', str(path), f'a folder to write to ({error})') from error
    return folder


def prepare_json(path: str | PathLike[str]) -> None:
    """Remove the figures of an earlier demo; ArgumentError where none can be written."""
    if path is None:
        return
    try:
        Path(path).touch()
        Path(path).unlink()
    except OSError as error:
        raise ArgumentError('--json', str(path), f'a file to write to ({error})') from error


def save_facts(folder: Path, plan: RunPlan, tolerance: float, duration: float | None) -> None:
    """Save the robot and all parameters of a run, so that it can be drawn again."""
    source = Path(shipped('robots').get(plan.robot, plan.robot)).resolve()
    shutil.copyfile(source, folder / ROBOT_FILE)
    if plan.simulation['surroundings']:
        shutil.copyfile(plan.simulation['surroundings'], folder / SURROUNDINGS_FILE)
    values = {name: value for name, value in plan.controller.items() if value == value}
    facts = {
        'robot': plan.robot,
        'folder': str(source.parent),
        'tolerance': tolerance,
        'duration': duration,
        'parameters': values,
        'plant': plant_in_words(plan.simulation),
        'estimated': plan.estimator is not None,
    }
    text = json.dumps(facts, indent=2)
    (folder / FACTS_FILE).write_text(text + '\n', encoding='utf-8')


def load(folder: str | PathLike[str]) -> Report:
    """Return the Report of a demo of before; ArgumentError if the folder has none."""
    folder = Path(folder)
    try:
        facts = json.loads((folder / FACTS_FILE).read_text(encoding='utf-8'))
        values = facts['parameters']
    except (OSError, ValueError, KeyError, TypeError) as error:
        words = f'a folder that `softrobot demo` has written to ({error})'
        raise ArgumentError('folder', str(folder), words) from error
    robot = load_robot(folder / ROBOT_FILE, folder=facts.get('folder'))
    around = folder / SURROUNDINGS_FILE
    model = surrounded(robot, around if around.is_file() else '', None)
    task = task_of(model, values, facts.get('tolerance'))
    report = make(folder, model, task, values, duration=facts.get('duration', np.inf))
    return report._replace(plant=facts.get('plant', ''), estimated=facts.get('estimated', False))


def surrounded(
    robot: RobotDescription, around: str | PathLike[str], own: CompiledModel | None
) -> CompiledModel:
    """Return the model of a robot in surroundings; with '' for none its ``own`` if it is given."""
    if around:
        return compile_model(surround(robot, around))
    return compile_model(robot) if own is None else own


def plant_in_words(values: Mapping[str, Any]) -> str:
    """Return in words the differences of the simulated robot from the robot file."""
    parts = [Path(each).name if Path(each).is_file() else each for each in values['plant']]
    if values['payload.body'] and values['payload.mass']:
        mass = in_words(values['payload.mass'], 'kg')
        parts.append(f'{mass} at {values["payload.body"]}')
    return ', '.join(parts)


def task_of(
    model: CompiledModel, values: dict[str, Any], tolerance: float | None = None
) -> tracking.Task:
    """Return the Task that the controller's parameters `values` set; tolerance as in there."""
    controlled, limits = controlled_of(model, values), limits_of(model, values)
    blended = blended_in(model, values)
    actuators = [entry.actuator for entry in model.description.actuators]
    units = [quantity.unit for quantity in model.outputs]
    sizes = {'m': reach_of(model), 'rad': 1.0}
    return tracking.Task(
        names=tuple(model.actuator_names[i] for i in controlled),
        controlled=controlled,
        kinds=tuple((actuators[i].type_name, units[i]) for i in controlled),
        units=tuple(units[i] for i in controlled),
        default_scales=np.array([sizes.get(units[i], np.inf) for i in controlled]),
        limits=(limits['lower'][controlled], limits['upper'][controlled]),
        ramps=np.array([blended[i] for i in controlled]),
        tolerance=tracking.MAX_RMS_RATIO if tolerance is None else tolerance,
    )


def make(
    folder: Path,
    model: CompiledModel,
    task: tracking.Task,
    values: dict[str, Any],
    *,
    duration: float | None = np.inf,
    expected: float = 0,
    lapses: Sequence[str] = (),
) -> Report:
    """
    Return the Report on the records in a folder, the first `duration` [s] of them.

    `task`: its Task; `values`: the controller's parameters; `expected`: number of states there
    should be; `lapses`: in words, what went wrong. Raises ArgumentError if there are no
    records.
    """
    run = records.read(folder, duration)
    targets = targets_of(values)
    tips = tracking.tips_of(run, model, targets) if targets else None
    figures = tracking.evaluate(run, task, tips=tips, expected=expected, lapses=lapses)
    travels = tracking.travels_of(run, task)
    return Report(
        model=model,
        run=run,
        controlled=task.controlled,
        targets=targets,
        tips=tips,
        ramp=float(task.ramps.min()),
        output_ranges=travels,
        figures=figures,
        unmeasured_outputs=tracking.unmeasured_outputs(run, task),
    )


def conclude(
    folder: Path,
    shown: Display,
    report: Report | None,
    *,
    lapses: Sequence[str] = (),
    json_file: str | PathLike[str] | None = None,
    picture: bool = True,
) -> bool:
    """
    Write ticks, figures and the picture of a Report; return whether the loop held.

    `report` is None where there are no records; `lapses`: in words, what went wrong;
    `json_file`: a file for the figures; `picture`: whether to draw.
    """
    if report is None:  # a process was killed before it recorded anything
        figures = tracking.nothing(tuple(lapses) or ('nothing was recorded',))
        table, written = [], []
    else:
        figures = report.figures
        table, written = list(rows(report)), _write(report, folder, shown, picture)
    if json_file is not None:
        tracking_files.write_json(Path(json_file), figures)
    causes = [words for words in figures.lapses if words.startswith(OVERLOADED)]
    for words in causes:
        shown.say(words)
    shown.table(_verdict(figures), table)
    lapses = [words for words in figures.lapses if words not in causes]
    for words in (*lapses, *([] if figures.held else log_ends(folder))):
        shown.say(words)
    if report is not None:
        for words in object_outcomes(report.model, report.run.q, report.run.simulated):
            shown.say(words)
    if written:
        shown.say(f'in {folder}: {", ".join(written)}')
    return figures.held


def _verdict(figures: tracking.Figures) -> str:
    if figures.held:
        nothing = figures.tip_share is None and figures.y_share is None
        return 'the loop held' + ('' if nothing else ' and the robot followed')
    if figures.lapses[0].startswith(OVERLOADED):
        return 'the loop did not hold: the machine was too slow for it'
    followed = not any('not follow' in lapse for lapse in figures.lapses)
    return 'the loop did not hold' if followed else 'the robot did not follow'


def log_ends(folder: Path) -> Iterator[str]:
    """Yield the last warnings and errors in the logs of both nodes, a line each."""
    for name in LOG_FILES:
        try:
            lines = (folder / name).read_text(encoding='utf-8', errors='replace').splitlines()
        except OSError:
            continue
        words = [
            line.partition(']: ')[2] or line
            for line in lines
            if line.startswith(_QUOTED_SEVERITIES)
        ]
        for line in [*dict.fromkeys(words)][-_QUOTED_LINES:]:
            yield f'{name}: {line}'


def _write(report: Report, folder: Path, shown: Display, picture: bool) -> Any:
    """Write the ticks, and the picture if wanted; return the names of the files."""
    tracking_files.write_csv(folder / TICKS_FILE, report.run, report.controlled, report.tips)
    if not (picture and len(report.run.t) and np.isfinite(report.run.q).all()):
        return [TICKS_FILE]
    with shown.stage('drawing'):
        drawn = draw(report, folder / PICTURE_FILE)
    if not drawn:
        shown.say(INSTALL_MATPLOTLIB)
    return [TICKS_FILE, PICTURE_FILE] if drawn else [TICKS_FILE]


def draw(report: Report, path: str | PathLike[str]) -> bool:
    """Draw the picture; return whether there is matplotlib to do so."""
    try:
        from softrobot_dynamics.evaluation.picture import draw_report
    except ImportError:
        return False
    draw_report(report, path)
    return True
