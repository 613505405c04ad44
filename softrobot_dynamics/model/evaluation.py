# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Evaluate a robot at a state, in arrays of its own: one evaluator for each thread."""

from collections.abc import Callable
import functools
import threading
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run, run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.model.cable_drives import Conversion
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.terms import allocate_terms, evaluate_terms, Terms
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import FULL, Robot
from softrobot_dynamics.recursion.passive import passive_forces
from softrobot_dynamics.recursion.transmission import add_lines, has_lines, transmit


class Evaluator:
    """
    All terms of a robot at a state, in arrays of its own that every call fills anew.

    Attributes: ``robot`` (:class:`Robot`), whose workspace also holds the frames of the state;
    ``terms`` (:class:`Terms`), without M unless ``with_mass``; for kernels ``entry``, the Entry of
    the same by q and qd, and ``lines``, that of ``add_lines``, or EMPTY_ENTRY.
    """

    def __init__(self, model: RobotModel, with_mass: bool = True) -> None:
        self.robot, self.terms = model.robot(), allocate_terms(model.n, model.m)
        recursion, transmission, self.lines = (
            part() for part in evaluation_parts(self.robot, self.terms, with_mass)
        )
        self.use_entry(
            entry(
                evaluate_terms,
                recursion=recursion,
                transmission=transmission,
                lines=self.lines,
                zero=np.zeros(model.n),
            )
        )

    def use_entry(self, evaluate: Entry) -> None:
        """Evaluate by another entry of q and qd from now on, such as one that goes by this one."""
        self.entry = evaluate
        self._evaluate = cached(run, 'VECTOR, VECTOR', entry=evaluate)

    def __call__(self, q: Vector, qd: Vector) -> Terms:
        """Return the terms at (q, qd), contiguous arrays (n,) of floats, unchecked."""
        self._evaluate(q, qd)
        return self.terms

    def passive(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return new arrays of the elastic force s(q) and the damping force d(q, qd), (n,)."""
        self(q, qd)
        elastic, damping = np.empty((2, len(q)))
        cached(passive_forces)(self.robot, q, qd, elastic, damping)
        return elastic, damping


def evaluation_parts(
    robot: Robot, terms: Terms, with_mass: bool = True
) -> tuple[Callable[[], Entry], ...]:
    """
    Return three functions that compile, and return the entries of, the parts of an evaluation.

    They fill h, and M if ``with_mass``, by q, qd and qdd; y, J and the bias but for straight
    lines, by q and qd; and add straight lines, by the same, where there are any.
    """
    lines = has_lines(robot)  # they need the poses, as M does
    given = {'robot': robot, 'Q': terms.h, 'M': terms.M}
    recursion = functools.partial(
        entry, inverse_dynamics, mode=FULL, with_mass=with_mass or lines, **given
    )
    given = {'robot': robot, 'y': terms.y, 'J': terms.J, 'bias': terms.bias}
    return (
        recursion,
        functools.partial(entry, transmit, **given),
        functools.partial(entry, add_lines, **given) if lines else lambda: EMPTY_ENTRY,
    )


class Recursion:
    """
    ID or IID of a robot by ``mode``, and its mass matrix, in arrays of its own.

    Attributes: ``robot`` (:class:`Robot`); ``Q`` (n,); ``M`` (n, n), filled if ``with_mass``, and
    so are all poses in the robot's workspace.
    """

    def __init__(self, model: RobotModel, mode: int, with_mass: bool) -> None:
        self.robot, self.Q, self.M = model.robot(), np.zeros(model.n), np.zeros((model.n,) * 2)
        given = {'mode': mode, 'with_mass': with_mass, 'Q': self.Q, 'M': self.M}
        self._run = cached(
            run_three,
            'VECTOR, VECTOR, VECTOR',
            entry=entry(inverse_dynamics, robot=self.robot, **given),
        )

    def __call__(self, q: Vector, qd: Vector, qdd: Vector) -> None:
        """Fill the results at (q, qd, qdd), contiguous arrays (n,) of floats, unchecked."""
        self._run(q, qd, qdd)


class PerThread(threading.local):
    """
    The evaluator and arrays of a model for calls without ones of their own, for each thread.

    Attributes: ``evaluator``, ``conversion`` of commands; ``made``, a function that returns what
    a function makes of the model, once.
    """

    def __init__(self, model: RobotModel) -> None:
        self.conversion = Conversion(model)
        self.evaluator, self.recursion = model.evaluator(), functools.cache(self._recursion)
        self._model = model
        self.made = functools.cache(self._made)

    def _made(self, make: Callable[[Any], Any]) -> Any:
        """Return the object that a function makes of the model."""
        return make(self._model)

    def _recursion(self, mode: int, with_mass: bool) -> Recursion:
        """Return the :class:`Recursion` of these options."""
        return Recursion(self._model, mode, with_mass)
