# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulated position drives against fine explicit steps, statics and energy."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.servos import servo

T0 = 3.0
STEP = np.array([1.5e-3, -1e-3, 0.0])  # [m]


def arm(compliance, damping=0.01, **more):
    """Return an arm of which displacements are commanded."""
    robot = servo({'compliance': compliance, 'pretension': T0}, **more)
    robot['bodies'][0]['body']['damping'] = damping
    return sd.compile_model(sd.load_robot(robot))


def tensions(model, q, u, compliance):
    """Return T (m,) of drives of a unit spool, from the elongations alone."""
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    return np.maximum(0.0, T0 + (u + y) / compliance)


def explicit(model, q, u, compliance, time, h=2e-5):
    """Return (q, qd) after a time [s] by Runge and Kutta's steps, under tensions from y alone."""

    def rates(x):
        q, qd = np.split(x, 2)
        T = tensions(model, q, u, compliance)
        return np.concatenate([qd, sd.forward_dynamics(model, q=q, qd=qd, u=T)])

    x = np.concatenate([q, 0.0 * q])
    for _ in range(round(time / h)):
        a = rates(x)
        b = rates(x + 0.5 * h * a)
        c = rates(x + 0.5 * h * b)
        d = rates(x + h * c)
        x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return np.split(x, 2)


@pytest.mark.parametrize('compliance', [1e-3, 1e-4])
def test_motions_are_those_of_fine_explicit_steps(compliance):
    """Motions equal fine explicit steps, slack cables included, at second order."""
    model = arm(compliance)
    rest = sd.equilibrium(model, command=np.zeros(3)).q
    q, qd = explicit(model, rest, STEP, compliance, 0.02)
    assert (tensions(model, q, STEP, compliance) == 0.0).any() == (compliance == 1e-4)
    off = []
    for options in ({'substep': 2.5e-4}, {'substep': 6.25e-5}, {'tolerance': 1e-7}):
        simulator = ActuatedSimulator(model, q=rest, **options)
        simulator.step(STEP, 0.02)
        off.append(np.abs(simulator.q - q).max() / np.abs(q - rest).max())
    assert off[0] < 3e-4 and off[1] < max(0.15 * off[0], 1e-6) and off[2] < 1e-4


@pytest.mark.parametrize('pairs', [False, True])
def test_it_comes_to_rest_where_statics_say(pairs):
    """A robot with position drives comes to rest at the statics' equilibrium."""
    model = arm(1e-4, damping=0.05, pairs=pairs)
    u = STEP[: model.m]
    found = sd.equilibrium(model, command=u)
    simulator = ActuatedSimulator(model)
    simulator.step(u, 3.0)
    assert found.stable and simulator.q == pytest.approx(found.q, abs=1e-8)
    four = arm(1e-4, count=4) if pairs else model
    told = np.concatenate([u, -u]) if pairs else u
    T = tensions(four, found.q, told, 1e-4)
    zero = np.zeros(3)
    r = sd.inverse_dynamics(four, q=found.q, qd=zero, qdd=zero)
    r -= sd.actuation(four, q=found.q, qd=zero).matrix @ T
    assert np.abs(r).max() < 1e-9


def test_statics_know_how_stiff_cables_are():
    """The slowest frequency from the tangent, by differences of residuals; a command or u."""
    model = arm(1e-4, pairs=True)
    u = sd.efforts(model, q=np.array([0.2, -0.1, -2e-3]), command=STEP[:2])
    held = sd.equilibrium(model, command=STEP[:2])
    same = sd.equilibrium(model, u=sd.efforts(model, q=held.q, command=STEP[:2]))
    assert same.q == pytest.approx(held.q, abs=1e-9)  # what cables pull in common included
    assert held.stability > same.stability > 0.0 and np.isfinite(u).all()
    with pytest.raises(sd.SoftRobotError, match='either u or a command'):
        sd.equilibrium(model, u=u, command=u)


def energy(model, simulator, u, compliance):
    """Return (all energy above nothing, that of motion) [J], that of stretched cables included."""
    q, T = simulator.q, tensions(model, simulator.q, u, compliance)
    kinetic = sd.kinetic_energy(model, q=q, qd=simulator.qd)
    passive = sd.potential_energy(model, q=q) + sd.elastic_energy(model, q=q)
    return kinetic + passive + 0.5 * compliance * (T**2).sum(), kinetic


@pytest.mark.parametrize('compliance', [1e-5, 1e-7])
def test_stiff_cables_stay_stable(compliance):
    """At real-time steps undamped stiff cables gain no energy between slack and taut."""
    model, u = arm(compliance, damping=0.0), np.zeros(3)
    rest = sd.equilibrium(model, command=u).q
    simulator = ActuatedSimulator(model, q=rest, qd=[6.0, 2.0, 0.3])
    before, kinetic = energy(model, simulator, u, compliance)
    slack = False
    for _ in range(300):
        simulator.step(u, 1e-3)
        assert energy(model, simulator, u, compliance)[0] < before + 0.1 * kinetic
        slack |= bool((sd.efforts(model, q=simulator.q, command=u) == 0.0).any())
    assert slack


def test_energy_is_kept():
    """Without damping the energy is constant within the tolerance as cables swing the arm."""
    model = arm(1e-3, damping=0.0)
    simulator = ActuatedSimulator(model, q=[0.2, 0.1, 0.004], tolerance=1e-7)
    found = []
    for _ in range(20):
        found.append(energy(model, simulator, STEP, 1e-3))
        simulator.step(STEP, 5e-3)
    total, kinetic = np.array(found).T
    assert np.ptp(total) < 1e-3 * kinetic.max()
