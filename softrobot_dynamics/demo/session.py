# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A demo from beginning to end: check, start, watch, stop, evaluate."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
import contextlib
import os
from pathlib import Path
import socket
import time
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.configuration.parts import controlled_of
from softrobot_dynamics.demo.monitor import Monitor, Ros, TransitionError
from softrobot_dynamics.demo.plan import DemoPlan, NAMESPACE, parameter_arguments
from softrobot_dynamics.demo.preparation import goal_chosen, prepare, PreparedDemo
from softrobot_dynamics.demo.processes import (
    Child,
    keep_to_this_machine,
    ProcessDiedError,
    Signals,
)
from softrobot_dynamics.demo.rates import CANDIDATE_RATES
from softrobot_dynamics.demo.scenes import SceneGoal
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation import report
from softrobot_dynamics.evaluation.goals import missed, passages
from softrobot_dynamics.evaluation.targets import targets_of
from softrobot_dynamics.evaluation.terminal import Display, display, Subject
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.estimation_loop import MODES, RUNNING

if TYPE_CHECKING:
    from softrobot_dynamics.evaluation.report_contents import Report

_POLL_PERIOD = 0.1  # [s] between two looks at the loop
# [s]
_TRANSITION_TIMEOUTS = {'configure': 180.0, 'activate': 180.0, 'deactivate': 5.0, 'cleanup': 5.0}
_LATE_STATE_MARGIN = 0.1  # [s] beyond the duration, for states that are late


def run(options: Namespace) -> int:
    """
    Run a demo; return the exit status: 0 if all went well, 1 if not, 130 after Ctrl-C.

    Well: the loop held, tips and outputs followed within the tolerance, and a scene came to its
    goal. `options`: robot, controller, surroundings, scene, estimated, rate [Hz] (None: that of
    the parameter file, or the highest of CANDIDATE_RATES that this machine holds), duration [s]
    (None: that of the scene, or 10 s), tolerance [-], out (folder), json, no_plot, view. Raises
    SoftRobotError for whatever is wrong before anything moves.
    """
    shown, goal = display(), goal_chosen(options)
    duration = options.duration or goal.duration
    folder = report.prepare_folder(options.out)
    if folder.name != Path(options.out).expanduser().resolve().name:
        shown.say(f'there is a demo in {options.out} already: this one goes to {folder}')
    report.prepare_json(options.json)
    keep_to_this_machine(folder)
    ros = Ros()
    try:
        with Signals() as signals:
            prepared = prepare(ros, options, duration, folder, shown)
            session = _Session(ros, prepared, folder, shown, signals)
            with _view(prepared.plan, folder, shown) if options.view else contextlib.nullcontext():
                interrupted = session.carry_out(duration)
    except KeyboardInterrupt:
        shown.say('interrupted before anything moved')
        return 130
    finally:
        ros.close()
    if interrupted:
        shown.say('interrupted')
    plan = prepared.plan
    result = _evaluated(options, prepared, folder, duration, session.lapses, interrupted)
    if result is not None and not interrupted:
        result = _judged(result, goal)
    held = report.conclude(
        folder, shown, result,
        lapses=session.lapses, json_file=options.json, picture=not options.no_plot,
    )  # fmt: skip
    if result is not None:
        for words in passages(result.model, goal.goals, result.run.q, result.run.simulated):
            shown.say(words)
    if not held and plan.any_rate and plan.controller['rate'] < CANDIDATE_RATES[0]:
        shown.say(
            f'rate: {plan.controller["rate"]:g} Hz, chosen as this machine holds no higher one;'
            ' --rate sets another'
        )
    return 130 if interrupted else int(not held)


def _evaluated(
    options: Namespace,
    prepared: PreparedDemo,
    folder: Path,
    duration: float,
    lapses: Sequence[str],
    interrupted: bool,
) -> Report | None:
    """Return the Report on the records in a folder; None if there is nothing to evaluate."""
    plan = prepared.plan
    model = report.surrounded(plan.description, plan.simulation['surroundings'], prepared.model)
    task = report.task_of(model, plan.controller, options.tolerance)
    expected = 0 if interrupted else round(duration * plan.controller['rate'])
    more: Any = {'duration': duration, 'expected': expected, 'lapses': tuple(lapses)}
    try:
        result = report.make(folder, model, task, plan.controller, **more)
    except ArgumentError:
        return None
    plant = report.plant_in_words(plan.simulation)
    return result._replace(plant=plant, estimated=plan.estimator is not None)


def _judged(result: Report, goal: SceneGoal) -> Report:
    """Return a Report whose lapses include goals of a scene that were missed."""
    own = result.figures
    run = result.run
    if not (words := missed(result.model, goal.goals, run.q, run.simulated)):
        return result
    lapses = tuple(f'the goal of the scene is missed: {each}' for each in words)
    return result._replace(figures=own._replace(held=False, lapses=(*own.lapses, *lapses)))


