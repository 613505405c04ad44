# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot plot`."""

from argparse import Namespace
from pathlib import Path

from softrobot_dynamics.cli.common import add, refuse, say, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'plot', run, 'draw a recording of the demo or of a node',
        ('path', 'PATH', 'folder of a demo, or the recording of a node, .mcap'),
        ('--out', 'FILE', 'write the picture to FILE; default: demo.png in the folder, or beside'
         ' the recording'),
        ('--animate', 'FILE.gif', 'write the motion of a demo as an animated GIF, instead of a'
         ' picture'),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Draw the picture of a demo, or of a recording."""
    from softrobot_dynamics.evaluation import report

    given = Path(options.path).expanduser()
    if options.animate:
        return _animate(given, Path(options.animate))
    if given.is_file():
        path = Path(options.out or given.with_suffix('.png'))
        drawn = _draw_recording(given, path)
    else:
        path = Path(options.out or given / report.PICTURE_FILE)
        drawn = report.draw(report.load(options.path), path)
    if not drawn:
        return refuse(report.INSTALL_MATPLOTLIB)
    say(path)
    return 0


def _draw_recording(given: Path, path: Path) -> bool:
    """Draw the picture of a recording; return whether there is matplotlib to do so."""
    from softrobot_dynamics.recordings.reading import read_recording

    recording = read_recording(given)
    try:
        from softrobot_dynamics.evaluation.recording_picture import draw_recording
    except ImportError:
        return False
    draw_recording(recording, path)
    return True


def _animate(folder: Path, path: Path) -> int:
    """Write the motion of a demo, from when it follows its reference, into a GIF file."""
    from softrobot_dynamics.evaluation import report

    found = report.load(folder)
    try:
        from softrobot_dynamics.evaluation.film import film_of
        from softrobot_dynamics.viewing.animation import animate
    except ImportError:
        return refuse(report.INSTALL_MATPLOTLIB)
    animate(film_of(found), path, title=found.model.description.name)
    say(path)
    return 0
