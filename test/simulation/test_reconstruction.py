# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A plant of another body model, measured in the coordinates of the law."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.reconstruction import Reconstruction, reconstruction
from support.robots import compiled, soft_arm, states


@functools.cache
def arm(order=None):
    """Return the compiled soft arm."""
    return sd.compile_model(sd.load_robot(soft_arm(order)))


def all_fitted(model, plant):
    """Return a Reconstruction that takes nothing over by its name."""
    found = Reconstruction(model, plant)
    found._taken = found._from = np.zeros(0, dtype=int)
    found._free = np.arange(model.n)
    return found


@pytest.mark.parametrize('name', ['arm', 'pcc_arm', 'ur10e'])
def test_the_same_robot_is_reconstructed_exactly(name):
    """The same robot is fitted to 1e-12 in all coordinates and rates from any start."""
    model = arm() if name == 'arm' else compiled(name)
    fit = all_fitted(model, model)
    for q, qd, _ in states(model, 5, seed=2, size=0.6):
        found, rates = fit(q, qd)
        assert found == pytest.approx(q, abs=1e-12) and rates == pytest.approx(qd, abs=1e-6)


def test_with_the_same_coordinates_nothing_is_fitted():
    """With the same coordinates states are passed on bit by bit."""
    assert reconstruction(arm(), sd.compile_model(arm().description)) is None


def test_rods_of_constant_strain_are_those_of_constant_curvature():
    """Bends are L kappa_y and -L kappa_x, the elongation L gamma_z; an angle is taken over."""
    fit, rng = Reconstruction(arm(), arm(0)), np.random.default_rng(0)
    for _ in range(5):
        q, qd = rng.uniform(-1.0, 1.0, (2, 7)) * [0.7, *[4.0, 4.0, 0.1] * 2]
        found, rates = fit(q, qd)
        for given, made in ((q, found), (qd, rates)):
            assert made[0] == given[0]
            for k in (1, 4):
                kappa_x, kappa_y, gamma_z = given[k : k + 3]
                wanted = 0.2 * np.array([kappa_y, -kappa_x, gamma_z])
                assert made[k : k + 3] == pytest.approx(wanted, abs=1e-6)


def test_an_unreachable_shape_is_fitted_best():
    """No nearby coordinates have markers closer to a rod of varying curvature."""
    model, plant = arm(), arm(2)
    fit, rng = Reconstruction(model, plant), np.random.default_rng(3)
    reach = [0.3, *[*[2.0, 1.0, 0.5] * 2, 0.04, 0.02, 0.01] * 2]
    q = rng.uniform(-1.0, 1.0, plant.n) * reach
    found, _ = fit(q, 0.0 * q)
    again, _ = fit(q, 0.0 * q)
    assert again == pytest.approx(found, abs=1e-8)

    def off(at):
        there, here = fit._there(q), fit._own(at)
        turn = [np.linalg.norm(a - b) ** 2 for a, b in zip(there[0], here[0])]
        place = np.linalg.norm(there[1] - here[1], axis=1) ** 2
        return 0.5 * np.sum(turn) + np.sum(place) * fit._weights[3] ** 2

    least = off(found)
    assert least > 1e-6
    for k in fit._free:
        for step in (-1e-2, 1e-2):
            beside = found.copy()
            beside[k] += step
            assert off(beside) > least


def test_a_plant_may_carry_a_load():
    """An additional body of the plant is not fitted; equal coordinates need no fit."""
    load = {'name': 'load', 'joint': {'type': 'fixed', 'name': 'grip'}}
    load['body'] = {'type': 'rigid', 'mass': 0.1, 'com': [0.0, 0.0, 0.01]}
    loaded = [soft_arm(order) for order in (None, 1)]
    for robot in loaded:
        robot['bodies'] = [*robot['bodies'], load]
    own, rods = (sd.compile_model(sd.load_robot(robot)) for robot in loaded)
    assert reconstruction(arm(), own) is None
    q, qd, _ = states(arm(1), 1, seed=4)[0]
    with_load, without = (Reconstruction(arm(), plant)(q, qd) for plant in (rods, arm(1)))
    assert with_load[0] == pytest.approx(without[0], abs=1e-9)
    with pytest.raises(ArgumentError, match='of the bodies turntable, a, b, load, and maybe'):
        Reconstruction(own, arm(1))