@contextlib.contextmanager
def _view(plan: DemoPlan, folder: Path, shown: Display) -> Iterator[None]:
    """Within this context a browser can see the loop."""
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    robot, around = plan.robot, plan.simulation['surroundings']
    wanted = [robot if not Path(robot).exists() else str(Path(robot).resolve()), '--follow']
    wanted += ['--surroundings', around] if around else []
    wanted += ['--namespace', NAMESPACE, '--port', str(port)]
    view = Child('cli', ['view', *wanted], folder / 'view.log')
    shown.say(f'shown at http://127.0.0.1:{port}')
    try:
        yield
    finally:
        view.end()


class _Session:
    """The part of a demo in which things move."""

    def __init__(
        self, ros: Ros, prepared: PreparedDemo, folder: Path, shown: Display, signals: Signals
    ) -> None:
        self.lapses: list[str] = []  # in words, what went wrong
        self._plan, self._model = plan, model = prepared.plan, prepared.model
        self._folder, self._shown, self._signals = folder, shown, signals
        controlled = controlled_of(model, plan.controller)
        targets = targets_of(plan.controller)
        self._monitor = Monitor(
            ros, model, controlled, prepared.reference, targets, plan.controller
        )
        self._nodes: list[Any] = []

    def carry_out(self, duration: float) -> bool:
        """Close the loop for `duration` [s]; return whether it was interrupted."""
        interrupted = False
        try:
            between = ', estimator' if self._plan.estimator else ''
            with self._shown.stage(f'starting simulation{between} and controller'):
                self._start()
            self._watch(duration)
        except KeyboardInterrupt:
            interrupted = True
        except (ProcessDiedError, TransitionError) as error:
            self.lapses.append(str(error))
        finally:
            self._signals.ignore()
            with self._shown.stage('ending them'):
                self._end()
        return interrupted

    def _start(self) -> None:
        """Start the nodes, and configure and activate the controller."""
        arguments = parameter_arguments(self._plan.files)
        self._shown.say(f'ROS_DOMAIN_ID={os.environ["ROS_DOMAIN_ID"]}, namespace /{NAMESPACE}')
        estimator = ['estimator'] if self._plan.estimator else []
        pair = realtime.processor_of_pair(NAMESPACE) if self._plan.shared else None
        place = ['--processor', 'own'] if pair is None else ['--processor', str(pair), '--shared']
        for name in ('simulation', *estimator, 'controller'):
            log = self._folder / f'{name}.log'
            self._nodes.append(Child(f'nodes.{name}', [*place, *arguments], log))
            if name == 'estimator':
                self._await(log, MODES[RUNNING])
        for name in ('configure', 'activate'):
            try:
                self._monitor.transition(name, _TRANSITION_TIMEOUTS[name], self._check)
            except TransitionError as error:
                log = self._nodes[-1].log_end()
                raise TransitionError(f'{error}; the end of its log:\n{log}') from None

    def _await(self, log: Path, words: str) -> None:
        """Wait until a node has said something; ProcessDiedError, TransitionError."""
        end = time.monotonic() + _TRANSITION_TIMEOUTS['configure']
        while words not in log.read_text(encoding='utf-8', errors='replace'):
            self._check()
            self._signals.check()
            if time.monotonic() > end:
                said = self._nodes[-1].log_end()
                raise TransitionError(f'no {words!r} in {log.name}; its end:\n{said}')
            time.sleep(_POLL_PERIOD)

    def _check(self) -> None:
        """Raise ProcessDiedError if a node has ended."""
        for node in self._nodes:
            node.check()

    def _watch(self, duration: float) -> None:
        """Show the loop for a duration [s]."""
        started = time.monotonic()
        with self._shown.live(self._subject(duration)) as show:
            while (t := time.monotonic() - started) < duration + _LATE_STATE_MARGIN:
                self._check()
                self._signals.check()
                show(min(t, duration), self._monitor.poll())
                time.sleep(_POLL_PERIOD)

    def _subject(self, duration: float) -> Any:
        """Return the facts of the loop that the terminal shows."""
        values, model = self._plan.controller, self._model
        return Subject(
            title=f'{model.description.name} at {values["rate"]:g} Hz',
            duration=duration,
            ramp=values['reference.ramp_time'],
            actuators=model.actuator_names,
            units=tuple(quantity.unit for quantity in model.commands),
            y_units=tuple(model.outputs[i].unit for i in controlled_of(model, values)),
            lower=model.lower,
            upper=model.upper,
        )

    def _end(self) -> None:
        """End the controller first, so that the simulation still gets the safe command."""
        if self._nodes and self._nodes[-1].name == 'controller':
            with contextlib.suppress(TransitionError, ProcessDiedError):
                for name in ('deactivate', 'cleanup'):
                    self._monitor.transition(name, _TRANSITION_TIMEOUTS[name], self._check)
        for node in reversed(self._nodes):
            if not node.end():
                self.lapses.append(f'the {node.name} process had to be killed')
        self._monitor.close()
