# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A demo from beginning to end: check, start, watch, stop, evaluate."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import socket
import time
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.compiling.progress import reporting
from softrobot_dynamics.configuration.parts import controlled_of, parts_of
from softrobot_dynamics.demo.monitor import Monitor, Ros, TransitionError
from softrobot_dynamics.demo.plan import (
    compile_everything,
    CompiledNodes,
    DemoPlan,
    draw_up,
    NAMESPACE,
    parameter_arguments,
    reference_of,
    robot_of,
)
from softrobot_dynamics.demo.processes import (
    Child,
    keep_to_this_machine,
    ProcessDiedError,
    Signals,
)
from softrobot_dynamics.demo.rates import held, RATES, share_one, used, work_of
from softrobot_dynamics.demo.scenes import goal_of, scene_of, SceneGoal
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation import report
from softrobot_dynamics.evaluation.goals import missed, passages
from softrobot_dynamics.evaluation.targets import targets_of
from softrobot_dynamics.evaluation.terminal import Display, display, Subject
from softrobot_dynamics.loops import realtime
from softrobot_dynamics.loops.estimation_loop import MODES, RUNNING

if TYPE_CHECKING:
    from softrobot_dynamics.evaluation.report_contents import Report
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.piecewise import Reference

_DURATION = 10.0  # [s] where neither flag nor scene says more
_POLL = 0.1  # [s] between two looks at the loop
_PATIENCE = {'configure': 180.0, 'activate': 180.0, 'deactivate': 5.0, 'cleanup': 5.0}  # [s]
_WAYS = 3.0  # times as long as within a process a message takes from one to another
_MARGIN = 0.1  # [s] beyond the duration, for states that are late


def run(options: Namespace) -> int:
    """
    Run a demo; return the exit status: 0 if all went well, 1 if not, 130 after Ctrl-C.

    Well: the loop held, tips and outputs followed within the tolerance, and a scene came to its
    goal. `options`: robot, controller, surroundings, scene, estimated, rate [Hz] (None: that of
    the parameter file, or the highest of RATES that this machine holds), duration [s] (None: that
    of the scene, or 10 s), tolerance [-], out (folder), json, no_plot, view.
    Raises SoftRobotError for whatever is wrong before anything moves.
    """
    shown, goal = display(), _goal(options)
    duration = options.duration or goal.duration
    folder = report.prepare_folder(options.out)
    if folder.name != Path(options.out).expanduser().resolve().name:
        shown.say(f'there is a demo in {options.out} already: this one goes to {folder}')
    report.prepare_json(options.json)
    keep_to_this_machine(folder)
    ros = Ros()
    try:
        with Signals() as signals:
            plan, model, reference = _prepare(ros, options, duration, folder, shown)
            session = _Session(ros, plan, model, reference, folder, shown, signals)
            with _view(plan, folder, shown) if options.view else contextlib.nullcontext():
                interrupted = session.carry_out(duration)
    except KeyboardInterrupt:
        shown.say('interrupted before anything moved')
        return 130
    finally:
        ros.close()
    if interrupted:
        shown.say('interrupted')
    expected = 0 if interrupted else round(duration * plan.controller['rate'])
    model = report.surrounded(plan.description, plan.simulation['surroundings'], model)
    task = report.task_of(model, plan.controller, options.tolerance)
    try:
        result = report.make(
            folder,
            model,
            task,
            plan.controller,
            duration=duration,
            expected=expected,
            lapses=tuple(session.lapses),
        )
        result = result._replace(
            plant=report.plant_in_words(plan.simulation), estimated=plan.estimator is not None
        )
        if not interrupted:
            result = _judged(result, goal)
    except ArgumentError:
        result = None
    held = report.conclude(
        folder, shown, result,
        lapses=session.lapses, json_file=options.json, picture=not options.no_plot,
    )  # fmt: skip
    if result is not None:
        for words in passages(model, goal.goals, result.run.q):
            shown.say(words)
    if not held and plan.any_rate and plan.controller['rate'] < RATES[0]:
        shown.say(
            f'the rate, {plan.controller["rate"]:g} Hz, is the one that this machine holds;'
            ' --rate asks for another'
        )
    return 130 if interrupted else int(not held)


