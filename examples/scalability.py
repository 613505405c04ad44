# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Chains of N planar bodies: the time of M qdd = IID(q, 0, qdd) from Python, by N.

    python examples/scalability.py

Equality with Lagrange's equations, and the other curves of Figure 11 of [P], are in
softrobot_dynamics/reproduce/systems/scalability.py, which `softrobot reproduce scalability` runs.
"""

import timeit

import numpy as np
import softrobot_dynamics as sd

BODY = sd.load_robot('scalability').modules[0].body  # the shipped link

for n in (1, 2, 4, 8, 16, 32, 64, 128):
    bodies = [{'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': BODY} for i in range(n)]
    model = sd.compile_model(sd.load_robot({'name': 'chain', 'bodies': bodies}))
    state = {'q': np.ones(n), 'qd': np.zeros(n), 'qdd': np.ones(n)}
    timer = timeit.Timer(lambda: sd.inertial_inverse_dynamics(model, **state))  # noqa: B023
    print(f'N = {n:3}   {1e6 * min(timer.repeat(5, 200)) / 200:6.1f} us')
