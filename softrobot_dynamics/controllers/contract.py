# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Base class of control laws: a state goes in, a command comes out; no ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import functools
from typing import Any, ClassVar, Generic, NamedTuple, TYPE_CHECKING, TypeVar

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.controllers.blending import BlendedReference, sample_plan
from softrobot_dynamics.controllers.settings import (
    controlled_names,
    make_settings,
    own_parameters,
    owners_of,
    Settings,
)
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.pickling import Pickleable
from softrobot_dynamics.model.servos import require_forces
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.references.piecewise import braking, constant, Reference
from softrobot_dynamics.references.tip_commands import TipOrder, TipPathReference
from softrobot_dynamics.schema.parameters import Parameter
from softrobot_dynamics.schema.registry import Registry, required

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.sampled_data.command import (
        HeldCommand,
        ResponseExtrapolation,
    )
    from softrobot_dynamics.controllers.sampled_data.loop_stability import Answer
    from softrobot_dynamics.controllers.sampled_data.prediction import Prediction
    from softrobot_dynamics.model.model import CompiledModel

CONTROLLERS = Registry(
    'controller', 'softrobot_dynamics.controllers', 'softrobot_dynamics.controllers'
)
register = CONTROLLERS.register


S = TypeVar('S', bound=Settings)
"""Settings of a law."""


class Command(NamedTuple):
    """Result of one tick. The arrays belong to the controller: valid until its next tick."""

    u: Vector  # (m,) command, actuator units
    y: Vector  # (m,) actuation coordinates
    velocity: Vector  # (m,) their rates
    desired: Matrix  # (3, controlled) y_d, its rate and acceleration
    unmet: Vector  # (m,) acceleration asked for that the limits do not allow
    saturated: int  # number of commands at a limit
    ok: bool  # False: no valid command; use the safe one


