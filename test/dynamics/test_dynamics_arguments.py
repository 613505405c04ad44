# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Public functions of the dynamics refuse wrong arguments by name."""

import inspect

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.dynamics import statics
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled

pytestmark = pytest.mark.quick

CALLS = {
    sd.inertial_inverse_dynamics: ('q', 'qd', 'qdd'),
    sd.inverse_dynamics: ('q', 'qd', 'qdd'),
    sd.mass_inertial_inverse_dynamics: ('q', 'qd', 'qdd'),
    sd.mass_inverse_dynamics: ('q', 'qd', 'qdd'),
    sd.gravity_force: ('q',),
    sd.elastic_force: ('q',),
    sd.damping_force: ('q', 'qd'),
    sd.forward_kinematics: ('q',),
    sd.jacobian: ('q',),
    sd.frame: ('q',),
    sd.joint_torques: ('q', 'forces'),
    sd.forward_dynamics_derivatives: ('q', 'qd', 'u'),
    sd.inverse_dynamics_derivatives: ('q', 'qd', 'qdd'),
    sd.recentred: ('q', 'qd'),
    sd.actuation: ('q', 'qd'),
    sd.forward_dynamics: ('q', 'qd', 'u'),
    statics.equilibrium: ('u', 'q0'),
}
"""The vectors that each call takes."""

WRONG = {
    'nan': [0.0, np.nan],
    'infinite': [np.inf, 0.0],
    'long': [0.0, 0.0, 0.0],
    'short': [0.0],
    'number': 0.0,
    'matrix': np.zeros((2, 1)),
    'text': ['a', 'b'],
    'numbers as text': ['0.1', '0.2'],
    'bytes': np.array([b'0.1', b'0.2']),
    'complex': np.array([0.1 + 1j, 0.2]),
    'masked': np.ma.masked_array([0.1, 0.2], mask=[False, True]),
    'truth': np.array([True, False]),
    'list of truth': [True, False],
    'objects with truth': np.array([0.1, True], dtype=object),
    'objects': np.array([0.1, '0.2'], dtype=object),
    'nothing': None,
    'ragged': [[0.0], 0.0],
    'mapping': {},
}

CASES = [
    pytest.param(call, name, value, id=f'{call.__name__}-{name}-{kind}')
    for call, names in CALLS.items()
    for name in names
    for kind, value in WRONG.items()
    if not (name == 'q0' and value is None)
]


@pytest.fixture(scope='module')
def pendulum():
    """Return a robot of two coordinates and two actuators."""
    return compiled('double_pendulum')


@pytest.mark.parametrize('call, name, value', CASES)
def test_a_wrong_vector_is_named(pendulum, call, name, value):
    """A vector of a wrong shape, kind or with no number in it is an ArgumentError naming it."""
    arguments = {key: np.zeros(2) for key in CALLS[call]} | {name: value}
    with pytest.raises(ArgumentError) as caught:
        call(pendulum, **arguments)
    assert caught.value.argument == name
    assert name in str(caught.value) and caught.value.expected


@pytest.mark.parametrize('call', CALLS, ids=lambda call: call.__name__)
def test_vectors_are_keywords_only(pendulum, call):
    """Look-alike vectors cannot be given by position."""
    with pytest.raises(TypeError):
        call(pendulum, *(np.zeros(2) for _ in CALLS[call]))
    assert inspect.getdoc(call)


def test_lists_and_whole_numbers_will_do(pendulum):
    """Lists, tuples, other number types and views with strides give what float arrays give."""
    wanted = sd.inverse_dynamics(pendulum, q=np.ones(2), qd=np.zeros(2), qdd=np.ones(2))
    spread = np.ones((2, 3))[:, 1]
    for one in ([1, 1], (1.0, 1.0), np.ones(2, dtype=np.float32), np.ones(2, dtype=int), spread):
        found = sd.inverse_dynamics(pendulum, q=one, qd=[0, 0], qdd=one)
        assert np.array_equal(found, wanted)


def test_an_unknown_body_is_named(pendulum):
    """An unknown body is an ArgumentError that lists the known ones."""
    with pytest.raises(ArgumentError, match='upper_bar, lower_bar') as caught:
        sd.jacobian(pendulum, q=np.zeros(2), body='forearm')
    assert (caught.value.argument, caught.value.value) == ('body', 'forearm')


@pytest.mark.parametrize('value', [0.0, -1e-3, np.nan, np.inf, True])
def test_times_of_the_simulator_are_positive(pendulum, value):
    """A step or sub-step that is no positive time is an ArgumentError."""
    with pytest.raises(ArgumentError) as caught:
        Simulator(pendulum, substep=value)
    assert caught.value.argument == 'substep'
    with pytest.raises(ArgumentError) as caught:
        Simulator(pendulum).step(np.zeros(2), value)
    assert caught.value.argument == 'dt'


@pytest.mark.parametrize('name', ['q', 'qd'])
def test_states_of_the_simulator_are_checked(pendulum, name):
    """A wrong initial state or command of the simulator is an ArgumentError; the state is kept."""
    simulator = Simulator(pendulum, q=[0.1, 0.2], qd=[0.3, 0.4])
    with pytest.raises(ArgumentError) as caught:
        simulator.reset(**{name: [0.0, np.nan]})
    assert caught.value.argument == name
    with pytest.raises(ArgumentError) as caught:
        simulator.step([0.0], 1e-3)
    assert caught.value.argument == 'u'
    assert [*simulator.q, *simulator.qd] == [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    'given, argument',
    [
        ({'controlled': ['elbow', 'knee']}, 'controlled'),
        ({'controlled': ['elbow', 'elbow']}, 'controlled'),
        ({'controlled': []}, 'controlled'),
        ({'period': 0.0}, 'period'),
        ({'period': float('nan')}, 'period'),
    ],
)
def test_options_of_a_controller_are_checked(pendulum, given, argument):
    """Unknown, repeated or no controlled actuators and an empty period are ArgumentErrors."""
    with pytest.raises(ArgumentError) as caught:
        PartialFeedbackLinearization(pendulum, **{'period': 1e-3, **given})
    assert caught.value.argument == argument
