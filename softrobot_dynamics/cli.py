# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The `softrobot` command; each sub-command imports what it needs when it runs."""

import argparse
import sys

WRONG_INPUT = 2  # exit status, as argparse has it


def main(argv=None):
    """Run the command line `argv` (default: the process's own); return the exit status."""
    options = _parser().parse_args(argv)
    from softrobot_dynamics.errors import SoftRobotError

    try:
        return options.run(options)
    except SoftRobotError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog='softrobot',
        description='Model, simulate and control robots of rigid and soft bodies.',
    )
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    _add_demo(commands)
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
    plot = _add(commands, 'plot', _plot, 'draw the picture of a demo again')
    plot.add_argument('folder', metavar='FOLDER', help='what the demo wrote into')
    plot.add_argument('--out', metavar='FILE', help='the picture; default: demo.png in FOLDER')
    return parser


def _add(commands, name, run, words):
    parser = commands.add_parser(name, help=words, description=words[0].upper() + words[1:] + '.')
    parser.set_defaults(run=run)
    return parser


def _add_demo(commands):
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
        '--out', default='softrobot_demo', metavar='FOLDER', help='default softrobot_demo'
    )
    demo.add_argument('--json', metavar='FILE', help='write the figures to FILE')
    demo.add_argument('--no-plot', action='store_true', help='draw no picture')


def _positive(text):
    value = float(text)
    if not 0.0 < value < float('inf'):
        raise argparse.ArgumentTypeError(f'{text}, expected a number > 0')
    return value


def _demo(options):
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


def _check(options):
    from softrobot_dynamics.description import load_robot
    from softrobot_dynamics.errors import SoftRobotError

    wrong = 0
    for file in options.files:
        try:
            robot = load_robot(file)
        except SoftRobotError as error:
            wrong += 1
            _say(error)
        else:
            _say(f'{file}: {robot.name}, {robot.n} coordinates, {_m(robot)} actuators')
    return int(wrong > 0)


def _robots(options):
    from softrobot_dynamics.description import load_robot
    from softrobot_dynamics.shipped import shipped

    files = shipped('robots')
    width = max(map(len, files), default=0)
    for name, file in files.items():
        robot = load_robot(file)
        _say(f'{name:<{width}}  n = {robot.n:2}  m = {_m(robot):2}  {_first_comment(file)}')
    return 0


def _compile(options):
    from softrobot_dynamics.demo.display import display
    from softrobot_dynamics.demo.warming import warm
    from softrobot_dynamics.kinematics.cache import cache_folder
    from softrobot_dynamics.shipped import shipped

    shown = display()
    for robot in options.robots or shipped('robots'):
        with shown.stage(str(robot)):
            warm(robot)
    shown.say(f'kernels are in {cache_folder()}')
    return 0


def _plot(options):
    from pathlib import Path

    from softrobot_dynamics.demo import report

    path = Path(options.out or Path(options.folder) / report.PICTURE)
    if not report.draw(report.load(options.folder), path):
        return _refuse(report.INSTALL_MATPLOTLIB)
    _say(path)
    return 0


def _m(robot):
    return len(robot.actuator_names)


def _first_comment(file):
    """Return the first line of a file's opening comment."""
    line = file.read_text(encoding='utf-8').partition('\n')[0]
    return line.lstrip('# ') if line.startswith('#') else ''


def _say(words):
    print(words, flush=True)


def _refuse(words):
    print(f'softrobot: {words}', file=sys.stderr)
    return WRONG_INPUT


if __name__ == '__main__':
    sys.exit(main())
