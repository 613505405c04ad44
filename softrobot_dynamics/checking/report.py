# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A report on a robot and its controller, from a few states about its rest.

Each finding is a figure and, where that is not as it should be, a question to the author: nothing
here is an error, as a robot file that is one is refused before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import time
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.checking.discretisation_error import tip_deviations
from softrobot_dynamics.checking.omitted_strains import worst_omitted
from softrobot_dynamics.checking.units import questions
from softrobot_dynamics.configuration import build
from softrobot_dynamics.configuration.state_topics import expected_delay
from softrobot_dynamics.dynamics import inverse
from softrobot_dynamics.dynamics.statics import Equilibrium, equilibrium
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.loops.stability_check import MODEL_UNCERTAINTY
from softrobot_dynamics.model.length_quadrature import LENGTH_TOLERANCE as LENGTH
from softrobot_dynamics.model.routes import has_friction
from softrobot_dynamics.simulation.state_space import linearise
from softrobot_dynamics.viewing.ranges import coordinate_ranges
from softrobot_dynamics.viewing.shapes import reach_of

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.contract import Controller
    from softrobot_dynamics.controllers.settings import Settings
    from softrobot_dynamics.model.model import CompiledModel

SEED, STATE_COUNT, STATE_FRACTION = 0, 3, 0.5  # random states, and how far of what bodies can do
DIFFERENCE_STEP = 1e-5  # of dM/dt, over the time that a range of q takes
# relative; beyond it the check asks a question
MAX_IDENTITY_ERROR, MIN_EIGENVALUE_RATIO, MAX_QUADRATURE_ERROR = 1e-9, 1e-6, 1e-3
MAX_SHAPE_ERROR = 0.05  # of a body's length; beyond it the check asks about its shapes
TIMED_CALLS = 300


class Finding(NamedTuple):
    """One line of a report; ``question`` is '' where all is well."""

    name: str
    value: float | None
    unit: str
    question: str = ''


def examine(
    model: CompiledModel, values: Mapping[str, Any] | None = None, period: float = 1e-3
) -> list[Finding]:
    """
    Return the findings on a model, and on its controller of parameter ``values`` if there are any.

    ``period`` [s] is that of the loop. What cannot be found out is a finding without a value.
    """
    robot = _Robot(model, values, period)
    found = [Finding('units', None, '', words) for words in questions(model.description)]
    parts = (
        robot.identities,
        robot.masses,
        robot.quadrature,
        robot.routes,
        robot.orders,
        robot.omitted,
        robot.rest,
        robot.calls,
    )
    for part in parts:
        found += part()
    if values is not None:
        found += _tried('controller', robot.controller)
    return found


