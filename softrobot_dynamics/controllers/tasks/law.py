# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tasks in levels within limits: a quadratic programme in every tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import functools
import math
from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers import settings as of_settings
from softrobot_dynamics.controllers.acceleration_law import AccelerationLaw
from softrobot_dynamics.controllers.contract import BlendedReference, Command, register
from softrobot_dynamics.controllers.held_command_motion import LINEARISATION
from softrobot_dynamics.controllers.sampled_data_law import LawWorkspace
from softrobot_dynamics.controllers.tasks.contract import MAX_RELAXATION_ORDERS, TaskContext
from softrobot_dynamics.controllers.tasks.runaway import allocate_runaway, bandwidth, describe_tip
from softrobot_dynamics.controllers.tasks.settings import (
    assemble,
    kinds,
    position_of,
    TaskSettings,
)
from softrobot_dynamics.controllers.tasks.tick import TaskKernelSettings, tick
from softrobot_dynamics.controllers.tasks.tip_course import CourseArrays, TipCourse, TipState
from softrobot_dynamics.controllers.tasks.workspace import bind_tasks, TaskWorkspace
from softrobot_dynamics.dynamics.calls import forward_kinematics, jacobian
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import braking, constant, Reference
from softrobot_dynamics.references.tip_commands import TipOrder, TipPathReference
from softrobot_dynamics.schema.parameters import Parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MIN_REPORTED_EXCESS = 1e-6  # of a bound; less is not reported


