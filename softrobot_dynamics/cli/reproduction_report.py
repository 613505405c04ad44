# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Run `softrobot reproduce`: systems with progress, report, figures, files."""

from __future__ import annotations

from argparse import Namespace
import json
from pathlib import Path
from typing import TYPE_CHECKING

from softrobot_dynamics.evaluation.terminal import Display, display
from softrobot_dynamics.reproduce.outcome import as_json, page, SystemResult
from softrobot_dynamics.reproduce.systems import load_system, system_names, SystemModule

if TYPE_CHECKING:
    from softrobot_dynamics.viewing.animation import Film

INSTALL_MATPLOTLIB = "no figures: they need matplotlib: pip install 'softrobot_dynamics[plot]'"


def run(options: Namespace) -> int:
    """
    Reproduce systems; return the exit status: 0 if every check holds, else 1.

    `options`: names, list, json, page, out, no_plot, animate. Raises UnknownNameError before
    anything runs.
    """
    chosen = {name: load_system(name) for name in options.names or system_names()}
    shown = display()
    if options.list or not options.names:
        shown.table('softrobot reproduce NAME', [(n, each.TITLE) for n, each in chosen.items()])
        return 0
    outcomes = {}
    for name, each in chosen.items():
        shown.say(f'{name}: {each.TITLE}')
        outcomes[name] = outcome = each.run(shown.stage)
        _report(shown, name, outcome)
        if not options.no_plot:
            _draw(shown, each, outcome, Path(options.out) / f'{name}.png')
        film = getattr(each, 'film', None)
        if options.animate and film is not None:
            _animate(shown, film(outcome.data), Path(options.out) / f'{name}.gif')
    if options.json:
        found = {name: as_json(outcome) for name, outcome in outcomes.items()}
        _write(shown, options.json, json.dumps(found, indent=1) + '\n')
    if options.page:
        rows = ((name, chosen[name].TITLE, outcome) for name, outcome in outcomes.items())
        _write(shown, options.page, page(rows))
    return 0 if all(outcome.holds for outcome in outcomes.values()) else 1


def _write(shown: Display, file: str, text: str) -> None:
    Path(file).write_text(text, encoding='utf-8')
    shown.say(file)


def _report(shown: Display, name: str, outcome: SystemResult) -> None:
    """Tell the checks, then the remarks."""
    title = f'{name}: {"reproduced" if outcome.holds else "NOT reproduced"}'
    shown.table(title, [(check.quantity, check.in_words()) for check in outcome.checks])
    for remark in outcome.remarks:
        shown.say(f'- {remark}')


def _draw(shown: Display, each: SystemModule, outcome: SystemResult, path: Path) -> None:
    """Draw a system into a file, if there is matplotlib."""
    try:
        from softrobot_dynamics.reproduce.picture import draw_system
    except ImportError:
        shown.say(INSTALL_MATPLOTLIB)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_system(each.draw, outcome.data, path)
    shown.say(str(path))


def _animate(shown: Display, film: Film, path: Path) -> None:
    """Write the motion of a system into an animated GIF file, if there is matplotlib."""
    try:
        from softrobot_dynamics.viewing.animation import animate
    except ImportError:
        shown.say(INSTALL_MATPLOTLIB)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with shown.stage(f'animating {film.t[-1] - film.t[0]:g} s'):
        animate(film, path, title=film.model.description.name)
    shown.say(str(path))