class _Robot:
    """A robot in some states, and its controller."""

    def __init__(
        self, model: CompiledModel, values: Mapping[str, Any] | None, period: float
    ) -> None:
        self._model, self._values, self._period = model, values, period
        rng = np.random.default_rng(SEED)
        span = coordinate_ranges(model, reach_of(model))
        self._scale = STATE_FRACTION * 0.5 * (span[:, 1] - span[:, 0])
        middle = 0.5 * (span[:, 0] + span[:, 1])
        drawn = rng.uniform(-1.0, 1.0, (STATE_COUNT, 3, model.n)) * self._scale
        pace = model.scales.pace
        self._states = [(middle + q, pace * qd, pace**2 * qdd) for q, qd, qdd in drawn]
        self._u = np.clip(np.zeros(model.m), model.lower, model.upper)
        self._q = model.q0.copy()  # at rest, once that is found

    def identities(self) -> Iterator[Finding]:
        """Yield the errors of identities that hold for any robot."""
        model, inert, power = self._model, 0.0, 0.0
        units, step = model.scales.units, DIFFERENCE_STEP / self._model.scales.pace
        for q, qd, qdd in self._states:
            h, M = inverse.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)
            whole = inverse.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
            inert = max(inert, _apart(units * (M @ qdd + h), units * whole))
            twice = [self._twice_energy(q + s * step * qd, qd) for s in (1.0, -1.0)]
            rate = (twice[0] - twice[1]) / (4.0 * step)
            power = max(power, abs(qd @ h - rate) / max(np.abs(qd * h).sum(), 1e-300))
        yield _above('M qdd + c equals inverse dynamics, relative', inert, '', MAX_IDENTITY_ERROR)
        yield _above('power of c equals that of dM/dt / 2, relative', power, '', 1e-5)

    def _twice_energy(self, q: Vector, qd: Vector) -> float:
        return float(qd @ self._mass(q) @ qd)

    def _mass(self, q: Vector) -> Matrix:
        rest = np.zeros(self._model.n)
        return inverse.mass_inertial_inverse_dynamics(self._model, q=q, qd=rest, qdd=rest)[1]

    def masses(self) -> Iterator[Finding]:
        """Yield how far M is from singular, each coordinate's own inertia being one."""
        worst = 0.0
        for q, *_ in [(self._model.q0,), *self._states]:
            M = self._mass(q)
            inertia_scales = np.sqrt(np.maximum(np.diag(M), 1e-300))
            worst = max(worst, float(np.linalg.cond(M / np.outer(inertia_scales, inertia_scales))))
        words = (
            'can some coordinates hardly be told apart?'
            if worst > 1.0 / MIN_EIGENVALUE_RATIO
            else ''
        )
        yield Finding('condition of M, scaled', worst, '', words)

    def quadrature(self) -> Iterator[Finding]:
        """Yield the error of each body's quadrature, compared with twice as many points."""
        for module, _, own in self._model.description.coordinate_slices():
            rule = getattr(module.body, 'quadrature', None)
            if rule is not None and own.stop > own.start:
                postures = np.array([q[own] for q, *_ in self._states])
                finest = 2 * rule if isinstance(rule, int) else None
                error = sd.quadrature_error(module.body, postures, finest=finest)
                yield _above(f'quadrature error of {module.name}', error, '', MAX_QUADRATURE_ERROR)

    def routes(self) -> Iterator[Finding]:
        """Yield the error of each length through a body, and of how routes that rub turn."""
        model = self._model
        names = model.description.actuator_names
        for s in model.samplings:
            name = f'quadrature error of {names[s.actuator]} through {s.body}, {s.points} points'
            yield _above(name, s.error, '', LENGTH)
        for s in model.route_plan.samplings if has_friction(model) else ():
            name = f'error of the turns of {names[s.actuator]} in {s.body}, {s.points} points'
            yield _above(name, s.error, '', MAX_QUADRATURE_ERROR)

    def orders(self) -> Iterator[Finding]:
        """Yield how far each body's tip rests from that of a finer model, see `tip_deviations`."""
        for body, error, worst, finer in tip_deviations(self._model):
            if error is None:
                yield Finding(f'error of the order of {body}, beside {finer}', None, '', worst)
                continue
            name = f'tip of {body} beside {finer}, worst under {worst}'
            words = (
                f'should be below {MAX_SHAPE_ERROR:.0%} of its length'
                if error > MAX_SHAPE_ERROR
                else ''
            )
            yield Finding(name, 100.0 * error, '%', words)

    def omitted(self) -> Iterator[Finding]:
        """Yield how far strains that rods leave out would move the robot, see `worst_omitted`."""
        for worst in worst_omitted(self._model):
            omitted = worst.omitted
            name = f'shift by {omitted.name}, which {omitted.body} leaves out, under {worst.load}'
            yield Finding(name, 1e3 * omitted.shift, 'mm', worst.question)

    def rest(self) -> Iterator[Finding]:
        """Yield where the robot is at rest without commands, and whether it stays there."""
        model = self._model
        try:
            rest = equilibrium(model, command=self._u)
        except SoftRobotError as error:
            yield Finding('rest without commands', None, '', str(error))
            return
        self._q = rest.q
        words = '' if rest.stable else _unstable(rest)
        yield Finding('slowest squared frequency at rest', rest.stability, '1/s^2', words)
        yield Finding('growth of motions about rest', rest.growth, '1/s')
        u = sd.efforts(model, q=rest.q, command=self._u)
        rates = np.linalg.eigvals(linearise(model, q=rest.q, qd=np.zeros(model.n), u=u).A)
        yield Finding('fastest rate at rest', float(np.abs(rates).max()), '1/s')

    def calls(self) -> Iterator[Finding]:
        """Yield how long the dynamics take on this machine, as it is now."""
        q, qd, qdd = self._states[0]
        evaluate = self._model.evaluator()
        time = float(np.median(_times(lambda: evaluate(q, qd))))
        yield Finding('M, forces and outputs, median', 1e6 * time, 'us')

    def controller(self) -> Iterator[Finding]:
        """Yield the zero dynamics, unstable loops and the highest rate of the law."""
        model, period = self._model, self._period
        law = build.law_of(model, {**(self._values or {}), 'rate': 1.0 / period})
        law.warm()
        left = max((rate.real for rate in law.unstable_zero_dynamics(self._q)), default=0.0)
        words = 'a motion that no output shows would grow' if left > 0.0 else ''
        yield Finding('fastest growth while outputs are held', left, '1/s', words)
        settings, late = law.settings, expected_delay(self._values or {}, period)
        if late := late if hasattr(settings, 'delay') else 0.0:
            settings = settings.replace(delay=settings.delay + late)
        delay_text = f', states {1e3 * late:.3g} ms late' if late else ''
        for words, growth in self._growths(law, settings):
            name = f'largest discrete-time eigenvalue at {1e3 * period:g} ms{words}{delay_text}'
            if not np.isfinite(growth):
                yield Finding(name, None, '', '')
                continue
            warning = 'errors would grow' if growth > model.scales.growth else ''
            yield Finding(name, float(np.exp(growth * period)), '', warning)
        zero = np.zeros(model.n)
        law.start(self._q, zero, 0.0, None)
        times = _times(lambda: law.compute(0.0, self._q, zero))
        yield Finding('one tick of the law, median', 1e6 * float(np.median(times)), 'us')
        late = float(np.percentile(times, 99))
        words = 'too slow for the rate' if late > 0.8 * period else ''
        yield Finding('one tick of the law, 99th percentile', 1e6 * late, 'us', words)
        yield Finding(
            'highest rate at which a tick takes at most 80 % of a period (without transport)',
            0.8 / late,
            'Hz',
            words,
        )

    def _growths(self, law: Controller, settings: Settings) -> Iterator[tuple[str, float]]:
        """Yield the growth [1/s] of errors with words for it, in each phase if there are more."""
        phases = getattr(law, 'phases', ())
        own = [({'place': k}, f', phase {each.name}') for k, each in enumerate(phases)]
        leads = bool(law.controlled_tip) and self._model.n > 3  # else the tip says where all are
        free = ', motions that leave the tip in place included' if leads else ''
        for given, phase in own if len(own) > 1 else [({}, free)]:
            for words, uncertainty in (
                ('', 0.0),
                (f', stiffness and damping {MODEL_UNCERTAINTY:.0%} off', MODEL_UNCERTAINTY),
            ):
                yield phase + words, law.growth(self._q, self._u, settings, uncertainty, **given)


def _tried(name: str, part: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield the findings of a part of the report; an error that ends it is a finding."""
    try:
        yield from part()
    except SoftRobotError as error:
        yield Finding(name, None, '', str(error))


def _unstable(rest: Equilibrium) -> str:
    """Return in words how a robot leaves an equilibrium that is not stable."""
    way = 'an oscillation grows (flutter)' if rest.stability > 0.0 else 'the robot leaves its rest'
    fast = f', e-fold in {1.0 / rest.growth:.3g} s' if rest.growth > 0.0 else ''
    return f'unstable: {way}{fast}; should it stay there by itself?'


def _above(name: str, value: float, unit: str, bound: float) -> Finding:
    words = f'should be below {bound:g}' if not value <= bound else ''
    return Finding(name, float(value), unit, words)


def _apart(a: Vector, b: Vector) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(np.abs(b).max(initial=0.0), 1e-300))


def _times(call: Callable[[], object]) -> Vector:
    """Return how long calls take (TIMED_CALLS,) [s], after a few."""
    durations = np.empty(TIMED_CALLS)
    for k in range(-10, TIMED_CALLS):
        began = time.perf_counter()
        call()
        durations[k] = time.perf_counter() - began
    return durations
