# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The `softrobot` command; each sub-command imports what it needs when it runs."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
import contextlib
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.studies.options import add_options

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

WRONG_INPUT = 2  # exit status, as argparse has it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own); return the exit status."""
    options = _parser().parse_args(argv)
    from softrobot_dynamics.errors import SoftRobotError

    try:
        return options.run(options)
    except SoftRobotError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='softrobot',
        description='Model, simulate and control robots of rigid and soft bodies.',
    )
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    _add_demo(commands)
    study = _add(commands, 'study', _study, 'run the loop without ROS over many varied robots')
    add_options(study, _positive)
    check = _add(commands, 'check', _check, 'validate robot files and show every problem')
    check.add_argument('files', nargs='+', metavar='FILE', help='robot file, or a shipped name')
    _add(commands, 'robots', _robots, 'list the robots that come with the package')
    compiling = _add(commands, 'compile', _compile, 'fill the kernel cache ahead of time')
    compiling.add_argument(
        'robots',
        nargs='*',
        metavar='ROBOT',
        help='shipped name or robot file; default: all shipped',
    )
    _add_modes(commands)
    _add_fit(commands)
    plot = _add(commands, 'plot', _plot, 'draw the picture of a demo again')
    plot.add_argument('folder', metavar='FOLDER', help='what the demo wrote into')
    plot.add_argument('--out', metavar='FILE', help='the picture; default: demo.png in FOLDER')
    return parser


def _add(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], words: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=words, description=words[0].upper() + words[1:] + '.')
    parser.set_defaults(run=run)
    return parser


def _add_demo(commands: Any) -> None:
    demo = _add(commands, 'demo', _demo, 'run a simulated robot and its controller over ROS 2')
    demo.add_argument(
        '--robot', default='pcc_arm', metavar='NAME|FILE', help='shipped name or robot file'
    )
    demo.add_argument(
        '--controller',
        metavar='FILE',
        help='ROS parameters of the controller; default: those shipped for the robot',
    )
    demo.add_argument('--rate', type=_positive, default=1000.0, metavar='HZ', help='default 1000')
    demo.add_argument(
        '--duration', type=_positive, default=10.0, metavar='S', help='seconds; default 10'
    )
    demo.add_argument(
        '--tolerance',
        type=_positive,
        default=0.04,
        metavar='SHARE',
        help='RMS error of tips and outputs, as a share of their way, up to which the robot'
        ' follows; default 0.04',
    )
    demo.add_argument(
        '--out', default='softrobot_demo', metavar='FOLDER', help='default softrobot_demo'
    )
    demo.add_argument('--json', metavar='FILE', help='write the figures to FILE')
    demo.add_argument('--no-plot', action='store_true', help='draw no picture')


def _add_modes(commands: Any) -> None:
    modes = _add(commands, 'modes', _modes, 'reduce a tetrahedral mesh to the modes of a fem body')
    modes.add_argument('mesh', metavar='FILE', help='tetrahedra on z = 0, any format meshio reads')
    for name, unit in (
        ('--young-modulus', 'PA'),
        ('--poisson-ratio', '-'),
        ('--density', 'KG/M3'),
    ):
        modes.add_argument(name, type=float, required=True, metavar=unit)
    modes.add_argument(
        '--modes', type=int, default=10, metavar='N', help='vibration modes; default 10'
    )
    modes.add_argument(
        '--derivatives',
        type=int,
        default=0,
        metavar='K',
        help='add the modal derivatives of the first K modes, for large bends; default 0',
    )
    modes.add_argument(
        '--scale', type=float, default=1.0, metavar='M', help='metres per unit of the mesh file'
    )
    modes.add_argument('--output', required=True, metavar='FILE', help='what to write (.npz)')


def _add_fit(commands: Any) -> None:
    fit = _add(commands, 'fit', _fit, 'fit the network of a learned body to sampled deformations')
    fit.add_argument(
        'samples', metavar='FILE', help='.npz archive of x (S, 3), q (S, n), p (S, 3) [m]'
    )
    fit.add_argument(
        '--hidden', type=int, nargs='+', default=[16, 16], metavar='UNITS', help='default 16 16'
    )
    fit.add_argument('--activation', default='tanh', metavar='NAME', help='default tanh')
    fit.add_argument('--length', type=_positive, metavar='M', help='default: the largest x3')
    fit.add_argument(
        '--iterations', type=int, default=200, metavar='N', help='at most; default 200'
    )
    fit.add_argument(
        '--decay', type=float, default=1e-6, metavar='D', help='smoothness; default 1e-6'
    )
    fit.add_argument(
        '--seed', type=int, default=0, metavar='N', help='of random starts; default 0'
    )
    fit.add_argument('--output', required=True, metavar='FILE', help='what to write (.npz)')


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float('inf'):
        raise argparse.ArgumentTypeError(f'{text}, expected a number > 0')
    return value


def _demo(options: argparse.Namespace) -> int:
    try:
        from softrobot_dynamics.demo.session import run
    except ModuleNotFoundError as error:
        if (error.name or '').startswith('softrobot_dynamics'):
            raise
        return _refuse(
            f'the demo needs ROS 2, and there is no {error.name}: source a ROS installation, or'
            " pip install 'softrobot_dynamics[ros,demo]'"
        )
    return run(options)


