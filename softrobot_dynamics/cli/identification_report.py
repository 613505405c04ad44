# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Run `softrobot identify`: read, fit, report, write."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
import json
from pathlib import Path
import sys
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.description.robot import load_robot, RobotDescription
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import (
    Data,
    FittedParameter,
    Identification,
    identify,
    rms,
    rms_of,
)
from softrobot_dynamics.identification.mapping import read_mapping, read_motion, read_postures
from softrobot_dynamics.identification.model_selection import choose, ModelSelection
from softrobot_dynamics.identification.motions import Motion, read_record
from softrobot_dynamics.identification.omitted_in_fit import (
    omitted_strain_questions,
    OmittedStrainQuestion,
)
from softrobot_dynamics.identification.robot_files import require_writable, write_fitted
from softrobot_dynamics.identification.strains import is_strain, read_strains
from softrobot_dynamics.identification.validation import cross_validate, Validation

INSTALL = "an environment with matplotlib: pip install 'softrobot_dynamics[plot]'"


def run(options: Namespace) -> int:
    """
    Identify a robot; return the exit status 0.

    `options`: robot, recording, mapping, fit, horizon, loss, starts, seed, choose, cross_validate,
    folds, suggest, output, json, picture. Raises SoftRobotError for whatever is wrong.
    """
    for name in ('output', 'json', 'picture'):
        path = getattr(options, name)
        if path and not Path(path).expanduser().absolute().parent.is_dir():
            raise ArgumentError(f'--{name}', path, 'a file in a folder that exists')
    description = load_robot(options.robot)
    texts = options.fit.split(',')
    fit = [text for text in texts if not is_strain(text)]
    strains = read_strains(description, [text for text in texts if is_strain(text)])
    if strains and not options.choose:
        given_strains = [strain.name for strain in strains]
        raise ArgumentError('--fit', given_strains, 'numbers; strains beside --choose alone')
    if options.output:  # before what takes long
        parameters = read_parameters(description, fit)
        changed, names = parameters.changed(), parameters.names
        require_writable(_source(options), Path(options.output), changed, names)
    data = _read(options, description)
    say = _progress()
    given: Any = {'starts': options.starts, 'seed': options.seed, 'loss': options.loss}
    found = identify(description, data, fit, **given, progress=say)
    fitted: Any = {'loss': options.loss, 'folds': options.folds, 'progress': say}
    choice = choose(found, strains=strains, **fitted) if options.choose else None
    if choice and choice.numbers:
        fit = [text for text in fit if text.partition('=')[0].strip() in choice.numbers]
        found = identify(choice.description, data, fit, **given, progress=say)
    validation = None
    if options.cross_validate:
        validation = cross_validate(found, **fitted)
    say('')
    more = found.suggest(count=options.suggest, seed=options.seed) if options.suggest else None
    summary = summary_of(found, choice, validation, omitted_strain_questions(found))
    if more is not None:
        summary['suggested'] = [
            dict(zip(description.actuator_names, map(float, row))) for row in more
        ]
    print('\n'.join(lines_of(summary)))
    _write(options, found, validation, summary)
    return 0


def _source(options: Namespace) -> Path:
    """Return the file of the robot that was given by its path or a shipped name."""
    return shipped('robots').get(options.robot, Path(options.robot))


def _read(options: Namespace, description: RobotDescription) -> Data:
    """Return the data of the recording."""
    path, horizon = options.recording, options.horizon
    if not options.mapping:
        if Path(path).suffix != '.mcap':
            words = f'a file that says what the columns of {path} are'
            raise ArgumentError('--mapping', None, words)
        return read_record(description, path, horizon)
    mapping = read_mapping(options.mapping)
    if mapping.time:
        return read_motion(description, path, mapping, horizon)
    if horizon is not None:
        raise ArgumentError('--horizon', horizon, 'a motion: a mapping with a time')
    return read_postures(description, path, mapping)


def summary_of(
    found: Identification,
    choice: ModelSelection | None = None,
    validation: Validation | None = None,
    omitted: Sequence[OmittedStrainQuestion] = (),
) -> dict[str, Any]:
    """Return the results for JSON; numbers that the data do not determine are null."""
    summary: dict[str, Any] = {
        'robot': found.robot.name,
        'kind': found.data.kind,
        'count': len(found.data),
        'estimates': [_number(each) for each in found.estimates],
        'unidentifiable': list(found.unidentifiable),
        'rms': found.rms,
        'rms_before': rms_of(found.data, found.all_initial_residuals),
        'rms_of_all_markers': [
            _known(rms(each)) for each in (found.residuals, found.initial_residuals)
        ],
        'rms_of_markers': {
            marker.name: _known(rms(found.residuals[:, k]))
            for k, marker in enumerate(found.data.markers)
        },
        'rms_of_coordinates': {
            each.name: [_known(_size(off[:, k])) for off in _of_coordinates(found)]
            for k, each in enumerate(found.data.coordinates)
        },
    }
    summary['omitted_strains'] = [
        {
            'body': each.omitted.body,
            'strain': each.omitted.name,
            'order': each.omitted.order,
            'largest': each.omitted.shift,
            'rms': each.rms,
            'load': each.load,
            'question': each.question,
        }
        for each in omitted
    ]
    if found.placed:
        summary['placed'] = {name: list(map(float, at)) for name, at in found.placed.items()}
    if isinstance(found.data, Motion) and found.data.skipped:
        summary['skipped'] = found.data.skipped
    if choice:
        summary['choice'] = {'names': list(choice.names), 'rms_unseen': list(choice.errors)}
    if validation:
        names = found.parameters.names
        summary['cross_validation'] = {
            'rms': validation.rms,
            'rms_of_all_markers': _known(rms(validation.residuals)),
            'intervals': {n: list(map(float, v)) for n, v in zip(names, validation.intervals)},
            'rms_by_name': {
                name: _known(rms_of(found.data, validation.all_residuals[found.data.named(name)]))
                for name in dict.fromkeys(found.data.names)
            },
        }
    return summary


