# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot compile`."""

from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
import platform
import subprocess
import tempfile

from softrobot_dynamics.cli.common import add, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'compile', run, 'fill the kernel cache ahead of time',
        ('robots', 'ROBOT', 'shipped name or robot file; default: all shipped', {'nargs': '*'}),
        ('--laws', 'LAWS', 'control laws, with commas between them; default: all'),
        ('--shared', 'FOLDER', 'compile for all processors of a level, into a folder that a wheel'
         ' may carry'),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Compile all that robots need."""
    from softrobot_dynamics.compiling.cache_folder import cache_folder
    from softrobot_dynamics.controllers.contract import CONTROLLERS
    from softrobot_dynamics.demo.precompilation import warm
    from softrobot_dynamics.description.shipped import shipped
    from softrobot_dynamics.errors import ArgumentError
    from softrobot_dynamics.evaluation.terminal import display

    laws = options.laws.split(',') if options.laws else CONTROLLERS.names()
    for law in laws:
        if law not in CONTROLLERS.names():
            raise ArgumentError('--laws', law, f'some of {", ".join(CONTROLLERS.names())}')
    if options.shared:
        return _share(Path(options.shared), options.robots, laws)
    shown = display()
    for robot in options.robots or shipped('robots'):
        with shown.compilation(str(robot)):
            warm(robot, laws)
    shown.say(f'kernels are in {cache_folder()}')
    return 0


def _share(folder: Path, robots: Sequence[str], laws: Iterable[str]) -> int:
    """Compile for the level of this kind of machine, in a process that numba tells so."""
    from softrobot_dynamics.compiling import numba_versions
    from softrobot_dynamics.compiling.prebuilt import collect
    from softrobot_dynamics.compiling.processes import python_command, python_environment
    from softrobot_dynamics.compiling.targets import LEVELS
    from softrobot_dynamics.errors import ArgumentError
    from softrobot_dynamics.evaluation.terminal import display

    machine = platform.machine()
    if machine not in LEVELS:
        raise ArgumentError('machine', machine, f'one of {", ".join(LEVELS)}')
    if not numba_versions.keeps_machine_code():
        found = numba_versions.installed_version()
        raise ArgumentError('numba', found, f'{numba_versions.TESTED_RANGE}, which keeps kernels')
    level = LEVELS[machine]
    with tempfile.TemporaryDirectory() as cache:
        own = {'SOFTROBOT_CACHE_DIR': cache, 'SOFTROBOT_PREBUILT': '0', **level.variables()}
        arguments = 'compile', '--laws', ','.join(laws), *robots
        command = python_command('softrobot_dynamics.cli:main', *arguments)
        status = subprocess.run(command, env={**python_environment(), **own}).returncode
        if status == 0:
            count = collect(Path(cache), folder, level)
            display().say(f'{count} files for {level.name} are in {folder}')
    return status
