# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot replay`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, say, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'replay', run,
        "recompute the commands in a controller's recording, and compare them",
        ('recording', 'FILE', 'recording of a controller, .mcap'),
        ('--robot', 'ROBOT', 'shipped name or robot file; default: the name in the recording'),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Replay a recording; return 1 if a command is another one."""
    from softrobot_dynamics.evaluation.replay import replay
    from softrobot_dynamics.recordings.reading import read_recording

    recording = read_recording(options.recording)
    if not recording.complete:
        say('the recording is incomplete; its readable part is compared')
    found = replay(recording, options.robot)
    if found.messages_since is not None:
        say(
            f't = {found.messages_since:.3f} s: references by message, which recordings'
            ' do not contain; not compared'
        )
    if found.safe:
        say(f'{found.safe} of {found.ticks} ticks: a safe command, not the law; not compared')
    if found.gap is not None:
        say(f't = {found.gap:.3f} s: the next ticks are missing, {recording.lost} in all, as the'
            ' disk or the processor was too slow; the comparison ends here')  # fmt: skip
    if found.difference is None:
        say(f'{found.compared} of {found.ticks} commands compared: the same, bit for bit')
        return 0
    tick, t, actuator, recorded, computed = found.difference
    say(f'tick {tick}, t = {t:.6f} s: {actuator} recorded {recorded!r}, computed {computed!r}')
    if (version := recording.facts.get('version')) != _version():
        say(f'recorded by version {version}, this is {_version()}')
    return 1


def _version() -> str:
    from softrobot_dynamics import __version__

    return __version__
