# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The energy of a robot without damping, as the Simulator keeps it."""

from dataclasses import replace

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.errors import SimulationDivergedError
from softrobot_dynamics.kernels.quadrature import gauss_legendre


def changes(damped, held, steps, duration, every):
    """
    Return times [s] and, by step [s], the change since zero of an undamped robot's energy.

    It swings for a ``duration`` [s], sampled ``every`` so often [s], let go in the equilibrium
    under the actuation ``held`` (m,). Changes are relative to the energy that is free then; they
    end where the simulation diverges.
    """
    modules = tuple(replace(m, body=_undamped(m.body)) for m in damped.description.modules)
    model = sd.compile_model(replace(damped.description, modules=modules))
    evaluator, still = model.evaluator(), np.zeros(model.m)
    start, rest = (sd.equilibrium(model, u=u).q for u in (held, still))
    free = potential(evaluator, start) - potential(evaluator, rest)
    times, found = np.arange(0.0, duration + 0.5 * every, every), {}
    for h in steps:
        simulator, energies = sd.Simulator(model, q=start, substep=h), []
        for _ in times:
            energies.append(energy(evaluator, simulator.q, simulator.qd))
            try:
                simulator.step(still, every)
            except SimulationDivergedError:
                break
        found[str(h)] = ((np.array(energies) - energies[0]) / free).tolist()
    return {'times': times.tolist(), 'changes': found}


def _undamped(body):
    if hasattr(body, 'material'):
        return replace(body, material=replace(body.material, damping=0.0))
    return replace(body, damping=0.0)


def energy(evaluator, q, qd):
    """Energy of motion, stress and gravity [J], relative to rest at q = 0."""
    return 0.5 * qd @ evaluator(q, qd).M @ qd + potential(evaluator, q)


def potential(evaluator, q):
    """Work [J] against stress and gravity along the straight line from 0 to q (n,)."""
    still = np.zeros_like(q)
    return sum(w * q @ evaluator(s * q, still).h for s, w in zip(*gauss_legendre(16)))
