# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Arguments of sd.closed_loop in groups, and as they were before there were groups."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.references.piecewise import constant
from support.robots import compiled

pytestmark = pytest.mark.quick


def task():
    """Return what every call is given: the model, a law by name, a reference, a duration [s]."""
    model = compiled('double_pendulum')
    return model, 'pfbl', constant(np.array([0.5, 0.2])), 0.05


@pytest.fixture(scope='module')
def default():
    """Return the run without other arguments."""
    model, kind, reference, duration = task()
    return sd.closed_loop(model, kind, reference, duration)


def push(t):
    """Return a force on the tip at time t [s]."""
    return {compiled('double_pendulum').body_names[-1]: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]}


def softer():
    """Return settings for the way."""
    return PartialFeedbackLinearization.make_settings(compiled('double_pendulum'), p=10.0, d=2.0)


@pytest.mark.parametrize(
    'former, argument, group',
    [
        (
            {'parameters': {'p': 50.0}},
            'controller',
            lambda: sd.Law('pfbl', parameters={'p': 50.0}),
        ),
        ({'period': 5e-3}, 'controller', lambda: sd.Law('pfbl', period=5e-3)),
        ({'ramp': 0.02}, 'start', lambda: sd.Start(ramp=0.02)),
        (
            {'q0': [0.1, 0.2], 'qd0': [0.0, 1.0], 'u0': [1.0, 2.0]},
            'start',
            lambda: sd.Start(q=[0.1, 0.2], qd=[0.0, 1.0], u=[1.0, 2.0]),
        ),
        ({'delay': 2.3e-3}, 'plant', lambda: sd.Plant(delay=2.3e-3)),
        ({'bus': {'rate': 250.0}}, 'plant', lambda: sd.Plant(bus={'rate': 250.0})),
        ({'wrenches': push}, 'plant', lambda: sd.Plant(wrenches=push)),
        ({'substep': 1e-4}, 'plant', lambda: sd.Plant(substep=1e-4)),
        ({'tolerance': 1e-6}, 'plant', lambda: sd.Plant(tolerance=1e-6)),
        (
            {'sensors': {'noise': 1e-4, 'seed': 2}},
            'feedback',
            lambda: sd.Feedback(sensors={'noise': 1e-4, 'seed': 2}),
        ),
    ],
)
def test_a_former_argument_gives_the_same_run_as_its_group_with_a_warning(
    default, former, argument, group
):
    """The warning names the argument and the group; the run is the same bit for bit."""
    model, kind, reference, duration = task()
    made = group()
    with pytest.warns(FutureWarning, match=f'{next(iter(former))}.* give {argument}=sd.') as said:
        before = sd.closed_loop(model, kind, reference, duration, **former)
    assert len(said) == 1 and said[0].filename == __file__
    given = {'controller': kind, argument: made}
    now = sd.closed_loop(model, reference=reference, duration=duration, **given)
    for field in now._fields:
        assert getattr(before, field).tobytes() == getattr(now, field).tobytes(), field
    assert default.q.tobytes() != now.q.tobytes()


def test_former_arguments_of_several_groups_go_together():
    """Former arguments of several groups may be mixed with groups of others."""
    model, kind, reference, duration = task()
    plant = sd.compile_model(sd.vary(model.description, {'mass': '×1.2'}))
    changes = [(0.02, softer())]
    with pytest.warns(FutureWarning, match=r'controller=sd.Law\(changes=...\), plant=sd.Plant\('):
        before = sd.closed_loop(
            model, kind, reference, duration, plant=plant, delay=1e-3, changes=changes,
            start=sd.Start(ramp=0.01),
        )  # fmt: skip
    now = sd.closed_loop(
        model,
        sd.Law(kind, changes=changes),
        reference,
        duration,
        start=sd.Start(ramp=0.01),
        plant=sd.Plant(plant, delay=1e-3),
    )
    assert before.u.tobytes() == now.u.tobytes()


def test_a_former_argument_beside_its_group_is_refused():
    """A former argument beside its group is refused, and an unknown one is a TypeError."""
    with pytest.raises(ArgumentError, match='argument delay: 0.001, .* beside plant'):
        sd.closed_loop(*task(), plant=sd.Plant(substep=1e-3), delay=1e-3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'ramps'"):
        sd.closed_loop(*task(), ramps=1.0)


@pytest.mark.parametrize(
    'make, error, words',
    [
        (lambda: sd.Law(3), ArgumentError, 'argument controller: 3'),
        (lambda: sd.Law('pfbl', period=-1.0), ArgumentError, 'argument period: -1.0'),
        (lambda: sd.Law('pfbl', parameters=[1.0]), ArgumentError, r'argument parameters: \[1.0\]'),
        (lambda: sd.Start(ramp=-1.0), ArgumentError, 'argument ramp: -1.0'),
        (lambda: sd.Plant('arm'), ArgumentError, "argument plant: 'arm', .* a compiled model"),
        (lambda: sd.Plant(delay=np.inf), ArgumentError, 'argument delay: inf'),
        (lambda: sd.Plant(bus={'rate': -1.0}), DescriptionError, 'bus.rate: -1'),
        (lambda: sd.Plant(wrenches=3.0), ArgumentError, 'argument wrenches: 3.0'),
        (lambda: sd.Feedback(sensors=1e-3), ArgumentError, 'argument sensors: 0.001'),
        (lambda: sd.Feedback(estimator='mine'), ArgumentError, 'argument estimator'),
    ],
)
def test_a_group_refuses_a_wrong_field_when_it_is_made(make, error, words):
    """A group of arguments refuses a wrong field by name and value when it is made."""
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize('argument, value', [('start', [0.0, 0.0]), ('feedback', {'noise': 1e-3})])
def test_a_group_of_another_type_is_refused(argument, value):
    """An argument that is a group of another type is refused by name and value."""
    with pytest.raises(ArgumentError, match=f'argument {argument}: .* a {argument.title()}'):
        sd.closed_loop(*task(), **{argument: value})