def test_other_bodies_or_actuators_are_refused():
    """A plant with other bodies or actuators is refused by their names."""
    with pytest.raises(ArgumentError, match='plant.*a robot of the actuators turn, t10'):
        Reconstruction(arm(), compiled('pcc_arm'))
    other = sd.load_robot('pcc_arm')
    fewer = sd.compile_model(other.__class__(**{**vars(other), 'actuators': other.actuators[:8]}))
    with pytest.raises(ArgumentError, match='expected a robot of the actuators t1, .*t9'):
        reconstruction(compiled('pcc_arm'), fewer)


def posture():
    """Return a posture of the pcc arm."""
    return np.array([0.3, 0.5, 0.1, -0.02, -0.3, 0.2, -0.02])


def loop(plant, seconds, parameters=None, **sensors):
    """Return pfbl by pcc's model on a plant, told to go to the posture."""
    model, q = arm(), posture()
    y = sd.actuation(model, q=q, qd=0 * q).coordinates
    parameters = parameters or {'p': 100.0, 'd': 20.0, 'observer': 0.02}
    law = sd.Law('pfbl', parameters=parameters)
    start, feedback = sd.Start(ramp=1.0), sd.Feedback(sensors=sensors)
    return y, sd.closed_loop(
        model, law, constant(y), seconds, start=start, plant=plant, feedback=feedback
    )


def test_a_law_by_pcc_holds_rods():
    """A law for `pcc` brings measured outputs of rods to their targets, true ones nearly."""
    plant = arm(2)
    y, found = loop(plant, 2.5)
    assert found.ok.all() and found.q.shape[1] == plant.n > found.q_heard.shape[1] == 7
    assert np.abs(found.y[-1] - y)[1:].max() < 1e-5
    really = sd.actuation(plant, q=found.q[-1], qd=found.qd[-1]).coordinates
    off = np.abs(really - y)[1:]
    assert 1e-5 < off.max() < 1.5e-3  # of 10 to 20 mm: what curvatures that vary make of it
    tips = [sd.frame(m, q=q)[:3, 3] for m, q in ((plant, found.q[-1]), (arm(), found.q_heard[-1]))]
    assert np.linalg.norm(tips[0] - tips[1]) < 5e-3


def test_an_observer_for_wrong_numbers_does_not_hold_rods():
    """With the observer that suits wrong numbers, the law does not hold rods."""
    with pytest.raises(sd.errors.SimulationDivergedError):
        loop(arm(2), 1.0, parameters={'p': 100.0, 'd': 20.0})


def test_equal_seeds_move_equally():
    """Equal seeds give equal motions bit by bit, the noise of sensors included."""
    runs = [loop(arm(2), 0.3, noise=1e-4, seed=3)[1] for _ in range(2)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[0].q_heard.tobytes() == runs[1].q_heard.tobytes()


def test_a_robot_whose_tip_is_at_its_base_is_measured_among_objects():
    """A ram that starts at the origin has its position, beside an object, without a warning."""
    ram = {
        'name': 'ram',
        'joint': {'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]},
        'body': {'type': 'rigid', 'mass': 1.0, 'tip': {'xyz': [0.0, 0.0, 0.0]}},
    }
    model = sd.compile_model(sd.load_robot({'name': 'ram', 'bodies': [ram]}))
    ball = {'name': 'ball', 'mass': 1.0, 'shape': {'type': 'sphere', 'radius': 0.1}}
    plant = sd.compile_model(sd.surround(model.description, {'objects': [ball]}))
    with np.errstate(all='raise'):
        found, rates = all_fitted(model, plant)(np.full(7, 0.3), np.full(7, 0.2))
    assert found == pytest.approx([0.3]) and rates == pytest.approx([0.2])