def _of_coordinates(found: Identification) -> list[Matrix]:
    """Return residuals (P, J) of coordinates: of the fit, and of the robot file."""
    first = 3 * len(found.data.markers)
    return [off[:, first:] for off in (found.all_residuals, found.all_initial_residuals)]


def _size(residuals: Vector) -> float:
    seen = residuals[np.isfinite(residuals)]
    return float(np.sqrt((seen**2).mean())) if len(seen) else np.nan


def _number(estimate: FittedParameter) -> dict[str, Any]:
    return {k: _known(v) for k, v in estimate._asdict().items()}


def _known(value: float) -> Any:
    return None if value != value else value


_WORDS = {
    'postures': ('these postures', 'do', 'postures'),
    'motion': ('this motion', 'does', 'blocks of time'),
}
"""For each kind of data: the data as a subject, its verb, and what validation leaves out of it."""


def lines_of(summary: dict[str, Any]) -> list[str]:
    """Return the results as lines."""
    who, do, others = _WORDS[summary['kind']]
    lines = [_line(each, f'{who} {do} not determine it') for each in summary['estimates']]
    lines += [f'not determined by {who}: {words}' for words in summary['unidentifiable']]
    if 'skipped' in summary:
        lines.append(f'left out: {summary["skipped"]:.3g} s before the first command')
    if summary['rms_of_markers']:
        after, before = (1e3 * size for size in summary['rms_of_all_markers'])
        lines.append(f'markers are off by {after:.4g} mm rms, {before:.4g} mm with the robot file')
    for name, (after, before) in summary['rms_of_coordinates'].items():
        if after is not None:
            lines.append(f'{name} is off by {after:.4g} rms, {before:.4g} with the robot file')
    for name, at in summary.get('placed', {}).items():
        place = ', '.join(f'{1e3 * each:.3g}' for each in at)
        lines.append(f'{name} is at {place} mm beside its point')
    if 'choice' in summary:
        names = ', '.join(summary['choice']['names']) or 'none of them'
        lines.append(f'worth fitting, by {others} left out: {names}')
    if 'cross_validation' in summary:
        checked = summary['cross_validation']
        size = checked['rms']
        if summary['rms_of_markers']:
            size = f'{1e3 * checked["rms_of_all_markers"]:.4g} mm'
        lines.append(f'on {others} left out: {size} rms; intervals from them')
        lines += [f'  {n} {a:.5g} to {b:.5g}' for n, (a, b) in checked['intervals'].items()]
    lines += [
        f'? {each["question"]}' for each in summary.get('omitted_strains', ()) if each['question']
    ]
    for row in summary.get('suggested', ()):
        lines.append('hold next: ' + ', '.join(f'{n} {value:.4g}' for n, value in row.items()))
    return lines


def _line(each: dict[str, Any], unknown: str) -> str:
    """Return the result for one parameter as a line."""
    times = '×' if each['factor'] else ''
    if each['lower'] is None:
        return f'{each["name"]}: {unknown}'
    ends = f'{times}{each["lower"]:.5g} to {times}{each["upper"]:.5g}'
    bound = ', at its bound' if each['at_bound'] else ''
    return f'{each["name"]} {times}{each["value"]:.5g}, 95 % {ends}{bound}'


def _progress() -> Callable[[str], object]:
    """Return a function that overwrites the last line of a terminal."""
    if not sys.stderr.isatty():
        return lambda words: None

    def say(words: str) -> None:
        """Write words over the last ones."""
        sys.stderr.write(f'\r\x1b[K{words[:78]}')
        sys.stderr.flush()

    return say


def _write(
    options: Namespace,
    found: Identification,
    validation: Validation | None,
    summary: dict[str, Any],
) -> None:
    """Write the files that the options ask for: robot file, results, picture."""
    if options.output:
        count, unit = len(found.data), {'postures': 'postures', 'motion': 'instants'}
        words = f'{count} {unit[found.data.kind]}'
        origin = [
            f'{options.robot} with numbers fitted by softrobot identify to'
            f' {Path(options.recording).name}, {words}:',
            *(f'  {line}' for line in lines_of(summary)),
        ]
        names = found.parameters.names
        write_fitted(_source(options), Path(options.output), found.robot, names, origin)
    if options.json:
        text = json.dumps(summary, indent=2, allow_nan=False) + '\n'
        Path(options.json).expanduser().write_text(text, encoding='utf-8')
    if options.picture:
        try:
            from softrobot_dynamics.cli.residuals import draw
        except ImportError as error:
            raise ArgumentError('--picture', options.picture, INSTALL) from error
        draw(found, validation, Path(options.picture).expanduser())
