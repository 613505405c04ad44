# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot excite`."""

from argparse import Namespace
from pathlib import Path

from softrobot_dynamics.cli.common import add, positive, refuse, say, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'excite', run,
        'write a command sequence that excites the dynamics to be identified',
        ('robot', 'ROBOT', 'a shipped name, or a robot file'),
        ('--kind', 'KIND', 'sweep (default) or multisine', {'default': 'sweep'}),
        ('--duration', 'S', 'length of the sequence; default 60',
         {'type': positive, 'default': 60.0}),
        ('--share', 'X', 'amplitude, as a share of the limits of the commands; default 0.3',
         {'type': positive, 'default': 0.3}),
        ('--band', 'HZ', 'lowest and highest frequency of a multisine; default 0.1 2',
         {'type': positive, 'nargs': 2, 'default': (0.1, 2.0)}),
        ('--output', 'FILE.csv', 'commands in time; parameters for the controller node are'
         ' written beside it, as .yaml', {'required': True}),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Write a reference and parameters, files which must not exist."""
    import numpy as np
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.identification.excitation import excite
    from softrobot_dynamics.model.model import compile_model
    import yaml

    path = Path(options.output).expanduser().absolute()
    parameters = path.with_suffix('.yaml')
    for file in (path, parameters):
        if _exists(file) or not file.parent.is_dir() or path.suffix != '.csv':
            return refuse(f'--output: {file}, expected FILE.csv, which does not exist')
    model = compile_model(load_robot(options.robot))
    low, high = options.band
    given = {'duration': options.duration, 'share': options.share, 'low': low, 'high': high}
    found = excite(model, options.kind, **given)
    header = ','.join(['t', *model.actuator_names])
    table = np.column_stack([found.t, found.u])
    np.savetxt(path, table, '%.9g', ',', header=header, comments='')
    reference = {'type': 'file', 'ramp_time': 0.0, 'file': {'path': str(path)}}
    values = {'controller': 'feed_forward', 'reference': reference}
    text = yaml.safe_dump({'/**': {'controller': {'ros__parameters': values}}}, sort_keys=False)
    parameters.write_text(text, encoding='utf-8')
    for name, unit, share, u in zip(
        model.actuator_names, model.description.commands, found.shares, found.u.T
    ):
        say(f'{name}: {u.min():.4g} to {u.max():.4g} {unit.unit}, {share:.2g} of its limits')
    say(f'{path}: {found.t[-1]:g} s, within all limits in simulation; {parameters}: parameters')
    return 0


def _exists(file: Path) -> bool:
    """Tell whether a file exists; `Path.exists` of Python 3.14 hides that a name is too long."""
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