def _study(options: argparse.Namespace) -> int:
    from softrobot_dynamics.studies.command import run

    return run(options)


def _check(options: argparse.Namespace) -> int:
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.errors import SoftRobotError

    wrong = 0
    for file in options.files:
        try:
            robot = load_robot(file)
        except SoftRobotError as error:
            wrong += 1
            _say(error)
        else:
            counts = f'{robot.n} coordinates, {_m(robot)} actuators'
            _say(f'{file}: {robot.name}, {counts}{_kinds(robot)}')
    return int(wrong > 0)


def _robots(options: argparse.Namespace) -> int:
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.description.shipped import shipped

    files = shipped('robots')
    width = max(map(len, files), default=0)
    for name, file in files.items():
        robot = load_robot(file)
        _say(f'{name:<{width}}  n = {robot.n:2}  m = {_m(robot):2}  {_first_comment(file)}')
    return 0


def _compile(options: argparse.Namespace) -> int:
    from softrobot_dynamics.compiling.folder import cache_folder
    from softrobot_dynamics.demo.display import display
    from softrobot_dynamics.demo.warming import warm
    from softrobot_dynamics.description.shipped import shipped

    shown = display()
    for robot in options.robots or shipped('robots'):
        with shown.stage(str(robot)):
            warm(robot)
    shown.say(f'kernels are in {cache_folder()}')
    return 0


def _modes(options: argparse.Namespace) -> int:
    from softrobot_dynamics.bodies.fem.modes import reduced_basis, Solid
    from softrobot_dynamics.bodies.fem.modes_file import Modes, save_modes
    from softrobot_dynamics.bodies.meshes import read_tetrahedra
    from softrobot_dynamics.demo.display import display

    solid = Solid(options.young_modulus, options.poisson_ratio, options.density)
    shown = display()
    with shown.stage(f'read {options.mesh}'):
        mesh = read_tetrahedra(options.mesh, options.scale)
    with shown.stage(f'modes of {len(mesh.tetrahedra)} tetrahedra'):
        basis = reduced_basis(mesh, solid, options.modes, options.derivatives)
    save_modes(options.output, Modes(mesh, basis, solid, options.scale))
    shown.say('frequencies [Hz]: ' + ', '.join(f'{f:.4g}' for f in basis.frequencies))
    shown.say(f'{basis.fields.shape[2]} coordinates in {options.output}')
    return 0


def _fit(options: argparse.Namespace) -> int:
    from softrobot_dynamics.bodies.learned import fit
    from softrobot_dynamics.bodies.learned.networks import write_network
    from softrobot_dynamics.errors import ArgumentError

    if not Path(options.output).absolute().parent.is_dir():
        raise ArgumentError('--output', options.output, 'a file in a folder that exists')
    samples = fit.read_samples(options.samples)
    with _counting(f'fit to {len(samples.x)} samples', options.iterations) as count:
        found = fit.fit(
            samples,
            options.hidden,
            activation=options.activation,
            length=options.length,
            iterations=options.iterations,
            decay=options.decay,
            seed=options.seed,
            progress=lambda step, rms: count(step, f'rms {rms:.3g} m'),
        )
    write_network(options.output, found.network)
    for name, errors in (('fitted', found.fitted), ('held out', found.held_out)):
        _say(f'{name:8}  rms {errors.rms:.3g} m, largest {errors.largest:.3g} m')
    _say(f'held out were {found.count} samples, all those of postures that the fit has not seen')
    if not found.converged:
        _say(f'still improving after {found.iterations} iterations: --iterations allows for more')
    return 0


@contextlib.contextmanager
def _counting(text: str, total: int) -> Iterator[Callable[[int, str], object]]:
    """Show a bar if `rich` is there; yield a function (steps done, words)."""
    try:
        from rich.progress import Progress
    except ImportError:
        _say(f'{text} ...')
        yield lambda step, words: None
        return
    with Progress() as bar:
        task = bar.add_task(text, total=total)
        yield lambda step, words: bar.update(task, completed=step, description=f'{text}, {words}')


def _plot(options: argparse.Namespace) -> int:
    from softrobot_dynamics.demo import report

    path = Path(options.out or Path(options.folder) / report.PICTURE)
    if not report.draw(report.load(options.folder), path):
        return _refuse(report.INSTALL_MATPLOTLIB)
    _say(path)
    return 0


def _m(robot: RobotDescription) -> int:
    return len(robot.actuator_names)


def _kinds(robot: RobotDescription) -> str:
    """Return what the commands of a RobotDescription are: ': 6 torque [N m], 1 pressure [Pa]'."""
    counts = Counter(robot.commands)
    parts = [f'{count} {name} [{unit or "-"}]' for (name, unit), count in counts.items()]
    return f': {", ".join(parts)}' if parts else ''


def _first_comment(file: Path) -> str:
    """Return the first line of a file's opening comment."""
    line = file.read_text(encoding='utf-8').partition('\n')[0]
    return line.lstrip('# ') if line.startswith('#') else ''


def _say(words: object) -> None:
    print(words, flush=True)


def _refuse(words: object) -> int:
    print(f'softrobot: {words}', file=sys.stderr)
    return WRONG_INPUT


if __name__ == '__main__':
    sys.exit(main())