@register('task')
class TaskLaw(AccelerationLaw[TaskSettings]):
    """
    Tasks in levels, within limits: least squares in the rates that a held command brings.

    A command w (forces along the outputs) held for the period T brings the robot from its rates v
    to v(T) = v_0 + G J' w (:mod:`~softrobot_dynamics.controllers.sampled_data.command`). Each
    :class:`task <.ControlTask>` asks for some J_k v(T), each :class:`bound <.Bound>` limits some;
    actuators have their limits and rate limits. Of all w within the limits those are chosen that
    do the tasks of level 1 best, by their weights; of these those that do level 2 best; what is
    then still free changes as little as it can
    (:mod:`~softrobot_dynamics.controllers.tasks.solver.hierarchy`). Where limits are met while a
    tip is led, commands are near those without limits instead of best in levels
    (:mod:`~softrobot_dynamics.controllers.tasks.solver.weighted_projection`), and a robot that
    they make fast is slowed (:mod:`~softrobot_dynamics.controllers.tasks.runaway`).

    Bounds that contradict each other, or the limits of actuators, are relaxed in their order by as
    little as it takes: :attr:`relaxed` says which. With an ``observer`` the accelerations that the
    model misses are learned, as in ``pfbl``.
    """

    Settings, KernelSettings = TaskSettings, TaskKernelSettings
    tick, needs_poses = staticmethod(tick), True

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        names = of_settings.controlled_names(model, options.get('controlled'))
        self.remembers = -(-2 * model.n // len(names))
        self._home, self._course = model.q0.copy(), TipCourse(model.scales.length)
        self._seen = model.q0.copy(), np.zeros(model.n)
        self._runaway = allocate_runaway(model, self._course.arrays)
        self._key: tuple[Any, ...] = ()  # what the workspace was made for
        self._work: TaskWorkspace
        self._spans: list[tuple[str, int, int]] = []
        super().__init__(model, **options)
        self._followed = self._asked_for()

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the law's own parameters, and those of all tasks and bounds."""
        own = super().parameters()
        return (*own, *(p for kind in kinds() for p in kind.parameters()))

    @classmethod
    def make_settings(
        cls, model: CompiledModel, controlled: Sequence[str] | None = None, **given: Any
    ) -> Any:
        """
        Return the law's settings, see :meth:`Controller.make_settings`.

        Parameters of tasks and bounds are given by names as ``'position.weight'``.
        """
        make: Any = functools.partial(assemble, cls.Settings)
        known, name = cls.parameters(), cls.type_name
        return of_settings.make_settings(make, known, name, model, controlled, given)

    @classmethod
    def controlled_tip_of(cls, settings: TaskSettings, model: CompiledModel) -> str:
        """Return the body whose tip is led, see :meth:`Controller.controlled_tip_of`."""
        body: str = position_of(settings).body or model.body_names[-1]
        return body

    @property
    def relaxed(self) -> dict[str, float]:
        """By how much bounds had to be exceeded in the last tick [unit of the rate], by kind."""
        levels = self._work.levels
        relaxed = np.where(levels.relaxation_order <= MAX_RELAXATION_ORDERS, levels.relaxed, 0.0)
        beyond = relaxed[len(self.controlled) :]
        found = {name: float(beyond[a:e].max(initial=0.0)) for name, a, e in self._spans}
        return {name: value for name, value in found.items() if value > MIN_REPORTED_EXCESS}

    @property
    def warning(self) -> str:
        """Words on a tip that cannot follow."""
        return describe_tip(self._runaway)

    def figures(self) -> dict[str, object]:
        """Return the unmet share of the tip's request, and what slows the robot for it."""
        return {
            'unmet share of the tip': float(self._runaway.unmet[0]),
            'weight of later tasks': float(self._runaway.weight[0]),
        }

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        self.require_state(q, qd)
        self._home[:] = q
        self._see(q, qd)
        self._course.begin(t, self._tip())
        self._work.prediction.progress[LINEARISATION] = -1
        for each in (self._runaway.weight, self._runaway.unmet, self._runaway.stalled):
            each[:] = 0.0
        super().start(q, qd, t, u)

    def follow(self, reference: Reference | TipPathReference, t: float, ramp: float) -> None:
        """Turn to another reference; a led one leads the tip, too, if it is the law's."""
        self._rest_outputs(t, ramp)
        if isinstance(reference, TipPathReference):
            super().follow(reference.outputs, t, ramp)
            if reference.body in (self.controlled_tip, ''):
                self._take_over()
                self._course.follow(reference.path, t, ramp, self._tip())
                return
        else:
            super().follow(reference, t, ramp)
        self._follow_target(t, ramp)

    def require_order(self, order: TipOrder) -> None:
        """Raise ArgumentError for another tip."""
        if order.body not in (self.controlled_tip, ''):
            raise ArgumentError('body', order.body, f'{self.controlled_tip}, whose tip is led')

    def lead(self, order: TipOrder, t: float) -> None:
        """Turn to a live target or twist, see :meth:`Controller.lead`."""
        self.require_order(order)
        self._take_over()
        self._course.lead(order, t, self._tip())

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command` for the state (q, qd) at time t [s]."""
        if self._asked_for() != self._followed and math.isfinite(q @ q + qd @ qd):
            self._see(q, qd)
            self._rest_outputs(t, self.plan.ramp)
            self._follow_target(t, self.plan.ramp)
            self._apply(self.plan, self.settings)  # the course is in arrays of its own
        command = super().compute(t, q, qd)
        if command.ok:  # orders count from it: a state that is no number would fail them
            self._see(q, qd)
        return command

    def prepared(self, settings: TaskSettings, q: Vector | None) -> dict[str, Any]:
        """Return what the base class does; and for :meth:`_bind` what the workspace is made of."""
        return {**super().prepared(settings, q), 'work': (settings, q)}

    def _bind(self, fixed: LawWorkspace, plan: BlendedReference, kernel_settings: Any) -> Any:
        """Return the kernel of a tick, with the :class:`TaskWorkspace` for it."""
        settings, q = kernel_settings.work
        if q is not None:
            work = self._at_posture(fixed, kernel_settings)
            return super()._bind(fixed, plan, kernel_settings._replace(work=work))
        arrays = self._course.arrays
        key = fixed, settings, arrays.path
        if not (self._key and all(a is b for a, b in zip(key, self._key))):
            context = self._context(self._home, arrays, settings)
            self._work, self._spans = bind_tasks(
                fixed, context, settings.tasks, settings.bounds, self._runaway
            )
            self._runaway.bandwidth[:] = bandwidth(settings.tasks)
            self._key = key
        return super()._bind(fixed, plan, kernel_settings._replace(work=self._work))

    def _at_posture(self, fixed: LawWorkspace, kernel_settings: Any) -> TaskWorkspace:
        """Return a workspace in which all tasks stay at a posture, without bounds."""
        settings, q = kernel_settings.work
        body = self.controlled_tip_of(settings, self.model)
        course = self._course.resting(self._tip(q, np.zeros(self.model.n), body))
        context = self._context(np.array(q), course, settings)
        tasks = [replace(x, target=()) if hasattr(x, 'target') else x for x in settings.tasks]
        return bind_tasks(fixed, context, tasks, (), allocate_runaway(self.model, course))[0]

    def _context(self, home: Vector, course: CourseArrays, settings: TaskSettings) -> TaskContext:
        """Return what tasks and bounds may use."""
        tip = self.controlled_tip_of(settings, self.model)
        return TaskContext(self.model, self.controlled, home, course, self._linear, tip)

    def _tip(self, q: Vector | None = None, qd: Vector | None = None, body: str = '') -> TipState:
        """Return a tip, by default the led one, in a state, by default that of the last tick."""
        q, qd = self._seen if q is None or qd is None else (q, qd)
        body = body or self.controlled_tip
        index = self.model.body_names.index(body)
        T = forward_kinematics(self.model, q=q)[index]
        J = jacobian(self.model, q=q, body=body, frame='base')
        return TipState(T[:3, 3].copy(), T[:3, :3].copy(), J @ qd)

    def _asked_for(self) -> tuple[str, tuple[float, ...]]:
        """Return the tip that the settings lead, and its target."""
        return self.controlled_tip, position_of(self.settings).target

    def _take_over(self) -> tuple[str, tuple[float, ...]]:
        """Take over tip and target of the settings; what led another tip is over."""
        before, self._followed = self._followed, self._asked_for()
        if before[0] != self._followed[0]:
            self._course.stop()
        return self._followed

    def _see(self, q: Vector, qd: Vector) -> None:
        self._seen[0][:], self._seen[1][:] = q, qd

    def _rest_outputs(self, t: float, ramp: float) -> None:
        """Have outputs come to rest if messages lead the tip, as they do not follow the plan."""
        if self._course.live:
            y, velocity = self.outputs(*self._seen)
            state = np.array([y, velocity, 0.0 * y])[:, self.controlled]
            stay = braking(state, 0.0, ramp)
            self.plan = BlendedReference(stay, stay, float(t), 0.0)

    def _follow_target(self, t: float, ramp: float) -> None:
        """Lead the tip to the target of the settings, or nowhere without one."""
        _, target = self._take_over()
        if target:
            self._course.follow(constant(target), t, ramp, self._tip())
        else:
            self._course.stop()