class Controller(Pickleable, Generic[S]):
    """
    Base of all controllers: a file with one law, ``@register``ed, its parameters ``Settings``.

    Arguments: ``model``; ``period`` [s] of the ticks; ``controlled``, names of actuators whose
    coordinates follow the reference (default: all); ``settings``, an instance of ``Settings``
    (default: as :meth:`make_settings` makes it). :meth:`compute` belongs to one thread;
    :meth:`use` and :meth:`follow` may be called from another at any time and take effect with the
    next tick. Pickled and copied, it goes on from the same state, settings and reference; a
    subclass that takes other arguments has :meth:`arguments` of its own.
    """

    pickled_attributes: ClassVar[tuple[str, ...]] = ('settings', 'plan')
    kept: ClassVar[tuple[str, ...]] = pickled_attributes  # its former name, for one release
    Settings: Any = Settings
    type_name: ClassVar[str]  # by which it is registered
    settings: S
    owners = staticmethod(owners_of)
    follows = True
    """True: outputs follow the reference; False: commands do, which no posture determines."""
    needs_forces = False
    """True: a law that makes no sense where drives of joints take positions or velocities."""
    follows_tip = False
    """True: a reference of a law that leads a tip is that tip's place only, without outputs."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let ``kept`` of a class, the former name, stand for its ``pickled_attributes``."""
        super().__init_subclass__(**options)
        if 'kept' in vars(cls):
            cls.pickled_attributes = cls.kept
        cls.kept = cls.pickled_attributes  # for classes that derive from this one

    def __init__(
        self,
        model: CompiledModel,
        *,
        period: float,
        controlled: Iterable[str] | None = None,
        settings: S | None = None,
    ) -> None:
        require_tree(model, 'control laws are')
        names = controlled_names(model, controlled)
        if not period > 0.0:
            raise ArgumentError('period', period, 'a time > 0 [s]')
        if self.needs_forces:
            require_forces(model, self.type_name, names)
        self.model, self.period = model, float(period)
        self.controlled = np.array([model.actuator_names.index(n) for n in names], dtype=np.int64)
        self.settings = settings or self.make_settings(model, names)
        self._sample = cached(sample_plan)
        self.plan = BlendedReference(
            constant(np.zeros(len(names))), constant(np.zeros(len(names))), 0.0, 0.0
        )
        self.last = np.full(model.m, np.nan)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments that make another law of the kind, see :class:`.Pickleable`."""
        names = tuple(self.model.actuator_names[k] for k in self.controlled)
        options = {'period': self.period, 'controlled': names, 'settings': self.settings}
        return (self.model,), options

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the law's own :class:`~softrobot_dynamics.schema.parameters.Parameter` s."""
        return own_parameters(cls.Settings, cls.type_name, cls.__name__)

    @classmethod
    def make_settings(
        cls, model: CompiledModel, controlled: Sequence[str] | None = None, **given: Any
    ) -> Any:
        """
        Return the law's ``Settings`` for a model, checked.

        ``given`` are its parameters, else as declared, and the limits, else the description's;
        one number stands for all. Raises DescriptionError with all that is wrong, by the names
        that the parameters have from outside; UnknownNameError.
        """
        parameters = cls.parameters()
        return make_settings(cls.Settings, parameters, cls.type_name, model, controlled, given)

    @staticmethod
    def pushes(settings: S) -> Vector:
        """Return the commands (m,) of a law without a reference, not limited."""
        u: Vector = settings.feed_forward
        return u

    def use(self, settings: S) -> None:
        """Replace all settings from the next tick on."""
        self.settings = settings

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """
        Begin at the present state (q, qd) at time t [s]: the plan takes over from there.

        ``u`` (m,) is the command in force, from which rate limits count (default: unknown).
        ArgumentError for a state of another size.
        """
        self.require_state(q, qd)
        y, velocity = self.outputs(q, qd)
        state = np.array([y, velocity, 0.0 * y])[:, self.controlled]
        self.plan = self.plan._replace(
            previous=braking(state, 0.0, self.plan.ramp), start=float(t)
        )
        self.last[:] = np.nan if u is None else u

    def follow(self, reference: Reference | TipPathReference, t: float, ramp: float) -> None:
        """Turn to another reference, whose time zero is now, t [s], within ``ramp`` [s]."""
        if isinstance(reference, TipPathReference):
            reference = reference.outputs
        state = self.desired(t)
        self.plan = BlendedReference(braking(state, 0.0, ramp), reference, float(t), float(ramp))

    @property
    def controlled_tip(self) -> str:
        """The body whose tip the law leads itself, see :meth:`lead`."""
        return self.controlled_tip_of(self.settings, self.model)

    @property
    def relaxed(self) -> dict[str, float]:
        """By how much limits had to be exceeded in the last tick, by name; {}: none."""
        return {}

    @property
    def failure(self) -> str:
        """The reason for which the law has no command at present, for the log; '' if unknown."""
        return ''

    @property
    def warning(self) -> str:
        """The reason why the law cannot do what it is asked for, for diagnostics; '': none."""
        return ''

    @classmethod
    def controlled_tip_of(cls, settings: S, model: CompiledModel) -> str:
        """Return the body whose tip a law with such settings leads itself; '': it leads none."""
        return ''

    def require_order(self, order: TipOrder) -> None:
        """Raise ArgumentError for what :meth:`lead` cannot do; for any thread."""
        raise ArgumentError('order', order, f'nothing: {self.type_name} leads no tip')

    def lead(self, order: TipOrder, t: float) -> None:
        """Turn the led tip to a live target or twist, now, t [s]. ArgumentError."""
        self.require_order(order)

    def desired(self, t: float) -> Matrix:
        """y_d, its rate and acceleration, (3, controlled), at time t [s]."""
        out = np.empty((3, len(self.controlled)))
        self._sample(self.plan, float(t), out, np.empty_like(out))
        return out

    @property
    def reference_width(self) -> int:
        """The number of values that a reference of the law has: one for each controlled output."""
        return len(self.controlled)

    def stay(self, q: Vector, qd: Vector) -> Reference:
        """Return the reference that stays where the law's outputs are at a state."""
        return constant(self.outputs(q, qd)[0][self.controlled])

    def outputs(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return the outputs y (m,) that follow the reference, and their rates (m,)."""
        terms = self.model.per_thread.evaluator(q, qd)
        return terms.y - self.model.y0, terms.J @ qd

    @functools.cached_property
    def evaluate(self) -> Callable[[Vector, Vector], Terms]:
        """
        A function of q and qd (n,), contiguous floats, that returns the model's ``Terms`` there.

        These are h (n,) = c + g + s, M (n, n), y (m,), absolute, J (m, n) = dy/dq, and the bias
        (m,) dJ/dt qd, in arrays that every call fills anew. For :meth:`compute` and its thread.
        """
        return self.model.evaluator()

    @required
    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """
        Return the :class:`Command` for the state (q, qd), (n,) each, at time t [s].

        Laws that use the state have no command (``ok`` is false) if it is not finite, and raise
        ArgumentError if it is of another size.
        """
        raise NotImplementedError

    def require_state(self, q: Vector, qd: Vector) -> None:
        """Raise ArgumentError unless q and qd have as many numbers as the robot coordinates."""
        n = self.model.n
        if not len(q) == len(qd) == n:
            raise ArgumentError('q, qd', f'{len(q)} and {len(qd)} numbers', f'{n} each')

    def reach(self) -> tuple[Vector, Vector]:
        """Return the least and the greatest command of this tick, (m,) each, by all limits."""
        s, known = self.settings, np.isfinite(self.last)
        step = np.where(known, s.rate * self.period, np.inf)
        last = np.where(known, self.last, 0.0)
        return np.clip(last - step, s.lower, s.upper), np.clip(last + step, s.lower, s.upper)

    def answer(
        self, u: Vector, y: Vector, velocity: Vector, desired: Matrix, unmet: Vector | None = None
    ) -> Command:
        """
        Return the :class:`Command` for u (m,) as far as limits and rate limits let it.

        ``unmet`` (m,) is the acceleration asked for that they do not allow, where it is known.
        """
        low, high = self.reach()
        limited = np.clip(u, low, high)
        ok = bool(np.isfinite(limited).all())
        if ok:
            self.last[:] = limited
        unmet = np.zeros(len(limited)) if unmet is None else unmet
        saturated = int(np.count_nonzero((u < low) | (u > high)))
        return Command(limited, y, velocity, desired, unmet, saturated, ok)

    def growth(self, q: Vector, u: Vector, settings: S, uncertainty: float = 0.0) -> float:
        """
        Return the rate [1/s] at which errors about rest at q (n,) under u (m,) would grow.

        With a share ``uncertainty``, the largest one on robots whose stiffness and damping are by
        that share more or less than the model's. For any thread, beside :meth:`compute`. A law
        that cannot say returns nan.
        """
        return np.nan

    def figures(self) -> dict[str, object]:
        """Return figures of the law for diagnostics, by name with the unit."""
        return {}

    @property
    def phase(self) -> str:
        """The name of the active phase of a law that has phases, or ''."""
        return ''

    @property
    def response(self) -> Array | None:
        """
        G and R K (2, n, n) of the present tick, by which the law knows what a command brings.

        See :mod:`~softrobot_dynamics.controllers.sampled_data.command`; always the same array, or
        None for a law that goes by the instant of the state.
        """
        return None

    def forget_last_step(self) -> None:
        """Learn nothing from the last period: something else than the command moved the robot."""

    @property
    def memory_size(self) -> int:
        """The number of values the law keeps between ticks, see :meth:`law_at_rest`."""
        return 0

    def join(self, held: HeldCommand, prediction: Prediction) -> None:
        """
        Be one of several laws: what is known of held commands is kept up to date for all.

        That is the response to them, and the prediction of states over a known delay.
        """

    def law_at_rest(self, extrapolation: ResponseExtrapolation) -> Callable[..., Answer] | None:
        """
        Return the law without limits, for a loop of several that is looked at beside its run.

        A function (q (n,), u (m,), settings): what stays there under u. That is a function of q,
        qd (n,), and the memory (``memory_size``,), which gives the forces w (c,) along the
        outputs, or nan, and the memory a period later. It goes by the response in
        ``extrapolation``. A law that cannot say returns None.
        """
        return None

    def unstable_zero_dynamics(self, q: Vector) -> tuple[complex, ...]:
        """
        Return the rates [1/s] at which the robot would leave q (n,) while the law holds outputs.

        Those of its zero dynamics that grow; none for a law that does not hold outputs.
        """
        return ()

    def warm(self) -> None:
        """Run everything once, so that no tick has to wait for the compiler."""
        q, plan, last = self.model.q0, self.plan, self.last.copy()
        zero = np.zeros(self.model.n)
        self.start(q, zero, 0.0)
        self.compute(0.0, q, zero)
        self.desired(0.0)
        self.growth(q, self.settings.feed_forward, self.settings)
        self.plan, self.last[:] = plan, last