def _prepare(
    ros: Ros, options: Namespace, duration: float, folder: Path, shown: Display
) -> tuple[Any, ...]:
    """Return (Plan, model, Reference or None) once all is compiled and known to be good."""
    robot, remark, controller, around = _chosen(options)

    def plan_at(rate: float | None) -> Any:
        """Return the Plan at a rate [Hz], None: as the file says."""
        return draw_up(ros.node, robot, controller, rate, folder, options.estimated, around)

    plan = plan_at(options.rate)
    for words in (*filter(None, [remark]), *plan.remarks):
        shown.say(words)
    with shown.stage(f'loading {robot}'), reporting(shown.say):
        compiled = compile_everything(plan)
    work = _work_of(ros, compiled, 1.0 / plan.controller['rate'])
    if plan.any_rate:
        with shown.stage('measuring which rate this machine holds'):
            found = held(work)
        shown.say(found.in_words())
        plan = plan_at(found.rate)._replace(any_rate=True)
    plan = plan._replace(shared=share_one(work, plan.controller['rate']))
    shown.say(
        f'{"one processor for all nodes" if plan.shared else "a processor for each node"}: their'
        f' work takes {1e3 * sum(work):.2f} of {1e3 / plan.controller["rate"]:g} ms'
    )
    kinds = [part.values['reference.type'] for part in parts_of(plan.controller)]
    with shown.stage(f'planning the reference ({", ".join(kinds)})'):
        reference = reference_of(plan, compiled.model)
    report.save_facts(folder, plan, options.tolerance, duration)
    return plan, compiled.model, reference


def _judged(result: Report, goal: SceneGoal) -> Report:
    """Return a Report whose lapses have what is missing of the goal of a scene."""
    own = result.figures
    if not (words := missed(result.model, goal.goals, result.run.q)):
        return result
    lapses = tuple(f'the goal of the scene is missed: {each}' for each in words)
    return result._replace(figures=own._replace(held=False, lapses=(*own.lapses, *lapses)))


def _goal(options: Namespace) -> SceneGoal:
    """Return the goal of a scene, and how long it takes; without one there is none."""
    if options.scene is None:
        return SceneGoal(_DURATION, ())
    goal = goal_of(scene_of(options.scene).goal)
    return goal._replace(goals=()) if options.surroundings else goal  # it is about its own


def _chosen(options: Namespace) -> tuple[str, str, str | None, str | None]:
    """Return robot, a remark on it, parameter file and surroundings, by flags; SoftRobotError."""
    if options.scene is None:
        return (
            *robot_of(options.robot, options.controller),
            options.controller,
            options.surroundings,
        )
    for flag in ('robot', 'controller'):
        if (given := getattr(options, flag)) is not None:
            raise ArgumentError(f'--{flag}', given, f'none beside --scene {options.scene}')
    scene = scene_of(options.scene)
    controller, around = str(scene.controller), options.surroundings or str(scene.surroundings)
    own = None if scene.robot is None else str(scene.robot)
    return *robot_of(own, controller), controller, around


def _work_of(ros: Ros, compiled: CompiledNodes, period: float) -> tuple[float, ...]:
    """Return what each node computes in a tick of a `period` [s], see `rates.py`."""
    message = used(ros.message(compiled.model.n), time.process_time_ns)
    return work_of(compiled.law, compiled.simulator, compiled.estimator, _WAYS * message, period)


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
        self,
        ros: Ros,
        plan: DemoPlan,
        model: CompiledModel,
        reference: Reference | None,
        folder: Path,
        shown: Display,
        signals: Signals,
    ) -> None:
        self.lapses: list[str] = []  # in words, what went wrong
        self._plan, self._model, self._folder, self._shown = plan, model, folder, shown
        self._signals = signals
        controlled = controlled_of(model, plan.controller)
        targets = targets_of(plan.controller)
        self._monitor = Monitor(ros, model, controlled, reference, targets, plan.controller)
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
                self._monitor.transition(name, _PATIENCE[name], self._check)
            except TransitionError as error:
                log = self._nodes[-1].log_end()
                raise TransitionError(f'{error}; the end of its log:\n{log}') from None

    def _await(self, log: Path, words: str) -> None:
        """Wait until a node has said something; ProcessDiedError, TransitionError."""
        end = time.monotonic() + _PATIENCE['configure']
        while words not in log.read_text(encoding='utf-8', errors='replace'):
            self._check()
            self._signals.check()
            if time.monotonic() > end:
                said = self._nodes[-1].log_end()
                raise TransitionError(f'no {words!r} in {log.name}; its end:\n{said}')
            time.sleep(_POLL)

    def _check(self) -> None:
        """Raise ProcessDiedError if a node has ended."""
        for node in self._nodes:
            node.check()

    def _watch(self, duration: float) -> None:
        """Show the loop for a duration [s]."""
        started = time.monotonic()
        with self._shown.live(self._subject(duration)) as show:
            while (t := time.monotonic() - started) < duration + _MARGIN:
                self._check()
                self._signals.check()
                show(min(t, duration), self._monitor.poll())
                time.sleep(_POLL)

    def _subject(self, duration: float) -> Any:
        """Return what the terminal shows of the loop."""
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
                    self._monitor.transition(name, _PATIENCE[name], self._check)
        for node in reversed(self._nodes):
            if not node.end():
                self.lapses.append(f'the {node.name} process had to be killed')
        self._monitor.close()
