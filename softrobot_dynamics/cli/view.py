# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot view`."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
import os
import time
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.cli.common import add, add_options, say, SubCommands
from softrobot_dynamics.errors import one_line, SoftRobotError
from softrobot_dynamics.viewing.ports import MAX_PORT

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.viewing.browser import Browser
    from softrobot_dynamics.viewing.sources import Source

MAX_PICTURE_RATE = 30.0  # [Hz]


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    words = 'show a robot in a browser: posed by sliders, or live'
    robot = 'robot', 'NAME|FILE', 'shipped name or robot file'
    view = add(commands, 'view', run, words, robot)
    add_options(
        view.add_mutually_exclusive_group(),
        ('--play', 'FILE', 'a recording of a node, instead of sliders'),
        ('--follow', None, 'follow a running loop by its topics'),
    )  # fmt: skip
    add_options(
        view,
        ('--namespace', 'NAME', 'namespace of the topics for --follow', {'default': ''}),
        ('--controller', 'FILE', 'ROS parameters of the controller, with the topics and joint'
         ' names for --follow'),
        ('--surroundings', 'FILE', 'environment and objects beside the robot'),
        ('--host', '', 'default 127.0.0.1: this machine alone', {'default': '127.0.0.1'}),
        ('--port', '', 'default 8080, or the next free one', {'type': _port, 'default': 8080}),
    )  # fmt: skip


def _port(text: str) -> int:
    """Return the number of a port."""
    if text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= MAX_PORT:
        return int(text)
    raise ArgumentTypeError(f'{one_line(text)}, expected a port, 0 to {MAX_PORT}')


def run(options: Namespace) -> int:
    """Show a robot until Ctrl-C."""
    from softrobot_dynamics.description.add_surroundings import surround
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.model.model import compile_model
    from softrobot_dynamics.viewing.browser import Browser
    from softrobot_dynamics.viewing.shapes import RobotShape

    say(f'compiling {options.robot}, unless it is in the kernel cache')
    robot = load_robot(options.robot)
    model = compile_model(surround(robot, options.surroundings) if options.surroundings else robot)
    browser = Browser(RobotShape(model), options.host, options.port)
    try:
        source = _source(options, browser)
        say(f'{model.description.name} at {browser.address}, until Ctrl-C')
        while True:
            if (seen := source.poll()) is not None:
                browser.show(*seen)
            time.sleep(1.0 / MAX_PICTURE_RATE)
    finally:
        browser.close()


def _source(options: Namespace, browser: Browser) -> Source:
    """Return the source of postures: sliders or a recording."""
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.viewing.sources import Player, Sliders

    model = browser.shape.model
    if options.play:
        from softrobot_dynamics.recordings.reading import read_recording

        return Player(browser, read_recording(options.play))
    if options.follow:
        try:
            from softrobot_dynamics.nodes.topic_observer import TopicObserver
        except ModuleNotFoundError as error:
            if (error.name or '').startswith('softrobot_dynamics'):
                raise
            words = f'--follow needs ROS 2, and there is no {error.name}: source an installation'
            raise SoftRobotError(f"{words}, or pip install 'softrobot_dynamics[ros]'") from error
        os.nice(10)  # the loop comes first
        objects = model.coordinate_names[load_robot(options.robot).n :]
        values = _parameters(options.controller, model)
        moving = bool(browser.shape.moving)
        return TopicObserver(model, options.namespace, values, objects, moving)
    return Sliders(browser)


def _parameters(file: str | None, model: CompiledModel) -> dict[str, Any]:
    """Return the parameters of a controller, by its file or as by default."""
    from softrobot_dynamics.configuration.parameter_files import controller_file, controller_values

    files = () if file is None else (controller_file(file),)
    return controller_values(model.description, files)[0]
