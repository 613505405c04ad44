# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Soft bodies that are shorter than nothing are refused by the name of the coordinate."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError
from support.robots import compiled, rod

SHORT = np.array([0.3, 0.0, -0.25])  # of a segment of 0.2 m


def segment(**tendon):
    """Return the model of one segment, pulled by a tendon along its axis if one is given."""
    body = {'name': 's', 'joint': {'type': 'fixed'}, 'body': rod(0.2, 0.02)}
    robot = {'name': 'one', 'gravity': [0.0, 0.0, 0.0], 'bodies': [body]}
    path = [{'body': 's', 'offset': [0.0, 0.0]}]
    return sd.compile_model(
        sd.load_robot({**robot, 'actuators': [{'name': 't', 'type': 'tendon', 'path': path}]})
    )


@pytest.mark.parametrize(
    'call',
    [
        lambda model: sd.forward_kinematics(model, q=SHORT),
        lambda model: sd.inverse_dynamics(model, q=SHORT, qd=np.zeros(3), qdd=np.zeros(3)),
        lambda model: sd.actuation(model, q=SHORT, qd=np.zeros(3)),
        lambda model: sd.Simulator(model, q=SHORT),
    ],
)
def test_a_segment_shorter_than_nothing_is_refused_by_its_elongation(call):
    """Calls name the elongation that there may be, instead of a tip behind the base."""
    with pytest.raises(ArgumentError, match='s: an elongation above -0.2 m, not -0.25'):
        call(segment())


def test_a_tendon_that_pulls_a_segment_through_its_base_ends_the_simulation():
    """A force beyond E A does not go on with a negative length: the simulation says so."""
    simulator = sd.Simulator(segment())
    with pytest.raises(SimulationDivergedError, match='an elongation above -0.2 m'):
        simulator.step([1e4], 1.0)


def test_a_rod_of_negative_stretch_is_no_start():
    """A start in which strains give a rod a negative stretch is refused."""
    body = {'type': 'cosserat', 'length': 0.2, 'density': 1000.0, 'young_modulus': 1e6}
    body |= {'section': {'type': 'circular', 'radius': 0.01}}
    body |= {'strains': {'gamma_z': {'basis': 'legendre', 'order': 0}}}
    part = {'name': 'r', 'joint': {'type': 'fixed'}, 'body': body}
    model = sd.compile_model(sd.load_robot({'name': 'rod', 'bodies': [part]}))
    with pytest.raises(ArgumentError, match='r: strains that leave every part a length > 0'):
        sd.Simulator(model, q=[-1.1])


def test_shipped_postures_are_possible():
    """An arm shortened by half of its length is one that bodies can represent."""
    model = compiled('pcc_arm')
    q = model.q0.copy()
    q[2] = -0.1
    assert np.isfinite(sd.forward_kinematics(model, q=q)).all()
