# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Preparation of a demo: checks, compilation and measurements before its nodes start."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
import time
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.configuration.parts import parts_of
from softrobot_dynamics.demo.plan import (
    compile_everything,
    CompiledNodes,
    DemoPlan,
    draw_up,
    reference_of,
    robot_of,
)
from softrobot_dynamics.demo.rates import held, share_one, used, work_of
from softrobot_dynamics.demo.scenes import goal_of, scene_of, SceneGoal
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation import report

if TYPE_CHECKING:
    from softrobot_dynamics.demo.monitor import Ros
    from softrobot_dynamics.evaluation.terminal import Display
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.piecewise import Reference

_DEFAULT_DURATION = 10.0  # [s] where neither flag nor scene gives one
_MESSAGE_COST_RATIO = 3.0  # of a message between processes, to one within a process


class PreparedDemo(NamedTuple):
    """A demo of which all is compiled and known to be good."""

    plan: DemoPlan
    model: CompiledModel
    reference: Reference | None


def prepare(
    ros: Ros, options: Namespace, duration: float, folder: Path, shown: Display
) -> PreparedDemo:
    """Return the demo of a command line, of a duration [s], in a folder; SoftRobotError."""
    robot, remark, controller, around = _chosen(options)

    def plan_at(rate: float | None) -> Any:
        """Return the Plan at a rate [Hz], None: as the file says."""
        return draw_up(ros.node, robot, controller, rate, folder, options.estimated, around)

    plan = plan_at(options.rate)
    for words in (*filter(None, [remark]), *plan.remarks):
        shown.say(words)
    with shown.compilation(f'loading {robot}'):
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
    return PreparedDemo(plan, compiled.model, reference)


def goal_chosen(options: Namespace) -> SceneGoal:
    """Return the goal of a scene, and how long it takes; without one there is none."""
    if options.scene is None:
        return SceneGoal(_DEFAULT_DURATION, ())
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
    """Return the work of each node in a tick of a `period` [s], see `rates.py`."""
    message = used(ros.message(compiled.model.n), time.process_time_ns)
    return work_of(
        compiled.law, compiled.simulator, compiled.estimator, _MESSAGE_COST_RATIO * message, period
    )
