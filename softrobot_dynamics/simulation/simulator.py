# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forward dynamics in time: a robot that moves under its actuation."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.cache import compiling
from softrobot_dynamics.dynamics.arguments import body_index, checked, finite, out_of_range
from softrobot_dynamics.dynamics.closures import assemble, require_closed
from softrobot_dynamics.dynamics.contacts import require_apart
from softrobot_dynamics.dynamics.wrenches import read_wrenches, Wrenches
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError, SingularMassError
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.pickling import Pickleable
from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace
from softrobot_dynamics.recursion.singular_mass import without_inertia
from softrobot_dynamics.schema.bounds import is_number
from softrobot_dynamics.simulation.integrators.contract import Inputs, Integrator, INTEGRATORS
from softrobot_dynamics.simulation.joint_stops import JointStops, require_within
from softrobot_dynamics.simulation.loads import LoadedStepper, LoadedSteps
from softrobot_dynamics.simulation.rotation_vector_wrapping import wrap_in_place, wrapped_joints
from softrobot_dynamics.simulation.simulated_contact import SimulatedContact

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Simulator(Pickleable):
    """
    A robot in simulation; deterministic: equal inputs give equal states, bit by bit.

    Attributes: ``q``, ``qd`` (n,) the state, ``time`` [s], ``substeps`` taken since the start.
    ``substep`` [s] is the longest step of the integrator, after which the state is
    :func:`~softrobot_dynamics.simulation.rotation_vector_wrapping.recentred`. Without a
    ``tolerance`` all are about as long, and cost the same: for real time. With one, for studies, a
    method of higher order takes over, and sub-steps are shortened until the estimated error of
    each in q is below it, absolute and relative. ``integrator`` names a registered one
    (:mod:`.integrators`); None is ``exponential``, with a tolerance ``rosenbrock``. Not
    thread-safe: one simulator belongs to one thread, which holds no GIL on the way. With the name
    of a ``carrier`` a payload may be put to the tip of that body, by :meth:`carry`. Actuation is
    exact, u is what acts: what stands between a command and the force on a robot, drives that are
    told positions and friction along routes included, is
    :class:`~softrobot_dynamics.simulation.actuator_dynamics.ActuatedSimulator`'s. Coordinates
    without inertia are followed if they have stiffness or damping, and are a SingularMassError in
    the beginning if they have none. Position limits of joints are stops: rigid, without friction,
    with their ``restitution`` (:mod:`.joint_stops`). Shapes that collide push each other apart
    (:mod:`~softrobot_dynamics.recursion.contact_forces`). Closed loops stay closed: residuals and
    rates are rounding after each step. Together with drives of joints or a ``tolerance`` they are
    an ArgumentError.
    """

    has_friction = False  # whether tendons rub along their routes, and joints
    commanded = False  # whether u are commands to actuators that are told positions
    has_servos = False  # whether u are commands to drives of joints that are told such

    def __init__(
        self,
        model: CompiledModel,
        *,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
        substep: float = 5e-4,
        tolerance: float | None = None,
        carrier: str | None = None,
        integrator: str | None = None,
    ) -> None:
        self.model, self.time, self.substeps = model, 0.0, 0
        self._integrator = integrator
        self.substep = _positive('substep', substep, 'a time > 0 [s]')
        self.tolerance = tolerance and _positive('tolerance', tolerance, 'a number > 0 or None')
        self.q, self.qd = np.zeros(model.n), np.zeros(model.n)
        self._require_loops()
        self._inputs = Inputs(
            model, self.commanded, stopped=True, servos=self.has_servos, touching=True
        )
        self._wrapped_joints = wrapped_joints(model)
        self._stepper = _integrator(integrator, self.tolerance)(
            model, self.substep, self._inputs, self.has_friction, self.tolerance
        )
        body = None if carrier is None else body_index(model, carrier, 'carrier')
        self._carries, self._loaded = carrier, LoadedStepper(model, self._stepper, body)
        self._steps = self._loaded([])
        stops = self._inputs.stops
        self._stops = None if stops is None else JointStops(model, self._stepper, stops)
        with compiling(self._steps.advance):  # here and now, not in the first step
            self._steps.advance(self._inputs.force, self.q, self.qd, self.substep, True)
        if self._stops is not None:
            self._steps.evaluate(self.q, self.qd)
        # after that step, which may have been where all objects overlap
        self._contact = SimulatedContact(model, self._stepper)
        self.reset(q, qd)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments that make another simulator; copies and pickles keep its state."""
        options: dict[str, Any] = {'substep': self.substep, 'tolerance': self.tolerance}
        return (self.model,), {
            **options,
            'carrier': self._carries,
            'integrator': self._integrator,
            'q': self.q.copy(),
        }

    def reset(self, q: ArrayLike | None = None, qd: ArrayLike | None = None) -> None:
        """
        Return to time zero at q (n,), by default the description's initial state.

        ``qd`` (n,) is by default that of the initial state too, zero at another q. Raises
        ArgumentError, also where bodies have no shape (a length below 0), beyond the joints'
        position limits, where surfaces overlap and where loops are open (``sd.assemble`` closes
        them), and SingularMassError, with nothing changed.
        """
        n = self.model.n
        rates = self.model.qd0 if q is None else np.zeros(n)
        q = self.model.q0 if q is None else checked('q', q, (n,))
        qd = rates if qd is None else checked('qd', qd, (n,))
        for _, words in out_of_range(self.model, q):
            raise ArgumentError('q', q, f'a posture that the bodies can represent; {words}')
        require_within(self.model, q)
        if self.model.closure_plan is not None:
            require_closed(self.model, q, qd)
            q, qd = assemble(self.model, q=q, qd=qd)
        self._require_inertia(q, qd)
        require_apart(self.model, q)
        self.q[:], self.qd[:] = q, qd
        self.time, self.substeps = 0.0, 0
        self._stepper.reset(self.q)
        self._contact.forget()
        if self._stops is not None:
            self._stops.begin(self.q)

    def step(self, u: ArrayLike, dt: float, wrenches: Wrenches | None = None) -> None:
        """
        Advance by dt [s] under the constant actuation u (m,), in actuator units.

        ``wrenches`` act from outside meanwhile, as in ``sd.forward_dynamics``: those in the axes
        of a body turn with it on the way. Raises ArgumentError, or SimulationDivergedError with
        the last good state kept.
        """
        u = checked('u', u, (self.model.m,))
        dt = _positive('dt', dt, 'a time > 0 [s]')
        steps = self._steps
        if wrenches and (loads := read_wrenches(self.model, wrenches)):
            steps = self._loaded(loads)
        self._inputs.take(u)
        if self._stops is None:
            self._move(steps, dt, bool(self._wrapped_joints))
        else:
            self._move_within(self._stops, steps, dt)
        self._contact.check(self.time)

    @property
    def unsettled(self) -> int:
        """
        Number of steps, since it was made, whose forces of contact miss their law by over 1%.

        See :func:`.contact_law.residual`. Always 0 with a tolerance, whose steps solve for none.
        """
        return self._contact.unsettled

    def _move(self, steps: LoadedSteps, dt: float, once: bool) -> None:
        """Make steps for dt [s], if ``once`` with rotation vectors wrapped after each."""
        force, q, qd = self._inputs.force, self.q, self.qd
        self._repeat(lambda left: steps.advance(force, q, qd, left, once), dt)

    def _repeat(self, advance: Callable[[float], int], dt: float) -> None:
        """Call a function of the time that is left [s], which makes steps, for dt [s]."""
        left, clock = dt, self._stepper.clock
        while left > dt * 1e-12:
            self._contact.set_time(self.time)
            failed = advance(left)
            passed = float(clock.elapsed[0])
            left -= passed
            self.time += passed
            self.substeps += int(clock.steps[0])
            if failed:
                raise self._diverged()
            wrap_in_place(self._wrapped_joints, self.q, self.qd)

    def _move_within(self, stops: JointStops, steps: LoadedSteps, dt: float) -> None:
        """Make steps as :meth:`_move`; one by one, within the stops, if one is met on the way."""
        if not stops.engaged:
            time, substeps = self.time, self.substeps
            stops.keep(self.q, self.qd)
            try:
                self._move(steps, dt, bool(self._wrapped_joints))
            except SimulationDivergedError:
                if not stops.met(self.q):
                    raise
            else:
                if not stops.met(self.q):
                    return
            stops.restore(self.q, self.qd)
            self._contact.forget()
            self.time, self.substeps = time, substeps
        force, q, qd = self._inputs.force, self.q, self.qd
        self._repeat(lambda left: stops.advance(steps, force, q, qd, left), dt)

    @property
    def contact(self) -> ContactWorkspace | None:
        """The workspace of contact that steps are made with; None where nothing can touch."""
        return self._contact.workspace

    @property
    def contact_force(self) -> Vector:
        """
        Generalized force of contact (n,), friction included.

        In steps that solve for it that of the last one; else, and where loops are closed, that at
        the state.
        """
        return self._contact.force(self.q, self.qd, self.time)

    @property
    def stop_forces(self) -> Vector:
        """
        Generalized forces (n,) of the joints' stops, at the beginning of the last step.

        > 0 at a lower position limit, < 0 at an upper one, 0 elsewhere. Impulses of impacts are
        not among them. Not to be written to.
        """
        return np.zeros(self.model.n) if self._stops is None else self._stops.forces

    def carry(self, mass: float) -> None:
        """Set the point mass [kg] at the tip of the carrier; ArgumentError."""
        if self._carries is None:
            raise ArgumentError('mass', mass, 'a Simulator with a carrier')
        if not (is_number(mass) and math.isfinite(mass) and float(mass) >= 0.0):
            raise ArgumentError('mass', mass, 'a number >= 0 [kg]')
        self._loaded.payload[0] = float(mass)

    def prepare(self, wrenches: Wrenches | None) -> None:
        """
        Compile the kernels of steps under such wrenches, in any thread; ArgumentError.

        Wrenches at the same places need it only once, whatever they are.
        """
        if loads := read_wrenches(self.model, wrenches):
            self._loaded.prepare(loads)

    def _require_loops(self) -> None:
        """Raise ArgumentError for options that steps of closed loops do not support."""
        if self.model.closure_plan is None:
            return
        if not _integrator(self._integrator, self.tolerance).closes_loops:
            require_tree(self.model, 'steps within a tolerance, and this integrator, are')
        if self.has_servos and self.model.servos.any:
            require_tree(self.model, 'drives of joints that take positions or velocities are')

    def _require_inertia(self, q: Vector, qd: Vector) -> None:
        """Raise SingularMassError where a step would be no more than rounding."""
        model = self.model
        M = model.per_thread.evaluator(q, qd).M
        held = M + self.substep * (model.damping + self.substep * model.stiffness)
        if finite(M) and (names := without_inertia(model, held)):
            raise SingularMassError(names)

    def _diverged(self) -> SimulationDivergedError:
        """Return the error of a step that cannot be made, with the part that cannot be there."""
        for name, words in out_of_range(self.model, self._stepper.tried):
            return SimulationDivergedError(self.time, name, words)
        wrong = np.flatnonzero(~np.isfinite(self._stepper.terms.h))
        worst = wrong[0] if len(wrong) else np.argmax(np.abs(self.qd))
        return SimulationDivergedError(self.time, self.model.coordinate_names[worst])


def _integrator(name: str | None, tolerance: float | None) -> type[Integrator]:
    """Return the class of an integrator; UnknownNameError, or ArgumentError by the tolerance."""
    name = name or ('rosenbrock' if tolerance else 'exponential')
    found: type[Integrator] = INTEGRATORS.get(name)
    if found.keeps_tolerance and tolerance is None:
        raise ArgumentError('tolerance', None, f'a number > 0, as {name} controls its error by it')
    if tolerance is not None and not found.keeps_tolerance:
        raise ArgumentError('tolerance', tolerance, f'None, as {name} has a fixed step size')
    return found


def _positive(name: str, value: object, expected: str) -> float:
    """Return a number > 0 as a float, or ArgumentError."""
    number: Any = value  # a Real, says typeshed, has no order with a float
    if not (is_number(value) and math.isfinite(value) and number > 0.0):
        raise ArgumentError(name, value, expected)
    return float(value)
