# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Wrenches from outside and a payload in a simulation: exact at every evaluation of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.dynamics.wrenches import Load
from softrobot_dynamics.model.points import cloud_of
from softrobot_dynamics.recursion.loads import (
    evaluate_with_payload,
    evaluate_with_point_wrench,
    evaluate_with_tip_wrench,
    Payload,
    PointLoad,
    TipLoad,
)
from softrobot_dynamics.simulation.integrators.contract import Integrator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_CACHE_SIZE = 64  # sets of places whose kernels' arguments stay


class LoadedSteps(NamedTuple):
    """Steps of an integrator under loads at certain places."""

    advance: Callable[..., int]  # as :meth:`.Integrator.bind` returns it
    evaluate: Callable[[Vector, Vector], None]  # the robot at (q, qd), into the terms
    evaluate_driven: Callable[[Vector, Vector], None]  # with drives of joints, as in a step


class LoadedStepper:
    """
    Makes the steps of a stepper under wrenches; called with Loads it returns LoadedSteps.

    What is in force where costs something only when it is asked for first: later calls with
    wrenches at the same places change the numbers. With the index of a ``carrier`` a mass of
    ``payload`` (1,) [kg] is at the tip of that body, also without wrenches.
    """

    def __init__(
        self, model: CompiledModel, stepper: Integrator, carrier: int | None = None
    ) -> None:
        self._model, self._stepper, self.payload = model, stepper, np.zeros(1)
        self._evaluate = stepper.entry
        if carrier is not None:
            self._evaluate = self._carried(carrier)
        self._bound = functools.lru_cache(_CACHE_SIZE)(self._bind)

    def __call__(self, loads: Sequence[Load]) -> LoadedSteps:
        """Return the steps of the stepper under these loads."""
        steps, values = self.prepare(loads)
        for value, (_, wrench) in zip(values, loads):
            value[:] = wrench.value
        return steps

    def prepare(self, loads: Sequence[Load]) -> tuple[LoadedSteps, list[Vector]]:
        """Return the steps and arrays for loads at these places."""
        return self._bound(
            tuple(
                (body, None if w.point is None else w.point.tobytes(), w.frame)
                for body, w in loads
            )
        )

    def _bind(
        self, places: Sequence[tuple[int, bytes | None, str]]
    ) -> tuple[LoadedSteps, list[Vector]]:
        """Return steps and the wrenches (6,) that they read, one for each place."""
        evaluate, values = self._evaluate, []
        for body, point, frame in places:
            values.append(np.zeros(6))
            given = {'body': body, 'is_follower': int(frame == 'body'), 'wrench': values[-1]}
            evaluate = self._loaded(evaluate, point, given)
        plain = cached(run, 'VECTOR, VECTOR', entry=evaluate)
        driven = self._stepper.driven(evaluate)
        own = plain if driven is evaluate else cached(run, 'VECTOR, VECTOR', entry=driven)
        return LoadedSteps(self._stepper.bind(evaluate), plain, own), values

    def _carried(self, body: int) -> Entry:
        """Return the entry of an evaluation with the payload at a body's tip."""
        evaluate, terms, n = self._stepper.evaluate, self._stepper.terms, self._model.n
        return entry(
            evaluate_with_payload,
            evaluate=self._evaluate,
            robot=evaluate.robot,
            h=terms.h,
            M=terms.M,
            payload=Payload(body=body, mass=self.payload, scratch=np.zeros(9), J=np.zeros(6 * n)),
        )

    def _loaded(self, evaluate: Entry, point: bytes | None, given: dict[str, Any]) -> Entry:
        """Return the entry of an evaluation under one more wrench, at a tip or another point."""
        robot, h, n = self._stepper.evaluate.robot, self._stepper.terms.h, self._model.n
        common = {'evaluate': evaluate, 'robot': robot, 'h': h}
        if point is None:
            load = TipLoad(**given, scratch=np.zeros(9), J=np.zeros(6 * n))
            return entry(evaluate_with_tip_wrench, **common, load=load)
        at_point = PointLoad(
            **given,
            cloud=cloud_of(self._model, robot, given['body'], np.frombuffer(point).reshape(1, 3)),
            frame=np.zeros((1, 16)),
            J=np.zeros((1, 6 * n)),
            velocity=np.zeros((1, 3)),
            zero=np.zeros(n),
        )
        return entry(evaluate_with_point_wrench, **common, load=at_point)
