# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Run `softrobot study`: plan, run with progress on stderr, report, draw."""

from __future__ import annotations

from argparse import Namespace
import json
from pathlib import Path
import sys
import time
from typing import Any

from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.studies.factors import RunSampling
from softrobot_dynamics.studies.failure_boundaries import counts, failure_boundaries
from softrobot_dynamics.studies.run_table import RUNS_FILE
from softrobot_dynamics.studies.study import plan_study, require_joblib, run_study, Study
from softrobot_dynamics.studies.trial import Experiment, FAILED

PICTURE_FILE, SUMMARY_FILE = 'study.png', 'summary.json'
INSTALL_MATPLOTLIB = "no picture: that needs matplotlib: pip install 'softrobot_dynamics[study]'"
_REPORT_PERIODS = {True: 0.5, False: 10.0}  # [s], on terminals or not


def run(options: Namespace) -> int:
    """
    Run a study; return the exit status: 0 if all runs are done, 130 after Ctrl-C.

    `options`: robot, vary (texts NAME=...), plant, controller, runs, seed, design, seconds,
    tolerance, jobs, output. Raises SoftRobotError for whatever is wrong before anything runs.
    """
    require_joblib()
    experiment = plan_study(
        options.robot,
        _read(options.vary),
        plant=options.plant,
        controller=options.controller,
        sampling=RunSampling(options.runs, options.seed, options.design),
        seconds=options.seconds,
        tolerance=options.tolerance,
    )
    for remark in experiment.given.remarks:
        print(remark, file=sys.stderr)
    pace, folder = _Pace(), Path(options.output)
    try:
        with _one_thread_each():
            study = run_study(experiment, folder=folder, jobs=options.jobs, progress=pace)
    except KeyboardInterrupt:
        pace.close()
        words = f'{pace.done} of {len(experiment.values)} runs are in {folder}'
        print(f'interrupted: {words}; the same command continues there', file=sys.stderr)
        return 130
    pace.close()
    title = f'{experiment.description.name}, {experiment.seconds:g} s {_under(experiment)}'
    _conclude(study, title, folder)
    return 0


def _under(experiment: Experiment) -> str:
    """Return in words the controller of the robots."""
    phases = experiment.parameters.get('phases')
    return f'in {", ".join(phases)}' if phases else f'under {experiment.parameters["controller"]}'


def _read(texts: list[str]) -> dict[str, str]:
    """Return {name: range or values} of texts NAME=...; ArgumentError."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, given = map(str.strip, text.partition('='))
        if not (name and given) or name in found:
            words = 'NAME=A..B or NAME=A,B,C, each name once'
            raise ArgumentError('--vary', text, words)
        found[name] = given
    return found


def _one_thread_each() -> Any:
    """Return a context in which processes of joblib's leave the other cores to each other."""
    import joblib

    return joblib.parallel_config(backend='loky', inner_max_num_threads=1)


class _Pace:
    """Tells on stderr how far a study has come: on a terminal in one line, else now and then."""

    def __init__(self) -> None:
        self.done = 0
        self._terminal = sys.stderr.isatty()
        self._began = self._reported = time.monotonic()

    def __call__(self, before: int, state: Integers) -> None:
        """Count a run; `state` (N,) as :func:`run_study` gives it."""
        self.done, now = int((state >= 0).sum()), time.monotonic()
        if now < self._reported + _REPORT_PERIODS[self._terminal] and self.done < len(state):
            return
        self._reported = now
        left = (now - self._began) / (self.done - before) * (len(state) - self.done)
        words = f'{self.done} of {len(state)} runs, {int((state == FAILED).sum())} failed'
        words += f', {_duration(left)} left' if self.done < len(state) else ''
        sys.stderr.write(f'\r{words:60}' if self._terminal else f'{words}\n')
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self._terminal and self.done:
            sys.stderr.write('\n')


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f'{minutes} min {rest:02} s' if minutes else f'{rest} s'


def _conclude(study: Study, title: str, folder: Path) -> None:
    """Print and write the results, and draw them if there is matplotlib."""
    total, found = len(study.state), failure_boundaries(study)
    for name, count in counts(study).items():
        _say(f'{name:9} {count:5} of {total} runs ({count / total:.1%})')
    for boundary in found:
        _say(boundary.in_words())
    written = [RUNS_FILE, SUMMARY_FILE]
    summary = {**counts(study), 'edges': [boundary.as_facts() for boundary in found]}
    (folder / SUMMARY_FILE).write_text(json.dumps(summary, indent=2) + '\n', encoding='utf-8')
    try:
        from softrobot_dynamics.studies.picture import draw_study
    except ImportError:
        _say(INSTALL_MATPLOTLIB)
    else:
        draw_study(study, title, folder / PICTURE_FILE)
        written.append(PICTURE_FILE)
    _say(f'in {folder}: {", ".join(written)}')


def _say(words: object) -> None:
    print(words, flush=True)
