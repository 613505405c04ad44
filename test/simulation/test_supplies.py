# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Chambers that are filled through valves: by Boyle's law, as fast as air flows."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator, ActuatorDynamics
from support.robots import rod

AREA, HOSE, FULL = 1e-4, 3e-6, 4e4
ATMOSPHERE = 101325.0


def described(**supply):
    """Return the mapping of a rod with one chamber beside its axis."""
    chamber = {
        'name': 'c',
        'type': 'chamber',
        'path': [{'body': 'arm', 'offset': [0.01, 0.0]}],
        'area': AREA,
        'limits': [0.0, 1e5],
    }
    chamber |= {'supply': supply} if supply else {}
    body = {'name': 'arm', 'joint': {'type': 'fixed'}, 'body': rod()}
    return {'name': 'finger', 'bodies': [body], 'actuators': [chamber]}


@functools.cache
def finger(flow=None):
    """Return such a robot whose chamber and hose are filled by a flow [m^3/s]."""
    supply = {} if flow is None else {'flow': flow, 'volume': HOSE}
    return sd.compile_model(sd.load_robot(described(**supply)))


def volume(model, q):
    """Return that of chamber and hose [m^3]."""
    return sd.actuation(model, q=q, qd=0.0 * q).coordinates[0] + model.y0[0] + HOSE


@pytest.mark.parametrize('lag', [0.0, 5e-3])
def test_a_chamber_that_does_not_move_fills_and_empties_at_one_rate(lag):
    """A chamber at rest fills and empties at a constant rate up to its command."""
    flow, h = 4e-6, 5e-4
    model = sd.compile_model(sd.vary(finger(flow).description, {'lag': lag}))
    rate = ATMOSPHERE * flow / (model.y0[0] + HOSE)
    time = FULL / rate
    actuation, q = ActuatorDynamics(model), np.zeros(model.n)
    actuation.begin(np.zeros(1))

    def under(u, seconds):
        parts = [(f[0], dt) for f, dt in actuation.mean_forces(np.array([u]), seconds, h, q)]
        return np.array(parts).T

    pressures, parts = under(FULL, 0.5 * time)
    slow = rate * lag if lag else 0.0  # until the lagging command is ahead
    assert pressures[-1] == pytest.approx(0.5 * FULL, rel=1e-2, abs=slow)
    assert np.diff(pressures).max() <= rate * parts.max() * (1.0 + 1e-9)
    pressures, _ = under(FULL, time)
    assert pressures[-1] == pytest.approx(FULL, rel=1e-9)
    pressures, parts = under(0.0, 0.5 * time)
    assert pressures[-1] == pytest.approx(0.5 * FULL, rel=1e-2, abs=slow)
    assert np.diff(pressures).min() >= -rate * parts.max() * (1.0 + 1e-9)


def test_air_behind_a_shut_valve_is_a_spring():
    """With the valve shut a bent arm balances the pressure of Boyle's law."""
    model = finger(1e-15)
    held = sd.equilibrium(model, u=[FULL]).q
    simulator = ActuatedSimulator(model, q=held)
    simulator.begin_under([FULL])
    push = {'arm': [0.0, 0.0, 0.0, 0.0, 0.0, -10.0]}
    simulator.step([FULL], 3.0, push)
    pressure = (FULL + ATMOSPHERE) * volume(model, held) / volume(model, simulator.q) - ATMOSPHERE
    assert pressure > 1.02 * FULL
    wanted = sd.equilibrium(model, u=[pressure], wrenches=push, q0=simulator.q).q
    assert simulator.q == pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max())
    wrong = sd.equilibrium(model, u=[FULL], wrenches=push, q0=simulator.q).q
    assert np.abs(simulator.q - wrong).max() > 1e-3 * np.abs(wrong).max()


def test_a_flow_that_is_enough_is_none():
    """A supply with enough flow gives the same motion as none."""
    runs = []
    for model in (finger(), finger(1.0)):
        simulator = ActuatedSimulator(model)
        simulator.begin_under([0.0])
        simulator.step([FULL], 0.05)
        runs.append(simulator.q.copy())
    assert runs[0] == pytest.approx(runs[1], rel=1e-9)


def test_laws_ask_for_no_more_than_flows():
    """The rate limit is that of the flow into chamber and hose at rest."""
    model = finger(4e-5)
    rate = ATMOSPHERE * 4e-5 / (model.y0[0] + HOSE)
    assert model.rate_limit[0] == pytest.approx(rate)
    assert np.isinf(finger().rate_limit[0])
    goal = sd.equilibrium(model, u=[FULL]).q
    y = sd.actuation(model, q=goal, qd=0.0 * goal).coordinates
    run = sd.closed_loop(model, 'pfbl', constant(y), 1.5, start=sd.Start(ramp=0.0))
    steps = np.abs(np.diff(run.u[:, 0]))
    assert run.ok.all() and steps.max() <= rate * 1e-3 * (1.0 + 1e-9)
    assert run.saturated.any()
    assert run.y[-1] == pytest.approx(y, rel=1e-2)


@pytest.mark.parametrize(
    'supply, told', [({'flow': 0.0}, 'supply.flow'), ({'flow': 1e-5, 'volume': -1.0}, 'volume')]
)
def test_an_impossible_supply_is_refused(supply, told):
    """An impossible supply is refused with its place."""
    with pytest.raises(DescriptionError, match=told):
        sd.load_robot(described(**supply))
