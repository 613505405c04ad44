# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot check`."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.cli.common import add, positive, say, SubCommands

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

_DEFAULT_RATE = 1000.0  # [Hz] where no parameter file says another


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'check', run, 'validate robot files and show every problem',
        ('files', 'FILE', 'robot file, or a shipped name', {'nargs': '+'}),
        ('--report', None, 'also compile each, and report on its dynamics and its controller'),
        ('--controller', 'FILE', 'ROS parameters of the controller; default: those shipped for'
         ' the robot, if any'),
        ('--rate', 'HZ', 'rate of the loop; default: that of the --controller file, or 1000',
         {'type': positive}),
        ('--json', 'FILE', 'write the reports to FILE, too'),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Check files; return 1 if one of them is wrong."""
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.errors import SoftRobotError

    wrong, reports = 0, {}
    for file in options.files:
        try:
            robot = load_robot(file)
            notes = _closures(robot) if robot.closures else _default_posture(robot)
        except SoftRobotError as error:
            wrong += 1
            say(error)
        else:
            counts = f'{robot.n} coordinates, {len(robot.actuator_names)} actuators'
            say(f'{file}: {robot.name}, {counts}{_kinds(robot)}')
            for words in notes:
                say(f'  {words}')
            if robot.closures and (options.report or options.json):
                say('  no report: reports do not support robots with closures')
            elif options.report or options.json:
                reports[str(file)] = _report(file, robot, options)
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=2) + '\n', encoding='utf-8')
    return int(wrong > 0)


def _report(file: str, robot: RobotDescription, options: Namespace) -> list[dict[str, Any]]:
    """Print facts and questions about a RobotDescription; return them for JSON."""
    from softrobot_dynamics.checking.report import examine
    from softrobot_dynamics.configuration.parameter_files import (
        chosen,
        controller_files,
        controller_values,
        robot_remark,
    )
    from softrobot_dynamics.model.model import compile_model

    files = controller_files(file, robot, options.controller)
    driven = bool(robot.actuator_names)  # otherwise there is no loop
    values, unknown = controller_values(robot, files) if driven else ({}, [])
    rate = chosen('rate', options.rate, f'--rate {options.rate}', files)
    for remark in filter(None, (rate.remark, *robot_remark(file, files))):
        say(f'  {remark}')
    for words in unknown:
        say(f'  unknown parameter {words} left out')
    if driven and not files:
        say(f'  no parameter file: default parameters of {values["controller"]}')
    period = 1.0 / (rate.value or values.get('rate', _DEFAULT_RATE))
    found = examine(compile_model(robot), values or None, period)
    for name, value, unit, question in found:
        figure = '-' if value is None else f'{value:.4g} {unit}'.rstrip()
        say(f'  {name:<66} {figure:>14}{f"  ? {question}" if question else ""}')
    return [finding._asdict() for finding in found]


def _default_posture(robot: RobotDescription) -> list[str]:
    """Return a question for each coordinate whose limits exclude its initial value, 0."""
    from softrobot_dynamics.description.initial import outside_limits

    start = dict.fromkeys(robot.coordinate_names, 0.0) | robot.initial
    return [
        f'? {problem.path} is not given, and 0 is refused by simulations: {problem.expected}'
        for problem in outside_limits(start, robot.modules)
    ]


def _closures(robot: RobotDescription) -> list[str]:
    """Return lines about closed loops; raise OpenLoopError where they cannot be closed."""
    from softrobot_dynamics.model.model import compile_model

    model = compile_model(robot)
    plan: Any = model.closure_plan
    rank = len(plan.independent_rows)
    found = [f'closures: mobility {model.n - rank} = {model.n} coordinates - rank {rank}']
    if plan.redundant:
        found.append(f'redundant, as they follow from the others: {", ".join(plan.redundant)}')
    moved = abs(plan.assembly_displacement / model.scales.units)
    if moved.max() > 1e-9:
        worst = int(moved.argmax())
        name, there = model.coordinate_names[worst], plan.q0[worst]
        found.append(f'assembled near the initial posture: {name} is {there:.6g} there')
    return found


def _kinds(robot: RobotDescription) -> str:
    """Return the kinds of commands of a RobotDescription: ': 6 torque [N m], 1 pressure [Pa]'."""
    counts = Counter(robot.commands)
    parts = [f'{count} {name} [{unit or "-"}]' for (name, unit), count in counts.items()]
    return f': {", ".join(parts)}' if parts else ''
