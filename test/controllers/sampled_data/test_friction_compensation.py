# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Laws whose model has friction along the routes of tendons."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.references.piecewise import constant, spline
from support.robots import rod

NOISE = {'noise': 1e-5, 'velocity_noise': 1e-2, 'seed': 1}


@functools.cache
def rubbing(mu):
    """Return two rods and a tendon on each side, which begins in the second one."""
    bodies = [{'name': name, 'joint': {'type': 'fixed'}, 'body': rod()} for name in 'ab']
    tendons = [
        {
            'name': f't{k}',
            'type': 'tendon',
            'friction': mu,
            'path': [{'body': name, 'offset': place} for name in 'ab'[:count]],
        }
        for k, (count, place) in enumerate(
            (count, [0.012 * np.cos(angle), 0.012 * np.sin(angle)])
            for count in (1, 2)
            for angle in (0.0, 2.1, 4.2)
        )
    ]
    robot = {'name': 'arm', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': tendons}
    return sd.compile_model(sd.load_robot(robot))


def bent(fractions):
    """Return y (K, 6) of postures bent by so many shares of 0.5 rad each, and drawn in."""
    model = rubbing(0.0)
    posture = np.array([0.5, 0.2, -0.05, 0.5, -0.2, -0.03])
    return np.array(
        [sd.actuation(model, q=x * posture, qd=0 * posture).coordinates for x in fractions]
    )


def errors(known, plant, reference, seconds=3.0, sensors=None):
    """Return the errors (K, 6) [m] of pfbl that knows one coefficient, while there is another."""
    found = sd.closed_loop(
        rubbing(known),
        sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0}),
        reference,
        seconds,
        start=sd.Start(ramp=1.0),
        plant=rubbing(plant),
        feedback=sd.Feedback(sensors=sensors or {}),
    )
    assert found.ok.all()
    return (found.y - found.y_d)[1500:]


def test_known_friction_is_compensated_in_motion():
    """With known friction the law leaves a twentieth of the tracking error of one without."""
    way = spline([0.0, 0.75, 1.5], bent([0.4, 1.0, 0.4]), periodic=True)
    unknown, known = (np.sqrt(np.mean(errors(mu, 0.4, way) ** 2)) for mu in (0.0, 0.4))
    assert known < 0.05 * unknown and unknown > 2e-5


@pytest.mark.parametrize('plant', [0.0, 0.4])
@pytest.mark.parametrize('sensors', [{}, NOISE], ids=['exact', 'noisy'])
def test_at_rest_it_does_not_chatter(plant, sensors):
    """At rest with noisy rates the command chatters no more than without compensation."""
    stay = constant(bent([1.0])[0])
    without, known = (
        np.abs(errors(mu, plant, stay, sensors=sensors)[1000:]).max() for mu in (0.0, 0.4)
    )
    assert known < 1.2 * without + 1e-6


def test_a_state_that_is_no_number_leaves_nothing_behind():
    """The command after a non-finite state is that of a law that has not seen it."""
    model, way = rubbing(0.4), spline([0.0, 1.0], bent([0.0, 1.0]))
    q, qd, twins = np.full(model.n, 1e-3), np.zeros(model.n), []
    for seen in ([q], [q, np.full(model.n, np.nan)]):
        law = PartialFeedbackLinearization(model, period=1e-3)
        law.follow(way, 0.0, 0.0)
        law.start(q, qd, 0.0)
        oks = [law.compute(1e-3 * k, each, qd).ok for k, each in enumerate(seen)]
        twins.append(law.compute(0.1, q, qd).u.copy())
    assert oks == [True, False] and twins[1] == pytest.approx(twins[0], rel=1e-3)
