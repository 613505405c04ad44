# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A changing payload against robots whose file has the mass."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled
import yaml


@pytest.mark.parametrize('name, body', [('pcc_arm', 'segment2'), ('double_pendulum', 'upper_bar')])
@pytest.mark.parametrize('tolerance', [None, 1e-8])
def test_a_payload_moves_as_a_body_in_the_file(name, body, tolerance):
    """A payload moves as a body in the file, when changed in motion and with a wrench too."""
    model, robot = compiled(name), yaml.safe_load(shipped('robots')[name].read_text())
    load = {'type': 'rigid', 'mass': 0.3, 'com': [0.0, 0.0, 0.0]}
    at = {'name': 'load', 'parent': body, 'joint': {'type': 'fixed'}, 'body': load}
    heavy = sd.compile_model(sd.load_robot({**robot, 'bodies': [*robot['bodies'], at]}))
    q = model.q0 + 0.3 * np.cos(np.arange(model.n))
    simulator = Simulator(model, q=q, qd=q, tolerance=tolerance, carrier=body)
    plain = Simulator(model, q=q, qd=q, tolerance=tolerance)
    u, push = np.ones(model.m), {body: np.array([0.0, 0.0, 0.0, 0.5, 0.2, 0.0])}
    for mass, robot in ((0.0, model), (0.3, heavy), (0.0, model)):
        simulator.carry(mass)
        other = Simulator(robot, q=simulator.q, qd=simulator.qd, tolerance=tolerance)
        for k in range(60):
            wrenches = push if k > 30 else None
            simulator.step(u, 1e-3, wrenches)
            other.step(u, 1e-3, wrenches)
            plain.step(u, 1e-3, wrenches)
        close = 1e-9 if tolerance is None else 1e-6
        assert simulator.q == pytest.approx(other.q, abs=close * np.abs(q).max())
    assert np.abs(simulator.q - plain.q).max() > 1e-4


def test_an_impossible_payload_is_refused():
    """A payload without a carrier, on no body or of an invalid mass is refused."""
    model = compiled('double_pendulum')
    with pytest.raises(ArgumentError, match='a Simulator with a carrier'):
        Simulator(model).carry(1.0)
    with pytest.raises(ArgumentError, match='carrier'):
        Simulator(model, carrier='horse')
    for mass in (-1.0, np.nan, 'much'):
        with pytest.raises(ArgumentError, match='mass'):
            Simulator(model, carrier='lower_bar').carry(mass)
