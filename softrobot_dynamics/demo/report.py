# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a demo leaves behind: facts, figures, a table, a picture; needs no ROS."""

import json
import math
from pathlib import Path
import shutil
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.demo import judgement, records
from softrobot_dynamics.demo.targets import Targets, targets_of
from softrobot_dynamics.description import load_robot
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model import compile_model
from softrobot_dynamics.nodes.plants import settings_of
from softrobot_dynamics.shipped import shipped

FACTS, ROBOT, PICTURE, TICKS = 'demo.json', 'robot.yaml', 'demo.png', 'demo.csv'
LOGS = ('simulation.log', 'controller.log')
INSTALL_MATPLOTLIB = "no picture: that needs matplotlib: pip install 'softrobot_dynamics[demo]'"


class Report(NamedTuple):
    """A demo and what came out of it."""

    model: Any
    run: records.Run
    controlled: list  # indices of the actuators that follow the reference
    targets: Targets | None  # that tips follow
    tips: judgement.Tips | None
    ramp: float  # [s] until the reference is blended in
    figures: judgement.Figures


def prepare_folder(path):
    """Return the folder, made if need be, without what an earlier demo left; ArgumentError."""
    folder = Path(path).expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*records.FILES, *LOGS, FACTS, ROBOT, PICTURE, TICKS):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise ArgumentError('--out', str(path), f'a folder to write to ({error})') from error
    return folder


def prepare_json(path):
    """Remove the figures of an earlier demo; ArgumentError where none can be written."""
    if path is None:
        return
    try:
        Path(path).touch()
        Path(path).unlink()
    except OSError as error:
        raise ArgumentError('--json', str(path), f'a file to write to ({error})') from error


def save_facts(folder, plan):
    """Write down what is run, so that it can be drawn again: the robot and all parameters."""
    source = Path(shipped('robots').get(plan.robot, plan.robot)).resolve()
    shutil.copyfile(source, folder / ROBOT)
    values = {name: value for name, value in plan.controller.items() if not _is_nan(value)}
    facts = {'robot': plan.robot, 'folder': str(source.parent), 'parameters': values}
    text = json.dumps(facts, indent=2)
    (folder / FACTS).write_text(text + '\n', encoding='utf-8')


def load(folder):
    """Return the Report of a demo of before; ArgumentError if the folder has none."""
    folder = Path(folder)
    try:
        facts = json.loads((folder / FACTS).read_text(encoding='utf-8'))
        values = facts['parameters']
    except (OSError, ValueError, KeyError, TypeError) as error:
        words = f'a folder that `softrobot demo` has written to ({error})'
        raise ArgumentError('folder', str(folder), words) from error
    robot = load_robot(folder / ROBOT, folder=facts.get('folder'))
    return make(folder, compile_model(robot), values)


def make(folder, model, values, duration=np.inf, expected=0, lapses=()):
    """
    Return the Report on the records in a folder, the first `duration` [s] of them.

    `values`: the controller's parameters; `expected`: number of states there should be; `lapses`:
    in words, what went wrong. Raises ArgumentError if there are no records.
    """
    run = records.read(folder, duration)
    controlled, targets = controlled_of(model, values), targets_of(values)
    tips = judgement.tips_of(run, model, targets) if targets else None
    settings = settings_of(model, values)
    ramp = values['reference.ramp_time']
    figures = judgement.judge(
        run,
        controlled=controlled,
        limits=(settings.lower, settings.upper),
        ramp=ramp,
        tips=tips,
        expected=expected,
        lapses=lapses,
    )
    return Report(model, run, controlled, targets, tips, ramp, figures)


def conclude(folder, model, values, duration, expected, lapses, *, shown, json_file, picture):
    """
    Write ticks, figures and the picture of what was recorded; return whether the loop held.

    The arguments are those of :func:`make`, then the display, a file for the figures or None, and
    whether to draw.
    """
    try:
        report = make(folder, model, values, duration, expected, tuple(lapses))
    except ArgumentError:  # a process was killed: there are no records
        figures = judgement.nothing(tuple(lapses) or ('nothing was recorded',))
        table, written = [], []
    else:
        figures = report.figures
        table, written = list(rows(report)), _write(report, folder, shown, picture)
    if json_file is not None:
        judgement.write_json(Path(json_file), figures)
    shown.table('the loop held' if figures.held else 'the loop did not hold', table)
    for lapse in figures.lapses:
        shown.say(lapse)
    if written:
        shown.say(f'in {folder}: {", ".join(written)}')
    return figures.held


def _write(report, folder, shown, picture):
    """Write the ticks, and the picture if wanted; return the names of the files."""
    judgement.write_csv(folder / TICKS, report.run, report.controlled, report.tips)
    if not (picture and len(report.run.t) and np.isfinite(report.run.q).all()):
        return [TICKS]
    with shown.stage('drawing'):
        drawn = draw(report, folder / PICTURE)
    if not drawn:
        shown.say(INSTALL_MATPLOTLIB)
    return [TICKS, PICTURE] if drawn else [TICKS]


def draw(report, path):
    """Draw the picture; return whether there is matplotlib to do so."""
    try:
        from softrobot_dynamics.plots import draw_report
    except ImportError:
        return False
    draw_report(report, path)
    return True


def rows(report):
    """Yield the figures as (name, value in words)."""
    figures, model = report.figures, report.model
    if report.tips is not None:
        yield 'tip error, RMS and peak', _lengths(figures.tip_rms_m, figures.tip_peak_m, 'm')
    unit = y_unit_of(model.description)
    yield 'output error, RMS and peak', _lengths(figures.y_rms, figures.y_peak, unit)
    yield 'rate', _words(figures.rate_hz, '{:.1f} Hz')
    trip = figures.round_trip_us
    yield (
        'round trip p50 / p99 / max',
        ' / '.join(_words(x, '{:.0f}') for x in trip.values()) + ' us',
    )
    yield 'missed ticks', f'{figures.missed_ticks} of {figures.ticks}'
    yield 'ticks with a command at a limit', _words(figures.saturated_share, '{:.1%}')


def controlled_of(model, values):
    """Return the indices of the actuators whose coordinates follow the reference."""
    names = values['controlled'] or model.actuator_names
    return [model.actuator_names.index(name) for name in names]


def units_of(description):
    """Return the unit of each actuator's command (m,)."""
    return tuple('N' if unit == 'm' else 'N m' for unit in y_units_of(description))


def y_units_of(description):
    """Return the unit of each actuation coordinate (m,): that of its joint, else a length."""
    turning = {m.joint_name for m in description.modules if m.joint.type_name == 'revolute'}
    return tuple(
        'rad' if getattr(entry.actuator, 'joint', None) in turning else 'm'
        for entry in description.actuators
    )


def y_unit_of(description):
    """Return the unit of all actuation coordinates, or several in words."""
    return ' or '.join(sorted(set(y_units_of(description))))


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def _words(value, form):
    return '-' if value is None else form.format(value)


def _lengths(first, second, unit):
    """Return two values in words, lengths in mm."""
    if first is None:
        return 'none: the run ended before the reference was blended in'
    scale, unit = (1e3, 'mm') if unit == 'm' else (1.0, unit)
    return f'{first * scale:.3g} {unit}, {second * scale:.3g} {unit}'
